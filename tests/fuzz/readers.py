"""The kinds of input file: what reads each, what may refuse it, and what must be true of one that is accepted."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from mutations import Mutator

from actuators import ConfigurationError, Mode, ServoProfile, create_drive, load_profile
from calibration import CalibrationError, format_cell_calibration, load_cell_calibration, parse_cell_calibration
from dynamics import Dynamics, DynamicsError, Mechanism, load_mechanism, mechanism_names
from dynamics.serial import Arm, ArmDynamics, arm_names, load_arm, standard_arm_chain
from kinematics import (
    Axes,
    KinematicsError,
    Trajectory,
    leg_kinematics,
    load_joint_trajectory,
    load_trajectory,
    trajectory_names,
)
from rig.commissioning import check_devices
from rig.config.rig_config import RigConfig, load_config
from rig.engine.point_to_point import approach_move
from rig.errors import ConfigError
from rig.safety.limits import ReferenceCheck
from rig.safety.stability import check_loop
from rig.safety.trajectory_check import check_trajectory

RIG = load_config("virtual")
HOME = RIG.machine.geometry.home_pose
_CALIBRATION = (Path(__file__).parent / "cells.toml").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: `read` gives what it holds or raises one of `refusals`; `hold` asserts what must be true then."""

    mutator: Mutator
    read: Callable[[Path], Any]
    refusals: tuple[type[Exception], ...]
    hold: Callable[[Any], None]


def _shipped(package: str, *names: str) -> list[str]:
    return [(resources.files(package) / f"{name}.toml").read_text(encoding="utf-8") for name in names]


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, (int, float)):
        yield float(value)
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _numbers(item)


def _finite(value: Any) -> None:
    assert all(map(math.isfinite, _numbers(value)))


# -- configurations ---------------------------------------------------------------------------------------------------


def _read_config(path: Path) -> RigConfig:
    config = load_config(path)
    check_devices(config)
    return config


def _hold_config(config: RigConfig) -> None:
    """Every check has a bound of its physical size, and the rig's own moves can be judged."""
    _finite(config.resolved())
    safety = config.safety
    assert safety.following_error <= 0.1 and safety.stop_time >= 0.02 and safety.force_residual <= 1e5
    loop = check_loop(config)
    assert isinstance(loop.passed, bool) and isinstance(loop.message, str)
    home = config.machine.geometry.home_pose
    above = home + np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0])
    move = approach_move(config, above, home)
    legs = leg_kinematics(config.machine.geometry, move.motion(np.linspace(0.0, move.duration, 50)))
    limits = [leg.limits for leg in config.machine.legs]
    speed, acceleration = (
        np.array([getattr(limit, name) for limit in limits]) for name in ("velocity", "acceleration")
    )
    assert (np.abs(legs.velocity) <= speed).all() and (np.abs(legs.acceleration) <= acceleration).all()
    ReferenceCheck(config.machine, safety)


# -- mechanisms -------------------------------------------------------------------------------------------------------


def _hold_mechanism(machine: Mechanism) -> None:
    """Masses are not negative, and the model either runs at home or says in words why it has no answer there."""
    parts = [part for leg in machine.legs for part in (leg.lower, leg.upper)]
    assert machine.mass > 0.0 and all(part.mass >= 0.0 for part in parts)
    for inertia in (machine.inertia, *(part.inertia for part in parts)):
        assert np.isfinite(inertia).all() and np.array_equal(inertia, inertia.T)
        moments = np.linalg.eigvalsh(inertia)
        assert machine.warnings or moments[0] >= -1e-6 * np.abs(moments).max()
    if machine.geometry.home is None:
        return
    motion = np.zeros((1, 19))
    motion[0, :7] = machine.geometry.home_pose
    dynamics = Dynamics(machine)
    try:
        forces = dynamics.inverse(motion).forces
        mass = dynamics.mass_matrix(machine.geometry.home_pose)
    except (DynamicsError, KinematicsError):
        return
    assert np.isfinite(forces).all() and np.isfinite(mass).all()
    principal = np.linalg.eigvalsh(0.5 * (mass + mass.T))
    assert machine.warnings or principal[0] >= -1e-6 * principal[-1]


# -- profiles ---------------------------------------------------------------------------------------------------------


def _hold_profile(profile: ServoProfile) -> None:
    """Numbers are finite, and a drive is made of it, or says in words what of its options does not fit."""
    _finite(profile.model_dump())
    try:
        drive = create_drive("servo", {"host": "127.0.0.1", "profile": profile, "watchdog": 0.05})
    except ConfigurationError as error:
        assert "watchdog 0.05 s is outside" in str(error)
        return
    limits = drive.capabilities
    assert all(isinstance(mode, Mode) for mode in limits.modes)
    assert 0.0 < limits.force_limit < math.inf and 0.0 < limits.velocity_limit < math.inf


# -- calibrations -----------------------------------------------------------------------------------------------------


def _hold_calibration(calibration: Any) -> None:
    """Readings become finite forces, six equal cells stay alike, and the file says the same when written again."""
    gains = np.abs(calibration.gain)
    assert np.isfinite(calibration.apply(np.zeros(6))).all()
    assert (gains >= 1e-7).all() and (gains <= 1e7).all()
    assert (gains <= 4.0 * np.median(gains)).all() and (gains >= 0.25 * np.median(gains)).all()
    again = parse_cell_calibration(format_cell_calibration(calibration))
    assert np.array_equal(again.gain, calibration.gain) and np.array_equal(again.offset, calibration.offset)


# -- trajectories -----------------------------------------------------------------------------------------------------


