"""Metadata of a recording in JSON: its header, its closing record, and the noise of its load cells."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording.schema import DIGEST_KEY, JSON_KEY, LARGEST_TEXT

_LONGEST_COUNT = 1 << 63


def digest(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def parse_object(what: str, metadata: Mapping[str, str], doubts: list[str]) -> tuple[dict[str, Any], bool]:
    """The JSON object in a metadata record, and whether a hash confirms it; faults are added to `doubts`.

    Raises ValueError, LookupError or RecursionError if there is none.
    """
    text = metadata[JSON_KEY]
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"{what}: longer than any")
    value = json.loads(text, parse_constant=_refuse)
    if not isinstance(value, dict):
        raise ValueError(f"{what}: not a JSON object")
    stored = metadata.get(DIGEST_KEY)
    if stored is not None and stored != digest(text):
        doubts.append(f"{what} is not as it was written: its checksum differs")
    return value, stored is not None


def check_header(header: dict[str, Any], doubts: list[str]) -> None:
    """Check a header by its hashes, and remove invalid entries; faults are added to `doubts`."""
    for name, text in (
        ("config", json.dumps(header.get("config"), sort_keys=True)),
        ("mechanism", header.get("mechanism")),
    ):
        stored = header.get(f"{name}_sha256")
        if stored is not None and not (isinstance(text, str) and stored == digest(text)):
            doubts.append(f"the {name} in the header is not as it was written: its hash differs")
    for path, (right, expected) in _EXPECTED.items():
        place: Any = header
        *way, name = path.split(".")
        for step in way:
            place = place.get(step) if isinstance(place, dict) else None
        wrong = isinstance(place, dict) and name in place and not right(place[name])
        if wrong and place.pop(name) is not None:
            doubts.append(f"header: {path} is not {expected}; it is left out")


def count_in(closing: Mapping[str, Any], name: str) -> int | None:
    """A count of the closing record; None if it is missing."""
    value = closing.get(name)
    return value if _is_count(value) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LONGEST_COUNT


def _number(low: float, high: float) -> Callable[[Any], bool]:
    def right(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    return right


def _kind(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _six(right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) == 6 and all(map(right, value))


_TEXT = (_kind(str), "a text")
_LINE = (lambda value: value is None or isinstance(value, str), "a text or null")
_TABLE = (_kind(dict), "a table")
_EXPECTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "config": _TABLE,
    "config.name": _TEXT,
    "config.mechanism": _TEXT,
    "config.mode": _TEXT,
    "config.rate": (_number(1e-3, 1e6), "a rate in Hz"),
    "config.load_cells": _TABLE,
    "config.load_cells.noise": (_number(0.0, 1e9), "a force in N"),
    "config.control": _TABLE,
    "config.control.coulomb_speed": (_number(0.0, 1e3), "a speed in m/s"),
    "config.safety": _TABLE,
    "cell_steps": (_six(_number(0.0, 1e9)), "six forces in N"),
    "clock": _TABLE,
    "clock.wall_ns": (_is_count, "a count of nanoseconds since 1970"),
    "imported": _TABLE,
    "mechanism": _TEXT,
    "rate": (_number(1e-3, 1e6), "a rate in Hz"),
    "operator": _LINE,
    "note": _LINE,
}
"""Checked entries of a header, outer tables first: a test of the value, and the text of what it must be."""


Floats = npt.NDArray[np.float64]

CELLS = 6


def recorded_cell_steps(header: Mapping[str, Any]) -> Floats:
    """Resolution (6,) N of the load cells' readings; 0 if unknown, as in older recordings."""
    return np.array(header.get("cell_steps") or [0.0] * CELLS, np.float64)


def recorded_cell_noise(header: Mapping[str, Any]) -> float | None:
    """Standard deviation of a load cell's reading, N, with its rounding; None if unknown.

    For the coarsest cell: √(noise² + step²/12), see `RigConfig.cell_noise`.
    """
    from calibration import rounded_noise  # takes long to import, and few need it

    value = header.get("config", {}).get("load_cells", {}).get("noise")
    if not isinstance(value, int | float) or not value > 0:
        return None
    return float(rounded_noise(float(value), float(recorded_cell_steps(header).max())))


def recorded_rounding(header: Mapping[str, Any]) -> Floats:
    """Standard deviation (6,) N that rounding leaves in a mean of readings at rest; 0 for unknown steps."""
    from calibration import rounding_of_mean  # takes long to import, and few need it

    value = header.get("config", {}).get("load_cells", {}).get("noise")
    return rounding_of_mean(float(value) if isinstance(value, int | float) else 0.0, recorded_cell_steps(header))
