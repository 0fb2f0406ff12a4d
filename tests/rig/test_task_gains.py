"""Gains of computed torque: what a file may say, what is refused, and the error that they leave on the exact plant."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from dynamics import Dynamics, format_mechanism
from kinematics import (
    Array,
    MotionTable,
    TrajectorySpec,
    build_trajectory,
    forward_kinematics,
    leg_lengths,
    pose_difference,
    tabulate,
)
from rig.config import RigConfig, Validation, load_config, save_thresholds
from rig.engine.cycle_data import CycleData
from rig.engine.laws.computed_torque import ComputedTorqueLaw
from rig.engine.laws.kernels import task_motion_kernel
from rig.engine.zero_order_hold import ZeroOrderHold
from rig.errors import ConfigError
from rig.findings import Code
from rig.safety import (
    check_loop,
    judge_sag,
    law_bandwidth,
    task_bandwidth_of_margin,
    with_bandwidth,
    with_task_bandwidth,
)
from rig.virtual import scaled_mechanism
from rig.virtual.closed_loop import LoopStart, on_reference, run_loop
from rig.virtual.plant import smooth_legs

HOME = SHIPPED.machine.geometry.home_pose
NUMBERS = {"task_stiffness": 150.0, "task_damping": 22.0}


def configured(gains: dict[str, Any], **more: Any) -> RigConfig:
    """The shipped rig under computed torque."""
    return SHIPPED.changed({"mode": "computed-torque", "control": gains, **more})


def definite(seed: int, least: float, most: float) -> Array:
    """A symmetric matrix (6, 6) with eigenvalues between the two that couples all six directions."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    matrix: Array = axes @ np.diag(rng.uniform(least, most, 6)) @ axes.T
    return 0.5 * (matrix + matrix.T)


COUPLED = {"task_stiffness": definite(1, 60.0, 220.0).tolist(), "task_damping": definite(2, 12.0, 30.0).tolist()}


# -- what a file may say -----------------------------------------------------------------------------------------------


def test_a_number_six_and_a_matrix_are_the_same_gains() -> None:
    number, six = configured(NUMBERS), configured({key: [value] * 6 for key, value in NUMBERS.items()})
    matrix = configured({key: (value * np.eye(6)).tolist() for key, value in NUMBERS.items()})
    rng = np.random.default_rng(3)
    motion = np.concatenate([HOME, 0.1 * rng.normal(size=12)])
    forces = []
    for config in (number, six, matrix):
        np.testing.assert_array_equal(config.task_gains.stiffness, 150.0 * np.eye(6))
        np.testing.assert_array_equal(config.task_gains.damping, 22.0 * np.eye(6))
        assert config.task_gains.numbers == (150.0, 22.0)
        assert check_loop(config).gain_margin == check_loop(number).gain_margin
        cycle = CycleData(config)
        cycle.reference.now[:] = cycle.reference.ahead[:] = motion
        cycle.measurement.pose[:], cycle.measurement.twist[:] = HOME + 1e-3 * np.eye(7)[1], 0.0
        ComputedTorqueLaw(Dynamics(config.machine), config).compute(cycle)
        forces.append(cycle.set_points.force.copy())
    np.testing.assert_array_equal(forces, np.tile(forces[0], (3, 1)))
    mixed = configured({"task_stiffness": [100.0, 110.0, 120.0, 90.0, 80.0, 70.0], "task_damping": 20.0}).task_gains
    np.testing.assert_array_equal(mixed.stiffness, np.diag([100.0, 110.0, 120.0, 90.0, 80.0, 70.0]))
    assert mixed.numbers is None


