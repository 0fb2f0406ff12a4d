"""Units as a person writes them ("N m s/rad", "mm/s²", "revs per minute"), and how many SI units they are."""

import functools
import re

Dimension = tuple[int, int, int, int]
"""Powers of meter, kilogram, second and radian; that an angle is a dimension of its own tells rad/s from Hz."""

_PREFIXES = {
    "": 1.0,
    "nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "centi": 1e-2, "deci": 1e-1, "kilo": 1e3, "mega": 1e6, "giga": 1e9,
    "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9,
}  # fmt: skip
_DEGREE = 0.017453292519943295
_LENGTH, _MASS, _TIME, _ANGLE = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_FORCE = (1, 1, -2, 0)
_NAMES: dict[str, tuple[float, Dimension]] = {
    "meter metre m": (1.0, _LENGTH),
    "inch in": (0.0254, _LENGTH),
    "gram g": (1e-3, _MASS),
    "tonne t": (1e3, _MASS),
    "pound lb": (0.45359237, _MASS),
    "second sec s": (1.0, _TIME),
    "minute min": (60.0, _TIME),
    "hour h": (3600.0, _TIME),
    "radian rad": (1.0, _ANGLE),
    "degree deg °": (_DEGREE, _ANGLE),
    "arcminute arcmin": (_DEGREE / 60.0, _ANGLE),
    "arcsecond arcsec": (_DEGREE / 3600.0, _ANGLE),
    "turn revolution rev": (360.0 * _DEGREE, _ANGLE),
    "revolutions_per_minute rpm": (360.0 * _DEGREE / 60.0, (0, 0, -1, 1)),
    "hertz Hz": (1.0, (0, 0, -1, 0)),
    "newton N": (1.0, _FORCE),
    "kilogram_force kgf": (9.80665, _FORCE),
    "pound_force lbf": (4.4482216152605, _FORCE),
    "joule J": (1.0, (2, 1, -2, 0)),
}
_UNITS = {name: unit for names, unit in _NAMES.items() for name in names.split()}

_SPOKEN = (
    (re.compile(r"\bper\b"), "/"),
    (re.compile(r"\s+squared\b"), "^2"),
    (re.compile(r"\s+cubed\b"), "^3"),
    (re.compile(r"\b(?:square|sq)\s+(\w+)"), r"\1^2"),
    (re.compile(r"\bcubic\s+(\w+)"), r"\1^3"),
)
_TERM = re.compile(
    r"\s*(?P<operator>[*·/]?)\s*(?P<name>1|[A-Za-z_°µμ]+)\s*(?:(?:\^|\*\*)\s*(?P<power>-?\d)|(?P<raised>[²³]))?(?!\d)"
)
_RAISED = {"²": 2, "³": 3}


@functools.lru_cache(maxsize=256)
def unit_in_si(text: str) -> tuple[float, Dimension]:
    """How many units of meter, kilogram, second and radian a unit is, and of which dimension; read from left to right.

    Raises:
        ValueError: there is no such unit.
    """
    spoken = text
    for word, sign in _SPOKEN:
        spoken = word.sub(sign, spoken)
    factor, powers, place = 1.0, [0, 0, 0, 0], 0
    while place < len(spoken):
        term = _TERM.match(spoken, place)
        one = None if term is None or (place == 0 and term["operator"]) else _named(term["name"])
        if term is None or one is None:
            raise ValueError(f"unknown unit {text!r}")
        power = int(term["power"] or _RAISED.get(term["raised"], 1))
        if term["operator"] == "/":
            power = -power
        factor *= one[0] ** power
        powers = [sum_so_far + power * own for sum_so_far, own in zip(powers, one[1], strict=True)]
        place = term.end()
    length, mass, time, angle = powers
    return factor, (length, mass, time, angle)


def _named(name: str) -> tuple[float, Dimension] | None:
    """A unit by its name, alone, after a prefix, or in the plural; None where there is none."""
    if name == "1":
        return 1.0, (0, 0, 0, 0)
    for singular, shortest in ((name, 1), (name.removesuffix("s"), 2)):  # "Ns" are no newtons
        for prefix, scale in _PREFIXES.items():
            plain = singular[len(prefix) :]
            if singular.startswith(prefix) and plain in _UNITS and len(plain) >= shortest:
                return scale * _UNITS[plain][0], _UNITS[plain][1]
    return None
