"""The wizard: recordings, the fit with its judgement, and the file; nothing is written before Save."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.fitting import FitWizard, Outcome, Use, parameters_use
from gui.identify.page import IdentifyPage
from gui.identify.result import IdentifyView
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme


class IdentifyWizard(FitWizard):
    """Identify masses, inertias and frictions from recordings, look at what came of it, save it.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        recording: to be fitted on at first, in its folder; None for the newest of the session's folder.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        recording: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Identify parameters"), parent)
        self.recordings = IdentifyPage(self.looker.look)
        self.fit = IdentifyView(theme)
        judged = tr("Nothing is saved before the next step. This page judges by what was not fitted.")
        self.recordings.begin(session.folder if recording is None else recording.parent, recording)
        self.set_up(self.recordings, self.fit, (tr("Identify"), judged), "parameters")

    def use(self, outcome: Outcome, target: Path) -> Use:
        """See `FitWizard`."""
        return parameters_use(self.session.config, outcome.result["mechanism"], target)
