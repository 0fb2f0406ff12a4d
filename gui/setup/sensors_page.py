"""The wizard's page of external sensors: a row for each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyqtgraph.Qt import QtWidgets

from actuators import serial_ports
from gui.setup.draft_pages import LOCAL, DraftForm, DraftPage
from gui.steps import Form, line_edit
from gui.texts import tr
from gui.widgets import Choice, GuardedButton, NumberField
from rig.client import free_ports
from rig.commissioning import Draft

_HEADINGS = (
    tr("Name"),
    tr("Kind"),
    tr("Source"),
    tr("Sending rate"),
    tr("Time of the readings"),
    tr("Channels and units"),
)
_KINDS = [(tr("IMU"), "imu"), (tr("Tracker"), "pose"), (tr("Channels"), "scalar")]
_CLOCKS = [
    (tr("its own clock"), "sender"),
    (tr("this computer's clock"), "machine"),
    (tr("time of arrival"), "arrival"),
]
_NAMES = {"imu": "imu", "pose": "tracker", "scalar": "gauge"}
_RATES = {"imu": 500.0, "pose": 100.0, "scalar": 1.0}
_MOST = 8


@dataclass(frozen=True, slots=True, eq=False)
class SensorRow:
    """Widgets of one sensor, ordered as the headings."""

    name: QtWidgets.QLineEdit
    kind: Choice
    source: QtWidgets.QLineEdit
    rate: NumberField
    clock: Choice
    channels: QtWidgets.QLineEdit
    remove: GuardedButton

    @property
    def widgets(self) -> tuple[QtWidgets.QWidget, ...]:
        """All of them."""
        return self.name, self.kind, self.source, self.rate, self.clock, self.channels, self.remove

    @property
    def table(self) -> Mapping[str, Any]:
        """The input as a table of the configuration."""
        scalar = {"channels": channels_of(self.channels.text())} if self.kind.currentData() == "scalar" else {}
        return {
            "name": self.name.text().strip(),
            "kind": self.kind.currentData(),
            "source": self.source.text().strip(),
            "rate": self.rate.si(),
            "clock": self.clock.currentData(),
            **scalar,
        }


def channels_of(text: str) -> list[dict[str, str]]:
    """Return channels as tables, of a text such as "temperature °C, supply V"."""
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        name, _space, unit = part.partition(" ")
        found.append({"name": name, "unit": unit.strip()} if unit.strip() else {"name": name})
    return found


def sensor_row(number: int, kind: str, name: str, source: str) -> SensorRow:
    """Create the widgets of sensor 1 to `_MOST`."""
    kinds = Choice(tr("Kind of sensor {number}").format(number=number), _KINDS)
    kinds.setCurrentIndex(kinds.findData(kind))
    hint = tr("Where the readings of sensor {number} come from: a UDP port, a serial line, a reader")
    places = line_edit(hint.format(number=number), source, tr("udp://127.0.0.1:9873, serial:///dev/…, plugin://…"))
    suggested = [f"serial://{port}?baud=115200" for port in serial_ports()]
    places.setCompleter(QtWidgets.QCompleter(suggested, places))
    remove = GuardedButton(tr("Remove"), tr("Remove this sensor"))
    remove.setAccessibleName(tr("Remove sensor {number}").format(number=number))
    clock = Choice(tr("What the time stamps of sensor {number} are").format(number=number), _CLOCKS)
    rate = tr("Readings per second of sensor {number}")
    channels = tr("Channels of sensor {number}, each with its unit").format(number=number)
    return SensorRow(
        line_edit(tr("Name of sensor {number}").format(number=number), name),
        kinds,
        places,
        NumberField(rate.format(number=number), "Hz", _RATES[kind], 0.01, 2000.0),
        clock,
        line_edit(channels, "", tr("temperature °C, supply V")),
        remove,
    )


class SensorsPage(DraftPage):
    """External sensors, none at first."""

    def __init__(self) -> None:
        super().__init__(
            DraftForm(
                Form(
                    tr("External sensors"),
                    tr(
                        "Sensors besides drives and load cells, whose readings are recorded and plotted. No sensor is "
                        "needed. Where they sit on the platform is entered in the file, with position and rotation."
                    ),
                    [],
                ),
                ("sensors",),
            )
        )
        self.rows: list[SensorRow] = []
        self._rehearsal = False
        self._grid = QtWidgets.QGridLayout()
        self._grid.setVerticalSpacing(4)
        self._headings = [QtWidgets.QLabel(text) for text in _HEADINGS]
        for column, heading in enumerate(self._headings):
            self._grid.addWidget(heading, 0, column)
        for column, stretch in ((0, 2), (2, 6), (5, 4)):
            self._grid.setColumnStretch(column, stretch)
        self.column.addLayout(self._grid)
        self.add_buttons = {
            kind: GuardedButton(text, "")
            for text, kind in ((tr("Add an IMU"), "imu"), (tr("Add a tracker"), "pose"), (tr("Add channels"), "scalar"))
        }
        row = QtWidgets.QHBoxLayout()
        for kind, button in self.add_buttons.items():
            button.clicked.connect(lambda _checked=False, kind=kind: self.add(kind))
            row.addWidget(button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.close_form()
        self._refresh()

    def set_rehearsal(self, rehearsal: bool) -> None:
        """Suggest ports of this computer for simulated sensors added from now on."""
        self._rehearsal = rehearsal

    def add(self, kind: str) -> None:
        """Append a sensor of a kind."""
        taken = {row.name.text() for row in self.rows}
        names = (f"{_NAMES[kind]}{number if number > 1 else ''}" for number in range(1, _MOST + 2))
        simulated = self._rehearsal and kind != "scalar"
        source = f"udp://{LOCAL}:{free_ports(1)[0]}" if simulated else ""
        row = sensor_row(len(self.rows) + 1, kind, next(name for name in names if name not in taken), source)
        self.rows.append(row)
        for column, widget in enumerate(row.widgets):
            self._grid.addWidget(widget, len(self.rows), column)
        for changed in (row.name.textEdited, row.source.textEdited, row.channels.textEdited, row.rate.changed):
            changed.connect(lambda *_value: self.edited.emit())
        for choice in (row.kind, row.clock):
            choice.currentIndexChanged.connect(lambda _index: self._refresh())
        row.remove.clicked.connect(lambda: self.remove(row))
        row.source.setFocus()
        self._refresh()

    def remove(self, row: SensorRow) -> None:
        """Remove a sensor; those below move up."""
        self.rows.remove(row)
        for widget in row.widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        for number, each in enumerate(self.rows, start=1):
            for column, widget in enumerate(each.widgets):
                self._grid.addWidget(widget, number, column)
        self._refresh()

    def fill(self, draft: Draft) -> Draft:
        """See `DraftPage`."""
        return replace(draft, sensors=tuple(row.table for row in self.rows))

    def _refresh(self) -> None:
        for row in self.rows:
            row.channels.setEnabled(row.kind.currentData() == "scalar")
        for heading in self._headings:
            heading.setVisible(bool(self.rows))
        full = tr("more sensors are entered in the file") if len(self.rows) >= _MOST else ""
        for button in self.add_buttons.values():
            button.set_obstacle(full)
        self.edited.emit()
