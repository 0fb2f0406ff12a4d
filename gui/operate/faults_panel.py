"""Faults of the virtual rig: start and end them by name, and watch the reaction."""

import math

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.models import Action
from gui.session import LogEntry, RigSession
from gui.texts import mark, tr
from gui.widgets import DisplayUnit, GuardedButton, QuantityBox, Reason, field_refusal, set_icon
from rig.config import AT_PLATFORM, FAULT_WORDS
from rig.virtual import FAULTS, WHOLE_RIG, RigView

AMPLIFIER, SENSORS = mark("Amplifier of the cells"), mark("External sensors")
INPUTS = mark("Inputs and outputs")
GROUPS: dict[str, tuple[str, ...]] = {
    mark("Machine"): (
        "jam",
        "brake_slips",
        "brake_open",
        "weak",
        "motor_exchanged",
        "force_step",
        "payload",
        "test_load",
    ),
    mark("Drives"): (
        "force_reversed",
        "temperature",
        "supply",
        "safe_torque_off",
        "torque_stuck",
        "reboot",
        "hang",
    ),
    mark("Encoders"): (
        "encoder_frozen",
        "encoder_jump",
        "encoder_creep",
        "encoder_scale",
        "encoder_reversed",
        "encoder_exchanged",
        "encoder_nan",
    ),
    mark("Load cells"): (
        "cell_nan",
        "cell_silent",
        "cell_saturated",
        "cell_offset",
        "cell_scale",
        "cell_exchanged",
        "zero_jump",
    ),
    mark("Wires"): (
        "drop_all",
        "drop_write",
        "close",
        "delay",
        "lag",
        "replay",
        "rechunk",
        "bit_flip",
        "noise",
        "busy",
        "swap_unit",
    ),
    AMPLIFIER: (
        "amplifier_drop_write",
        "amplifier_close",
        "amplifier_delay",
        "amplifier_lag",
        "amplifier_replay",
        "amplifier_rechunk",
        "amplifier_bit_flip",
        "amplifier_noise",
        "amplifier_busy",
        "amplifier_drop_all",
        "amplifier_hang",
        "amplifier_standing",
        "amplifier_invalid",
    ),
    INPUTS: (
        "io_emergency_stop",
        "io_emergency_stop_wire",
        "io_safe_torque_off",
        "io_safe_torque_off_feedback",
        "io_drop_write",
        "io_close",
        "io_delay",
        "io_lag",
        "io_replay",
        "io_rechunk",
        "io_bit_flip",
        "io_noise",
        "io_busy",
        "io_drop_all",
        "io_hang",
    ),
    SENSORS: ("sensors_silent", "sensors_nan"),
    mark("Computer"): ("owner_hangs",),
}
"""Names of faults by group."""


def fault_words(name: str, leg: int = 0) -> str:
    """Return a fault as text, such as "cable 3 unplugged"; leg 1…6, or 0 for all or none."""
    return tr(FAULT_WORDS[name]).format(leg=f" {leg}" if leg else "")


_POLL_INTERVAL = 500  # ms, while the panel is visible
_NAME = QtCore.Qt.ItemDataRole.UserRole  # item data: the fault's name
_MOST_LINES = 1000  # lines of the reaction; the oldest are dropped


