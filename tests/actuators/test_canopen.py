"""A drive on CANopen: its frames, what it is set to, one SYNC for several, emergencies, and what it refuses."""

from collections.abc import Iterator
from typing import Any

import pytest
from canopen_bench import CanopenBench

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Buses,
    Command,
    ConfigurationError,
    Counters,
    CycleExchange,
    Drive,
    Exchange,
    FaultyDevice,
    MemoryWire,
    Mode,
    ProtocolError,
    Status,
    bus_plans,
    create_drive,
    create_twin,
)
from actuators.canopen import CanBus, CanEndpoint, CanExchange
from actuators.canopen.frames import CAN_FRAMING, Object, frame_of, line_of
from actuators.virtual.server import DeviceLine
from rig.testing import BenchLeg
from rig.testing.drivers import home, power


@pytest.fixture
def bench() -> Iterator[CanopenBench]:
    bench = CanopenBench(name="drive 3", watchdog=0.05)
    yield bench
    bench.drive.close()


@pytest.mark.parametrize(("identifier", "data"), [(0, b"\x01\x03"), (0x80, b""), (0x7FF, bytes(range(8)))])
def test_a_frame_is_a_line_and_back(identifier: int, data: bytes) -> None:
    line = line_of(identifier, data)
    assert frame_of(line[:-1]) == (identifier, data)
    assert CAN_FRAMING.length(line + b"t0") == len(line) and CAN_FRAMING.length(line[:-1]) == 0


@pytest.mark.parametrize("line", [b"", b"z", b"O", b"t12", b"t1232AA", b"t8000", b"tXYZ0", b"t1231zz"])
def test_what_is_no_frame_is_none(line: bytes) -> None:
    assert frame_of(line) is None and CAN_FRAMING.message(line + b"\r") == b""


def test_the_drive_is_set_to_watch_this_computers_heartbeat(bench: CanopenBench) -> None:
    bench.drive.configure()
    objects = {key: value for key, (_, value) in bench.node._objects.items()}
    assert objects[0x1016, 1] == 127 << 16 | 50 and objects[0x6007, 0] == 1
    assert (objects[0x1400, 1], objects[0x1400, 2]) == (0x203, 1)
    assert [objects[0x1600, place] for place in range(1, 4)] == [0x60400010, 0x607A0020, 0x60710010]
    bench.node._objects[0x1016, 1] = (Object(0x1016, 1, "I"), 0)
    with pytest.raises(ConfigurationError, match=r"drive 3 .*node 3: object 1016h:1 is 0, must be 8323122"):
        bench.drive.verify(1.0)


@pytest.mark.parametrize(
    ("period", "steps", "exponent"),
    [(5e-3, 5, -3), (0.2, 200, -3), (2.5e-3, 25, -4), (1e-3, 1, -3), (1.25e-4, 125, -6)],
)
def test_the_interpolation_period_is_written_exactly(period: float, steps: int, exponent: int) -> None:
    bench = CanopenBench(name="drive 3", watchdog=0.5, sync_period=period)
    bench.drive.configure()
    assert [bench.node._objects[0x60C2, place][1] for place in (1, 2)] == [steps, exponent]
    bench.drive.close()


def test_an_interpolation_period_that_cannot_be_written_is_refused() -> None:
    for period in (1.0 / 300.0, 0.1001):
        with pytest.raises(ConfigurationError, match=f"sync_period.* {period:.9g} s: object 60C2h has 1 to 255 times"):
            CanopenBench(name="drive 3", sync_period=period)


def test_a_cycle_is_its_set_points_the_heartbeat_and_a_sync(bench: CanopenBench) -> None:
    command = power(bench)
    bench.sent.clear()
    bench.do(command._replace(force=-77.5))
    assert [frame_of(line[:-1]) for line in bench.sent] == [
        (0x203, b"\x0f\x00" + b"\x00" * 0 + bench_position(bench) + (-78).to_bytes(2, "little", signed=True)),
        (0x77F, b"\x05"),
        (0x080, b""),
    ]


