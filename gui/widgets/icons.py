"""One set of icons for the whole app, each named once by what it means: Material Design Icons, drawn by QtAwesome.

Fonts are loaded when the first icon is painted, and of QtAwesome's twelve this one alone: all cost 0.15 s and 22 MB.
An icon takes its colours from the application's palette whenever it is painted, so another theme needs no other icons.
"""

from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

Target = TypeVar("Target", bound=Any)

_FONT = "mdi6"
_FILE = "materialdesignicons6-webfont-"  # and then its version
_WHOLE = 1.0 / 0.875  # the font has its own margin, beside which QtAwesome would leave another
_SIDE = 16  # px
_DARK = "#10151a"  # upon what is bright in both themes

GLYPHS = {
    "abandon": "cancel",
    "add": "plus",
    "arm": "lock-open-variant",
    "back": "arrow-left",
    "beside": "dock-right",
    "clear": "eraser",
    "close": "close",
    "compare": "chart-multiple",
    "connect": "power-plug",
    "contents": "book-open-variant",
    "delete": "delete-outline",
    "disconnect": "power-plug-off",
    "dock": "dock-window",
    "down": "arrow-down",
    "engage": "lightning-bolt",
    "film": "filmstrip",
    "fit": "fit-to-page-outline",
    "forward": "arrow-right",
    "freeze": "snowflake",
    "full screen": "fullscreen",
    "go": "map-marker-right",
    "help": "help-circle-outline",
    "hold": "hand-back-right",
    "home": "home",
    "inject": "bug",
    "judge": "scale-balance",
    "more": "dots-vertical",
    "new": "file-plus-outline",
    "new rig": "robot-industrial",
    "note": "note-text-outline",
    "open": "folder-open",
    "park": "car-brake-parking",
    "pause": "pause",
    "pdf": "file-pdf-box",
    "picture": "image",
    "play": "play",
    "quit": "exit-to-app",
    "redo": "redo",
    "remove": "minus",
    "rename": "pencil",
    "report": "file-chart",
    "reset": "restart",
    "resume": "step-forward",
    "run": "play",
    "save": "content-save",
    "save as": "content-save-edit",
    "settings": "cog",
    "space": "cube-outline",
    "star": "star",
    "table": "table-arrow-down",
    "target": "axis-arrow",
    "tear off": "open-in-new",
    "tree": "file-tree",
    "undo": "undo",
    "up": "arrow-up",
    # states of the rig
    "off": "power-off",
    "idle": "circle-half-full",
    "homing": "home-search",
    "one leg": "arrow-up-down-bold",
    "parked": "stop",
    "on brakes": "car-brake-alert",
    "engaging": "lightning-bolt-outline",
    "engaged": "record-circle",
    "running": "play",
    "parking": "home-import-outline",
    "stopping": "arrow-down-bold",
    "starting": "timer-sand",
    "ending": "content-save-outline",
    "fault": "alert",
    "dead": "alert-octagon",
    "silent": "lan-disconnect",
    "held": "account-lock",
}
"""Meaning → name of the glyph in the font."""


class Ground(Enum):
    """What an icon stands on, which says its colours."""

    BUTTON = "button"
    """upon the accent where it is checked"""
    NEXT = "next"
    """upon the accent"""
    ARMED = "armed"
    """bright where it is checked"""
    MENU = "menu"
    TAB = "tab"


