"""The control laws against an implementation of their own, and both closed loops on the virtual rig."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from engine_support import CONFIG, HOME, bench, refused, smooth_table
from numpy.random import Generator
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from actuators import Mode
from dynamics import Dynamics, DynamicsError, format_mechanism
from kinematics import Array, leg_kinematics, pose_difference
from rig.config.sections import Control
from rig.engine.cycle_data import CycleData
from rig.engine.laws import ForceLaw, make_law
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.kernels import task_motion_kernel
from rig.engine.laws.observer import ObserverLaw
from rig.engine.messages import Connect, Home, Stop
from rig.engine.reference import Reference
from rig.findings import Code
from rig.safety import MeasuredBounds
from rig.states import FaultCode, State, StopSeverity
from rig.virtual import scaled_mechanism

DYNAMICS = Dynamics(CONFIG.machine, coulomb_speed=CONFIG.control.coulomb_speed)


def _rotation(quaternion: Array) -> Rotation:
    return Rotation.from_quat(np.roll(quaternion, -1))


def _quaternion(rotation: Rotation) -> Array:
    return np.roll(rotation.as_quat(), 1)


def _motion(random: Generator, angle: float) -> Array:
    turn = Rotation.from_rotvec(random.normal(size=3) * angle) * _rotation(HOME[3:])
    sign = random.choice([-1.0, 1.0])
    return np.concatenate([HOME[:3] + 0.02 * random.normal(size=3), sign * _quaternion(turn), random.normal(size=12)])


def _expected(now: Array, ahead: Array, pose: Array, twist: Array, stiffness: float, damping: float) -> Array:
    """ẍ_d + K_v ė + K_p e at the pose that the reference will have, less the error of now."""
    error = np.concatenate([now[:3] - pose[:3], (_rotation(now[3:7]) * _rotation(pose[3:]).inv()).as_rotvec()])
    rate = now[7:13] - twist
    turn = Rotation.from_rotvec(-error[3:]) * _rotation(ahead[3:7])
    return np.concatenate(
        [
            ahead[:3] - error[:3],
            _quaternion(turn),
            ahead[7:13] - rate,
            ahead[13:] + damping * rate + stiffness * error,
        ]
    )


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.1, 1.0])
def test_the_task_space_law_agrees_with_scipy(angle: float) -> None:
    random = np.random.default_rng(7)
    for _ in range(50):
        now, ahead = _motion(random, angle), _motion(random, angle)
        measured = _motion(random, angle)
        pose, twist = measured[:7].copy(), measured[7:13].copy()
        out = np.zeros(19)
        task_motion_kernel(now, ahead, pose, twist, 130.0 * np.eye(6), 23.0 * np.eye(6), out)
        expected = _expected(now, ahead, pose, twist, 130.0, 23.0)
        expected[3:7] *= np.sign(expected[3:7] @ out[3:7])
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)


def test_without_an_error_both_laws_are_the_model() -> None:
    motion = np.concatenate([HOME, np.linspace(-0.05, 0.05, 6), np.linspace(1.0, -1.0, 6)])
    expected = DYNAMICS.forces(motion)
    for law in (ForceLaw(CONFIG.control), ComputedTorqueLaw(DYNAMICS, CONFIG)):
        cycle = CycleData(CONFIG)
        cycle.reference.now[:] = cycle.reference.ahead[:] = motion
        cycle.measurement.pose[:], cycle.measurement.twist[:] = motion[:7], motion[7:13]
        law.compute(cycle)
        np.testing.assert_allclose(cycle.set_points.feedforward, expected, rtol=1e-12)
        np.testing.assert_allclose(cycle.set_points.force, expected, rtol=1e-9)


def test_the_leg_law_adds_stiffness_and_damping_to_the_model() -> None:
    random = np.random.default_rng(3)
    motion = np.concatenate([HOME, 0.05 * random.normal(size=6), random.normal(size=6)])
    error, rate = 1e-3 * random.normal(size=6), 1e-2 * random.normal(size=6)
    cycle = CycleData(CONFIG)
    cycle.reference.ahead[:], cycle.reference.length_error[:], cycle.reference.velocity_error[:] = motion, error, rate
    cycle.measurement.pose[:] = cycle.measurement.twist[:] = np.nan
    ForceLaw(Control(stiffness=3e4, damping=700.0)).compute(cycle)
    expected = DYNAMICS.forces(motion) + 3e4 * error + 700.0 * rate
    np.testing.assert_allclose(cycle.set_points.force, expected, rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("leg", range(6))
def test_a_platform_off_its_pose_is_pushed_back(leg: int, sign: float) -> None:
    """The computed acceleration points at the reference, in each of the six directions."""
    now = np.concatenate([HOME, np.zeros(12)])
    pose = HOME.copy()
    if leg < 3:
        pose[leg] += sign * 1e-3
    else:
        turn = np.zeros(3)
        turn[leg - 3] = sign * 1e-3
        pose[3:] = _quaternion(Rotation.from_rotvec(turn) * _rotation(HOME[3:]))
    out = np.zeros(19)
    task_motion_kernel(now, now, pose, np.zeros(6), 100.0 * np.eye(6), 20.0 * np.eye(6), out)
    expected = np.zeros(6)
    expected[leg] = -sign * 0.1
    np.testing.assert_allclose(out[13:], expected, atol=1e-9)


@pytest.mark.parametrize("mode", ["force", "computed-torque", "observer", "position"])
def test_the_closed_loop_follows_and_returns_after_a_push(mode: str, tmp_path: Path) -> None:
    with bench(tmp_path, SHIPPED.changed({"mode": mode})) as rig:
        rig.engage()
        rig.run(0.5)
        rig.tap.take()
        rig.follow(smooth_table())
        rig.run(0.98)
        rows = rig.tap.take()
        assert (rows["state"][1:] == State.RUNNING).all()
        error = rows["length"] - rows["length_reference"]
        travelled = np.ptp(rows["length_reference"], axis=0)
        assert (travelled > 1e-3).all()
        assert np.sqrt((error**2).mean()) < 5e-5
        rig.until(State.ENGAGED)
        rig.virtual.faults.inject("force_step", None, 5.0, 0.2)
        rig.tap.take()
        rig.run(1.5)
        rows = rig.tap.take()
        assert (rows["state"] == State.ENGAGED).all()
        error = np.abs(rows["length"] - rows["length_reference"]).max(axis=1)
        assert 1e-6 < error.max() < 2e-3  # stiffer where the drives hold the position
        assert error[-50:].max() < 0.1 * error.max()


def test_the_observer_takes_back_what_a_lighter_machine_and_a_lasting_push_do(tmp_path: Path) -> None:
    plant = scaled_mechanism(CONFIG.machine, 0.85)
    (tmp_path / "light.toml").write_text(format_mechanism(plant), encoding="utf-8")
    wide = {"force_residual": 200.0, "tare_shift": 50.0}
    tracked = {}
    for mode in ("force", "observer"):
        light = {"plant": {"mechanism": str(tmp_path / "light.toml")}}
        config = SHIPPED.changed({"mode": mode, "virtual": light, "safety": wide})
        (tmp_path / mode).mkdir()
        with bench(tmp_path / mode, config) as rig:
            rig.engage()
            rig.virtual.faults.inject("force_step", None, 20.0, 10.0)
            rig.run(0.5)
            rig.tap.take()
            rig.follow(smooth_table())
            rig.run(0.98)
            rows = rig.tap.take()
            assert (rows["state"][1:] == State.RUNNING).all()
            error = rows["length"] - rows["length_reference"]
            feedforward, command = rows["force_feedforward"], rows["force_command"]
            tracked[mode] = np.sqrt((error**2).mean())
            if mode == "observer":  # more than gains times errors
                asked = command - feedforward + config.control.stiffness * error
                assert np.abs(asked.mean(axis=0)).min() > 2.0
    assert tracked["observer"] < 0.2 * tracked["force"]


class Observed:
    """An observer's law at home, where the platform has the speeds that it is said to have."""

    def __init__(self) -> None:
        config = SHIPPED.changed({"mode": "observer"})
        self.period = config.period
        self.data = CycleData(config)
        self.law = make_law(config, self.data.model.dynamics)
        assert isinstance(self.law, ObserverLaw)
        self.reference = Reference(HOME)
        self.reference.hold(HOME)

    def cycle(self, speed: float = 0.0, *, periods: float = 1.0, times: int = 1) -> Array:
        """What a cycle adds to the model's forces, so many periods after the one before, computed so many times."""
        cycle = self.data
        cycle.measurement.pose[:], cycle.measurement.twist[:] = HOME, 0.0
        cycle.measurement.twist[2] = speed
        cycle.elapsed = periods * self.period
        cycle.reference.evaluate(self.reference, cycle.measurement)
        self.law.refer(cycle)
        for _ in range(times):
            cycle.reference.length_error[:] = cycle.reference.velocity_error[:] = 0.0
            cycle.reference.foresee(self.reference, 0.0)
            self.law.compute(cycle)
        self.law.commands(cycle)
        return np.asarray(cycle.set_points.force - cycle.set_points.feedforward)


