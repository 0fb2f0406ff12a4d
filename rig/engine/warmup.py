"""Warm-up: compile, or load from the cache, every kernel of the cycle before the first deadline."""

import math
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from kinematics import MotionTable, pose_to_coordinates
from rig.config import RigConfig
from rig.engine.core import Engine
from rig.engine.devices import make_drive_group
from rig.engine.laws import law_of
from rig.engine.snapshot import Event
from rig.errors import RefusedError
from rig.recording import MotionRecord
from rig.runtime import MonotonicClock
from rig.safety import check_trajectory
from rig.streaming import SampleRing

_KERNELS = (
    "dynamics.kernels.cells.cell_and_terms_kernel",
    "dynamics.kernels.cells.cells_batch_kernel",
    "dynamics.kernels.cells.inverse_batch_kernel",
    "dynamics.kernels.inverse.forces_kernel",
    "kinematics.leg._condition_batch",
    "kinematics.leg.determinant_kernel",
    "kinematics.leg._directions_batch",
    "kinematics.leg._inverse_batch",
    "kinematics.leg._lengths_batch",
    "kinematics.trajectories.table._table_motions_kernel",
    "rig.engine.braking._passes_kernel",
    "rig.engine.command_arbiter.judge_force_kernel",
    "rig.engine.cycle_data.measure_kernel",
    "rig.engine.cycle_data.follow_kernel",
    "rig.engine.cycle_data.foresee_kernel",
    "rig.engine.cycle_data.hold_kernel",
    "rig.engine.cycle_data.locate_kernel",
    "rig.engine.cycle_data.model_kernel",
    "rig.engine.drive_group.convert_kernel",
    "rig.engine.zero_order_hold.note_command_kernel",
    "rig.engine.zero_order_hold.skip_kernel",
    "rig.engine.core._farthest_joint_kernel",
    "rig.engine.reference._excess_kernel",
    "rig.engine.reference.path_law_kernel",
    "rig.engine.reference.path_motion_kernel",
    "rig.engine.stream_kernels.advance_kernel",
    "rig.engine.stream_kernels.planned_kernel",
    "rig.safety.cell_checks._count_kernel",
    "rig.safety.limits.accept_kernel",
    "rig.safety.measured_bounds._beyond_kernel",
    "rig.safety.feedback._check_kernel",
    "rig.safety.brake_check._rest_kernel",
)


def kernels_of(config: RigConfig) -> list[str]:
    """Kernels that the engine of a rig calls, with their modules, without their callees."""
    return [*_KERNELS, *make_drive_group(config).kernels, *law_of(config.mode).kernels]


class Nowhere:
    """A sink without effect, for an engine that does not step yet."""

    fault = ""
    recorded = dropped = 0
    room = math.inf

    def push(self, row: npt.NDArray[np.void]) -> None:
        """See `Sink`."""

    def event(self, event: Event) -> None:
        """See `Sink`."""

    def motion(self, motion: MotionRecord) -> None:
        """See `Sink`."""


def rehearsed(config: RigConfig) -> Engine:
    """An engine for the warm-up, not connected to anything: it can be rehearsed, and never steps."""
    engine = Engine(config, make_drive_group(config), Nowhere(), MonotonicClock())
    warm_up(engine)
    return engine


def warm_up(engine: Engine) -> None:
    """Run the engine's computations once at home, without sending or reporting anything."""
    config = engine.config
    home = config.machine.geometry.home_pose
    engine.rehearse()
    with suppress(RefusedError):  # for the configured delay: then no stream is followed
        engine.stream(SampleRing.local(2), "").rehearse()
    coordinates = np.zeros((2, 18))
    coordinates[:, :6] = pose_to_coordinates(home)
    sparse = MotionTable(2.0 * config.period, coordinates)  # sampled anew by the check
    check_trajectory(config.machine, config.safety, sparse, config.rate)
