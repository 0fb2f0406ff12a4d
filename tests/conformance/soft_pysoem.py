"""What the EtherCAT example uses of pysoem, over twins in this process: put into `sys.modules` under that name.

It is no EtherCAT: frames, mailboxes and timing are pysoem's own, and were tried by hand (docs/driver-of-your-own.md).
"""

import struct
from collections.abc import Callable
from typing import Any

from actuators import create_twin
from actuators.canopen import MAPPED, VirtualCanopenDrive, frame_of, line_of
from rig.testing import BenchLeg

INIT, PREOP, SAFEOP, OP, ERROR = 1, 2, 4, 8, 0x10


class SdoError(Exception):
    """A refused transfer."""

    def __init__(self, code: int) -> None:
        super().__init__(f"abort {code:08X}h")
        self.abort_code = code


class MailboxError(Exception):
    """A mail that is none."""


class PacketError(Exception):
    """A packet that is none."""


class WkcError(Exception):
    """A frame that did not come back."""


class ConfigMapError(Exception):
    """Errors while the slaves were configured."""


def al_status_code_to_string(code: int) -> str:
    """The code."""
    return f"status {code}"


class Slave:
    """A slave with the twin of a CiA 402 drive."""

    name, al_status = "soft slave", 0

    def __init__(self, place: int) -> None:
        self.leg = BenchLeg()
        options = {"name": f"slave {place}", "device": "can://soft/0", "unit": place, "serial": str(1000 + place)}
        self.twin = create_twin("canopen", options, self.leg)
        self.place, self.now = place, INIT
        self.own: dict[tuple[int, int], bytes] = {}
        self.state, self.present, self.lose = INIT, True, 0
        self.output, self.input = bytes(9), bytes(13)
        self.watchdog = 100.0
        self.config_func: Callable[[int], object] | None = None
        self.master: Master | None = None

    def say(self, identifier: int, data: bytes) -> dict[int, bytes]:
        """What the twin answers to a frame, by identifiers."""
        lines = self.twin.respond(line_of(identifier, data)).split(b"\r")[:-1]
        return dict(found for line in lines if (found := frame_of(line)) is not None)

    def _sdo(self, request: bytes) -> bytes:
        if self.lose:
            self.lose -= 1
            raise WkcError
        answer = self.say(0x600 + self.place, request.ljust(8, b"\0"))[0x580 + self.place]
        if answer[0] == 0x80:
            raise SdoError(struct.unpack_from("<i", answer, 4)[0])
        return answer

    def sdo_read(self, index: int, sub: int) -> bytes:
        """An object's bytes."""
        answer = self._sdo(struct.pack("<BHB", 0x40, index, sub))
        if answer[0] & 2:
            return answer[4 : 8 - (answer[0] >> 2 & 3)]
        data, part = b"", b"\0"
        while not part[0] & 1:
            part = self._sdo(bytes((0x60 | len(data) // 7 % 2 << 4,)))
            data += part[1 : 8 - (part[0] >> 1 & 7)]
        return data

    def sdo_write(self, index: int, sub: int, data: bytes) -> None:
        """Write an object; the assignment of PDOs is EtherCAT's own."""
        assert self.now == PREOP or index not in range(0x1600, 0x1D00), "PDOs are mapped in pre-operational"
        if index in (0x1C12, 0x1C13):
            self.own[index, sub] = data
        else:
            self._sdo(struct.pack("<BHB", 0x23 | (4 - len(data)) << 2, index, sub) + data)

    def set_watchdog(self, kind: str, milliseconds: float) -> None:
        """The watchdog of the process data."""
        assert kind == "processdata"
        self.watchdog = float(milliseconds)
        self.say(0x600 + self.place, b"\x23\x16\x10\x01" + struct.pack("<I", 127 << 16 | round(milliseconds)))

    def get_watchdog(self, kind: str) -> float:
        """See `set_watchdog`."""
        assert kind == "processdata"
        return self.watchdog

    def add_emergency_callback(self, callback: Callable[[Any], object]) -> None:
        """Who is told of emergencies."""
        self.emergency = callback

    def write_state(self) -> None:
        """Go to the state `state`."""
        wanted = self.state & 0x0F
        if not self.present or (self.now < SAFEOP and wanted >= SAFEOP and not self.own):
            return
        if wanted == OP and self.now != OP:
            for pdo, (parameters, _, kind) in MAPPED.items():
                self._sdo(struct.pack("<BHBI", 0x23, parameters, 1, pdo + self.place))
                self._sdo(struct.pack("<BHBB", 0x2F, parameters, 2, kind))
        self.say(0, bytes((1 if wanted == OP else 0x80, self.place)))
        self.now = wanted

    def state_check(self, wanted: int, _timeout: int) -> int:
        """The state now."""
        self.state = self.now if self.present else 0
        return self.state

    def reboot(self) -> None:
        """Lose everything."""
        device = self.twin.device
        assert isinstance(device, VirtualCanopenDrive)
        device.reboot()
        self.now, self.own = INIT, {}

    def recover(self) -> int:
        """Find a slave by its place."""
        self.state = self.now
        return 1

    def reconfig(self) -> int:
        """Map its PDOs again."""
        self.state = self.now = PREOP
        assert self.config_func is not None
        self.config_func(self.place)
        self.state = self.now = SAFEOP
        return self.now

    def exchange(self) -> int:
        """Take the outputs, give the inputs; returns what that adds to the working counter."""
        if not self.present or self.now < SAFEOP:
            return 0
        if self.now == OP:
            self.say(0x700 + 127, b"\x05")
            self.say(0x300 + self.place, self.output[8:])
            self.say(0x200 + self.place, self.output[:8])
            said = self.say(0x080, b"")
            self.input = said.get(0x180 + self.place, bytes(8)) + said.get(0x280 + self.place, bytes(5))
        return 3 if self.now == OP else 1


NETWORKS: dict[str, list[Slave]] = {}
"""Slaves by network interface."""


class Master:
    """A network."""

    sdo_read_timeout = sdo_write_timeout = 0
    state = INIT

    def open(self, interface: str) -> None:
        """Open a network interface."""
        if interface not in NETWORKS:
            raise ConnectionError(f"could not open interface {interface}")
        self.slaves = NETWORKS[interface]
        self.cut = False
        for slave in self.slaves:
            slave.master = self

    def config_init(self) -> int:
        """How many slaves there are."""
        for slave in self.slaves:
            slave.now = slave.state = PREOP
        return len(self.slaves)

    def config_map(self) -> None:
        """Map all PDOs."""
        for slave in self.slaves:
            assert slave.config_func is not None
            slave.config_func(slave.place)
            slave.now = slave.state = SAFEOP

    def state_check(self, wanted: int, _timeout: int) -> int:
        """The lowest state."""
        return min(slave.now for slave in self.slaves)

    def read_state(self) -> None:
        """Ask for all states."""
        for slave in self.slaves:
            slave.state_check(OP, 0)

    def write_state(self) -> None:
        """Set all states."""
        for slave in self.slaves:
            slave.state = self.state
            slave.write_state()

    def send_processdata(self) -> None:
        """Exchange."""
        self.counter = -1 if self.cut else sum([slave.exchange() for slave in self.slaves])

    def receive_processdata(self, _timeout: int, release_gil: bool = False) -> int:
        """The working counter."""
        return self.counter

    def close(self) -> None:
        """The end."""
