"""A driver of CiA 402 drives on EtherCAT: pysoem as a wire that carries the CANopen application protocol (CoE).

The drive, its states, objects and twin are those of CANopen. A slave's place on the network is its node number. What
differs is the transport: RPDOs are a slave's outputs, TPDOs its inputs, a SYNC is one exchange of the process image, an
SDO is a mailbox transfer, the NMT states are those of the slave, and in place of heartbeats the slave watches for
process data. Change what your drives do otherwise.
"""

import math
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Annotated, Any

from pydantic import Field, field_validator

from actuators import ConnectError, DriveAddress, DriveOptions, Driver, Line, Wire
from actuators.canopen import (
    MAPPED,
    CanBus,
    CanEndpoint,
    Canopen,
    CanopenSettings,
    canopen_twin,
    frame_of,
    line_of,
)

SCHEME = "ethercat://"
BITRATE = 100_000_000
NMT, SYNC, EMERGENCY, HEARTBEAT = 0x000, 0x080, 0x080, 0x700
RPDO_1, RPDO_2, TPDO_1, TPDO_2 = 0x200, 0x300, 0x180, 0x280
SDO_REPLY, SDO_REQUEST = 0x580, 0x600
NMT_START = 0x01
RPDO_ASSIGNMENT, TPDO_ASSIGNMENT = 0x1C12, 0x1C13
PDO_PARAMETERS = range(0x1400, 0x1C00)
"""Objects of PDOs on CANopen; here they are mapped when the network is opened."""
HEARTBEAT_CONSUMER = (0x1016, 1)
NONE, INIT, SAFEOP, OP = 0, 1, 4, 8
"""States of a slave, `NONE` of one that does not answer."""
STATE, ERROR = 0x0F, 0x10
"""Bits of the state, and of an error; the same bit acknowledges it."""
MAILBOX_TIME = 0.2  # s, of an SDO
TRIES = 3
STATE_TIME = 1.0  # s, in which a slave must change its state
LOOK_AGAIN = 0.05  # s, period at which the slaves' states are read after a wrong counter
FALLEN = 2  # readings in a row without a state after which a slave has restarted
COUNTED = {SAFEOP: 1, OP: 3}
"""By how much a slave raises the working counter: 1 for its inputs, 2 for its outputs."""
SIZES = {pdo: sum(each.size for each in objects) for pdo, (_, objects, _) in MAPPED.items()}  # bytes


