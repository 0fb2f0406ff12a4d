"""A flow layout: wraps its items like words."""

from pyqtgraph.Qt import QtCore, QtWidgets


class FlowLayout(QtWidgets.QLayout):
    """Items in rows, each of its preferred width, `gap` px apart."""

    def __init__(self, gap: int = 4) -> None:
        super().__init__()
        self._items: list[QtWidgets.QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QtWidgets.QLayoutItem) -> None:
        """Append an item."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """Return an item; None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """Remove and return an item; None beyond the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> QtCore.Qt.Orientations:
        """None."""
        return QtCore.Qt.Orientations()

    def hasHeightForWidth(self) -> bool:
        """True."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height for a width, px."""
        return self._place(QtCore.QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QtCore.QRect) -> None:
        """Place the items."""
        super().setGeometry(area)
        self._place(area, move=True)

    def sizeHint(self) -> QtCore.QSize:
        """The size of a single row."""
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self._gap for size in shown)
        return QtCore.QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QtCore.QSize:
        """The size of the widest item."""
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        widths, heights = [size.width() for size in shown], [size.height() for size in shown]
        return QtCore.QSize(max(widths, default=0), max(heights, default=0))

    def _place(self, area: QtCore.QRect, *, move: bool) -> int:
        """Place the items, or only compute the total height, px. All items of a row get its height."""
        lines: list[list[tuple[QtWidgets.QLayoutItem, int]]] = [[]]
        x = 0
        for item in self._items:
            width = int(item.sizeHint().width())
            if item.isEmpty():
                continue
            if lines[-1] and x + width > area.width():
                lines.append([])
                x = 0
            lines[-1].append((item, width))
            x += width + self._gap
        y = 0
        for line in lines:
            x, height = 0, max((int(item.sizeHint().height()) for item, _width in line), default=0)
            for item, width in line:
                if move:
                    item.setGeometry(QtCore.QRect(area.x() + x, area.y() + y, width, height))
                x += width + self._gap
            y += height + self._gap
        return max(0, y - self._gap)
