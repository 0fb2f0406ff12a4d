"""How a virtual rig will follow a motion, before anything starts, and the demo's motion in a size that fits."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dynamics import Dynamics
from kinematics import Array, LegMotion, Trajectory, leg_kinematics, report_compilation, tabulate
from rig.client.interruption import Interruption
from rig.client.lifecycle import connect_and_home, engage, let_pass
from rig.client.lockstep import LockstepRig
from rig.client.motion_runner import perform
from rig.client.motions import checked_motion
from rig.client.runs import demo_trajectory
from rig.config import RigConfig
from rig.engine import kernels_of
from rig.errors import RefusedError, RigError
from rig.findings import Finding
from rig.safety import check_loop, judge_sag
from rig.states import State
from rig.virtual import kernels_of as kernels_of_virtual
from rig.virtual import run_loop, truth_of

_FOLLOWING_PART, _RESIDUAL_PART = 0.8, 0.6
"""of `safety.following_error` and `safety.force_residual`, which the demo's motion may take"""
_DRIVE_PART = 0.9
"""of a drive's greatest speed and acceleration, likewise"""
_SIZES = 20
"""of the demo's motion, of which the largest that fits is taken"""
_TRIED = 60.0
"""s of the demo's motion that are computed: some twenty periods of its slowest sine"""
_SIMULATED = 10.0
"""s of it that are simulated with all drives, at a tenth of the speed of the other"""
_EVERY = 0.01
"""s, between samples of speeds and accelerations"""
_KERNELS = (
    "dynamics.kernels.cells.cells_batch_kernel",
    "kinematics.leg._inverse_batch",
    "kinematics.trajectories.table._table_motions_kernel",
    "rig.virtual.closed_loop.cycle.run_kernel",
    "rig.virtual.closed_loop.motion.accelerations_kernel",
)
"""Kernels of the prediction where the host closes all loops, with their modules, without their callees."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a virtual rig will make of a motion: greatest values of all legs.

    following: m, off the reference. residual, residual_rms: N, of the load cells from the model, and of the worst leg
    its RMS. speed, acceleration: m/s and m/s², of a leg. speed_limit, acceleration_limit: its drive's, of the leg that
    is nearest to it; infinite where there is none. fault: that ended the simulation, None for none.
    """

    following: float
    residual: float
    residual_rms: float
    speed: float
    acceleration: float
    speed_limit: float = math.inf
    acceleration_limit: float = math.inf
    fault: Finding | None = None

    def shares(self, config: RigConfig) -> dict[str, float]:
        """Return what it takes of each bound, 1 for all: that of a check that is off is infinite."""
        safety = config.safety
        return {
            "following": self.following / safety.bound("following_error"),
            "residual": self.residual / safety.bound("force_residual"),
            "speed": self.speed / self.speed_limit,
            "acceleration": self.acceleration / self.acceleration_limit,
        }


@dataclass(frozen=True, slots=True)
class _Followed:
    """How a motion was followed; see `Prediction`. All are infinite where a fault ended it."""

    following: float = math.inf
    residual: float = math.inf
    residual_rms: float = math.inf
    fault: Finding | None = None

    @classmethod
    def of(cls, error: Array, residual: Array) -> "_Followed":
        """Of the legs' deviations, m, and the cells' residuals, N, both (n, 6)."""
        rms = np.sqrt(np.mean(residual**2, axis=0))
        return cls(float(np.abs(error).max()), float(np.abs(residual).max()), float(rms.max()))


@dataclass(frozen=True, slots=True)
class _NearestToLimit:
    """Greatest speed (m/s) or acceleration (m/s²) of the leg that is nearest to its drive's, and that of the drive."""

    value: float
    limit: float

    @classmethod
    def of(cls, values: Array, limits: Array) -> "_NearestToLimit":
        """Of the legs' values (n, 6), and their drives' (6,), infinite where a drive has none."""
        most = np.abs(values).max(axis=0)
        leg = int(np.argmax(most / limits if np.isfinite(limits).any() else most))
        return cls(float(most[leg]), float(limits[leg]))


