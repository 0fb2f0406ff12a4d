"""Errors of the rig, and the exit codes that a command ends with."""

import errno
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from rig.findings import Code, Finding


class ExitCode(IntEnum):
    """Exit status of every `rig` command."""

    OK = 0
    FAULT = 1
    """The run took place and ended in a fault."""
    INPUT = 2
    """Usage error, or a file that is missing or wrong."""
    HARDWARE = 3
    """A port is taken, a drive is silent or not the one expected."""
    REFUSED = 4
    """A guard said no: a trajectory outside the limits, a state that does not allow it."""
    RECORDING = 5
    """A recording or report cannot be read or written, or a recording is damaged."""
    MISFIT = 6
    """A result was told whose model does not fit the data: more is left than noise explains."""
    INTERNAL = 70
    """A defect of this program."""
    INTERRUPTED = 130
    """Ctrl-C."""


_LISTED_FAULTS = 30
"""Faults that a message prints; `faults` holds them all."""


def _more(count: int) -> list[str]:
    return [f"and {count} more"] if count > 0 else []


class RigError(Exception):
    """Base of the rig's errors; `exit_code` is what a command ends with when nobody handles it.

    Args:
        what: what was found, or a message in words.

    `finding` is what was found; of a message one that has no code of its own.
    """

    exit_code = ExitCode.INTERNAL

    def __init__(self, what: Finding | str = "") -> None:
        self.finding = what if isinstance(what, Finding) else Finding.of_text(what)
        super().__init__(self.finding.text)


class InputError(RigError):
    """A file or an argument is missing or wrong; `faults` lists everything found wrong with it."""

    exit_code = ExitCode.INPUT

    def __init__(self, what: str, faults: Sequence[str] = ()) -> None:
        self.what = what
        self.faults = tuple(faults)
        listed = [*self.faults[:_LISTED_FAULTS], *_more(len(self.faults) - _LISTED_FAULTS)]
        super().__init__("\n".join([what, *(f"  {fault}" for fault in listed)]))


KeyPath = tuple[str | int, ...]
"""Where a value stands in a file: names of keys, and indices of lists from 0."""


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """One thing that is wrong with a configuration.

    key: the value that it is about, () where it is about no single one. finding: what is wrong.
    """

    key: KeyPath
    finding: Finding

    @property
    def leg(self) -> int:
        """The leg 1…6 that it is about, by the finding or by the key; 0 for none."""
        in_legs = len(self.key) > 2 and self.key[:2] == ("drives", "legs")
        return self.finding.root.leg or (int(self.key[2]) + 1 if in_legs else 0)

    @property
    def located(self) -> Finding:
        """The finding with the key in front."""
        if not self.key:
            return self.finding
        return Finding(Code.AT_KEY, details={"key": key_text(self.key)}, within=(self.finding,))

    @property
    def text(self) -> str:
        """Key and finding in English."""
        return self.located.text

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able data: that of the finding, with the key, and the text with the key in front."""
        return {"key": list(self.key), **self.finding.as_dict(), "leg": self.leg, "text": self.text}


def key_text(key: KeyPath) -> str:
    """A key path as a person reads it, lists counted from 1: `drives.legs[2].host`."""
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


class ConfigError(InputError):
    """A rig's configuration cannot be used.

    Args:
        what: in words, or a finding whose text lists the faults in it.
        found: everything that is wrong.

    `found` has at least one fault: the error itself where it lists none.
    """

    def __init__(self, what: Finding | str, found: Sequence[ConfigFault] = ()) -> None:
        if isinstance(what, Finding):
            listed = [fault.located for fault in found[:_LISTED_FAULTS]]
            if len(found) > _LISTED_FAULTS:
                listed.append(Finding(Code.AND_MORE, details={"count": len(found) - _LISTED_FAULTS}))
            what = replace(what, within=tuple(listed))
        RigError.__init__(self, what)
        self.what = self.finding.text
        self.found = tuple(found) or (ConfigFault((), self.finding),)
        self.faults = tuple(fault.text for fault in found)


class HardwareError(RigError):
    """Something that should answer does not, or something else holds it."""

    exit_code = ExitCode.HARDWARE


class RefusedError(RigError):
    """A request that the rig's guards or limits do not allow."""

    exit_code = ExitCode.REFUSED


class LeaseLostError(HardwareError):
    """This client commands the engine no more: it was silent for too long."""


class RunFaultError(RigError):
    """A run ended in a fault."""

    exit_code = ExitCode.FAULT


class InterruptedRunError(RigError):
    """Ctrl-C."""

    exit_code = ExitCode.INTERRUPTED


class FieldError(InputError):
    """A field of a request has a value that cannot be used.

    Args:
        field: its name.
        fault: what it must be.
    """

    def __init__(self, field: str, fault: str) -> None:
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


class FieldRefusedError(RefusedError):
    """A field of a request has a value that a limit forbids; arguments as those of `FieldError`."""

    def __init__(self, field: str, fault: str) -> None:
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


_FAMILIES = (
    ("kinematics", "KinematicsError", ExitCode.INPUT),
    ("dynamics", "DynamicsError", ExitCode.INPUT),
    ("calibration", "CalibrationError", ExitCode.INPUT),
    ("actuators", "ConfigurationError", ExitCode.INPUT),
    ("actuators", "ActuatorError", ExitCode.HARDWARE),
    ("rig.recording", "RecordingError", ExitCode.RECORDING),
)
"""Error families of the packages, by name: an error that was raised has its package loaded already."""


def exit_code_of(error: BaseException) -> ExitCode:
    """What a command ends with when nobody handles this error, whichever package raised it."""
    if isinstance(error, RigError):
        return error.exit_code
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return ExitCode.INPUT
    if getattr(error, "errno", None) == errno.EMFILE:
        return ExitCode.HARDWARE
    for module, name, code in _FAMILIES:
        family = getattr(sys.modules.get(module), name, None)
        if family is not None and isinstance(error, family):
            return code
    return ExitCode.INTERNAL
