"""The last step: where the parameter file goes, and the line that makes a configuration use it."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.steps import StepPage, ask_toml_path, browse_button, line_edit, set_role
from gui.widgets import GuardedButton


class StorePage(StepPage):
    """The file's name, Save, and the line for the configuration.

    Args:
        save: writes the file.
        line: the line of the configuration for a file.
    """

    def __init__(self, save: Callable[[], None], line: Callable[[Path], str]) -> None:
        super().__init__("Save", "The file is new and written whole; one that exists is never touched.")
        self._line = line
        self.saved: Path | None = None
        """where it was written, None while it is not"""
        self._failure = ""
        self._suggested = ""
        self.path = line_edit("File of the parameters", "", "inertia.toml")
        self.save = GuardedButton("Save", "Write the parameter file")
        self.result = QtWidgets.QLabel()
        self.result.setWordWrap(True)
        self.result.setAccessibleName("What came of saving")
        self.naming = line_edit("Line of the configuration")
        self.naming.setReadOnly(True)
        self.copy = GuardedButton("Copy", "Copy the line")
        self.told = QtWidgets.QLabel()
        self.told.setWordWrap(True)
        self.told.setObjectName("muted")
        self.told.setAccessibleName("What the line is for")
        row = QtWidgets.QHBoxLayout()
        row.addWidget(QtWidgets.QLabel("File"))
        row.addWidget(self.path, 1)
        row.addWidget(browse_button("Choose where the parameters go", self._browse))
        row.addWidget(self.save)
        below = QtWidgets.QHBoxLayout()
        below.addWidget(QtWidgets.QLabel("For the configuration"))
        below.addWidget(self.naming, 1)
        below.addWidget(self.copy)
        self.column.addLayout(row)
        self.column.addWidget(self.result)
        self.column.addSpacing(12)
        self.column.addLayout(below)
        self.column.addWidget(self.told)
        self.close_form()
        self.save.clicked.connect(lambda: save())
        self.copy.clicked.connect(lambda: QtWidgets.QApplication.clipboard().setText(self.naming.text()))
        self.path.textEdited.connect(lambda _text: self._edited())

    def target(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip())

    def suggest(self, recording: Path) -> None:
        """Offer a new file beside a recording, where no other was chosen."""
        if self.path.text().strip() != self._suggested:
            return
        path, number = recording.with_name(f"{recording.stem}-inertia.toml"), 2
        while path.exists() and path != self.saved:
            path = recording.with_name(f"{recording.stem}-inertia-{number}.toml")
            number += 1
        self._suggested = str(path)
        self.path.setText(self._suggested)

    def forget(self) -> None:
        """What is to be saved is another now."""
        self.saved, self._failure = None, ""

    def show_saved(self, path: Path) -> None:
        """It was written."""
        self.saved, self._failure = path, ""
        set_role(self.result, "good", f"✓ saved: {path}")

    def show_failure(self, reason: str) -> None:
        """It was not written."""
        self._failure = reason

    def refresh(self, obstacle: str, configuration: str) -> None:
        """Enable what can be done now; `configuration` is where the line belongs."""
        if self.saved is not None and self.target() != self.saved:
            self.saved = None
        named = bool(self.path.text().strip())
        if not obstacle:
            if not named:
                obstacle = "name the file first"
            elif self.saved is not None:
                obstacle = "it is saved"
            elif self.target().exists():
                obstacle = f"{self.target().name} exists already, and calibrations are never overwritten: name another"
            elif not self.target().parent.is_dir():
                obstacle = f"there is no folder {self.target().parent}"
        self.save.set_obstacle(obstacle)
        if self.saved is None:
            set_role(self.result, "bad", f"✗ {self._failure}" if self._failure else obstacle[:1].upper() + obstacle[1:])
        self.naming.setText(self._line(self.target()) if named else "")
        self.naming.setCursorPosition(0)
        self.copy.set_obstacle("" if self.saved is not None else "save first")
        self.told.setText(
            f"Put this line into {configuration}, above its first section: engine, checks and reports then compute "
            "with these parameters. The mechanism's own file stays as it was drawn."
        )
        self.show_missing("")
        self.completeChanged.emit()

    def isComplete(self) -> bool:
        """Whether Close is enabled."""
        return self.saved is not None

    def _browse(self) -> None:
        if name := ask_toml_path(self, "Parameters", "Parameters (*.toml)", self.path.text()):
            self.path.setText(name)
            self._edited()

    def _edited(self) -> None:
        self._failure = ""
        self.edited.emit()
