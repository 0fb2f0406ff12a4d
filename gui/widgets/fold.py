"""A collapsible group of controls, and a layout of groups in one or two columns."""

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr

_GAP = 8  # px


class Fold(QtWidgets.QWidget):
    """A titled group; clicking the title collapses or expands it.

    `folded` is emitted on change.

    Args:
        title: of the group, in English; `tr` translates it.
        body: the collapsible widget.
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
        self.head.setFocusPolicy(QtCore.Qt.FocusPolicy.TabFocus)  # a click leaves the focus where it is
        self.head.toggled.connect(self._toggled)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.head)
        layout.addWidget(body)
        self.head.setChecked(True)

    @property
    def is_open(self) -> bool:
        """Whether the group is expanded."""
        return bool(self.head.isChecked())

    def set_open(self, opened: bool) -> None:
        """Expand or collapse the group."""
        self.head.setChecked(opened)

    def _toggled(self, opened: bool) -> None:
        arrow = QtCore.Qt.ArrowType
        self.head.setArrowType(arrow.DownArrow if opened else arrow.RightArrow)
        self.head.setToolTip(tr("Collapse") if opened else tr("Unfold"))
        self.body.setVisible(opened)
        self.folded.emit()


class Columns(QtWidgets.QWidget):
    """Widgets in one column, or in two if each has its minimum width.

    Args:
        first, second: the first column's widgets; those of the second column, otherwise below.
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
        """The hint of one column."""
        sizes = [half.minimumSizeHint() for half in self._halves]
        height = sum(size.height() for size in sizes) + _GAP if self.count == 1 else max(s.height() for s in sizes)
        return QtCore.QSize(max(size.width() for size in sizes), height)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Choose the number of columns."""
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
