"""The acceptance test of the rig: choose tests and axes, run them with STOP in reach, see each number's verdict."""

from collections.abc import Callable, Mapping
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import JobRunner, RigSession, error_text
from gui.steps import StepPage, StepWizard, set_role
from gui.texts import finding_text, sentence, tr, trc, trn
from gui.widgets import ArmedPair, Browser, GuardedButton
from gui.wizard import Table, results
from kinematics import COORDINATES
from rig.acceptance import SOURCES, AcceptanceTest, Number, Trial, Verdict, displayed
from rig.findings import Code, Finding
from rig.services import (
    AcceptancePlan,
    AcceptRequest,
    AcceptResult,
    Event,
    Progress,
    accept,
    plan_acceptance,
    stage_text,
)

_ACROSS = 4  # tests in a row
_NUMBER = 3  # column of what a number is
_SIZE = QtCore.QSize(1240, 720)
_PAUSE = 300  # ms without a change, until the sizes of what was chosen are searched for
_PATIENCE = 60.0  # s from a stop to the end of the report on what was measured until then
_MARKS = {
    Verdict.FAIL: "✗",
    Verdict.UNDECIDED: "?",
    Verdict.NOT_MEASURED: "–",
    Verdict.PASS: "✓",
    Verdict.STATED: "",
}
"""Marks of the verdicts, in the order in which numbers are listed."""
_ROLES = {Verdict.PASS: "good", Verdict.FAIL: "bad"}