def test_a_number_gives_the_acceleration_of_the_plain_formula_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    for _ in range(100):
        k, d = float(rng.uniform(1.0, 5000.0)), float(rng.uniform(1.0, 200.0))
        now, ahead, measured = rng.normal(size=(3, 19))
        for row in (now, ahead, measured):
            row[3:7] /= np.linalg.norm(row[3:7])
        out = np.zeros(19)
        task_motion_kernel(now, ahead, measured[:7].copy(), measured[7:13].copy(), k * np.eye(6), d * np.eye(6), out)
        a, b = now[3:7].tolist(), (measured[3:7] * [1, -1, -1, -1]).tolist()
        w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
        x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
        y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
        z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
        w, x, y, z = (-w, -x, -y, -z) if w < 0.0 else (w, x, y, z)
        sine = math.sqrt(x * x + y * y + z * z)
        factor = 2.0 * math.atan2(sine, w) / sine
        plain = ahead[13:] + d * (now[7:13] - measured[7:13])
        plain[:3] += k * (now[:3] - measured[:3])
        plain[3:] += [k * factor * x, k * factor * y, k * factor * z]
        np.testing.assert_array_equal(out[13:], plain)


def test_gains_in_a_recording_are_numbers_or_matrices_and_make_the_same_rig() -> None:
    for gains in ({"task_bandwidth": 4.0, "task_damping_ratio": 0.8}, COUPLED, {}):
        config = configured(gains)
        stated = config.resolved()["control"]
        assert stated["task_bandwidth"] is None and stated["task_damping_ratio"] is None
        again = RigConfig.model_validate(config.resolved())
        np.testing.assert_array_equal(again.task_gains.stiffness, config.task_gains.stiffness)
        np.testing.assert_array_equal(again.task_gains.damping, config.task_gains.damping)
        assert config.changed({"rate": 400}).control == config.control
    assert configured({"task_bandwidth": 4.0}).resolved()["control"]["task_stiffness"] == (8.0 * math.pi) ** 2


def test_a_file_with_matrices_keeps_them_where_the_app_saves_thresholds(tmp_path: Path) -> None:
    text = SHIPPED.path.read_text(encoding="utf-8")
    entries = "\n".join(f"{key} = {value}  # kept" for key, value in COUPLED.items())
    path = tmp_path / "rig.toml"
    path.write_text(text.replace("[control]\n", f"[control]\n{entries}\n"), encoding="utf-8")
    before = load_config(path)
    save_thresholds(before, Validation(residual_rms=0.7))
    after = load_config(path)
    assert after.validation.residual_rms == 0.7 and entries in path.read_text(encoding="utf-8")
    assert after.control == before.control
    np.testing.assert_array_equal(after.task_gains.stiffness, COUPLED["task_stiffness"])


# -- by bandwidth ------------------------------------------------------------------------------------------------------


def test_a_bandwidth_is_the_natural_frequency_of_the_error() -> None:
    stiffness, damping = configured({"task_bandwidth": 3.0, "task_damping_ratio": 0.7}).task_gains.numbers or (0, 0)
    roots = np.roots([1.0, damping, stiffness])
    assert np.abs(roots) == pytest.approx([6.0 * math.pi] * 2)
    assert -roots.real / np.abs(roots) == pytest.approx([0.7] * 2)


@pytest.mark.parametrize("rate", [50.0, 100.0, 333.0, 2000.0])
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_the_bandwidth_that_is_not_given_has_its_margin(rate: float, ratio: float) -> None:
    """Ten hertz where the loop allows it; else the margin is two by the sampled loop, which is another computation."""
    for delay, force_bandwidth in ((0.0, 2000.0), (1e-4, 300.0), (3e-3, 300.0)):
        drives = {"delay": delay, "force_bandwidth": force_bandwidth, "watchdog": 0.1}
        config = configured({"task_damping_ratio": ratio}, rate=rate, drives=drives)
        bandwidth = math.sqrt(config.task_gains.stiffness[0, 0]) / (2.0 * math.pi)
        margin = check_loop(config).gain_margin
        assert bandwidth <= 10.0 and margin > 1.9 and check_loop(config).message == ""
        assert bandwidth == pytest.approx(10.0) or margin < 2.2


def test_default_bandwidths_are_those_of_the_guide() -> None:
    for rate, stated in ((500.0, "10"), (200.0, "5.7"), (100.0, "3.0")):
        numbers = configured({}, rate=rate).task_gains.numbers
        assert numbers is not None and math.sqrt(numbers[0]) / (2.0 * math.pi) == pytest.approx(float(stated), abs=0.05)
    for mode in ("force", "computed-torque"):
        assert judge_sag(SHIPPED.changed({"mode": mode})).sag == pytest.approx(0.47e-3, abs=0.005e-3)