class _Engine(QtGui.QIconEngine):
    """Draws a glyph as large and in the colour that is asked for, from the palette of the moment.

    Args:
        glyph: of the font.
        ground: what it stands on.
        colour: while it is enabled, in place of the palette's.
    """

    def __init__(self, glyph: str, ground: Ground, colour: str) -> None:
        super().__init__()
        self._of = glyph, ground, colour

    def paint(self, painter: QtGui.QPainter, rect: QtCore.QRect, mode: int, state: int) -> None:
        """See QIconEngine."""
        glyph, ground, colour = self._of
        shown = _colour(ground, colour, mode, state)
        _font().icon(f"{_FONT}.{glyph}", color=shown, draw="path", scale_factor=_WHOLE).paint(painter, rect)

    def pixmap(self, size: QtCore.QSize, mode: int, state: int) -> QtGui.QPixmap:
        """See QIconEngine: what was drawn alike before is taken again."""
        glyph, ground, colour = self._of
        key = f"icon {glyph} {_colour(ground, colour, mode, state)} {size.width()} {size.height()}"
        found = QtGui.QPixmapCache.find(key)
        if found is not None:
            return found
        made = QtGui.QPixmap(size)
        made.fill(QtCore.Qt.GlobalColor.transparent)
        painter = QtGui.QPainter(made)
        self.paint(painter, made.rect(), mode, state)
        painter.end()
        QtGui.QPixmapCache.insert(key, made)
        return made

    def clone(self) -> "_Engine":
        """See QIconEngine."""
        return _Engine(*self._of)


def icon(meaning: str, ground: Ground = Ground.BUTTON, colour: str = "") -> QtGui.QIcon:
    """The icon of a meaning, one of `GLYPHS`. Raises KeyError for any other.

    ground: what it is to stand on; colour: its own while it is enabled, "" for the theme's.
    """
    # without it Qt paints icons at a scale of 1, and enlarges them
    QtCore.QCoreApplication.setAttribute(QtCore.Qt.ApplicationAttribute.AA_UseHighDpiPixmaps)
    return QtGui.QIcon(_Engine(GLYPHS[meaning], ground, colour))


def give(target: Target, meaning: str, ground: Ground | None = None, colour: str = "") -> Target:
    """Put an icon beside the text of a button or an action; returns that. One that is the next step is known as such.

    A button without a text gets its accessible name and its tooltip from its owner.
    """
    if isinstance(target, QtWidgets.QAbstractButton):
        target.setIconSize(QtCore.QSize(_SIDE, _SIDE))
        standing = ground or (Ground.NEXT if target.property("next") else Ground.BUTTON)
    else:
        standing = ground or Ground.MENU
    target.setProperty("meaning", meaning)
    target.setIcon(icon(meaning, standing, colour))
    return target


class IconLabel(QtWidgets.QWidget):
    """An icon by itself, for who sees; whoever does not is told by what stands beside it.

    Args:
        side: px.
    """

    def __init__(self, side: int, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(side, side)
        self.meaning = ""
        self._icon = QtGui.QIcon()

    def show_icon(self, meaning: str, colour: str) -> None:
        """Show an icon in a colour."""
        self.meaning = meaning
        self._icon = icon(meaning, colour=colour)
        self.update()

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw it."""
        painter = QtGui.QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


def _colour(ground: Ground, colour: str, mode: int, state: int) -> str:
    """In which colour an icon is drawn, #RRGGBB."""
    palette = QtGui.QGuiApplication.palette()
    group, role = QtGui.QPalette.ColorGroup, QtGui.QPalette.ColorRole
    on = state == QtGui.QIcon.State.On
    if mode == QtGui.QIcon.Mode.Disabled:
        return str(palette.color(group.Disabled, role.ButtonText).name())
    if colour:
        return colour
    if ground is Ground.ARMED and on:
        return _DARK
    if ground is Ground.NEXT or (ground is Ground.BUTTON and on):
        return str(palette.color(role.Base).name())
    if ground is Ground.MENU and mode == QtGui.QIcon.Mode.Active:
        return str(palette.color(role.HighlightedText).name())
    if ground is Ground.TAB and not on:
        return str(palette.color(group.Disabled, role.ButtonText).name())
    return str(palette.color(role.ButtonText).name())


@cache
def _font() -> Any:
    """The font, of the process: it needs an application, and outlives it."""
    import qtawesome
    from qtawesome.iconic_font import IconicFont

    folder, files = qtawesome.get_fonts_info()
    file = next(name for name in files if name.startswith(_FILE))
    names = Path(file.replace("-webfont-", "-webfont-charmap-")).with_suffix(".json")
    return IconicFont((_FONT, file, str(names), folder))
