"""The events of a recording as a table."""

from collections.abc import Sequence

from pyqtgraph.Qt import QtGui, QtWidgets

from gui.live.tables import fill_table
from gui.texts import fault_text, finding_text, tr
from gui.widgets import Theme
from rig.recording import EventLevel, RecordedEvent
from rig.states import enum_name


def show_events(table: QtWidgets.QTableWidget, events: Sequence[RecordedEvent], theme: Theme) -> None:
    """Show events line by line, what is no mere information in its colour."""
    rows = [
        [
            f"{event.t:.3f}",
            tr(enum_name(EventLevel, event.level).lower()),
            fault_text(event.code),
            event.text if event.finding is None else finding_text(event.finding),
        ]
        for event in events
    ]
    fill_table(table, [tr("Rig time, s"), tr("Level"), tr("Code"), tr("Text")], rows, range(0))
    table.setToolTip(tr("Double click, or Enter: show the curves there"))
    table.horizontalHeader().setStretchLastSection(True)
    for row, event in enumerate(events):
        if event.level > EventLevel.INFO:
            colour = theme.warning if event.level == EventLevel.WARNING else theme.error
            for column in range(table.columnCount()):
                table.item(row, column).setForeground(QtGui.QColor(colour))
