"""The wizard's second page: addresses of the six drives, search, identification, settings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from actuators import CAN_BIT_RATE, CAN_SCHEME, Answer, serial_ports
from gui.setup.draft_pages import FRAMES, LOCAL, DraftPage, drives_form, leg_label, listed
from gui.steps import line_edit, set_role, unbroken
from gui.texts import finding_text, tr
from gui.widgets import ElidedLabel, GuardedButton, QuantityBox, TextRoom, WholeNumber, field_refusal
from rig.client import free_ports
from rig.commissioning import (
    Draft,
    DriveAddress,
    LegProbe,
    Probe,
    answer_finding,
    compare,
    has_profile,
    own_settings,
    setting_value,
    speaks_modbus,
    usual_unit,
    with_found,
    with_reply_delays,
)
from rig.errors import ConfigFault

HEADINGS = (
    tr("host, serial port or CAN bus"),
    tr("port or bit rate"),
    tr("unit id"),
    tr("length at 0"),
    tr("serial number"),
)
NOT_ASKED = tr("not queried yet")


@dataclass(frozen=True, slots=True, eq=False)
class DriveRow:
    """Widgets of one leg; those of the address are ordered as `HEADINGS`."""

    host: QtWidgets.QLineEdit
    port: WholeNumber
    unit: WholeNumber
    zero: QuantityBox
    serial: QtWidgets.QLineEdit
    ask: GuardedButton
    status: QtWidgets.QLabel


def drive_row(leg: int) -> DriveRow:
    """Create the widgets of leg 1 to 6."""
    host = line_edit(
        tr("Host, serial port or CAN bus of leg {leg}").format(leg=leg), "", tr("address, /dev/… or can://…")
    )
    host.setCompleter(QtWidgets.QCompleter(serial_ports(), host))
    port = tr("Port of leg {leg}, or the bit rate of its serial port or CAN bus").format(leg=leg)
    length = tr("Length of leg {leg} at drive position zero").format(leg=leg)
    zero = QuantityBox(length, "m", 0.0, -10.0, 10.0)
    zero.setSizePolicy(QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Fixed)
    hint = tr("Connect to the drive of leg {leg}, read its identity and status, disconnect; nothing moves")
    ask = GuardedButton(tr("Query drive"), hint.format(leg=leg))
    ask.setAccessibleName(tr("Query the drive of leg {leg}").format(leg=leg))
    status = ElidedLabel()
    status.setText(NOT_ASKED)
    status.setObjectName("muted")
    status.setAccessibleName(tr("Answer of the drive of leg {leg}").format(leg=leg))
    return DriveRow(
        host,
        WholeNumber(port, 502, 1, 4_000_000),
        WholeNumber(tr("Unit id of leg {leg}").format(leg=leg), 1, 0, 255),
        zero,
        line_edit(tr("Serial number of leg {leg}; empty: any").format(leg=leg), "", tr("any")),
        ask,
        status,
    )


_IN_A_ROW = 4


class SettingsForm(QtWidgets.QWidget):
    """One field per setting; values are remembered per driver.

    Signals: `edited` after a change by the user.
    """

    edited = QtCore.Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, QtWidgets.QLineEdit] = {}
        """Fields of the current driver, by name."""
        self._entered: dict[str, dict[str, str]] = {}
        self._driver = ""
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(4)
        for column in range(1, 2 * _IN_A_ROW, 2):
            self._grid.setColumnStretch(column, 1)

    def show_driver(self, driver: str) -> None:
        """Show a driver's settings."""
        self._entered[self._driver] = {name: field.text() for name, field in self.fields.items()}
        while (item := self._grid.takeAt(0)) is not None:
            item.widget().hide()
            item.widget().deleteLater()
        self._driver, self.fields = driver, {}
        entered = self._entered.get(driver, {})
        for place, setting in enumerate(own_settings(driver)):
            words, about = tr(setting.name.replace("_", " ")), tr(setting.about)
            field = line_edit(f"{words}: {about}" if about else words, entered.get(setting.name, ""))
            field.setPlaceholderText(setting.usual or tr("as usual"))
            field.textEdited.connect(lambda _text: self.edited.emit())
            label = QtWidgets.QLabel(words)
            label.setToolTip(about)
            row, column = divmod(place, _IN_A_ROW)
            self._grid.addWidget(label, row, 2 * column)
            self._grid.addWidget(field, row, 2 * column + 1)
            self.fields[setting.name] = field

    def values(self) -> dict[str, Any]:
        """The entered values, by name."""
        return {name: setting_value(field.text()) for name, field in self.fields.items() if field.text().strip()}


