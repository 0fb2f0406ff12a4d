"""What is seen of a motion: in space and as curves, beside each other where there is room, else in tabs."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.motion.motion_player import MotionPlayer
from gui.motion.plots import PreviewPlots
from gui.motion.preview import Preview
from gui.texts import tr
from gui.widgets import Theme
from rig.config import RigConfig

_ROOMY = 900
"""px from which on both are in view"""


class PreviewViews(QtWidgets.QStackedWidget):
    """Shows previews in both; in tabs, or in a splitter where it is wide enough.

    Args:
        config: the rig.
        theme: colours.
    """

    def __init__(self, config: RigConfig, theme: Theme) -> None:
        super().__init__()
        self.space: MotionPlayer | None = None
        self.plots = PreviewPlots(config, theme)
        self._shown = Preview()
        self.tabs = QtWidgets.QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName(tr("Views of the motion"))
        self.splitter = QtWidgets.QSplitter()
        self.splitter.setChildrenCollapsible(False)
        self.addWidget(self.tabs)
        self.addWidget(self.splitter)
        self.tabs.addTab(self.plots, tr("Curves"))

    def show_in_space(self, space: MotionPlayer) -> None:
        """Put the motion in space in front; it comes later, as it takes its time."""
        self.space = space
        self._lay_out(self.width() >= _ROOMY)
        space.show_preview(self._shown)

    def show_preview(self, preview: Preview) -> None:
        """Show a motion, or nothing where there is nothing to show."""
        self._shown = preview
        self.plots.show_preview(preview)
        if self.space is not None:
            self.space.show_preview(preview)

    def show_present(self, t: float | None, *, live: bool = False) -> None:
        """Where the motion is that is run, s along it, None where it is not; `live`: show the machine as it moves."""
        self.plots.show_present(t)
        if self.space is not None:
            self.space.show_present(t, live=live)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.plots.set_theme(theme)
        if self.space is not None:
            self.space.set_theme(theme)

    def close_worker(self) -> None:
        """Finish pictures that are being written."""
        if self.space is not None:
            self.space.view.close_worker()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Lay both out for the new width."""
        super().resizeEvent(event)
        if self.space is not None and (self.width() >= _ROOMY) != (self.currentWidget() is self.splitter):
            self._lay_out(self.width() >= _ROOMY)

    def _lay_out(self, beside: bool) -> None:
        space = self.space
        assert space is not None
        if beside:
            both: tuple[QtWidgets.QWidget, ...] = (space, self.plots)
            for place, widget in enumerate(both):
                self.splitter.insertWidget(place, widget)
                widget.show()
            self.splitter.setSizes([self.width() // 2, self.width() // 2])
            self.setCurrentWidget(self.splitter)
        else:
            self.tabs.insertTab(0, space, tr("In space"))
            self.tabs.insertTab(1, self.plots, tr("Curves"))
            self.tabs.setCurrentIndex(0)
            self.setCurrentWidget(self.tabs)

    def minimumSizeHint(self) -> QtCore.QSize:
        """That of the tabs: a splitter is only shown where it fits."""
        return QtCore.QSize(self.tabs.minimumSizeHint())