class FaultsPanel(QtWidgets.QWidget):
    """List of all faults with descriptions, the active ones, and the reaction.

    Args:
        session: the rig.
    """

    def __init__(self, session: RigSession, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._since: float | None = None
        self.faults = QtWidgets.QTreeWidget()
        self.faults.setAccessibleName(tr("Faults that can be injected"))
        self.faults.setHeaderLabels([tr("Fault"), tr("What it does")])
        self.faults.setIndentation(14)
        virtual = session.config.virtual
        self._fill(
            amplifier=session.config.load_cells.amplifier is not None,
            sensors=virtual is not None and bool(virtual.sensors),
            inputs=session.config.io is not None,
        )
        self.leg = QtWidgets.QComboBox()
        self.leg.addItem("", None)
        for leg in range(1, 7):
            self.leg.addItem(tr("leg {leg}").format(leg=leg), leg)
        self.leg.setAccessibleName(tr("Leg of the fault"))
        self.value = QuantityBox(tr("Value of the fault"), "")
        self.lasting = QtWidgets.QCheckBox(tr("only for"))
        self.lasting.setAccessibleName(tr("The fault ends by itself"))
        self.duration = QuantityBox(tr("Duration of the fault"), "s", 1.0, 1e-3, 3600.0)
        self.duration.setEnabled(False)
        self.lasting.toggled.connect(self.duration.setEnabled)
        self.inject = GuardedButton(tr("Inject"), tr("Begin this fault now"))
        self.inject.clicked.connect(self._inject)
        self.active = QtWidgets.QTreeWidget()
        self.active.setAccessibleName(tr("Active faults"))
        self.active.setHeaderLabels([tr("Fault"), tr("Leg"), tr("Value")])
        self.active.setRootIsDecorated(False)
        self.clear = GuardedButton(tr("Clear selected"), tr("End the fault that is selected above"))
        self.clear.clicked.connect(self._clear)
        self.clear_all = GuardedButton(tr("Clear all"), tr("End every fault"))
        for button, meaning in ((self.inject, "inject"), (self.clear, "remove"), (self.clear_all, "clear")):
            set_icon(button, meaning)
        self.clear_all.clicked.connect(lambda: session.virtual.clear())
        self.reaction = QtWidgets.QPlainTextEdit()
        self.reaction.setReadOnly(True)
        self.reaction.setMaximumBlockCount(_MOST_LINES)
        self.reaction.setAccessibleName(tr("Result of the last fault injection"))
        self.reaction.setPlaceholderText(tr("Reaction of the engine to the injected fault"))
        self._reason = Reason()
        self._lay_out()
        self._timer = QtCore.QTimer(self)
        self._timer.setInterval(_POLL_INTERVAL)
        self._timer.timeout.connect(session.virtual.poll)
        self.faults.currentItemChanged.connect(lambda *_: self._chosen())
        for box in (self.value, self.duration):
            box.changed.connect(self.refresh)
        session.changed.connect(self.refresh)
        session.virtual.seen.connect(self._show_active)
        session.logged.connect(self._react)
        self.faults.setCurrentItem(next(iter(self._items.values())))
        self.refresh()

    def _fill(self, *, amplifier: bool, sensors: bool, inputs: bool) -> None:
        self._items: dict[str, QtWidgets.QTreeWidgetItem] = {}
        for title, group in GROUPS.items():
            if (
                (title == AMPLIFIER and not amplifier)
                or (title == SENSORS and not sensors)
                or (title == INPUTS and not inputs)
            ):
                continue
            heading = QtWidgets.QTreeWidgetItem([tr(title)])
            heading.setFlags(QtCore.Qt.ItemFlag.ItemIsEnabled)
            self.faults.addTopLevelItem(heading)
            heading.setFirstColumnSpanned(True)
            heading.setExpanded(True)
            for name in group:
                item = self._items[name] = QtWidgets.QTreeWidgetItem(
                    heading, [fault_words(name), tr(FAULTS[name].text)]
                )
                item.setData(0, _NAME, name)
                item.setToolTip(0, tr("Name in scripts and timetables: {name}").format(name=name))
                item.setToolTip(1, tr(FAULTS[name].text))
        self.faults.resizeColumnToContents(0)

    @property
    def names(self) -> list[str]:
        """Names of the listed faults."""
        return list(self._items)

    @property
    def _chosen_name(self) -> str:
        return str(self.faults.currentItem().data(0, _NAME))

    def _lay_out(self) -> None:
        form = QtWidgets.QGridLayout()
        form.addWidget(QtWidgets.QLabel(tr("Leg")), 0, 0)
        form.addWidget(self.leg, 0, 1)
        form.addWidget(QtWidgets.QLabel(tr("Value")), 0, 2)
        form.addWidget(self.value, 0, 3)
        form.addWidget(self.lasting, 1, 0)
        form.addWidget(self.duration, 1, 1)
        form.addWidget(self.inject, 1, 2, 1, 2)
        form.setColumnStretch(1, 1)
        form.setColumnStretch(3, 1)
        left = QtWidgets.QVBoxLayout()
        left.addWidget(QtWidgets.QLabel(tr("Faults of plant, drives, cells and wires")))
        left.addWidget(self.faults, 1)
        left.addLayout(form)
        left.addWidget(self._reason)
        buttons = QtWidgets.QHBoxLayout()
        buttons.addWidget(self.clear)
        buttons.addWidget(self.clear_all)
        right = QtWidgets.QVBoxLayout()
        right.addWidget(QtWidgets.QLabel(tr("Active now")))
        right.addWidget(self.active, 1)
        right.addLayout(buttons)
        right.addWidget(QtWidgets.QLabel(tr("Reaction")))
        right.addWidget(self.reaction, 1)
        layout = QtWidgets.QHBoxLayout(self)
        layout.addLayout(left, 3)
        layout.addLayout(right, 2)

    def refresh(self) -> None:
        """Enable what is possible, or show why it is not."""
        reason = self._session.obstacle(Action.INJECT)
        self._reason.show_reason(reason)
        self.inject.set_obstacle(reason or field_refusal(self.value, self.duration))
        nothing = reason or ("" if self.active.topLevelItemCount() else tr("no fault is on"))
        self.clear_all.set_obstacle(nothing)
        self.clear.set_obstacle(nothing)

    def choose(self, name: str) -> None:
        """Select a fault by name."""
        self.faults.setCurrentItem(self._items[name])

    def showEvent(self, event: QtCore.QEvent) -> None:
        """Poll the active faults while visible."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QtCore.QEvent) -> None:
        """Stop polling."""
        super().hideEvent(event)
        self._timer.stop()

    def _chosen(self) -> None:
        kind = FAULTS[self._chosen_name]
        self._offer_legs(self._chosen_name)
        self.value.revert()
        self.value.set_unit(kind.unit, DisplayUnit(kind.unit, 1.0, 3))
        self.value.setEnabled(kind.default is not None)
        self.value.set_si(kind.default or 0.0)
        self.value.setAccessibleName(
            tr("Value of the fault, {unit}").format(unit=kind.unit) if kind.unit else tr("Value of the fault")
        )
        measured = (
            tr("Value of the fault in {unit}").format(unit=kind.unit)
            if kind.unit
            else tr("Value of the fault, a number without unit")
        )
        self.value.setToolTip(tr("This fault has no value") if kind.default is None else measured)

    def _offer_legs(self, name: str) -> None:
        """Enable the leg selection for faults of a single leg."""
        whole = name in WHOLE_RIG
        if whole:
            self.leg.setCurrentIndex(0)
        self.leg.setEnabled(not whole)
        self.leg.setToolTip(tr("This fault concerns the whole rig") if whole else tr("Leg of the fault"))
        everywhere = tr("whole rig") if whole else tr("platform") if name in AT_PLATFORM else tr("all legs")
        self.leg.setItemText(0, everywhere)

    def _inject(self) -> None:
        name = self._chosen_name
        value = self.value.si() if FAULTS[name].default is not None else None
        duration = self.duration.si() if self.lasting.isChecked() else None
        self._since = self._session.rig_time
        self.reaction.clear()
        self._session.virtual.inject(name, self.leg.currentData(), value, duration)

    def _clear(self) -> None:
        item = self.active.currentItem()
        if item is not None:
            leg = int(item.text(1)) if item.text(1).isdigit() else 0
            self._session.virtual.clear(item.data(0, _NAME), leg)

    def _show_active(self, view: RigView) -> None:
        lines, names = [], []
        for fault in view.faults:
            unit = FAULTS[fault.name].unit
            value = "" if fault.value is None or math.isnan(fault.value) else f"{fault.value:g} {unit}".strip()
            names.append(fault.name)
            lines.append((fault_words(fault.name, fault.leg), str(fault.leg) if fault.leg else tr("whole rig"), value))
        shown = [
            tuple(self.active.topLevelItem(row).text(column) for column in range(3))
            for row in range(self.active.topLevelItemCount())
        ]
        if lines != shown:
            self.active.clear()
            for name, line in zip(names, lines, strict=True):
                item = QtWidgets.QTreeWidgetItem(self.active, line)
                item.setData(0, _NAME, name)
                item.setToolTip(0, name)
            for column in range(3):
                self.active.resizeColumnToContents(column)
            if lines:
                self.active.setCurrentItem(self.active.topLevelItem(0))
        self.refresh()

    def _react(self, entry: LogEntry) -> None:
        if entry.source != "operator" and self._since is not None:
            late = "" if entry.t is None else f"{entry.t - self._since:+.3f} s  "
            self.reaction.appendPlainText(f"{late}{tr(entry.level)}: {entry.text}")