def bench_position(bench: CanopenBench) -> bytes:
    return round(bench.leg.length / 1e-7).to_bytes(4, "little", signed=True)


def test_the_loss_of_heartbeats_is_an_emergency_with_its_text(bench: CanopenBench) -> None:
    power(bench)
    bench.pass_time(0.06)
    bench.leg.settle()
    feedback = bench.do(COMMAND_OFF)
    assert feedback.error == 0x8130 and feedback.status & Status.WATCHDOG
    text = bench.drive.error_text(feedback.error)
    assert text == "heartbeat of this computer lost (8130h); emergency with error register 11h, 00 00 00 00 00"
    assert not bench.do(COMMAND_CLEAR).status & Status.FAULT
    assert bench.drive.error_text(0x7305) == ["sensor", "incremental sensor 1 (7305h)"][1]


def test_a_drive_that_starts_anew_is_silent_and_says_so(bench: CanopenBench) -> None:
    command = power(bench)
    bench.faults.inject("reboot")
    assert not bench.do(command).fresh
    assert bench.drive.silence == "it has started anew, and is not operational"
    bench.drive.configure()
    assert bench.do(COMMAND_OFF).fresh and bench.drive.silence == ""


def test_homing_is_by_its_own_mode_and_is_remembered_in_others(bench: CanopenBench) -> None:
    assert home(bench) == ""
    assert bench.do(COMMAND_OFF).status & Status.HOMED
    for _ in range(bench.takes):
        feedback = bench.do(Command(Mode.POSITION, 0.0, bench.leg.length, enable=True))
    assert feedback.status & Status.HOMED and feedback.status & Status.ENABLED
    assert bench.leg.mode is Mode.POSITION
    for _ in range(bench.takes):
        feedback = bench.do(COMMAND_HOME)
    assert feedback.status & Status.HOMING and not feedback.status & Status.HOMED


@pytest.mark.parametrize("command", [COMMAND_STOP, COMMAND_OFF], ids=["quick stop", "off"])
def test_a_drive_stops_in_the_mode_in_which_it_moves(bench: CanopenBench, command: Command) -> None:
    home(bench)
    bench.do(COMMAND_OFF)
    for _ in range(bench.takes):
        bench.do(Command(Mode.POSITION, 0.0, bench.leg.length, enable=True))
    assert bench.leg.enabled
    bench.leg.velocity = 0.2
    bench.sent.clear()
    bench.do(command)
    change = line_of(0x303, b"\x06")
    assert change not in bench.sent
    words = [found[1] for line in bench.sent if (found := frame_of(line[:-1])) is not None and found[0] == 0x203]
    assert [word[2:6] for word in words] == [bench_position(bench)]
    bench.leg.settle()
    for _ in range(3):
        bench.do(command)
    assert change in bench.sent and not bench.leg.enabled


def test_a_drive_that_was_not_homed_is_not_in_any_mode(bench: CanopenBench) -> None:
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    for _ in range(bench.takes):
        feedback = bench.do(Command(Mode.POSITION, 0.0, bench.leg.length, enable=True))
    assert feedback.status & Status.ENABLED and not feedback.status & Status.HOMED


def test_no_torque_is_taken_in_another_mode_than_is_wanted(bench: CanopenBench) -> None:
    assert home(bench) == ""
    bench.do(COMMAND_OFF)
    bench.node._objects[0x1401, 1] = (Object(0x1401, 1, "I"), 1 << 31)  # it does not hear of the mode
    for _ in range(bench.takes):
        assert not bench.do(Command(Mode.POSITION, 0.0, bench.leg.length, enable=True)).status & Status.ENABLED
        assert not bench.leg.enabled


