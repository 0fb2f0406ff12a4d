"""Appearance of the window as saved: colours, size, splitters and current page."""

from collections.abc import Callable, Iterator, Mapping

from pyqtgraph.Qt import QtCore, QtWidgets, isQObjectAlive

from gui.widgets import DARK, STYLE_SHEET, THEMES, IncrementalBuild, Theme, palette, run_all, tab_name

STOP_RED = "#d40000"

_SHEET = f"""{STYLE_SHEET}
QLabel#reason, QLabel#muted {{ color: palette(dark); }}
QLabel#good {{ color: palette(midlight); }}
QLabel#bad {{ color: palette(bright-text); font-weight: bold; }}
QLabel#warning {{ color: palette(link-visited); }}
QLabel#heading {{ font-size: 15px; font-weight: bold; }}
QLabel#virtual {{ background: #56b4e9; color: #10151a; font-weight: bold; border-radius: 4px; padding: 4px 10px; }}
QLabel#off {{ background: #e69f00; color: #10151a; font-size: 11px; font-weight: bold; border-radius: 4px;
    padding: 2px 8px; }}
QLabel#empty {{ color: palette(dark); border: 1px dashed palette(mid); border-radius: 3px; }}
QFrame#card, QFrame#transport {{ border-top: 1px solid palette(mid); }}
QPushButton#step {{ min-height: 26px; text-align: left; }}
QPushButton[next="true"] {{ background: palette(highlight); color: palette(base); border: 2px solid palette(highlight);
    padding: 2px 8px; font-weight: bold; }}
QPushButton[next="true"]:hover, QPushButton[next="true"]:focus {{ border-color: palette(text); }}
QPushButton#stop {{ background: {STOP_RED}; color: white; font-size: 22px; font-weight: bold; border: 2px solid #7d0000;
    border-radius: 8px; }}
QPushButton#stop:hover {{ background: #ee1111; }}
QPushButton#stop:pressed {{ background: #8c0000; }}
QPushButton#stop:focus {{ border: 3px solid palette(text); }}
QPushButton#mend {{ background: white; color: #10151a; border: 1px solid white; font-weight: bold;
    padding: 0 10px; min-height: 19px; }}
QPushButton#mend:hover {{ border-color: #10151a; }}
QPushButton#mend:disabled {{ background: transparent; color: white; border: 1px solid white; }}
QPushButton#armed {{ min-height: 26px; text-align: left; }}
QPushButton#armed:checked {{ background: #e69f00; color: #10151a; font-weight: bold; }}
QWizard QPushButton#armed {{ min-height: 18px; text-align: center; }}
QWizard QRadioButton::indicator {{ width: 11px; height: 11px; border: 1px solid palette(dark); border-radius: 6px; }}
QWizard QRadioButton::indicator:checked {{ background: palette(highlight); }}
QWizard QRadioButton:focus, QWizard QCheckBox:focus {{ color: palette(highlight); }}
QProgressBar#thin {{ min-height: 6px; max-height: 6px; }}
QProgressBar {{ text-align: center; min-height: 18px; }}
"""

_AT_ONCE = 300
"""Widgets styled at once."""
_SIZE = QtCore.QSize(1280, 800)
_FRAME = QtCore.QSize(8, 32)  # allowance for window decorations


def dress(application: QtWidgets.QApplication, theme: Theme) -> Iterator[None]:
    """Apply a theme to the application: visible widgets first, then the rest in portions.

    Qt would apply a changed style sheet in one go, which takes a second; so it stays, and each widget is restyled by
    itself.
    """
    colours = palette(theme)
    if application.styleSheet() != _SHEET:
        if application.style().objectName() != "fusion":
            application.setStyle("Fusion")  # once: changing it would restyle every widget
        application.setPalette(colours)
        application.setStyleSheet(_SHEET)
    elif application.palette() != colours:
        application.setPalette(colours)
        widgets = application.allWidgets()
        seen = [widget for widget in widgets if widget.isVisible()]
        _style(seen)
        yield
        rest = [widget for widget in widgets if not widget.isVisible()]
        for begin in range(0, len(rest), _AT_ONCE):
            _style(rest[begin : begin + _AT_ONCE])
            yield


def _style(widgets: list[QtWidgets.QWidget]) -> None:
    for widget in widgets:
        if isQObjectAlive(widget):
            widget.style().polish(widget)
            widget.update()


class Appearance(QtCore.QObject):
    """Saves and restores the look of a window.

    Args:
        window: the main window.
        settings: where it is saved.
    """

    def __init__(self, window: QtWidgets.QMainWindow, settings: QtCore.QSettings) -> None:
        super().__init__(window)
        self.settings = settings
        self.theme: Theme = THEMES.get(str(settings.value("theme", DARK.name)), DARK)
        self.dressing = IncrementalBuild(self)
        self._window = window
        self._themed: list[Callable[[Theme], None]] = []

    def follow(self, theme: Theme, *themed: Callable[[Theme], None]) -> None:
        """Apply theme changes from now on to what was created in `theme`, and the current theme if it has changed."""
        self._themed += themed
        if theme is not self.theme:
            for take in themed:
                take(self.theme)

    def use(self, name: str) -> None:
        """Switch to the dark or light theme, in portions."""
        self.theme = THEMES[name]
        self.dressing.replace(self._dress(self.theme))
        self.dressing.start(0)

    def _dress(self, theme: Theme) -> Iterator[None]:
        widgets = dress(QtWidgets.QApplication.instance(), theme)
        next(widgets, None)
        for take in self._themed:
            yield
            take(theme)
        yield
        yield from widgets

    def restore(self, splitters: Mapping[str, QtWidgets.QSplitter], tabs: QtWidgets.QTabWidget) -> None:
        """Restore the valid parts of the saved look, and save changes from now on.

        Args:
            splitters: by their keys in the settings.
            tabs: the pages.
        """
        self._splitters, self._tabs = splitters, tabs
        run_all(self._dress(self.theme))
        window, settings = self._window, self.settings
        geometry = settings.value("geometry")
        if not isinstance(geometry, QtCore.QByteArray) or not window.restoreGeometry(geometry):
            window.resize(_SIZE)
        room = window.screen().availableSize()
        window.resize(window.size().boundedTo(room - _FRAME).expandedTo(window.minimumSizeHint()))
        for key, splitter in splitters.items():
            state = settings.value(key)
            if isinstance(state, QtCore.QByteArray):  # the user may have edited the file
                splitter.restoreState(state)
        titles = [tab_name(tabs, index) for index in range(tabs.count())]
        wanted = settings.value("tab", titles[0])
        if wanted in titles:
            tabs.setCurrentIndex(titles.index(wanted))

    def close(self) -> None:
        """Save the look and stop following. May be called again."""
        self.dressing.stop()
        settings = self.settings
        settings.setValue("theme", self.theme.name)
        settings.setValue("geometry", self._window.saveGeometry())
        for key, splitter in self._splitters.items():
            settings.setValue(key, splitter.saveState())
        settings.setValue("tab", tab_name(self._tabs, self._tabs.currentIndex()))
        settings.sync()
