"""Origin of an imported recording, and findings on what it can and cannot support.

Findings are codes with figures; only this module has their texts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

IMPORTED = "imported"
"""Key of the header of an imported recording."""


class Finding(StrEnum):
    """Findings on a log; their figures, SI, are named after each."""

    NO_FORCES = "no_forces"
    NO_COMMANDS = "no_commands"
    GAPS = "gaps"
    """gaps, missing (cycles), longest (s)"""
    BRIDGED = "bridged"
    """bridged (intervals), longest (s)"""
    SHORT = "short"
    """longest, needed (s)"""
    SLOW_RATE = "slow_rate"
    """rate, needed (Hz)"""
    STILL = "still"
    """coordinates (names)"""
    LEG_INERTIA_LOST = "leg_inertia_lost"
    """rms, noise, resolved (N)"""
    FORCES_TURNED = "forces_turned"
    """legs"""
    FORCES_EXCHANGED = "forces_exchanged"
    """pairs ([cell, leg])"""
    FORCES_REPEATED = "forces_repeated"
    """share"""
    BEYOND_STROKE = "beyond_stroke"
    """legs, most (m)"""
    BEYOND_RANGE = "beyond_range"
    """legs, range (N)"""
    STAMPS_LATE = "stamps_late"
    """jitter (s), share, sigma"""
    STAMPS_AMBIGUOUS = "stamps_untold"
    """jitter (s)"""
    TIME_NOISE = "time_noise"
    """time_noise (s), length (m)"""
    DELAY = "delay"
    """delay, sigma (s), aligned"""
    DELAY_UNKNOWN = "delay_untold"
    LENGTHS_DIFFER = "lengths_differ"
    """rms, noise (m)"""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding with its figures."""

    code: Finding
    figures: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """It as JSON."""
        return {"code": str(self.code), **self.figures}


@dataclass(frozen=True, slots=True)
class Origin:
    """The log that a recording was imported from: file name, SHA-256 and size of its bytes, and its rows."""

    file: str
    sha256: str
    bytes: int
    rows: int

    def as_dict(self) -> dict[str, Any]:
        """It as JSON."""
        return asdict(self)


def has_tracking(header: Mapping[str, Any]) -> bool:
    """Whether a recording's reference was commanded, and not made from the measured motion."""
    return not has_finding(header, Finding.NO_COMMANDS)


def imported_from(header: Mapping[str, Any]) -> str | None:
    """Name of the file that a recording was imported from; None of one that a rig's engine made."""
    imported = header.get(IMPORTED)
    return str(imported.get("file", "another program's log")) if isinstance(imported, Mapping) else None


def has_finding(header: Mapping[str, Any], code: Finding, **figures: Any) -> bool:
    """Whether a recording was imported with this finding and these figures."""
    wanted = {"code": str(code), **figures}
    return any(all(found.get(name) == value for name, value in wanted.items()) for found in _findings(header))


def import_notes(header: Mapping[str, Any]) -> list[str]:
    """Notes for users of an imported recording, each a continuation of "This recording is"; else none."""
    name = imported_from(header)
    if name is None:
        return []
    return [f"imported from {name}, this program has not measured it", *map(finding_text, _findings(header))]


def finding_text(found: Mapping[str, Any]) -> str:
    """Text of a finding of `Found.as_dict`: a continuation of "This recording is"."""
    words = _WORDS.get(str(found.get("code")))
    if words is None:
        return f"of a finding that this version does not know: {found.get('code')}"
    try:
        return str(words(found))
    except (KeyError, TypeError, ValueError, IndexError):  # whatever a file says
        return f"of the finding {found.get('code')}, without its figures"


