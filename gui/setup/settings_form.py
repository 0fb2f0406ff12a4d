"""The settings that the chosen driver has of its own, each as a file would have it; left empty: as usual."""

from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.steps import line_edit
from gui.texts import tr
from rig.commissioning import own_settings, setting_value

_IN_A_ROW = 4


class SettingsForm(QtWidgets.QWidget):
    """One field for each setting; what was entered for a driver is there again when that is chosen again.

    Signals: `edited` after a change by a person.
    """

    edited = QtCore.Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, QtWidgets.QLineEdit] = {}
        """by name, those of the driver shown"""
        self._kept: dict[str, dict[str, str]] = {}
        self._driver = ""
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(4)
        for column in range(1, 2 * _IN_A_ROW, 2):
            self._grid.setColumnStretch(column, 1)

    def show_driver(self, driver: str) -> None:
        """Show what a driver lets be set."""
        self._kept[self._driver] = {name: field.text() for name, field in self.fields.items()}
        while (item := self._grid.takeAt(0)) is not None:
            item.widget().hide()
            item.widget().deleteLater()
        self._driver, self.fields = driver, {}
        kept = self._kept.get(driver, {})
        for place, setting in enumerate(own_settings(driver)):
            words = setting.name.replace("_", " ")
            field = line_edit(f"{words}: {setting.about}" if setting.about else words, kept.get(setting.name, ""))
            field.setPlaceholderText(setting.usual or tr("as usual"))
            field.textEdited.connect(lambda _text: self.edited.emit())
            label = QtWidgets.QLabel(words)
            label.setToolTip(setting.about)
            row, column = divmod(place, _IN_A_ROW)
            self._grid.addWidget(label, row, 2 * column)
            self._grid.addWidget(field, row, 2 * column + 1)
            self.fields[setting.name] = field

    def values(self) -> dict[str, Any]:
        """What was entered, by name."""
        return {name: setting_value(field.text()) for name, field in self.fields.items() if field.text().strip()}
