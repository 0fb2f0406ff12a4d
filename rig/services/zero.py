"""Zeroing of a parked rig's load cells."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibration import save_cell_calibration
from rig.errors import InputError
from rig.findings import Code, Finding
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.client import Interruption
    from rig.client import Progress as RigProgress
    from rig.commissioning import Zero


@request
class ZeroRequest:
    """A rig whose cells are zeroed; nothing may touch its platform."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    output: Path | None = None
    """calibration to write, never overwritten; None: cells-DATE.toml, with `apply` next to the configuration"""
    apply: bool = False
    """name the new file in the configuration"""
    duration: float = 3.0
    """s at rest"""
    largest_shift: float | None = None
    """N, maximum accepted shift; None: a tenth of the cells' range"""
    operator: str = ""
    """stored in the file, like the following"""
    note: str = ""
    unproven: bool = False
    """home even if a leg's wiring was not tested"""


@dataclass(frozen=True, slots=True, eq=False)
class ZeroResult:
    """Result of the service.

    found: shift, noise and drift of each zero, and `faults`, reasons against it. calibration_file: the written
    file, None if refused. named_in: the configuration that now refers to it, or None. notices: for the
    user.
    """

    found: "Zero"
    calibration_file: Path | None
    named_in: Path | None
    notices: tuple[Notice, ...]

    @property
    def refusal(self) -> Finding | None:
        """Return the faults as one finding; None if there are none."""
        return Finding(Code.ZERO_REFUSED, within=self.found.faults) if self.found.faults else None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        path = None if self.calibration_file is None else str(self.calibration_file)
        return self.found.as_dict() | {"paths": {"calibration": path}}


def zero_cells(
    request: ZeroRequest, progress: OnEvent = no_progress, *, interruption: "Interruption | None" = None
) -> ZeroResult:
    """Connect, home, park, compare the cells with the model, and write their new zero. The platform moves.

    Args:
        request: the rig.
        progress: receives each phase; if it raises, the rig is brought to rest.
        interruption: polled while waiting; None: Ctrl-C interrupts as usual.

    Raises:
        InputError: the request or the configuration.
        CalibrationFileError: the file exists already.
        RefusedError, RunFaultError, HardwareError: the rig does not come to rest, or another engine commands it.
        InterruptedRunError: it was stopped.
    """
    from rig.client import Interruption
    from rig.commissioning import (
        ZeroOptions,
        check_naming,
        check_zero,
        free_calibration_path,
        name_calibration,
        zero_rig,
    )
    from rig.config import load_config, relaxed_timing, shipped_configs

    config, apply, output = request.config, request.apply, request.output
    settings = load_config(config)
    if apply and config in shipped_configs():
        raise InputError(f"--apply: {config} is shipped with the program; copy it to a file of your own first")
    if output is None:
        output = free_calibration_path(settings.folder if apply else Path(), date.today())
    if apply and output.resolve().parent != settings.folder.resolve():
        raise InputError(f"--apply: {output} is not beside {settings.path}")
    check_new_file(output)
    options = ZeroOptions(request.duration, request.largest_shift, request.operator, request.note)
    check_zero(settings, options)
    if apply:
        check_naming(settings.path, output.name)
    notices = Notices(progress)
    if settings.safety.off:
        notices.add("checks-off", f"checks {settings.safety.disabled_text}")

    def report(now: "RigProgress") -> None:
        progress(Progress("rig", now.fraction, 1.0, {"phase": now.phase}))

    rig = settings if settings.virtual is None else relaxed_timing(settings)
    found = zero_rig(rig, options, interruption or Interruption(), report, unproven=request.unproven)
    if found.faults:
        return ZeroResult(found, None, None, notices.found)
    save_cell_calibration(output, found.calibration)
    if apply:
        name_calibration(settings.path, output.name)
    return ZeroResult(found, output, settings.path if apply else None, notices.found)
