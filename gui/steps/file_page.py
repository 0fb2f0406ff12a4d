"""The page of a wizard that saves a file."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.steps.form import ask_new_path, browse_button, line_edit, set_role
from gui.steps.step_page import StepPage
from gui.texts import tr
from gui.widgets import GuardedButton


class FilePage(StepPage):
    """Path of a file, its button Save, and whether it was saved; subclasses arrange them.

    Args:
        subtitle: below the title.
        named, hint: accessible name and placeholder of the path.
        browse: accessible name of its button.
        content: title of the dialog; its kinds of files begin with it.
        saves: tooltip of Save.
        save: writes the file.
    """

    def __init__(
        self, subtitle: str, named: tuple[str, str], browse: str, content: str, saves: str, save: Callable[[], None]
    ) -> None:
        super().__init__(tr("Save"), subtitle)
        self.saved: Path | None = None
        """Path of the saved file, None while unsaved."""
        self.suffix = ".toml"
        """Of the file."""
        self.failure = ""
        """Why saving failed, empty without."""
        self._content = content
        name, hint = named
        self.path = line_edit(name, "", hint)
        self.save = GuardedButton(tr("Save"), saves)
        self.result = QtWidgets.QLabel()
        self.result.setAccessibleName(tr("Result of saving"))
        self.file_row = QtWidgets.QHBoxLayout()
        self.file_row.addWidget(QtWidgets.QLabel(tr("File")))
        self.file_row.addWidget(self.path, 1)
        self.file_row.addWidget(browse_button(browse, self._browse))
        self.path.textEdited.connect(lambda _text: self.changed())
        self.save.clicked.connect(lambda: save())

    def target(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip())

    def obstacle(self) -> str:
        """Why no file can be written at this path, empty if one can; a path other than the saved file's is unsaved."""
        if self.saved is not None and self.target() != self.saved:
            self.saved = None
        return "" if self.path.text().strip() else tr("name the file first")

    def show_obstacle(self, obstacle: str) -> None:
        """Show why saving failed or is not possible, unless the file was saved."""
        if self.saved is None:
            set_role(self.result, "bad", f"✗ {self.failure}" if self.failure else obstacle)

    def show_failure(self, reason: str) -> None:
        """Show that saving failed."""
        self.failure = reason

    def changed(self) -> None:
        """Handle a change by the user."""
        self.failure = ""
        self.edited.emit()

    def _browse(self) -> None:
        kinds = f"{self._content} (*{self.suffix})"
        if name := ask_new_path(self, self._content, kinds, self.path.text(), self.suffix):
            self.path.setText(name)
            self.changed()