# -- what is refused ---------------------------------------------------------------------------------------------------

_ONES = [[2.0] * 6 for _ in range(6)]
"""Non-negative definite; damps one direction of six."""


def with_entry(row: int, column: int, value: float) -> list[list[float]]:
    """20 times the unit matrix with another entry."""
    matrix = 20.0 * np.eye(6)
    matrix[row, column] = value
    entries: list[list[float]] = matrix.tolist()
    return entries


@pytest.mark.parametrize(
    ("gains", "key", "code", "value", "bound", "text"),
    [
        (
            {"task_stiffness": 100.0, "task_damping": with_entry(1, 4, 3.0)},
            "task_damping",
            Code.GAIN_ASYMMETRIC,
            3.0,
            0.0,
            "row 2, column 5: 3 1/s, must be 0 1/s as in row 5, column 2 (condition a: the matrix is symmetric)",
        ),
        (
            {"task_stiffness": 100.0, "task_damping": [20.0] * 5 + [-2.0]},
            "task_damping",
            Code.DAMPING_NEGATIVE,
            -2.0,
            0.0,
            "least eigenvalue -2 1/s, must be at least 0 1/s (condition a: K_v is non-negative definite)",
        ),
        (
            {"task_stiffness": with_entry(5, 0, 1.0), "task_damping": 20.0},
            "task_stiffness",
            Code.GAIN_ASYMMETRIC,
            0.0,
            1.0,
            "row 1, column 6: 0 1/s², must be 1 1/s² as in row 6, column 1 (condition b: the matrix is symmetric)",
        ),
        (
            {"task_stiffness": 0.0, "task_damping": 20.0},
            "task_stiffness",
            Code.STIFFNESS_NOT_POSITIVE,
            0.0,
            0.0,
            "least eigenvalue 0 1/s², must be above 0 1/s² (condition b: K_p is positive definite)",
        ),
        (
            {"task_stiffness": [100.0] * 3 + [-1.0] + [100.0] * 2, "task_damping": 20.0},
            "task_stiffness",
            Code.STIFFNESS_NOT_POSITIVE,
            -1.0,
            0.0,
            "least eigenvalue -1 1/s², must be above 0 1/s²",
        ),
        (
            {"task_stiffness": 100.0, "task_damping": _ONES},
            "task_damping",
            Code.UNDAMPED,
            1.0,
            6.0,
            "1 of 6 directions are damped, and the others oscillate undamped (condition c",
        ),
        (
            {"task_stiffness": 100.0, "task_damping": 0.0},
            "task_damping",
            Code.UNDAMPED,
            0.0,
            6.0,
            "0 of 6 directions are damped",
        ),
        (
            {"task_bandwidth": 5.0, "task_stiffness": 100.0, "task_damping": 20.0},
            "task_bandwidth",
            Code.TASK_GAINS_TWICE,
            None,
            None,
            "control.task_stiffness gives the gains of computed-torque already",
        ),
        (
            {"task_damping_ratio": 1.0, "task_stiffness": 100.0, "task_damping": 20.0},
            "task_damping_ratio",
            Code.TASK_GAINS_TWICE,
            None,
            None,
            "control.task_stiffness gives",
        ),
        (
            {"task_damping": 20.0},
            "task_damping",
            Code.TASK_GAIN_ALONE,
            None,
            None,
            "given without control.task_stiffness: the two go together",
        ),
        (
            {"task_stiffness": 2e6, "task_damping": 20.0},
            "task_stiffness",
            Code.OUT_OF_RANGE,
            2e6,
            1e6,
            "2e+06 1/s^2, must be -1e+06 to 1e+06 1/s^2",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["computed-torque", "force"])
def test_gains_are_refused_by_key_value_and_bound(
    mode: str, gains: dict[str, Any], key: str, code: Code, value: float | None, bound: float | None, text: str
) -> None:
    """In every mode: also `rig simulate` has the law, whatever the mode of the file."""
    with pytest.raises(ConfigError) as caught:
        SHIPPED.changed({"mode": mode, "control": gains})
    (fault,) = caught.value.found
    assert fault.key == ("control", key) and fault.finding.code is code
    assert (fault.finding.value, fault.finding.bound) == (
        pytest.approx(value, abs=1e-12) if value is not None else None,
        bound,
    )
    assert f"control.{key}: {text}" in fault.text


def test_a_direction_may_be_damped_through_the_stiffness() -> None:
    """Condition (c): rotations without damping pass where K_p couples them to translations, and e vanishes there."""
    damping = [40.0] * 3 + [0.0] * 3
    coupled = 400.0 * np.eye(6)
    coupled[:3, 3:] = coupled[3:, :3] = 200.0 * np.eye(3)
    config = configured({"task_stiffness": coupled.tolist(), "task_damping": damping})
    assert np.linalg.eigvals(companion(config)).real.max() < -1.0
    with pytest.raises(ConfigError) as caught:
        configured({"task_stiffness": 400.0, "task_damping": damping})
    (fault,) = caught.value.found
    assert fault.finding.code is Code.UNDAMPED and fault.finding.value == 3.0


def test_what_breaks_two_conditions_has_two_findings() -> None:
    with pytest.raises(ConfigError) as caught:
        configured({"task_stiffness": -5.0, "task_damping": -1.0})
    assert [fault.finding.code for fault in caught.value.found] == [
        Code.DAMPING_NEGATIVE,
        Code.STIFFNESS_NOT_POSITIVE,
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "nan 1/s^2, must be finite"),
        pytest.param(-(10**400), "-inf 1/s^2, must be finite", id="huge"),
        ([100.0] * 5 + [math.inf], "number 6: inf 1/s^2, must be finite"),
        (with_entry(2, 3, math.nan), "row 3, column 4: nan 1/s^2, must be finite"),
        (with_entry(2, 3, -2e6), "row 3, column 4: -2e+06 1/s^2, must be -1e+06 to 1e+06 1/s^2"),
        ([100.0] * 5, "must be a number, six numbers or six rows of six numbers, not 5 numbers"),
        ([[1.0] * 6] * 5, "six rows of six numbers, not 5 rows of 6 numbers"),
        ([[1.0] * 6] * 5 + [[1.0] * 5], "six rows of six numbers, not 6 rows of 5 to 6 numbers"),
        ([[1.0] * 6] * 5 + [1.0], "six rows of six numbers, not 6 rows of 1 to 6 numbers"),
        ("stiff", "must be a number, not 'stiff'"),
        (True, "must be a number, not True"),
        ([100.0] * 5 + ["7"], "number 6: must be a number, not '7'"),
    ],
)
def test_what_is_no_gain_is_refused_with_its_place(value: object, text: str) -> None:
    with pytest.raises(ConfigError, match=r"control\.task_stiffness: ") as caught:
        configured({"task_stiffness": value, "task_damping": 20.0})
    assert text in str(caught.value)


