"""Numbers and physical quantities as text (field, command line, file), and their bounds."""

import functools
import math
import numbers
import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import core_schema

if TYPE_CHECKING:
    import pint


_NUMBER = r"[+\-\u2212]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?"
_NUMBER_AND_UNIT = re.compile(
    rf"(?P<number>{_NUMBER})\s*(?P<unit>(?:[A-Za-z°%×\u00b5\u03bc]|(?<=\s)1\s*/)[\w\s°\u00b5\u03bc*/^.·²³-]*)?",
    re.ASCII,
)
_GROUPED = re.compile(r"[+\-\u2212]?[\d.,][\d.,\s'_\u00a0\u202f]*[.,\s'_\u00a0\u202f]\d.*", re.ASCII)
"""Digits with more than one separator: thousands groups, or a list."""
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[0-9eE+.\s-]*", re.ASCII)
"""Texts for which Python's `float` agrees with `read_number`."""
_LONGEST_TEXT = 64  # characters; a bound for the unit parser


# Pint's own list makes the radian dimensionless, so that rad/s and Hz would have one dimension.
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

_DEGREE, _INCH = 0.017453292519943295, 0.0254
_COMMON: dict[str, dict[str, float]] = {
    "m": {"mm": 1e-3, "m": 1.0, "cm": 1e-2, "in": _INCH, "µm": 1e-6, "um": 1e-6, "nm": 1e-9, "km": 1e3, "inch": _INCH},
    "rad": {"deg": _DEGREE, "°": _DEGREE, "rad": 1.0, "mrad": 1e-3, "µrad": 1e-6, "urad": 1e-6, "turn": 360 * _DEGREE},
    "kg": {"kg": 1.0, "g": 1e-3, "t": 1e3, "lb": 0.45359237},
    "s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "min": 60.0, "h": 3600.0},
    "N": {"N": 1.0, "kN": 1e3, "mN": 1e-3, "kgf": 9.80665, "lbf": 4.4482216152605},
    "m/s": {"mm/s": 1e-3, "m/s": 1.0, "cm/s": 1e-2, "in/s": _INCH},
    "rad/s": {"deg/s": _DEGREE, "°/s": _DEGREE, "rad/s": 1.0, "mrad/s": 1e-3, "rpm": 360 * _DEGREE / 60},
    "Hz": {"Hz": 1.0, "kHz": 1e3, "mHz": 1e-3, "1/s": 1.0},
    "m/s^2": {"m/s^2": 1.0, "m/s²": 1.0, "mm/s^2": 1e-3, "mm/s²": 1e-3},
}
"""Factors of the most common units, by SI unit, as in the registry: these do not need to load it."""


Misread = Literal["empty", "grouped", "no number", "not finite", "no unit", "unknown unit", "dimension"]
"""Reason why a text is not a number or quantity."""


class NumberTextError(ValueError):
    """A text is not a valid number or quantity.

    Args:
        code: the reason.
        text: the text read; a long one is cut.
        unit: the expected unit, empty for none.
        found: the unit found.
    """

    def __init__(self, code: Misread, text: str, unit: str = "", found: str = "") -> None:
        self.code: Misread = code
        self.text = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
        self.unit, self.found = unit, found
        super().__init__(self._message())

    def _message(self) -> str:
        shown = repr(self.text)
        if self.code == "empty":
            return "a number is missing"
        if self.code == "grouped":
            return f"{shown} has more than one decimal mark or a separator of digits; write 1000.5 or 1000,5"
        if self.code == "not finite":
            return f"{self.text.strip()} is not finite"
        if self.code == "no unit":
            return f"{shown} has a unit, must be a number without one"
        if self.code == "unknown unit":
            return f"{shown}: unknown unit {self.found!r}"
        if self.code == "dimension":
            return f"{shown} has the wrong dimension"
        return f"{shown} is not a number"


def read_number(text: str) -> float:
    """Parse a finite number: decimal comma or point, exponent, surrounding blanks.

    Raises NumberTextError for anything else: groups of digits, a unit, nan, infinity, an overflow.
    """
    number, unit = _parts(text)
    if unit:
        raise NumberTextError("no unit", text)
    return number


def read_numbers(texts: Sequence[str]) -> list[float]:
    """Parse many texts, such as the cells of a table, as `read_number` does."""
    if _PLAIN.fullmatch(" ".join(texts)):
        try:
            numbers = list(map(float, texts))
        except ValueError:
            pass  # the faulty one is found below
        else:
            if all(map(math.isfinite, numbers)):
                return numbers
    return [read_number(text) for text in texts]


