"""The wizard's pages without drive access: start, load cells and recordings, and save."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import mechanism_names
from gui.steps import StepPage, ask_new_path, browse_button, line_edit, set_role
from gui.texts import config_fault_text, tr
from gui.widgets import (
    LEG_COLOURS,
    Choice,
    GuardedButton,
    GuardedCheckBox,
    QuantityBox,
    TextRoom,
    WholeNumber,
    hold_room,
)
from rig.client import free_ports
from rig.commissioning import CellAmplifier, Draft, Zero
from rig.config import declared_laws
from rig.errors import ConfigFault

LOCAL = "127.0.0.1"
"""Address of a rehearsal's virtual devices."""
FAULT_LIMIT = 6


class SetupPage(StepPage):
    """One page. Its widgets hold the user's input; `fill` writes it to a draft.

    Args:
        title, subtitle: shown on top.
        sections: keys of the file, including tables, edited on this page.
    """

    def __init__(self, title: str, subtitle: str, sections: tuple[str, ...] = ()) -> None:
        super().__init__(title, subtitle)
        self._sections = sections

    def fill(self, draft: Draft) -> Draft:
        """Return the draft with this page's input."""
        return draft

    def own_faults(self, faults: Sequence[ConfigFault]) -> list[str]:
        """Return those of a draft's faults that belong to this page, as text."""
        return [self.fault_words(fault) for fault in faults if fault.key and fault.key[0] in self._sections]

    def fault_words(self, fault: ConfigFault) -> str:
        """Return a fault of this page as text."""
        return config_fault_text(fault)


def listed(faults: list[str]) -> str:
    """Return faults as text, one per line; only counted if many."""
    lines = faults[:FAULT_LIMIT]
    if len(faults) > FAULT_LIMIT:
        lines.append(tr("… and {count} more").format(count=len(faults) - FAULT_LIMIT))
    return "\n".join(lines)


def ranges(numbers: list[int]) -> str:
    """Return sorted integers as text, with runs of three or more as ranges: 1, 3–6."""
    parts: list[str] = []
    for _, run in groupby(enumerate(numbers), lambda entry: entry[1] - entry[0]):
        found = [str(number) for _, number in run]
        parts += found if len(found) < 3 else [f"{found[0]}–{found[-1]}"]
    return ", ".join(parts)


def leg_label(leg: int) -> QtWidgets.QLabel:
    """Return a label with the name of leg 0…5 in its colour."""
    return QtWidgets.QLabel(
        tr('<span style="color:{leg_colours}">●</span> Leg {leg}').format(leg_colours=LEG_COLOURS[leg], leg=leg + 1)
    )


