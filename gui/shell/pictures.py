"""Pages of the window, and the machine beside the panels that move it: in Jog as it is, in Motion as it would move."""

from collections.abc import Callable, Iterator

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.live import PlatformView
from gui.motion import MotionPanel, MotionPlayer
from gui.operate import JogPanel
from gui.scene import Shapes
from gui.texts import tr
from gui.widgets import Theme
from rig.config import RigConfig

_JOG = "jog/platform"


class Tabs(QtWidgets.QTabWidget):
    """Tabs that need the room of the page in view alone: a wide one does not have the others cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _index: self.updateGeometry())

    def minimumSizeHint(self) -> QtCore.QSize:
        """That of the page in view, below the tabs."""
        page, stack = self.currentWidget(), self.findChild(QtWidgets.QStackedWidget)
        needed = QtCore.QSize() if page is None else page.minimumSizeHint().expandedTo(page.minimumSize())
        around = super().minimumSizeHint().height() - stack.minimumSizeHint().height()
        return QtCore.QSize(max(needed.width(), self.tabBar().minimumSizeHint().width()), needed.height() + around)


class Page(QtWidgets.QWidget):
    """A tab whose view comes later, and says so until then."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QtWidgets.QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._coming = QtWidgets.QLabel(tr("This page is being made …"))
        self._coming.setObjectName("muted")
        self._coming.setAlignment(QtCore.Qt.AlignmentFlag.AlignCenter)
        self._layout.addWidget(self._coming)

    def fill(self, view: QtWidgets.QWidget) -> None:
        """Put the view in."""
        self._coming.hide()
        self._layout.addWidget(view)


class Pictures:
    """Both; `build` makes them and puts them into their panels.

    Args:
        config: the rig.
        shapes: the owner's own.
        theme: colours.
        jog, motion: the panels.
        settings: what was kept of them.
    """

    def __init__(
        self,
        config: RigConfig,
        shapes: Shapes,
        theme: Theme,
        jog: JogPanel,
        motion: MotionPanel,
        settings: QtCore.QSettings,
    ) -> None:
        self._config, self._shapes, self._theme, self._settings = config, shapes, theme, settings
        self._panels = jog, motion

    def build(self) -> Iterator[None]:
        """Make one, then the other."""
        jog, motion = self._panels
        self.jog = PlatformView(self._theme, bare=True)
        yield
        self.jog.set_shapes(self._shapes)
        self.jog.set_mechanism(self._config.machine)
        yield
        self.jog.restore(self._settings, _JOG)
        jog.drag.show_on(self.jog.picture)
        self.jog.controls.addWidget(jog.drag.switch)
        self.jog.layout().addWidget(jog.drag.bar)
        jog.show_beside(self.jog)
        yield
        self.motion = MotionPlayer(self._config, self._theme, self._shapes)
        yield
        motion.sights.show_in_space(self.motion)
        yield

    @property
    def views(self) -> "tuple[PlatformView, MotionPlayer]":
        """What the clock of frames refreshes."""
        return self.jog, self.motion

    @property
    def themed(self) -> "list[Callable[[Theme], None]]":
        """What takes another theme; the motion's own does with its panel."""
        return [self.jog.set_theme]

    def close(self) -> None:
        """Keep what is shown, and finish pictures that are being written."""
        self.jog.save(self._settings, _JOG)
        self.jog.close_worker()