def _hold_trajectory(trajectory: Any) -> None:
    """It is of a length that can be looked at, and the check of a motion says of it yes or no."""
    assert 0.0 < trajectory.duration <= 3600.0
    try:
        verdict = check_trajectory(RIG.machine, RIG.safety, trajectory, 50.0)
    except (KinematicsError, DynamicsError) as error:
        assert str(error)
        return
    assert verdict.passed or verdict.message


# -- arms and their motions -------------------------------------------------------------------------------------------


def _hold_arm(arm: Arm) -> None:
    """Masses are not negative, and the model gives finite forces, or says why it has none."""
    n = len(arm)
    assert all(joint.mass >= 0.0 for joint in arm.joints)
    assert arm.warnings or not arm.unphysical
    model = ArmDynamics(arm, 0.01)
    try:
        tau = model.inverse(np.zeros(n), np.ones(n), np.ones(n))
        mass = model.mass_matrix(np.zeros(n))
        chain = standard_arm_chain(arm)
    except DynamicsError:
        return
    assert np.isfinite(tau).all() and len(chain) == n
    moments = np.linalg.eigvalsh(mass)
    assert arm.warnings or moments[0] >= -1e-6 * np.abs(moments).max()


_JOINTS = Axes(("one", "two", "three"), ("rad", "rad", "m"))


def _hold_joint_trajectory(trajectory: Trajectory) -> None:
    """It is of a length that can be looked at, and finite throughout."""
    assert 0.0 < trajectory.duration <= 3600.0
    for values in trajectory.coordinates(np.linspace(0.0, trajectory.duration, 50)):
        assert np.isfinite(values).all()


KINDS: dict[str, Callable[[], Kind]] = {
    "config": lambda: Kind(Mutator([RIG.path.read_text(encoding="utf-8")]), _read_config, (ConfigError,), _hold_config),
    "mechanism": lambda: Kind(
        Mutator([load_mechanism(name, evaluate_only=True).source for name in mechanism_names()]),
        lambda path: load_mechanism(path, evaluate_only=True),
        (DynamicsError,),
        _hold_mechanism,
    ),
    "profile": lambda: Kind(
        Mutator(_shipped("actuators.profiles", "generic-servo", "lexium-32", "oriental-az", "delta-asda-a2")),
        lambda path: load_profile(path, ServoProfile),
        (ConfigurationError,),
        _hold_profile,
    ),
    "calibration": lambda: Kind(Mutator([_CALIBRATION]), load_cell_calibration, (CalibrationError,), _hold_calibration),
    "trajectory": lambda: Kind(
        Mutator([*_shipped("kinematics.trajectories", *trajectory_names()), _EVERY_PART]),
        lambda path: load_trajectory(path, HOME),
        (KinematicsError,),
        _hold_trajectory,
    ),
    "arm": lambda: Kind(
        Mutator([load_arm(name).source for name in arm_names()]),
        lambda path: load_arm(path, evaluate_only=True),
        (DynamicsError,),
        _hold_arm,
    ),
    "joint trajectory": lambda: Kind(
        Mutator([_EVERY_JOINT_PART]),
        lambda path: load_joint_trajectory(path, _JOINTS),
        (KinematicsError,),
        _hold_joint_trajectory,
    ),
}

_EVERY_JOINT_PART = """
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0]
end = [0.5, "20 deg", "20 mm"]
duration = "2 s"

[[parts]]
type = "blend"
start = [0.5, "20 deg", "20 mm"]
end = [0, 0, 0]
duration = 1.0
blend = 0.2

[[parts]]
type = "hold"
duration = 0.5

[[parts]]
type = "harmonic"
duration = 4.0
fade = 1.0
terms = [{ joint = "one", amplitude = 0.05, frequency = 1.5 }, { joint = 3, amplitude = "1 mm", frequency = 0.7 }]

[[parts]]
type = "chirp"
offset = [0, 0, 0]
duration = 4.0
fade = 1.0
terms = [{ joint = 2, amplitude = "2 deg", start_frequency = 0.5, end_frequency = 3.0, phase = 0.1 }]

[[parts]]
type = "waypoints"
times = [0, 1, 2.5]
positions = [[0, 0, 0], [0.1, 0.2, "5 mm"], [0, 0.5, 0]]

[[parts]]
type = "transition"
duration = 2.0

[[parts]]
type = "random"
duration = 4.0
fade = 1.0
seed = 3
terms = [{ joint = "three", rms = 0.002, low_frequency = 0.5, high_frequency = 3.0 }]
"""

_EVERY_PART = """
frame = "home"
pivot = [0, 0, "35 mm"]

[[parts]]
type = "hold"
duration = "0.5 s"

[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, "20 mm", 0, 0, 0]
duration = "2 s"

[[parts]]
type = "blend"
start = [0, 0, 0.02, 0, 0, 0]
end = [0.01, 0, 0.02, 0, 0, 0]
duration = 1.0
speed = 0.015

[[parts]]
type = "harmonic"
offset = [0.01, 0, 0.02, 0, 0, 0]
duration = 4.0
fade = 1.0
terms = [{ dof = "z", amplitude = 0.005, frequency = 1.5 }, { dof = "rx", amplitude = "1 deg", frequency = 0.7 }]

[[parts]]
type = "chirp"
offset = [0.01, 0, 0.02, 0, 0, 0]
duration = 4.0
fade = 1.0
terms = [{ dof = "x", amplitude = 0.002, start_frequency = 0.5, end_frequency = 3.0 }]

[[parts]]
type = "transition"
duration = 2.0

[[parts]]
type = "random"
duration = 4.0
fade = 1.0
seed = 3
terms = [{ dof = "y", rms = 0.002, low_frequency = 0.5, high_frequency = 3.0 }]
"""
