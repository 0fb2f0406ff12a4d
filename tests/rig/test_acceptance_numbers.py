"""Numbers, verdicts, signals and sensors of the acceptance test, by hand-made signals."""

import csv
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import SHIPPED, VIRTUAL
from exploration import either
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from kinematics import COORDINATES, coordinates_to_pose, leg_lengths, pose_to_coordinates
from rig.acceptance import (
    Accelerometer,
    AcceptanceTest,
    Basis,
    Kind,
    Measurer,
    NotMeasurableError,
    Number,
    Quantity,
    Sensors,
    Tracker,
    Trial,
    Verdict,
    overall,
    planned,
    signals_of,
)
from rig.acceptance.rounding import encoder_steps
from rig.acceptance.signals import Signals, lines_of
from rig.config import RigConfig, load_config
from rig.csvio import POSE
from rig.errors import ConfigError, FieldError, InputError
from rig.findings import Code, Finding
from rig.safety import check_trajectory
from rig.services import AcceptRequest, acceptance_tests
from rig.telemetry import ROW

Floats = npt.NDArray[np.float64]
RATE = SHIPPED.rate


def test_a_number_of_numpy_is_json_as_any_other() -> None:
    one = Number(AcceptanceTest.NOISE, Quantity.NOISE_RMS, "z", np.float64(0.5), np.float64(0.1), "m/s^2", 1.0)
    assert json.loads(json.dumps(one.as_dict(0.95)))["never"] is False


def number(value: float | None, sigma: float | None, bound: float | None = 1.0, **more: Any) -> Number:
    return replace(Number(AcceptanceTest.NOISE, Quantity.NOISE_RMS, "z", value, sigma, "m/s^2", bound), **more)


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (number(0.5, 0.1), Verdict.PASS),
        (number(0.9, 0.1), Verdict.UNDECIDED),
        (number(1.1, 0.1), Verdict.UNDECIDED),
        (number(1.2, 0.1), Verdict.FAIL),
        (number(1.2, 0.1, at_least=True), Verdict.PASS),
        (number(0.8, 0.1, at_least=True), Verdict.FAIL),
        (number(0.5, None), Verdict.UNDECIDED),
        (number(math.inf, None), Verdict.FAIL),  # what never comes is later than any bound
        (number(math.nan, 0.0), Verdict.UNDECIDED),
        (number(0.5, 0.0, at_least=True, beyond=True), Verdict.UNDECIDED),  # only known to be at least that
        (number(1.0, 0.0, at_least=True, beyond=True), Verdict.PASS),
        (number(0.5, 0.1, None), Verdict.STATED),
        (number(None, None, finding=Finding(Code.ACCEPT_NO_CELLS)), Verdict.NOT_MEASURED),
        (number(None, None, finding=Finding.of_text("a fault"), ended=True), Verdict.FAIL),
    ],
)
def test_a_number_passes_or_fails_by_its_uncertainty(one: Number, verdict: Verdict) -> None:
    assert one.verdict(0.95) is verdict
    said = one.as_dict(0.95)
    assert said["verdict"] == verdict.value and said["method"] and said["bound_source"]
    assert (said["value"] is None) == (one.value is None or not math.isfinite(one.value))


def test_what_was_not_measured_is_no_pass() -> None:
    passed, missing = number(0.1, 0.01), number(None, None, finding=Finding(Code.ACCEPT_NO_CELLS))
    assert overall([passed], 0.95) is Verdict.PASS
    assert overall([passed, missing], 0.95) is Verdict.NOT_MEASURED
    assert overall([passed, missing, number(1.0, 0.1)], 0.95) is Verdict.UNDECIDED
    assert overall([passed, missing, number(1.0, 0.1), number(2.0, 0.1)], 0.95) is Verdict.FAIL
    assert overall([], 0.95) is Verdict.NOT_MEASURED


# -- the plan --------------------------------------------------------------------------------------------------------


def test_every_test_has_a_motion_and_each_motion_passes_in_its_size_and_not_in_a_larger_one() -> None:
    trials = planned(VIRTUAL, ("z",))
    assert {test for trial in trials for test in trial.tests} == set(AcceptanceTest)
    assert len({trial.name for trial in trials}) == len(trials)
    wide = next(trial for trial in trials if trial.kind is Kind.WIDE)
    assert wide.size == pytest.approx(0.9 * wide.largest)
    for factor, passed in ((1.0, True), (1.02 / 0.9, False)):
        spec = {**wide.spec, "parts": [dict(wide.spec["parts"][0])]}
        spec["parts"][0]["terms"] = [{**term, "amplitude": factor * wide.size} for term in spec["parts"][0]["terms"]]
        motion = replace(wide, spec=spec).trajectory(VIRTUAL)
        verdict = check_trajectory(VIRTUAL.machine, VIRTUAL.safety, motion, VIRTUAL.rate, remedy=False)
        assert verdict.passed is passed
    # the bounds of the legs, by hand: in z each leg's speed is below that of the platform
    speed = next(trial for trial in trials if trial.kind is Kind.FAST)
    assert 2.0 * math.pi * speed.largest / speed.period > 0.8