# -- what the law does -------------------------------------------------------------------------------------------------


def at_home(config: RigConfig, duration: float) -> MotionTable:
    """A rest at home."""
    rest = {"frame": "home", "parts": [{"type": "hold", "position": [0.0] * 6, "duration": duration}]}
    return tabulate(build_trajectory(TrajectorySpec.model_validate(rest), HOME), config.period)


def companion(config: RigConfig) -> Array:
    """The matrix (12, 12) of ë + K_v ė + K_p e = 0."""
    gains = config.task_gains
    return np.block([[np.zeros((6, 6)), np.eye(6)], [-gains.stiffness, -gains.damping]])


def off_reference(size: float) -> tuple[Array, Array]:
    """A state (13,) near home, and the error [e, ė] (12,) of home from it."""
    rng = np.random.default_rng(6)
    error, rate = size * rng.normal(size=6), 10.0 * size * rng.normal(size=6)
    quaternion = np.roll((Rotation.from_rotvec(-error[3:]) * Rotation.from_quat(np.roll(HOME[3:], -1))).as_quat(), 1)
    return np.concatenate([HOME[:3] - error[:3], quaternion, -rate]), np.concatenate([error, rate])


@pytest.mark.parametrize("gains", [COUPLED, {"task_stiffness": [90.0, 200.0] * 3, "task_damping": 20.0}, NUMBERS])
def test_the_error_of_the_exact_plant_decays_as_its_linear_equation(gains: dict[str, Any]) -> None:
    """Law and plant in continuous time, by scipy's integrator, against the exponential of the companion matrix."""
    config = configured(gains)
    model, task = Dynamics(config.machine, 1e-3), config.task_gains
    wanted, command = np.concatenate([HOME, np.zeros(12)]), np.zeros(19)
    state, error = off_reference(1e-4)

    def slope(_time: float, y: Array) -> Array:
        pose = y[:7] / np.concatenate([np.ones(3), np.full(4, np.linalg.norm(y[3:7]))])
        task_motion_kernel(wanted, wanted, pose, y[7:].copy(), task.stiffness, task.damping, command)
        acceleration = model.acceleration(np.concatenate([pose, y[7:]]), model.forces(command))
        w, v, spin = y[3], y[4:7], y[10:13]
        turning = 0.5 * np.concatenate([[-spin @ v], w * spin + np.cross(spin, v)])
        return np.concatenate([y[7:10], turning, acceleration])

    times = np.linspace(0.0, 0.3, 7)
    found = solve_ivp(slope, (0.0, 0.3), state, t_eval=times, rtol=1e-9, atol=1e-12).y.T
    left = pose_difference(np.tile(HOME, (len(times), 1)), found[:, :7])
    expected = np.array([(expm(companion(config) * time) @ error)[:6] for time in times])
    assert np.abs(left - expected).max() < 2e-4 * np.abs(expected).max()
    diagonal = np.diag(np.diag(task.stiffness)), np.diag(np.diag(task.damping))
    apart = np.block([[np.zeros((6, 6)), np.eye(6)], [-diagonal[0], -diagonal[1]]])
    others = np.array([(expm(apart * time) @ error)[:6] for time in times])
    assert bool(np.abs(others - expected).max() > 0.05 * np.abs(expected).max()) == (gains is COUPLED)


