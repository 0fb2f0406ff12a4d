"""The question before a draft that is not saved is lost."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtWidgets


class DiscardQuestion(QtWidgets.QMessageBox):
    """Whether to close without saving; `answered` is called with the answer. Esc is to stay."""

    def __init__(self, parent: QtWidgets.QWidget, answered: Callable[[bool], None]) -> None:
        super().__init__(parent)
        self.setIcon(QtWidgets.QMessageBox.Icon.Question)
        self.setWindowTitle("Not saved")
        self.setText("What was entered is not saved. Close all the same?")
        discard = self.addButton("Close without saving", QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
        stay = self.addButton("Stay", QtWidgets.QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(stay)
        self.setEscapeButton(stay)
        self.buttonClicked.connect(lambda button: answered(button is discard))
        self.setWindowModality(QtCore.Qt.WindowModality.WindowModal)
        self.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
