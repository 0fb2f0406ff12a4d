"""Calibrating the load cells on a bench from the app: the readings, the fit and its pictures, the file, and no file."""

from pathlib import Path
from typing import Any

import pytest
from bench_readings import BIAS, write_table
from fit_support import BUTTON, compute, looked, opened, save

from gui.calibrate import CalibrateMenu
from gui.calibrate.bench_wizard import BenchWizard
from rig.cli import main
from rig.errors import ExitCode


@pytest.fixture
def wizard(menu: CalibrateMenu, qtbot: Any, tmp_path: Path) -> BenchWizard:
    write_table(tmp_path / "data.csv")
    made = opened(menu.bench, tmp_path / "data.csv", qtbot)
    assert isinstance(made, BenchWizard)
    return made


def test_readings_become_the_command_s_file(wizard: BenchWizard, qtbot: Any, tmp_path: Path) -> None:
    page = wizard.readings
    page.serials.setText("a,b,c,d,e,f")
    page.unit.setText("mV")
    page.edited.emit()
    said = compute(wizard, qtbot)
    assert page.holds == "7 readings of each cell at least, 50 and 50 unloaded"
    assert said.startswith("Readings in mV, masses in compression: residuals up to ")
    outcome = wizard.outcome
    assert outcome is not None
    for cell, zero in zip(outcome.told["cells"], BIAS, strict=True):
        residuals = [abs(each["residual_n"]) for each in cell["readings"]]
        assert max(residuals) == pytest.approx(cell["residual_max"]) and cell["offset"] == pytest.approx(zero, abs=0.1)
        assert cell["readings"][3]["force_n"] == pytest.approx(20.0 * 9.80665)
    assert wizard.fit.table.item(0, 7).text() == f"{outcome.told['cells'][0]['hysteresis']:.3f}"
    target = save(wizard, qtbot)
    command = ["calibrate", "cells", "--data", str(tmp_path / "data.csv"), "--unit", "mV", "--serials", "a,b,c,d,e,f"]
    assert main([*command, "-o", str(tmp_path / "cli.toml")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert wizard.storing.naming.text() == f'calibration = "{target}"'


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"drift": 1.5}, "cell 3: the zero drifted by +1."), ({"bend": 4.0}, "cell 2: not linear: at ")],
    ids=["drifted", "bent"],
)
def test_what_fails_its_bounds_is_shown_and_cannot_be_saved(
    wizard: BenchWizard, qtbot: Any, tmp_path: Path, changes: dict[str, float], why: str
) -> None:
    write_table(tmp_path / "data.csv", **changes)
    said = compute(wizard, qtbot)
    assert "✗ calibration refused, nothing written" in said and f"✗ {why}" in said
    assert wizard.fit.isVisible() and wizard.fit.table.rowCount() == 6
    assert not wizard.button(BUTTON.NextButton).isEnabled() and not wizard.loss()
    assert wizard.computing.missing == wizard.storing.save.obstacle == "It was refused, so there is nothing to save."


def test_faulty_readings_are_named_with_their_line(wizard: BenchWizard, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text((tmp_path / "data.csv").read_text().replace("tare_after", "tare_later", 1))
    wizard.readings.data.choose(path)
    assert "phase must be one of tare_before, load, tare_after, got 'tare_later'" in looked(wizard, qtbot)
    assert not wizard.button(BUTTON.NextButton).isEnabled()
    wizard.readings.data.choose(None)
    assert wizard.readings.fault == "Choose the file of readings."
