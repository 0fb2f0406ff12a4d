"""A layout that goes on in the next line where a line is full, as words do."""

from pyqtgraph.Qt import QtCore, QtWidgets


class FlowLayout(QtWidgets.QLayout):
    """Its items one beside the other, each as wide as it wants to be, `gap` px apart."""

    def __init__(self, gap: int = 4) -> None:
        super().__init__()
        self._items: list[QtWidgets.QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QtWidgets.QLayoutItem) -> None:
        """Take an item in, as the last one."""
        self._items.append(item)

    def count(self) -> int:
        """How many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """One of them; None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """Give one of them up; None beyond the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> QtCore.Qt.Orientations:
        """None: it takes the lines that it needs."""
        return QtCore.Qt.Orientations()

    def hasHeightForWidth(self) -> bool:
        """In little width it is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Its height, px, in a width, px."""
        return self._place(QtCore.QRect(0, 0, width, 0), move=False)

    def setGeometry(self, area: QtCore.QRect) -> None:
        """Put the items where they belong."""
        super().setGeometry(area)
        self._place(area, move=True)

    def sizeHint(self) -> QtCore.QSize:
        """That of one line."""
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self._gap for size in shown)
        return QtCore.QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QtCore.QSize:
        """That of the widest item."""
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        widths, heights = [size.width() for size in shown], [size.height() for size in shown]
        return QtCore.QSize(max(widths, default=0), max(heights, default=0))

    def _place(self, area: QtCore.QRect, *, move: bool) -> int:
        """Go through the lines; how high they are together, px. All items of a line are as high as the highest."""
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
