import math

import numpy as np
import pytest
from configured import stroke
from hypothesis import given, settings
from hypothesis import strategies as st

from actuators import Mode
from dynamics import Dynamics, load_mechanism
from kinematics import forward_kinematics
from rig.config import Virtual
from rig.errors import ConfigError
from rig.virtual import Plant
from rig.virtual.plant import plant_mechanism

MACHINE = load_mechanism("lab-hexapod")
SHORTEST, LONGEST = stroke(MACHINE.legs[0])
TAU = 1.0 / (2.0 * math.pi * 300.0)
DELAY = 1e-4
UNEVEN = np.array([3.0, -2.0, 4.0, 1.0, -3.0, 2.0])


def make(**changes: object) -> Plant:
    settings = Virtual.model_validate(changes)
    return Plant(plant_mechanism(MACHINE, settings.plant), settings)


def send(
    plant: Plant,
    mode: Mode,
    forces: object = 0.0,
    positions: object = 0.0,
    velocities: object = 0.0,
    *,
    enabled: bool = True,
    quick_stop: bool = False,
) -> None:
    values = zip(*(np.broadcast_to(np.asarray(v, float), 6) for v in (forces, positions, velocities)), strict=True)
    for leg, (force, position, velocity) in enumerate(values):
        plant.command(leg, mode, float(force), float(position), float(velocity), enabled, quick_stop, False)


def motion(plant: Plant) -> np.ndarray:
    return np.concatenate([plant.state, plant.acceleration])


def weight(plant: Plant) -> np.ndarray:
    """Leg forces that hold the platform where it stands."""
    return Dynamics(MACHINE).forces(np.concatenate([plant.state[:7], np.zeros(12)]))


def test_stands_off_home_at_power_up_with_the_weight_on_its_brakes() -> None:
    plant = make()
    before = np.array(plant.lengths)
    off = before - [plant.reference(leg) for leg in range(6)]
    assert 1e-3 < np.abs(off).max() <= 0.01
    assert all(plant.braked(leg) for leg in range(6))
    plant.advance(1.0)
    assert np.abs(np.array(plant.lengths) - before).max() < 1e-6
    assert np.abs(plant.speeds).max() < 1e-9


def test_brakes_closed_under_load_hold_it() -> None:
    plant = make()
    send(plant, Mode.FORCE, weight(plant))
    plant.advance(0.1)
    before = np.array(plant.lengths)
    send(plant, Mode.OFF, enabled=False)
    plant.advance(1.0)
    assert np.abs(np.array(plant.lengths) - before).max() < 1e-4
    assert np.abs(plant.speeds).max() < 1e-6


def test_a_brake_slips_beyond_its_holding_force() -> None:
    plant = make(drive={"brake_force": 20.0})  # less than a leg carries
    before = np.array(plant.lengths)
    plant.advance(0.2)
    assert (np.array(plant.lengths) - before).mean() < -1e-3


def test_homing_reaches_the_marks_and_holds_there() -> None:
    plant = make()
    send(plant, Mode.HOMING)
    assert not any(plant.homed(leg) for leg in range(6))
    plant.advance(2.0)
    assert all(plant.homed(leg) for leg in range(6))
    off = np.array(plant.lengths) - [plant.reference(leg) for leg in range(6)]
    assert np.abs(off).max() < 1e-5
    assert np.abs(plant.state[:7] - MACHINE.geometry.home_pose).max() < 1e-4
    send(plant, Mode.OFF, enabled=False)
    assert not any(plant.homed(leg) for leg in range(6))


def test_homing_again_takes_a_new_run() -> None:
    plant = make()
    send(plant, Mode.HOMING)
    plant.advance(2.0)
    send(plant, Mode.OFF, enabled=False)
    plant.advance(2.1)
    send(plant, Mode.HOMING)
    assert not plant.homed(0)
    plant.advance(2.2)
    assert not plant.homed(0)
    plant.advance(4.0)
    assert plant.homed(0)


