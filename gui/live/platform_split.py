"""The platform beside the curves, for who wants both in view."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.platform_view import PlatformView
from gui.scene import Shapes
from gui.widgets import Theme

ROOMY = 1600
"""px of the window from which on the platform is shown beside the curves unless somebody has chosen"""


class PlatformSplit(QtWidgets.QSplitter):
    """Curves, and to their right the platform while `toggle` is checked; it is made when first shown.

    Args:
        curves: what stands at the left.
        toggle: checkable button.
        theme: colours.
    """

    def __init__(self, curves: QtWidgets.QWidget, toggle: QtWidgets.QAbstractButton, theme: Theme) -> None:
        super().__init__()
        self.setChildrenCollapsible(False)
        self.addWidget(curves)
        self.platform: PlatformView | None = None
        self._toggle = toggle
        self._theme = theme
        self._mechanism: Mechanism | None = None
        self.shapes = Shapes()
        """the owner's own, for when the platform is made"""
        self._past = ""
        self._kept: tuple[QtCore.QSettings, str] | None = None
        """what the platform takes up when it is made"""
        self._state: QtCore.QByteArray | None = None
        self._chosen = False
        """whether somebody has said to show the platform or not"""
        toggle.toggled.connect(self._show)
        toggle.clicked.connect(self._choose)

    @property
    def drawn(self) -> PlatformView | None:
        """The platform if it is in view."""
        return self.platform if self.platform is not None and self.platform.isVisible() else None

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """The mechanism to draw."""
        self._mechanism = mechanism
        if self.platform is not None:
            self.platform.set_mechanism(mechanism)

    def close_worker(self) -> None:
        """Finish pictures that are being written."""
        if self.platform is not None:
            self.platform.close_worker()

    def set_past(self, past: str) -> None:
        """See `PlatformView.set_past`."""
        self._past = past
        if self.platform is not None:
            self.platform.set_past(past)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        if self.platform is not None:
            self.platform.set_theme(theme)

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Keep under a name what was chosen, what the platform's colours say, and the sizes."""
        if self._chosen:
            settings.setValue(f"{name}/platform beside", "yes" if self._toggle.isChecked() else "no")
        if self.platform is not None:
            settings.setValue(f"{name}/splitter", self.saveState())
            self.platform.save(settings, name)

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept."""
        self._kept = (settings, name)
        if self.platform is not None:
            self.platform.restore(settings, name)
        state = settings.value(f"{name}/splitter")
        self._state = state if isinstance(state, QtCore.QByteArray) else None
        kept = settings.value(f"{name}/platform beside")
        if kept is not None:
            self._chosen = True
            self._toggle.setChecked(kept == "yes")

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Show the platform where there is room for it, until somebody chooses."""
        super().resizeEvent(event)
        if not self._chosen:
            self._toggle.setChecked(self.window().width() >= ROOMY)

    def _choose(self) -> None:
        self._chosen = True

    def _show(self, shown: bool) -> None:
        if shown and self.platform is None:
            self.platform = PlatformView(self._theme, compact=True)
            self.platform.set_shapes(self.shapes)
            self.platform.set_mechanism(self._mechanism)
            self.platform.set_past(self._past)
            if self._kept is not None:
                self.platform.restore(*self._kept)
            self.addWidget(self.platform)
            self.setStretchFactor(0, 3)
            self.setStretchFactor(1, 2)
            if self._state is None or not self.restoreState(self._state):
                self.setSizes([3 * self.width() // 5, 2 * self.width() // 5])
        if self.platform is not None:
            self.platform.setVisible(shown)
