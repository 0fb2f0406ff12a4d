"""Who runs motions and what for, as recordings and runs say it from then on."""

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr

_LONGEST = 1000  # characters, as recordings take them


class RunWords(QtWidgets.QWidget):
    """Two fields: the operator, who goes into every recording begun from then on, and a note on the next runs."""

    operator_changed = QtCore.Signal(str)
    note_changed = QtCore.Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.operator, self.note = QtWidgets.QLineEdit(), QtWidgets.QLineEdit()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        hints = (
            tr("Who operates the rig: recordings say so from Connect on"),
            tr("On the runs that follow: kept beside the recording, and can be changed later"),
        )
        fields = (
            (self.operator, tr("Operator"), self.operator_changed, 1),
            (self.note, tr("Note"), self.note_changed, 2),
        )
        for (field, name, told, stretch), hint in zip(fields, hints, strict=True):
            field.setMaxLength(_LONGEST)
            field.setAccessibleName(name)
            field.setPlaceholderText(name)
            field.setToolTip(hint)
            field.textChanged.connect(told)
            layout.addWidget(field, stretch)