def test_homing_keeps_to_its_speed() -> None:
    plant = make(drive={"homing_speed": 0.02})
    send(plant, Mode.HOMING)
    plant.advance(0.05)  # past the jolt of the opening brakes
    fastest = 0.0
    for k in range(1, 1000):
        plant.advance(0.05 + 0.002 * k)
        fastest = max(fastest, *map(abs, plant.speeds))
    assert 0.01 < fastest < 0.025


def test_force_follows_its_command_with_dead_time_and_first_order_lag() -> None:
    plant = make()
    send(plant, Mode.FORCE, 30.0)
    plant.advance(0.02)
    send(plant, Mode.FORCE, 80.0)
    for instant in (5e-5, 1e-4, 3e-4, 7.3e-4, 2e-3):
        plant.advance(0.02 + instant)
        expected = 30.0 + 50.0 * (1.0 - math.exp(-max(0.0, instant - DELAY) / TAU))
        assert plant.forces == pytest.approx(np.full(6, expected), abs=1e-9)


def test_commands_take_effect_at_their_own_times() -> None:
    plant = make(drive={"delay": 1.2e-3})
    send(plant, Mode.FORCE, 0.0)
    plant.advance(0.01)
    for k in range(4):  # four commands under way at once
        send(plant, Mode.FORCE, 10.0 * (k + 1))
        plant.advance(0.01 + 3e-4 * (k + 1))
    force, last = 0.0, 0.01 + 1.2e-3
    plant.advance(0.01 + 1.2e-3 + 3 * 3e-4 + 1e-4)
    for k, held in enumerate((3e-4, 3e-4, 3e-4, 1e-4)):
        force = 10.0 * (k + 1) + (force - 10.0 * (k + 1)) * math.exp(-held / TAU)
        last += held
    assert plant.time == pytest.approx(last)
    assert plant.forces == pytest.approx(np.full(6, force), abs=1e-9)


def test_force_saturates_at_the_drives_limit() -> None:
    plant = make(drive={"force_limit": 60.0})
    send(plant, Mode.FORCE, 1000.0)
    plant.advance(0.01)
    assert plant.forces == pytest.approx(np.full(6, 60.0), abs=1e-4)


def test_more_commands_than_a_drive_can_keep() -> None:
    plant = make(drive={"delay": 0.01})
    for k in range(1000):
        send(plant, Mode.FORCE, 0.02 * k)
    plant.advance(0.03)
    assert plant.forces == pytest.approx(np.full(6, 19.98), abs=1e-6)


def test_a_command_each_millisecond_is_followed_as_late_as_the_longest_dead_time() -> None:
    plant, speed = make(drive={"delay": 0.5}), 0.01
    start, lags = np.array(plant.lengths), []
    for k in range(1200):
        send(plant, Mode.POSITION, weight(plant), start + speed * 1e-3 * k, speed)
        plant.advance(1e-3 * (k + 1))
        lags.append(1e-3 * k - (np.array(plant.lengths) - start) / speed)
    assert np.array(lags)[900:] == pytest.approx(0.5, abs=0.02)


def test_a_set_point_that_is_not_finite_is_refused() -> None:
    plant = make()
    with pytest.raises(ValueError, match=r"leg 3.*not finite"):
        plant.command(2, Mode.FORCE, math.nan, 0.0, 0.0, True, False, False)
    plant.advance(0.01)
    assert plant.braked(2)


def test_static_forces_and_cells_are_those_of_the_model() -> None:
    plant = make()
    send(plant, Mode.HOMING)
    plant.advance(4.0)
    model = Dynamics(MACHINE, coulomb_speed=1e-3)
    assert plant.forces == pytest.approx(model.forces(motion(plant)), abs=1e-9)
    assert plant.forces == pytest.approx(weight(plant), abs=1e-2)
    assert plant.cells == pytest.approx(model.cells(motion(plant))[0], abs=1e-9)


