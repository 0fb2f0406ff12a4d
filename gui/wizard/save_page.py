"""The last page: path of the file, and its use by a configuration or the user."""

import shlex
from collections.abc import Callable
from pathlib import Path

import tomlkit
from pyqtgraph.Qt import QtCore, QtWidgets

from calibration import parameters_line
from gui.steps import FilePage, line_edit, set_role
from gui.texts import sentence, tr
from gui.widgets import GuardedButton, TextRoom, hold_room
from gui.wizard.description import FileKind, JobRequest, Use
from rig.config import RigConfig

_WORDS: dict[FileKind, tuple[str, str, str]] = {
    "parameters": (tr("File of the parameters"), tr("Choose where the parameters go"), tr("Parameters")),
    "calibration": (tr("File of the calibration"), tr("Choose where the calibration goes"), tr("Calibration")),
    "motion": (tr("File of the motion"), tr("Choose where the motion goes"), tr("Motion")),
    "plots": (tr("File of the plots"), tr("Choose where the plots go"), tr("Plots")),
}
"""Accessible names of the file field and of its button, and the title of the dialog."""


class SavePage(FilePage):
    """The file's name, Save, and the line to copy. Signals: `open_requested`: open it in the tab Motion.

    Args:
        what: content of the file.
        save: writes the file.
    """

    open_requested = QtCore.Signal()

    def __init__(self, what: FileKind, save: Callable[[], None]) -> None:
        named, where, content = _WORDS[what]
        subtitle = tr("A new file is written; an existing one is never changed.")
        super().__init__(subtitle, (named, ""), where, content, tr("Write the file"), save)
        self._suggested = ""
        self.label = QtWidgets.QLabel()
        self.naming = line_edit(tr("Line to copy"))
        self.naming.setReadOnly(True)
        self.copy = GuardedButton(tr("Copy"), tr("Copy the line"))
        self.open = GuardedButton(tr("Open in Motion"), tr("Close this and open the motion in the tab Motion"))
        self.purpose = QtWidgets.QLabel()
        self.purpose.setObjectName("muted")
        self.purpose.setAccessibleName(tr("Purpose of the line"))
        self.file_row.addWidget(self.save)
        self.use = QtWidgets.QWidget()
        below = QtWidgets.QHBoxLayout(self.use)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self.label)
        below.addWidget(self.naming, 1)
        below.addWidget(self.copy)
        below.addWidget(self.open)
        self.column.addLayout(self.file_row)
        self.column.addWidget(TextRoom(self.result, 2))
        self.column.addSpacing(12)
        self.column.addWidget(self.use)
        self.column.addWidget(TextRoom(self.purpose, 2))
        for coming in (self.use, self.open):
            hold_room(coming)
        self.close_form()
        self.copy.clicked.connect(lambda: QtWidgets.QApplication.clipboard().setText(self.naming.text()))
        self.open.clicked.connect(lambda: self.open_requested.emit())

    def suggest(self, request: JobRequest) -> None:
        """Suggest a new file from a request, unless the user chose one."""
        self.suffix = request.saved.suffix
        if self.path.text().strip() != self._suggested:
            return
        path, number = request.saved, 2
        while path.exists() and path != self.saved:
            path = request.saved.with_stem(f"{request.saved.stem}-{number}")
            number += 1
        self._suggested = str(path)
        self.path.setText(self._suggested)

    def reset(self) -> None:
        """Reset for a new result."""
        self.saved, self.failure = None, ""

    def show_saved(self, path: Path) -> None:
        """Show that it was saved."""
        self.saved, self.failure = path, ""
        set_role(self.result, "good", tr("✓ saved: {path}").format(path=path))

    def refresh(self, obstacle: str, use: Use | None) -> None:
        """Enable what is possible; `use` is the file's use, None if there is nothing to copy."""
        own = self.obstacle()
        if not obstacle:
            if own:
                obstacle = own
            elif self.saved is not None:
                obstacle = tr("it is saved")
            elif self.target().exists():
                obstacle = tr("{name} exists already, and is not overwritten: name another").format(
                    name=self.target().name
                )
            elif not self.target().parent.is_dir():
                obstacle = tr("there is no folder {folder}").format(folder=self.target().parent)
        self.save.set_obstacle(obstacle)
        self.show_obstacle(sentence(obstacle))
        self.use.setVisible(use is not None)
        self.label.setText(use.label if use is not None else "")
        self.naming.setText(use.line if use is not None else "")
        self.naming.setCursorPosition(0)
        self.purpose.setText(use.about if use is not None else "")
        self.open.setVisible(use is not None and use.motion)
        for button in (self.copy, self.open):
            button.set_obstacle("" if self.saved is not None else tr("save first"))
        self.show_missing("")
        self.completeChanged.emit()

    def isComplete(self) -> bool:
        """Whether Close is enabled."""
        return self.saved is not None


_FOR_CONFIGURATION = tr("For the configuration")


def parameters_use(config: RigConfig, mechanism: str, target: Path) -> Use:
    """Return the line for a file of parameters, preceded by the files in the configuration.

    mechanism: of the parameters; if it is not the configuration's, the line names the file alone.
    """
    own = mechanism == config.nominal.name
    line = parameters_line([target.name])
    if own:
        name = _named(config, target)
        line = parameters_line([*(each for each in config.parameters if each != name), name])
    about = tr(
        "Put this line into {file}, above its first section: engine, checks and reports then compute with these "
        "parameters. The mechanism's own file stays as it was drawn."
    ).format(file=_where(config, own))
    return Use(_FOR_CONFIGURATION, line, about)


def cells_use(config: RigConfig, own: bool, target: Path) -> Use:
    """Return the line for a calibration of the load cells; `own`: of this configuration's rig."""
    name = _named(config, target) if own else target.name
    about = tr(
        "Put this line into the section [load_cells] of {file}: engine, checks and reports then read the cells by "
        "this calibration."
    ).format(file=_where(config, own))
    return Use(_FOR_CONFIGURATION, tomlkit.dumps({"calibration": name}).strip(), about)


def run_use(config: RigConfig, target: Path, about: str) -> Use:
    """Return the command that runs a motion; `about`: its purpose."""
    return Use(tr("To run it"), shlex.join(["rig", "run", str(config.path), str(target)]), about, motion=True)


def _named(config: RigConfig, target: Path) -> str:
    place, folder = target.resolve(), config.folder.resolve()
    return str(place.relative_to(folder)) if place.is_relative_to(folder) else str(place)


def _where(config: RigConfig, own: bool) -> str:
    if not own:
        return tr("the rig's configuration")
    return (
        tr("a copy of {name}, which is the project's").format(name=config.path.name)
        if config.shipped
        else config.path.name
    )
