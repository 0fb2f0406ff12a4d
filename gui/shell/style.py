"""Style of the shell, beside the one that all views share."""

from collections.abc import Iterator

from pyqtgraph.Qt import QtWidgets, isQObjectAlive

from gui.widgets import STYLE_SHEET, Theme, palette

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
"""widgets"""


def dress(application: QtWidgets.QApplication, theme: Theme) -> Iterator[None]:
    """Give the whole application the look of a theme: at first what is in view, then the rest a little at a time.

    The style sheet stays as it is, which Qt would apply in one go that takes a second; each widget is styled by itself.
    """
    colours = palette(theme)
    if application.styleSheet() != _SHEET:
        if application.style().objectName() != "fusion":
            application.setStyle("Fusion")  # each theme is of this style, and every widget would be styled once more
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
