"""What a motion would do, before anything moves: its table, the check's verdict, and curves to look at."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynamics import Dynamics, DynamicsError
from gui.motion.specification import Data, to_toml
from kinematics import (
    Array,
    KinematicsError,
    MotionTable,
    SingularityError,
    leg_kinematics,
    motion_to_coordinates,
    parse_trajectory,
    tabulate,
)
from rig.checks import LimitCheck, Verdict, check_trajectory
from rig.config import RigConfig

_POINTS = 800
_TABLE_RATE = 500.0  # Hz; at the least, whatever the cycle


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Series over time `t` (n,) s: coordinates (n, 6) m and rad; per leg (n, 6) length m, speed m/s, force N."""

    t: Array
    coordinates: Array
    lengths: Array
    speeds: Array
    forces: Array


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """A motion that was looked at: `fault` says why there is nothing to look at, else the rest is there."""

    fault: str = ""
    table: MotionTable | None = None
    verdict: Verdict | None = None
    curves: Curves | None = None

    @property
    def obstacle(self) -> str:
        """Why the motion must not be run, in one line; empty when it may."""
        if self.fault or self.verdict is None:
            return "the motion is not complete: see the message above"
        return "" if self.verdict.passed else "the motion does not pass the check"


def look_ahead(config: RigConfig, motion: Data, folder: Path, amplitude: float) -> Preview:
    """Build, check and evaluate a motion.

    Args:
        config: the rig.
        motion: as its file states it.
        folder: where its file names start.
        amplitude: its size about its start pose, 1 for the motion as it is.
    """
    try:
        trajectory = parse_trajectory(to_toml(motion), config.machine.geometry.home, folder)
        rate = max(config.rate, _TABLE_RATE)
        table = _scaled(tabulate(trajectory, 1.0 / rate), amplitude)
        verdict = check_trajectory(config.machine, config.safety, table, rate)
    except (KinematicsError, DynamicsError, OSError) as error:
        return Preview(fault=str(error))
    try:
        curves = _curves(config, table)
    except (SingularityError, DynamicsError):
        curves = None  # the verdict says where the motion becomes impossible
    return Preview(table=table, verdict=verdict, curves=curves)


def _scaled(table: MotionTable, amplitude: float) -> MotionTable:
    if amplitude == 1.0:
        return table
    samples = table.samples * amplitude
    samples[:, :6] += (1.0 - amplitude) * table.samples[0, :6]
    return MotionTable(table.step, samples)


def _curves(config: RigConfig, table: MotionTable) -> Curves:
    times = np.linspace(0.0, table.duration, min(_POINTS, len(table.samples)))
    times = np.minimum(times, table.duration)
    motion = table.motion(times)
    legs = leg_kinematics(config.machine.geometry, motion)
    dynamics = Dynamics(config.machine, config.control.coulomb_speed)
    return Curves(
        t=times,
        coordinates=motion_to_coordinates(motion)[0],
        lengths=legs.length,
        speeds=legs.velocity,
        forces=dynamics.inverse(motion).forces,
    )


def tightest(verdict: Verdict) -> LimitCheck | None:
    """The check that is nearest to its bound, or farthest beyond it; the ends' speeds, nearly zero, are left out."""
    checks = [check for check in verdict.checks if not check.name.startswith("speed at")]
    return max(checks, key=_use, default=None)


def _use(check: LimitCheck) -> float:
    if check.is_minimum:
        return check.bound / check.value if check.value > 0.0 else float("inf")
    return check.value / check.bound if check.bound > 0.0 else float("inf")


def describe(verdict: Verdict) -> str:
    """The verdict in words."""
    if not verdict.passed:
        return verdict.message
    text = f"Passes every limit over {verdict.duration:g} s."
    nearest = tightest(verdict)
    return text if nearest is None else f"{text} Nearest to its limit: {nearest}."
