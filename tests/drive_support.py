"""Benches for the tests of drives: a leg without physics, drives over memory, and a server in a thread."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from actuators import (
    CellDevice,
    DeviceReading,
    Endpoint,
    FaultyDrive,
    MemoryWire,
    Responder,
    ServoProfile,
    TcpEndpoint,
    TwinServer,
    VirtualServo,
    create_cell_device,
    create_drive,
    load_profile,
)
from actuators.virtual.device import MBAP_FRAMING, Framing
from rig.testing import DriveBench

PROFILE = load_profile("generic-servo", ServoProfile)


class ScriptedCell:
    """A load cell's device over memory, not yet connected, whose answers a test gives."""

    def __init__(self, driver: str, **options: Any) -> None:
        self.answer = b""
        self.requests: list[bytes] = []
        given = {"device": "memory", "open_wire": lambda _: MemoryWire(self.respond)}
        self.device: CellDevice = create_cell_device(driver, given | options)
        self.now = 0.0

    def respond(self, data: bytes) -> bytes:
        self.requests.append(data)
        return self.answer

    def read(self, answer: bytes) -> DeviceReading:
        """What the next cycle reads where the device answers that."""
        self.answer = answer
        self.now += 0.002
        self.device.begin(self.now)
        return self.device.finish(self.now)


class Stand:
    """What a server asks of a device beside its answers; those stand for one in tests."""

    framing: Framing = MBAP_FRAMING
    next_event = math.inf

    def tick(self, now: float) -> None: ...

    def passes(self, now: float) -> bool:
        return False

    def due(self) -> bytes:
        return b""


class Bench(DriveBench):
    """A servo on Modbus TCP."""

    def __init__(self, profile: ServoProfile = PROFILE, **options: Any) -> None:
        super().__init__("servo", {"host": "twin", "profile": profile, **options})
        self.servo = servo_of(self.faults)
        self.step, self.lacks = step(profile), lacks(profile)
        self.takes, self.arrives = takes(profile)


def step(profile: ServoProfile) -> float:
    """What a servo resolves, m and m/s."""
    return max(1e-6, profile.feedback.position.step)


def lacks(profile: ServoProfile) -> set[str]:
    """What a servo does not say of itself."""
    found = {"identity"} if profile.identity is None else set()
    bits = {"quick stop": profile.power or profile.status.quick_stop, "brake": profile.status.brake}
    found |= {name for name, bit in bits.items() if bit is None}
    if profile.command.velocity is None and profile.feedback.velocity is not None:
        found.add("feedforward")
    found |= {"identity"} if profile.identity is None or profile.identity.serial is None else set()
    return found | ({"velocity"} if profile.feedback.velocity is None else set())


def takes(profile: ServoProfile) -> tuple[int, int]:
    """Cycles until a command is carried out, and until a set-point is, of a servo that goes on by steps."""
    power, handover = profile.power, profile.command.handover
    bits = any(code.control for code in profile.modes.given.values())
    steps = 1 if power is None else len(power.table.steps)
    speed, acceleration = profile.ramp_limits
    ramp = 0 if profile.ramp is None else math.ceil((0.05 / speed + speed / acceleration) / 0.002)  # s of a cycle
    return steps + bits + (handover is not None), 1 + 2 * (handover is not None) + ramp


class Scripted:
    """A drive whose wire answers with what a test puts into `replies`."""

    def __init__(self, **options) -> None:
        self.replies: list[bytes] = []
        self.requests: list[bytes] = []
        self.drive = create_drive(
            "servo",
            {
                "name": "drive 3",
                "host": "10.0.0.3",
                "port": 5023,
                "request_timeout": 0.01,
                "open_wire": lambda timeout: MemoryWire(self.respond),
                **options,
            },
        )
        self.drive.connect(1.0)

    def respond(self, adu: bytes) -> bytes:
        self.requests.append(adu)
        return self.replies.pop(0) if self.replies else b""


def servo_of(twin: FaultyDrive) -> VirtualServo:
    """The servo behind a twin."""
    servo = twin.device
    assert isinstance(servo, VirtualServo)
    return servo


def ask(servo: VirtualServo, pdu: str, unit: int = 1) -> str:
    """One exchange of PDUs in hexadecimal; "" = silence."""
    data = bytes.fromhex(pdu)
    answer = servo.respond(b"\x12\x34\0\0" + (len(data) + 1).to_bytes(2, "big") + bytes((unit,)) + data)
    assert answer == b"" or answer[:4] == b"\x12\x34\0\0"
    return answer[7:].hex()


@contextmanager
def serving(devices: Sequence[Responder], **options) -> Iterator[list[tuple[str, int]]]:
    """Serve devices on free ports of the loopback interface from a thread that ends with the block."""
    with serving_at([(TcpEndpoint("127.0.0.1", 0), device) for device in devices], **options) as bound:
        yield [endpoint for endpoint in bound if isinstance(endpoint, TcpEndpoint)]


@contextmanager
def serving_at(endpoints: Sequence[tuple[Endpoint, Responder]], **options) -> Iterator[list[Endpoint]]:
    """Serve devices where it is said from a thread that ends with the block; gives where they are then."""
    stop, ready = threading.Event(), threading.Event()
    bound: list[Endpoint] = []
    errors: list[BaseException] = []

    def found(at: list[Endpoint]) -> None:
        bound.extend(at)
        ready.set()

    def run() -> None:
        try:
            TwinServer(endpoints, **options).serve(stop, found)
        except BaseException as error:
            errors.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(5.0)
        if not errors:
            yield bound
    finally:
        stop.set()
        thread.join(5.0)
        assert not thread.is_alive()
        if errors:
            raise errors[0]
