"""What the page of the drives has for each leg: its address, the button that asks it, and what it said."""

from dataclasses import dataclass

from pyqtgraph.Qt import QtWidgets

from actuators import serial_ports
from gui.steps import line_edit
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, QuantityBox, WholeNumber

HEADINGS = (tr("host or serial port"), tr("port or baud"), tr("unit id"), tr("length at 0"), tr("serial number"))
NOT_ASKED = tr("not asked yet")


@dataclass(frozen=True, slots=True, eq=False)
class DriveRow:
    """The widgets of one leg; those of the address in the order of `HEADINGS`."""

    host: QtWidgets.QLineEdit
    port: WholeNumber
    unit: WholeNumber
    zero: QuantityBox
    serial: QtWidgets.QLineEdit
    ask: GuardedButton
    status: QtWidgets.QLabel


def drive_row(leg: int) -> DriveRow:
    """The widgets of leg 1 to 6."""
    host = line_edit(tr("Host of leg {leg}, or its serial port").format(leg=leg), "", tr("name, address or /dev/…"))
    host.setCompleter(QtWidgets.QCompleter(serial_ports(), host))
    port = tr("Port of leg {leg}, or the baud of its serial port").format(leg=leg)
    length = tr("Length of leg {leg} where its drive reads zero").format(leg=leg)
    zero = QuantityBox(length, "m", 0.0, -10.0, 10.0)
    zero.setSizePolicy(QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Fixed)
    hint = tr("Connect to the drive of leg {leg}, read who it is and how it stands, close; nothing moves")
    ask = GuardedButton(tr("Ask"), hint.format(leg=leg))
    ask.setAccessibleName(tr("Ask the drive of leg {leg}").format(leg=leg))
    status = ElidedLabel()
    status.setText(NOT_ASKED)
    status.setObjectName("muted")
    status.setAccessibleName(tr("What the drive of leg {leg} said").format(leg=leg))
    return DriveRow(
        host,
        WholeNumber(port, 502, 1, 4_000_000),
        WholeNumber(tr("Unit id of leg {leg}").format(leg=leg), 1, 0, 255),
        zero,
        line_edit(tr("Serial number of leg {leg}; empty: any").format(leg=leg), "", tr("any")),
        ask,
        status,
    )
