"""The question before unsaved work is discarded."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import tr


class DiscardQuestion(QtWidgets.QMessageBox):
    """Asks whether to close without saving; calls `answered`. Esc is no.

    Args:
        parent: the window to close.
        loss: what is unsaved, the subject of a sentence: "What was entered".
        answered: called with whether to close.
    """

    def __init__(self, parent: QtWidgets.QWidget, loss: str, answered: Callable[[bool], None]) -> None:
        super().__init__(parent)
        self.setIcon(QtWidgets.QMessageBox.Icon.Question)
        self.setWindowTitle(tr("Not saved"))
        self.setText(tr("{loss} is not saved. Close anyway?").format(loss=loss))
        discard = self.addButton(tr("Close without saving"), QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
        stay = self.addButton(tr("Stay"), QtWidgets.QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(stay)
        self.setEscapeButton(stay)
        self.buttonClicked.connect(lambda button: answered(button is discard))
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