_PARTS = {
    "following": _FOLLOWING_PART,
    "residual": _RESIDUAL_PART,
    "speed": _DRIVE_PART,
    "acceleration": _DRIVE_PART,
}


@dataclass(frozen=True, slots=True)
class FittedMotion:
    """A motion, its size as a part of the whole, what is predicted of it, and the bound that a larger one exceeds.

    limited_by: "" for a whole one, else "following", "residual", "speed" or "acceleration".
    """

    trajectory: Trajectory
    size: float
    predicted: Prediction
    limited_by: str = ""


def fitted_demo(
    config: RigConfig, duration: float, report: Callable[[int, int], None] = lambda _done, _total: None
) -> FittedMotion:
    """The demo motion in the largest size that a virtual machine can follow, by a prediction of each size tried.

    Forces beyond the model move the legs from their reference, by the stiffness of the host's loop, and grow with the
    speed; drives that close their own loops lag, and push the platform between two commands. The legs' deviation,
    what the cells read beyond the model, and the drives' greatest speed and acceleration each keep a margin to their
    bound.

    Args:
        config: of a virtual rig.
        duration: of the motion, s.
        report: see `kinematics.report_compilation`; the first prediction on a machine compiles for minutes.

    Raises:
        RefusedError: the control loop is unstable, or even at a twentieth of its size a bound is exceeded.
    """
    simulated = (*kernels_of(config), *kernels_of_virtual(config)) if any(config.own_loops) else _KERNELS
    with report_compilation(simulated, report):
        return _fitted(config, duration)


