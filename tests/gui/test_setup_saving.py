"""The wizard's last page: what is written, what is replaced, what could not be saved."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from setup_support import BUTTON, PASSED, ZERO, back, begun, forward, press_indicator, rehearse, settled, until, write
from shell_support import FakeSession, press

from gui.setup.wizard import SetupWizard
from gui.shell.main_window import MainWindow
from rig.config import Control
from rig.config.rig_config import load_config
from rig.engine.wiring import unproven
from rig.findings import Code, Finding
from rig.safety import check_loop


def test_what_was_entered_is_saved_and_opened(
    window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wizard, opened = begun(window.menus.setup, qtbot), list[Path]()
    window.menus.setup.finished.connect(opened.append)
    rehearse(wizard, qtbot)
    forward(wizard, wizard.saving)
    assert 'name = "trial"' in wizard.saving.text.toPlainText()
    assert wizard.saving.untested.text() == "⚠ Legs not tested: 1–6"
    assert wizard.saving.open.obstacle == "save first"
    assert not wizard.button(BUTTON.FinishButton).isEnabled()
    assert Path(wizard.saving.path.text()) == tmp_path / "trial.toml"
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert wizard.saving.result.text().startswith("✓ saved")
    config = load_config(tmp_path / "trial.toml")
    assert config.name == "trial" and config.virtual is not None
    assert check_loop(config).message == "" and config.control.stiffness < Control().stiffness
    assert f"are too high at 200\xa0Hz: {config.control.stiffness:g}\xa0N/m" in wizard.saving.result.text()
    assert wizard.saving.text.toPlainText() == (tmp_path / "trial.toml").read_text()
    assert wizard.button(BUTTON.FinishButton).isEnabled() and wizard.saving.save.obstacle == "it is saved"
    press(wizard.saving.open)
    until(qtbot, lambda: window.menus.setup.wizard is None and session.ended_by_window)
    assert opened == [tmp_path / "trial.toml"]
    until(
        qtbot, lambda: window.menus.other.following is not None
    )  # this window has closed, and one for that rig follows
    assert window.menus.other.following is not None and window.menus.other.following.name == "trial"
    assert not window.isVisible()


def test_a_file_that_is_there_is_replaced_only_when_ticked(wizard: SetupWizard, qtbot: Any, tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    target.write_text("precious")
    rehearse(wizard, qtbot)
    forward(wizard, wizard.saving)
    write(wizard.saving.path, str(target))
    settled(wizard, qtbot)
    assert "mine.toml exists already" in wizard.saving.save.obstacle
    press(wizard.saving.save)
    assert target.read_text() == "precious"
    press_indicator(wizard.saving.overwrite)
    settled(wizard, qtbot)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert load_config(target).name == "trial"
    write(wizard.saving.path, str(tmp_path / "none" / "mine.toml"))
    settled(wizard, qtbot)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert "there is no folder" in wizard.saving.result.text() and wizard.saving.saved is None


def test_a_change_after_saving_is_not_saved(wizard: SetupWizard, qtbot: Any, tmp_path: Path) -> None:
    rehearse(wizard, qtbot)
    forward(wizard, wizard.saving)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert wizard.saving.saved is not None
    back(wizard, wizard.cells)
    wizard.cells["noise"].set_si(0.7)
    forward(wizard, wizard.saving)
    assert wizard.saving.saved is None and not wizard.button(BUTTON.FinishButton).isEnabled()
    assert "exists already" in wizard.saving.save.obstacle


def test_what_could_not_be_saved_and_was_mended_is_not_said_any_more(wizard: SetupWizard, qtbot: Any) -> None:
    rehearse(wizard, qtbot)
    write(wizard.drives["profile"], "nothing")
    forward(wizard, wizard.saving)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert "no profile 'nothing'" in wizard.saving.result.text()
    back(wizard, wizard.drives)
    write(wizard.drives["profile"], "generic-servo")
    forward(wizard, wizard.saving)
    assert not wizard.saving.result.text() and not wizard.saving.save.obstacle


def test_another_folder_keeps_what_was_found(wizard: SetupWizard, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "other").mkdir()
    mechanism, profile = tmp_path / "parts" / "mine.toml", tmp_path / "parts" / "servo.toml"
    mechanism.write_bytes((files("dynamics") / "mechanisms" / "lab-hexapod.toml").read_bytes())
    profile.write_bytes((files("actuators") / "profiles" / "generic-servo.toml").read_bytes())
    rehearse(wizard, qtbot)
    write(wizard.start["mechanism"].choice.lineEdit(), str(mechanism))
    write(wizard.drives["profile"], str(profile))
    forward(wizard, wizard.saving)
    assert 'mechanism = "parts/mine.toml"' in wizard.saving.text.toPlainText()
    wizard.legs.show_result(1, PASSED, "")
    wizard.zeroing.show_result(ZERO, "")
    write(wizard.saving.path, str(tmp_path / "other" / "trial.toml"))
    settled(wizard, qtbot)
    assert f'mechanism = "{mechanism}"' in wizard.saving.text.toPlainText()
    assert f'profile = "{profile}"' in wizard.saving.text.toPlainText()
    assert wizard.zeroing.zero is ZERO and 1 in wizard.legs.results
    write(wizard.start["mechanism"].choice.lineEdit(), "lab-hexapod")
    settled(wizard, qtbot)
    assert wizard.zeroing.zero is None and not wizard.legs.results


def test_legs_that_were_seen_to_move_go_on_record_beside_the_file(
    wizard: SetupWizard, qtbot: Any, tmp_path: Path
) -> None:
    write(wizard.start["name"], "trial")
    settled(wizard, qtbot)
    forward(wizard, wizard.drives)
    for leg in range(6):
        write(wizard.drives.host[leg], f"10.0.0.{leg}")
    settled(wizard, qtbot)
    forward(wizard, wizard.legs)
    assert not any(box.isEnabled() for box in wizard.legs.seen)
    for leg in (1, 2, 4):
        result = replace(
            PASSED, leg=leg, serial=f"S{leg}", faults=(Finding(Code.LEG_CELL_INVALID, leg),) if leg == 4 else ()
        )
        wizard.legs.show_result(leg, result, "")
    assert [box.isEnabled() for box in wizard.legs.seen] == [True, True, False, False, False, False]
    press_indicator(wizard.legs.seen[1])
    forward(wizard, wizard.saving)
    press(wizard.saving.save)
    settled(wizard, qtbot)
    assert wizard.saving.result.text().startswith("✓ saved")
    config = load_config(tmp_path / "trial.toml")
    lacking = unproven(config, ["S1", "S2", "", "S4", "", ""])
    assert lacking is not None and lacking.legs == (1, 3, 4, 5, 6)
    wizard.legs.invalidate(2)
    assert not wizard.legs.seen[1].isChecked() and not wizard.legs.proven
