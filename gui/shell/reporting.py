"""Reports as the window has them: made beside it, opened at a place, and what came of that said."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pyqtgraph.Qt import QtCore

from gui.live import RecordingsView
from gui.runs import JudgedBy, RunDesk, RunsPage
from gui.session import Action, ReportMaker, RigSession, finding_against_heavy_work
from gui.shell.notice import Notice
from gui.texts import mark, tr
from gui.widgets import Browser, put_tab


class Reporting(QtCore.QObject):
    """Makes and opens the report of the recording, or of one run of it.

    Signals: `changed`: whether one is being made is another.

    Args:
        session: the rig.
        notice: where failures are said.
        judged_by: gives by what reports judge, where it is not what was recorded.
    """

    changed = QtCore.Signal()

    def __init__(
        self, session: RigSession, notice: Notice, judged_by: Callable[[], JudgedBy], parent: QtCore.QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._notice, self._judged_by = session, notice, judged_by
        self._place = ""
        self.maker = ReportMaker(self)
        self.maker.finished.connect(self._made)
        self.browser = Browser(self)
        self.browser.failed.connect(self.show_unopened)
        self.open_file: Callable[..., bool] = self.browser.open

    @property
    def obstacle(self) -> str:
        """Why no report can be made now; empty when one can."""
        return tr("a report is being made") if self.maker.busy else self._session.obstacle(Action.REPORT)

    def make(
        self, names: Sequence[str] = (), place: str = "", judged_by: JudgedBy | None = None, *, pdf: bool = False
    ) -> None:
        """Make the report of FILE#ID, or of several, left out: of the session's recording, and open it at a place.

        By the thresholds of the session, unless `judged_by` says by which others. `pdf`: print it, and open that.
        """
        own = [] if self._session.recording is None else [self._session.recording]
        wanted = [Path(name) for name in names] or own
        against = self._session.finding_against(Action.REPORT)
        if names:  # whatever this session has recorded
            against = finding_against_heavy_work(self._session.situation)
        if self.maker.busy:
            self._notice.refuse(tr("report"), self.obstacle)
        elif against is not None:
            self._notice.refuse(tr("report"), against)
        elif wanted:
            self._place = "" if pdf else place
            by = self._judged_by() if judged_by is None else judged_by
            self.maker.make(wanted, by.thresholds, alone=by.typed, pdf=pdf)
            self.changed.emit()

    def close(self) -> None:
        """End what is being made, and look at browsers no further."""
        self.maker.close()
        self.browser.close()

    def show_unopened(self, path: str, reason: str) -> None:
        """Say that a report was made but nothing shows it."""
        self._session.log("error", "app", tr("{path} was not opened: {reason}").format(path=path, reason=reason))
        self._notice.refuse(tr("report"), tr("{reason}. It is here: {path}").format(reason=reason, path=path))

    def _made(self, path: str, fault: str) -> None:
        if fault:
            self._session.log("error", "app", tr("report: {fault}").format(fault=fault))
            self._notice.refuse(tr("report"), fault)
        else:
            self._session.log("info", "app", tr("report: {path}").format(path=path))
            self._notice.remark(tr("The report: {path}").format(path=path))
            opened = self.open_file(Path(path), self._place) if self._place else self.open_file(Path(path))
            if not opened:
                self.show_unopened(path, tr("the system knows nothing that shows it"))
        self.changed.emit()


def connect_runs(page: RunsPage, recordings: RecordingsView, reporting: Reporting, desk: RunDesk) -> None:
    """Put the list of runs before the files of recordings, and let each do what the other is asked for."""
    put_tab(recordings.tabs, page, mark("Runs"), 0)
    recordings.tabs.setCurrentWidget(page)
    page.set_folder(recordings.list.folder)
    recordings.list.moved.connect(page.set_folder)
    recordings.refreshed.connect(page.follow)
    page.opened.connect(lambda run: recordings.open(page.folder / run.run.recording, run))
    page.reported.connect(lambda runs: reporting.make(runs, "validation" if len(runs) == 1 else ""))
    page.printed.connect(lambda runs: reporting.make(runs, pdf=True))
    page.compared.connect(lambda runs: recordings.compare_runs(page.folder, runs))
    page.judged_by = lambda: desk.judged_by
    desk.told.connect(page.look)