def read_list(text: str, count: int | None = None) -> list[float]:
    """Parse a comma-separated list of `count` numbers, or of any number of them.

    Decimals have a point here. Raises NumberTextError for a part that is not a number, ValueError for
    another count.
    """
    parts = text.split(",")
    if count is not None and len(parts) != count:
        raise ValueError(f"{text!r} has {len(parts)} numbers, not {count}: commas separate them, decimals have a point")
    return [read_number(part) for part in parts]


def read_whole(text: str) -> int:
    """Parse a whole number. Raises NumberTextError for anything else."""
    number = read_number(text)
    if number != int(number):
        raise NumberTextError("no number", text)
    return int(number)


def common_units(unit: str) -> tuple[str, ...]:
    """Return units that may replace an SI `unit` in an input field; none if no unit converts to it."""
    return tuple(_COMMON.get(unit, ()))


def read_quantity(
    text: str, units: Sequence[str], shown: str = "", factor: float = 1.0, *, common: bool = False
) -> float:
    """Parse a quantity to SI: a bare number is in the unit `shown`, of which `factor` make one SI unit.

    Args:
        text: a number, with or without a unit of the same dimension.
        units: spellings of the SI unit, as in `Quantity`; "" or an unknown one converts to no other.
        shown: the displayed unit; default the SI unit.
        factor: see above.
        common: accept `common_units` only, without loading the registry.

    Raises NumberTextError for anything else.
    """
    number, unit = _parts(text)
    if unit in ("", shown):
        value = number / factor
    elif not units[0]:
        raise NumberTextError("no unit", text, shown, unit)
    elif common and unit not in common_units(units[0]):
        raise NumberTextError("unknown unit", text, shown or units[0], unit)
    else:
        try:
            of_si = _factor(unit, tuple(units))
        except ValueError:
            raise NumberTextError("unknown unit", text, shown or units[0], unit) from None
        if of_si is None:
            raise NumberTextError("dimension", text, shown or units[0], unit)
        value = number * of_si
    if not math.isfinite(value):
        raise NumberTextError("not finite", text, shown or units[0])
    return value


def _parts(text: str) -> tuple[float, str]:
    """Split a text into number and unit; the unit may be empty."""
    bare = text.strip()
    if not bare:
        raise NumberTextError("empty", text)
    match = _NUMBER_AND_UNIT.fullmatch(bare) if len(bare) <= _LONGEST_TEXT else None
    if match is None:
        code: Misread = "not finite" if _NOT_FINITE.fullmatch(bare) else "no number"
        raise NumberTextError("grouped" if _GROUPED.fullmatch(bare) else code, text)
    number = float(match["number"].replace(",", ".").replace("\u2212", "-"))
    if not math.isfinite(number):
        raise NumberTextError("not finite", text)
    return number, (match["unit"] or "").strip()


@functools.cache
def _registry() -> "pint.UnitRegistry[Any]":
    """The unit registry, made when the first string with a unit occurs (importing pint takes a noticeable time)."""
    import pint

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


@functools.lru_cache(maxsize=256)
def _factor(unit: str, si_units: tuple[str, ...]) -> float | None:
    """Return one `unit` in SI units; None if it is of another dimension.  Raises ValueError for unknown units."""
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

    `name` is the quantity, `unit` its SI unit, `also` further spellings of that unit which differ in dimension only by
    the radian ("N m s" for "N m s/rad").  Forms find it in a model field's `metadata` to show units.
    """

    name: str
    unit: str
    also: tuple[str, ...] = ()

    def parse(self, value: object) -> float:
        """Return `value` in SI units: a finite real number is already SI, a string has a unit.

        Raises ValueError, naming the value and the expected unit, for anything else: another dimension, NaN or
        infinity, a bool, a string without a unit.
        """
        if isinstance(value, bool):
            raise ValueError(f"{value!r} is not a quantity; {self._expected}")
        shown = reprlib.repr(value)  # shortened if long
        if isinstance(value, str):
            number = self._parse_text(value)
        elif isinstance(value, numbers.Real):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
        else:
            raise ValueError(f"{shown} is not a quantity; {self._expected}")
        if not math.isfinite(number):
            raise ValueError(f"{shown} is not finite; {self._expected}")
        return number

    def read(self, text: str) -> float:
        """Parse a text to SI: a bare number is already SI. Raises ValueError as `parse` does."""
        try:
            return read_quantity(text, (self.unit, *self.also))
        except NumberTextError as error:
            raise ValueError(f"{error}; {self._expected}") from None

    def _parse_text(self, text: str) -> float:
        try:
            if not _parts(text)[1]:
                raise NumberTextError("no number", text)
        except NumberTextError as error:
            if error.code in ("empty", "no number"):
                raise ValueError(f"{error.text!r} is not a number with a unit; {self._expected}") from None
        return self.read(text)

    @property
    def _expected(self) -> str:
        article = "an" if self.name[0] in "aeiou" else "a"
        if not self.unit:
            return f"expected {article} {self.name}: a finite number"
        return f'expected {article} {self.name}: a finite number in {self.unit}, or text such as "1.5 {self.unit}"'

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
FACTOR = Quantity("factor", "")

_READ = {"m": ("mm", 1e3), "m/s": ("mm/s", 1e3), "rad": ("°", 180.0 / math.pi), "rad/s": ("°/s", 180.0 / math.pi)}
"""SI unit → display unit, and how many of it make one SI unit."""
_SPEC = re.compile(r"(\+?)\.(\d+)([fg])")
_MOST_MORE = 17
"""digits, above which a number is shown in full"""


def in_words(value: float, unit: str) -> str:
    """Format a number in SI with its unit, to four digits: millimeters and degrees if `unit` has meters or radians."""
    shown, factor = _READ.get(unit, (unit, 1.0))
    number = value * factor
    digits = f"{number:.4g}" if abs(number) < 1e4 else f"{number:.0f}"
    return f"{digits} {shown}" if shown else digits


def decimals_of(values: Iterable[float], least: int) -> int:
    """Return the decimals that show two digits of the smallest finite nonzero size, or `least`."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    return max(least, 1 - math.floor(math.log10(min(sizes)))) if sizes else least