class StartPage(SetupPage):
    """Name, mechanism, control law and rate. `kindChanged`: switched between rehearsal and real."""

    kindChanged = QtCore.Signal(bool)

    def __init__(self) -> None:
        super().__init__(
            tr("Mechanism and name"),
            tr("Name of the rig, and the file with its geometry, masses and limits."),
            ("name", "mechanism", "mode", "rate"),
        )
        draft = Draft()
        self.name = line_edit(tr("Name of the rig"), "", tr("for example my-rig"))
        self.mechanism = Choice(tr("Mechanism: a shipped one's name, or a TOML file"))
        self.mechanism.setEditable(True)
        self.mechanism.setInsertPolicy(QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.mechanism.addItems(mechanism_names())
        self.mechanism.setCurrentText(draft.mechanism)
        self.mode = Choice(
            tr("Control law"),
            [
                (tr("Force, with the exact feedforward"), "force"),
                (tr("Computed torque"), "computed-torque"),
                (tr("Force, with a disturbance observer"), "observer"),
                (tr("Position, loop closed by the drives"), "position"),
                *((name, name) for name in declared_laws()),
            ],
        )
        self.rate = QuantityBox(tr("Cycles per second"), "Hz", draft.rate, 1.0, 1e4)
        self.real = QtWidgets.QRadioButton(tr("Real drives"))
        self.rehearsal = QtWidgets.QRadioButton(tr("Rehearsal: virtual drives on this machine, no hardware needed"))
        self.real.setChecked(True)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Name"), self.name)
        row = QtWidgets.QHBoxLayout()
        row.addWidget(self.mechanism, 1)
        row.addWidget(browse_button(tr("Choose a mechanism file"), self._browse))
        form.addRow(tr("Mechanism"), row)
        form.addRow(tr("Control"), self.mode)
        form.addRow(tr("Rate"), self.rate)
        form.addRow(tr("Drives"), self.real)
        form.addRow("", self.rehearsal)
        self.column.addLayout(form)
        self.close_form()
        self.name.textEdited.connect(lambda _text: self.edited.emit())
        self.mechanism.currentTextChanged.connect(lambda _text: self.edited.emit())
        self.mode.currentIndexChanged.connect(lambda _index: self.edited.emit())
        self.rate.changed.connect(self.edited)
        self.rehearsal.toggled.connect(self._kind_changed)

    def fill(self, draft: Draft) -> Draft:
        """See `SetupPage`."""
        return replace(
            draft,
            name=self.name.text().strip(),
            mechanism=self.mechanism.currentText().strip(),
            mode=self.mode.currentData(),
            rate=self.rate.si(),
            virtual=self.rehearsal.isChecked(),
        )

    def fault_words(self, fault: ConfigFault) -> str:
        """See `SetupPage`; a missing name has its own text."""
        return tr("Give the rig a name.") if fault.key == ("name",) else super().fault_words(fault)

    def _kind_changed(self, rehearsal: bool) -> None:
        self.kindChanged.emit(rehearsal)
        self.edited.emit()

    def _browse(self) -> None:
        given = Path(self.mechanism.currentText())
        start = str(given.parent) if given.suffix == ".toml" else ""
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(self, tr("Mechanism"), start, tr("Mechanisms (*.toml)"))
        if name:
            self.mechanism.setCurrentText(name)


_NOISE, _RANGE = 0.5, 800.0  # N, defaults if the draft has none


class CellsPage(SetupPage):
    """Source, noise and range of the load cells; the folder of recordings."""

    def __init__(self) -> None:
        super().__init__(
            tr("Load cells and recordings"),
            tr("How the six load cells are read, their expected noise, and the folder of recordings."),
            ("load_cells", "recording"),
        )
        draft, amplifier = Draft(), CellAmplifier()
        self.drives = QtWidgets.QRadioButton(tr("The drives report the load cells of their legs"))
        self.own = QtWidgets.QRadioButton(tr("A separate six-channel amplifier"))
        self.drives.setChecked(True)
        self.host = line_edit(tr("Host of the amplifier"), "", tr("name or address"))
        self.port = WholeNumber(tr("Port of the amplifier"), amplifier.port, 1, 65535)
        self.unit = WholeNumber(tr("Unit id of the amplifier"), amplifier.unit, 0, 255)
        self.profile = line_edit(
            tr("Register map of the amplifier: a shipped one's name, or a TOML file"), amplifier.profile
        )
        self.noise = QuantityBox(tr("Expected noise, standard deviation"), "N", draft.noise or _NOISE, 0.0, 1e5)
        self.range = QuantityBox(tr("Full scale of a cell"), "N", draft.range or _RANGE, 0.0, 1e6)
        self.folder = line_edit(tr("Folder of recordings"), draft.recording)
        self._address = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self._address)
        row.setContentsMargins(20, 0, 0, 0)
        for text, widget in (
            (tr("host"), self.host),
            (tr("port"), self.port),
            (tr("unit id"), self.unit),
            (tr("map"), self.profile),
        ):
            row.addWidget(QtWidgets.QLabel(text))
            row.addWidget(widget, 1)
        self._address.setEnabled(False)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Read by"), self.drives)
        form.addRow("", self.own)
        form.addRow("", self._address)
        form.addRow(tr("Noise"), self.noise)
        form.addRow(tr("Range"), self.range)
        places = QtWidgets.QHBoxLayout()
        places.addWidget(self.folder, 1)
        places.addWidget(browse_button(tr("Choose the folder of recordings"), self._browse))
        form.addRow(tr("Recordings"), places)
        self.column.addLayout(form)
        self.close_form()
        self.own.toggled.connect(self._source_changed)
        for edit in (self.host, self.profile, self.folder):
            edit.textEdited.connect(lambda _text: self.edited.emit())
        for box in (self.port, self.unit, self.noise, self.range):
            box.changed.connect(self.edited)

    def fill(self, draft: Draft) -> Draft:
        """See `SetupPage`."""
        amplifier = None
        if self.own.isChecked():
            address = (self.host.text().strip(), self.port.value(), self.unit.value())
            amplifier = CellAmplifier(*address, self.profile.text().strip())
        return replace(
            draft,
            amplifier=amplifier,
            noise=self.noise.si(),
            range=self.range.si(),
            recording=self.folder.text().strip(),
        )

    def set_rehearsal(self, rehearsal: bool) -> None:
        """Suggest an address of this machine for a rehearsal's amplifier."""
        if rehearsal and not self.host.text():
            self.host.setText(LOCAL)
            self.port.setValue(free_ports(1)[0])

    def _source_changed(self, own: bool) -> None:
        self._address.setEnabled(own)
        self.edited.emit()

    def _browse(self) -> None:
        name = QtWidgets.QFileDialog.getExistingDirectory(self, tr("Recordings"), self.folder.text())
        if name:
            self.folder.setText(name)
            self.edited.emit()


