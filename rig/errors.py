"""Errors of the rig, and the exit codes that a command ends with."""

import errno
import sys
from collections.abc import Sequence
from enum import IntEnum

from rig.findings import Finding


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


class ConfigError(InputError):
    """A rig's configuration cannot be used."""


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
