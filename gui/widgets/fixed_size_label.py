"""Labels and pages that change without moving their surroundings."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets


class FixedSize(QtWidgets.QWidget):
    """Container of a widget at its own size: its changes do not trigger the layouts around it, up to the window's.

    A label's new text would, whatever its length: in a large window that takes longer than a frame of all curves.

    Args:
        widget: fills the container.
    """

    def __init__(self, widget: QtWidgets.QWidget) -> None:
        super().__init__()
        self._widget = widget
        widget.setParent(self)
        policy = widget.sizePolicy()
        self.setSizePolicy(policy.horizontalPolicy(), QtWidgets.QSizePolicy.Policy.Fixed)
        self.make_room()

    def make_room(self) -> None:
        """Grow to the height that the widget needs; never shrinks, so that nothing moves."""
        widget = self._widget
        needed = widget.heightForWidth(self.width()) if widget.hasHeightForWidth() else widget.sizeHint().height()
        if needed > self.minimumHeight():
            self.setFixedHeight(needed)

    def fit(self) -> None:
        """Set the height that the widget needs now."""
        self.setMinimumHeight(0)
        self.make_room()

    def sizeHint(self) -> QtCore.QSize:
        """The widget's hint."""
        return self._widget.sizeHint()

    def minimumSizeHint(self) -> QtCore.QSize:
        """The widget's hint."""
        return self._widget.minimumSizeHint()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Resize the widget."""
        super().resizeEvent(event)
        self._widget.setGeometry(self.rect())
        if event.size().width() != event.oldSize().width():
            self.fit()


def hold_room(widget: QtWidgets.QWidget) -> None:
    """Reserve a widget's space while it is hidden."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


_SMALL = (11, 10)  # px, smaller fonts to try


def fit_text(label: QtWidgets.QLabel, font: QtGui.QFont, height: int) -> None:
    """Set a label's font, smaller if its text would exceed a height, px."""
    font = QtGui.QFont(font)
    label.setFont(font)
    for size in _SMALL:
        if label.heightForWidth(label.width()) > height:
            font.setPixelSize(size)
            label.setFont(font)


class TextRoom(QtWidgets.QScrollArea):
    """A text area with the height of some lines; longer text scrolls, so that nothing moves.

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
        """Show a text from its beginning; an unchanged one keeps its scroll position."""
        if text != self._label.text():
            self._label.setText(text)
            self.verticalScrollBar().setValue(0)

    def sizeHint(self) -> QtCore.QSize:
        """The height of the lines; any width."""
        self._label.ensurePolished()
        return QtCore.QSize(0, self._lines * self._label.fontMetrics().lineSpacing())

    def minimumSizeHint(self) -> QtCore.QSize:
        """Same as `sizeHint`."""
        return self.sizeHint()


class ScrolledPage(QtWidgets.QScrollArea):
    """Scrolls vertically, with reserved space for the bar, so that nothing moves when it appears."""

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
