"""How far a platform hangs off its reference where its masses are not the model's: the loop's stiffness against weight.

In mode `force` a leg's stiffness K_p carries what the model's weight is wrong by, ΔF, at an error ΔF/K_p. In mode
`computed-torque` the task's stiffness k does, through the model's own inertia: [Δx; Δφ] = M⁻¹ H ΔF / k. In mode
`observer` the disturbance observer finds ΔF, and drives that close their own loops have their own stiffness: nothing is
said there.
"""

from dataclasses import dataclass

import numpy as np

from dynamics import Dynamics
from kinematics import leg_matrix
from rig.config import RigConfig

MASS_ERROR = 0.2
"""part by which the masses of a machine may be off its model's, as `check_loop` takes it"""


@dataclass(frozen=True, slots=True)
class SagVerdict:
    """The greatest error of a leg at home, m, with all masses `MASS_ERROR` off; None where that is not the host's.

    bound: m, `safety.following_error`. stiffness: that at which the sag is half the bound, in the mode's unit.
    """

    mode: str
    sag: float | None
    bound: float
    stiffness: float

    @property
    def message(self) -> str:
        """What is to be expected, and what would help; empty where the sag is within the bound."""
        if self.sag is None or self.sag <= self.bound:
            return ""
        name, unit = ("task_stiffness", "1/s²") if self.mode == "computed-torque" else ("stiffness", "N/m")
        return (
            f"with masses {100.0 * MASS_ERROR:.0f} % off the model's a leg hangs {1e3 * self.sag:.1f} mm off its "
            f"reference at home (safety.following_error {1e3 * self.bound:g} mm): identify the masses (rig identify), "
            f"take mode observer, or control.{name} of {self.stiffness:.3g} {unit}"
        )


def judge_sag(config: RigConfig) -> SagVerdict:
    """The sag of a configuration at the mechanism's home. Raises DynamicsError where home is singular."""
    bound = config.safety.following_error
    if config.mode == "observer" or all(config.own_loops):
        return SagVerdict(config.mode, None, bound, 0.0)
    machine, control = config.machine, config.control
    home = np.zeros(19)
    home[:7] = machine.geometry.home_pose
    model = Dynamics(machine)
    unknown = MASS_ERROR * model.forces(home)
    if config.mode == "computed-torque":
        stiffness = control.task_stiffness
        moved = model.response(home[np.newaxis, :13], unknown[np.newaxis])[0]
        errors = leg_matrix(machine.geometry, home[:7]).T @ moved
    else:
        stiffness = control.stiffness
        errors = unknown[~np.array(config.own_loops)]
    worst = float(np.abs(errors).max())
    sag = worst / stiffness if stiffness > 0.0 else np.inf
    return SagVerdict(config.mode, sag, bound, 2.0 * worst / bound)