def test_only_motions_that_serve_a_wanted_test_are_run() -> None:
    balance = planned(VIRTUAL, ("x", "z"), (AcceptanceTest.LEG_BALANCE,))
    assert [trial.title for trial in balance] == ["sine z"]  # the legs are compared in heave alone
    residual = planned(VIRTUAL, ("z",), (AcceptanceTest.RESIDUAL,))
    assert [trial.title for trial in residual] == ["multisine z"]  # not the small one


# -- signals ---------------------------------------------------------------------------------------------------------


def made(trial: Trial, deviation: Floats, config: RigConfig = SHIPPED, sensed: Floats | None = None) -> Signals:
    """Signals of a trial in which the measured coordinates deviate (n, 6) from the commanded ones."""
    t = np.arange(len(deviation)) / RATE
    phase = 2.0 * math.pi * t / trial.period
    commanded = np.zeros((len(t), 6))
    commanded[:, COORDINATES.index(trial.axis)] = trial.size * np.sin(phase)
    lengths = np.zeros((len(t), 2, 6))
    lengths[:, 0] = lengths[:, 1] = commanded[:, [2]]
    scale = np.array([1.0] * 3 + [config.safety.characteristic_length] * 3)
    return Signals(
        t, t, commanded, commanded + deviation, sensed, lengths, np.zeros((len(t), 6)), Basis.ENCODERS, scale, RATE, 0,
        np.zeros(6),
    )  # fmt: skip


def sine_trial(kind: Kind, period: float, cycles: int, size: float = 0.05, axis: str = "z") -> Trial:
    return Trial("accept test", kind, axis, 1.0, size, size, period, cycles, 0.0, {}, period * cycles)


def found(numbers: Sequence[Number], name: str) -> Number:
    return next(one for one in numbers if one.name.startswith(name))


def sigma_of(one: Number) -> float:
    assert one.sigma is not None
    return one.sigma


def test_a_loop_of_known_width_is_found_with_its_sigma() -> None:
    trial = sine_trial(Kind.SLOW, 10.0, 2)
    count = round(20.0 * RATE)
    speed = np.cos(2.0 * math.pi * np.arange(count) / RATE / 10.0)
    random = np.random.default_rng(4)
    deviation = np.zeros((count, 6))
    deviation[:, 2] = -1e-4 * np.sign(speed) + 2e-5 * random.standard_normal(count)
    width = found(Measurer(SHIPPED).measure(trial, made(trial, deviation)), "width")
    assert width.value == pytest.approx(2e-4, abs=5.0 * sigma_of(width)) and 1e-7 < sigma_of(width) < 5e-6
    assert width.verdict(0.95) is Verdict.FAIL


def test_harmonics_and_noise_of_a_sine_are_separated() -> None:
    trial = sine_trial(Kind.SINE, 2.0, 8)
    count = round(16.0 * RATE)
    t = np.arange(count) / RATE
    random = np.random.default_rng(5)
    w = 2.0 * math.pi * 0.5
    deviation = np.zeros((count, 6))
    third = 0.03 * 0.05 / 9.0  # 3 % of the acceleration
    deviation[:, 2] = third * np.sin(3.0 * w * t + 0.3) + 1e-6 * random.standard_normal(count)
    deviation[:, 0] = 0.01 * 0.05 * np.sin(w * t)
    numbers = Measurer(SHIPPED).measure(trial, made(trial, deviation))
    linearity, noise, crosstalk = (found(numbers, name) for name in ("second", "acceleration noise, RMS", "acceler"))
    assert linearity.value == pytest.approx(0.03, abs=4.0 * sigma_of(linearity) + 1e-4)
    frequency = np.fft.rfftfreq(count, 1.0 / RATE)
    expected = 1e-6 * math.sqrt(2.0 / count * ((2.0 * math.pi * frequency[frequency <= 40.0]) ** 4).sum())
    assert noise.value == pytest.approx(expected, abs=4.0 * sigma_of(noise))
    crosstalk = next(one for one in numbers if one.test is AcceptanceTest.CROSSTALK)
    assert crosstalk.value == pytest.approx(0.01, rel=0.01) and crosstalk.at is not None
    assert crosstalk.at.values == {"axis": "x"}


def test_one_leg_that_lags_is_out_of_balance() -> None:
    trial = sine_trial(Kind.SINE, 2.0, 8)
    signals = made(trial, np.zeros((round(16.0 * RATE), 6)))
    signals.lengths[:, 1, 3] = 0.98 * trial.size * np.sin(2.0 * math.pi * signals.t / 2.0 - 0.03)
    numbers = [one for one in Measurer(SHIPPED).measure(trial, signals) if one.test is AcceptanceTest.LEG_BALANCE]
    gain, phase = (found(numbers, name) for name in ("difference of gains", "difference of phases"))
    assert gain.value == pytest.approx(0.02, abs=1e-6) and 4 in gain.legs
    assert phase.value == pytest.approx(0.03, abs=1e-6) and 4 in phase.legs


