"""The acceptance test in the app: what is chosen, the test with its progress, STOP, and the verdicts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from configured import slower_file
from fit_support import BUTTON, PATIENCE
from shell_support import FakeSession, press

from gui.calibrate import CalibrateMenu
from gui.calibrate.acceptance import AcceptanceWizard
from gui.models import Phase
from rig.acceptance import AcceptanceTest, Verdict
from rig.config import load_config
from rig.findings import Code


@pytest.fixture
def wizard(session: FakeSession, menu: CalibrateMenu, qtbot: Any, tmp_path: Path) -> Iterator[AcceptanceWizard]:
    """The wizard for speed and leg balance in z, whose sizes are known."""
    session.config = load_config(slower_file(tmp_path / "rig.toml"))
    menu.acceptance.start()
    made = menu.acceptance.wizard
    assert made is not None
    page = made.choice_page
    for test, box in page.tests.items():
        box.setChecked(test in (AcceptanceTest.SPEED, AcceptanceTest.LEG_BALANCE))
    for axis, box in page.axes.items():
        box.setChecked(axis == "z")
    assert page.missing == "The sizes of the motions are being found …"
    qtbot.waitUntil(lambda: not page.missing, timeout=PATIENCE)
    yield made


def begin(wizard: AcceptanceWizard) -> None:
    press(wizard.button(BUTTON.NextButton))
    assert wizard.currentPage() is wizard.run_page
    press(wizard.run_page.pair.arm)
    press(wizard.run_page.pair.act)
    assert wizard.runner.busy and not wizard.button(BUTTON.CancelButton).isEnabled()


def test_the_chosen_tests_are_run_and_each_number_has_its_verdict(
    wizard: AcceptanceWizard, qtbot: Any, tmp_path: Path
) -> None:
    page = wizard.choice_page
    assert [trial.title for trial in page.trials] == ["fast sine z", "sine z"] and page.table.rowCount() == 2
    assert page.total.text().startswith("2 motions, some 0.5 min")
    begin(wizard)
    qtbot.waitUntil(lambda: not wizard.runner.busy, timeout=PATIENCE)
    assert wizard.run_page.result.text() == "All motions are done: pass"
    assert [wizard.run_page.table.item(row, 2).text() for row in range(2)] == ["1 ✓", "1 ✓"]
    press(wizard.button(BUTTON.NextButton))
    shown = wizard.result_page
    assert shown.verdict.text() == "Pass: 3 pass." and shown.table.rowCount() == 3
    assert [shown.table.item(0, column).text() for column in (0, 1, 2)] == ["✓ pass", "Greatest speed", "z"]
    assert wizard.result is not None and wizard.result.page.is_file() and shown.report.isEnabled()
    assert not wizard.hindrance()
    assert wizard.run_page.result.objectName() == "good"
    numbers = wizard.result.found.numbers
    numbers[0] = replace(numbers[0], value=0.0)
    wizard.runner.ended.emit(wizard.result, None)
    assert wizard.run_page.result.text() == "All motions are done: fail"
    assert wizard.run_page.result.objectName() == "bad"
    page.tests[AcceptanceTest.NOISE].setChecked(True)  # of the same motion, but it was not asked for
    assert wizard.result is None and not shown.report.isEnabled()


def test_stop_ends_the_test_with_what_it_has(wizard: AcceptanceWizard, qtbot: Any) -> None:
    begin(wizard)
    qtbot.waitUntil(lambda: wizard.run_page.step.text().startswith("Sine z"), timeout=PATIENCE)
    wizard.session.stop()
    qtbot.waitUntil(lambda: not wizard.runner.busy, timeout=PATIENCE)
    assert wizard.result is not None and wizard.result.found.ended is not None
    assert wizard.result.found.ended.code is Code.ACCEPT_STOPPED
    assert wizard.run_page.result.text() == "The test was stopped at 'sine z'"
    verdicts = {number.test: number.verdict(0.95) for number in wizard.result.found.numbers}
    assert verdicts == {AcceptanceTest.SPEED: Verdict.PASS, AcceptanceTest.LEG_BALANCE: Verdict.NOT_MEASURED}


def test_a_machine_s_drives_must_be_free(session: FakeSession, menu: CalibrateMenu) -> None:
    session.config = session.config.model_copy(update={"virtual": None})
    session.phase = Phase.UP
    session.changed.emit()
    assert "disconnect first" in menu.acceptance.obstacle and not menu.acceptance.action.isEnabled()
    session.phase = Phase.DOWN
    session.changed.emit()
    assert not menu.acceptance.obstacle