class ChoicePage(StepPage):
    """Tests and axes, and the motions with their sizes.

    Args:
        request: fields of the request, but for tests and axes.
    """

    def __init__(self, request: Mapping[str, Any]) -> None:
        super().__init__(
            tr("Tests"),
            tr(
                "The size of each motion is found first, as a part of the largest that passes the check of motions. "
                "Nothing moves yet."
            ),
        )
        self.tests = {test: QtWidgets.QCheckBox(tr(SOURCES[test].title)) for test in AcceptanceTest}
        self.axes = {axis: QtWidgets.QCheckBox(axis) for axis in COORDINATES}
        self.plan: AcceptancePlan | None = None
        """The motions of all that was chosen so far, None until their sizes are found."""
        self._request = dict(request)
        self._fault = ""
        self._planned_for: tuple[frozenset[AcceptanceTest], frozenset[str]] = (frozenset(), frozenset())
        grid = QtWidgets.QGridLayout()
        for place, box in enumerate(self.tests.values()):
            grid.addWidget(box, *divmod(place, _ACROSS))
        self.column.addLayout(grid)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(QtWidgets.QLabel(tr("Axes")))
        for box in self.axes.values():
            row.addWidget(box)
        row.addStretch(1)
        for text, checked in ((tr("All"), True), (tr("None"), False)):
            button = QtWidgets.QPushButton(text)
            button.setAccessibleName(tr("All tests") if checked else tr("No test"))
            button.setAutoDefault(False)
            button.clicked.connect(lambda _pressed, checked=checked: self._check_all(checked))
            row.addWidget(button)
        self.column.addLayout(row)
        for box in (*self.tests.values(), *self.axes.values()):
            box.setChecked(True)
            box.toggled.connect(self.refresh)
        headings = (tr("Motion"), tr("Size"), tr("Largest"), tr("Unit"), tr("Time\ns"))
        self.table = results.NumberTable(Table(tr("Motions"), headings, words=(0, 3), wide=0))
        self.column.addWidget(self.table, 1)
        self.total = QtWidgets.QLabel()
        self.total.setAccessibleName(tr("Number of motions, and their time"))
        self.column.addWidget(self.total)
        self.column.addWidget(self.reason)
        self._runner = JobRunner(self)
        self._runner.ended.connect(self._planned)
        self._pause = QtCore.QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE)
        self._pause.timeout.connect(self._search)
        self.refresh()

    @property
    def chosen_tests(self) -> tuple[AcceptanceTest, ...]:
        """The tests that are checked."""
        return tuple(test for test, box in self.tests.items() if box.isChecked())

    @property
    def chosen_axes(self) -> tuple[str, ...]:
        """The axes that are checked."""
        return tuple(axis for axis, box in self.axes.items() if box.isChecked())

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The motions of what is checked."""
        tests, axes = set(self.chosen_tests), ("", *self.chosen_axes)
        planned = () if self.plan is None else self.plan.trials
        return tuple(trial for trial in planned if trial.axis in axes and tests & set(trial.tests))

    def refresh(self) -> None:
        """Show the motions of what is checked, and what is missing; search for the sizes that are not known yet."""
        tests, axes = self._chosen
        if tests and axes and not (tests <= self._planned_for[0] and axes <= self._planned_for[1]):
            self.plan, self._fault = None, ""
            self._runner.close()
            self._pause.start()
        trials = self.trials
        self.table.fill([_trial_row(trial) for trial in trials])
        plan = AcceptancePlan(trials)
        count = sum(trial.size > 0.0 for trial in trials)
        self.total.setText(
            trn(
                "{count} motion, some {minutes:.1f} min of rig time, and homing and parking.",
                "{count} motions, some {minutes:.1f} min of rig time, and homing and parking.",
                count,
            ).format(count=count, minutes=plan.duration / 60.0)
            if trials
            else ""
        )
        self.show_missing(self._lacking(trials))
        self.edited.emit()

    def close_job(self) -> None:
        """End the search for sizes. May be called again."""
        self._pause.stop()
        self._runner.close()

    @property
    def _chosen(self) -> tuple[frozenset[AcceptanceTest], frozenset[str]]:
        return frozenset(self.chosen_tests), frozenset(self.chosen_axes)

    def _search(self) -> None:
        self._planned_for = self._chosen
        tests = tuple(test.value for test in self.chosen_tests)
        request = AcceptRequest(**self._request, axes=self.chosen_axes, tests=tests)
        self._runner.start(plan_acceptance, request)

    def _lacking(self, trials: tuple[Trial, ...]) -> str:
        if self._fault:
            return self._fault
        if not self.chosen_tests:
            return tr("Choose a test.")
        if not self.chosen_axes:
            return tr("Choose an axis.")
        if self.plan is None:
            return tr("The sizes of the motions are being found …")
        if not any(trial.size for trial in trials):
            return sentence(finding_text(Finding(Code.ACCEPT_NO_SIZE))) + "."
        return ""

    def _check_all(self, checked: bool) -> None:
        for box in self.tests.values():
            box.blockSignals(True)
            box.setChecked(checked)
            box.blockSignals(False)
        self.refresh()

    def _planned(self, plan: AcceptancePlan | None, error: Exception | None) -> None:
        self.plan, self._fault = plan, "" if error is None else error_text(error)
        self.refresh()


class RunPage(StepPage):
    """Starts the test, and shows its progress.

    Args:
        virtual: whether the rig is virtual.
        begin: starts it.
    """

    def __init__(self, virtual: bool, begin: Callable[[], None]) -> None:
        super().__init__(
            tr("Run"),
            tr("The virtual rig runs the motions as fast as this computer can. STOP ends the test.")
            if virtual
            else tr(
                "The rig homes, engages, moves to the ends of its range, fast and hard, and parks. Clear the space "
                "around it. STOP ends the test."
            ),
        )
        self.pair = ArmedPair(tr("Start the test"), tr("the rig homes and moves on all chosen axes"), begin, self)
        self.bar = QtWidgets.QProgressBar()
        self.bar.setAccessibleName(tr("Progress of the test"))
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.step = QtWidgets.QLabel()
        self.step.setAccessibleName(tr("What the test does now"))
        self.result = QtWidgets.QLabel()
        self.result.setAccessibleName(tr("How the test ended"))
        self.result.setWordWrap(True)
        row = QtWidgets.QHBoxLayout()
        for widget in (self.pair.arm, self.pair.act, self.bar):
            row.addWidget(widget)
        self.column.addLayout(row)
        self.column.addWidget(self.step)
        headings = (trc("heading", "Test"), tr("Motions"), tr("Done"))
        self.table = results.NumberTable(Table(tr("Progress of each test"), headings, words=(0,), wide=0))
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.result)
        self.column.addWidget(self.reason)

    def show_progress(self, tests: tuple[AcceptanceTest, ...], trials: tuple[Trial, ...], done: int) -> None:
        """Show how many of each test's motions are done, of those in `trials` the first `done`."""
        rows = []
        for test in tests:
            serving = [number for number, trial in enumerate(trials) if test in trial.tests and trial.size]
            finished = sum(number < done for number in serving)
            mark = f"{finished} ✓" if serving and finished == len(serving) else str(finished)
            rows.append((tr(SOURCES[test].title), str(len(serving)), mark))
        self.table.fill(rows)


