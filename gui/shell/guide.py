"""The user guide in its own window, and the About box."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.texts import mark, tr
from gui.widgets import set_icon

_PAGES = Path(__file__).parent.parent.parent / "docs"
_PROGRAM = "stewart-rig"
FIRST_STEPS, CONTENTS = "first-run.md", "README.md"
_SIZE = QtCore.QSize(900, 760)
_MARGIN = 48  # px next to a picture
_AGAIN = 250  # ms until it requests the focus again
_ATTEMPTS = 4


class GuideWindow(QtWidgets.QWidget):
    """Shows the pages of the guide; opens external links in the system's browser.

    Args:
        parent: main window.
        pages: folder of the guide.
    """

    def __init__(self, parent: QtWidgets.QWidget | None = None, pages: Path = _PAGES) -> None:
        super().__init__(parent, QtCore.Qt.WindowType.Window)
        self._pages = pages
        self.setWindowTitle(tr("User guide"))
        self.text = _Page()
        self.text.setAccessibleName(tr("Page of the user guide"))
        self.text.setOpenExternalLinks(True)
        buttons = QtWidgets.QHBoxLayout()
        self.buttons = {
            key: QtWidgets.QPushButton(tr(key)) for key in (mark("Contents"), mark("Back"), mark("Forward"))
        }
        for name, button in self.buttons.items():
            buttons.addWidget(set_icon(button, name.lower()))
        buttons.addStretch(1)
        self.buttons["Contents"].clicked.connect(lambda: self.show_page(CONTENTS))
        self.buttons["Back"].clicked.connect(self.text.backward)
        self.buttons["Forward"].clicked.connect(self.text.forward)
        for name, changed in (("Back", self.text.backwardAvailable), ("Forward", self.text.forwardAvailable)):
            self.buttons[name].setEnabled(False)
            changed.connect(self.buttons[name].setEnabled)
        layout = QtWidgets.QVBoxLayout(self)
        layout.addLayout(buttons)
        layout.addWidget(self.text, 1)
        self.resize(_SIZE)
        self._asked = 0
        self._again = QtCore.QTimer(self, interval=_AGAIN)
        self._again.timeout.connect(self._ask_again)

    def show_page(self, name: str) -> None:
        """Show a page by file name; if the guide is not installed, show where it is."""
        page = self._pages / name
        if page.is_file():
            self.text.setSource(QtCore.QUrl.fromLocalFile(str(page)))
        else:
            self.text.setPlainText(
                tr(
                    "The guide is not installed here ({page} is missing).\nIt is the folder docs of {program}'s "
                    "source; begin with {name}."
                ).format(page=page, program=_PROGRAM, name=name)
            )
        self.show()
        self._asked = 0
        self._ask_for_focus()
        self._again.start()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Stop requesting the focus."""
        self._again.stop()
        super().hideEvent(event)

    def _ask_for_focus(self) -> None:
        """Request the focus: a key pressed while this window opened may keep it below the other one."""
        self._asked += 1
        self.raise_()
        self.activateWindow()

    def _ask_again(self) -> None:
        """Repeat the request: window managers refuse it if a key press is newer."""
        if self.isActiveWindow() or self._asked >= _ATTEMPTS:
            self._again.stop()
        else:
            self._ask_for_focus()


class _Page(QtWidgets.QTextBrowser):
    """A page with pictures scaled to the window."""

    def loadResource(self, kind: int, name: QtCore.QUrl) -> object:
        """Load text as it is, pictures scaled."""
        if kind != QtGui.QTextDocument.ResourceType.ImageResource:
            return super().loadResource(kind, name)
        picture = QtGui.QImage(self.source().resolved(name).toLocalFile())
        width = max(200, self.viewport().width() - _MARGIN)
        if picture.width() > width:
            picture = picture.scaledToWidth(width, QtCore.Qt.TransformationMode.SmoothTransformation)
        return picture


class HelpMenu(QtCore.QObject):
    """The menu Help: first steps, guide, about.

    Args:
        window: the main window.
    """

    def __init__(self, window: QtWidgets.QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.guide: GuideWindow | None = None
        menu = window.menuBar().addMenu(tr("&Help"))
        set_icon(menu.addAction(tr("&First steps"), lambda: self.show_page(FIRST_STEPS), "F1"), "help")
        set_icon(menu.addAction(tr("&User guide"), lambda: self.show_page(CONTENTS), "Shift+F1"), "contents")
        menu.addSeparator()
        menu.addAction(tr("&About {program}").format(program=_PROGRAM), self.show_about)

    def show_page(self, name: str) -> None:
        """Show a page of the guide."""
        if self.guide is None:
            self.guide = GuideWindow(self._window)
        self.guide.show_page(name)

    def show_about(self) -> None:
        """Show the About box."""
        box = QtWidgets.QMessageBox(self._window)
        box.setWindowTitle(tr("About"))
        box.setText(_about())
        box.setModal(False)
        box.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        box.show()


def _about() -> str:
    """Return the About text as rich text."""
    try:
        number = version(_PROGRAM)
    except PackageNotFoundError:
        number = tr("from source")
    return tr(
        "<b>{program} {number}</b><p>Hardware-in-the-loop test rig for a 6-UPS Stewart platform: the exact model's "
        "leg forces in every cycle, measured against load cells.</p><p>Python {python}, Qt {qt}, "
        "{system} {release}</p><p>The stops and limits of this software are not safety functions.</p>"
    ).format(
        program=_PROGRAM,
        number=number,
        python=platform.python_version(),
        qt=QtCore.QT_VERSION_STR,
        system=platform.system(),
        release=platform.release(),
    )