def test_the_time_to_63_percent_of_a_step_is_that_of_a_lag_of_first_order() -> None:
    (trial,) = planned(SHIPPED, ("z",), (AcceptanceTest.THRESHOLD,))
    trial = replace(trial, begin=0.0)
    t = np.arange(round(trial.cycles * trial.period * RATE)) / RATE
    lag = 0.02
    numbers = range(1, 41, 2)
    commanded, measured = np.zeros((2, len(t), 6))
    for k in numbers:
        w = 2.0 * math.pi * k / trial.period
        line = -trial.size / k**3 * np.exp(1j * w * t)
        commanded[:, 2] += line.imag
        measured[:, 2] += (line / (1.0 + 1j * w * lag)).imag
    signals = made(trial, np.zeros((len(t), 6)))
    signals = replace(signals, commanded=commanded, measured=measured)
    (late,) = Measurer(SHIPPED).measure(trial, signals)
    # from -a to +a: 63 % of the step is at the time constant, but for the smooth step of 40 Hz
    assert late.value == pytest.approx(lag, rel=0.06) and sigma_of(late) < 1e-6


def test_a_step_that_is_not_reached_fails() -> None:
    (trial,) = planned(SHIPPED, ("z",), (AcceptanceTest.THRESHOLD,))
    trial = replace(trial, begin=0.0)
    signals = made(trial, np.zeros((round(trial.cycles * trial.period * RATE), 6)))
    wave = -trial.size * sum(np.sin(2.0 * math.pi * k * signals.t / trial.period) / k**3 for k in range(1, 41, 2))
    commanded, measured = np.zeros((2, len(signals.t), 6))
    commanded[:, 2], measured[:, 2] = wave, 0.2 * wave
    (late,) = Measurer(SHIPPED).measure(trial, replace(signals, commanded=commanded, measured=measured))
    assert late.value == math.inf and late.verdict(0.95) is Verdict.FAIL
    assert late.as_dict(0.95)["never"] and late.as_dict(0.95)["value"] is None


def test_a_bandwidth_beyond_the_highest_line_is_not_judged_against_a_higher_bound() -> None:
    for bound, verdict in ((10.0, Verdict.PASS), (60.0, Verdict.UNDECIDED)):
        config = SHIPPED.changed({"acceptance": {"bandwidth": bound}})
        (trial, _) = planned(config, ("z",), (AcceptanceTest.RESPONSE,))
        t = np.arange(round(trial.duration * RATE)) / RATE
        commanded = trial.trajectory(config).coordinates(t)[0]
        random = np.random.default_rng(10)
        signals = replace(
            made(sine_trial(Kind.SINE, 2.0, 1), np.zeros((len(t), 6))),
            t=t, path_time=t, commanded=commanded, measured=commanded + 1e-7 * random.standard_normal(commanded.shape),
        )  # fmt: skip
        numbers = Measurer(config).measure(trial, replace(signals, residual=random.standard_normal((len(t), 6))))
        bandwidth = found(numbers, "bandwidth")
        assert bandwidth.beyond and bandwidth.value == pytest.approx(20.0, abs=0.5)
        assert bandwidth.verdict(0.95) is verdict