class ResultPage(StepPage):
    """The numbers with their verdicts, and the report."""

    def __init__(self) -> None:
        super().__init__(tr("Result"), tr("Each number with its uncertainty and its bound; the report has all of it."))
        self.verdict = QtWidgets.QLabel()
        self.verdict.setAccessibleName(tr("Verdict"))
        self.verdict.setWordWrap(True)
        self.column.addWidget(self.verdict)
        headings = (tr("Verdict"), trc("heading", "Test"), tr("Axis"), tr("Number"), tr("Value ± σ"), tr("Bound"))
        self.table = results.NumberTable(Table(tr("Numbers"), headings, words=(0, 1, 2, 3), wide=_NUMBER))
        self.column.addWidget(self.table, 1)
        self.report = GuardedButton(tr("Open the report"), tr("The report as a page, with figures and signature line"))
        self.place = QtWidgets.QLabel()
        self.place.setAccessibleName(tr("File of the report"))
        self.place.setTextInteractionFlags(QtCore.Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.report)
        row.addWidget(self.place, 1)
        self.column.addLayout(row)

    def show_result(self, result: AcceptResult) -> None:
        """Show a result, its numbers by verdict."""
        found = result.found
        counted = {verdict: found.count(verdict) for verdict in _MARKS}
        parts = ", ".join(f"{count} {tr(verdict.value)}" for verdict, count in counted.items() if count)
        lines = [f"{sentence(tr(found.verdict.value))}: {parts}."]
        lines += [f"{sentence(finding_text(why))}." for why in (found.ended, result.fault) if why is not None]
        set_role(self.verdict, _ROLES.get(found.verdict, "warning"), "\n".join(lines))
        order = list(_MARKS)
        numbers = sorted(found.numbers, key=lambda number: order.index(number.verdict(found.confidence)))
        self.table.fill([_number_row(number, found.confidence) for number in numbers])
        for row in range(self.table.rowCount()):
            number = self.table.item(row, _NUMBER)
            number.setToolTip(number.text())  # which may have no room
        self.place.setText(result.page.name)
        self.place.setToolTip(str(result.page))