_UNITS = 8

Search = Callable[[str, Sequence[int], int | None, Callable[[Any, str], None]], None]


class SearchRow(QtWidgets.QWidget):
    """Search location, number of units, and results.

    Args:
        search: starts a search for units, on a CAN bus at a bit rate; calls back with what it found, or the reason for
            nothing.
        bit_rate: at which a CAN bus is searched; None for another place.
        stop: ends it.
        enter: writes results into the legs' rows.
    """

    def __init__(
        self,
        search: Search,
        bit_rate: Callable[[str], int | None],
        stop: Callable[[], None],
        enter: Callable[[Sequence[Answer]], None],
    ) -> None:
        super().__init__()
        self.found: tuple[Answer, ...] = ()
        self.searching = False
        self.place = line_edit(
            tr("Where to search: a serial port, a host, a network or a CAN bus"),
            "",
            tr("/dev/serial/by-id/…, host, 192.168.10.0/24, can://…"),
        )
        self.place.setCompleter(QtWidgets.QCompleter(serial_ports(), self.place))
        self.units = WholeNumber(tr("Highest unit id to search"), _UNITS, 1, 255)
        self.search = GuardedButton(
            tr("Search"),
            tr(
                "List the Modbus devices or CANopen nodes that answer there; they are only read, and nothing moves. "
                "A CAN bus is searched at the bit rate of a row that has it, otherwise at 1000000 bit/s."
            ),
        )
        self.stop = GuardedButton(tr("Stop searching"), tr("Results found so far are shown"))
        self.enter = GuardedButton(tr("Enter what was found"), tr("Fill the rows that have no host yet, in this order"))
        self.label = QtWidgets.QLabel()
        self.label.setAccessibleName(tr("Result"))
        self.search.clicked.connect(lambda: self._begin(search))
        self.stop.clicked.connect(lambda: stop())
        self.enter.clicked.connect(lambda: enter(self.found))
        self.place.textEdited.connect(lambda _text: self.refresh())
        self.units.changed.connect(self.refresh)
        self._bit_rate = bit_rate
        self._busy = self._foreign = self._why_not_entered = ""
        column = QtWidgets.QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QtWidgets.QHBoxLayout()
        for text, widget, stretch in ((tr("Search at"), self.place, 3), (tr("units 1 to"), self.units, 0)):
            row.addWidget(QtWidgets.QLabel(text))
            row.addWidget(widget, stretch)
        for button in (self.search, self.stop, self.enter):
            row.addWidget(button)
        column.addLayout(row)
        column.addWidget(TextRoom(self.label, 2))
        self.refresh()

    def _begin(self, search: Search) -> None:
        if self.search.obstacle:
            return
        self.searching, self.found = True, ()
        self._show("muted", tr("searching …"))
        self.refresh()
        place = self.place.text().strip()
        search(place, range(1, self.units.value() + 1), self._bit_rate(place), self._show_found)

    def _show_found(self, found: Sequence[Answer] | None, reason: str) -> None:
        self.searching, self.found = False, tuple(found or ())
        lines = [f"{answer.place}: {finding_text(answer_finding(answer))}" for answer in self.found]
        if reason:
            self._show("bad", f"✗ {reason}")
        else:
            self._show("good" if lines else "bad", listed(lines) or self._no_answer())
        self.refresh()

    def _no_answer(self) -> str:
        rate = self._bit_rate(self.place.text().strip())
        if rate is None:
            return tr("✗ no answer there")
        text = tr("✗ no answer at {rate} bit/s; for another bit rate, enter the bus and its bit rate in a row first")
        return text.format(rate=rate)

    def set_busy(self, busy: str, foreign: str, why_not_entered: str) -> None:
        """Enable what is possible: `busy` is the current job, or why searching is not possible.

        foreign: why only a CAN bus is searched. why_not_entered: why results cannot be entered.
        """
        self._busy, self._foreign, self._why_not_entered = busy, foreign, why_not_entered
        self.refresh()

    def refresh(self) -> None:
        """Enable what is possible."""
        wrong = field_refusal(self.units)
        place = self.place.text().strip()
        foreign = "" if place.startswith(CAN_SCHEME) else self._foreign
        self.search.set_obstacle(self._busy or wrong or ("" if place else tr("say where first")) or foreign)
        self.stop.set_obstacle("" if self.searching else tr("no search is running"))
        self.enter.set_obstacle(self._why_not_entered or ("" if self.found else tr("nothing was found yet")))

    def _show(self, role: str, text: str) -> None:
        set_role(self.label, role, text)