def test_an_observer_begins_anew_with_each_command_and_bears_a_cycle_that_is_missing() -> None:
    rig = Observed()
    for _ in range(3):
        np.testing.assert_allclose(rig.cycle(), 0.0, atol=1e-9)
    found = rig.cycle(0.01)  # 5 m/s² that no command is the reason of
    assert (found < -1.0).all()
    np.testing.assert_array_equal(rig.cycle(-0.5, periods=3.0), found)
    rig.law.refer(rig.data)  # a cycle in which it had no command
    np.testing.assert_allclose(rig.cycle(0.3), 0.0, atol=1e-9)
    rig.data.measurement.pose[:] = np.nan
    rig.law.refer(rig.data)
    with pytest.raises(DynamicsError, match="no solution at the measured pose"):
        rig.law.compute(rig.data)


def test_an_observer_sees_a_cycle_once_that_is_computed_twice() -> None:
    once, twice = Observed(), Observed()
    for speed in (0.0, 0.0, 0.01, 0.02, 0.01):
        np.testing.assert_array_equal(twice.cycle(speed, times=2), once.cycle(speed))
    assert (once.cycle(0.01) < -0.5).all()


def _coupled(number: float, coupling: float) -> list[list[float]]:
    """A number in all directions, and a coupling of z and x in m, and of z and ry."""
    matrix = number * np.eye(6)
    matrix[2, 0] = matrix[0, 2] = matrix[2, 4] = matrix[4, 2] = coupling
    entries: list[list[float]] = matrix.tolist()
    return entries


