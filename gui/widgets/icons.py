"""The app's icons, each named by its meaning: Material Design Icons, drawn by QtAwesome.

Fonts are loaded with the first icon painted, and of QtAwesome's twelve only this one: all take 0.15 s and 22 MB.
Icons take their colours from the application's palette when painted, so a theme change needs no new icons.
"""

from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

Target = TypeVar("Target", bound=Any)

_FONT = "mdi6"
_FILE = "materialdesignicons6-webfont-"  # followed by the version
_WHOLE = 1.0 / 0.875  # undoes the margin of QtAwesome; the font has its own
_SIDE = 16  # px
_DARK = "#10151a"  # on backgrounds that are bright in both themes

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
    """Background of an icon, which determines its colours."""

    BUTTON = "button"
    """The accent colour while checked."""
    NEXT = "next"
    """The accent colour."""
    ARMED = "armed"
    """Bright while checked."""
    MENU = "menu"
    TAB = "tab"


class _Engine(QtGui.QIconEngine):
    """Paints a glyph at the requested size in the current palette's colour.

    Args:
        glyph: of the font.
        ground: background.
        colour: while enabled, in place of the palette's.
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
        """See QIconEngine; cached."""
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
    """Return the icon of a meaning, one of `GLYPHS`. Raises KeyError for any other.

    ground: its background; colour: its own while enabled, "" for the theme's.
    """
    # without it Qt paints icons at scale 1 and enlarges them
    QtCore.QCoreApplication.setAttribute(QtCore.Qt.ApplicationAttribute.AA_UseHighDpiPixmaps)
    return QtGui.QIcon(_Engine(GLYPHS[meaning], ground, colour))


def set_icon(target: Target, meaning: str, ground: Ground | None = None) -> Target:
    """Set the icon of a button or an action, and return that; icons follow the mark of the next step.

    A button without text gets its accessible name and tooltip from its owner.
    """
    if isinstance(target, QtWidgets.QAbstractButton):
        target.setIconSize(QtCore.QSize(_SIDE, _SIDE))
        standing = ground or (Ground.NEXT if target.property("next") else Ground.BUTTON)
    else:
        standing = ground or Ground.MENU
    target.setProperty("meaning", meaning)
    target.setIcon(icon(meaning, standing))
    return target


class IconLabel(QtWidgets.QWidget):
    """A decorative icon without accessible name: the text next to it describes it.

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
    """Return an icon's colour, #RRGGBB."""
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
    """Return the font, shared by the process; needs an application, and outlives it."""
    import qtawesome
    from qtawesome.iconic_font import IconicFont

    folder, files = qtawesome.get_fonts_info()
    file = next(name for name in files if name.startswith(_FILE))
    names = Path(file.replace("-webfont-", "-webfont-charmap-")).with_suffix(".json")
    return IconicFont((_FONT, file, str(names), folder))
