"""A card: a titled group with its own background."""

from pyqtgraph.Qt import QtWidgets


class Card(QtWidgets.QFrame):
    """Stacked widgets under a title."""

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