def pose_signals(config: RigConfig, off: Floats, size: float | None = None) -> tuple[Trial, Signals]:
    """Signals of the poses, of their size or another; each visit is off by a row of (visits, 6)."""
    (trial,) = planned(config, ("z",), (AcceptanceTest.POSE,))
    table = trial.trajectory(config).coordinates(np.arange(round(trial.duration * RATE) + 1) / RATE)[0]
    table *= 1.0 if size is None else size / trial.size
    visit = np.minimum(np.arange(len(table)) // (1.2 * RATE), len(off) - 1).astype(int)
    t = np.arange(len(table)) / RATE
    signals = made(sine_trial(Kind.SINE, 2.0, 1), np.zeros((len(table), 6)))
    return trial, replace(signals, t=t, path_time=t, commanded=table, measured=table + off[visit])


def test_poses_that_are_within_the_limit_band_of_each_other_do_not_show_settling() -> None:
    config = SHIPPED.changed({"acceptance": {"pose_cycles": 3}})
    trial, signals = pose_signals(config, np.zeros((15, 6)), size=4e-5)
    numbers = Measurer(config).measure(trial, signals)
    assert found(numbers, "position accuracy").value == pytest.approx(0.0, abs=1e-12)
    (settling,) = (one for one in numbers if one.test is AcceptanceTest.SETTLING)
    assert settling.verdict(0.95) is Verdict.NOT_MEASURED and settling.finding is not None
    assert settling.finding.code is Code.ACCEPT_TOO_SMALL and settling.finding.bound == 1e-4


def test_the_repeatability_of_an_attitude_is_three_standard_deviations_of_each_angle() -> None:
    config = SHIPPED.changed({"acceptance": {"pose_cycles": 10}})
    off = np.zeros((50, 6))
    off[:, 4] = 1e-3 + 1e-4 * np.random.default_rng(11).standard_normal(50)
    trial, signals = pose_signals(config, off)
    numbers = Measurer(config).measure(trial, signals)
    visits = off[:, 4].reshape(10, 5)
    accuracy, repeatability = found(numbers, "attitude accuracy"), found(numbers, "attitude repeatability")
    assert accuracy.value == pytest.approx(visits.mean(axis=0).max(), rel=1e-6)
    assert repeatability.value == pytest.approx(3.0 * visits.std(axis=0, ddof=1).max(), rel=1e-6)
    assert repeatability.at is not None and repeatability.at.values["axis"] == "ry"


def test_the_repeatability_of_a_pose_is_that_of_the_standard() -> None:
    config = SHIPPED.changed({"acceptance": {"pose_cycles": 10}})
    off = np.zeros((50, 6))
    off[:, :3] = [1e-4, 0.0, 0.0] + 2e-5 * np.random.default_rng(6).standard_normal((50, 3))
    trial, signals = pose_signals(config, off)
    numbers = Measurer(config).measure(trial, signals)
    visits = off[:, :3].reshape(10, 5, 3)
    mean = visits.mean(axis=0)
    apart = np.linalg.norm(visits - mean, axis=2)
    assert found(numbers, "position accuracy").value == pytest.approx(np.linalg.norm(mean, axis=1).max(), rel=1e-6)
    expected = (apart.mean(axis=0) + 3.0 * apart.std(axis=0, ddof=1)).max()
    assert found(numbers, "position repeatability").value == pytest.approx(expected, rel=1e-6)
    assert found(numbers, "overshoot").value == 0.0


def test_a_path_is_off_by_its_offset_across_not_by_a_lag_along() -> None:
    (trial,) = planned(SHIPPED, ("z",), (AcceptanceTest.PATH,))
    trial = replace(trial, begin=0.0)
    t = np.arange(round(trial.cycles * trial.period * RATE)) / RATE
    random = np.random.default_rng(9)
    commanded, measured = np.zeros((2, len(t), 6))
    for path, angle in (
        (commanded, 2.0 * math.pi * t / trial.period),
        (measured, 2.0 * math.pi * t / trial.period - 1e-3),
    ):
        path[:, 0], path[:, 1] = trial.size * np.cos(angle), trial.size * np.sin(angle)
    measured[:, 2] += 1e-4 + 1e-5 * random.standard_normal(len(t))
    signals = replace(
        made(sine_trial(Kind.SINE, 2.0, 1), np.zeros((len(t), 6))),
        t=t, path_time=t, commanded=commanded, measured=measured,
    )  # fmt: skip
    accuracy = found(Measurer(SHIPPED).measure(trial, signals), "path accuracy")
    assert trial.size * 1e-3 > 5e-5  # along, which would show
    assert accuracy.value == pytest.approx(1e-4, abs=5.0 * sigma_of(accuracy))
    assert sigma_of(accuracy) == pytest.approx(1e-5 / math.sqrt(trial.cycles), rel=0.1)


def test_the_sigma_of_a_line_is_that_of_noise() -> None:
    random = np.random.default_rng(7)
    t = np.arange(4000) / RATE
    scores = []
    for _ in range(40):
        signal = 1e-3 * np.sin(2.0 * math.pi * 0.5 * t) + 1e-5 * random.standard_normal(len(t))
        lines = lines_of(signal[:, np.newaxis], RATE, 4)
        scores.append((abs(lines.harmonic(1)[0]) - 1e-3) / lines.sigma(1)[0])
    assert 0.7 < np.std(scores) < 1.4


@pytest.mark.parametrize(
    ("quantity", "low", "high"),
    [
        (Quantity.REACHED, 0.6, 1.4),
        (Quantity.HARMONICS, 0.6, 1.4),
        (Quantity.NOISE_RMS, 0.6, 1.4),
        (Quantity.NOISE_PEAK, 0.6, 1.4),
        (Quantity.OF_CYCLES, 0.5, 1.4),
        (Quantity.OTHER_AXIS, 0.6, 1.4),
        (Quantity.ROUGHNESS, 0.5, 1.4),  # of the whole motion's lines, of which it is a part
    ],
)
def test_sigma_is_the_scatter_of_a_repeated_measurement(quantity: Quantity, low: float, high: float) -> None:
    slow = quantity is Quantity.ROUGHNESS
    kinds = {Quantity.REACHED: Kind.FAST, Quantity.OF_CYCLES: Kind.HARD}
    kind = Kind.SLOW if slow else kinds.get(quantity, Kind.SINE)
    trial = sine_trial(kind, 10.0, 2) if slow else sine_trial(kind, 2.0, 8)
    random = np.random.default_rng(12)
    t = np.arange(round(trial.cycles * trial.period * RATE)) / RATE
    values, sigmas = [], []
    for _ in range(either(20, 200)):
        deviation = 1e-6 * random.standard_normal((len(t), 6))
        deviation[:, 2] += 1e-4 * np.sin(6.0 * math.pi * t / trial.period)
        deviation[:, 0] += 1e-2 * np.sin(2.0 * math.pi * t / trial.period)
        (one, *_) = (
            one for one in Measurer(SHIPPED).measure(trial, made(trial, deviation)) if one.quantity is quantity
        )
        assert one.value is not None
        values.append(one.value)
        sigmas.append(sigma_of(one))
    assert low < np.std(values) / np.mean(sigmas) < high


def encoded(trial: Trial, size: float, noise: float, step: float, random: np.random.Generator) -> Signals:
    """Signals of a sine by encoders with noise and steps, m, of a size, at a drawn phase and place of their count."""
    geometry, rate = VIRTUAL.machine.geometry, VIRTUAL.rate
    axis = COORDINATES.index(trial.axis)
    t = np.arange(round(trial.cycles * trial.period * rate)) / rate
    angle = 2.0 * math.pi * t / trial.period + random.uniform(0.0, 2.0 * math.pi)
    commanded = np.tile(pose_to_coordinates(geometry.home_pose[np.newaxis])[0], (len(t), 1))
    commanded += random.uniform(-1e-3, 1e-3, 6)
    commanded[:, axis] += size * np.sin(angle)
    true = commanded.copy()
    true[:, axis] += size * (1e-4 * np.sin(3.0 * angle) - 1e-3 * np.cos(angle))
    legs = [leg_lengths(geometry, coordinates_to_pose(each)) for each in (commanded, true)]
    read = legs[1] + noise * random.standard_normal(legs[1].shape)
    read = np.rint(read / step) * step if step else read
    seen = true + np.einsum("ij,nj->ni", np.linalg.inv(rates_of_legs(commanded.mean(axis=0))), read - legs[1])
    scale = np.array([1.0] * 3 + [VIRTUAL.safety.characteristic_length] * 3)
    lengths, none = np.stack([legs[0], read], axis=1), np.zeros((len(t), 6))
    steps = encoder_steps(read)
    return Signals(t, t, commanded, seen, None, lengths, none, Basis.ENCODERS, scale, rate, 0, steps)


def rates_of_legs(place: Floats) -> Floats:
    """Rates (6, 6) of the legs' lengths by the coordinates, by differences."""
    there = place + 1e-6 * np.concatenate([np.eye(6), -np.eye(6)])
    lengths = leg_lengths(VIRTUAL.machine.geometry, coordinates_to_pose(there))
    rates: Floats = ((lengths[:6] - lengths[6:]) / 2e-6).T
    return rates


# What a number is proportional to, where it depends on the size of the motion.
BY_SIZE = {Quantity.REACHED: 1, Quantity.LOOP: 1, Quantity.OTHER_AXIS: -1}
# The greatest of several that are noise alone: its scatter is less than the σ of one of them.
OF_SEVERAL = (Quantity.OTHER_AXIS, Quantity.LEG_GAINS, Quantity.LEG_PHASES)


@pytest.mark.parametrize(("noise", "step"), [(4e-6, 0.0), (0.0, 1e-5), (1e-6, 1e-5)], ids=["noise", "rounding", "both"])
@pytest.mark.parametrize(("kind", "axis"), [(Kind.WIDE, "z"), (Kind.SLOW, "z"), (Kind.SINE, "z"), (Kind.SINE, "rx")])
def test_sigma_holds_at_another_size_phase_and_place_of_the_encoders(
    kind: Kind, axis: str, noise: float, step: float
) -> None:
    period, cycles = {Kind.WIDE: (5.0, 2), Kind.SLOW: (10.0, 2), Kind.SINE: (2.0, 8)}[kind]
    trial = sine_trial(kind, period, cycles, axis=axis)
    config = VIRTUAL.changed({"acceptance": {"acceleration_bandwidth": 20.0}})
    random = np.random.default_rng(14)
    found: dict[Quantity, list[tuple[float, float]]] = {}
    for _ in range(either(30, 200)):
        part = random.uniform(0.8, 1.2)
        signals = encoded(trial, 0.05 * part, noise, step, random)
        for one in Measurer(config).measure(trial, signals):
            assert one.quantity is not None and one.value is not None
            factor = part ** -BY_SIZE.get(one.quantity, 0)
            found.setdefault(one.quantity, []).append((factor * one.value, factor * sigma_of(one)))
    for quantity, each in found.items():
        values, sigmas = np.array(each).T
        low = 0.4 if quantity in OF_SEVERAL else 0.6
        assert low < np.std((values - values.mean()) / sigmas, ddof=1) < 1.5, quantity


def along_z(commanded: Floats, gain: Any, noise: float, random: np.random.Generator) -> Signals:
    """Signals of commanded coordinates (n, 6) that z follows with a periodic response (k,) at the lines of the FFT."""
    measured = commanded + noise * random.standard_normal(commanded.shape)
    measured[:, 2] += np.fft.irfft((gain - 1.0) * np.fft.rfft(commanded[:, 2]), n=len(commanded))
    t = np.arange(len(commanded)) / RATE
    signals = made(sine_trial(Kind.SINE, 2.0, 1), np.zeros(commanded.shape))
    force = random.standard_normal(commanded.shape)
    return replace(signals, t=t, path_time=t, commanded=commanded, measured=measured, residual=force)


def lag(frequency: Any, corner: float) -> Any:
    return 1.0 / (1.0 + 1j * frequency / corner)


def test_gain_phase_bandwidth_and_their_change_are_those_of_a_known_lag_within_their_sigma() -> None:
    trials = planned(SHIPPED, ("z",), (AcceptanceTest.RESPONSE,))
    tables = [
        trial.trajectory(SHIPPED).coordinates(np.arange(round(trial.duration * RATE)) / RATE)[0] for trial in trials
    ]
    random = np.random.default_rng(16)
    scores: dict[Quantity, list[float]] = {}
    for _ in range(either(30, 200)):
        corner, smaller, noise = (
            random.uniform(6.0, 15.0),
            random.uniform(0.97, 0.99),
            10.0 ** random.uniform(-7.5, -5.5),
        )
        measurer = Measurer(SHIPPED)
        for trial, table in zip(trials, tables, strict=True):
            part = 1.0 if trial.part == 1.0 else smaller
            # the periods before the motion are those of its steady part: the response is that at once
            gain = part * lag(np.fft.rfftfreq(len(table), 1.0 / RATE), corner)
            for one in measurer.measure(trial, along_z(table, gain, noise, random)):
                assert one.value is not None and one.at is not None and one.quantity is not None
                at = np.array(one.at.values.get("frequency", 0.0))
                lowest = measurer.curves.responses["z"][0][1].frequency[0]
                known = {
                    Quantity.GAIN: abs(abs(part * lag(at, corner)) - 1.0),
                    Quantity.PHASE: -np.angle(lag(at, corner)),
                    Quantity.BANDWIDTH: corner * math.sqrt(1.0 + 2.0 * (lowest / corner) ** 2),
                    Quantity.GAIN_CHANGE: (1.0 - smaller) * abs(lag(at, corner)),
                }.get(one.quantity)
                if known is not None:
                    scores.setdefault(one.quantity, []).append((one.value - float(known)) / sigma_of(one))
    for quantity, each in scores.items():
        assert 0.4 < np.sqrt(np.mean(np.square(each))) < 1.5, quantity


def time_of_step(lines: Any, w: Floats, late: float, half: Floats) -> float:
    """Time from the middle of a step to 63 % of it behind a lag, of positions with these lines at w, rad/s."""

    def acceleration(at: Any, gains: Any) -> Any:
        return -(np.exp(1j * np.multiply.outer(at, w)) @ (w**2 * lines * gains)).imag

    gains = 1.0 / (1.0 + 1j * w * late)
    before, behind = (acceleration(half + begin, 1.0).mean() for begin in (-0.25, 0.125))
    reached = brentq(lambda at: acceleration(at, gains) - before - 0.63 * (behind - before), -0.01, 0.12)
    begun = brentq(lambda at: acceleration(at, 1.0) - 0.5 * (before + behind), -0.01, 0.01)
    return float(reached - begun)


@pytest.mark.parametrize(("noise", "low"), [(2e-6, 0.7), (1e-8, 0.4)])
def test_the_time_of_a_step_is_that_of_a_known_lag_within_its_sigma(noise: float, low: float) -> None:
    (trial,) = planned(SHIPPED, ("z",), (AcceptanceTest.THRESHOLD,))
    trial = replace(trial, begin=0.0)
    t = np.arange(round(trial.cycles * trial.period * RATE)) / RATE
    numbers = np.arange(1, 41, 2)
    w = 2.0 * math.pi * numbers / trial.period
    half = np.arange(round(trial.period * RATE) // 8) / RATE  # of a quarter of a period
    random = np.random.default_rng(17)
    scores = []
    for _ in range(either(30, 200)):
        late = random.uniform(0.004, 0.03)
        lines = -random.uniform(0.8, 1.2) * trial.size / numbers**3
        commanded = np.zeros((len(t), 6))
        commanded[:, 2] = (np.exp(1j * np.outer(t, w)) @ lines).imag
        gain = lag(np.fft.rfftfreq(len(t), 1.0 / RATE), 1.0 / (2.0 * math.pi * late))
        (one,) = Measurer(SHIPPED).measure(trial, along_z(commanded, gain, noise, random))
        assert one.value is not None
        scores.append((one.value - time_of_step(lines, np.asarray(w, np.float64), late, half)) / sigma_of(one))
    assert low < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_a_step_in_too_much_noise_is_undecided() -> None:
    (trial,) = planned(SHIPPED, ("z",), (AcceptanceTest.THRESHOLD,))
    trial = replace(trial, begin=0.0)
    t = np.arange(round(trial.cycles * trial.period * RATE)) / RATE
    numbers = np.arange(1, 41, 2)
    commanded = np.zeros((len(t), 6))
    commanded[:, 2] = np.sin(2.0 * math.pi / trial.period * np.outer(t, numbers)) @ (-trial.size / numbers**3)
    signals = along_z(commanded, 1.0, 1e-5, np.random.default_rng(18))
    (one,) = Measurer(SHIPPED).measure(trial, signals)
    assert one.value is not None and math.isfinite(one.value) and one.sigma == math.inf
    assert one.verdict(0.95) is Verdict.UNDECIDED and one.as_dict(0.95)["sigma"] is None


def test_the_step_of_encoders_is_found() -> None:
    random = np.random.default_rng(15)
    places = 0.5 + 0.05 * np.sin(np.arange(2000) / 300.0)[:, np.newaxis] * np.ones(6)
    steps = np.array([1e-7, 2e-5, 1e-3, 5e-6, 10.0, 3e-5])
    read = np.rint(places / steps) * steps + random.uniform(0.0, 1e-3, 6)  # the count of a homed drive has an offset
    found = encoder_steps(read)
    assert found[[0, 1, 2, 3, 5]] == pytest.approx(steps[[0, 1, 2, 3, 5]], rel=1e-6) and found[4] == 0.0
    assert encoder_steps(random.standard_normal((2000, 6))).max() < 1e-4  # no step at all


# -- rows and sensors ------------------------------------------------------------------------------------------------


def rows_of_sine(duration: float = 6.0) -> npt.NDArray[np.void]:
    t = np.arange(round(duration * RATE)) / RATE
    rows = np.zeros(len(t), ROW)
    rows["t"], rows["path_time"], rows["path_rate"] = 100.0 + t, t, 1.0
    coordinates = np.zeros((len(t), 6))
    envelope = np.sin(math.pi * t / duration) ** 2
    coordinates[:, 0] = 0.02 * envelope * np.sin(2.0 * math.pi * 1.3 * t)
    coordinates[:, 2] = 0.45 + 0.02 * envelope * np.sin(2.0 * math.pi * 0.7 * t)
    poses = coordinates_to_pose(coordinates)
    rows["pose"], rows["reference"][:, :7] = poses, poses
    return rows


def test_skipped_cycles_are_interpolated_if_few_and_refused_if_many() -> None:
    rows = rows_of_sine()
    few = np.delete(rows, [500, 700])
    signals = signals_of(few, SHIPPED, Sensors())
    assert signals.skipped == 2 and len(signals.t) == len(rows)
    assert np.allclose(signals.commanded, signals_of(rows, SHIPPED, Sensors()).commanded, atol=1e-5)
    with pytest.raises(InputError, match="cycles were skipped"):
        signals_of(np.delete(rows, np.arange(500, 600)), SHIPPED, Sensors())
    blind = rows.copy()
    blind["pose"][40] = np.nan
    with pytest.raises(InputError, match="cycles without feedback"):
        signals_of(blind, SHIPPED, Sensors())
    slow = rows.copy()
    slow["path_rate"][40:] = 0.5
    with pytest.raises(InputError, match="full speed"):
        signals_of(slow, SHIPPED, Sensors())


def written(path: Path, names: Sequence[str], columns: Floats) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(names)
        table.writerows(columns.tolist())
    return path


def test_an_accelerometers_clock_is_found_and_its_accelerations_are_the_motions(tmp_path: Path) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    offset = -37.4321
    t = 100.0 + np.arange(round(7.0 * 1000.0)) / 1000.0 - 0.5
    wanted = np.gradient(np.gradient(commanded[:, :3], 1.0 / RATE, axis=0), 1.0 / RATE, axis=0)
    force = np.stack([np.interp(t, rows["t"], column) for column in wanted.T], axis=1) - SHIPPED.machine.gravity
    force += 0.02 * np.random.default_rng(8).standard_normal(force.shape)
    names = ("t", "ax", "ay", "az")
    path = written(tmp_path / "imu.csv", names, np.column_stack([t + offset, force]))
    sensor = Accelerometer(path, np.zeros(3), SHIPPED.machine.gravity, rows["t"], commanded)
    assert sensor.alignment.offset == pytest.approx(offset, abs=5e-4) and sensor.alignment.correlation > 0.95
    sensed = signals_of(rows, SHIPPED, Sensors(accelerometer=sensor)).sensed
    assert sensed is not None and np.isnan(sensed[:, 3:]).all()
    assert np.sqrt(np.mean((sensed[:, :3] - wanted) ** 2)) < 0.05
    still = written(tmp_path / "still.csv", names, np.column_stack([t, np.tile([0.0, 0.0, 9.8], (len(t), 1))]))
    with pytest.raises(InputError, match="does not show the motion"):
        Accelerometer(still, np.zeros(3), SHIPPED.machine.gravity, rows["t"], commanded)


NAMES = ("t", "ax", "ay", "az")


def imu(path: Path, rows: npt.NDArray[np.void], commanded: Floats, rate: float = 1000.0) -> tuple[Floats, Floats]:
    """Times and specific forces (n, 3) of an accelerometer that measured the rows' motion."""
    t = np.arange(rows["t"][0], rows["t"][-1], 1.0 / rate)
    wanted = np.gradient(np.gradient(commanded[:, :3], 1.0 / RATE, axis=0), 1.0 / RATE, axis=0)
    smooth = CubicSpline(rows["t"], wanted)
    return t, smooth(t) - SHIPPED.machine.gravity


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda force: force / 9.81, "shows 0.102 times the motion.*is it in m/s², specific force"),
        (lambda force: force[:, [1, 0, 2]], "does not show the motion|its a[xy] does not show"),
        (lambda force: force * [-1.0, 1.0, 1.0], "does not show the motion|its ax does not show"),
        (lambda force: force[:1], "1 row, must be at least 2"),
    ],
)
def test_an_accelerometers_file_of_another_unit_or_other_axes_is_refused(
    tmp_path: Path, change: Callable[[Floats], Floats], match: str
) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    t, force = imu(tmp_path, rows, commanded)
    changed = change(force)
    path = written(tmp_path / "imu.csv", NAMES, np.column_stack([t[: len(changed)], changed]))
    with pytest.raises(InputError, match=match):
        Accelerometer(path, np.zeros(3), SHIPPED.machine.gravity, rows["t"], commanded)


