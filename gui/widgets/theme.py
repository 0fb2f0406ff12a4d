"""Colours of the app, dark and light. Hue tells the leg everywhere; solid is measured, dashed is model or command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtGui

LEG_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe–Ito colours of legs 1 to 6, the same in both themes and in reports."""

AXIS_COLOURS = ("error", "good", "accent")
"""Fields of a theme for x, y and z: red, green and blue."""

_TICKS = Path(__file__).with_name("ticks")

DASHED = "┄"
DASHES = {
    DASHED: QtCore.Qt.PenStyle.DashLine,
    "··": QtCore.Qt.PenStyle.DotLine,
    "–·": QtCore.Qt.PenStyle.DashDotLine,
    "–··": QtCore.Qt.PenStyle.DashDotDotLine,
}
"""Patterns of lines by what stands for them in a text."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One palette, colours as #RRGGBB."""

    name: str
    window: str
    """behind everything"""
    surface: str
    """plots, lists and fields"""
    raised: str
    """buttons and headers"""
    border: str
    text: str
    muted: str
    """text of less importance"""
    grid: str
    accent: str
    """selection, focus and what is commanded"""
    good: str
    warning: str
    error: str

    def pen(self, colour: str, *, dashed: bool | str = False) -> Any:
        """Pen of 1 px, the width Qt draws fastest; dashed, or with one of the patterns `DASHES`."""
        pattern = DASHED if dashed is True else dashed
        style = DASHES[pattern] if pattern else QtCore.Qt.PenStyle.SolidLine
        return pg.mkPen(colour, width=1, style=style)

    def towards_text(self, colour: str) -> str:
        """The colour, halfway to the colour of text: the same hue, told apart where both are drawn."""
        mixed = ((a + b) // 2 for a, b in zip(_rgb(colour), _rgb(self.text), strict=True))
        return "#" + bytes(mixed).hex().upper()

    def axis_colours(self) -> tuple[str, ...]:
        """Colours of the x, y and z axis."""
        return tuple(getattr(self, field) for field in AXIS_COLOURS)

    def leg_pen(self, leg: int) -> Any:
        """Pen of leg 0…5."""
        return self.pen(LEG_COLOURS[leg])


DARK = Theme(
    name="dark",
    window="#15181C",
    surface="#1C2025",
    raised="#2A3037",
    border="#454E58",
    text="#E8EBEE",
    muted="#A3ADB7",
    grid="#3A424B",
    accent="#8AB4F8",
    good="#4CC38A",
    warning="#F0B429",
    error="#FF7B72",
)

LIGHT = Theme(
    name="light",
    window="#EEF1F4",
    surface="#FFFFFF",
    raised="#E1E6EB",
    border="#AEB7C0",
    text="#1B2127",
    muted="#55606B",
    grid="#CFD6DC",
    accent="#1A5FB4",
    good="#17703F",
    warning="#8F5B00",
    error="#B3261E",
)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


THEMES = {theme.name: theme for theme in (DARK, LIGHT)}


def palette(theme: Theme) -> Any:
    """The theme as a QPalette."""
    role, group = QtGui.QPalette.ColorRole, QtGui.QPalette.ColorGroup
    made = QtGui.QPalette()
    colours = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.window,
        role.Text: theme.text,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.surface,
        role.Link: theme.accent,
        role.PlaceholderText: theme.muted,
    }
    for name, colour in colours.items():
        made.setColor(name, QtGui.QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(group.Disabled, name, QtGui.QColor(theme.muted))
    return made


def style_sheet(theme: Theme) -> str:
    """What the palette cannot say: borders, focus, checked buttons, tabs."""
    return f"""
QToolTip {{ color: {theme.text}; background: {theme.raised}; border: 1px solid {theme.border}; padding: 3px; }}
QPushButton, QToolButton {{
    background: {theme.raised}; color: {theme.text}; border: 1px solid {theme.border}; border-radius: 3px;
    padding: 3px 9px; min-height: 18px; }}
QPushButton:hover, QToolButton:hover {{ border-color: {theme.accent}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {theme.border}; }}
QPushButton:checked, QToolButton:checked {{
    background: {theme.accent}; color: {theme.surface}; border-color: {theme.accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {theme.muted}; background: {theme.window}; }}
QPushButton:focus, QToolButton:focus, QLineEdit:focus, QTableView:focus {{ border: 1px solid {theme.accent}; }}
QToolButton#preset {{ padding: 3px 1px; }}
QToolButton#fold {{
    background: transparent; color: {theme.muted}; border: none; border-bottom: 1px solid {theme.border};
    border-radius: 0; padding: 2px 4px; }}
QToolButton#fold:hover, QToolButton#fold:focus {{ color: {theme.accent}; border-bottom-color: {theme.accent}; }}
QToolButton#more {{ background: transparent; border-color: transparent; padding: 0 7px; }}
QToolButton#more:hover, QToolButton#more:focus {{ border-color: {theme.accent}; }}
QFileDialog QToolButton {{ padding: 2px; }}
QTabBar QToolButton {{ padding: 0; min-height: 0; }}
QLineEdit, QPlainTextEdit, QTextEdit {{
    background: {theme.surface}; color: {theme.text}; border: 1px solid {theme.border}; border-radius: 3px;
    padding: 2px 5px; min-height: 18px; }}
QAbstractSpinBox[plain="true"] {{
    background: {theme.surface}; color: {theme.text}; border: 1px solid {theme.border}; border-radius: 3px;
    padding: 2px 3px; min-height: 18px; }}
QAbstractSpinBox[plain="true"]:focus {{ border-color: {theme.accent}; }}
QAbstractSpinBox[plain="true"]:disabled {{ color: {theme.muted}; background: {theme.window}; }}
QAbstractSpinBox[plain="true"][wrong="true"] {{ color: {theme.error}; border-color: {theme.error}; }}
QLabel#fieldReason {{
    background: {theme.surface}; color: {theme.error}; border: 1px solid {theme.error}; border-radius: 3px;
    padding: 2px 5px; }}
QLineEdit:disabled {{ color: {theme.muted}; background: {theme.window}; }}
QListView::item:disabled {{ color: {theme.muted}; }}
QTableView, QTreeView, QListView {{
    background: {theme.surface}; color: {theme.text}; border: 1px solid {theme.border};
    gridline-color: {theme.border}; selection-background-color: {theme.accent}; selection-color: {theme.surface}; }}
QHeaderView::section {{
    background: {theme.raised}; color: {theme.text}; border: none; border-right: 1px solid {theme.border};
    border-bottom: 1px solid {theme.border}; padding: 3px 6px; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {theme.border}; }}
QTabBar::tab {{
    color: {theme.muted}; background: transparent; padding: 5px 12px; border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: {theme.text}; border-bottom: 2px solid {theme.accent}; }}
QTabBar::tab:hover {{ color: {theme.text}; }}
QTabBar::tab:focus {{ color: {theme.accent}; }}
QFrame#ground {{ background: {theme.surface}; border-radius: 6px; }}
QSplitter::handle {{ background: {theme.border}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{
    width: 11px; height: 11px; background: {theme.surface}; border: 1px solid {theme.muted}; border-radius: 2px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    image: url("{(_TICKS / f"tick-{theme.name}.svg").as_posix()}"); }}
QCheckBox::indicator:disabled, QCheckBox::indicator:checked:disabled {{
    background: {theme.window}; border-color: {theme.border}; }}
QScrollBar {{ background: {theme.window}; border: none; margin: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: {theme.border}; border-radius: 4px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 24px; }}
QScrollBar::handle:horizontal {{ min-width: 24px; }}
QScrollBar::handle:hover {{ background: {theme.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: none; }}
"""
