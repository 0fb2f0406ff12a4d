"""What a recording says of the log that it was imported from: its origin, and what it can and cannot support.

Findings are codes with figures; their words are here alone.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

IMPORTED = "imported"
"""Key of the header under which an imported recording says so."""


class Finding(StrEnum):
    """What was found of a log; its figures, SI, are named behind it."""

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
    STAMPS_UNTOLD = "stamps_untold"
    """jitter (s)"""
    TIME_NOISE = "time_noise"
    """time_noise (s), length (m)"""
    DELAY = "delay"
    """delay, sigma (s), aligned"""
    DELAY_UNTOLD = "delay_untold"
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


def tells_tracking(header: Mapping[str, Any]) -> bool:
    """Whether a recording's reference is what was commanded; not so where it was made of the measured motion."""
    return not has_finding(header, Finding.NO_COMMANDS)


def imported_from(header: Mapping[str, Any]) -> str | None:
    """Name of the file that a recording was imported from; None of one that a rig's engine made."""
    imported = header.get(IMPORTED)
    return str(imported.get("file", "another program's log")) if isinstance(imported, Mapping) else None


def has_finding(header: Mapping[str, Any], code: Finding, **figures: Any) -> bool:
    """Whether a recording was imported, and this was found then, with these figures."""
    wanted = {"code": str(code), **figures}
    return any(all(found.get(name) == value for name, value in wanted.items()) for found in _findings(header))


def said_imported(header: Mapping[str, Any]) -> list[str]:
    """What whoever uses an imported recording must know, each the rest of "This recording is"; else nothing."""
    name = imported_from(header)
    if name is None:
        return []
    return [f"imported from {name}, this program has not measured it", *map(said_finding, _findings(header))]


def said_finding(found: Mapping[str, Any]) -> str:
    """A finding, as `Found.as_dict` has it, in words: the rest of "This recording is"."""
    words = _WORDS.get(str(found.get("code")))
    if words is None:
        return f"one of a finding that this version does not know: {found.get('code')}"
    try:
        return str(words(found))
    except (KeyError, TypeError, ValueError, IndexError):  # whatever a file says
        return f"one with the finding {found.get('code')}, without its figures"


def _findings(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    imported = header.get(IMPORTED)
    listed = imported.get("findings") if isinstance(imported, Mapping) else None
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _legs(found: Mapping[str, Any]) -> str:
    numbers = ", ".join(map(str, found["legs"]))
    return f"leg{'s' if len(found['legs']) > 1 else ''} {numbers}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


def _said_delay(found: Mapping[str, Any]) -> str:
    told = f"{_ms(found['delay'])} ± {_ms(found['sigma'])}"
    if found["aligned"]:
        return f"one whose commanded motion was moved by {told}, by which the measured motion followed it"
    return (
        f"one whose measured motion follows the commanded one by {told}, recording and machine together; the model is "
        "taken at the commanded motion (--align moves it)"
    )


_WORDS: Mapping[str, Any] = {
    Finding.NO_FORCES: lambda _: (
        "one without leg forces: it tells motion alone, no masses, frictions, payload or external wrench"
    ),
    Finding.NO_COMMANDS: lambda _: (
        "one without commanded motion: its reference is the measured motion, low-passed, which tells neither tracking "
        "nor a frequency response"
    ),
    Finding.GAPS: lambda f: (
        f"one with {f['gaps']} gap{'s' if f['gaps'] != 1 else ''}: {f['missing']} cycles are missing, the longest gap "
        f"is {f['longest']:.3g} s"
    ),
    Finding.BRIDGED: lambda f: (
        f"interpolated where samples are missing, in {f['bridged']} places, the longest is {f['longest']:.3g} s, as "
        "its mapping allows (time.gap)"
    ),
    Finding.SHORT: lambda f: (
        f"too short to identify from: its longest stretch without a gap is {f['longest']:.3g} s, {f['needed']:g} s are "
        "needed (time.gap in the mapping says how long a gap may be bridged)"
    ),
    Finding.SLOW_RATE: lambda f: (
        f"too slow to identify from: {f['rate']:g} Hz, its low-pass needs {f['needed']:g} Hz at least"
    ),
    Finding.STILL: lambda f: f"one in which the platform hardly moves in {', '.join(f['coordinates'])}",
    Finding.LEG_INERTIA_LOST: lambda f: (
        f"one of too little motion for the legs' inertia: its forces are {f['rms']:.2g} N RMS, noise of "
        f"{f['noise']:.2g} N hides what is below {f['resolved']:.2g} N"
    ),
    Finding.FORCES_TURNED: lambda f: f"one of forces with the wrong sign, or so it looks, at {_legs(f)}",
    Finding.FORCES_EXCHANGED: lambda f: (
        "one of exchanged forces, or so it looks: "
        + ", ".join(f"column {cell} reads leg {leg}" for cell, leg in f["pairs"])
    ),
    Finding.FORCES_REPEATED: lambda f: (
        f"one of forces that come more slowly than its rows: {100 * f['share']:.0f} % repeat the one before; import it "
        "at their rate (--rate)"
    ),
    Finding.BEYOND_STROKE: lambda f: f"beyond the stroke, by up to {1e3 * f['most']:.3g} mm, at {_legs(f)}",
    Finding.BEYOND_RANGE: lambda f: f"beyond the range of the load cells, {f['range']:g} N, at {_legs(f)}",
    Finding.STAMPS_LATE: lambda f: (
        f"one of time stamps that scatter by {_ms(f['jitter'])} while its samples do not (the motion follows "
        f"{f['share']:.2f} ± {f['sigma']:.2g} of the scatter)"
    ),
    Finding.STAMPS_UNTOLD: lambda f: (
        f"one of time stamps that scatter by {_ms(f['jitter'])}; its motion does not tell whether the samples do too"
    ),
    Finding.TIME_NOISE: lambda f: (
        f"one of samples whose times are known to {_ms(f['time_noise'])}: at its fastest that is "
        f"{1e6 * f['length']:.3g} µm of a leg"
    ),
    Finding.DELAY: _said_delay,
    Finding.DELAY_UNTOLD: lambda _: "one whose delay between commanded and measured motion cannot be told",
    Finding.LENGTHS_DIFFER: lambda f: (
        f"one of leg lengths that differ from those of its poses by {1e6 * f['rms']:.3g} µm RMS, of which noise "
        f"explains {1e6 * f['noise']:.3g} µm; the lengths count"
    ),
}