class EthercatWire:
    """A chain of EtherCAT slaves; its bytes are lines with CANopen's frames, as on a CAN bus."""

    def __init__(self, interface: str, timeout: float) -> None:
        """Open the network, map the slaves' PDOs, and bring them to safe-operational. Raises ConnectError."""
        try:
            import pysoem
        except ImportError as error:
            raise ConnectError(f"{SCHEME}{interface}: pysoem is not installed") from error
        self._soem: Any = pysoem
        self._lost = (pysoem.MailboxError, pysoem.PacketError, pysoem.WkcError)
        self._master: Any = pysoem.Master()
        self._inputs = b""
        self._exchanged = True
        """whether the last process image was received"""
        self._looked = -math.inf
        self._uploads: dict[int, bytes] = {}
        """by place, the rest of an object that is read in segments"""
        self._host = 0
        """node number of this computer, as written to the drives"""
        try:
            self._master.open(interface)
        except ConnectionError as error:
            raise ConnectError(f"cannot open network interface {interface}: {error}") from error
        self.connected = True
        with ExitStack() as failed:
            failed.callback(self.close)
            self._bring_up(interface, timeout)
            failed.pop_all()

    def _bring_up(self, interface: str, timeout: float) -> None:
        master = self._master
        master.sdo_read_timeout = master.sdo_write_timeout = round(1e6 * MAILBOX_TIME)
        if master.config_init() <= 0:
            raise ConnectError(f"no EtherCAT slave answers at network interface {interface}")
        self._slaves: list[Any] = list(master.slaves)
        self._states = [SAFEOP] * len(self._slaves)
        self._fallen = [0] * len(self._slaves)
        """readings in a row in which a slave had no state, or its first one"""
        self._outputs = [bytearray(SIZES[RPDO_1] + SIZES[RPDO_2]) for _ in self._slaves]
        failed: list[str] = []
        for place, slave in enumerate(self._slaves, start=1):
            slave.config_func = lambda _, slave=slave, place=place: self._map(slave, place, failed)
            slave.add_emergency_callback(lambda emergency, place=place: self._emergency(emergency, place))
        try:
            master.config_map()
        except self._soem.ConfigMapError as error:
            failed += [str(each) for each in error.args[0]]
        if not failed and master.state_check(SAFEOP, round(1e6 * timeout)) != SAFEOP:
            master.read_state()
            failed += [
                f"slave {place} ({slave.name}) is in state {slave.state:02X}h: "
                f"{self._soem.al_status_code_to_string(slave.al_status)}"
                for place, slave in enumerate(self._slaves, start=1)
                if slave.state != SAFEOP
            ]
        if failed:
            raise ConnectError(f"EtherCAT at network interface {interface}: {'; '.join(failed)}")

    def _map(self, slave: Any, place: int, failed: list[str]) -> None:
        """Map a slave's PDOs; called in pre-operational."""
        write = partial(self._transferred, slave.sdo_write)
        try:
            for assignment, pdos in ((RPDO_ASSIGNMENT, (RPDO_1, RPDO_2)), (TPDO_ASSIGNMENT, (TPDO_1, TPDO_2))):
                write(assignment, 0, b"\0")
                for count, pdo in enumerate(pdos, start=1):
                    parameters, objects, _ = MAPPED[pdo]
                    mapping = parameters + 0x200
                    write(mapping, 0, b"\0")
                    for entry, each in enumerate(objects, start=1):
                        write(mapping, entry, struct.pack("<I", each.mapping))
                    write(mapping, 0, bytes((len(objects),)))
                    write(assignment, count, struct.pack("<H", mapping))
                write(assignment, 0, bytes((len(pdos),)))
        except (self._soem.SdoError, *self._lost) as error:
            failed.append(f"slave {place} ({slave.name}) does not take its mapping: {error!r}")

    def _transferred(self, transfer: Callable[..., Any], *arguments: Any) -> Any:
        """What a mailbox transfer returns; one whose frame was lost is repeated."""
        for _ in range(TRIES - 1):
            try:
                return transfer(*arguments)
            except self._soem.WkcError:
                continue
        return transfer(*arguments)

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`: the network is only received from by pysoem."""
        return -1

    def now(self) -> float:
        """See `Wire.now`."""
        return time.monotonic()

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        if not self.connected:
            return False
        found = [frame_of(text) for text in data.split(b"\r")[:-1]]
        return all([self._carry(*frame) for frame in found if frame is not None])

    def _carry(self, identifier: int, data: bytes) -> bool:
        """Carry a frame out; False if a slave does not take the state that it is to have."""
        function, place = identifier & 0x780, identifier & 0x7F
        if identifier == SYNC:
            self._exchange()
        elif identifier == NMT:
            return self._manage(*data)
        elif not 1 <= place <= len(self._slaves):
            return True
        elif function == RPDO_1 and len(data) == SIZES[RPDO_1]:
            self._outputs[place - 1][: SIZES[RPDO_1]] = data
        elif function == RPDO_2 and len(data) == SIZES[RPDO_2]:
            self._outputs[place - 1][SIZES[RPDO_1] :] = data
        elif function == SDO_REQUEST:
            self._inputs += line_of(SDO_REPLY + place, self._transfer(place, data.ljust(8, b"\0")))
        return True

    def _exchange(self) -> None:
        """Send the process image; it is awaited in `receive`."""
        if not self._exchanged:
            self._receive_image(0.0)  # what comes now belongs to no cycle
            self._inputs = b""
        for slave, outputs in zip(self._slaves, self._outputs, strict=True):
            slave.output = bytes(outputs)
        self._master.send_processdata()
        self._exchanged = False

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        if self.connected and not self._exchanged and not self._inputs:
            self._receive_image(deadline - time.monotonic())
        inputs, self._inputs = self._inputs, b""
        return inputs

    def _receive_image(self, patience: float) -> None:
        """Receive the process image, within `patience`, s: lines of the inputs of slaves that are operational.

        Only if exactly those have taken part that should, by their states: a counter does not tell which has not.
        """
        counter = self._master.receive_processdata(round(1e6 * min(max(patience, 0.0), 1.0)), release_gil=True)
        self._exchanged = True
        expected = sum(COUNTED.get(state, 0) for state in self._states)
        if counter > 0 and (counter != expected or any(self._fallen)):  # else no frame came back: nobody would answer
            self._look()
        if counter != expected:
            return
        for place, (slave, state) in enumerate(zip(self._slaves, self._states, strict=True), start=1):
            if state == OP:
                first, more = slave.input[: SIZES[TPDO_1]], slave.input[SIZES[TPDO_1] :][: SIZES[TPDO_2]]
                self._inputs += line_of(TPDO_1 + place, first) + line_of(TPDO_2 + place, more)

    def _look(self, at_once: bool = False) -> None:
        """Read the states of all slaves; for one that has restarted add a boot-up message."""
        if time.monotonic() - self._looked < LOOK_AGAIN and not at_once:
            return
        self._master.read_state()
        for k, slave in enumerate(self._slaves):
            self._states[k] = slave.state & STATE
            fallen = self._states[k] in (NONE, INIT)
            self._fallen[k] = (self._fallen[k] + 1) * fallen
            if self._fallen[k] == FALLEN:
                self._inputs += line_of(HEARTBEAT + k + 1, b"\0")
        self._looked = time.monotonic()

    def _manage(self, command: int, place: int) -> bool:
        """Bring a slave to operational, or to safe-operational, in which it takes no outputs; False: it does not go."""
        if not 1 <= place <= len(self._slaves):
            return False
        slave, wanted = self._slaves[place - 1], OP if command == NMT_START else SAFEOP
        self._look(at_once=True)
        if slave.state & STATE == NONE:
            slave.recover()  # by its place, as it has lost its address
        if slave.state & STATE < SAFEOP:
            slave.reconfig()
        deadline = time.monotonic() + STATE_TIME
        while slave.state_check(wanted, 2000) != wanted and time.monotonic() < deadline:
            slave.state = wanted | (ERROR if slave.state & ERROR else 0)
            slave.write_state()
            self._master.send_processdata()  # without which a slave does not go to operational
            self._master.receive_processdata(2000)
        self._look(at_once=True)
        return bool(self._states[place - 1] == wanted)

    def _transfer(self, place: int, request: bytes) -> bytes:
        """What answers an SDO request: the mailbox transfer, in CANopen's eight bytes."""
        slave = self._slaves[place - 1]
        command, index, sub = struct.unpack_from("<BHB", request)
        if command & 0xE0 == 0x60:
            return self._segment(place, command)
        try:
            if command == 0x40:
                return self._upload(place, slave, index, sub)
            if command & 0xE3 == 0x23:
                self._download(slave, (index, sub), request[4 : 8 - (command >> 2 & 3)])
                return b"\x60" + request[1:4] + bytes(4)
            code = 0x05040001
        except self._soem.SdoError as error:
            code = error.abort_code & 0xFFFFFFFF
        except self._lost:
            code = 0x05040000  # no answer in time
        return b"\x80" + request[1:4] + struct.pack("<I", code)

    def _upload(self, place: int, slave: Any, index: int, sub: int) -> bytes:
        head = struct.pack("<HB", index, sub)
        if (index, sub) == HEARTBEAT_CONSUMER:
            data = struct.pack("<I", self._host << 16 | round(self._transferred(slave.get_watchdog, "processdata")))
        else:
            data = self._transferred(slave.sdo_read, index, sub)
        if 0 < len(data) <= 4:
            return bytes((0x43 | (4 - len(data)) << 2,)) + head + data.ljust(4, b"\0")
        self._uploads[place] = data
        return b"\x41" + head + struct.pack("<I", len(data))

    def _segment(self, place: int, command: int) -> bytes:
        data = self._uploads.get(place, b"")
        part, rest = data[:7], data[7:]
        self._uploads[place] = rest
        return bytes((command & 0x10 | (7 - len(part)) << 1 | (not rest),)) + part.ljust(7, b"\0")

    def _download(self, slave: Any, entry: tuple[int, int], data: bytes) -> None:
        if entry == HEARTBEAT_CONSUMER:
            value = struct.unpack("<I", data)[0]
            self._host = value >> 16
            self._transferred(slave.set_watchdog, "processdata", value & 0xFFFF)
        elif entry[0] not in PDO_PARAMETERS:
            self._transferred(slave.sdo_write, *entry, data)

    def _emergency(self, emergency: Any, place: int) -> None:
        code, register = emergency.error_code, emergency.error_reg
        maker = struct.pack("<BHH", emergency.b1, emergency.w1, emergency.w2)
        self._inputs += line_of(EMERGENCY + place, struct.pack("<HB5s", code, register, maker))

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        """See `Wire.wait`: pysoem waits in `receive`."""
        del until, others
        return (self,)

    def close(self) -> None:
        """See `Wire.close`: all slaves go to their initial state."""
        if self.connected:
            self.connected = False
            self._master.state = INIT
            self._master.write_state()
            self._master.close()


class EthercatAddress(DriveAddress):
    """A slave on an EtherCAT network.

    unit: its place, 1 for the first.
    """

    unit: Annotated[int, Field(strict=True, ge=1, le=127)] = 1
    device: Line
    """The network interface: ethercat://INTERFACE, for example "ethercat://eth1"."""

    @field_validator("device")
    @classmethod
    def _names_an_interface(cls, url: str) -> str:
        if not (url.startswith(SCHEME) and url.removeprefix(SCHEME)):
            raise ValueError(f"{url!r}: must be ethercat://INTERFACE, as ethercat://eth1")
        return url

    @property
    def identity(self) -> tuple[str, str]:
        """See `DriveAddress.identity`."""
        return "", f"{self.device} slave {self.unit}"

    @property
    def place(self) -> str:
        """See `DriveAddress.place`."""
        return self.device

    @property
    def endpoint(self) -> CanEndpoint:
        """See `DriveAddress.endpoint`: a virtual rig serves it on a pseudo-terminal, as lines."""
        return CanEndpoint(self.device, BITRATE, "none")


class EthercatOptions(DriveOptions, CanopenSettings, EthercatAddress):
    """What one drive's driver needs to know."""

    def bus(self) -> CanBus:
        """The network, shared by those with the same `buses`."""
        opening = self.open_wire or partial(EthercatWire, self.device.removeprefix(SCHEME))
        return self.shared_bus(self.place, lambda: CanBus(opening, self.host_node, self.endpoint))


DRIVER = Driver(EthercatAddress, CanopenSettings, EthercatOptions, Canopen, canopen_twin)