@pytest.mark.parametrize("engine", ["exact", "mujoco"])
def test_sampled_drives_with_a_lag_leave_the_coupled_decay(engine: str, tmp_path: Path) -> None:
    """The loop offline, 0.5 ms a cycle, also by MuJoCo's equations; without friction, whose shape is another there."""
    path = tmp_path / "smooth.toml"
    path.write_text(format_mechanism(smooth_legs(SHIPPED.machine)), encoding="utf-8")
    drive = {"delay": 0.0, "force_bandwidth": 2000.0, "position_resolution": 1e-9}
    virtual = {"drive": drive, "plant": {"engine": engine}}
    drives = {"delay": 0.0, "force_bandwidth": 2000.0}
    config = configured(COUPLED, rate=2000.0, drives=drives, virtual=virtual, mechanism=str(path))
    table = at_home(config, 0.3)
    state, error = off_reference(1e-3)
    at_rest = on_reference(config, table)
    run = run_loop(config, table, "computed-torque", start=LoopStart(state, at_rest.motors, at_rest.commands))
    expected = np.array([(expm(companion(config) * time) @ error)[:6] for time in run.times])
    assert np.abs(-run.error - expected).max() < 0.02 * np.abs(expected).max()


# -- margin and sag of the loop ----------------------------------------------------------------------------------------


def test_the_margin_of_a_matrix_is_where_the_compiled_loop_becomes_unstable() -> None:
    """Where its stiff directions are damped least: as numbers, its largest eigenvalues would have another margin."""
    stiffness = definite(1, 900.0, 4000.0)
    damping = 2e4 * np.linalg.inv(stiffness) + definite(2, 5.0, 30.0)
    gains = {"task_stiffness": stiffness, "task_damping": 0.5 * (damping + damping.T)}
    config = configured({key: gain.tolist() for key, gain in gains.items()})
    verdict = check_loop(config)
    largest = {"task_stiffness": verdict.stiffness, "task_damping": verdict.damping}
    assert check_loop(configured(largest)).model_margin < 0.9 * verdict.model_margin
    table, push = at_home(config, 1.0), 0.1 * np.array([1.0, -1.0, 1.0, 3.0, -3.0, 3.0])

    def trembling(factor: float) -> float:
        scaled = configured({key: (factor * gain).tolist() for key, gain in gains.items()})
        # fast enough at first for Coulomb friction not to stabilise it
        run = run_loop(scaled, table, "computed-torque", start=on_reference(scaled, table, push))
        return float(np.abs(np.diff(run.commands[-100:], axis=0)).max())

    assert trembling(0.95 * verdict.model_margin) < 1.0 < 100.0 < trembling(1.06 * verdict.model_margin)
    wild = configured({key: (12.0 * gain).tolist() for key, gain in gains.items()})
    assert "stiffness 13119.4 to 42517.9 1/s² and damping 283.04 to 455.771 1/s at 500 Hz" in check_loop(wild).message


