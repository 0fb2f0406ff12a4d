"""Frequency response of known systems with known delays: the estimator sees samples with noise only."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

from kinematics import TrajectorySpec, build_trajectory
from rig.analysis import (
    CommandHold,
    Grid,
    Note,
    Nuisance,
    Response,
    ResponseFit,
    Structure,
    Verdict,
    fit_response,
    frequency_response,
    multisine,
    steady_stretches,
    well_excited,
)
from rig.errors import InputError

RATE = 500.0
PERIOD = 2.0
SAMPLES = round(RATE * PERIOD)
NATURAL, DAMPING, DELAY = 15.0, 0.6, 0.004
REALIZATIONS, PERIODS = 6, 2
LINES = np.array([round(term["frequency"] * PERIOD) for term in multisine(
    "z", 0.5, 40.0, 1.0, PERIOD, PERIODS, odd=True)["parts"][0]["terms"]])  # fmt: skip
FREQUENCIES = LINES / PERIOD
ODD = np.arange(1, 2 * LINES[-1], 2)
LAG = DELAY + 2 * DAMPING / (2 * math.pi * NATURAL)


def system(f: np.ndarray | float) -> np.ndarray:
    """Second order with a dead time."""
    s = np.asarray(f) * 1j
    return np.asarray(np.exp(-2 * np.pi * s * DELAY) / (1 + 2 * DAMPING * s / NATURAL + (s / NATURAL) ** 2))


def signals(
    seed: int,
    noise: float = 0.3,
    distortion: float = 0.0,
    gain: np.ndarray | None = None,
    realizations: int = REALIZATIONS,
) -> tuple[np.ndarray, np.ndarray]:
    """A multisine's realisations with something else in between, and what a system makes of it, (n,) both.

    distortion: rms of a stochastic one at every odd multiple, new in every realisation.
    """
    random = np.random.default_rng(seed)
    H = system(FREQUENCIES) if gain is None else gain
    inputs: list[np.ndarray] = []
    outputs: list[np.ndarray] = []
    for _ in range(realizations):
        u = np.zeros(SAMPLES // 2 + 1, np.complex128)
        u[LINES] = 0.5 * SAMPLES * np.exp(2j * np.pi * random.random(len(LINES)))
        y = np.zeros_like(u)
        y[LINES] = H * u[LINES]
        y[ODD] += 0.5 * SAMPLES * distortion * (random.normal(size=(len(ODD), 2)) @ [1.0, 1j]) / math.sqrt(2.0)
        for into, spectrum in ((inputs, u), (outputs, y)):
            into += [np.tile(np.fft.irfft(spectrum), PERIODS), random.normal(size=37)]
    output = np.concatenate(outputs)
    return np.concatenate(inputs), output + random.normal(0.0, noise, len(output))


def found(u: np.ndarray, y: np.ndarray) -> Response:
    return well_excited(frequency_response(u, y, u, RATE))


def distances(fit: ResponseFit) -> list[float]:
    """Errors of lag, dead time, natural frequency and damping, each over its standard uncertainty."""
    names = {"lag": LAG, "dead_time": DELAY, "natural_frequency": NATURAL, "damping": DAMPING}
    return [(getattr(fit, name) - true) / getattr(fit, f"{name}_sigma") for name, true in names.items()]


@cache
def many(noise: float, distortion: float) -> tuple[np.ndarray, np.ndarray]:
    """Over 40 seeds: distances of the parameters (40, 4), and squares of the lines' errors over sigma² (40, k).

    Of the best linear approximation, which is the linear system here: without what an odd non-linearity would add.
    """
    z, lines = [], []
    for seed in range(40):
        response = found(*signals(seed, noise, distortion))
        assert response.realizations == REALIZATIONS and response.grid is Grid.ODD
        unbiased = replace(response, bias=np.zeros_like(response.bias))
        z.append(distances(fit_response(unbiased, structures=(Structure.SECOND,))))
        lines.append(np.abs(response.gain - system(FREQUENCIES)) ** 2 / response.sigma**2)
    return np.array(z), np.array(lines)


@pytest.mark.parametrize(("noise", "distortion"), [(0.3, 0.0), (0.1, 0.03)])
def test_the_stated_uncertainty_is_what_errors_are(noise: float, distortion: float) -> None:
    """Of noise, and of stochastic distortion, which averages over realisations only."""
    z, lines = many(noise, distortion)
    assert np.sqrt((z**2).mean()) == pytest.approx(0.95, abs=0.13)
    assert np.sqrt(lines.mean()) == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(z) < 2.0) > 0.9


def test_structure_and_bandwidth_of_a_known_system() -> None:
    level = abs(system(FREQUENCIES[0])) / math.sqrt(2.0)
    true = brentq(lambda f: float(abs(system(f))) - float(level), 5.0, 40.0)
    for seed in range(3):
        response = found(*signals(seed))
        fit = fit_response(response)
        assert fit.verdict is Verdict.FITS and fit.structure is Structure.SECOND and not fit.notes
        assert np.abs(distances(fit)).max() < 4.0 and fit.probability > 0.01
        reached = response.bandwidth()
        assert reached is not None and reached[0] == pytest.approx(true, abs=4.0 * reached[1]) and reached[1] < 0.3


def test_detection_lines_separate_distortion_from_noise() -> None:
    silent, loud = (found(*signals(1, 0.1, part)) for part in (0.0, 0.03))
    assert silent.distortion is not None and loud.distortion is not None
    assert not silent.distortion.odd_found and not silent.distortion.even_found
    assert loud.distortion.odd_found and not loud.distortion.even_found
    odd = ~loud.distortion.even
    assert np.sqrt((loud.distortion.level[odd] ** 2).mean()) == pytest.approx(0.5 * 0.03, rel=0.1)
    assert np.sqrt(np.mean(loud.sigma**2 / loud.noise**2)) > 5.0 and not silent.bias.max() > 0.2 * loud.bias.max()
    u, y = signals(1, 0.1)
    even = found(u, y + 0.05 * u**2).distortion
    assert even is not None and even.even_found and even.even_part > 0.01 and even.odd_part < 0.2 * even.even_part
    one = found(*signals(2, 0.1, 0.03, realizations=1))
    assert one.distortion_known and np.sqrt(np.mean(one.sigma**2 / loud.sigma**2)) == pytest.approx(6**0.5, rel=0.3)


def drives(seed: int, corner: float, damping: float, delay: float, friction: float) -> tuple[np.ndarray, np.ndarray]:
    """Commanded and measured position of a drive's loop with Coulomb friction, N over its stiffness, integrated."""
    spec = multisine("z", 1.0, 30.0, 1.0, 1.0, PERIODS, seed, realizations=REALIZATIONS, odd=True)
    home = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    trajectory = build_trajectory(TrajectorySpec.model_validate(spec), home)
    steps = 4
    t = np.arange(0.0, trajectory.duration, 1.0 / (RATE * steps))
    omega, h = 2.0 * math.pi * corner, 1.0 / (RATE * steps)
    command = trajectory.motion(np.maximum(t + 0.5 * h - delay, 0.0))[:, 2]
    x = v = 0.0
    damped = damping * omega * h
    measured = np.empty(len(t))
    for at, wanted in enumerate(command.tolist()):
        measured[at] = x
        x += 0.5 * h * v
        v = (v * (1.0 - damped) + h * omega**2 * (wanted - x - friction * math.tanh(v / 0.1))) / (1.0 + damped)
        x += 0.5 * h * v
    noise = np.random.default_rng(seed).normal(0.0, 1e-3, len(t[::steps]))
    return trajectory.motion(t[::steps])[:, 2], measured[::steps] + noise


