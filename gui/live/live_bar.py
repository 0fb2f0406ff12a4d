"""The toolbar of the live views."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import tr
from gui.widgets import LEG_COLOURS, ElidedLabel, FlowLayout, Theme, ask_save, set_icon

WINDOWS = (1, 2, 5, 10, 20, 30, 60)
"""Selectable lengths of the time window, s."""
_NOTE = 240  # px of the message at the right end


class LegButtons(QtWidgets.QWidget):
    """Selects visible legs; Shift+click shows one alone. Signal `changed(list of six bool)`."""

    changed = QtCore.Signal(list)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self.buttons = []
        for leg in range(6):
            button = QtWidgets.QToolButton()
            button.setText(str(leg + 1))
            button.setCheckable(True)
            button.setChecked(True)
            button.setAccessibleName(tr("Show leg {leg}").format(leg=leg + 1))
            button.setToolTip(tr("Show or hide leg {leg}; with Shift: this leg alone").format(leg=leg + 1))
            button.clicked.connect(lambda _checked, leg=leg: self._clicked(leg))
            layout.addWidget(button)
            self.buttons.append(button)
        self.all = QtWidgets.QToolButton()
        self.all.setText(tr("All"))
        self.all.setAccessibleName(tr("Show all legs"))
        self.all.clicked.connect(lambda: self.set_legs([True] * 6))
        layout.addWidget(self.all)
        self.set_theme(theme)

    @property
    def legs(self) -> list[bool]:
        """Whether each leg is shown."""
        return [button.isChecked() for button in self.buttons]

    def set_legs(self, legs: list[bool]) -> None:
        """Show these legs."""
        for button, shown in zip(self.buttons, legs, strict=True):
            button.setChecked(shown)
        self.changed.emit(self.legs)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for button, colour in zip(self.buttons, LEG_COLOURS, strict=True):
            button.setStyleSheet(
                f"QToolButton {{ border-bottom: 3px solid {theme.border}; padding: 2px 7px; color: {theme.muted}; }}"
                f"QToolButton:checked {{ background: {theme.raised}; color: {theme.text};"
                f" border: 1px solid {theme.border}; border-bottom: 3px solid {colour}; }}"
                f"QToolButton:focus {{ border-color: {theme.accent}; border-bottom-color: {colour}; }}"
            )

    def _clicked(self, leg: int) -> None:
        if QtGui.QGuiApplication.keyboardModifiers() & QtCore.Qt.KeyboardModifier.ShiftModifier:
            self.set_legs([other == leg for other in range(6)])
        else:
            self.changed.emit(self.legs)


class LiveBar(QtWidgets.QWidget):
    """Freeze, clear, fit, window length, legs, export, platform; messages at the right end.

    Signals: `pictured(Path)`, `tabulated(Path)`: the user chose a file for the picture or the numbers.

    Args:
        theme: colours.
        replayed: the view shows a replay, which needs no freeze and clear.
    """

    pictured = QtCore.Signal(Path)
    tabulated = QtCore.Signal(Path)

    def __init__(self, theme: Theme, *, replayed: bool = False) -> None:
        super().__init__()
        row = FlowLayout(6)
        layout = QtWidgets.QHBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(row)
        self.freeze = push_button(tr("Freeze"), tr("Freeze the picture; recording continues. Drag it to look back"))
        self.freeze.setCheckable(True)
        self.clear = push_button(tr("Clear"), tr("Begin with an empty picture"))
        self.fit = push_button(tr("Fit"), tr("Fit the axes to the data again"))
        self.window = QtWidgets.QComboBox()
        self.window.setAccessibleName(tr("Window length, s"))
        self.window.setToolTip(tr("Time span shown"))
        for seconds in WINDOWS:
            self.window.addItem(f"{seconds} s", float(seconds))
        self.window.setCurrentText("10 s")
        self.legs = LegButtons(theme)
        self.png = push_button(tr("PNG…"), tr("Save a picture of the view"), tr("Export picture"))
        self.csv = push_button(tr("CSV…"), tr("Save the data of the view, at full rate"), tr("Export numbers"))
        for button, meaning in (
            (self.freeze, "freeze"),
            (self.clear, "clear"),
            (self.fit, "fit"),
            (self.png, "picture"),
            (self.csv, "table"),
        ):
            set_icon(button, meaning)
        self.png.clicked.connect(lambda: self._ask(self.pictured, tr("Pictures (*.png)"), ".png"))
        self.csv.clicked.connect(lambda: self._ask(self.tabulated, tr("Tables (*.csv)"), ".csv"))
        self.platform = push_button(
            "3-D", tr("Show the platform next to the curves"), tr("Platform next to the curves")
        )
        self.platform.setCheckable(True)
        set_icon(self.platform, "space")
        self.note = ElidedLabel()
        self.note.setAccessibleName(tr("Message"))
        self.note.setFixedSize(_NOTE, self.note.fontMetrics().height())
        for group in (
            (self.freeze, self.clear, self.fit),
            (QtWidgets.QLabel(tr("Window")), self.window),
            (QtWidgets.QLabel(tr("Legs")), self.legs),
            (QtWidgets.QLabel(tr("Export")), self.png, self.csv),
            (self.platform,),
            (self.note,),
        ):
            row.addWidget(_together(group))
        for button in (self.freeze, self.clear):
            button.setVisible(not replayed)

    @property
    def seconds(self) -> float:
        """Length of the window, s."""
        return float(self.window.currentData())

    def set_message(self, text: str) -> None:
        """Show a message."""
        self.note.setText(text)
        self.note.setToolTip(text)

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the window's length and the visible legs under a name."""
        settings.setValue(f"{name}/window", self.window.currentText())
        settings.setValue(f"{name}/legs", "".join(str(leg + 1) for leg in range(6) if self.legs.legs[leg]))

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore what was saved under a name."""
        self.window.setCurrentText(str(settings.value(f"{name}/window", self.window.currentText())))
        saved = settings.value(f"{name}/legs")
        if saved is not None:
            self.legs.set_legs([str(leg + 1) in str(saved) for leg in range(6)])

    def _ask(self, signal: Any, kind: str, suffix: str) -> None:
        path = ask_save(self, tr("Export what is shown"), f"live{suffix}", kind, suffix)
        if path is not None:
            signal.emit(path)


def _together(widgets: Sequence[QtWidgets.QWidget]) -> QtWidgets.QWidget:
    """Return a container that keeps widgets on one line."""
    group = QtWidgets.QWidget()
    row = QtWidgets.QHBoxLayout(group)
    row.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        row.addWidget(widget)
    return group


def push_button(text: str, tip: str, accessible: str = "") -> QtWidgets.QPushButton:
    """Return a button with a tooltip, and an accessible name if its text is not enough."""
    button = QtWidgets.QPushButton(text)
    button.setToolTip(tip)
    button.setAccessibleName(accessible or text)
    return button
