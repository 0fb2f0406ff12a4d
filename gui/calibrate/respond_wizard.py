"""The wizard that computes a frequency response."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.respond_page import RespondPage
from gui.calibrate.respond_view import RespondView
from gui.fitting import FitWizard
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme


class RespondWizard(FitWizard):
    """The frequency response of a recorded excitation, and its Bode plot as a file.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        recording: of the excitation, in its folder; None for the newest of the session's folder.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        recording: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Frequency response"), parent)
        self.recordings = RespondPage(self.looker.look)
        self.recordings.begin(session.folder if recording is None else recording.parent, recording)
        self.fit = RespondView(theme)
        judged = tr("Nothing is saved before the next step, which writes the Bode plots as a picture.")
        self.set_up(self.recordings, self.fit, (tr("Response"), judged), "plots")
