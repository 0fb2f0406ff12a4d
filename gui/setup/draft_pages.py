"""The wizard's pages of the draft: their descriptions, and the page that saves it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtGui, QtWidgets

from actuators import PARITIES, drive_names
from dynamics import mechanism_names
from gui.steps import FilePage, Form, FormPage, fields, set_role
from gui.texts import config_fault_text, finding_text, tr
from gui.widgets import LEG_COLOURS, GuardedButton, GuardedCheckBox, TextRoom, hold_room
from rig.client import free_ports
from rig.commissioning import CellAmplifier, Draft, Zero
from rig.config import usable_laws
from rig.errors import ConfigFault
from rig.findings import Finding

LOCAL = "127.0.0.1"
"""Address of a rehearsal's virtual devices."""
FAULT_LIMIT = 6


@dataclass(frozen=True, slots=True)
class DraftForm:
    """Description of a page whose fields are a draft's.

    form: its fields, named as the draft's. keys: of the configuration's entries and tables, whose faults it shows.
    changes: the draft's fields by the page's values. missing: text for a fault of a key, instead of the fault's.
    """

    form: Form
    keys: tuple[str, ...]
    changes: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    missing: Mapping[str, str] = field(default_factory=dict)


def start_form() -> DraftForm:
    """Describe the page of the mechanism, the control law, and whether it is a rehearsal."""
    return DraftForm(
        Form(
            tr("Mechanism and name"),
            tr("Name of the rig, and the file with its geometry, masses and limits."),
            [
                fields.text("name", tr("Name"), tr("Name of the rig"), tr("for example my-rig"), whole=True),
                fields.name_or_file(
                    "mechanism",
                    tr("Mechanism"),
                    tr("Mechanism: a shipped one's name, or a TOML file"),
                    mechanism_names(),
                    (tr("Choose a mechanism file"), tr("Mechanism"), tr("Mechanisms (*.toml)")),
                ),
                fields.choice(
                    "mode",
                    tr("Control"),
                    tr("Control law"),
                    [(tr(law.caption), law.name) for law in usable_laws()],
                ),
                fields.quantity("rate", tr("Rate"), tr("Cycles per second"), "Hz", (1.0, 1e4)),
                fields.optional(
                    "task_bandwidth",
                    tr("Bandwidth"),
                    tr("Natural frequency of the error under computed torque; matrices go into the file"),
                    "Hz",
                    (0.01, 1000.0),
                    hint=tr("10 Hz, or less at low rates"),
                ),
                fields.alternatives(
                    "virtual",
                    tr("Drives"),
                    [
                        (tr("Real drives"), False),
                        (tr("Rehearsal: virtual drives on this machine, no hardware needed"), True),
                    ],
                    False,
                ),
            ],
            link=_link_bandwidth,
        ),
        ("name", "mechanism", "mode", "rate", "control"),
        _with_bandwidth,
        missing={"name": tr("Give the rig a name.")},
    )


_TASK_SPACE = "computed-torque"


def _link_bandwidth(widgets: Mapping[str, Any]) -> None:
    """Enable the bandwidth only for the law that has it."""

    def permit() -> None:
        widgets["task_bandwidth"].setEnabled(widgets["mode"].currentData() == _TASK_SPACE)

    widgets["mode"].currentIndexChanged.connect(permit)
    permit()