class SavePage(SetupPage):
    """Text and path of the file.

    Args:
        save: writes it.
        open_rig: opens the saved rig.
    """

    def __init__(self, save: Callable[[], None], open_rig: Callable[[Path], None]) -> None:
        super().__init__(tr("Save"), tr("The file is checked before it is written."))
        self.saved: Path | None = None
        """Path of the saved file, None while unsaved."""
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
        self.untested.setAccessibleName(tr("Legs without a passed test"))
        self.notes = QtWidgets.QLabel()
        self.notes.setObjectName("muted")
        self.notes.setAccessibleName(tr("Result of zeroing the load cells"))
        self.save = GuardedButton(tr("Save"), tr("Write the configuration"))
        self.save.clicked.connect(lambda: save())
        self.open = GuardedButton(tr("Open this rig"), tr("Restart the app with this rig; this window closes"))
        self.open.clicked.connect(lambda: open_rig(self.saved) if self.saved is not None else None)
        self.result = QtWidgets.QLabel()
        self.result.setAccessibleName(tr("Result of saving"))
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
        """Suggest a file name from the rig's name, unless the user chose one."""
        if not self.path.text().strip() and name:
            self.path.setText(str(Path.cwd() / f"{name.replace('/', '-')}.toml"))

    @property
    def content(self) -> tuple[str, Zero | None]:
        """What saving writes: the shown text of the file, and the zero for a calibration next to it."""
        return self.text.toPlainText(), self._zero

    def show_content(self, text: str, zero: Zero | None, untested: str, notes: str) -> None:
        """Show what will be written; a change resets the saved and failed states."""
        if text != self.text.toPlainText() or zero is not self._zero:
            self.saved, self._failure = None, ""
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
        self._zero = zero
        self.untested.setText(untested)
        self.untested.setVisible(bool(untested))
        self.notes.setText(notes)

    def refresh(self, faults: list[str], busy: str) -> None:
        """Enable what is possible."""
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
        """Show that `content` was saved; what is shown may have changed meanwhile."""
        text, zero = content
        same = text == self.text.toPlainText() and zero is self._zero
        self.saved, self._failure = path if same else None, ""
        self.overwrite.setChecked(False)
        message = tr("✓ saved: {path}, and {calibration} next to it") if calibration else tr("✓ saved: {path}")
        set_role(self.result, "good", message.format(path=path, calibration=calibration))

    def show_failure(self, reason: str) -> None:
        """Show that saving failed."""
        self._failure = reason

    def _browse(self) -> None:
        if name := ask_new_path(self, tr("Configuration"), tr("Configurations (*.toml)"), self.path.text()):
            self.path.setText(name)
            self._edited()

    def _edited(self) -> None:
        self._failure = ""
        self.edited.emit()
