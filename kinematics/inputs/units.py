"""Physical quantities as a person writes them: an SI number, or a string with its unit ("300 mm", "12 deg").

The annotated types (`Length`, `Angle`, ...) go into pydantic models as they are, alone or inside lists; the validated
value is a plain float in SI units.  Angles are a dimension of their own here, so that "5 rad/s" is not a frequency and
"5 Hz" not an angular speed.
"""

import functools
import math
import numbers
import re
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic_core import core_schema

if TYPE_CHECKING:
    import pint

_NUMBER_AND_UNIT = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>(?:[A-Za-z°\u00b5\u03bc]|1\s*/)[\w\s°\u00b5\u03bc*/^.·²³-]*)",
    re.ASCII,
)
_LONGEST_TEXT = 64  # characters; nothing sensible is longer, and the unit parser need not see more


# Pint's own list makes the radian dimensionless, which cannot tell rad/s from Hz.
_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = μ- = u-
milli- = 1e-3 = m-
centi- = 1e-2 = c-
deci- = 1e-1 = d-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
meter = [length] = m = metre
second = [time] = s = sec
gram = [mass] = g
radian = [angle] = rad
inch = 25.4 * millimeter = in
minute = 60 * second = min
hour = 60 * minute = h
tonne = 1000 * kilogram = t
pound = 0.45359237 * kilogram = lb
degree = 0.017453292519943295 * radian = deg = °
arcminute = degree / 60 = arcmin
arcsecond = arcminute / 60 = arcsec
turn = 360 * degree = _ = revolution = rev
revolutions_per_minute = turn / minute = rpm
hertz = 1 / second = Hz
newton = kilogram * meter / second ** 2 = N
joule = newton * meter = J
kilogram_force = 9.80665 * newton = kgf
pound_force = 4.4482216152605 * newton = lbf
"""

_COMMON: dict[str, dict[str, float]] = {
    "m": {"m": 1.0, "mm": 1e-3},
    "rad": {"rad": 1.0, "deg": 0.017453292519943295},
    "kg": {"kg": 1.0},
    "s": {"s": 1.0, "ms": 1e-3},
    "N": {"N": 1.0},
    "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "Hz": {"Hz": 1.0},
}
"""What the registry says of the units that most files have: those need not wait for it to be made."""


@functools.cache
def _registry() -> "pint.UnitRegistry[Any]":
    """The unit registry, made when the first string with a unit occurs (importing pint takes a noticeable time)."""
    import pint

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


@functools.lru_cache(maxsize=256)
def _factor(unit: str, si_units: tuple[str, ...]) -> float | None:
    """How many SI units one `unit` is; None if it is of another dimension.  Raises ValueError for unknown units."""
    known = _COMMON.get(si_units[0], {}).get(unit)
    return _registered_factor(unit, si_units) if known is None else known


def _registered_factor(unit: str, si_units: tuple[str, ...]) -> float | None:
    registry = _registry()
    try:
        parsed = registry.parse_units(unit.replace("·", "*"))
        for si_unit in si_units:
            target = registry.parse_units(si_unit)
            if parsed.dimensionality == target.dimensionality:
                return float(registry.Quantity(1.0, parsed).to(target).magnitude)
    except Exception as error:  # pint's parser fails on malformed text in many ways, assertions among them
        raise ValueError(f"unknown unit {unit!r}") from error
    return None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A kind of physical quantity, and the pydantic marker that parses it.

    `name` says what it is, `unit` its SI unit, `also` further spellings of that unit which differ in dimension only by
    the radian ("N m s" for "N m s/rad").  Found again in a model field's `metadata`, for forms that show units.
    """

    name: str
    unit: str
    also: tuple[str, ...] = ()

    def parse(self, value: object) -> float:
        """Return `value` in SI units: a finite real number is SI already, a string carries its unit.

        Raises ValueError, naming the value and the expected unit, for anything else: another dimension, NaN or
        infinity, a bool, a string without a unit.
        """
        article = "an" if self.name[0] in "aeiou" else "a"
        expected = f'expected {article} {self.name}: a finite number in {self.unit}, or text such as "1.5 {self.unit}"'
        if isinstance(value, bool):
            raise ValueError(f"{value!r} is not a quantity; {expected}")
        shown = reprlib.repr(value)  # cut where it is long
        if isinstance(value, str):
            number = self._parse_text(value, expected)
        elif isinstance(value, numbers.Real):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
        else:
            raise ValueError(f"{shown} is not a quantity; {expected}")
        if not math.isfinite(number):
            raise ValueError(f"{shown} is not finite; {expected}")
        return number

    def _parse_text(self, text: str, expected: str) -> float:
        shown = repr(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")
        match = _NUMBER_AND_UNIT.fullmatch(text.strip()) if len(text) <= _LONGEST_TEXT else None
        if match is None:
            raise ValueError(f"{shown} is not a number with a unit; {expected}")
        try:
            factor = _factor(match["unit"].strip(), (self.unit, *self.also))
        except ValueError as error:
            raise ValueError(f"{shown}: {error}; {expected}") from error
        if factor is None:
            raise ValueError(f"{shown} has the wrong dimension; {expected}")
        return float(match["number"]) * factor

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.parse, core_schema.float_schema(allow_inf_nan=False))


