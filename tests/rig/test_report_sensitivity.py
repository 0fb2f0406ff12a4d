"""What of a residual goes with each term of the model: false alarms, power, and the verdicts that follow from it."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED
from validated import Floats, header_with, make_running, ran

from calibration import Parameter, ParameterFile, ReadingsUncertainty
from dynamics import Drive, Dynamics, Friction, LoadCell, Mechanism, format_mechanism, load_mechanism
from dynamics.papers import variant_cells
from kinematics import Harmonic, HarmonicTerm, Placement
from rig.config import PROPOSED, Validation, parse_thresholds
from rig.recording import Recording
from rig.report import summarize, summary_lines
from rig.report.validation import judged, validate
from rig.report.validation.band import Samples
from rig.report.validation.sensitivity import sensitivity
from rig.report.validation.spectra import Octaves
from rig.states import State

LAB = load_mechanism("lab-hexapod")
NOISE, RATE, COUNT = 0.5, 500.0, 3000
HIGHER = np.array([0.0, 0.0, 0.004])
WANTED = {name: value for name, value in PROPOSED.items() if name != "lag"}


def moving(amplitude: float = 1.0, speed: float = 1.0) -> Floats:
    sizes = {"x": 0.02, "y": 0.022, "z": 0.015, "rx": 0.09, "ry": 0.09, "rz": 0.1}
    frequencies = (0.9, 0.7, 1.1, 0.8, 1.0, 0.6)
    terms = [
        HarmonicTerm(dof, amplitude * size, speed * f, 0.7 * f * place)
        for place, ((dof, size), f) in enumerate(zip(sizes.items(), frequencies, strict=True))
    ]
    path = Harmonic(terms, 20.0, 1.0, placement=Placement("home", home=LAB.geometry.home_pose))
    return path.motion(1.0 + np.arange(COUNT) / RATE)


MOTIONS = moving()
CELLS = Dynamics(LAB, 1e-3).cells(MOTIONS)
BLOCKS = np.arange(COUNT) * 20 // COUNT


def coloured(random: np.random.Generator, remembered: float, count: int = COUNT) -> Floats:
    """Noise (n, 6), N, of standard deviation NOISE; each value remembers that part of the one before."""
    fresh = random.normal(0.0, NOISE, (count, 6))
    for place in range(1, count if remembered else 0):
        fresh[place] = remembered * fresh[place - 1] + np.sqrt(1 - remembered**2) * fresh[place]
    return fresh


def found(residuals: Floats, files: tuple[ParameterFile, ...] = ()) -> dict[tuple[str, int | None], dict[str, Any]]:
    lengths = np.zeros((COUNT, 6))
    slopes = np.gradient(CELLS, 1 / RATE, axis=0)
    samples = Samples(
        np.arange(COUNT) / RATE, MOTIONS, residuals, lengths, lengths, slopes, np.zeros((COUNT, 3, 6)), BLOCKS
    )
    terms = sensitivity(samples, LAB, NOISE, ReadingsUncertainty(LAB, files, 1e-3), 1e-3)["terms"]
    return {(one["term"], one["leg"]): one for one in terms}


def recorded(
    measured: Floats, model: Mechanism = LAB, changes: dict[str, Any] | None = None, /, **wanted: float
) -> Recording:
    """A recording of MOTIONS on a rig whose engine computes with this model."""
    modelled = Dynamics(model, 1e-3).cells(MOTIONS)
    rows = make_running(measured, modelled)
    rows["t"], rows["reference"] = np.arange(COUNT) / RATE, MOTIONS
    config = SHIPPED.changed({"validation": wanted}).changed(changes or {}).resolved()
    header = header_with() | {"config": config, "mechanism": format_mechanism(model)}
    return Recording(Path("run.mcap"), header, rows, (), dropped=0, complete=True, closing={}, motions=(ran(COUNT),))


def verdict(recording: Recording) -> dict[str, Any]:
    return validate(recording, summarize(recording))


def test_each_coefficient_is_the_error_of_its_term_and_has_its_sign() -> None:
    fresh = coloured(np.random.default_rng(1), 0.0)
    errors: list[tuple[tuple[str, int | None], float, Mechanism]] = [
        (("platform mass", None), 0.03, replace(LAB, mass=1.03 * LAB.mass)),
        (("platform rotational inertia", None), 0.5, replace(LAB, inertia=1.5 * LAB.inertia)),
        (("gravity", None), -0.05, replace(LAB, gravity=0.95 * LAB.gravity)),
        (("centre of mass z", None), 0.004, replace(LAB, center_of_mass=LAB.center_of_mass + HIGHER)),
    ]
    for name, error, machine in errors:
        told = found(Dynamics(machine, 1e-3).cells(MOTIONS) - CELLS + fresh)[name]
        assert abs(told["coefficient"] - error) < 4.0 * told["sigma"] < 0.5 * abs(error), name
    gained = CELLS.copy()
    gained[:, 2] *= 1.01
    told = found(gained - CELLS + fresh)["cell gain", 3]
    assert abs(told["coefficient"] - 0.01) < 4.0 * told["sigma"] < 0.005


def test_an_error_of_the_rotors_shows_where_motors_currents_are_read() -> None:
    def driven(inertia: float, cell: LoadCell) -> Mechanism:
        return replace(LAB, legs=tuple(replace(leg, drive=Drive(inertia, 5e-3), load_cell=cell) for leg in LAB.legs))

    fresh = coloured(np.random.default_rng(1), 0.0)
    terms = {}
    for cell in (LoadCell("motor"), LoadCell("rod_end")):
        measured = Dynamics(driven(1.1e-5, cell), 1e-3).cells(MOTIONS) + fresh
        found = verdict(recorded(measured, driven(1e-5, cell)))["sensitivity"]["terms"]
        terms[cell.location] = {one["term"]: one for one in found}
    told = terms["motor"]["drive inertia"]
    assert abs(told["coefficient"] - 0.1) < 4.0 * told["sigma"] < 0.03
    assert "drive inertia" not in terms["rod_end"]


@pytest.mark.parametrize("remembered", [0.0, 0.98])
def test_errors_of_coefficients_are_as_their_sigmas_say(remembered: float) -> None:
    """Of noise that remembers a tenth of a second: as if it were white, they would be ten times too small."""
    random = np.random.default_rng(7)
    errors: list[float] = []
    for _ in range(8):
        told = found(coloured(random, remembered))
        errors += [one["coefficient"] / one["sigma"] for one in told.values()]
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.35
    assert np.mean(np.abs(errors) > 2.1) < 0.12  # of Student's t of 19 degrees 5 %


def test_offset_lag_and_what_does_not_move_the_cells_are_no_error_of_a_term() -> None:
    offset = found(np.full_like(CELLS, 0.7))
    late = found(-2e-3 * np.gradient(CELLS, 1 / RATE, axis=0))
    for told in (offset, late):
        assert max(abs(one["coefficient"]) / one["sigma"] for one in told.values()) < 0.5
    assert found(0.0 * CELLS)["friction", None]["whole_n"] < 0.2 * NOISE  # cells beyond the drive's friction


def test_octaves_hold_white_noise_alike_and_a_slow_residual_where_it_is() -> None:
    residuals = coloured(np.random.default_rng(3), 0.0, 8192)
    octaves, pieces = Octaves(), Octaves()
    octaves.add(residuals, continues=False)
    for first in range(0, 8192, 1000):
        pieces.add(residuals[first : first + 1000], continues=first > 0)
    bands = octaves.bands(RATE)
    assert bands == [{**one, "rms_n": pytest.approx(one["rms_n"])} for one in pieces.bands(RATE)]
    assert sum(band["freedom"] for band in bands) == 8191
    for band in bands:
        squares = np.square(band["rms_n"]) / NOISE**2 * band["freedom"]
        assert abs(squares.mean() - band["freedom"]) < 4.0 * np.sqrt(2.0 * band["freedom"] / 6)
    slow = Octaves()
    slow.add(residuals + 0.3 * np.sin(2 * np.pi * np.arange(8192) / RATE)[:, np.newaxis], continues=False)
    ratios = [max(band["rms_n"]) / NOISE for band in slow.bands(RATE)]
    assert max(ratios[:3]) > 2.0 and max(ratios[5:]) < 1.2


def test_a_right_model_passes_and_says_what_it_would_have_noticed() -> None:
    random = np.random.default_rng(11)
    for _ in range(3):
        result = verdict(recorded(CELLS + coloured(random, 0.0), **WANTED))
        assert result["verdict"] == "pass", result["reasons"]
    by_term = {(one["term"], one["leg"]): one for one in result["noticed"]}
    mass = by_term["platform mass", None]
    assert mass["absolute_unit"] == "kg" and mass["absolute"] == pytest.approx(18.0 * mass["error"])
    assert mass["error"] < 0.03 and by_term["cell gain", 3]["error"] < 0.01
    weak = {one["term"]: one for one in verdict(recorded(CELLS + coloured(random, 0.0), r_squared=0.99))["noticed"]}
    assert (weak["platform rotational inertia"]["error"] or 9.0) > 1.0  # doubled it is not failed
    assert any(line.startswith("notices") and "kg of the platform's mass" in line for line in _said(result))


def _said(result: dict[str, Any]) -> list[str]:
    return summary_lines({"validation": result, "force": {}})


@pytest.mark.parametrize("wanted", [{"mass_error": 0.02}, {"residual_noise": 1.3}])
def test_the_power_of_the_thresholds_is_as_stated(wanted: dict[str, float]) -> None:
    random = np.random.default_rng(5)
    (error,) = (
        one["error"] for one in verdict(recorded(CELLS + coloured(random, 0.0), **wanted))["noticed"]
        if one["term"] == "platform mass"
    )  # fmt: skip
    words = []
    for _ in range(5):
        machine = replace(LAB, mass=(1.0 + error) * LAB.mass)
        words.append(verdict(recorded(Dynamics(machine, 1e-3).cells(MOTIONS) + coloured(random, 0.0), **wanted)))
    assert (
        np.mean([one["verdict"] == "fail" for one in words]) >= 0.8
    )  # 95 % is told; fewer than four of five are not chance


def _tilted(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, gravity=9.80665 * np.array([np.sin(0.03), 0.0, -np.cos(0.03)]))


WRONG: dict[str, tuple[Mechanism, str]] = {
    "inertia": (replace(LAB, inertia=1.5 * LAB.inertia), "inertia_error"),
    "mass": (replace(LAB, mass=1.03 * LAB.mass), "mass_error"),
    "gravity's direction": (_tilted(LAB), "gravity_error"),
    "gravity's size": (replace(LAB, gravity=0.97 * LAB.gravity), "gravity_error"),
    "centre": (replace(LAB, center_of_mass=LAB.center_of_mass + HIGHER), "center_error"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_model_fails_by_its_term_where_r_squared_does_not_fail_it(name: str) -> None:
    model, by = WRONG[name]
    measured = CELLS + coloured(np.random.default_rng(2), 0.0)
    result = verdict(recorded(measured, model, r_squared=0.8, **WANTED))
    failed = {one["name"]: one for one in result["criteria"] if one["verdict"] == "fail"}
    assert result["verdict"] == "fail" and by in failed
    assert failed[by]["code"] == "exceeded" and failed[by]["term"]
    assert "r_squared" not in failed


@pytest.mark.parametrize("variant", ["dasgupta-1998", "pedrammehr-2012", "massless"])
def test_a_machine_that_is_as_a_published_model_fails_the_exact_one(variant: str) -> None:
    measured = variant_cells(variant, LAB, MOTIONS) + coloured(np.random.default_rng(4), 0.0)
    assert verdict(recorded(measured, **WANTED))["verdict"] == "fail"


def test_a_gain_that_is_one_per_cent_off_fails_by_its_cell() -> None:
    measured = CELLS * [1.0, 1.0, 1.0, 1.01, 1.0, 1.0] + coloured(np.random.default_rng(6), 0.0)
    (criterion,) = verdict(recorded(measured, gain_error=0.005))["criteria"]
    assert (criterion["verdict"], criterion["term"], criterion["leg"]) == ("fail", "cell gain", 4)


def test_friction_counts_where_cells_read_it() -> None:
    bare = tuple(replace(leg, load_cell=LoadCell()) for leg in LAB.legs)
    machine = replace(LAB, legs=bare)
    less = (replace(leg, friction=Friction(0.016, 28.0, 0.008, 3.2)) for leg in bare)
    without = replace(LAB, legs=tuple(less))
    measured = Dynamics(machine, 1e-3).cells(MOTIONS) + coloured(np.random.default_rng(8), 0.0)
    assert verdict(recorded(measured, machine, **WANTED))["verdict"] == "pass"
    result = verdict(recorded(measured, without, friction_error=0.05))
    assert result["verdict"] == "fail" and result["criteria"][0]["value"] == pytest.approx(0.25, abs=0.08)
    (rod,) = verdict(recorded(CELLS + coloured(np.random.default_rng(8), 0.0), friction_error=0.2))["criteria"]
    assert (rod["verdict"], rod["code"]) == ("pass", "negligible")


def test_what_a_motion_does_not_tell_is_undecided() -> None:
    still = moving(0.02)
    forces = Dynamics(LAB, 1e-3).cells(still)
    rows = make_running(forces + coloured(np.random.default_rng(9), 0.0), forces)
    rows["t"], rows["reference"] = np.arange(COUNT) / RATE, still
    recording = replace(recorded(CELLS, inertia_error=0.1, mass_error=0.02), rows=rows)
    assert {one["verdict"] for one in verdict(recording)["criteria"]} == {"undecided"}


def test_an_inertia_that_a_slow_motion_does_not_show_is_undecided() -> None:
    slow = moving(speed=0.05)
    forces = Dynamics(LAB, 1e-3).cells(slow)
    rows = make_running(forces + coloured(np.random.default_rng(9), 0.0), forces)
    rows["t"], rows["reference"] = np.arange(COUNT) / RATE, slow
    (inertia,) = verdict(replace(recorded(CELLS, inertia_error=0.1), rows=rows))["criteria"]
    assert (inertia["verdict"], inertia["code"]) == ("undecided", "negligible")


def mass_file(sigma: float) -> ParameterFile:
    mass = Parameter("platform.mass", "kg", 18.0, 18.54, sigma)
    return ParameterFile("inertia", date(2026, 1, 1), "lab-hexapod", (mass,))


def test_a_model_that_is_off_within_its_stated_uncertainty_does_not_fail() -> None:
    model = replace(LAB, mass=18.54)
    recording = recorded(CELLS + coloured(np.random.default_rng(10), 0.0), model, **WANTED)
    summary = summarize(recording)
    loose = validate(recording, summary, parameters=[mass_file(0.54)])
    assert loose["verdict"] == "undecided"
    assert {one["code"] for one in loose["criteria"] if one["verdict"] == "undecided"} <= {"explained", "close"}
    assert any((one["cause"] or {}).get("code") == "parameters" for one in loose["criteria"])
    assert validate(recording, summary, parameters=[mass_file(0.02)])["verdict"] == "fail"
    right = recorded(CELLS + coloured(np.random.default_rng(10), 0.0), **WANTED)
    assert validate(right, summarize(right), parameters=[mass_file(0.54)])["verdict"] == "pass"  # shown by the data


def test_cells_slower_than_the_cycle_decide_nothing_of_terms_and_noise() -> None:
    seldom = {"drives": {"sample_period": 0.02}}
    measured = CELLS + coloured(np.random.default_rng(12), 0.0)
    result = verdict(recorded(measured, LAB, seldom, mass_error=0.02, band_noise=2.0, r_squared=0.9))
    told = {one["name"]: (one["verdict"], (one["cause"] or {}).get("code")) for one in result["criteria"]}
    assert told == {
        "r_squared": ("pass", None),
        "mass_error": ("undecided", "slow_cells"),
        "band_noise": ("undecided", "slow_cells"),
    }


def test_a_recording_without_a_mechanism_or_noise_says_that() -> None:
    recording = recorded(CELLS + coloured(np.random.default_rng(13), 0.0), mass_error=0.02, band_noise=2.0)
    config = recording.header["config"]
    bare = {key: value for key, value in config["load_cells"].items() if key != "noise"}
    silent = replace(recording, header=recording.header | {"config": config | {"load_cells": bare}})
    causes = {one["name"]: one["cause"]["code"] for one in verdict(silent)["criteria"]}
    assert causes == {"mass_error": "no_noise", "band_noise": "no_noise"}
    unknown = replace(recording, header={**recording.header, "mechanism": "name = 1"})
    criteria = {one["name"]: one for one in verdict(unknown)["criteria"]}
    assert criteria["mass_error"]["cause"]["code"] == "no_mechanism" and criteria["band_noise"]["verdict"] == "pass"


def test_noise_that_is_not_configured_is_that_at_rest() -> None:
    recording = recorded(CELLS + coloured(np.random.default_rng(14), 0.0), residual_noise=1.3)
    config = recording.header["config"]
    bare = {key: value for key, value in config["load_cells"].items() if key != "noise"}
    rest = recording.rows[:400].copy()
    rest["motion"], rest["state"] = 0, State.ENGAGED
    rest["reference"] = MOTIONS[0]
    rest["reference"][:, 7:] = 0.0
    rest["force_measured"] = 3.0 + coloured(np.random.default_rng(15), 0.0, 400)
    rest["t"] -= 400 / RATE
    parked = rest.copy()  # brakes on: noise of another kind, which does not count
    parked["state"] = State.PARKED
    parked["force_measured"] = 10.0 * coloured(np.random.default_rng(17), 0.0, 400)
    parked["t"] -= 400 / RATE
    rows = np.concatenate([parked, rest, recording.rows])
    rows["cycle"] = np.arange(len(rows))
    header = recording.header | {"config": config | {"load_cells": bare}}
    result = verdict(replace(recording, header=header, rows=rows))
    assert result["noise_source"] == "at rest" and result["noise_n"] == pytest.approx(NOISE, rel=0.15)
    assert result["verdict"] == "pass"


def test_numbers_can_be_judged_again_by_others() -> None:
    result = verdict(recorded(CELLS + coloured(np.random.default_rng(16), 0.0), mass_error=0.02))
    again = judged(Validation(mass_error=1e-4, r_squared=0.9), result, result["noise_n"])
    assert [one["verdict"] for one in again["criteria"]] == ["pass", "undecided"]


def test_the_shipped_configuration_proposes_the_same() -> None:
    lines = [line.removeprefix("# ") for line in SHIPPED.path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.split(" = ") for line in lines if " = " in line]
    given = {name: text.split("  ")[0].strip('"') for name, text, *_ in reversed(pairs)}  # the first of each name
    shown = parse_thresholds({name: given[name] for name in PROPOSED}, Validation)
    assert shown.thresholds == pytest.approx(dict(PROPOSED))
