"""The force law with a disturbance observer, which estimates and adds the forces beyond the model."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from actuators import Command
from dynamics import WORK_SIZE, Dynamics, DynamicsError
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.kernels import (
    KERNELS,
    OBSERVER_ROWS,
    add_estimate_kernel,
    begin_observer_kernel,
    interrupt_observer,
    note_command_kernel,
    observe_disturbance_kernel,
    observer_settings,
)


class ObserverLaw(ForceLaw):
    """`ForceLaw` with the forces of a disturbance observer added; see `observe_disturbance_kernel`.

    The estimate restarts at 0 whenever the law becomes active. A skipped cycle leaves it unchanged.

    Args:
        config: rate, gains, the observer's bandwidth, and the drives' parameters.
        dynamics: the exact model.
    """

    name = "observer"
    kernels = (
        *ForceLaw.kernels,
        f"{KERNELS}.add_estimate_kernel",
        f"{KERNELS}.begin_observer_kernel",
        f"{KERNELS}.note_command_kernel",
        f"{KERNELS}.observe_disturbance_kernel",
    )

    def __init__(self, config: RigConfig, dynamics: Dynamics) -> None:
        super().__init__(config.control)
        self._parameters = dynamics.parameters
        self._settings = observer_settings(config)
        self._longest = 1.5 * config.period  # s, between two cycles of which none is missing
        self._memory = np.zeros((OBSERVER_ROWS, 19))
        self._work = np.zeros(WORK_SIZE)
        self._cycle, self._observed = 0, -2

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """See `ControlLaw.of`."""
        return cls(config, dynamics)

    def refer(self, cycle: CycleData) -> None:
        """A cycle begins, whether or not this law is active."""
        self._cycle += 1

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`."""
        super().compute(cycle)
        force = cycle.set_points.force
        if self._observed != self._cycle:  # a cycle may be computed twice, where its reference is left
            self._observe(cycle)
        add_estimate_kernel(self._memory, force)

    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """Torque on, with the forces; the observer stores the limited ones."""
        note_command_kernel(cycle.set_points.force, self._memory)
        return super().commands(cycle)

    def _observe(self, cycle: CycleData) -> None:
        if self._observed != self._cycle - 1:
            begin_observer_kernel(cycle.set_points.force, self._memory)
        elif cycle.elapsed > self._longest:
            interrupt_observer(self._memory)
        self._observed = self._cycle
        status = observe_disturbance_kernel(
            self._settings, self._parameters, cycle.measurement.pose, cycle.measurement.twist, self._work, self._memory
        )
        if status != 0:
            raise DynamicsError("the model has no solution at the measured pose")