def test_moves_as_the_forward_dynamics_says() -> None:
    plant = make()
    send(plant, Mode.FORCE, weight(plant) + UNEVEN)
    plant.advance(0.05)  # the lag has died out, nothing but constant motor forces acts
    state, forces = plant.state, plant.forces
    model = Dynamics(MACHINE, coulomb_speed=1e-3)
    for _ in range(100):
        state = model.step(state, forces, 5e-4)
    plant.advance(0.1)
    assert plant.state == pytest.approx(state, abs=1e-11)
    assert plant.acceleration == pytest.approx(model.acceleration(state, forces), abs=1e-8)


def test_instants_asked_for_do_not_change_the_motion() -> None:
    coarse, fine = make(), make()
    generator = np.random.default_rng(3)
    for plant in (coarse, fine):
        send(plant, Mode.FORCE, weight(plant) + UNEVEN)
    coarse.advance(0.1)
    for instant in np.sort(generator.uniform(0.0, 0.1, 300)):
        fine.advance(float(instant))
    fine.advance(0.1)
    assert fine.time == coarse.time
    assert fine.state == pytest.approx(coarse.state, abs=2e-5)  # the brakes open at the end of a step


def test_position_loop_follows_a_ramp() -> None:
    plant = make()
    send(plant, Mode.HOMING)
    plant.advance(2.0)
    home = np.array([plant.reference(leg) for leg in range(6)])
    worst = 0.0
    for k in range(500):
        t = k * 0.002
        send(plant, Mode.POSITION, 0.0, home + 0.02 * t, 0.02)
        plant.advance(2.0 + t + 0.002)
        if k > 250:
            wanted = home + 0.02 * (t + 0.002 - DELAY)
            worst = max(worst, float(np.abs(np.array(plant.lengths) - wanted).max()))
    assert worst < 2e-4


def test_a_silent_master_is_not_followed_for_long() -> None:
    plant = make()
    send(plant, Mode.HOMING)
    plant.advance(2.0)
    home = np.array([plant.reference(leg) for leg in range(6)])
    send(plant, Mode.POSITION, 0.0, home, 0.1)
    plant.advance(2.5)
    assert np.abs(np.array(plant.lengths) - home).max() < 0.02 * 0.1 + 0.1 * 900.0 / 60e3 + 5e-4


@pytest.mark.parametrize("push", [70.0, 0.0])
def test_quick_stop_brings_a_moving_platform_to_rest_and_closes_the_brakes(push: float) -> None:
    plant = make()
    send(plant, Mode.FORCE, push)
    plant.advance(0.15)
    assert np.abs(plant.speeds).max() > 0.3
    send(plant, Mode.OFF, quick_stop=True)
    plant.advance(0.15 + 0.3)
    assert np.abs(plant.speeds).max() < 1e-3
    assert all(plant.braked(leg) for leg in range(6))


@pytest.mark.parametrize("force", [450.0, -450.0])
def test_end_stops_hold_a_runaway(force: float) -> None:
    plant = make()
    send(plant, Mode.FORCE, force)
    for k in range(1, 300):
        plant.advance(0.005 * k)
        lengths = np.array(plant.lengths)
        assert lengths.min() > SHORTEST - 0.04
        assert lengths.max() < LONGEST + 0.04
    assert np.abs(plant.speeds).max() < 0.1
    assert not plant.fault


COMMAND = st.tuples(
    st.sampled_from(list(Mode)),
    st.lists(st.floats(-450.0, 450.0), min_size=6, max_size=6),
    st.floats(0.3, 0.8),
    st.floats(-2.0, 2.0),
    st.booleans(),
    st.sampled_from([False, False, False, True]),
    st.floats(1e-5, 0.25),
)