def test_the_message_of_a_low_margin_names_a_bandwidth_that_has_it() -> None:
    wild = check_loop(configured({"task_bandwidth": 25.0}))
    assert "multiply" not in wild.message and wild.message.endswith("or a control.task_bandwidth of 21 Hz")
    assert check_loop(configured({"task_bandwidth": 21.0})).message == ""
    far = check_loop(configured({"task_bandwidth": 300.0}))
    assert far.gain_margin == 0.0 and far.message.endswith("; a lower control.task_bandwidth")
    given = check_loop(configured({"task_stiffness": wild.stiffness, "task_damping": wild.damping}))
    assert "multiply both gains by 0.82" in given.message and "task_bandwidth" not in given.message


def test_gains_that_do_not_couple_have_the_margin_of_their_worst_direction() -> None:
    """As matrices all six directions are judged at once; one at a time gives the same."""
    diagonal = {
        "task_stiffness": [500.0, 800.0, 1200.0, 2000.0, 3000.0, 700.0],
        "task_damping": [60.0] * 3 + [90.0] * 3,
    }
    alone = [
        check_loop(configured({"task_stiffness": k, "task_damping": d})).gain_margin
        for k, d in zip(*diagonal.values(), strict=True)
    ]
    assert check_loop(configured(diagonal)).gain_margin == pytest.approx(min(alone), rel=3e-3)


def test_the_sag_under_a_matrix_is_that_of_the_compiled_loop() -> None:
    gains = {"task_stiffness": definite(1, 300.0, 900.0).tolist(), "task_damping": definite(2, 40.0, 60.0).tolist()}
    config = configured(gains)
    heavy = scaled_mechanism(config.machine, 1.2)
    run = run_loop(config, at_home(config, 1.5), "computed-torque", plant=heavy)
    error = np.abs(run.lengths[-1] - config.machine.geometry.home_lengths).max()
    assert judge_sag(config).sag == pytest.approx(error, rel=0.1)
    number = judge_sag(configured({"task_stiffness": 400.0, "task_damping": 40.0})).sag
    alike = judge_sag(configured({"task_stiffness": [400.0] * 5 + [400.0001], "task_damping": 40.0})).sag
    assert alike == pytest.approx(number, rel=1e-6) and alike != pytest.approx(error, rel=0.1)


def test_held_forces_are_fed_back_by_the_inertia_times_the_gains() -> None:
    """Leg forces by leg errors: J⁻ᵀ M K J⁻¹, here through the platform, one leg at a time."""
    config = configured(COUPLED)
    data = ZeroOrderHold(config, (False,) * 6).data["legs"][0]
    model, gains = Dynamics(config.machine), config.task_gains
    rest = np.concatenate([HOME, np.zeros(12)])
    still = model.forces(rest)
    h = 1e-6
    lengths = leg_lengths(config.machine.geometry, HOME)
    for leg in range(6):
        moved = forward_kinematics(config.machine.geometry, lengths + h * np.eye(6)[leg], HOME)
        error = pose_difference(moved[np.newaxis], HOME[np.newaxis])[0]
        for first, gain in ((18, gains.stiffness), (24, gains.damping)):
            pushed = rest.copy()
            pushed[13:] = gain @ error
            expected = (model.forces(pushed) - still) / h
            np.testing.assert_allclose(
                data[first : first + 6, leg], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()
            )