@pytest.mark.parametrize(("k", "d"), [(100.0, 20.0), (_coupled(400.0, 200.0), _coupled(40.0, 8.0))])
def test_computed_torque_decays_as_its_gains_say(k: Any, d: Any, tmp_path: Path) -> None:
    """ë + K_v ė + K_p e = 0 over the wire; with K_v = 20/s, K_p = 100/s² critically damped."""
    gains = {"task_stiffness": k, "task_damping": d}
    changes = {"mode": "computed-torque", "control": gains, "safety": {"following_error": 0.02}}
    with bench(tmp_path, SHIPPED.changed(changes)) as rig:
        rig.engage()
        rig.run(0.5)
        high = HOME.copy()
        high[2] += 5e-3
        rig.engine.reference.hold(high)
        rig.engine._supervision._braking.forget()  # which would refuse the step, and go on from the last good one
        rig.tap.take()
        rig.run(0.5)
        rows = rig.tap.take()
        error = pose_difference(np.tile(high, (len(rows), 1)), rows["pose"]) / 5e-3
        t = rows["t"] - rows["t"][0]
        stiffness, damping = (gain * np.eye(6) if np.ndim(gain) == 0 else np.array(gain) for gain in (k, d))
        linear = np.block([[np.zeros((6, 6)), np.eye(6)], [-stiffness, -damping]])
        expected = np.array([(expm(linear * time) @ np.eye(12)[2])[:6] for time in t])
        assert np.abs(error - expected).max() < 0.06
        if np.ndim(k) == 0:
            assert np.abs(expected[:, 2] - (1 + 10 * t) * np.exp(-10 * t)).max() < 1e-9
        else:
            assert np.abs(expected[:, [0, 4]]).max(axis=0).min() > 0.15
        legs = leg_kinematics(CONFIG.machine.geometry, rows["reference"])
        np.testing.assert_allclose(legs.length, rows["length_reference"], atol=1e-12)