_EXPONENT_FROM = 1e6
"""Smallest figure that may be written with an exponent."""


def figure_and_bound(value: float, bound: float, spec: str = ".4g", bound_digits: int = 6) -> tuple[str, str]:
    """Format a figure and its bound so that the texts compare as the numbers do.

    Both get extra digits only if the texts would be equal or in the wrong order. Signs do not count: a bound is one on
    the size, or both have the same sign.

    Args:
        value, bound: in the displayed unit.
        spec: format of the figure: sign or none, digits, `f` or `g`.
        bound_digits: digits of the bound, as in format `g`.

    Raises ValueError for another format.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"format {spec!r}")
    sign, given, kind = found.groups()
    least = int(given)
    if kind == "g" and abs(value) < _EXPONENT_FROM:  # 1000 ms rather than 1e+03 ms
        least = max(least, len(f"{abs(value):.0f}"))
    digits = least
    while True:
        more = digits - least
        texts = f"{value:{sign}.{digits}{kind}}", f"{bound:.{bound_digits + more}g}"
        shown, shown_bound = (abs(float(text)) for text in texts)
        if (shown > shown_bound, shown < shown_bound) == (abs(value) > abs(bound), abs(value) < abs(bound)):
            return texts
        if more == _MOST_MORE:
            return f"{value:{sign}}", f"{bound}"
        digits += 1


def in_words_with_bound(value: float, bound: float, unit: str) -> tuple[str, str]:
    """Format a figure and its bound in SI as `in_words` does, with more digits if they would not compare."""
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
Factor: TypeAlias = Annotated[float, FACTOR]


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number; no text, no bool."""


class RangeError(ValueError):
    """A value is outside the `bounds` of its setting."""

    def __init__(self, value: float, bounds: "Range") -> None:
        self.value, self.bounds = value, bounds
        super().__init__(f"{value:g} {bounds.unit}".rstrip() + f", must be {bounds.text} {bounds.unit}".rstrip())

    def __reduce__(self) -> "tuple[type[RangeError], tuple[float, Range]]":
        """Pickle the two arguments."""
        return RangeError, (self.value, self.bounds)


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a setting, ends included, in its SI `unit`, and the pydantic marker that checks it.

    `least` is minus infinity if only the other end is bounded. The reference of all keys finds it in a model field's
    `metadata`.
    """

    least: float
    greatest: float
    unit: str = ""

    @property
    def text(self) -> str:
        """Return the bounds as text, without the unit."""
        least = "at most" if self.least == -math.inf else f"{self.least:g} to"
        return f"{least} {self.greatest:g}"

    def check(self, value: float) -> float:
        """Return `value`, minus zero as zero. Raises RangeError if it is outside."""
        if not self.least <= value <= self.greatest:
            raise RangeError(value, self)
        return value or 0.0  # minus zero becomes zero

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))


def within(least: float, greatest: float, unit: str = "") -> Range:
    """Return the range of a setting, ends included, in its SI `unit`; other values are rejected."""
    return Range(least, greatest, unit)
