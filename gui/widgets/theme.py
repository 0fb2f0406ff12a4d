"""Colours of the app, dark and light. Hue identifies the leg; solid is measured, dashed is model or command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyqtgraph as pg
from pyqtgraph.Qt import QtCore, QtGui

from gui.models import AXIS_COLOURS, DASHED, LEG_COLOURS

_TICK = Path(__file__).with_name("tick.svg")
"""In a colour visible in both themes."""

DASHES = {
    DASHED: QtCore.Qt.PenStyle.DashLine,
    "··": QtCore.Qt.PenStyle.DotLine,
    "–·": QtCore.Qt.PenStyle.DashDotLine,
    "–··": QtCore.Qt.PenStyle.DashDotDotLine,
}
"""Line patterns by their symbols in texts."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette, colours as #RRGGBB."""

    name: str
    window: str
    """Window background."""
    surface: str
    """Plots, lists and fields."""
    raised: str
    """Buttons and headers."""
    border: str
    text: str
    muted: str
    """Less important text."""
    grid: str
    accent: str
    """Selection, focus and commanded values."""
    good: str
    warning: str
    error: str

    def pen(self, colour: str, *, dashed: bool | str = False) -> Any:
        """Return a pen of 1 px, the width Qt draws fastest; dashed, or with one of the patterns `DASHES`."""
        pattern = DASHED if dashed is True else dashed
        style = DASHES[pattern] if pattern else QtCore.Qt.PenStyle.SolidLine
        return pg.mkPen(colour, width=1, style=style)

    def towards_text(self, colour: str) -> str:
        """Return the colour blended halfway with the text colour: same hue, but distinguishable."""
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
        # for style sheets; the style itself hardly uses these
        role.Mid: theme.border,
        role.Dark: theme.muted,
        role.BrightText: theme.error,
        role.Midlight: theme.good,
        role.LinkVisited: theme.warning,
    }
    for name, colour in colours.items():
        made.setColor(name, QtGui.QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(group.Disabled, name, QtGui.QColor(theme.muted))
    return made


STYLE_SHEET = f"""
QToolTip {{ color: palette(text); background: palette(button); border: 1px solid palette(mid); padding: 3px; }}
QPushButton, QToolButton {{
    background: palette(button); color: palette(text); border: 1px solid palette(mid); border-radius: 3px;
    padding: 3px 9px; min-height: 18px; }}
QPushButton:hover, QToolButton:hover {{ border-color: palette(highlight); }}
QPushButton:pressed, QToolButton:pressed {{ background: palette(mid); }}
QPushButton:checked, QToolButton:checked {{
    background: palette(highlight); color: palette(base); border-color: palette(highlight); }}
QPushButton:disabled, QToolButton:disabled {{ color: palette(dark); background: palette(window); }}
QPushButton:focus, QToolButton:focus, QLineEdit:focus, QTableView:focus {{ border: 1px solid palette(highlight); }}
QToolButton#preset {{ padding: 3px 1px; }}
QToolButton#fold {{
    background: transparent; color: palette(dark); border: none; border-bottom: 1px solid palette(mid);
    border-radius: 0; padding: 2px 4px; }}
QToolButton#fold:hover, QToolButton#fold:focus {{ color: palette(highlight); border-bottom-color: palette(highlight); }}
QToolButton#more {{ background: transparent; border-color: transparent; padding: 0 7px; }}
QToolButton#more:hover, QToolButton#more:focus {{ border-color: palette(highlight); }}
QFileDialog QToolButton {{ padding: 2px; }}
QTabBar QToolButton {{ padding: 0; min-height: 0; }}
QLineEdit, QPlainTextEdit, QTextEdit {{
    background: palette(base); color: palette(text); border: 1px solid palette(mid); border-radius: 3px;
    padding: 2px 5px; min-height: 18px; }}
QAbstractSpinBox[plain="true"] {{
    background: palette(base); color: palette(text); border: 1px solid palette(mid); border-radius: 3px;
    padding: 2px 3px; min-height: 18px; }}
QAbstractSpinBox[plain="true"] > QLineEdit {{ background: transparent; border: none; padding: 0 2px; min-height: 0; }}
QAbstractSpinBox[plain="true"]:focus {{ border-color: palette(highlight); }}
QAbstractSpinBox[plain="true"]:disabled {{ color: palette(dark); background: palette(window); }}
QAbstractSpinBox[plain="true"][wrong="true"] {{ color: palette(bright-text); border-color: palette(bright-text); }}
QLabel#fieldReason {{
    background: palette(base); color: palette(bright-text); border: 1px solid palette(bright-text); border-radius: 3px;
    padding: 2px 5px; }}
QLineEdit:disabled {{ color: palette(dark); background: palette(window); }}
QListView::item:disabled {{ color: palette(dark); }}
QTableView, QTreeView, QListView {{
    background: palette(base); color: palette(text); border: 1px solid palette(mid);
    gridline-color: palette(mid); selection-background-color: palette(highlight); selection-color: palette(base); }}
QHeaderView::section {{
    background: palette(button); color: palette(text); border: none; border-right: 1px solid palette(mid);
    border-bottom: 1px solid palette(mid); padding: 3px 6px; }}
QTabWidget::pane {{ border: none; border-top: 1px solid palette(mid); }}
QTabBar::tab {{
    color: palette(dark); background: transparent; padding: 5px 12px; border-bottom: 2px solid transparent; }}
QTabBar::tab:selected {{ color: palette(text); border-bottom: 2px solid palette(highlight); }}
QTabBar::tab:hover {{ color: palette(text); }}
QTabBar::tab:focus {{ color: palette(highlight); }}
QFrame#ground {{ background: palette(base); border-radius: 6px; }}
QSplitter::handle {{ background: palette(mid); }}
QCheckBox::indicator, QAbstractItemView::indicator {{
    width: 11px; height: 11px; background: palette(base); border: 1px solid palette(dark); border-radius: 2px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{
    image: url("{_TICK.as_posix()}"); }}
QCheckBox::indicator:disabled, QCheckBox::indicator:checked:disabled {{
    background: palette(window); border-color: palette(mid); }}
QScrollBar {{ background: palette(window); border: none; margin: 0; }}
QScrollBar:vertical {{ width: 12px; }}
QScrollBar:horizontal {{ height: 12px; }}
QScrollBar::handle {{ background: palette(mid); border-radius: 4px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 24px; }}
QScrollBar::handle:horizontal {{ min-width: 24px; }}
QScrollBar::handle:hover {{ background: palette(dark); }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: none; }}
"""
"""What the palette does not cover: borders, focus, checked buttons, tabs; in the palette's colours of any theme."""
