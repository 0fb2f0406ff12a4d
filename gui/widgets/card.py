"""A card: what belongs together on a ground of its own, with what it is above it."""

from pyqtgraph.Qt import QtWidgets


class Card(QtWidgets.QFrame):
    """Widgets below each other under a title."""

    def __init__(self, title: str, *widgets: QtWidgets.QWidget) -> None:
        super().__init__()
        self.setObjectName("ground")
        self.setAccessibleName(title)
        heading = QtWidgets.QLabel(title)
        heading.setObjectName("muted")
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(8, 5, 8, 7)
        column.setSpacing(4)
        for widget in (heading, *widgets):
            column.addWidget(widget)
