"""A group of controls under a title that folds them away, and groups in as many columns as there is room for."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr

_GAP = 8  # px


class Fold(QtWidgets.QWidget):
    """A titled group; a click on its title folds it away or unfolds it.

    `folded` is emitted when that has changed.

    Args:
        title: of the group, in English; `tr` shows it.
        body: what is folded away.
    """

    folded = QtCore.Signal()

    def __init__(self, title: str, body: QtWidgets.QWidget, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.body = body
        self.head = QtWidgets.QToolButton()
        self.head.setObjectName("fold")
        self.head.setText(tr(title))
        self.head.setAccessibleName(tr(title))
        self.head.setCheckable(True)
        self.head.setToolButtonStyle(QtCore.Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)
        self.head.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it is
        self.head.toggled.connect(self._toggled)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.head)
        layout.addWidget(body)
        self.head.setChecked(True)

    @property
    def is_open(self) -> bool:
        """Whether the group is in view."""
        return bool(self.head.isChecked())

    def set_open(self, opened: bool) -> None:
        """Unfold the group, or fold it away."""
        self.head.setChecked(opened)

    def _toggled(self, opened: bool) -> None:
        arrow = QtCore.Qt.ArrowType
        self.head.setArrowType(arrow.DownArrow if opened else arrow.RightArrow)
        self.head.setToolTip(tr("Collapse") if opened else tr("Unfold"))
        self.body.setVisible(opened)
        self.folded.emit()


class Columns(QtWidgets.QWidget):
    """Widgets one below the other, in two columns once each gets its least width there.

    Args:
        first, second: what is in the first column, and what goes into a second one or else below.
    """

    def __init__(
        self,
        first: list[QtWidgets.QWidget],
        second: list[QtWidgets.QWidget],
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._layout = QtWidgets.QGridLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(_GAP)
        self._halves = [self._column(first), self._column(second)]
        self.count = 0
        self._arrange(1)

    def _column(self, widgets: list[QtWidgets.QWidget]) -> QtWidgets.QWidget:
        half = QtWidgets.QWidget()
        layout = QtWidgets.QVBoxLayout(half)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_GAP)
        for widget in widgets:
            layout.addWidget(widget)
        return half

    def minimumSizeHint(self) -> QtCore.QSize:
        """That of one column: two are for who has room."""
        sizes = [half.minimumSizeHint() for half in self._halves]
        height = sum(size.height() for size in sizes) + _GAP if self.count == 1 else max(s.height() for s in sizes)
        return QtCore.QSize(max(size.width() for size in sizes), height)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Take the columns that there is room for."""
        super().resizeEvent(event)
        widest = max(half.minimumSizeHint().width() for half in self._halves)
        self._arrange(2 if event.size().width() >= 2 * widest + _GAP else 1)

    def _arrange(self, count: int) -> None:
        if count == self.count:
            return
        self.count = count
        top = QtCore.Qt.AlignmentFlag.AlignTop
        for index, half in enumerate(self._halves):
            self._layout.removeWidget(half)
            self._layout.addWidget(half, 0 if count == 2 else index, index if count == 2 else 0, top)
        for column in range(2):
            self._layout.setColumnStretch(column, 1 if column < count else 0)
        self.updateGeometry()