def test_a_trackers_file_in_millimetres_is_refused(tmp_path: Path) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    poses = coordinates_to_pose(commanded)
    poses[:, :3] *= 1e3
    path = written(tmp_path / "tracker.csv", ("t", *POSE), np.column_stack([rows["t"], poses]))
    with pytest.raises(InputError, match=r"shows 1e\+03 times the motion.*is it in m\?"):
        Tracker(path, rows["t"], commanded)


def test_a_gap_in_a_sensors_file_is_not_interpolated(tmp_path: Path) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    t, force = imu(tmp_path, rows, commanded)
    kept = (t < 102.0) | (t > 102.2)
    path = written(tmp_path / "imu.csv", NAMES, np.column_stack([t, force])[kept])
    sensor = Accelerometer(path, np.zeros(3), SHIPPED.machine.gravity, rows["t"], commanded)
    part = slice(500, 2000)
    with pytest.raises(NotMeasurableError) as caught:
        sensor.accelerations(rows["t"][part], commanded[part])
    assert caught.value.finding.code is Code.ACCEPT_SENSOR_GAP
    assert caught.value.finding.value == pytest.approx(0.2, abs=2e-3)
    after = slice(1500, 2000)
    assert np.isfinite(sensor.accelerations(rows["t"][after], commanded[after])[:, :3]).all()


