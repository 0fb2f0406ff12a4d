"""The wizard that calibrates the load cells in place."""

import shlex
from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.in_place_page import InPlacePage
from gui.calibrate.in_place_views import InPlaceView, WeightPlanView
from gui.fitting import EitherView, FitWizard, Outcome, Use, cells_use
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme


class InPlaceWizard(FitWizard):
    """Calibrate the load cells by the platform's weight, or plan the poses to be held for that.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        recording: to be used at first, in its folder; None for the newest of the session's folder.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        recording: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Calibrate the load cells in place"), parent)
        self.recordings = InPlacePage(session.config.path, self.looker.look)
        self.recordings.begin(session.folder if recording is None else recording.parent, recording)
        self.fit, self.plan = InPlaceView(theme), WeightPlanView(theme)
        judged = tr(
            "Nothing is saved before the next step. A calibration that fails its bounds is shown, but not saved."
        )
        self.set_up(self.recordings, EitherView(self.fit, self.plan), (tr("Load cells"), judged), "calibration")

    def use(self, outcome: Outcome, target: Path) -> Use:
        """See `FitWizard`."""
        config = self.session.config
        if outcome.asked.planning:
            about = tr(
                "Run it by this command, or open it in the tab Motion, and come back with the recording. A rig with a "
                "reversed cell is not engaged: widen safety.tare_shift and safety.force_residual for this one run."
            )
            return Use(tr("To run it"), shlex.join(["rig", "run", str(config.path), str(target)]), about, motion=True)
        return cells_use(config, outcome.result["mechanism"] == config.nominal.name, target)
