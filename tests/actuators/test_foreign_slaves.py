"""Our servo driver on slaves that somebody else wrote: pymodbus' servers, on TCP, RTU behind TCP, and a serial port."""

import asyncio
import os
import select
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from drive_support import PROFILE
from pymodbus import FramerType
from pymodbus.server import ModbusBaseServer, ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from servo_profiles import SEPARATE, SINGLE
from servo_profiles import profile as changed

from actuators import COMMAND_OFF, Command, Drive, Mode, ProtocolError, ServoProfile, Status, create_drive

PATIENCE = 10.0  # s
UNIT = 5
SIZE = 330
LINE = {"turnaround": 1e-3, "reply_timeout": 1.0}
TEXTS = {300: "Another", 308: "slave", 316: "S-4711", 324: "2.1"}


class Application:
    """Registers behind which the least of a drive runs: it repeats the command's number and stands where it is told."""

    def __init__(self) -> None:
        self.registers = [0] * SIZE
        for first, text in TEXTS.items():
            data = text.encode() + b"\0" * (len(text) % 2)
            for place in range(0, len(data), 2):
                self.registers[first + place // 2] = int.from_bytes(data[place : place + 2], "big")
        self.device = SimDevice(
            UNIT, [SimData(0, values=self.registers, datatype=DataType.REGISTERS)], action=self.accessed
        )

    async def accessed(
        self, _function: int, _first: int, address: int, _count: int, current: list[int], written: list[Any] | None
    ) -> None:
        """What runs there at each access; `current` is the server's own copy of the registers."""
        for place, value in enumerate(written or ()):
            self.registers[address + place] = value
        mine = self.registers
        mine[0] = int(Status.READY | Status.HOMED | (Status.ENABLED if mine[100] & 1 else 0))
        mine[2] = mine[102]
        mine[3:5] = mine[105:107]
        current[:] = mine


class Slave:
    """A pymodbus server in a thread that ends with `serving`."""

    def __init__(self, make: Any) -> None:
        self.server: ModbusBaseServer | None = None
        self._make = make
        self._ready = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        async def serve() -> None:
            self.server = self._make()
            await self.server.serve_forever(background=True)
            self._ready.set()
            await self.server.serving

        self.loop.run_until_complete(serve())
        self.loop.close()

    def __enter__(self) -> "Slave":
        self.thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.server is not None
        asyncio.run_coroutine_threadsafe(self.server.shutdown(), self.loop).result(PATIENCE)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@contextmanager
def served(kind: str) -> Iterator[tuple[dict[str, Any], Application]]:
    """The address of a slave, as a driver takes it, and what runs there."""
    application = Application()
    if kind == "serial":
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        try:
            port = os.ttyname(theirs)
            back, front = os.openpty()
            tty.setraw(front)
            with (
                _joined(ours, back),
                Slave(lambda: ModbusSerialServer(application.device, port=port, baudrate=115_200)),
            ):
                yield (
                    {"device": os.ttyname(front), "baud": 115_200, "turnaround": 1e-3, "reply_timeout": 1.0},
                    application,
                )
        finally:
            for descriptor in (ours, theirs, back, front):
                os.close(descriptor)
        return
    framer = FramerType.SOCKET if kind == "tcp" else FramerType.RTU

    def make() -> ModbusTcpServer:
        return ModbusTcpServer(application.device, framer=framer, address=("127.0.0.1", 0))

    with Slave(make) as slave:
        assert slave.server is not None
        transport: Any = slave.server.transport
        port = transport.sockets[0].getsockname()[1]
        address = {"host": "127.0.0.1", "port": port, "framing": "tcp" if kind == "tcp" else "rtu"}
        yield address | ({} if kind == "tcp" else LINE), application


@contextmanager
def _joined(one: int, other: int) -> Iterator[None]:
    """What is written to the far end of either pseudo-terminal comes out of the other, as by a cable."""
    over = threading.Event()

    def carry(source: int, target: int) -> None:
        while not over.is_set():
            if select.select([source], (), (), 0.05)[0]:
                os.write(target, os.read(source, 4096))

    threads = [threading.Thread(target=carry, args=ends) for ends in ((one, other), (other, one))]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE)


@contextmanager
def connected(address: dict[str, Any], profile: ServoProfile) -> Iterator[Drive]:
    drive = create_drive(
        "servo", {"name": "drive 2", "unit": UNIT, "profile": profile, "request_timeout": 5.0} | address
    )
    drive.connect(5.0)
    try:
        yield drive
    finally:
        drive.close()


@pytest.mark.parametrize("kind", ["tcp", "rtu", "serial"])
@pytest.mark.parametrize("profile", [PROFILE, SEPARATE], ids=["function 23", "functions 16 and 4"])
def test_it_is_known_set_up_and_commanded(kind: str, profile: ServoProfile) -> None:
    with served(kind) as (address, application), connected(address, profile) as drive:
        identity = drive.identify()
        assert (identity.vendor, identity.product, identity.serial) == ("Another", "slave", "S-4711")
        drive.configure()
        assert application.registers[200] == 50  # ms
        first = drive.exchange(COMMAND_OFF, time.monotonic(), PATIENCE)
        assert first.fresh and not first.status & Status.ENABLED
        for turn in range(20):
            command = Command(Mode.POSITION, -1.5, 0.3 + 0.01 * turn, 0.02, enable=True)
            feedback = drive.exchange(command, time.monotonic(), PATIENCE)
            assert feedback.fresh and feedback.position == pytest.approx(command.position, abs=1e-7)
            assert feedback.status & Status.ENABLED and feedback.sequence == drive.sequence
        assert drive.counters.received == drive.counters.sent == 21


def test_register_after_register() -> None:
    with served("tcp") as (address, application), connected(address, SINGLE) as drive:
        feedback = drive.exchange(Command(Mode.POSITION, 3.0, 0.25, enable=True), time.monotonic(), PATIENCE)
        assert feedback.fresh and application.registers[103:105] == [30, 5000]


@pytest.mark.parametrize("kind", ["tcp", "rtu"])
def test_a_register_that_it_lacks_is_said(kind: str) -> None:
    elsewhere = changed(parameters={"watchdog": {"address": 900, "type": "u16", "scale": 1e-3}})
    with served(kind) as (address, _), connected(address, elsewhere) as drive:
        with pytest.raises(ProtocolError, match=r"refused a write .*: exception 02 \(illegal data address\)"):
            drive.configure()
        assert drive.exchange(COMMAND_OFF, time.monotonic(), PATIENCE).fresh