def test_friction_s_bias_is_in_the_uncertainty_of_a_position_drive() -> None:
    z: list[float] = []
    blind: list[float] = []
    cases = [(8.0, 0.6, 0.003), (12.0, 0.8, 0.006), (15.0, 0.5, 0.002)]
    for seed, (corner, damping, delay) in enumerate(cases):
        response = found(*drives(seed, corner, damping, delay, 0.01))
        assert response.distortion is not None and response.distortion.odd_found
        for into, one in ((z, response), (blind, replace(response, bias=np.zeros_like(response.bias)))):
            fit = fit_response(one, structures=(Structure.SECOND,))
            assert fit.natural_frequency and fit.natural_frequency_sigma and fit.damping and fit.damping_sigma
            into.append((fit.natural_frequency - corner) / fit.natural_frequency_sigma)
            into.append((fit.damping - damping) / fit.damping_sigma)
    assert np.abs(z).max() < 2.0
    assert np.abs(blind).max() > 4.0, "friction adds damping that no scatter between realisations shows"


def held_drive(corner: float, delay: float, commands: np.ndarray) -> np.ndarray:
    """Samples of a drive's force on commands that go out with the next cycle and are held, in small steps."""
    small = 200
    held = np.repeat(np.concatenate([[0.0], commands[:-1]]), small)
    late = round(delay * RATE * small)
    held = np.concatenate([np.zeros(late), held[: len(held) - late]])
    kept = math.exp(-2.0 * math.pi * corner / (RATE * small))
    from scipy.signal import lfilter

    out: np.ndarray = lfilter([0.0, 1.0 - kept], [1.0, -kept], held)
    return out[::small]


