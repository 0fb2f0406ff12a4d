"""The wizard that weighs a payload."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.weigh_page import WeighPage
from gui.calibrate.weigh_view import WeighView
from gui.fitting import FitWizard, Outcome, Use, parameters_use
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme


class WeighWizard(FitWizard):
    """Weigh what stands on the platform.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        recording: with the payload, in its folder; None for the newest of the session's folder.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        recording: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Weigh a payload"), parent)
        self.recordings = WeighPage(self.looker.look)
        self.recordings.begin(session.folder if recording is None else recording.parent, recording)
        self.fit = WeighView(theme)
        judged = tr(
            "Nothing is saved before the next step. What the data do not tell is refused, with what would tell it."
        )
        self.set_up(self.recordings, self.fit, (tr("Payload"), judged), "parameters")

    def use(self, outcome: Outcome, target: Path) -> Use:
        """See `FitWizard`."""
        return parameters_use(self.session.config, outcome.result["mechanism"], target)
