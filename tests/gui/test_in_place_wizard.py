"""Calibrating the load cells in place from the app: recordings, fit and pictures, the file; and the planned poses."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from fit_support import BUTTON, compute, looked, opened, recordings, save
from pyqtgraph.Qt import QtWidgets
from shell_support import FakeSession, press

from calibration import load_cell_calibration
from gui.calibrate import CalibrateMenu
from gui.wizard import FitWizard
from rig.cli import main
from rig.errors import ExitCode


@pytest.fixture
def wizard(menu: CalibrateMenu, rested: Path, qtbot: Any, tmp_path: Path) -> FitWizard:
    recording = tmp_path / "rests.mcap"
    recording.write_bytes(rested.read_bytes())
    return opened(menu.in_place, recording, qtbot)


def test_cells_are_judged_before_they_are_saved_as_the_command_saves_them(
    wizard: FitWizard, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    page, found = wizard.request_page, recordings(wizard)
    assert not looked(wizard, qtbot)
    holds = found.table.item(0, 3).text()
    assert holds.endswith(" rests, lab-hexapod, cells in N") and int(holds.split()[0]) >= 12
    page["mass_sigma"].set_si(0.01)
    page["operator"].setText("NN")
    steps: list[str] = []
    wizard.runner.stepped.connect(steps.append)
    said = compute(wizard, qtbot)
    assert said.startswith(f"lab-hexapod: {holds.split()[0]} rests fitted, reduced χ² ")
    assert steps == ["reading the recordings", "fitting the cells"]
    fit = wizard.results.shown
    assert fit.isVisible() and fit.table.accessibleName() == "Cells" and fit.table.rowCount() == 6
    outcome = wizard.outcome
    assert outcome is not None and len(outcome.result["rests"]) == int(holds.split()[0])
    for cell in outcome.result["cells"]:
        assert cell["gain"] == pytest.approx(1.0, abs=4.0 * cell["gain_standard_error"])
    target = save(wizard, qtbot)
    assert target == tmp_path / "rests-cells.toml"
    command = ["calibrate", "cells-in-place", str(tmp_path / "rests.mcap"), "--mass-sigma", "0.01", "--operator", "NN"]
    assert main([*command, "-o", str(tmp_path / "cli.toml")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert load_cell_calibration(target).provenance.operator == "NN"
    press(wizard.save_page.copy)
    line = tomllib.loads(QtWidgets.QApplication.clipboard().text())
    assert session.config.folder / line["calibration"] == target
    assert "into the section [load_cells] of a copy of virtual.toml" in wizard.save_page.purpose.text()


def test_what_the_poses_do_not_tell_is_refused_in_the_command_s_words(wizard: FitWizard, qtbot: Any) -> None:
    wizard.request_page["gain_limit"].set_si(1e-3)
    said = compute(wizard, qtbot)
    assert "✗ calibration refused, nothing written" in said and "leg 1: these poses load its cell" in said
    assert not wizard.results.isVisible() and wizard.save_page.save.obstacle == "nothing was computed yet"
    assert not wizard.button(BUTTON.NextButton).isEnabled()


def test_a_recording_without_rests_is_named(wizard: FitWizard, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "none.mcap").write_text("no recording")
    page = recordings(wizard)
    page.begin(tmp_path, tmp_path / "none.mcap")
    assert looked(wizard, qtbot) == "none.mcap: not an MCAP recording"
    page.begin(tmp_path.parent / "nowhere", None)
    assert page.fault == f"There is no recording in {tmp_path.parent / 'nowhere'}."


def test_poses_are_planned_and_the_line_that_runs_them_is_told(
    wizard: FitWizard, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    page, table = wizard.request_page, recordings(wizard).table
    assert not page["poses"].isEnabled() and page["poses"].toolTip() == "nothing is planned"
    page["task"].setCurrentIndex(1)
    assert not table.isEnabled() and table.toolTip() == "poses are planned, nothing is calibrated"
    page["poses"].setValue(8)
    page["hold"].set_si(0.5)
    said = compute(wizard, qtbot)
    assert said.startswith("8 poses within the limits") and wizard.results.isVisible()
    assert wizard.results.shown.table.rowCount() == 6
    target = save(wizard, qtbot)
    config = str(session.config.path)
    command = ["calibrate", "cells-in-place", "--plan", "8", "--hold", "0.5", "--config", config]
    assert main([*command, "-o", str(tmp_path / "cli.toml")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert wizard.save_page.naming.text() == f"rig run {config} {target}"
