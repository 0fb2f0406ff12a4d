"""Our driver on a drive that somebody else serves, with all the ugly things that a bought one may have in one map.

The tables are a pymodbus server's. What runs behind them is written here from the map alone, without the twin's code.
"""

import struct
import time
from typing import Any

import pytest
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from servo_profiles import UGLY
from test_foreign_slaves import PATIENCE, UNIT, Slave, connected

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    ConfigurationError,
    Drive,
    Feedback,
    Mode,
    Status,
)

HOLDING = 0x3003
IDLE, READY, ON, RUNNING, STOPPING, FAULT = 0x40, 0x21, 0x23, 0x27, 0x07, 0x08


class ForeignDrive:
    """Tables of a server, and a drive of CiA 402 behind them that takes two accesses for each of its steps."""

    def __init__(self) -> None:
        self.state, self.before, self.wait = IDLE, 0, 0
        self.homed = self.homing = False
        self.holding = [0] * HOLDING
        self.holding[600], self.holding[700:702], self.holding[704:706] = 0x4299, [815, 0], [0x3237, 0x3200]
        self.holding[510:512] = [0x5678, 0x1234]
        self.toggles = 0
        self.position, self.target, self.handed = 0, 0, 0
        tables = (
            [SimData(0, values=[True] * 64, datatype=DataType.BITS)],
            [SimData(0, values=[True] * 64, datatype=DataType.BITS)],
            [SimData(0, values=self.holding, datatype=DataType.REGISTERS)],
            [SimData(0, values=[0] * 64, datatype=DataType.REGISTERS)],
        )
        self.device = SimDevice(UNIT, tables, action=self.accessed)

    async def accessed(
        self, function: int, _first: int, address: int, _count: int, current: list[int], written: list[Any] | None
    ) -> None:
        """What runs there at each access."""
        for place, value in enumerate(written or ()):
            self.holding[address + place] = value
        if written and address <= 100 < address + len(written):
            self.command(self.holding[100])
        self.show()
        if function in (3, 6, 16):
            current[:] = self.holding
        elif function == 4:
            current[7] = self.holding[300]
            data = struct.pack(">i", -2500)  # raw, scale -1e-3: 2.5 N
            current[8:10] = struct.unpack("<HH", data)[::-1]
            current[20] = 315

    def command(self, word: int) -> None:
        """One write of the control word."""
        edge, self.before = word & ~self.before & 0x80, word
        self.wait += 1
        if self.state == FAULT:
            self.state = IDLE if edge else FAULT
        elif not word & 0x02:
            self.state = IDLE
        elif not word & 0x04:
            self.state = STOPPING if self.state == RUNNING else IDLE
        elif self.wait % 2 == 0:
            step = {(IDLE, 0x06): READY, (READY, 0x07): ON, (ON, 0x0F): RUNNING}
            self.state = step.get((self.state, word & 0x0F), self.state)
        if self.state == RUNNING and word >> 9 & 1 != self.handed:
            self.handed = word >> 9 & 1
            self.toggles += 1
            self.target = struct.unpack("<q", struct.pack("<4H", *self.holding[200:204]))[0]
        if self.state == RUNNING and self.holding[102] == 6 and word & 0x10:
            self.homed = True
            self.target = -650_000_000
        self.position = self.target

    def show(self) -> None:
        """Feedback registers."""
        mine = self.holding
        mine[0x3000] = self.state | 0x1200
        mine[0x3002] = 0
        mine[0x1002:0x1006] = struct.unpack("<4H", struct.pack("<q", self.position))
        mine[0x1100:0x1104] = struct.unpack(">4H", struct.pack(">d", 0.125))
        mine[0x2000] = 0xF0F0 & ~0x0708 | (0 if self.homed else 8)


def served() -> tuple[ForeignDrive, Slave]:
    drive = ForeignDrive()
    return drive, Slave(lambda: ModbusTcpServer(drive.device, address=("127.0.0.1", 0)))


def do(drive: Drive, command: Command, count: int = 1) -> Feedback:
    for _ in range(count):
        feedback = drive.exchange(command, time.monotonic(), PATIENCE)
        assert feedback.fresh
    return feedback


def test_a_map_with_everything_ugly_is_identified_set_up_homed_moved_and_stopped() -> None:
    foreign, slave = served()
    with slave:
        transport: Any = slave.server.transport if slave.server is not None else None
        address = {"host": "127.0.0.1", "port": transport.sockets[0].getsockname()[1], "watchdog": 0.2, "serial": "815"}
        with connected(address, UGLY) as drive:
            assert drive.identify().described == "Nobody & Sons 4200, serial 815, firmware 272"
            drive.configure()
            assert (foreign.holding[500], foreign.holding[502:504]) == (2, [0, 0x4020])
            assert foreign.holding[400:402] == [200, 0]
            assert do(drive, COMMAND_OFF).status & (Status.READY | Status.ENABLED) == Status.READY
            assert foreign.holding[101] == 0xBEEF and foreign.holding[102] == 0
            assert do(drive, COMMAND_HOME, 9).status & (Status.ENABLED | Status.HOMED) == Status.ENABLED | Status.HOMED
            moved = [do(drive, Command(Mode.POSITION, 3.0, 0.6 + 0.01 * n, 0.01, enable=True)) for n in range(5)]
            assert foreign.toggles == 4, "each exchange but the first one in the mode hands a set-point over"
            assert [one.position for one in moved[1:]] == pytest.approx([0.61, 0.62, 0.63, 0.64])
            assert (moved[-1].velocity, moved[-1].force) == (0.125, pytest.approx(2.5))
            assert drive.auxiliary["temperature"] == pytest.approx(31.5)
            assert (
                moved[-1].status & (Status.BRAKE | Status.WATCHDOG | Status.STANDSTILL)
                == Status.BRAKE | Status.STANDSTILL
            )
            assert do(drive, COMMAND_STOP).status & Status.QUICK_STOP
            assert not do(drive, COMMAND_OFF).status & Status.ENABLED
            foreign.state = FAULT
            assert do(drive, COMMAND_OFF).status & Status.FAULT
            assert do(drive, COMMAND_CLEAR).status & Status.READY
            observed = drive.observe(PATIENCE)
            assert observed.position == pytest.approx(0.64) and observed.status & Status.HOMED
            drive.verify(PATIENCE)
            foreign.holding[502] = 1
            with pytest.raises(ConfigurationError, match="does not have parameter ramp: register 502 reads back"):
                drive.verify(PATIENCE)
            assert drive.counters.received == drive.counters.sent
