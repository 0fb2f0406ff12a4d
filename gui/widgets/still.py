"""What changes many times a second without moving what is around it."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets


class Still(QtWidgets.QWidget):
    """Holds a widget at its own size. What changes in it has no layout around it worked out anew, up to the window's.

    A label's new text does, whatever its length: in the large window that takes longer than a frame of all curves.

    Args:
        held: takes all of the room.
    """

    def __init__(self, held: QtWidgets.QWidget) -> None:
        super().__init__()
        self._held = held
        held.setParent(self)
        policy = held.sizePolicy()
        self.setSizePolicy(policy.horizontalPolicy(), QtWidgets.QSizePolicy.Policy.Fixed)
        self.make_room()

    def make_room(self) -> None:
        """Become as high as what is held needs, if that is higher: what is below must not jump up and down with it."""
        held = self._held
        needed = held.heightForWidth(self.width()) if held.hasHeightForWidth() else held.sizeHint().height()
        if needed > self.minimumHeight():
            self.setFixedHeight(needed)

    def fit(self) -> None:
        """Become as high as it needs now."""
        self.setMinimumHeight(0)
        self.make_room()

    def sizeHint(self) -> QtCore.QSize:
        """That of what is held."""
        return self._held.sizeHint()

    def minimumSizeHint(self) -> QtCore.QSize:
        """That of what is held."""
        return self._held.minimumSizeHint()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Give all of the room away."""
        super().resizeEvent(event)
        self._held.setGeometry(self.rect())
        if event.size().width() != event.oldSize().width():
            self.fit()
