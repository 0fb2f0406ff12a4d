"""Identifying from the app: the recordings chosen, the fit with its judgement or refusal, the file that is saved."""

import tomllib
from pathlib import Path
from typing import Any

from fit_support import BUTTON, PATIENCE, begin, compute, looked, recordings
from identify_support import Found, only, row_of
from pyqtgraph.Qt import QtCore, QtTest, QtWidgets
from shell_support import FakeSession, make_status, press

from calibration import load_parameters, parse_parameters
from gui.models.rules import Phase
from gui.shell.main_window import MainWindow
from gui.wizard import FitWizard
from gui.wizard.pictures import ChangePicture
from rig.config import in_real_time
from rig.states import State


def test_what_was_identified_is_judged_before_it_is_saved(
    identifying: FitWizard, by_command: Found, window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    wizard = identifying
    before = sorted(tmp_path.rglob("*.toml"))
    wizard.request_page["note"].setText("as built")
    wizard.request_page["mass"].setValue(0.25)
    assert [page.title()[:11] for page in wizard.pages] == ["Step 1 of 3", "Step 2 of 3", "Step 3 of 3"]
    steps: list[str] = []
    wizard.runner.stepped.connect(steps.append)
    compute(wizard, qtbot)
    page, fit, outcome = wizard.compute_page, wizard.results.shown, wizard.outcome
    assert outcome is not None, page.result.text()
    holdout = outcome.result["holdout"]
    before_n, after_n, noise_n = (holdout[each] for each in ("residual_before_n", "residual_after_n", "noise_n"))
    assert steps == ["reading the recordings", "fitting the parameters", "judging by the motions held out"]
    assert before_n > 3.0 * noise_n and after_n < 1.2 * noise_n
    assert fit.isVisible()
    assert f"residual {before_n:.2f} N → {after_n:.2f} N" in page.result.text().replace("\u00a0", " ")
    assert outcome.text is not None
    changes = {
        each.name: abs(each.value - each.nominal) / each.sigma for each in parse_parameters(outcome.text).parameters
    }
    assert fit.table.item(0, 1).text() == max(changes, key=changes.__getitem__) and fit.table.rowCount() == len(changes)
    changed = fit.pictures[1]
    assert isinstance(changed, ChangePicture)
    fit.table.setCurrentCell(4, 1)
    assert changed.mark.value() == 5.0
    assert sorted(tmp_path.rglob("*.toml")) == before, "nothing is written before Save"
    press(wizard.button(BUTTON.NextButton))
    target = wizard.save_page.target()
    assert target == tmp_path / "excite-inertia.toml"
    assert wizard.save_page.copy.obstacle == "save first" and not wizard.button(BUTTON.FinishButton).isEnabled()
    press(wizard.save_page.save)
    qtbot.waitUntil(lambda: wizard.save_page.saved is not None, timeout=PATIENCE)
    assert target.read_text() == by_command.text, "what the command writes, provenance and all"
    assert load_parameters(target).provenance["note"] == "as built"
    assert "Put this line into a copy of virtual.toml, which is the project's," in wizard.save_page.purpose.text()
    press(wizard.save_page.copy)
    line = QtWidgets.QApplication.clipboard().text()
    assert window.session.config.folder / tomllib.loads(line)["parameters"][-1] == target
    press(wizard.button(BUTTON.FinishButton))
    assert window.menus.calibrate.identify.wizard is None and wizard.question is None


def test_a_recording_that_cannot_be_read_says_so(identifying: FitWizard, qtbot: Any) -> None:
    page, following = recordings(identifying), identifying.button(BUTTON.NextButton)
    only(identifying, "none.mcap")
    assert looked(identifying, qtbot) == "none.mcap: not an MCAP recording"
    assert not following.isEnabled()
    only(identifying, "short.mcap")
    assert looked(identifying, qtbot).startswith("short.mcap: no motion along a path of 5.5 s")
    row = row_of(identifying, "short.mcap")
    assert page.table.item(row, 4).text().startswith("✗ no motion")
    page.choose(row, 1)
    assert not page.chosen(0) and page.fault == "Choose a recording to fit on."
    assert page.chosen(1)[0].name == "short.mcap"


def test_the_estimators_refusal_is_shown_and_nothing_can_be_saved(
    identifying: FitWizard, qtbot: Any, tmp_path: Path
) -> None:
    wizard = identifying
    before = sorted(tmp_path.rglob("*.toml"))
    only(wizard, "still.mcap")
    compute(wizard, qtbot)
    assert "identification refused, nothing written:" in wizard.compute_page.result.text()
    assert "… " not in wizard.compute_page.result.text()
    assert not wizard.results.isVisible() and not wizard.button(BUTTON.NextButton).isEnabled()
    assert wizard.save_page.save.obstacle == "nothing was computed yet"
    assert sorted(tmp_path.rglob("*.toml")) == before


def test_a_fit_is_cancelled_and_nothing_is_left(
    identifying: FitWizard, session: FakeSession, window: MainWindow, qtbot: Any
) -> None:
    wizard = identifying
    told: list[object] = []
    wizard.runner.finished.connect(lambda *what: told.append(what))
    begin(wizard, qtbot)
    folder = wizard.runner.output.parent
    assert folder.is_dir() and not wizard.request_page.isEnabled()
    QtTest.QTest.keyClick(wizard, QtCore.Qt.Key.Key_Escape)
    assert (1, "Esc") in session.stops and wizard.isVisible() and wizard.runner.busy
    press(wizard.compute_page.cancel)
    assert not folder.exists() and not wizard.runner.busy and not told
    assert wizard.compute_page.result.text() == "Cancelled: nothing was written."
    assert wizard.compute_page.begin.isEnabled() and wizard.request_page.request.files
    press(wizard.button(BUTTON.CancelButton))
    assert window.menus.calibrate.identify.wizard is None


def test_esc_stops_and_closes_nothing_and_a_result_is_asked_about(
    identifying: FitWizard, by_command: Found, window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    wizard = identifying
    by_command.shown_in(wizard, qtbot)
    QtTest.QTest.keyClick(wizard, QtCore.Qt.Key.Key_Escape)
    assert (1, "Esc") in session.stops and wizard.isVisible() and wizard.question is None
    press(wizard.stop_button)
    assert session.stops[-1] == (1, "button")
    press(wizard.button(BUTTON.CancelButton))
    assert wizard.question is not None and "The computed result is not saved" in wizard.question.text()
    press(wizard.question.escapeButton())
    assert wizard.isVisible() and wizard.outcome is not None
    recordings(wizard).choose(row_of(wizard, "still.mcap"), 1)
    assert wizard.outcome is None and "identify again" in wizard.compute_page.result.text()
    press(wizard.button(BUTTON.CancelButton))  # what was thrown away already is not asked about
    assert window.menus.calibrate.identify.wizard is None


def test_a_file_that_exists_is_never_touched(
    identifying: FitWizard, by_command: Found, qtbot: Any, tmp_path: Path
) -> None:
    wizard, page = identifying, identifying.save_page
    (tmp_path / "excite-inertia.toml").write_text("precious")
    by_command.shown_in(wizard, qtbot)
    press(wizard.button(BUTTON.NextButton))
    assert page.target().name == "excite-inertia-2.toml"
    page.path.selectAll()
    QtTest.QTest.keyClicks(page.path, str(tmp_path / "excite-inertia.toml"))
    assert "exists already" in page.save.obstacle
    later = tmp_path / "later.toml"
    page.path.selectAll()
    QtTest.QTest.keyClicks(page.path, str(later))
    assert not page.save.obstacle
    later.write_text("precious")  # meanwhile
    press(page.save)
    qtbot.waitUntil(lambda: not wizard._saving, timeout=PATIENCE)
    assert later.read_text() == "precious" and page.saved is None
    assert "exists already" in page.result.text()


def test_the_entry_and_the_list_say_why_not(whole_window: MainWindow, session: FakeSession, recorded: Path) -> None:
    window = whole_window
    window.tabs.setCurrentWidget(window.views.recordings_page)
    window.views.recordings.set_folder(recorded.parent)
    window.views.recordings.list.select(recorded)
    session.config = in_real_time(session.config)  # in paced time a virtual rig waits for the processor
    session.enter(Phase.UP)
    session.take(make_status(State.RUNNING))
    window.views.recordings.list.follow()
    for told in (window.menus.calibrate.identify.action, window.views.recordings.list.buttons["Identify…"]):
        assert not told.isEnabled() and "the processor is reserved for the engine" in told.toolTip()
    window.menus.calibrate.identify.start(recorded)
    assert window.menus.calibrate.identify.wizard is None
    session.take(make_status(State.OFF))
    window.views.recordings.list.follow()
    press(window.views.recordings.list.buttons["Identify…"])
    wizard = window.menus.calibrate.identify.wizard
    assert wizard is not None and wizard.request_page.request.files == (recorded,)
    session.take(make_status(State.RUNNING))
    assert "the processor is reserved for the engine" in wizard.compute_page.begin.obstacle
    window.menus.calibrate.identify.close()