def test_the_position_law_gives_each_leg_its_length_mean_speed_and_model_force() -> None:
    config = SHIPPED.changed({"mode": "position"})
    cycle = CycleData(config)
    law = make_law(config, cycle.model.dynamics)
    reference = Reference(HOME)
    reference.follow(smooth_table(), "test")
    reference.advance(0.3)
    cycle.reference.foresee(reference, 0.0)
    law.compute(cycle)
    commands = law.commands(cycle)
    motions = []
    for ahead in (config.period, 2.0 * config.period):  # a command goes out a cycle later, and is carried on for one
        motion = np.zeros(19)
        assert reference.evaluate(ahead + config.drives.delay, motion)
        motions.append(motion)
    first, last = (leg_kinematics(CONFIG.machine.geometry, motion).length for motion in motions)
    assert all(one.mode is Mode.POSITION and one.enable and not one.quick_stop for one in commands)
    np.testing.assert_allclose([one.position for one in commands], first, rtol=1e-12)
    np.testing.assert_allclose([one.velocity for one in commands], (last - first) / config.period, atol=2e-6)
    assert (
        np.abs(cycle.reference.legs_ahead[:, 1] - (last - first) / config.period).max() > 5e-5
    )  # what the start's speed would miss
    np.testing.assert_allclose([one.force for one in commands], cycle.model.dynamics.forces(motions[0]), rtol=1e-9)
    np.testing.assert_array_equal(cycle.set_points.position, [one.position for one in commands])


def test_the_drives_own_loop_is_recorded_leg_by_leg(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed({"mode": "position"})) as rig:
        rig.engage()
        rig.tap.take()
        rig.follow(smooth_table())
        rig.run(0.9)
        rows = rig.tap.take()
        assert (rows["mode"] == Mode.POSITION).all()
        np.testing.assert_allclose(rows["position_command"][:-1], rows["length_reference"][1:], atol=2e-5)
        assert np.sqrt((rows["force_residual"] ** 2).mean()) < 1.3 * rig.config.load_cells.noise
        rig.until(State.ENGAGED)
        rig.request(Stop(1))
        rig.until(State.PARKED)
        last = rig.tap.take()[-1]
        assert (last["mode"] == Mode.OFF).all() and np.isnan(last["position_command"]).all()


def test_a_measured_force_beyond_the_legs_limit_stops_drives_that_hold_the_position(tmp_path: Path) -> None:
    """The host commands no force then: what is measured is the only guard."""
    config = CONFIG.changed({"mode": "position", "safety": {"off": ["force_residual"], "homing_force": 0.5}})
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.virtual.faults.inject("force_step", None, 900.0)
        rig.until(State.FAULT)
        cause = rig.engine.machine.cause
        assert cause is not None and cause.code is FaultCode.FORCE_LIMIT
        assert "while its drive holds the position (bound 200 N)" in cause.text
        assert rig.engine.machine.stop is StopSeverity.QUICK_STOP


def test_a_reading_beyond_the_cells_scale_stops_drives_that_hold_the_position(tmp_path: Path) -> None:
    """It may be a cell that is dead, and may be a force: held under power, the drive would push on."""
    with bench(tmp_path, CONFIG.changed({"mode": "position"})) as rig:
        rig.engage()
        rig.virtual.faults.inject("cell_saturated", 4, -1000.0)
        rig.until(State.FAULT)
        cause = rig.engine.machine.cause
        assert cause is not None and (cause.code, cause.leg) == (FaultCode.FORCE_LIMIT, 4)
        assert "measured force -1000 N while its drive holds the position (bound 500 N)" in cause.text


def test_a_dead_cell_does_not_hide_the_force_of_another_leg() -> None:
    """Of a leg that is tested, a dead cell stops nothing: the others' are judged all the same."""
    measured = MeasuredBounds(CONFIG.machine, CONFIG.safety, lambda _leg: {})
    force = np.array([0.0, 900.0, 0.0, 0.0, -600.0, np.nan])
    found = measured.check_force(0.0, np.ones(6), force, Code.FORCE_WHILE_HOLDING, 800.0)
    assert found is not None and found.cause.leg == 5
    found = measured.check_force(0.0, np.ones(6), force, Code.FORCE_WHILE_HOLDING)
    assert found is not None and found.cause.leg == 2


def test_the_guard_says_what_a_cell_at_its_end_of_scale_reads(tmp_path: Path) -> None:
    with bench(tmp_path) as rig:
        rig.request(Connect())
        rig.virtual.faults.inject("cell_saturated", 4, -1000.0)
        rig.run(0.1)
        said = "leg 4: the load cell reads -1000 N, at or beyond its full scale 800 N"
        assert refused(rig, Home()) == f"home: {said}"
        assert rig.state is State.IDLE
