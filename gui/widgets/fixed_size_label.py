"""What changes by itself without moving what is around it."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets


class FixedSize(QtWidgets.QWidget):
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


def hold_room(widget: QtWidgets.QWidget) -> None:
    """Have a widget keep its room while it is hidden: nothing moves when it comes or goes."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


_SMALL = (11, 10)  # px of a text that has no room in the font of its surroundings


def fit_text(label: QtWidgets.QLabel, font: QtGui.QFont, height: int) -> None:
    """Write a label in a font, smaller where its text would not fit into so many pixels of height."""
    font = QtGui.QFont(font)
    label.setFont(font)
    for size in _SMALL:
        if label.heightForWidth(label.width()) > height:
            font.setPixelSize(size)
            label.setFont(font)


class TextRoom(QtWidgets.QScrollArea):
    """Room for a text of any length, as high as some lines: a longer text scrolls in it, and nothing around it moves.

    Args:
        label: shows the text.
        lines: of its font.
    """

    def __init__(self, label: QtWidgets.QLabel, lines: int) -> None:
        super().__init__()
        self._label, self._lines = label, lines
        label.setWordWrap(True)
        label.setAlignment(QtCore.Qt.AlignmentFlag.AlignTop)
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setWidget(label)
        for ground in (label, self.viewport()):
            ground.setAutoFillBackground(False)

    def show_text(self, text: str) -> None:
        """Show a text from its beginning; the same one stays as it is scrolled."""
        if text != self._label.text():
            self._label.setText(text)
            self.verticalScrollBar().setValue(0)

    def sizeHint(self) -> QtCore.QSize:
        """So many lines; of any width."""
        self._label.ensurePolished()
        return QtCore.QSize(0, self._lines * self._label.fontMetrics().lineSpacing())

    def minimumSizeHint(self) -> QtCore.QSize:
        """The same."""
        return self.sizeHint()


class ScrolledPage(QtWidgets.QScrollArea):
    """Scrolls up and down, with room for the bar also while there is none: nothing moves aside when it comes."""

    def __init__(self, page: QtWidgets.QWidget | None = None) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if page is not None:
            self.setWidget(page)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """See the class."""
        if self.widget() is not None:
            self.widget().setMaximumWidth(max(1, self.width() - self.verticalScrollBar().sizeHint().width()))
        super().resizeEvent(event)
