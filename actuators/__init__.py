"""Drives and load cells: the interface, the wire protocols, the drivers and their virtual twins.

Make a drive by name (`create_drive`), then connect, identify, configure, and every cycle `exchange_all`: all requests
are sent before any reply is awaited, but on shared lines, where each has its turn; whatever a device does becomes a
stale sample and a count, never an exception. Devices that read load cells are made likewise (`create_cell_device`).
A wire belongs to its bus, a driver to the registry, its twin beside it.
The virtual twins speak the same bytes, over TCP and pseudo-terminals (`TwinServer`) or in the same process
(`MemoryWire`); the plant they act on is injected (`PlantPort`).
"""

from actuators.addresses import LineTimes, ModbusAddress
from actuators.amplifier import Amplifier, AmplifierOptions, AmplifierReading
from actuators.bus import Buses
from actuators.capture import Frame, Replay, read_capture
from actuators.cell_device import CellDevice, CellDriver, CellOptions, DeviceReading
from actuators.cells import CellReading, CellSource, DeviceCells, DriveCells
from actuators.codec import rtu_frame_text, tcp_frame_text, tcp_frames
from actuators.declarations import Declarations
from actuators.drive import Drive
from actuators.driver import DriveAddress, DriveOptions, Driver, DriveSettings, Line, TcpAddress
from actuators.errors import (
    ActuatorError,
    CommandError,
    ConfigurationError,
    ConnectError,
    IdentityError,
    ProtocolError,
)
from actuators.exchange import BusPlan, CycleExchange, bus_plans, exchange_all
from actuators.interface import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Capabilities,
    Command,
    Commands,
    Counters,
    Feedback,
    Identity,
    Mode,
    Status,
)
from actuators.modbus_servo import ModbusServo, ModbusServoOptions
from actuators.profile import AmplifierProfile, ServoProfile, load_profile
from actuators.registry import (
    cell_device_step,
    cell_driver_names,
    create_cell_device,
    create_cell_twin,
    create_drive,
    create_twin,
    cycle_exchange,
    drive_cell_step,
    drive_names,
    find_cell_driver,
    find_driver,
    present_name,
)
from actuators.searching import BAUDS, PARITIES, Answer, scan, search
from actuators.virtual.amplifier import VirtualAmplifier
from actuators.virtual.device import ModbusDevice, Responder
from actuators.virtual.drive import (
    AMPLIFIER_FAULTS,
    SENSOR_FAULTS,
    SERVO_FAULTS,
    WIRE_FAULTS,
    Cell,
    FaultKind,
    PlantPort,
)
from actuators.virtual.faults import FaultyAmplifier, FaultyDevice, FaultyDrive, FaultyServo
from actuators.virtual.server import NO_PORT, DeviceLine, StopEvent, Terminal, TwinServer, terminal_number
from actuators.virtual.servo import VirtualServo
from actuators.virtual.servo_group import VirtualServoGroup
from actuators.wire import (
    Endpoint,
    LinkClosedError,
    MemoryWire,
    Parity,
    SerialEndpoint,
    SerialWire,
    TcpEndpoint,
    TcpWire,
    Wire,
    arrived,
    open_wire,
    serial_ports,
)

__all__ = [
    "AMPLIFIER_FAULTS",
    "BAUDS",
    "COMMAND_CLEAR",
    "COMMAND_HOME",
    "COMMAND_OFF",
    "COMMAND_STOP",
    "NO_PORT",
    "PARITIES",
    "SENSOR_FAULTS",
    "SERVO_FAULTS",
    "WIRE_FAULTS",
    "ActuatorError",
    "Amplifier",
    "AmplifierOptions",
    "AmplifierProfile",
    "AmplifierReading",
    "Answer",
    "BusPlan",
    "Buses",
    "Capabilities",
    "Cell",
    "CellDevice",
    "CellDriver",
    "CellOptions",
    "CellReading",
    "CellSource",
    "Command",
    "CommandError",
    "Commands",
    "ConfigurationError",
    "ConnectError",
    "Counters",
    "CycleExchange",
    "Declarations",
    "DeviceCells",
    "DeviceLine",
    "DeviceReading",
    "Drive",
    "DriveAddress",
    "DriveCells",
    "DriveOptions",
    "DriveSettings",
    "Driver",
    "Endpoint",
    "FaultKind",
    "FaultyAmplifier",
    "FaultyDevice",
    "FaultyDrive",
    "FaultyServo",
    "Feedback",
    "Frame",
    "Identity",
    "IdentityError",
    "Line",
    "LineTimes",
    "LinkClosedError",
    "MemoryWire",
    "ModbusAddress",
    "ModbusDevice",
    "ModbusServo",
    "ModbusServoOptions",
    "Mode",
    "Parity",
    "PlantPort",
    "ProtocolError",
    "Replay",
    "Responder",
    "SerialEndpoint",
    "SerialWire",
    "ServoProfile",
    "Status",
    "StopEvent",
    "TcpAddress",
    "TcpEndpoint",
    "TcpWire",
    "Terminal",
    "TwinServer",
    "VirtualAmplifier",
    "VirtualServo",
    "VirtualServoGroup",
    "Wire",
    "arrived",
    "bus_plans",
    "cell_device_step",
    "cell_driver_names",
    "create_cell_device",
    "create_cell_twin",
    "create_drive",
    "create_twin",
    "cycle_exchange",
    "drive_cell_step",
    "drive_names",
    "exchange_all",
    "find_cell_driver",
    "find_driver",
    "load_profile",
    "open_wire",
    "present_name",
    "read_capture",
    "rtu_frame_text",
    "scan",
    "search",
    "serial_ports",
    "tcp_frame_text",
    "tcp_frames",
    "terminal_number",
]
