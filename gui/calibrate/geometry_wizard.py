"""The wizard that calibrates the geometry."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.geometry_page import GeometryPage
from gui.calibrate.geometry_views import GeometryView, PosePlanView, UnobservableView
from gui.fitting import EitherView, FitWizard, Outcome, Use, parameters_use
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme
from rig.config import resolve_name


class GeometryWizard(FitWizard):
    """Calibrate the geometry of the open configuration's mechanism, or plan the poses to be measured for that.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        data: measured poses, None while none are chosen.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        data: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Calibrate the geometry"), parent)
        config = session.config
        mechanism = str(resolve_name(config.folder, config.mechanism))
        self.measured = GeometryPage(mechanism, config.nominal.name, session.folder, self.looker.look)
        self.fit, self.plan, self.untold = GeometryView(theme), PosePlanView(theme), UnobservableView(theme)
        judged = tr("Nothing is saved before the next step. Each pose held out is predicted by a fit to the others.")
        self.set_up(self.measured, EitherView(self.fit, self.plan, self.untold), (tr("Geometry"), judged), "parameters")
        if data is not None:
            self.measured.data.choose(data)

    def use(self, outcome: Outcome, target: Path) -> Use | None:
        """See `FitWizard`."""
        if outcome.asked.planning:
            return None
        return parameters_use(self.session.config, self.session.config.nominal.name, target)
