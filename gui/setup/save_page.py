"""The wizard's last page: the configuration as it will be, where it goes, and what can be done with it."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtGui, QtWidgets

from gui.setup.page import SetupPage
from gui.steps import ask_new_path, browse_button, line_edit, set_role
from gui.texts import tr
from gui.widgets import GuardedButton, GuardedCheckBox, TextRoom, hold_room
from rig.commissioning import Zero


class SavePage(SetupPage):
    """The file's text and place.

    Args:
        save: writes it.
        open_rig: opens the rig that was saved.
    """

    def __init__(self, save: Callable[[], None], open_rig: Callable[[Path], None]) -> None:
        super().__init__(tr("Save"), tr("The file is checked before it is written."))
        self.saved: Path | None = None
        """where it was written, None while it is not"""
        self._failure = ""
        self._zero: Zero | None = None
        self.path = line_edit(tr("File of the configuration"), "", "my-rig.toml")
        self.overwrite = GuardedCheckBox(tr("Replace the file that is there"))
        self.text = QtWidgets.QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QtWidgets.QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QtGui.QFontDatabase.systemFont(QtGui.QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(tr("The configuration as it will be written"))
        self.untested = QtWidgets.QLabel()
        self.untested.setObjectName("warning")
        self.untested.setAccessibleName(tr("Legs without a test that they passed"))
        self.notes = QtWidgets.QLabel()
        self.notes.setObjectName("muted")
        self.notes.setAccessibleName(tr("What became of the zero of the load cells"))
        self.save = GuardedButton(tr("Save"), tr("Write the configuration"))
        self.save.clicked.connect(lambda: save())
        self.open = GuardedButton(tr("Open this rig"), tr("Start the app anew on this rig; this window closes"))
        self.open.clicked.connect(lambda: open_rig(self.saved) if self.saved is not None else None)
        self.result = QtWidgets.QLabel()
        self.result.setAccessibleName(tr("What came of saving"))
        row = QtWidgets.QHBoxLayout()
        row.addWidget(QtWidgets.QLabel(tr("File")))
        row.addWidget(self.path, 1)
        row.addWidget(browse_button(tr("Choose where the configuration goes"), self._browse))
        row.addWidget(self.overwrite)
        self.column.addLayout(row)
        self.column.addWidget(self.text, 1)
        self.column.addWidget(self.untested)
        self.column.addWidget(TextRoom(self.notes, 2))
        self.column.addWidget(TextRoom(self.result, 2))
        for coming in (self.overwrite, self.untested):
            hold_room(coming)
        self.reason.setObjectName("reason")
        self.column.addWidget(self.reason)
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.save)
        buttons.addWidget(self.open)
        buttons.addStretch(1)
        self.column.addLayout(buttons)
        self.path.textEdited.connect(lambda _text: self._edited())
        self.overwrite.toggled.connect(lambda _on: self._edited())
        self.show_missing("")

    def target(self) -> Path:
        """The file to write."""
        return Path(self.path.text().strip())

    def suggest(self, name: str) -> None:
        """Offer a file of the rig's name where no other was chosen."""
        if not self.path.text().strip() and name:
            self.path.setText(str(Path.cwd() / f"{name.replace('/', '-')}.toml"))

    @property
    def content(self) -> tuple[str, Zero | None]:
        """What saving writes: the file's text as it is shown, and the zero that goes into a calibration beside it."""
        return self.text.toPlainText(), self._zero

    def show_content(self, text: str, zero: Zero | None, untested: str, notes: str) -> None:
        """Show what will be written; where that is something else than before, it is neither saved nor has failed."""
        if text != self.text.toPlainText() or zero is not self._zero:
            self.saved, self._failure = None, ""
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
        self._zero = zero
        self.untested.setText(untested)
        self.untested.setVisible(bool(untested))
        self.notes.setText(notes)

    def refresh(self, faults: list[str], busy: str) -> None:
        """Enable what can be done now."""
        if self.saved is not None and self.target() != self.saved:
            self.saved = None
        exists = bool(self.path.text().strip()) and self.target().exists() and self.saved is None
        self.overwrite.setVisible(exists)
        if not self.path.text().strip():
            obstacle = tr("name the file first")
        elif faults:
            obstacle = tr("the configuration is not valid yet: {faults}").format(faults="; ".join(faults))
        elif exists and not self.overwrite.isChecked():
            obstacle = tr("{name} exists already: tick “Replace the file that is there”, or name another").format(
                name=self.target().name
            )
        else:
            obstacle = ""
        if self.saved is None:
            set_role(self.result, "bad", f"✗ {self._failure}" if self._failure else obstacle)
        self.save.set_obstacle(busy or obstacle or (tr("it is saved") if self.saved else ""))
        self.open.set_obstacle(busy or ("" if self.saved else tr("save first")))
        self.show_missing(
            "" if self.saved else tr("Close is possible once the file is saved. Cancel leaves without saving.")
        )

    def show_saved(self, path: Path, calibration: str, content: tuple[str, Zero | None]) -> None:
        """`content` was written; what is shown now may be another already."""
        text, zero = content
        same = text == self.text.toPlainText() and zero is self._zero
        self.saved, self._failure = path if same else None, ""
        self.overwrite.setChecked(False)
        said = tr("✓ saved: {path}, with {calibration} beside it") if calibration else tr("✓ saved: {path}")
        set_role(self.result, "good", said.format(path=path, calibration=calibration))

    def show_failure(self, reason: str) -> None:
        """It was not written."""
        self._failure = reason

    def _browse(self) -> None:
        if name := ask_new_path(self, tr("Configuration"), tr("Configurations (*.toml)"), self.path.text()):
            self.path.setText(name)
            self._edited()

    def _edited(self) -> None:
        self._failure = ""
        self.edited.emit()
