"""A finding of each code, with everything that its text names."""

from string import Formatter
from typing import Any

from rig.findings import Code, Finding

LISTS = {"within": (Finding(Code.PAIR_OF_LEGS, details={"one": 1, "other": 2}),) * 2}
NUMBERS: dict[str, Any] = {
    "state": "PARKED",
    "before": "IDLE",
    "after": "HOMING",
    "low": 0.5,
    "high": 1.5,
    "legs": [2, 3],
    "units": [247, 231],
    "pairs": ["1 and 2", "3 and 4"],
    "names": ["lag", "bias"],
    "limits": ["length", "force"],
    "devices": ["drive 1", "drive 2"],
    "seldom": ["drive 2"],
    "alike": ["line-b"],
    "apart": ["cells"],
    "assumed": ["drive 1"],
}


def filled(code: Code, leg: int = 3) -> Finding:
    """A finding of a code with everything that its text names."""
    names = {name for _, name, spec, _ in Formatter().parse(code.text.replace("[[", "").replace("]]", "")) if name}
    specs = {name: spec for _, name, spec, _ in Formatter().parse(code.text) if name}
    details: dict[str, Any] = {
        name: NUMBERS.get(name, 1.25 if specs.get(name, "name") not in ("", "name") else f"<{name}>")
        for name in names - {"leg", "value", "bound", "within"}
    }
    return Finding(code, leg, 2.5, 2.0, details, LISTS["within"] if "within" in names else ())
