"""Sea waves and roads: the energy of their spectra, and the plane that a raft or a vehicle lies in."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from scipy.signal import welch

from kinematics import Harmonic, HarmonicTerm, build_trajectory
from rig.analysis import ROAD_CLASSES, response_spectrum, road_height, road_terms, sea_terms, wave_spectrum
from rig.client import TEMPLATES, checked_motion, template_motion
from rig.errors import InputError

SEA = ("x", "y", "z", "rx", "ry")
TIMES = np.linspace(30.0, 70.0, 2001)  # s, between the fades


def moved(terms: list[dict[str, Any]], times: Any = TIMES) -> Any:
    """Coordinates (n, 6) of the terms, without fades."""
    return Harmonic([HarmonicTerm(**term) for term in terms], 100.0, 10.0).coordinates(times)[0]


@pytest.mark.parametrize("spectrum", ["JONSWAP", "Pierson-Moskowitz"])
def test_a_sea_has_the_energy_and_the_peak_of_its_spectrum(spectrum: Any) -> None:
    f = np.linspace(0.01, 10.0, 200_001)
    density = wave_spectrum(f, 2.0, 5.0, spectrum)
    assert np.trapezoid(density, f) == pytest.approx(2.0**2 / 16.0, rel=0.01)
    assert f[np.argmax(density)] == pytest.approx(0.2, rel=0.01)
    terms = sea_terms(("z",), 2.0, 5.0, 0.3, spectrum, 7, 100)
    assert sum(term["amplitude"] ** 2 for term in terms) / 2.0 == pytest.approx(2.0**2 / 16.0, rel=1e-12)
    found = np.sort([term["frequency"] for term in terms])
    inside = np.interp(found, f, np.cumsum(density) / density.sum())
    np.testing.assert_allclose(inside, (np.arange(100) + 0.5) / 100.0, atol=0.012)


def test_a_drawn_sea_has_its_height_and_its_peak() -> None:
    """Estimated from the record alone: 4 √m₀, and the peak of Welch's spectrum."""
    times = np.arange(0.0, 2000.0, 0.25)
    for spectrum, seed in (("JONSWAP", 1), ("Pierson-Moskowitz", 2)):
        terms = sea_terms(("z",), 3.0, 8.0, 0.0, spectrum, seed, 100)  # type: ignore[arg-type]
        made = Harmonic([HarmonicTerm(**term) for term in terms], 4000.0, 10.0).coordinates(100.0 + times)[0][:, 2]
        assert 4.0 * made.std() == pytest.approx(3.0, rel=0.03)
        frequency, density = welch(made, 4.0, nperseg=512)
        wide = np.convolve(density, np.ones(5) / 5.0, "same")
        assert 1.0 / frequency[np.argmax(wide)] == pytest.approx(8.0, rel=0.12)
        assert 4.0 * np.sqrt(np.trapezoid(density, frequency)) == pytest.approx(3.0, rel=0.05)


def test_a_drawn_road_has_the_density_of_its_class() -> None:
    """Welch's estimate of the profile along the way, in thirds of its band, against G_d(n) = G_d(0.1) (n/0.1)⁻²."""
    speed, density = 20.0, ROAD_CLASSES["C"]
    terms = road_terms(("z",), density, speed, 1e-3, 1e-3, (0.5, 16.0), 3, 100)
    times = np.arange(0.0, 600.0, 0.02)
    profile = Harmonic([HarmonicTerm(**term) for term in terms], 1000.0, 10.0).coordinates(100.0 + times)[0][:, 2]
    n, found = welch(profile, 1.0 / (0.02 * speed), nperseg=2048)
    edges = np.geomspace(0.5, 16.0, 6) / speed
    for low, high in pairwise(edges.tolist()):
        inside = (n >= low) & (n < high)
        energy = density * 0.01 * (1.0 / low - 1.0 / high)
        assert found[inside].sum() * n[1] == pytest.approx(energy, rel=0.15)


