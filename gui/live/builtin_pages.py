"""The pages of plots that the live views have themselves."""

from collections.abc import Callable

from pyqtgraph.Qt import QtWidgets

from gui.live.plot_page import PlotPage
from gui.live.series import Differences, panels_by_page
from gui.live.timing_page import TimingPage
from gui.widgets import Theme
from kinematics import Geometry

_COLUMNS = {"Terms": 2, "Pose": 2}  # panels beside each other


def make_builtin_pages(
    theme: Theme, differences: Differences, geometry: Callable[[], Geometry | None], chooser: QtWidgets.QWidget
) -> dict[str, PlotPage | TimingPage]:
    """By their names, to be built yet; `chooser`, of the models, is on that of the forces."""
    return {
        name: PlotPage(panels, theme, _COLUMNS.get(name, 1), chooser if name == "Forces" else None)
        for name, panels in panels_by_page(differences, geometry).items()
    } | {"Timing": TimingPage(theme)}
