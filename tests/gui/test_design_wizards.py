"""Motions designed from the app: what they use of every limit, the command's own file, and the way into tab Motion."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from fit_support import BUTTON, compute, opened, save
from shell_support import FakeSession, press

from gui.calibrate import CalibrateMenu
from gui.shell.main_window import MainWindow
from gui.wizard import FitWizard
from rig.cli import main
from rig.errors import ExitCode


def test_a_motion_that_tells_parameters_is_judged_by_its_limits_and_opened(
    window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    wizard = opened(window.menus.calibrate.excite, None, qtbot)
    page = wizard.request_page
    page["duration"].set_si(12.0)
    page["candidates"].setValue(2)
    page["steps"].setValue(0)
    steps: list[str] = []
    wizard.runner.stepped.connect(steps.append)
    said = compute(wizard, qtbot)
    assert said.startswith("12 s: average information on the base parameters ") and "Nearest to its limit: " in said
    assert steps == ["designing: 0 %", "designing: 50 %", "designing: 100 %"]
    outcome = wizard.outcome
    assert outcome is not None
    assert all(each["passed"] for each in outcome.result["checks"])
    table = wizard.results.shown.table
    shown = [float(table.item(row, 6).text()) for row in range(table.rowCount())]
    assert len(shown) > 5 and 60.0 < max(shown) <= 100.0 and f"{max(shown):.0f} % of it." in said
    target = save(wizard, qtbot)
    assert target == session.folder / "excitation.toml"
    config = str(session.config.path)
    told = ["excite", config, "--duration", "12", "--candidates", "2", "--steps", "0", "-o", str(tmp_path / "cli.toml")]
    assert main(told) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()
    assert wizard.save_page.naming.text() == f"rig run {config} {target}"
    press(wizard.save_page.open)
    assert window.menus.calibrate.excite.wizard is None and window.tabs.currentWidget() is window.motion
    qtbot.waitUntil(lambda: window.motion.title == "Motion: excitation", timeout=60_000)
    motions = (window.motion.editor.value(), tomllib.loads(target.read_text()))
    phases = [[term["phase"] for part in each["parts"] for term in part["terms"]] for each in motions]
    assert phases[0] == pytest.approx(phases[1], abs=1e-6)


@pytest.fixture
def multisine(menu: CalibrateMenu, qtbot: Any) -> FitWizard:
    return opened(menu.multisine, None, qtbot)


def test_a_coordinate_is_excited_as_the_command_does_it(
    multisine: FitWizard, session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    page = multisine.request_page
    page["dof"].setCurrentIndex(3)
    page["high"].set_si(10.0)
    page["period"].set_si(1.0)
    said = compute(multisine, qtbot)
    outcome = multisine.outcome
    assert outcome is not None
    assert said.startswith(
        f"Coordinate rx: {len(outcome.result['frequency_hz'])} frequencies from 1 to 9 Hz, amplitude "
    )
    assert not multisine.save_page.open.isEnabled()
    target = save(multisine, qtbot)
    assert target == session.folder / "multisine-rx.toml" and multisine.save_page.open.isEnabled()
    told = ["multisine", str(session.config.path), "--dof", "rx", "--to", "10", "--period", "1"]
    assert main([*told, "-o", str(tmp_path / "cli.toml")]) == ExitCode.OK
    assert target.read_bytes() == (tmp_path / "cli.toml").read_bytes()


def test_the_reason_why_no_motion_can_be_designed_is_shown(multisine: FitWizard, qtbot: Any) -> None:
    page = multisine.request_page
    page["low"].set_si(40.0)
    assert page.fault == "The lowest frequency, 40 Hz, must be below the highest, 30 Hz."
    assert not multisine.button(BUTTON.NextButton).isEnabled()
    page["high"].set_si(400.0)
    assert "to: 400 Hz, must be at most 125 Hz, a quarter of the cycles a second" in compute(multisine, qtbot)
    page["high"].set_si(60.0)
    page["amplitude"].set_si(0.2)
    assert "the trajectory exceeds the limits:" in compute(multisine, qtbot)
    assert not multisine.results.isVisible() and multisine.save_page.save.obstacle == "nothing was computed yet"