@pytest.mark.parametrize(("corner", "delay"), [(100.0, 0.0004), (60.0, 0.0031), (150.0, 0.0017)])
def test_a_held_command_s_drive_is_found_without_its_hold(corner: float, delay: float) -> None:
    """Corner and dead time of the drive alone: one cycle to the exchange, and the hold, are known."""
    u, _ = signals(4, realizations=3)
    y = held_drive(corner, delay, u) + np.random.default_rng(5).normal(0.0, 0.02, len(u))
    fit = fit_response(found(u, y), CommandHold(1.0 / RATE))
    assert fit.structure is Structure.FIRST and fit.transport == 1.5 / RATE
    assert fit.corner and fit.corner_sigma and fit.corner_sigma < 0.05 * corner and fit.dead_time_sigma is not None
    assert fit.corner == pytest.approx(corner, abs=3.5 * fit.corner_sigma)
    assert fit.dead_time == pytest.approx(delay, abs=3.5 * fit.dead_time_sigma)


def test_what_friction_adds_is_taken_out_by_its_shape_and_its_doubt_is_carried() -> None:
    gain = system(FREQUENCIES)
    shape = 0.2 * np.exp(1j * 0.3) / (1.0 + 1j * FREQUENCIES / 2.0)
    response = found(*signals(7, 0.1, gain=gain + 0.3 * shape))
    known = fit_response(response, nuisances=[Nuisance("coulomb", shape, 0.2)])
    assert known.nuisances is not None and known.structure is Structure.SECOND
    factor, sigma = known.nuisances["coulomb"]
    assert factor == pytest.approx(0.3, abs=4.0 * sigma) and sigma < 0.05
    assert np.abs(distances(known)).max() < 4.0
    ignored = fit_response(response, structures=(Structure.SECOND,))
    assert ignored.verdict is Verdict.NO_MODEL_FITS and ignored.dead_time is None and ignored.lag is None
    assert ignored.probability < 1e-3 and ignored.chi_square > 2.0


def test_no_model_is_reported_where_none_fits() -> None:
    resonant = system(FREQUENCIES) + 0.5 / (1 + 0.02j * FREQUENCIES / 6.0 - (FREQUENCIES / 6.0) ** 2)
    fit = fit_response(found(*signals(3, 0.1, gain=resonant)))
    assert fit.verdict is Verdict.NO_MODEL_FITS and fit.chi_square > 10.0 and fit.structure is None
    assert fit.dead_time is None and fit.natural_frequency is None and fit.corner is None
    assert len(fit.candidates) == len(Structure)


def test_a_dead_time_is_not_negative_and_its_bound_is_a_note() -> None:
    early = np.exp(2j * np.pi * FREQUENCIES * 1e-3) / (1 + 1j * FREQUENCIES / 10.0)
    fit = fit_response(found(*signals(1, 3.0, gain=early)), structures=(Structure.FIRST,))
    assert fit.dead_time == 0.0 and Note.DEAD_TIME_AT_BOUND in fit.notes and fit.dead_time_sigma
    assert fit.dead_time_sigma > 1e-4


def test_a_pure_delay_is_nothing_more_and_a_corner_beyond_the_band_is_bounded() -> None:
    u, _ = signals(0)
    y = np.roll(u, 3) + np.random.default_rng(1).normal(0.0, 0.1, len(u))
    fit = fit_response(found(u, y))
    assert fit.structure is Structure.DELAY and fit.corner is None and Note.CORNER_UNRESOLVED in fit.notes
    assert fit.corner_above is not None and fit.corner_above > 300.0
    assert fit.dead_time_sigma is not None and fit.dead_time_sigma < 5e-4
    assert fit.dead_time == pytest.approx(3.0 / RATE, abs=4.0 * fit.dead_time_sigma)