@pytest.mark.parametrize("rate", [100.0, 4000.0])
def test_a_slow_file_loses_nothing_and_a_fast_one_does_not_alias(tmp_path: Path, rate: float) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    t, force = imu(tmp_path, rows, commanded, rate)
    ripple = 0.1 * np.sin(2.0 * math.pi * 9.0 * t)
    vibration = 0.1 * np.sin(2.0 * math.pi * (RATE - 20.0) * t) if rate > 2.0 * RATE else 0.0  # 20 Hz, if it aliased
    force[:, 2] += ripple + vibration
    path = written(tmp_path / "imu.csv", NAMES, np.column_stack([t, force]))
    sensor = Accelerometer(path, np.zeros(3), SHIPPED.machine.gravity, rows["t"], commanded)
    part = slice(500, 2500)
    wanted = np.interp(rows["t"][part], t, force[:, 2] - vibration) + SHIPPED.machine.gravity[2]
    exact = wanted - np.interp(rows["t"][part], t, ripple)
    exact += 0.1 * np.sin(2.0 * math.pi * 9.0 * rows["t"][part])
    found_here = sensor.accelerations(rows["t"][part] - sensor.alignment.offset, commanded[part])[:, 2]
    assert np.abs(found_here - exact).max() < 0.005


def test_a_trackers_poses_take_the_place_of_the_encoders(tmp_path: Path) -> None:
    rows = rows_of_sine()
    commanded = signals_of(rows, SHIPPED, Sensors()).commanded
    off = commanded.copy()
    off[:, 1] += 3e-4
    t = rows["t"] + 12.5
    names = ("t", "x", "y", "z", "qw", "qx", "qy", "qz")
    around = np.arange(1, 51) / RATE
    wide = np.concatenate([off[:1].repeat(50, axis=0), off, off[-1:].repeat(50, axis=0)])
    times = np.concatenate([t[0] - around[::-1], t, t[-1] + around])
    path = written(tmp_path / "tracker.csv", names, np.column_stack([times, coordinates_to_pose(wide)]))
    signals = signals_of(rows, SHIPPED, Sensors(tracker=Tracker(path, rows["t"], commanded)))
    assert signals.poses is Basis.TRACKER
    assert (signals.measured - commanded)[:, 1] == pytest.approx(3e-4, abs=2e-5)


# -- the request and the configuration -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"axes": ("q",)}, "'q' is none of x, y, z"),
        ({"axes": ("x", "x")}, "each at most once"),
        ({"tests": ("speeed",)}, "'speeed' is none of excursion"),
        ({"tracker": Path("t.csv")}, "is of a recording"),
        ({"record": False}, "needs lockstep"),
    ],
)
def test_an_invalid_request_is_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(FieldError, match=match):
        AcceptRequest("virtual", **changes)


def test_thresholds_beyond_their_bounds_are_refused() -> None:
    assert len(acceptance_tests()) == len(AcceptanceTest)
    for key, value in (("share", 1.0), ("noise", math.nan), ("pose_cycles", 2), ("excursion", [0.1, 0.1])):
        with pytest.raises(ConfigError, match="acceptance"):
            load_config("virtual").changed({"acceptance": {key: value}})