class AcceptanceWizard(StepWizard):
    """Three steps: what is tested, the test, its numbers. The test runs in a process; STOP ends it with a result.

    Args:
        session: the app's rig.
        against: why no test can be run now; empty if it can.
        parent: the main window.
    """

    def __init__(
        self, session: RigSession, against: Callable[[], str], parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(session, tr("Acceptance test"), tr("What the test does"), parent)
        self._against = against
        self.runner = JobRunner(self)
        self.result: AcceptResult | None = None
        """Result of the present choice, None without."""
        self.browser = Browser(self)
        virtual = session.config.virtual is not None
        self._request: dict[str, Any] = {
            "config": str(session.config.path),
            "lockstep": virtual,
            "folder": session.folder,
            "operator": session.operator or None,
        }
        self._trials: tuple[Trial, ...] = ()
        self._done = 0
        self._doing = ""
        self.choice_page = ChoicePage(self._request)
        self.run_page = RunPage(virtual, self._begin)
        self.result_page = ResultPage()
        self.add_steps((self.choice_page, self.run_page, self.result_page))
        self.choice_page.edited.connect(self._chosen)
        self.result_page.report.clicked.connect(lambda: self._open())
        self.browser.failed.connect(lambda _path, why: self.result_page.place.setText(why))
        self.runner.reported.connect(self._reported)
        self.runner.ended.connect(self._ended)
        self.session.changed.connect(self._refresh)
        self.currentIdChanged.connect(lambda _id: self._refresh())
        self.restart()
        self._chosen()
        self.resize(_SIZE)

    def _chosen(self) -> None:
        self._trials, self._done, self.result = self.choice_page.trials, 0, None
        self.run_page.result.clear()
        self.run_page.show_progress(self.choice_page.chosen_tests, self._trials, 0)
        self._refresh()

    def _refresh(self) -> None:
        busy = self.runner.busy
        self.choice_page.setEnabled(not busy)
        self.run_page.pair.set_obstacle(tr("the test is running") if busy else self._against())
        waiting = tr("Wait for the test, or stop it.") if busy else tr("Run the test first.")
        self.run_page.show_missing("" if self.result is not None and not busy else waiting)
        self.run_page.step.setText(f"{self._doing} …" if busy else "")
        self.result_page.report.set_obstacle("" if self.result is not None else tr("there is no report yet"))
        set_role(self.state, "muted", f"{self._doing} …" if busy else tr("Nothing moves."))
        self.refresh_cancel()

    def _begin(self) -> None:
        self.result, self._done, self._doing = None, 0, tr("Starting")
        self.run_page.result.clear()
        self.run_page.bar.setValue(0)
        tests = tuple(test.value for test in self.choice_page.chosen_tests)
        self.session.log("warning", self.windowTitle().lower(), tr("started"))
        self.runner.start(accept, AcceptRequest(**self._request, axes=self.choice_page.chosen_axes, tests=tests))
        self._refresh()

    def _reported(self, event: Event) -> None:
        if not isinstance(event, Progress):
            return  # the result has them
        if event.stage == "accepting":
            kind, axis = event.values["kind"], event.values["axis"]
            self._doing = sentence(f"{tr(kind)} {axis}".strip())
            titles = [trial.title for trial in self._trials]
            if event.values["what"] in titles and (done := titles.index(event.values["what"])) != self._done:
                self._done = done
                self.run_page.show_progress(self.choice_page.chosen_tests, self._trials, done)
            self.run_page.bar.setValue(round(1000.0 * (event.fraction or 0.0)))
        else:
            self._doing = sentence(stage_text(event, tr))
        self._refresh()

    def _ended(self, result: AcceptResult | None, error: Exception | None) -> None:
        self.result = result
        if result is None:
            assert error is not None
            reason = error_text(error)
            set_role(self.run_page.result, "bad", f"✗ {reason}")
        else:
            reason = "" if result.found.ended is None else finding_text(result.found.ended)
            done = len(self._trials) if result.found.ended is None else self._done
            self.run_page.show_progress(self.choice_page.chosen_tests, self._trials, done)
            words = reason or tr("All motions are done: {verdict}").format(verdict=tr(result.verdict))
            role = "warning" if reason else _ROLES.get(result.found.verdict, "warning")
            set_role(self.run_page.result, role, sentence(words))
            self.result_page.show_result(result)
        self.session.log("warning" if reason else "info", self.windowTitle().lower(), reason or tr("done"))
        self._refresh()

    def _open(self) -> None:
        if self.result is not None and not self.browser.open(self.result.page):
            self.result_page.place.setText(tr("There is no program to open {path}").format(path=self.result.page))

    # -- interface of `StepWizard` -----------------------------------------------------------------------------------

    def hindrance(self) -> str:
        """See `StepWizard`: a running test is stopped first."""
        return tr("Stop the test first.") if self.runner.busy else ""

    def stopped(self, category: int) -> None:
        """See `StepWizard`: the rig is told by the session; the test ends, too, and reports what it has."""
        self.run_page.pair.disarm()
        self.runner.cancel(_PATIENCE)

    def left(self) -> None:
        """See `StepWizard`."""
        self.session.changed.disconnect(self._refresh)
        self.retire()

    def retire(self) -> None:
        """End the processes. The engine of a running test brings the platform to rest by itself."""
        self.choice_page.close_job()
        self.runner.close()
        self.browser.close()


def _trial_row(trial: Trial) -> tuple[str, ...]:
    factor, unit = (1e3, "mrad") if trial.axis.startswith("r") else (1e3, "mm")
    name = f"{tr(trial.kind.value)} {trial.axis}".strip()
    return (
        name if trial.part == 1.0 else f"{name}, {100.0 * trial.part:.0f} %",
        f"{factor * trial.size:.3g}" if trial.size else tr("none passes"),
        f"{factor * trial.largest:.3g}",
        unit,
        f"{trial.duration:.0f}",
    )


def _number_row(number: Number, confidence: float) -> tuple[str, ...]:
    verdict = number.verdict(confidence)
    value, sigma, unit, bound = displayed(number)
    place = number.axis
    if number.legs:
        place = tr("legs {legs}").format(legs=", ".join(map(str, number.legs)))
    if number.finding is not None:
        words, figures = sentence(finding_text(number.finding)), ""
    else:
        words = tr(number.name) if number.at is None else f"{tr(number.name)} ({number.at.text(tr)})"
        figures = " ".join(part for part in (value, "" if sigma == "–" else f"± {sigma}", unit) if part)
    return (
        f"{_MARKS[verdict]} {tr(verdict.value)}".strip(),
        tr(SOURCES[number.test].title),
        place,
        words,
        figures,
        "" if number.value is None else bound,
    )
