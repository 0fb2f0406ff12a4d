"""Reports of recordings or runs: button, creation, display."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Action, JudgedBy, finding_against_heavy_work
from gui.session import ReportMaker, RigSession
from gui.texts import tr
from gui.widgets import Browser, set_icon


class Reporting(QtCore.QObject):
    """Creates and opens the report of the recording, or of one of its runs.

    Signals: `remarked(text)`: where it is. Failures go through the session.

    Args:
        session: the rig.
        judged_by: returns thresholds that replace the recorded ones.
    """

    remarked = QtCore.Signal(str)

    def __init__(
        self, session: RigSession, judged_by: Callable[[], JudgedBy], parent: QtCore.QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._judged_by = session, judged_by
        self._place = ""
        self.maker = ReportMaker(self)
        self.maker.finished.connect(self._made)
        self.browser = Browser(self)
        self.browser.failed.connect(self.show_unopened)
        self.open_file: Callable[..., bool] = self.browser.open
        self.button = set_icon(QtWidgets.QPushButton(tr("Open report")), "report")
        self.button.setAccessibleName(tr("Make and open the report of the recording"))
        self.button.clicked.connect(lambda: self.make())
        session.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        reason = self.obstacle
        hint = tr("Make the report of {recording} and open it").format(recording=self._session.situation.recording)
        self.button.setEnabled(not reason)
        self.button.setToolTip(reason or hint)
        self.button.setText(tr("Making the report …") if self.maker.busy else tr("Open report"))

    @property
    def obstacle(self) -> str:
        """Why no report can be made now; empty if one can."""
        return tr("a report is being made") if self.maker.busy else self._session.obstacle(Action.REPORT)

    def make(
        self, names: Sequence[str] = (), place: str = "", judged_by: JudgedBy | None = None, *, pdf: bool = False
    ) -> None:
        """Make the report of FILE#ID, of several, or by default of the session's recording, and open it at a place.

        By the thresholds of the session, unless `judged_by` replaces them. `pdf`: also print it, and open the PDF.
        """
        own = [] if self._session.recording is None else [self._session.recording]
        wanted = [Path(name) for name in names] or own
        against = self._session.finding_against(Action.REPORT)
        if names:  # independent of this session's recording
            against = finding_against_heavy_work(self._session.situation)
        if self.maker.busy:
            self._session.refused.emit(tr("report"), self.obstacle)
        elif against is not None:
            self._session.refused.emit(tr("report"), against)
        elif wanted:
            self._place = "" if pdf else place
            by = self._judged_by() if judged_by is None else judged_by
            self.maker.make(wanted, by.thresholds, alone=by.typed, pdf=pdf)
            self._refresh()

    def close(self) -> None:
        """Cancel a report in progress, and stop watching browsers."""
        self.maker.close()
        self.browser.close()

    def show_unopened(self, path: str, reason: str) -> None:
        """Report that a report was made but could not be opened."""
        self._session.log("error", "app", tr("{path} was not opened: {reason}").format(path=path, reason=reason))
        self._session.refused.emit(tr("report"), tr("{reason}. It is here: {path}").format(reason=reason, path=path))

    def _made(self, path: str, fault: str) -> None:
        if fault:
            self._session.log("error", "app", tr("report: {fault}").format(fault=fault))
            self._session.refused.emit(tr("report"), fault)
        else:
            self._session.log("info", "app", tr("report: {path}").format(path=path))
            self.remarked.emit(tr("The report: {path}").format(path=path))
            opened = self.open_file(Path(path), self._place) if self._place else self.open_file(Path(path))
            if not opened:
                self.show_unopened(path, tr("no program is installed to show it"))
        self._refresh()