_Question = tuple[bool, str, str, dict[str, Any], float, DriveAddress]
"""Whether it is a rehearsal; driver, profile, settings, watchdog (s) and address of the drive."""


class DrivesPage(DraftPage):
    """Driver, profile, settings and watchdog of all six, host, port, unit and serial number of each.

    Args:
        ask: identifies the drive of leg 0…5.
        ask_all: identifies all six.
        search, stop_search: see `SearchRow`.
    """

    def __init__(
        self,
        ask: Callable[[int], None],
        ask_all: Callable[[], None],
        search: Search,
        stop_search: Callable[[], None],
    ) -> None:
        super().__init__(drives_form())
        self._usual_unit = usual_unit(Draft().driver)
        self._entered: dict[bool, list[DriveAddress]] = {}
        self._rehearsal = False
        self._busy = ""
        self._asked: dict[int, _Question] = {}  # pending queries by leg 0 to 5
        self.found: dict[int, str] = {}
        """Serial numbers found, by leg 1 to 6."""
        self.delays: dict[int, float] = {}
        """Measured reply delays of real drives, s, by leg 1 to 6."""
        self._automatic_serials: dict[int, str] = {}  # serial numbers filled in automatically, by leg 0 to 5
        self.settings = SettingsForm()
        self.search = SearchRow(search, self._bit_rate, stop_search, self._enter)
        self.column.addWidget(self.settings)
        self.column.addWidget(self.search)
        self._add_rows()
        self.ask_all = GuardedButton(tr("Query all drives"), tr("Query all six drives at the same time"))
        self.ask_all.clicked.connect(lambda: ask_all())
        self.use_serials = GuardedButton(
            tr("Use the serial numbers found"), tr("From then on another drive is refused there")
        )
        self.use_serials.clicked.connect(lambda: self._use_serials())
        bottom = QtWidgets.QHBoxLayout()
        bottom.addWidget(self.ask_all)
        bottom.addWidget(self.use_serials)
        bottom.addStretch(1)
        self.column.addLayout(bottom)
        self.findings = QtWidgets.QLabel()
        self.findings.setObjectName("bad")
        self.findings.setAccessibleName(tr("Errors of the drives together"))
        self.column.addWidget(TextRoom(self.findings, 2))
        self.close_form()
        for leg, button in enumerate(self.ask):
            button.clicked.connect(partial(self._ask, ask, leg))
        self["driver"].currentIndexChanged.connect(lambda _value: self._show_driver())
        self.fields.edited.connect(lambda: self._changed(range(6)))
        self.settings.edited.connect(lambda: self._changed(range(6)))
        self._show_driver()
        self.set_busy("")

    def _add_rows(self) -> None:
        rows = [drive_row(leg + 1) for leg in range(6)]
        self.host, self.port, self.unit = (
            [row.host for row in rows],
            [row.port for row in rows],
            [row.unit for row in rows],
        )
        self.zero, self.serial = [row.zero for row in rows], [row.serial for row in rows]
        self.ask, self.status = [row.ask for row in rows], [row.status for row in rows]
        grid = QtWidgets.QGridLayout()
        grid.setVerticalSpacing(2)
        for column, text in enumerate(HEADINGS, start=1):
            grid.addWidget(QtWidgets.QLabel(text), 0, column)
        for leg, row in enumerate(rows):
            widgets = (leg_label(leg), row.host, row.port, row.unit, row.zero, row.serial, row.ask)
            for column, widget in enumerate(widgets):
                grid.addWidget(widget, 2 * leg + 1, column)
            grid.addWidget(row.status, 2 * leg + 2, 1, 1, len(widgets) - 1)
            for changed in (self.host[leg].textEdited, self.port[leg].changed, self.unit[leg].changed):
                changed.connect(partial(self._moved, leg))
                changed.connect(partial(self._changed, [leg]))
            for entered in (self.serial[leg].textEdited, self.zero[leg].changed):
                entered.connect(partial(self._changed, [leg]))
        grid.setColumnStretch(1, 5)
        grid.setColumnStretch(5, 2)
        self.column.addLayout(grid)

    # -- input -------------------------------------------------------------------------------------------------------

    def addresses(self) -> list[DriveAddress]:
        """The entered addresses of the drives."""
        return [self._address(leg) for leg in range(6)]

    def _address(self, leg: int) -> DriveAddress:
        """Return the entered address of leg 0…5; a host with a leading slash is a serial port with baud rate.

        One that begins with can:// is a CAN bus with its bit rate.
        """
        place, number = self.host[leg].text().strip(), self.port[leg].value()
        unit, serial, zero = self.unit[leg].value(), self.serial[leg].text().strip(), self.zero[leg].si()
        if place.startswith(CAN_SCHEME):
            return DriveAddress("", 0, unit, serial, place, number, position_offset=zero)
        if place.startswith("/"):
            parity, stop_bits = self["frame"].currentData()
            return DriveAddress("", 0, unit, serial, place, number, parity, stop_bits, zero)
        return DriveAddress(place, number, unit, serial, position_offset=zero)

    def _bit_rate(self, place: str) -> int | None:
        """Return the bit rate to search a CAN bus at, that of the first row with it; None for another place."""
        if not place.startswith(CAN_SCHEME):
            return None
        rows = zip(self.host, self.port, strict=True)
        return next((port.value() for host, port in rows if host.text().strip() == place), CAN_BIT_RATE)

    def _show_driver(self) -> None:
        """Show the fields that the driver needs."""
        driver = self["driver"].currentData()
        self["profile"].setEnabled(has_profile(driver))
        self.settings.show_driver(driver)
        for unit in self.unit:
            if unit.known() == self._usual_unit:
                unit.setValue(usual_unit(driver))
        self._usual_unit = usual_unit(driver)

    def fill(self, draft: Draft) -> Draft:
        """See `DraftPage`."""
        filled = replace(super().fill(draft), settings=self.settings.values(), drives=tuple(self.addresses()))
        return with_reply_delays(filled, self.delays)

    def own_faults(self, faults: Sequence[ConfigFault]) -> list[str]:
        """See `DraftPage`; missing hosts are reported once."""
        missing = [str(leg + 1) for leg in range(6) if not self.host[leg].text().strip()]
        found = super().own_faults([fault for fault in faults if not missing or "host" not in fault.key])
        text = tr("Give the host, serial port or CAN bus of leg {legs}.")
        return ([text.format(legs=", ".join(missing))] if missing else []) + found

    def set_rehearsal(self, rehearsal: bool) -> None:
        """Switch between virtual and real drive addresses; the input of each is remembered."""
        if rehearsal == self._rehearsal:
            return
        self._entered[self._rehearsal] = self.addresses()
        self._rehearsal = rehearsal
        entered = self._entered.get(rehearsal)
        if entered is None:
            empty = DriveAddress(unit=usual_unit(self["driver"].currentData()))
            entered = [replace(empty, host=LOCAL, port=port) for port in free_ports(6)] if rehearsal else [empty] * 6
        self._automatic_serials.clear()
        for leg, address in enumerate(entered):
            self._show_address(leg, address)  # the length at 0 belongs to the leg, whichever its drive
        self._changed(range(6))

    def _changed(self, legs: Iterable[int], _value: object = None) -> None:
        """Invalidate what the drives of legs 0…5 reported."""
        for leg in legs:
            self.found.pop(leg + 1, None)
            self.delays.pop(leg + 1, None)
            set_role(self.status[leg], "muted", NOT_ASKED)
        self.findings.clear()
        self.set_busy(self._busy)
        self.edited.emit()

    # -- identification ----------------------------------------------------------------------------------------------

    def _ask(self, ask: Callable[[int], None], leg: int, _checked: bool = False) -> None:
        ask(leg)

    def _question(self, leg: int) -> _Question:
        """Return all input that the answer of leg 0…5 depends on."""
        kind = (
            self["driver"].currentData(),
            self["profile"].text().strip(),
            self.settings.values(),
            self["watchdog"].si(),
        )
        return self._rehearsal, *kind, self._address(leg)

    def begin(self, leg: int | None) -> None:
        """Show that identification has started: of leg 0…5, or of all."""
        for index in range(6) if leg is None else [leg]:
            self._asked[index] = self._question(index)
            set_role(self.status[index], "muted", tr("querying …"))

    def _is_current(self, leg: int) -> bool:
        """Return whether an answer matches the current input of leg 0…5; show it if not."""
        if not field_refusal(self):
            question = self._question(leg)
            if self._asked.pop(leg, question) == question:
                return True
        set_role(self.status[leg], "muted", tr("changed during the query: query again"))
        return False

    def show_probe(self, probe: LegProbe) -> bool:
        """Show an identification; return whether it is valid: not if the input has changed meanwhile."""
        if not self._is_current(probe.leg - 1):
            return False
        self._show(probe)
        if probe.identity is not None and probe.identity.serial:
            self.found[probe.leg] = probe.identity.serial
            self._fill_empty_serials()
        return True

    def _show(self, probe: LegProbe) -> None:
        label = self.status[probe.leg - 1]
        good, text = probe.fault is None, finding_text(probe.finding)
        set_role(label, "good" if good else "bad", f"{'✓' if good else '✗'} {text}")
        label.setToolTip(text)  # for text that does not fit
        # twins on a pseudo-terminal answer when this computer has time, which says nothing of drives
        if probe.reply_delay is not None and not self._rehearsal:
            self.delays[probe.leg] = probe.reply_delay
            self.edited.emit()

    def show_all(self, probe: Probe) -> None:
        """Show the identification of all six."""
        current = [leg for leg in probe.legs if self._is_current(leg.leg - 1)]
        for leg in current:
            self._show(leg)
        self.found = {leg.leg: probe.serials[leg.leg] for leg in current if leg.leg in probe.serials}
        self._fill_empty_serials()
        findings = probe.findings if len(current) == len(probe.legs) else compare(current)
        self.findings.setText("\n".join(map(finding_text, findings)))

    def show_failure(self, leg: int | None, reason: str) -> None:
        """Show why there is no answer of leg 0…5, or of any, for a reason outside the drives."""
        current = [index for index in (range(6) if leg is None else [leg]) if self._is_current(index)]
        for index in current:
            set_role(self.status[index], *("muted", NOT_ASKED) if leg is None else ("bad", f"✗ {reason}"))
            self.status[index].setToolTip("" if leg is None else reason)
        if current and leg is None:
            self.findings.setText(unbroken(f"✗ {reason}"))

    def set_busy(self, busy: str) -> None:
        """Enable what is possible; `busy` is the current job."""
        self._busy = busy
        hosts = all(host.text().strip() for host in self.host)
        wrong = field_refusal(self)
        for leg, button in enumerate(self.ask):
            given = hosts if self._rehearsal else self.host[leg].text().strip()
            missing = tr("give all six hosts first") if self._rehearsal else tr("give its host first")
            button.set_obstacle(busy or wrong or ("" if given else missing))
        self.ask_all.set_obstacle(busy or wrong or ("" if hosts else tr("give all six hosts first")))
        self.use_serials.set_obstacle(busy or ("" if self.found else tr("no drive has reported its serial number yet")))
        elsewhere = tr("virtual drives run at the addresses given here") if self._rehearsal else ""
        driver, foreign = self["driver"].currentData(), ""
        if not speaks_modbus(driver):
            foreign = tr("drives of {driver} do not speak Modbus and could interpret the requests as commands")
        full = tr("every leg already has a host") if hosts else ""
        self.search.set_busy(busy or elsewhere, foreign.format(driver=driver), elsewhere or full)

    def _enter(self, found: Sequence[Answer]) -> None:
        """Write results into the rows without host; show what was not used."""
        before = self.fill(Draft())
        draft, left_out = with_found(before, found)
        self["driver"].setCurrentIndex(self["driver"].findData(draft.driver))
        entered = [leg for leg in range(6) if draft.drives[leg] != before.drives[leg]]
        for leg in entered:
            drive = draft.drives[leg]
            if drive.device and drive.parity:
                frame = (drive.parity, drive.stop_bits)
                self["frame"].setCurrentIndex([data for _text, data in FRAMES].index(frame))
            self._show_address(leg, drive)
        self._changed(entered)
        self.findings.setText(
            unbroken(listed([tr("✗ not entered: {text}").format(text=finding_text(found)) for found in left_out]))
        )

    def _show_address(self, leg: int, address: DriveAddress) -> None:
        self.host[leg].setText(address.device or address.host)
        self.host[leg].setCursorPosition(0)  # show the beginning
        self.port[leg].setValue(address.baud if address.device else address.port)
        self.unit[leg].setValue(address.unit)
        self.serial[leg].setText(address.serial)

    def _fill_empty_serials(self) -> None:
        """Write found serial numbers into empty fields; entered ones stay, and are compared."""
        entered = {edit.text().strip() for edit in self.serial}
        for leg, serial in self.found.items():
            edit = self.serial[leg - 1]
            if not edit.text().strip() and serial not in entered:
                edit.setText(serial)  # not an edit by the user: the answers stay valid
                self._automatic_serials[leg - 1] = serial
                self.edited.emit()

    def _moved(self, leg: int, _value: object = None) -> None:
        """Remove an automatic serial number of leg 0…5 when its address changes."""
        if self._automatic_serials.pop(leg, "") == self.serial[leg].text().strip():
            self.serial[leg].clear()

    def _use_serials(self) -> None:
        self._automatic_serials.clear()
        for leg, serial in self.found.items():
            self.serial[leg - 1].setText(serial)
        self.edited.emit()
