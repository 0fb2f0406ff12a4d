"""Simulation of the platform's motion under given leg forces."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rig.errors import FieldError, RefusedError
from rig.services.job import OnEvent, no_progress
from rig.services.path_planning import Pose, Six
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.virtual import Departure


@request
class ForcesRequest:
    """Forward dynamics of a platform under given leg forces."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    forces: Path
    """CSV file: t, s, and f1…f6, N, linear between the rows; an external wrench fx…mz may follow"""
    pose: Pose
    """initial pose: x, y, z, m, and a unit quaternion, scalar first"""
    output: Path
    """CSV file of t and the columns of a motion"""
    step: float = 0.0005
    """s, maximum integration step"""
    twist: Six | None = None
    """initial twist, m/s and rad/s, base frame; None: at rest"""
    wrench: Six | None = None
    """a constant external wrench at the platform origin, N and N m, platform axes"""
    coulomb_speed: float = 0.0
    """m/s, leg speed that smooths Coulomb friction; 0 for none"""

    def __post_init__(self) -> None:
        if not 0.0 < self.step < float("inf"):
            raise FieldError("step", f"{self.step:g} s must be greater than 0 s")
        if not 0.0 <= self.coulomb_speed <= 1.0:
            raise FieldError("coulomb_speed", f"{self.coulomb_speed:g} m/s must be 0 to 1 m/s")


@dataclass(frozen=True, slots=True)
class ForcesResult:
    """Result of the service.

    motion: the file. rows: its number of rows. of: number of rows of the forces. departure: why it ended earlier, or
    None.
    """

    motion: Path
    rows: int
    of: int
    departure: "Departure | None"


def simulate_forces(request: ForcesRequest, progress: OnEvent = no_progress) -> ForcesResult:
    """Integrate the motion under leg forces by fourth-order Runge-Kutta, while the legs are within their strokes.

    Events: notices of the mechanism.

    Raises:
        FieldError: a wrench in addition to the file's.
        RefusedError: a leg is beyond its stroke at the start; nothing is written.
        InputError, DynamicsError: a file that cannot be read or written.
    """
    from dynamics import load_mechanism
    from rig.csvio import MOTION, WRENCH, check_output, optional_groups, per_leg, read_table, write_table
    from rig.virtual import simulate as integrate

    check_output(request.output)
    machine = load_mechanism(request.mechanism)
    notices = Notices(progress)
    for warning in machine.warnings:
        notices.add("mechanism", warning)
    table = read_table(request.forces, per_leg("f"), optional_groups(per_leg("f")), increasing=True)
    wrenches = table.columns(WRENCH) if table.has(WRENCH) else None
    if request.wrench is not None:
        if wrenches is not None:
            raise FieldError("wrench", f"{request.forces} has a wrench of its own")
        wrenches = np.tile(np.array(request.wrench), (len(table.times), 1))
    found = integrate(
        machine,
        table.times,
        table.columns(per_leg("f")),
        np.array(request.pose),
        request.step,
        twist=None if request.twist is None else np.array(request.twist),
        wrenches=wrenches,
        coulomb_speed=request.coulomb_speed,
    )
    rows = len(found.motion)
    if rows == 0:
        raise RefusedError(f"the start: {found.departure}")
    write_table(request.output, ("t", *MOTION), np.column_stack([table.times[:rows], found.motion]))
    return ForcesResult(request.output, rows, len(table.times), found.departure)