@settings(max_examples=40)
@given(st.lists(COMMAND, max_size=12), st.integers(0, 5), st.floats(0.0, 500.0), st.floats(-1.5, 1.5))
def test_state_stays_finite_whatever_is_commanded(
    commands: list[tuple[Mode, list[float], float, float, bool, bool, float]], leg: int, jam: float, gain: float
) -> None:
    plant = make()
    plant.jam(leg, jam)
    plant.scale_motor(5 - leg, gain)
    now = 0.0
    for mode, forces, position, velocity, enabled, quick_stop, pause in commands:
        send(plant, mode, forces, position, velocity, enabled=enabled, quick_stop=quick_stop)
        now += pause
        plant.advance(now)
        assert np.isfinite(plant.state).all()
        assert np.isfinite([plant.lengths, plant.speeds, plant.cells]).all()
        assert np.isfinite(plant.forces).all()
        assert np.abs(plant.state[:3]).max() < 2.0
        if plant.fault:
            assert not plant.state[7:].any()


def test_two_plants_of_one_seed_are_the_same_to_the_bit() -> None:
    def run(seed: int) -> bytes:
        plant = make(seed=seed)
        for k in range(100):
            send(plant, Mode.FORCE, 40.0 + 20.0 * math.sin(0.1 * k))
            plant.advance(0.002 * (k + 1))
        return plant.state.tobytes() + plant.forces.tobytes()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_payload_and_mass_scale_weigh_on_the_legs() -> None:
    plain = make(drive={"start_spread": 0.0})
    heavy = make(drive={"start_spread": 0.0}, plant={"mass_scale": 1.1})
    assert np.array(heavy.cells) == pytest.approx(1.1 * np.array(plain.cells), rel=2e-2)
    loaded = make(drive={"start_spread": 0.0}, plant={"payload": {"mass": 5.0, "center_of_mass": [0.0, 0.0, 0.1]}})
    rise = np.array(MACHINE.geometry.home_pose)  # level: vertical part of each leg's unit vector is z/L
    vertical = rise[2] / np.array(plain.lengths)
    extra = (np.array(loaded.cells) - np.array(plain.cells)) @ vertical
    assert extra == pytest.approx(5.0 * 9.80665, rel=1e-6)
    plain.add_payload(5.0, (0.0, 0.0, 0.1))
    plain.advance(1.0)
    assert np.array(plain.cells) == pytest.approx(np.array(loaded.cells), abs=0.5)
    plain.add_payload(0.0)
    plain.advance(2.0)
    assert plain.cells == pytest.approx(make(drive={"start_spread": 0.0}).cells, abs=0.5)


def test_a_jammed_leg_stands_against_its_motor() -> None:
    plant = make()
    hold = weight(plant)
    plant.jam(2, 300.0)
    before = plant.lengths[2]
    hold[2] += 100.0
    send(plant, Mode.FORCE, hold)
    plant.advance(0.1)
    assert abs(plant.lengths[2] - before) < 2e-3
    plant.jam(2, 0.0)
    plant.advance(0.2)
    assert plant.lengths[2] - before > 5e-3


def test_external_load_is_seen_by_the_cells() -> None:
    plant = make()
    before = np.array(plant.cells)
    plant.wrench[:] = [0.0, 0.0, -60.0, 0.0, 0.0, 0.0]
    plant.advance(0.5)
    assert (np.array(plant.cells) - before).sum() == pytest.approx(60.0 / 0.9, rel=0.05)


def test_a_step_too_long_for_the_brakes_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"brake_stiffness.*5e\+08 N/m.*step of 0.0005 s"):
        make(drive={"brake_stiffness": 5e8})


def test_the_pose_is_that_of_the_lengths() -> None:
    plant = make()
    pose = forward_kinematics(MACHINE.geometry, plant.lengths, MACHINE.geometry.home_pose)
    assert plant.state[:7] == pytest.approx(pose, abs=1e-12)