def _findings(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    imported = header.get(IMPORTED)
    listed = imported.get("findings") if isinstance(imported, Mapping) else None
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _legs(found: Mapping[str, Any]) -> str:
    numbers = ", ".join(map(str, found["legs"]))
    return f"leg{'s' if len(found['legs']) > 1 else ''} {numbers}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _delay_words(found: Mapping[str, Any]) -> str:
    delay = f"{_ms(found['delay'])} ± {_ms(found['sigma'])}"
    if found["aligned"]:
        return f"aligned: its commanded motion was shifted by {delay}, by which the measured motion followed it"
    return (
        f"delayed: its measured motion follows the commanded one by {delay}, recording and machine together; the model "
        "is evaluated at the commanded motion (--align shifts it)"
    )


_WORDS: Mapping[str, Any] = {
    Finding.NO_FORCES: lambda _: (
        "without leg forces: only its motion can be used, not masses, frictions, payload or external wrench"
    ),
    Finding.NO_COMMANDS: lambda _: (
        "without commanded motion: its reference is the measured motion, low-passed; there is no tracking error and no "
        "frequency response"
    ),
    Finding.GAPS: lambda f: (
        f"incomplete: {f['missing']} cycles are missing in {f['gaps']} gap{'s' if f['gaps'] != 1 else ''}, the longest "
        f"{f['longest']:.3g} s"
    ),
    Finding.BRIDGED: lambda f: (
        f"interpolated where samples are missing, in {f['bridged']} places, the longest {f['longest']:.3g} s, as its "
        "mapping allows (time.gap)"
    ),
    Finding.SHORT: lambda f: (
        f"too short to identify from: its longest stretch without a gap is {f['longest']:.3g} s, {f['needed']:g} s are "
        "needed (time.gap in the mapping says how long a gap may be bridged)"
    ),
    Finding.SLOW_RATE: lambda f: (
        f"too slow to identify from: {f['rate']:g} Hz, its low-pass needs {f['needed']:g} Hz at least"
    ),
    Finding.STILL: lambda f: f"almost at rest in {', '.join(f['coordinates'])}",
    Finding.LEG_INERTIA_LOST: lambda f: (
        f"too slow in its motion to show the legs' inertia: its forces are {f['rms']:.2g} N RMS, noise of "
        f"{f['noise']:.2g} N hides what is below {f['resolved']:.2g} N"
    ),
    Finding.FORCES_TURNED: lambda f: f"suspect: the sign of the forces looks reversed at {_legs(f)}",
    Finding.FORCES_EXCHANGED: lambda f: (
        "suspect: forces look exchanged: " + ", ".join(f"column {cell} reads leg {leg}" for cell, leg in f["pairs"])
    ),
    Finding.FORCES_REPEATED: lambda f: (
        f"slower in its forces than in its rows: {100 * f['share']:.0f} % repeat the one before; import it at their "
        "rate (--rate)"
    ),
    Finding.BEYOND_STROKE: lambda f: f"beyond the stroke, by up to {1e3 * f['most']:.3g} mm, at {_legs(f)}",
    Finding.BEYOND_RANGE: lambda f: f"beyond the range of the load cells, {f['range']:g} N, at {_legs(f)}",
    Finding.STAMPS_LATE: lambda f: (
        f"uneven in its time stamps: their jitter of {_ms(f['jitter'])} is not in the samples (the motion follows "
        f"{f['share']:.2f} ± {f['sigma']:.2g} of it)"
    ),
    Finding.STAMPS_AMBIGUOUS: lambda f: (
        f"uneven in its time stamps, with a jitter of {_ms(f['jitter'])}; its motion does not show whether the samples "
        "have it too"
    ),
    Finding.TIME_NOISE: lambda f: (
        f"uncertain in its time stamps by {_ms(f['time_noise'])}: at its fastest that is {1e6 * f['length']:.3g} µm of "
        "a leg"
    ),
    Finding.DELAY: _delay_words,
    Finding.DELAY_UNKNOWN: lambda _: "of unknown delay between commanded and measured motion",
    Finding.LENGTHS_DIFFER: lambda f: (
        f"inconsistent: its leg lengths differ from those of its poses by {1e6 * f['rms']:.3g} µm RMS, noise explains "
        f"{1e6 * f['noise']:.3g} µm"
    ),
}
