"""What a rig's encoders, cells and commands say of a machine as built that follows a path in the closed loop."""

from followed_poses import followed_poses

from calibration import ForceRecord
from kinematics import MotionTable
from rig.analysis import drive_forces
from rig.config import RigConfig
from rig.virtual import run_loop, truth_of

NOISE = 0.5
_BUILT = {
    "safety": {"tare_shift": 15.0},
    "virtual": {"cells": {"drift": 0.002, "resolution": 0.05, "noise": NOISE}},
}


def built(config: RigConfig, seed: int) -> RigConfig:
    """A rig's configuration with the machine of a seed, cells that are not quite calibrated, drift and steps."""
    return config.changed(_BUILT).changed({"virtual": {"seed": seed, "plant": {"as_built": seed}}})


def recorded(config: RigConfig, path: MotionTable, controller: str = "force") -> ForceRecord:
    """A stretch; without the drives' forces where they close their own loops."""
    truth = truth_of(config)
    served = config.changed({"virtual": {"cells": truth.cells.model_dump()}})
    run = run_loop(served, path, controller, plant=truth.mechanism, friction=truth.friction, hose=truth.hose)
    lengths, _ = run.encoders()
    pose = followed_poses(config.machine.geometry, lengths, config.machine.geometry.home_pose)
    if controller == "position":
        return ForceRecord(config.rate, pose, run.cells())
    mean, excess = drive_forces(run.commands, config.period, config.resolved()["drives"])
    return ForceRecord(config.rate, pose, run.cells(), mean, excess)