@pytest.mark.parametrize("law", ["pd", "force", "observer", "computed-torque", "position"])
def test_a_common_bandwidth_is_that_of_the_fastest_direction_with_the_same_damping_ratios(law: str) -> None:
    before, config = SHIPPED.changed({"control": {"task_damping_ratio": 0.8}}), SHIPPED
    config = with_bandwidth(before, 6.0)
    found, own = law_bandwidth(config, law), law_bandwidth(before, law)
    assert found.fastest == pytest.approx(6.0)
    assert found.slowest / found.fastest == pytest.approx(own.slowest / own.fastest)
    assert (found.margin is None) is (law == "position")
    assert before.virtual is not None and config.virtual is not None
    drive, other = before.virtual.drive, config.virtual.drive
    for one in (before, config):
        assert one.task_gains.damping[0, 0] == pytest.approx(1.6 * math.sqrt(one.task_gains.stiffness[0, 0]))
    for gains in (
        [(each.control.stiffness, each.control.damping) for each in (before, config)],
        [(each.position_stiffness, each.position_damping) for each in (drive, other)],
    ):
        ratios = [damping / math.sqrt(stiffness) for stiffness, damping in gains]
        assert ratios[0] == pytest.approx(ratios[1]) and gains[0][0] != gains[1][0]


def test_the_bandwidth_of_drives_without_stated_gains_is_unknown() -> None:
    real = SHIPPED.changed({"virtual": None})
    with pytest.raises(ConfigError, match=r"drives\.position_stiffness and position_damping are not given"):
        law_bandwidth(real, "position")
    given = real.changed({"drives": {"position_stiffness": 60e3, "position_damping": 900.0}})
    assert law_bandwidth(given, "position") == law_bandwidth(SHIPPED, "position")
    assert law_bandwidth(with_bandwidth(real, 6.0), "force").fastest == pytest.approx(6.0)


def test_a_law_reports_its_gains_and_damping_ratio() -> None:
    legs, task = (law_bandwidth(SHIPPED, law) for law in ("force", "computed-torque"))
    assert (legs.stiffness, legs.damping) == (SHIPPED.control.stiffness, SHIPPED.control.damping)
    assert legs.damping_ratio == pytest.approx(
        math.pi * legs.fastest * SHIPPED.control.damping / SHIPPED.control.stiffness
    )
    assert (task.stiffness, task.damping) == SHIPPED.task_gains.numbers and task.damping_ratio == pytest.approx(1.0)
    names = [set(one.as_dict()) - {"controller", "slowest_hz", "fastest_hz", "gain_margin"} for one in (legs, task)]
    assert names == [
        {"stiffness_n_per_m", "damping_n_s_per_m", "damping_ratio"},
        {"stiffness_per_s2", "damping_per_s", "damping_ratio"},
    ]


def test_the_bandwidth_of_a_gain_margin_has_that_margin() -> None:
    found = task_bandwidth_of_margin(SHIPPED, 1.8)
    assert found is not None
    margin, beyond = (
        law_bandwidth(with_task_bandwidth(SHIPPED, factor * found), "computed-torque").margin for factor in (1.0, 1.01)
    )
    assert margin is not None and margin == pytest.approx(1.8, rel=3e-3) and margin >= 1.8
    assert beyond is not None and beyond < 1.8
    assert task_bandwidth_of_margin(SHIPPED, 1e9) is None


def test_the_natural_frequencies_of_a_matrix_are_its_own() -> None:
    found = law_bandwidth(configured(COUPLED), "computed-torque")
    assert (found.stiffness, found.damping) == (COUPLED["task_stiffness"], COUPLED["task_damping"])
    assert found.damping_ratio is None
    values = np.linalg.eigvalsh(COUPLED["task_stiffness"])
    assert [found.slowest, found.fastest] == pytest.approx(np.sqrt(values[[0, -1]]) / (2.0 * math.pi))
    assert found.margin == check_loop(configured(COUPLED)).gain_margin
    assert with_bandwidth(configured(COUPLED), 5.0).task_gains.numbers == pytest.approx(
        ((10.0 * math.pi) ** 2, 20.0 * math.pi)
    )