def _with_bandwidth(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the draft's fields; the bandwidth of another law is left out."""
    return values if values["mode"] == _TASK_SPACE else {**values, "task_bandwidth": None}


FRAMES = [(tr("as usual"), ("", 0))] + [
    (f"8{parity[0].upper()}{stop_bits}", (parity, stop_bits)) for parity in PARITIES for stop_bits in (1, 2)
]
"""Formats of a byte on the serial ports: text, and parity and stop bits."""


def drives_form() -> DraftForm:
    """Describe the fields that all drives have in common."""
    return DraftForm(
        Form(
            tr("Drives and addresses"),
            tr(
                "Addresses of the drives. Query connects, identifies, sets the watchdog, reads and "
                "disconnects; nothing moves. A missing serial number is taken from the drive that answers; "
                "another drive is refused from then on."
            ),
            [
                fields.choice(
                    "driver", tr("Driver"), tr("Driver of the drives"), [(name, name) for name in drive_names()]
                ),
                fields.text(
                    "profile",
                    tr("Profile"),
                    tr("Register map of the drives: a shipped one's name, or a TOML file"),
                    filled=True,
                ),
                fields.quantity("watchdog", tr("Watchdog"), tr("Watchdog time of a drive, s"), "s", (0.0, 100.0)),
                fields.choice(
                    "frame", tr("Bytes"), tr("Bytes on the serial ports: eight bits, parity, stop bits"), FRAMES
                ),
            ],
            across=4,
        ),
        ("drives",),
        lambda values: {name: values[name] for name in ("driver", "profile", "watchdog")},
    )


def _link_amplifier(widgets: Mapping[str, Any]) -> None:
    """Enable the amplifier's address only where there is one."""

    def permit() -> None:
        for name in ("host", "port", "unit", "profile"):
            widgets[name].setEnabled(widgets["amplifier"].value)

    widgets["amplifier"].edited.connect(permit)
    permit()


def _with_amplifier(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the draft's fields, of which the amplifier's address is one."""
    address = [values[name] for name in ("host", "port", "unit", "profile")]
    amplifier = CellAmplifier(*address) if values["amplifier"] else None
    return {"amplifier": amplifier, **{name: values[name] for name in ("noise", "range", "recording")}}


_AMPLIFIER = tr("Register map of the amplifier: a shipped one's name, or a TOML file")


def cells_form() -> DraftForm:
    """Describe the page of the load cells and the recordings."""
    return DraftForm(
        Form(
            tr("Load cells and recordings"),
            tr("How the six load cells are read, their expected noise, and the folder of recordings."),
            [
                fields.alternatives(
                    "amplifier",
                    tr("Read by"),
                    [
                        (tr("The drives report the load cells of their legs"), False),
                        (tr("A separate six-channel amplifier"), True),
                    ],
                    False,
                ),
                *(
                    fields.with_default(each, CellAmplifier)
                    for each in (
                        fields.text("host", tr("Host"), tr("Host of the amplifier"), tr("name or address")),
                        fields.count("port", tr("Port"), tr("Port of the amplifier"), (1, 65535)),
                        fields.count("unit", tr("Unit id"), tr("Unit id of the amplifier"), (0, 255)),
                        fields.text("profile", tr("Register map"), _AMPLIFIER, filled=True),
                    )
                ),
                fields.quantity("noise", tr("Noise"), tr("Expected noise, standard deviation"), "N", (0.0, 1e5)),
                fields.quantity("range", tr("Range"), tr("Full scale of a cell"), "N", (0.0, 1e6)),
                fields.folder(
                    "recording",
                    tr("Recordings"),
                    tr("Folder of recordings"),
                    (tr("Choose the folder of recordings"), tr("Recordings")),
                ),
            ],
            link=_link_amplifier,
        ),
        ("load_cells", "recording"),
        _with_amplifier,
    )


class DraftPage(FormPage):
    """A page of the draft; `fill` writes its input into one."""

    def __init__(self, description: DraftForm) -> None:
        form = description.form
        super().__init__(replace(form, fields=[fields.with_default(each, Draft) for each in form.fields]))
        self._description = description

    def fill(self, draft: Draft) -> Draft:
        """Return the draft with this page's input."""
        return replace(draft, **self._description.changes(self.values))

    def own_faults(self, faults: Sequence[ConfigFault]) -> list[str]:
        """Return those of a draft's faults that belong to this page, as text."""
        texts, keys = self._description.missing, self._description.keys
        own = [fault for fault in faults if fault.key and fault.key[0] in keys]
        return [texts.get(".".join(map(str, fault.key)), "") or config_fault_text(fault) for fault in own]


class StartPage(DraftPage):
    """Name, mechanism, control law and rate; a rehearsal or real drives."""

    def __init__(self) -> None:
        super().__init__(start_form())
        self.close_form()


class CellsPage(DraftPage):
    """Source, noise and range of the load cells; the folder of recordings."""

    def __init__(self) -> None:
        super().__init__(cells_form())
        self.close_form()

    def set_rehearsal(self, rehearsal: bool) -> None:
        """Suggest an address of this machine for a rehearsal's amplifier."""
        if rehearsal and not self["host"].text():
            self["host"].setText(LOCAL)
            self["port"].setValue(free_ports(1)[0])


def listed(faults: list[str]) -> str:
    """Return faults as text, one per line; only counted if many."""
    lines = faults[:FAULT_LIMIT]
    if len(faults) > FAULT_LIMIT:
        lines.append(tr("… and {count} more").format(count=len(faults) - FAULT_LIMIT))
    return "\n".join(lines)


def leg_label(leg: int) -> QtWidgets.QLabel:
    """Return a label with the name of leg 0…5 in its colour."""
    return QtWidgets.QLabel(
        tr('<span style="color:{leg_colours}">●</span> Leg {leg}').format(leg_colours=LEG_COLOURS[leg], leg=leg + 1)
    )


class SavePage(FilePage):
    """Text and path of the file.

    Args:
        save: writes it.
        open_rig: opens the saved rig.
    """

    def __init__(self, save: Callable[[], None], open_rig: Callable[[Path], None]) -> None:
        super().__init__(
            tr("The file is checked before it is written."),
            (tr("File of the configuration"), "my-rig.toml"),
            tr("Choose where the configuration goes"),
            tr("Configuration"),
            tr("Write the configuration"),
            save,
        )
        self._zero: Zero | None = None
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
        self.open = GuardedButton(tr("Open this rig"), tr("Restart the app with this rig; this window closes"))
        self.open.clicked.connect(lambda: open_rig(self.saved) if self.saved is not None else None)
        self.file_row.addWidget(self.overwrite)
        self.column.addLayout(self.file_row)
        self.column.addWidget(self.text, 1)
        self.column.addWidget(self.untested)
        self.column.addWidget(TextRoom(self.notes, 2))
        self.column.addWidget(TextRoom(self.result, 3))
        for coming in (self.overwrite, self.untested):
            hold_room(coming)
        self.reason.setObjectName("reason")
        self.column.addWidget(self.reason)
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.save)
        buttons.addWidget(self.open)
        buttons.addStretch(1)
        self.column.addLayout(buttons)
        self.overwrite.toggled.connect(lambda _on: self.changed())
        self.show_missing("")

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
            self.saved, self.failure = None, ""
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
        self._zero = zero
        self.untested.setText(untested)
        self.untested.setVisible(bool(untested))
        self.notes.setText(notes)

    def refresh(self, faults: list[str], busy: str) -> None:
        """Enable what is possible."""
        obstacle = self.obstacle()
        exists = bool(self.path.text().strip()) and self.target().exists() and self.saved is None
        self.overwrite.setVisible(exists)
        if not obstacle and faults:
            obstacle = tr("the configuration is not valid yet: {faults}").format(faults="; ".join(faults))
        elif not obstacle and exists and not self.overwrite.isChecked():
            obstacle = tr("{name} exists already: tick “Replace the file that is there”, or name another").format(
                name=self.target().name
            )
        self.show_obstacle(obstacle)
        self.save.set_obstacle(busy or obstacle or (tr("it is saved") if self.saved else ""))
        self.open.set_obstacle(busy or ("" if self.saved else tr("save first")))
        self.show_missing(
            "" if self.saved else tr("Close is possible once the file is saved. Cancel leaves without saving.")
        )

    def show_saved(
        self, path: Path, calibration: str, content: tuple[str, Zero | None], findings: Sequence[Finding] = ()
    ) -> None:
        """Show that `content` was saved, with what was found; what is shown may have changed meanwhile."""
        text, zero = content
        same = text == self.text.toPlainText() and zero is self._zero
        self.saved, self.failure = path if same else None, ""
        self.overwrite.setChecked(False)
        message = tr("✓ saved: {path}, and {calibration} next to it") if calibration else tr("✓ saved: {path}")
        lines = [message.format(path=path, calibration=calibration), *(f"⚠ {finding_text(one)}" for one in findings)]
        set_role(self.result, "warning" if findings else "good", "\n".join(lines))
