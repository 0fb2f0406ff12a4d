"""The closed loop offline: its physics against integrators and laws of conservation, its controllers, its bounds."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from scipy.integrate import cumulative_trapezoid, solve_ivp

from dynamics import Dynamics, friction_power, mechanical_energy, supplied_power
from kinematics import Array, MotionTable, TrajectorySpec, build_trajectory, tabulate
from rig.client.motions import prepare_motion
from rig.client.runs import demo_trajectory
from rig.config.rig_config import RigConfig
from rig.errors import InputError
from rig.safety import law_bandwidth, with_bandwidth
from rig.virtual.closed_loop import LoopRun, controllers, cycle_times, force_bounds, merit, on_reference, run_loop
from rig.virtual.plant import scaled_mechanism

HOME = SHIPPED.machine.geometry.home_pose
PUSH = np.array([20.0, 5.0, -30.0, 1.0, -0.5, 0.8])
TWIST = np.array([0.05, -0.03, 0.08, 0.2, -0.1, 0.15])


def table_of(duration: float = 1.0, amplitude: float = 0.02, frequency: float = 1.5) -> MotionTable:
    """A harmonic motion about home, faded in."""
    terms = [
        {"dof": "z", "amplitude": amplitude, "frequency": frequency},
        {"dof": "x", "amplitude": amplitude, "frequency": 0.7 * frequency, "phase": 1.0},
        {"dof": "ry", "amplitude": 3.0 * amplitude, "frequency": 0.8 * frequency, "phase": 0.4},
    ]
    part = {"type": "harmonic", "duration": duration, "fade": 0.25 * duration, "terms": terms}
    spec = TrajectorySpec.model_validate({"frame": "home", "parts": [part]})
    return tabulate(build_trajectory(spec, HOME), 1e-3)


TABLE = table_of()
HELD = table_of(amplitude=0.0)


def loop(
    controller: str, table: MotionTable = TABLE, mass: float = 1.0, push: Array | None = None, **changes: Any
) -> LoopRun:
    """A run on the shipped rig, on a plant `mass` times as heavy, pushed by a constant wrench."""
    config = SHIPPED.changed(changes)
    wrenches = None if push is None else np.tile(push, (len(cycle_times(config, table)), 1))
    plant = scaled_mechanism(config.machine, mass)
    return run_loop(config, table, controller, plant=plant, wrenches=wrenches)


def tracking(run: LoopRun) -> float:
    """RMS of the position error, m."""
    return merit(run, "", force_bounds(run.config)).position[0]


# -- physics -----------------------------------------------------------------------------------------------------------


def without_loop(config: RigConfig, cycles: int) -> tuple[LoopRun, Array]:
    """Commands sent once and for all to a platform that moves freely, and its states by an integrator of scipy's."""
    table = table_of(amplitude=0.015, frequency=3.0)
    start = on_reference(config, table, TWIST)
    run = run_loop(config, table, "none", start=start, wrenches=np.tile(PUSH, (len(cycle_times(config, table)), 1)))
    assert config.virtual is not None
    dynamics = Dynamics(config.machine, config.virtual.plant.coulomb_speed)
    lag = 1.0 / (2.0 * np.pi * config.virtual.drive.force_bandwidth)
    delay, period = config.virtual.drive.delay, config.period
    y = np.concatenate([start.state, start.motors])

    def slope(_t: float, y: Array, command: Array) -> Array:
        state = y[:13].copy()
        state[3:7] /= np.linalg.norm(state[3:7])
        w, (x, i, j), (ox, oy, oz) = y[3], y[4:7], y[10:13]
        turn = 0.5 * np.array(
            [-ox * x - oy * i - oz * j, ox * w + oy * j - oz * i, oy * w + oz * x - ox * j, oz * w + ox * i - oy * x]
        )
        return np.concatenate([y[7:10], turn, dynamics.acceleration(state, y[13:], PUSH), (command - y[13:]) / lag])

    sent, states = start.commands[0], [start.state]
    before = start.motors
    for cycle in range(cycles):
        for duration, command in ((delay, before), (period - delay, sent)):
            y = solve_ivp(slope, (0.0, duration), y, args=(command,), method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
        states.append(y[:13])
        before, sent = sent, run.commands[cycle]
    return run, np.array(states)


def test_a_short_stretch_is_that_of_another_integrator_and_the_error_falls_with_the_square_of_the_step() -> None:
    """Without a loop, which would take errors back; moving through no leg's standstill, where friction jumps."""
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        run, expected = without_loop(SHIPPED.changed({"virtual": {"step": step}}), 10)
        errors.append(float(np.abs(run.states[: len(expected), :3] - expected[:, :3]).max()))
    assert errors[1] < 2e-8
    assert errors[1] < 0.4 * errors[0] and errors[2] < 0.4 * errors[1]


def test_energy_is_neither_made_nor_lost() -> None:
    """The motors' forces are known at the cycles: the more of these, the nearer is their work."""
    run = loop("force", push=PUSH, rate=2000.0)
    machine, speed = run.plant, run.virtual.plant.coulomb_speed
    energy = mechanical_energy(machine, run.states)
    held = energy.kinetic + energy.potential
    given = supplied_power(machine, run.states, run.motors, run.wrenches)
    taken = friction_power(machine, run.states, speed)
    work = cumulative_trapezoid(given - taken, run.times, initial=0)
    assert np.ptp(held) > 3.0
    assert np.abs(held - held[0] - work).max() < 5e-3 * np.ptp(held)


def test_the_motion_told_has_the_accelerations_of_its_speeds() -> None:
    run = loop("force")
    by_speed = np.gradient(run.states[:, 7:13], run.times, axis=0)
    apart = np.abs(run.motion[:, 13:] - by_speed)[50:-5]
    assert np.median(apart) < 0.02 * np.abs(by_speed).max()


def test_cells_read_the_exact_model_and_their_noise() -> None:
    cells = {"cells": {"noise": 0.5, "gain": 1.01, "bias": 2.0}}
    run = loop("force", virtual=cells)
    true = Dynamics(run.plant, 1e-3).cells(run.motion)
    noise = run.cells() - 1.01 * true - 2.0
    assert abs(noise.mean()) < 0.05 and abs(noise.std() - 0.5) < 0.05
    np.testing.assert_array_equal(run.cells(), loop("force", virtual=cells).cells())


# -- controllers -------------------------------------------------------------------------------------------------------


def test_the_laws_with_a_model_track_and_the_one_without_sags_by_the_weight() -> None:
    errors = {name: tracking(loop(name)) for name in ("pd", "force", "computed-torque", "position", "observer")}
    assert max(errors["force"], errors["computed-torque"], errors["observer"]) < 1e-5
    assert errors["position"] < 2e-4
    held = loop("pd", HELD)
    needed = Dynamics(SHIPPED.machine).forces(np.concatenate([HOME, np.zeros(12)]))
    low = SHIPPED.control.stiffness * (on_reference(SHIPPED, HELD).commands[1] - held.lengths[-1])
    coulomb = SHIPPED.machine.legs[0].friction.coulomb
    np.testing.assert_allclose(low, needed, atol=coulomb + 0.5)
    assert errors["pd"] > 1e-3


def test_the_observer_takes_back_what_masses_and_pushes_do_to_the_force_law() -> None:
    for change in ({"mass": 1.2}, {"mass": 0.8}, {"push": PUSH}):
        assert tracking(loop("observer", **change)) < 0.25 * tracking(loop("force", **change))


def test_the_observer_ends_up_with_the_force_that_a_push_takes() -> None:
    """At rest every leg is given what model and push need together: no error is left but that of friction."""
    run = loop("observer", table_of(3.0, 0.0), push=PUSH)
    needed = Dynamics(SHIPPED.machine).forces(np.concatenate([HOME, np.zeros(12)]), PUSH)
    np.testing.assert_allclose(run.motors[-1], needed, atol=0.5)
    assert np.abs(run.error[-1, :3]).max() < 2e-5


def test_an_observer_of_a_bounded_force_does_not_wind_up() -> None:
    """A push that two legs cannot bear for half of the time: afterwards the platform is back in no time."""
    table = table_of(2.0, 0.0)
    config = SHIPPED.changed({"virtual": {"drive": {"force_limit": 60.0}}})
    times = cycle_times(config, table)
    wrenches = np.where((times > 0.2)[:, None] & (times < 0.3)[:, None], 12.0 * np.array([0, 0, -10.0, 0, 0, 0]), 0.0)
    run = run_loop(config, table, "observer", wrenches=wrenches)
    assert run.saturated.max() > 0.02
    assert np.abs(run.error[times > 1.0, :3]).max() < 2e-3


def test_without_a_loop_it_ends_where_a_leg_leaves_its_stroke() -> None:
    run = loop("none", table_of(4.0), push=PUSH)
    assert "a leg left its stroke" in run.end
    low, high = 0.4, 0.62
    assert ((run.lengths[:-1] >= low) & (run.lengths[:-1] <= high)).all()
    assert not ((run.lengths[-1] >= low) & (run.lengths[-1] <= high)).all()


def test_an_end_stop_holds_a_leg_that_is_pushed_into_it() -> None:
    push = np.array([0.0, 0.0, -3000.0, 0.0, 0.0, 0.0])
    run = loop("pd", HELD, push=push, control={"stiffness": 100.0})
    assert run.end == "" and len(run.stopped) == 6
    assert run.lengths[-1].min() > 0.4 - 5e-3 - 2e-3  # its stop stands 5 mm outside the stroke


def test_a_bounded_force_is_told_and_kept() -> None:
    run = loop("force", push=np.array([0.0, 0.0, -400.0, 0.0, 0.0, 0.0]), virtual={"drive": {"force_limit": 60.0}})
    found = merit(run, "weak", force_bounds(run.config))
    assert found.saturated.max() > 0.1
    assert np.abs(run.motors).max() <= 60.0 and found.share.max() <= 1.0


def test_the_dead_time_and_the_bandwidth_of_the_drives_count() -> None:
    slow = loop("force", mass=1.2, virtual={"drive": {"force_bandwidth": 20.0, "delay": 0.004}})
    assert slow.end != "" or tracking(slow) > 2.0 * tracking(loop("force", mass=1.2))


def test_a_twist_at_the_start_is_taken_back_by_the_loop() -> None:
    run = run_loop(SHIPPED, HELD, "force", start=on_reference(SHIPPED, HELD, TWIST))
    size = np.linalg.norm(run.error[:, :3], axis=1)
    assert size.max() > 2e-4 and size[-1] < 0.2 * size.max()


@pytest.mark.parametrize("controller", controllers())
def test_the_same_run_is_the_same_to_the_last_bit(controller: str) -> None:
    np.testing.assert_array_equal(loop(controller).states, loop(controller).states)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="no such controller: 'pid'; there are none, pd, force"):
        run_loop(SHIPPED, TABLE, "pid")
    with pytest.raises(InputError, match=r"wrenches: shape \(3, 6\), must be \(501, 6\)"):
        run_loop(SHIPPED, TABLE, "force", wrenches=np.zeros((3, 6)))


def test_the_guides_table_of_laws_at_one_bandwidth_is_what_the_program_gives() -> None:
    """Of the exact plant, 20 % heavier; MuJoCo's is close to it (`test_mujoco_plant.py`)."""
    page = (Path(__file__).parents[2] / "docs" / "researcher.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| [\d.]+ \| ([\d.]+) \| [\d.]+ \| [\d.]+ \|", page, re.MULTILINE)
    assert {law for law, *_ in rows} == set(controllers()) - {"none"}
    config = with_bandwidth(SHIPPED, 11.5)
    table = prepare_motion(config, demo_trajectory(HOME, 20.0))
    for law, margin, error in rows:
        run = run_loop(config, table, law, plant=scaled_mechanism(config.machine, 1.2))
        assert 1e3 * tracking(run) == pytest.approx(float(error), rel=0.01)
        found = law_bandwidth(config, law).margin
        assert margin == "the drives'" if found is None else found == pytest.approx(float(margin), abs=0.006)