def test_positions_are_interpolated_between_two_syncs(bench: CanopenBench) -> None:
    assert home(bench) == ""
    bench.do(COMMAND_OFF)
    start = bench.leg.length
    for cycle in range(12):
        bench.do(Command(Mode.POSITION, 0.0, start + 1e-4 * max(0, cycle - 8), enable=True))
    bench.pass_time(0.001)
    assert bench.leg.position == pytest.approx(start + 2.5e-4, abs=1e-7)
    assert bench.leg.feedforward == pytest.approx(0.05)
    bench.pass_time(0.002)
    assert bench.leg.position == pytest.approx(start + 3.5e-4, abs=1e-7), "a SYNC that is late does not stop the leg"
    assert bench.leg.feedforward == pytest.approx(0.05)
    bench.pass_time(0.004)
    assert (bench.leg.position, bench.leg.feedforward) == (pytest.approx(start + 4e-4, abs=1e-7), 0.0)


class Segment:
    """Six drives on one bus over memory, with the lines that passed."""

    def __init__(self, **options: Any) -> None:
        self.legs = [BenchLeg(length=0.6 + 0.01 * leg) for leg in range(6)]
        given = [{"name": f"drive {n}", "device": "can://memory/0", "unit": n, **options} for n in range(1, 7)]
        twins: list[FaultyDevice] = [
            create_twin("canopen", each, leg) for each, leg in zip(given, self.legs, strict=True)
        ]
        self.line = DeviceLine(twins)
        self.sent: list[bytes] = []
        self.now = self.frame_time = 0.0
        shared = {"buses": Buses(), "open_wire": lambda _timeout: MemoryWire(self.respond, self.line.due)}
        self.drives: list[Drive] = [create_drive("canopen", each | shared) for each in given]
        for drive in self.drives:
            drive.connect(1.0)
            drive.configure()

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.line.tick(self.now)

    def respond(self, line: bytes) -> bytes:
        self.sent.append(line)
        self.pass_time(2.0 * self.frame_time)
        return self.line.respond(line)


def test_six_drives_have_one_sync_and_one_heartbeat_a_cycle() -> None:
    segment = Segment()
    exchange = CycleExchange(segment.drives)
    exchange.exchange([COMMAND_OFF] * 6, 0.01, 0.0)
    segment.sent.clear()
    for leg in segment.legs:
        leg.length += 0.001
    exchange.exchange([COMMAND_OFF] * 6, 0.02, 0.0)
    identifiers = [frame[0] for line in segment.sent if (frame := frame_of(line[:-1])) is not None]
    assert identifiers == [*range(0x201, 0x207), 0x77F, 0x080]
    assert exchange.prompt and exchange.position.tolist() == pytest.approx([0.001] * 6)  # since power-up
    assert all(drive.counters.rejected == 0 for drive in segment.drives)


@pytest.mark.parametrize("tpdos", [None, 1, 2, 3])
def test_a_driver_of_ones_own_awaits_the_tpdos_that_it_names(tpdos: int | None) -> None:
    frames = b"".join(line_of(0x80 + 0x100 * number + 5, bytes((number,))) for number in (1, 2, 3))
    wire = MemoryWire(lambda line: frames if line == line_of(0x080, b"") else b"")
    bus = CanBus(lambda _timeout: wire, 127, CanEndpoint("can://memory/0", 1_000_000, "none"))
    exchange = Exchange(5, Counters()) if tpdos is None else CanExchange(5, Counters(), tpdos)
    bus.join(exchange, 1.0)
    assert bus.begin(exchange, line_of(0x205, b"command"))
    assert bus.collect(exchange, 0.0) == bytes(range(1, 1 + (tpdos or 2)))
    bus.leave(exchange)


def test_the_bus_has_a_plan_by_the_bits_of_its_frames() -> None:
    segment = Segment(bitrate=500_000)
    (plan,) = bus_plans(segment.drives)
    frames = 12 * (111 + 19.6) + 6 * (87 + 14.8) + (55 + 8.4) + (47 + 6.8)
    assert plan.place == "can://memory/0" and len(plan.devices) == 6
    assert plan.time == pytest.approx(frames / 500_000, rel=0.05)