def test_a_chirp_is_averaged_by_welch() -> None:
    t = np.arange(20_000) / RATE
    u = np.sin(2 * np.pi * (0.5 * t % 10 + 0.15 * (t % 10) ** 2))
    rolled = np.concatenate([np.zeros(5), u[:-5]]) + np.random.default_rng(2).normal(0.0, 0.05, len(u))
    source = u + 1e-4 * t  # which never repeats itself
    response = well_excited(frequency_response(source, rolled, source, RATE), (1.0, 3.0))
    assert not response.periodic and not response.distortion_known
    fit = fit_response(response, structures=(Structure.DELAY,))
    assert Note.DISTORTION_UNKNOWN in fit.notes
    assert np.median(-response.phase / (2 * np.pi * response.frequency)) == pytest.approx(5 / RATE, abs=1e-3)


def test_what_is_not_excited_is_named() -> None:
    u, y = signals(0)
    with pytest.raises(InputError, match=r"not enough excitation at 60\.5 to 80 Hz"):
        well_excited(frequency_response(u, y, u, RATE), (3.0, 80.0))
    t = np.arange(4000) / RATE
    one = np.sin(2 * np.pi * 0.5 * t)
    with pytest.raises(InputError, match=r"1 frequencies \(0.5 Hz\), at least 5"):
        found(one, one)
    drowned = np.random.default_rng(0).normal(0.0, 50.0, len(u))
    with pytest.raises(InputError, match="not enough excitation"):
        well_excited(frequency_response(u, drowned, u, RATE), (3.0, 40.0))


@pytest.mark.parametrize(("realizations", "periods"), [(1, 4), (3, 2)])
def test_the_multisine_repeats_itself_between_its_fades(realizations: int, periods: int) -> None:
    spec = multisine("ry", 0.5, 20.0, 0.02, PERIOD, periods, realizations=realizations)
    home = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0])
    trajectory = build_trajectory(TrajectorySpec.model_validate(spec), home)
    t = np.arange(0.0, trajectory.duration, 1 / RATE)
    angle = 2.0 * trajectory.motion(t)[:, 5]
    steady = steady_stretches(angle)
    assert steady is not None and steady[1] == SAMPLES
    assert [one.stop - one.start for one in steady[0]] == [periods * SAMPLES] * realizations
    assert 0.015 < np.abs(angle).max() < 0.021
    phases = {tuple(term["phase"] for term in part["terms"]) for part in spec["parts"]}
    sizes = {tuple(term["amplitude"] for term in part["terms"]) for part in spec["parts"]}
    assert len(phases) == realizations and len(sizes) == 1


def test_a_random_odd_grid_leaves_odd_lines_out() -> None:
    terms = multisine("z", 0.5, 30.0, 0.01, 4.0, 2, 3, odd=True)["parts"][0]["terms"]
    numbers = [round(4.0 * term["frequency"]) for term in terms]
    assert all(number % 2 for number in numbers) and numbers[0] == 3
    early = set(range(3, 41, 2)) - set(numbers)
    assert 3 <= len(early) <= 8, "one of four neighbours"
    other = multisine("z", 0.5, 30.0, 0.01, 4.0, 2, 4, odd=True)["parts"][0]["terms"]
    assert [term["frequency"] for term in other] != [term["frequency"] for term in terms]


def test_a_multisine_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="longer period"):
        multisine("z", 0.6, 0.7, 0.01, 2.0, 4)
    with pytest.raises(InputError, match="at least 2"):
        multisine("z", 0.5, 10.0, 0.01, 2.0, 1)
    with pytest.raises(InputError, match="realizations: 0, must be at least 1"):
        multisine("z", 0.5, 10.0, 0.01, 2.0, 2, realizations=0)
    with pytest.raises(InputError, match=r"odd multiples of 1 Hz from 1 to 8 Hz are left, at least 5"):
        multisine("z", 1.0, 8.0, 0.01, 1.0, 2, odd=True)