LENGTH = Quantity("length", "m")
ANGLE = Quantity("angle", "rad")
MASS = Quantity("mass", "kg")
TIME = Quantity("time", "s")
FORCE = Quantity("force", "N")
TORQUE = Quantity("torque", "N m")
SPEED = Quantity("speed", "m/s")
ACCELERATION = Quantity("acceleration", "m/s^2")
ANGULAR_SPEED = Quantity("angular speed", "rad/s")
ANGULAR_ACCELERATION = Quantity("angular acceleration", "rad/s^2")
FREQUENCY = Quantity("frequency", "Hz")
STIFFNESS = Quantity("stiffness", "N/m")
DAMPING = Quantity("damping", "N s/m")
ANGULAR_DAMPING = Quantity("angular damping", "N m s/rad", ("N m s",))
INERTIA = Quantity("moment of inertia", "kg m^2")
FORCE_RATE = Quantity("rate of force", "N/s")

_READ = {"m": ("mm", 1e3), "m/s": ("mm/s", 1e3), "rad": ("°", 180.0 / math.pi), "rad/s": ("°/s", 180.0 / math.pi)}
"""SI unit → unit in which a person reads it, and how many of it one SI unit is."""
_SPEC = re.compile(r"(\+?)\.(\d+)([fg])")
_MOST_MORE = 17
"""digits, after which a number is shown whole"""


def in_words(value: float, unit: str) -> str:
    """A number in SI with its unit, to four digits: millimeters and degrees where `unit` has meters or radians."""
    shown, factor = _READ.get(unit, (unit, 1.0))
    number = value * factor
    digits = f"{number:.4g}" if abs(number) < 1e4 else f"{number:.0f}"
    return f"{digits} {shown}" if shown else digits


def figure_and_bound(value: float, bound: float, spec: str = ".4g", bound_digits: int = 6) -> tuple[str, str]:
    """A figure and its bound as texts whose sizes compare as the numbers' do, however they are rounded.

    Both get more digits than they need only where the texts would be equal, or the other way round. Signs do not count:
    a bound is one on the size, or both have the same sign.

    Args:
        value, bound: in the unit in which they are shown.
        spec: format of the figure: sign or none, digits, `f` or `g`.
        bound_digits: of the bound, as `g` counts them.

    Raises ValueError for another format.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"format {spec!r}")
    sign, least, kind = found.groups()
    digits = int(least)
    while True:
        more = digits - int(least)
        texts = f"{value:{sign}.{digits}{kind}}", f"{bound:.{bound_digits + more}g}"
        shown, shown_bound = (abs(float(text)) for text in texts)
        if (shown > shown_bound, shown < shown_bound) == (abs(value) > abs(bound), abs(value) < abs(bound)):
            return texts
        if more == _MOST_MORE:
            return f"{value:{sign}}", f"{bound}"
        digits += 1


def in_words_with_bound(value: float, bound: float, unit: str) -> tuple[str, str]:
    """A figure and its bound in SI, each as `in_words` has it, with more digits where they would not compare."""
    shown, factor = _READ.get(unit, (unit, 1.0))
    spec = ".4g" if abs(value * factor) < 1e4 else ".0f"
    first, second = figure_and_bound(value * factor, bound * factor, spec, 4)
    return (f"{first} {shown}", f"{second} {shown}") if shown else (first, second)


Length: TypeAlias = Annotated[float, LENGTH]
Angle: TypeAlias = Annotated[float, ANGLE]
Mass: TypeAlias = Annotated[float, MASS]
Time: TypeAlias = Annotated[float, TIME]
Force: TypeAlias = Annotated[float, FORCE]
Torque: TypeAlias = Annotated[float, TORQUE]
Speed: TypeAlias = Annotated[float, SPEED]
Acceleration: TypeAlias = Annotated[float, ACCELERATION]
AngularSpeed: TypeAlias = Annotated[float, ANGULAR_SPEED]
AngularAcceleration: TypeAlias = Annotated[float, ANGULAR_ACCELERATION]
Frequency: TypeAlias = Annotated[float, FREQUENCY]
Stiffness: TypeAlias = Annotated[float, STIFFNESS]
Damping: TypeAlias = Annotated[float, DAMPING]
AngularDamping: TypeAlias = Annotated[float, ANGULAR_DAMPING]
Inertia: TypeAlias = Annotated[float, INERTIA]
ForceRate: TypeAlias = Annotated[float, FORCE_RATE]
