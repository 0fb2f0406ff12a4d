"""What the live views write beside their plots."""

from pyqtgraph.Qt import QtCore, QtWidgets


def header_label() -> QtWidgets.QLabel:
    """Line of rich text above a plot, in small letters; gives way when there is no room."""
    label = QtWidgets.QLabel()
    label.setAlignment(QtCore.Qt.AlignmentFlag.AlignLeft | QtCore.Qt.AlignmentFlag.AlignBottom)
    label.setTextFormat(QtCore.Qt.TextFormat.RichText)
    label.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed)
    label.setStyleSheet("font-size: 11px")
    return label


def swatch(colour: str, name: str) -> str:
    """Rich text: a name behind a bar of the colour; the name itself is in the colour of text, to be readable."""
    return f"<span style='color:{colour}'>▮</span><b>{name}</b>"
