"""The wizard that calibrates the load cells on a bench."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.bench_page import BenchPage
from gui.calibrate.bench_view import BenchView
from gui.fitting import FitWizard, Outcome, Use, cells_use
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme


class BenchWizard(FitWizard):
    """Calibrate the load cells from readings under known masses, of a file or as they are taken.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        data: the readings, None while none are chosen.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        data: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Calibrate the load cells on a bench"), parent)
        self.readings = BenchPage(session, self.looker.look)
        self.fit = BenchView(theme)
        judged = tr(
            "Nothing is saved before the next step. A calibration that fails its bounds is shown, but not saved."
        )
        self.set_up(self.readings, self.fit, (tr("Load cells"), judged), "calibration")
        if data is not None:
            self.readings.data.choose(data)

    def use(self, outcome: Outcome, target: Path) -> Use:
        """See `FitWizard`."""
        return cells_use(self.session.config, True, target)