@pytest.mark.parametrize("heading", [0.0, 0.7, -2.5])
def test_a_raft_lies_on_the_surface_of_the_waves(heading: float) -> None:
    """Against the elevation ζ(x, y, t) and the orbits of Airy's waves, written out."""
    terms = sea_terms(SEA, 0.02, 3.0, heading, "JONSWAP", 3, 100)
    waves = [term for term in terms if term["dof"] == "z"]
    q = moved(terms)

    def elevation(x: float, y: float) -> Any:
        along, total = x * math.cos(heading) + y * math.sin(heading), 0.0
        for wave in waves:
            omega = 2.0 * math.pi * wave["frequency"]
            k = omega**2 / 9.80665
            total = total + wave["amplitude"] * np.cos(k * along - omega * TIMES - (wave["phase"] - 0.5 * math.pi))
        return total

    h = 1e-4
    np.testing.assert_allclose(q[:, 2], elevation(0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(q[:, 3], (elevation(0.0, h) - elevation(0.0, -h)) / (2.0 * h), atol=1e-8)
    np.testing.assert_allclose(-q[:, 4], (elevation(h, 0.0) - elevation(-h, 0.0)) / (2.0 * h), atol=1e-8)
    orbit = q[:, 0] * math.cos(heading) + q[:, 1] * math.sin(heading)
    speed = np.gradient(orbit, TIMES)  # largest at a crest, in the direction of travel
    assert np.corrcoef(speed, q[:, 2])[0, 1] > 0.9


def test_waves_that_do_not_move_an_axis_are_refused() -> None:
    with pytest.raises(InputError, match="heading: 0 °, waves from there do not move rx"):
        sea_terms(("rx",), 0.1, 3.0, 0.0, "JONSWAP", 1, 100)


def test_wheels_follow_the_profile_one_after_the_other() -> None:
    wheelbase, track, speed = 2.7, 1.5, 15.0
    terms = road_terms(("z", "rx", "ry"), ROAD_CLASSES["C"], speed, wheelbase, track, (0.5, 8.0), 5, 100)
    later = TIMES + wheelbase / speed
    now, then = moved(terms), moved(terms, later)
    front, rear = now[:, 2] - 0.5 * wheelbase * now[:, 4], then[:, 2] + 0.5 * wheelbase * then[:, 4]
    np.testing.assert_allclose(rear, front, atol=1e-12)
    assert np.ptp(front) > 1e-3


def test_a_road_has_the_density_of_its_class_and_its_tracks_their_coherence() -> None:
    speed, band = 20.0, (0.5, 10.0)
    density = ROAD_CLASSES["B"]
    point = road_terms(("z",), density, speed, 1e-3, 1e-3, band, 1, 100)
    assert sum(term["amplitude"] ** 2 for term in point) / 2.0 == pytest.approx(
        road_height(density, speed, band) ** 2, rel=1e-4
    )
    n = np.linspace(band[0] / speed, band[1] / speed, 100_001)
    assert road_height(density, speed, band) ** 2 == pytest.approx(
        np.trapezoid(density * (n / 0.1) ** -2.0, n), rel=1e-6
    )
    assert [round(1e6 * value) for value in ROAD_CLASSES.values()] == [16 * 4**place for place in range(8)]
    wide = road_terms(("z", "rx"), density, speed, 1e-3, 50.0, band, 1, 100)
    z, roll = (sum(term["amplitude"] ** 2 for term in wide if term["dof"] == dof) for dof in ("z", "rx"))
    assert z == pytest.approx((0.5 * 50.0) ** 2 * roll, rel=1e-3)  # tracks far apart: incoherent


def test_a_class_of_road_has_its_height_and_passes_or_is_refused() -> None:
    road = TEMPLATES["road"]
    motions = [
        build_trajectory(template_motion(road.model_validate({"road": name})), VIRTUAL.machine.geometry.home_pose)
        for name in ("A", "E")
    ]
    times = np.linspace(3.0, 17.0, 2001)
    heights = [motion.coordinates(times)[0][:, 2].std() for motion in motions]
    assert heights[1] == pytest.approx(16.0 * heights[0], rel=1e-9)
    assert [checked_motion(VIRTUAL, motion)[1].passed for motion in motions] == [True, False]
    with pytest.raises(InputError, match="from: 9 Hz, must be above 0 and below 8 Hz"):
        template_motion(road.model_validate({"start": 9.0, "height": 0.01}))


# -- response spectra --------------------------------------------------------------------------------------------------


def test_a_response_spectrum_is_that_of_an_oscillator_in_closed_form() -> None:
    """A constant acceleration from rest: u = −a/ω² (1 − e^(−ζωt)(cos ω_d t + ζ/√(1−ζ²) sin ω_d t))."""
    periods, zeta = np.array([0.05, 0.3, 1.0, 2.0]), 0.05
    given = np.column_stack([np.full(1001, 2.0), np.full(1001, -1.0)])
    found = response_spectrum(given, 0.002, periods, zeta)
    root = np.sqrt(1.0 - zeta**2)
    turn = np.outer(0.002 * np.arange(1001), 2.0 * np.pi / periods)
    closed = 1.0 - np.exp(-zeta * turn) * (np.cos(root * turn) + zeta / root * np.sin(root * turn))
    np.testing.assert_allclose(found, np.outer(closed.max(axis=0), [2.0, 1.0]), rtol=1e-9)
    assert found[2, 1] == pytest.approx(1.0 + np.exp(-np.pi * zeta / root), rel=1e-5)


def test_a_response_spectrum_at_resonance_is_one_over_twice_the_damping() -> None:
    t = np.arange(0.0, 40.0, 0.005)
    found = response_spectrum(np.sin(2.0 * np.pi * t)[:, None], 0.005, [0.1, 1.0, 10.0], 0.05)
    assert found[1, 0] == pytest.approx(10.0, rel=5e-3)
    assert found[0, 0] == pytest.approx(1.0 / (1.0 - 0.01), rel=0.04)
    for step, periods, damping in ((0.0, [1.0], 0.05), (0.01, [0.0], 0.05), (0.01, [1.0], 1.0)):
        with pytest.raises(InputError):
            response_spectrum(np.ones((10, 1)), step, periods, damping)
