from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from calibration import (
    CalibrationError,
    CalibrationFileError,
    Parameter,
    ParameterFile,
    cell_errors,
    format_parameters,
    load_parameters,
    overlaid,
    parse_parameters,
    save_parameters,
)
from dynamics import load_mechanism

MACHINE = load_mechanism("lab-hexapod")


def made(*parameters: Parameter, **changes: object) -> ParameterFile:
    file = ParameterFile("inertia", date(2026, 11, 23), MACHINE.name, parameters)
    return replace(file, **changes)  # type: ignore[arg-type]


def named(name: str, value: float) -> Parameter:
    return Parameter(name, "", 0.0, value, 0.1)


MASS = Parameter("platform.mass", "kg", 18.0, 17.1, 0.02)


def test_a_file_comes_back(tmp_path: Path) -> None:
    known = np.array([[4e-4, 1e-5], [1e-5, 9.0]])
    file = made(
        MASS,
        named("legs[2].lower.mass", 2.5),
        covariance=known,
        nuisance=(named("load_cells[0].lag", 1e-4),),
        provenance={"recordings": "a.mcap"},
        findings={"residual_after_n": 0.52, "consistent": True},
    )
    save_parameters(tmp_path / "p.toml", file)
    again = load_parameters(tmp_path / "p.toml")
    assert (again.kind, again.date, again.mechanism) == (file.kind, file.date, file.mechanism)
    assert again.parameters == file.parameters and again.nuisance == file.nuisance
    assert dict(again.provenance) == dict(file.provenance) and dict(again.findings) == dict(file.findings)
    assert again.covariance == pytest.approx(known, rel=1e-6)
    with pytest.raises(CalibrationFileError, match="never overwritten"):
        save_parameters(tmp_path / "p.toml", file)


def test_what_combinations_are_known_to_outlives_the_file() -> None:
    """Two masses of which only the sum is known: their correlation is −1 to many digits."""
    generator = np.random.default_rng(0)
    root = np.vstack([[1.0, 0.0, 0.0], [-1.0, 1e-5, 0.0], generator.normal(size=3)])
    file = made(MASS, named("legs[0].lower.mass", 2.5), named("legs[0].upper.mass", 1.0), covariance=root @ root.T)
    covariance = parse_parameters(format_parameters(file)).covariance
    assert covariance is not None
    whole = np.array([1.0, 1.0, 0.0])
    assert np.sqrt(whole @ covariance @ whole) == pytest.approx(1e-5, rel=1e-2)


def test_later_files_are_over_earlier_ones() -> None:
    first = made(MASS, named("legs[3].upper.inertia[0][1]", 2e-4))
    machine = overlaid(MACHINE, [first, made(named("platform.mass", 16.0), named("base.points[1][2]", 0.01))])
    assert machine.mass == 16.0
    assert machine.geometry.base_points[1, 2] == 0.01
    tensor = machine.legs[3].upper.inertia
    assert tensor[0, 1] == tensor[1, 0] == 2e-4
    assert machine.legs[2].upper.inertia[0, 1] == 1e-4
    assert machine.limits == MACHINE.limits


def test_zeros_of_cells_are_no_matter_of_the_mechanism() -> None:
    file = made(named("load_cells[4].offset", 1.5))
    assert np.array_equal(overlaid(MACHINE, [file]).array, MACHINE.array)
    assert cell_errors([file]).zeros.tolist() == [0.0, 0.0, 0.0, 0.0, 1.5, 0.0]


def test_gains_and_cross_talk_are_taken_off_and_a_reading_that_is_none_spoils_no_other() -> None:
    file = made(
        named("load_cells[4].offset", 1.5),
        named("load_cells[2].gain", 0.02),
        named("load_cells[3].cross_talk[2]", 0.01),
    )
    assert np.array_equal(overlaid(MACHINE, [file]).array, MACHINE.array)
    forces = np.array([10.0, -20.0, 100.0, 40.0, 50.0, 60.0])
    readings = forces + np.array([0.0, 0.0, 2.0, 1.0, 1.5, 0.0])
    errors = cell_errors([file])
    assert errors.corrected(readings) == pytest.approx(forces)
    assert errors.corrected(np.stack([readings, 0.0 * readings]))[0] == pytest.approx(forces)
    readings[5] = np.nan
    found = errors.corrected(readings)
    assert np.isnan(found[5]) and found[:5] == pytest.approx(forces[:5])
    assert not cell_errors([made(named("platform.mass", 1.0))]) and errors and errors.same(cell_errors([file]))


@pytest.mark.parametrize("name", ["load_cells[2].cross_talk[2]", "load_cells[6].gain", "load_cells[1].gains"])
def test_a_number_that_no_cell_has_is_refused(name: str) -> None:
    with pytest.raises(CalibrationError, match=r"is no number of a mechanism's file"):
        overlaid(MACHINE, [made(named(name, 0.1))])


@pytest.mark.parametrize("value", [0.5, -1.0, 1e3])
def test_a_gain_that_cannot_be_is_refused(value: float) -> None:
    with pytest.raises(CalibrationError, match=r"load_cells\[1\]: gain and cross-talk of .* in all, must be below 0.5"):
        cell_errors([made(named("load_cells[1].gain", value))])


NO_NUMBERS = ["platform.masss", "platform.points", "legs[6].lower.mass", "name", "x y", "legs"]
LIMITS = ["legs[0].limits.force", "legs[2].limits.length[1]"]  # what the machine may do is decided, not calibrated


@pytest.mark.parametrize("name", [*NO_NUMBERS, *LIMITS])
def test_a_name_that_no_mechanism_has_is_refused(name: str) -> None:
    with pytest.raises(CalibrationError, match="is no number of a mechanism's file"):
        overlaid(MACHINE, [made(named(name, 1.0))])


def test_what_no_mechanism_may_be_is_refused() -> None:
    with pytest.raises(CalibrationError, match="platform: no real body has this inertia"):
        overlaid(MACHINE, [made(named("platform.mass", 0.0))])
    with pytest.raises(CalibrationError, match="parameters of 'other', the mechanism is 'lab-hexapod'"):
        overlaid(MACHINE, [made(MASS, mechanism="other")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("value = 17.1", "value = nan"), r"parameters\[1\]\.value"),
        (("sigma = 0.02", "sigma = -0.02"), "sigma"),
        (("version = 1", "version = 2"), "version"),
        (("mechanism =", "machine ="), "machine: unknown key"),
        (("kg", 'kg", extra = "'), "unknown key"),
    ],
)
def test_a_file_that_is_none_is_refused(change: tuple[str, str], message: str) -> None:
    text = format_parameters(made(MASS))
    assert change[0] in text
    with pytest.raises(CalibrationFileError, match=message):
        parse_parameters(text.replace(*change))


def test_a_name_twice_and_a_covariance_of_others_are_refused() -> None:
    with pytest.raises(CalibrationFileError, match=r"platform\.mass is there twice"):
        format_parameters(made(MASS, MASS))
    text = format_parameters(made(MASS, covariance=np.eye(1)))
    with pytest.raises(CalibrationFileError, match="covariance: not that of 1 parameters"):
        parse_parameters(text.replace('covariance = "', 'covariance = "AAAA'))
    with pytest.raises(CalibrationFileError, match="no such parameter file"):
        load_parameters("nowhere.toml")
