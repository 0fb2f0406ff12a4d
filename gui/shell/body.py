"""What stands where on the main window."""

from collections.abc import Sequence

from pyqtgraph.Qt import QtCore, QtWidgets

_STEPS, _PAGES = 290, 990  # px at first
_LEAST = 270  # px


class _Column(QtWidgets.QWidget):
    """As wide as what is in it needs, which words of another language may make more, and no less than `_LEAST`."""

    def minimumSizeHint(self) -> QtCore.QSize:
        """See the class."""
        return super().minimumSizeHint().expandedTo(QtCore.QSize(_LEAST, 0))


class Body(QtWidgets.QWidget):
    """The state above, the steps beside the pages, and what holds for every page below. `splitter` divides the middle.

    Args:
        banner: the state, and STOP.
        steps: below each other, of which the first one grows.
        pages: scroll on a small screen, where STOP stays.
        below: below each other.
    """

    def __init__(
        self,
        banner: QtWidgets.QWidget,
        steps: Sequence[QtWidgets.QWidget],
        pages: QtWidgets.QWidget,
        below: Sequence[QtWidgets.QWidget],
    ) -> None:
        super().__init__()
        side = _Column()
        column = QtWidgets.QVBoxLayout(side)
        column.setContentsMargins(6, 4, 6, 6)
        for place, step in enumerate(steps):
            column.addWidget(step, 0 if place else 1)
        scrolled = QtWidgets.QScrollArea()
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        scrolled.setWidget(pages)
        self.splitter = QtWidgets.QSplitter()
        self.splitter.addWidget(side)
        self.splitter.addWidget(scrolled)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setSizes([_STEPS, _PAGES])
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(banner)
        layout.addWidget(self.splitter, 1)
        for widget in below:
            layout.addWidget(widget)