def test_setting_all_drives_up_again_takes_no_longer_than_their_watchdogs() -> None:
    """Home and reset do that between two cycles: here each frame takes its time."""
    segment = Segment(watchdog=0.01)
    exchange = CycleExchange(segment.drives)
    segment.pass_time(0.002)
    exchange.exchange([COMMAND_OFF] * 6, 0.0, 0.0)
    segment.frame_time = 1.3e-4
    for drive in segment.drives:
        drive.configure()
    assert segment.now > 0.015
    segment.frame_time = 0.0
    exchange.exchange([COMMAND_OFF] * 6, 0.1, 0.0)
    assert exchange.error == [0] * 6 and exchange.prompt


def test_an_sdo_that_is_refused_is_named_with_its_object_and_reason(bench: CanopenBench) -> None:
    bench.faults.inject("busy")
    with pytest.raises(
        ProtocolError, match=r"drive 3 .*node 3 refused a read of object 1018h:1: abort 08000022h \(not in this state"
    ):
        bench.drive.identify()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"device": "socketcan"}, "must be can://INTERFACE/CHANNEL, as can://socketcan/can0"),
        ({"device": "can://x/0", "unit": 128}, "unit: must be at most 127, not 128"),
        ({"device": "can://x/0", "unit": 5, "host_node": 5}, "node 5 is this computer's"),
        ({"device": "can://x/0", "serial": "A7"}, "serial number 'A7' must be a number"),
        ({"device": "can://x/0", "position_offset": 300.0}, "position_offset 300 m is beyond"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        create_drive("canopen", {"name": "drive 3", **options})


def test_outputs_are_off_from_the_set_up_on_and_no_others_are_touched() -> None:
    bench = CanopenBench(outputs={"lamp": 17})
    bench.drive.configure()
    assert bench.node.outputs == {"lamp": False}
    bench.drive.switch("lamp", True)
    bench.do(COMMAND_OFF)
    assert bench.node.outputs == {"lamp": True}
    mask = bytes.fromhex("40FE600200000000")
    assert bench.node.answer(bytes((3, 0x06, 0x03)) + mask)[1:] == line_of(0x583, b"\x43\xfe\x60\x02\0\0\x02\0")
    bench.drive.connect(1.0)
    assert bench.node.outputs == {"lamp": True}
    bench.drive.configure()
    assert bench.node.outputs == {"lamp": False}


def test_an_output_of_a_slow_drive_is_switched_at_once() -> None:
    bench = CanopenBench(sample_period=0.1, outputs={"brake": 16})
    bench.drive.configure()
    for _ in range(5):
        bench.do(COMMAND_OFF)
    bench.drive.switch("brake", True)
    assert bench.do(COMMAND_OFF).fresh and bench.node.outputs == {"brake": True}
    bench.drive.switch("brake", False)
    assert bench.do(COMMAND_OFF).fresh and bench.node.outputs == {"brake": False}
    assert not bench.do(COMMAND_OFF).fresh  # not asked: nothing has changed


def test_a_late_first_pdo_is_not_joined_with_the_second_of_the_present_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first PDO of the cycle before comes behind this cycle's SYNC, the second one is lost."""
    bench = CanopenBench()
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    respond, late = bench.faults.respond, list[bytes]()

    def with_a_late_one(line: bytes) -> bytes:
        reply = respond(line)
        frames = reply.split(b"\r")
        sync = len(frames) > 2
        before, late[:] = list(late), frames[:1] if sync else late
        return b"\r".join([*before, reply]) if sync else reply

    monkeypatch.setattr(bench.faults, "respond", with_a_late_one)
    bench.do(COMMAND_OFF)
    bench.leg.length += 0.01
    before = bench.drive.counters.rejected
    seen = bench.do(COMMAND_OFF)
    assert seen.fresh and seen.position == pytest.approx(0.01, abs=1e-6)
    assert (bench.drive.counters.rejected - before, bench.drive.counters.foreign) == (1, 0)