def _fitted(config: RigConfig, duration: float) -> FittedMotion:
    loop = check_loop(config)
    if not loop.passed:
        raise RefusedError(loop.message)
    home = config.machine.geometry.home_pose
    steps, limited_by = _SIZES, ""
    if config.command_waits.any():
        scale = checked_motion(config, demo_trajectory(home, duration))[1].scale  # by the travel between two commands
        if 0.0 < scale < 1.0 / _SIZES:
            raise _too_much("following", 1.0 / (scale * _SIZES))
        if 0.0 < scale < 1.0:
            steps, limited_by = max(1, math.floor(scale * _SIZES)), "following"
    while True:
        shorter = partial(demo_trajectory, home, size=steps / _SIZES)
        trajectory = shorter(duration)
        predicted = predict(config, trajectory, shorter)
        taken = {name: share / _PARTS[name] for name, share in predicted.shares(config).items()}
        worst = max(taken, key=lambda name: taken[name])
        if taken[worst] <= 1.0:
            return FittedMotion(trajectory, steps / _SIZES, predicted, limited_by)
        if steps == 1:
            raise _refusal(config, predicted, worst)
        limited_by = worst
        # a part of it does not depend on the size, so that this comes near from above
        steps = max(1, min(steps - 1, math.floor(steps / taken[worst]) if math.isfinite(taken[worst]) else steps // 2))


def _refusal(config: RigConfig, predicted: Prediction, name: str) -> RefusedError:
    """The refusal of a machine that no size of the motion fits."""
    bound = 1e3 * _FOLLOWING_PART * config.safety.following_error
    if name == "following" and (judge_sag(config).sag or 0.0) > 0.0:
        return RefusedError(
            f"this machine hangs more than {bound:.2g} mm off its reference at rest (safety.following_error "
            f"{1e3 * config.safety.following_error:g} mm): its masses are too far from the model's"
        )
    if predicted.fault is not None:
        return RefusedError(predicted.fault)
    return _too_much(name, predicted.shares(config)[name])


def _too_much(name: str, share: float) -> RefusedError:
    """The refusal of a motion that takes this share of a bound at its smallest size."""
    return RefusedError(
        f"at a {_SIZES}th of its size the motion takes {100.0 * share:.0f} % of the bound on {_BOUNDS[name]}"
    )


_BOUNDS = {
    "following": "safety.following_error",
    "residual": "safety.force_residual",
    "speed": "a drive's speed",
    "acceleration": "a drive's acceleration",
}


def predict(
    config: RigConfig, trajectory: Trajectory, shorter: Callable[[float], Trajectory] | None = None
) -> Prediction:
    """Predict how a virtual rig follows a trajectory that its limits permit.

    Where the host closes all loops, its law is computed with the plant offline. Drives that close their own loops have
    set-points of their own making between two commands: there the whole rig runs in this process, with its drives.

    Args:
        config: of a virtual rig.
        trajectory: the motion, from home.
        shorter: the same motion of a shorter duration, s, to be computed in place of a long one; what is found is
            scaled by the legs' speeds, peaks by the greatest and RMS values by the RMS.
    """
    config = config.changed({"virtual": {"plant": {"engine": "exact"}}})  # another takes too long
    whole = _leg_motion(config, trajectory)
    longest = _SIMULATED if any(config.own_loops) else _TRIED
    if shorter is None or trajectory.duration <= longest:
        part, peak, mean = trajectory, 1.0, 1.0
    else:
        part = shorter(longest)
        tried = _leg_motion(config, part).velocity
        peak = max(1.0, float(np.abs(whole.velocity).max() / np.abs(tried).max()))
        mean = max(1.0, float(np.sqrt((whole.velocity**2).mean() / (tried**2).mean())))
    followed = (_simulated if any(config.own_loops) else _computed)(config, part)
    ramps = config.drive_ramps
    speed = _NearestToLimit.of(whole.velocity, ramps.speed)
    acceleration = _NearestToLimit.of(whole.acceleration, ramps.acceleration)
    return Prediction(
        following=peak * followed.following,
        residual=peak * followed.residual,
        residual_rms=mean * followed.residual_rms,
        speed=speed.value,
        acceleration=acceleration.value,
        speed_limit=speed.limit,
        acceleration_limit=acceleration.limit,
        fault=followed.fault,
    )


def _leg_motion(config: RigConfig, trajectory: Trajectory) -> LegMotion:
    """The legs' motion along a trajectory."""
    table = tabulate(trajectory, _EVERY)
    return leg_kinematics(config.machine.geometry, table.motion(table.step * np.arange(len(table.samples))))


def _computed(config: RigConfig, trajectory: Trajectory) -> _Followed:
    """How the host's law on the plant follows a trajectory."""
    table, _verdict = checked_motion(config, trajectory)
    truth = truth_of(config)
    run = run_loop(config, table, config.mode, plant=truth.mechanism, friction=truth.friction, hose=truth.hose)
    if run.end:
        return _Followed(fault=Finding.of_text(run.end))
    error = run.encoders()[0] - leg_kinematics(config.machine.geometry, run.reference).length
    residual = run.cells() - Dynamics(config.machine, coulomb_speed=config.control.coulomb_speed).cells(run.reference)
    residual -= residual[0]  # the cells are tared at rest
    return _Followed.of(error, residual)


def _simulated(config: RigConfig, trajectory: Trajectory) -> _Followed:
    """The same of the whole virtual rig with its drives in lockstep."""
    table, _verdict = checked_motion(config, trajectory)
    rows = []
    fault = None
    with LockstepRig(config, None, Interruption()) as rig:
        rig.listen(None, lambda new: rows.append(new[new["state"] == State.RUNNING]))
        try:
            connect_and_home(rig, _quietly)
            engage(rig)
            perform(rig, table, "prediction")
            let_pass(rig, 0.0)
        except RigError as error:
            fault = error.finding
    if fault is not None:
        return _Followed(fault=fault)
    run = np.concatenate(rows)
    run = run[run["motion"] == run["motion"].max()]
    return _Followed.of(run["length"] - run["length_reference"], run["force_residual"])


def _quietly(_progress: object) -> None:
    """Report no progress."""
