"""Errors of the rig, and the exit codes of commands."""

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
    """Usage error, or a missing or invalid file."""
    HARDWARE = 3
    """A port is in use, or a drive does not answer or is not the expected one."""
    REFUSED = 4
    """A guard refused: a trajectory outside the limits, or a state that does not allow it."""
    RECORDING = 5
    """A recording or report cannot be read or written, or a recording is damaged."""
    MISFIT = 6
    """A result whose model does not fit the data: noise does not explain the residual; a failed acceptance test."""
    INTERNAL = 70
    """A defect of this program."""
    INTERRUPTED = 130
    """Ctrl-C."""


_LISTED_FAULTS = 30
"""Maximum number of faults printed in a message; `faults` holds them all."""


def _more(count: int) -> list[str]:
    return [f"and {count} more"] if count > 0 else []


class RigError(Exception):
    """Base of the rig's errors; `exit_code` is the command's exit status if it is not handled.

    Args:
        what: a finding, or a message.

    `finding` is the finding; a message is wrapped in one without its own code.
    """

    exit_code = ExitCode.INTERNAL

    def __init__(self, what: Finding | str = "") -> None:
        self.finding = what if isinstance(what, Finding) else Finding.of_text(what)
        super().__init__(self.finding.text)


class InputError(RigError):
    """A file or an argument is missing or invalid; `faults` lists all its faults."""

    exit_code = ExitCode.INPUT

    def __init__(self, what: str, faults: Sequence[str] = ()) -> None:
        self.what = what
        self.faults = tuple(faults)
        listed = [*self.faults[:_LISTED_FAULTS], *_more(len(self.faults) - _LISTED_FAULTS)]
        super().__init__("\n".join([what, *(f"  {fault}" for fault in listed)]))


KeyPath = tuple[str | int, ...]
"""Location of a value in a file: names of keys, and indices of lists from 0."""


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """One fault of a configuration.

    key: the faulty value, () if it is no single one. finding: the fault.
    """

    key: KeyPath
    finding: Finding

    @property
    def leg(self) -> int:
        """Return the leg 1…6 of the finding or of the key; 0 for none."""
        in_legs = len(self.key) > 2 and self.key[:2] == ("drives", "legs")
        return self.finding.root.leg or (int(self.key[2]) + 1 if in_legs else 0)

    @property
    def located(self) -> Finding:
        """Return the finding with the key in front."""
        if not self.key:
            return self.finding
        return Finding(Code.AT_KEY, details={"key": key_text(self.key)}, within=(self.finding,))

    @property
    def text(self) -> str:
        """Return key and finding in English."""
        return self.located.text

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data: that of the finding, with the key, and the text with the key in front."""
        return {"key": list(self.key), **self.finding.as_dict(), "leg": self.leg, "text": self.text}


def key_text(key: KeyPath) -> str:
    """Format a key path for display, with lists counted from 1: `drives.legs[2].host`."""
    return "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


class ConfigError(InputError):
    """A rig's configuration cannot be used.

    Args:
        what: a message, or a finding whose text lists the faults in it.
        found: all faults.

    `found` has at least one fault: the error itself if it lists none.
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
    """A device or process does not answer, or is in use by another."""

    exit_code = ExitCode.HARDWARE


class RefusedError(RigError):
    """A request that the rig's guards or limits do not allow."""

    exit_code = ExitCode.REFUSED


class LeaseLostError(HardwareError):
    """This client no longer commands the engine: it was silent for too long."""


class RunFaultError(RigError):
    """A run ended in a fault."""

    exit_code = ExitCode.FAULT


class InterruptedRunError(RigError):
    """Ctrl-C."""

    exit_code = ExitCode.INTERRUPTED


class FieldError(InputError):
    """A field of a request has an invalid value.

    Args:
        field: its name.
        fault: the requirement.
    """

    def __init__(self, field: str, fault: str) -> None:
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


class FieldRefusedError(RefusedError):
    """A field of a request has a value forbidden by a limit; arguments as for `FieldError`."""

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
"""Error families of the packages, by name; a raised error's package is already loaded."""


def exit_code_of(error: BaseException) -> ExitCode:
    """Return the command's exit status for an unhandled error of any package."""
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
