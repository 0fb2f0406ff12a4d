"""Style of the shell, beside the theme that all views share."""

from pyqtgraph.Qt import QtWidgets

from gui.widgets import Theme, palette, style_sheet

STOP_RED = "#d40000"

_SHEET = """
QLabel#reason, QLabel#muted {{ color: {muted}; }}
QLabel#good {{ color: {good}; }}
QLabel#bad {{ color: {error}; font-weight: bold; }}
QLabel#warning {{ color: {warning}; }}
QLabel#heading {{ font-size: 15px; font-weight: bold; }}
QLabel#virtual {{ background: #56b4e9; color: #10151a; font-weight: bold; border-radius: 4px; padding: 4px 10px; }}
QLabel#off {{ background: #e69f00; color: #10151a; font-size: 11px; font-weight: bold; border-radius: 4px;
    padding: 2px 8px; }}
QLabel#empty {{ color: {muted}; border: 1px dashed {border}; border-radius: 3px; }}
QFrame#card, QFrame#transport {{ border-top: 1px solid {border}; }}
QPushButton#step {{ min-height: 26px; text-align: left; }}
QPushButton[next="true"] {{ background: {accent}; color: {surface}; border: 2px solid {accent}; padding: 2px 8px;
    font-weight: bold; }}
QPushButton[next="true"]:hover, QPushButton[next="true"]:focus {{ border-color: {text}; }}
QPushButton#stop {{ background: {stop}; color: white; font-size: 22px; font-weight: bold; border: 2px solid #7d0000;
    border-radius: 8px; }}
QPushButton#stop:hover {{ background: #ee1111; }}
QPushButton#stop:pressed {{ background: #8c0000; }}
QPushButton#stop:focus {{ border: 3px solid {text}; }}
QPushButton#mend {{ background: white; color: #10151a; border: 1px solid white; font-weight: bold;
    padding: 0 10px; min-height: 19px; }}
QPushButton#mend:hover {{ border-color: #10151a; }}
QPushButton#mend:disabled {{ background: transparent; color: white; border: 1px solid white; }}
QPushButton#armed {{ min-height: 26px; text-align: left; }}
QPushButton#armed:checked {{ background: #e69f00; color: #10151a; font-weight: bold; }}
QWizard QPushButton#armed {{ min-height: 18px; text-align: center; }}
QWizard QRadioButton::indicator {{ width: 11px; height: 11px; border: 1px solid {muted}; border-radius: 6px; }}
QWizard QRadioButton::indicator:checked {{ background: {accent}; }}
QWizard QRadioButton:focus, QWizard QCheckBox:focus {{ color: {accent}; }}
QProgressBar#thin {{ min-height: 6px; max-height: 6px; }}
QProgressBar {{ text-align: center; min-height: 18px; }}
"""


def dress(application: QtWidgets.QApplication, theme: Theme) -> None:
    """Give the whole application the look of a theme, which styles every widget; one it has already is left alone."""
    own = _SHEET.format(
        stop=STOP_RED,
        muted=theme.muted,
        good=theme.good,
        error=theme.error,
        warning=theme.warning,
        accent=theme.accent,
        text=theme.text,
        border=theme.border,
        surface=theme.surface,
    )
    sheet = style_sheet(theme) + own
    before = application.styleSheet()
    if before != sheet:
        if not before and application.style().objectName() != "fusion":
            application.setStyle("Fusion")  # each theme is of this style, and every widget would be styled once more
        application.setStyleSheet("")  # from one sheet to another takes Qt five times as long
        application.setPalette(palette(theme))
        application.setStyleSheet(sheet)
