"""ROBO Cylinders: frames as their maker's manual has them, and what the driver tells its twin, and when."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from drive_support import serving
from iai_bench import IaiBench
from pymodbus import FramerType
from pymodbus.client import ModbusTcpClient
from waiting import eventually

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    ConfigurationError,
    Feedback,
    Mode,
    Status,
    create_drive,
)
from actuators.framing import crc16
from actuators.iai import VirtualRoboCylinder
from actuators.iai.protocol import Coil, Target, coil_request, move_request, status_request
from rig.testing import BenchLeg as Leg

READ, COIL, MOVE = 3, 5, 16


@pytest.fixture
def bench() -> IaiBench:
    made = IaiBench(name="drive 4")
    made.drive.configure()
    made.do(COMMAND_OFF)
    return made


def until(bench: IaiBench, command: Command, status: Status, cycles: int = 8) -> Feedback:
    for _ in range(cycles):
        feedback: Feedback = bench.do(command)
        if feedback.status & status:
            return feedback
    raise AssertionError(f"not {status!r} after {cycles} cycles: {feedback}")


def told(bench: IaiBench, command: Command) -> list[str]:
    """What a cycle tells beside reading the status."""
    bench.sent.clear()
    bench.do(command)
    return [frame[:6].hex(" ") for frame in bench.sent if frame[1] != READ]


def homed(bench: IaiBench) -> None:
    until(bench, COMMAND_HOME, Status.HOMING)
    bench.leg.settle()
    until(bench, COMMAND_HOME, Status.HOMED)
    bench.do(COMMAND_OFF)


def at(position: float, velocity: float = 0.0) -> Command:
    return Command(Mode.POSITION, 0.0, position, velocity, enable=True)


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        (coil_request(1, Coil.SERVO_ON, True), "01 05 04 03 ff 00 7d 0a"),
        (coil_request(1, Coil.ALARM_RESET, True), "01 05 04 07 ff 00 3c cb"),
        (coil_request(1, Coil.HOME, True), "01 05 04 0b ff 00 fc c8"),
        (coil_request(1, Coil.MODBUS_CONTROL, True), "01 05 04 27 ff 00 3d 01"),
    ],
)
def test_coils_are_told_as_in_the_manual(message, printed):
    assert (message + crc16(message)).hex(" ") == printed


def test_blocks_are_where_the_manual_has_them():
    """Its example moves to 50 mm, in position from 20 mm on, at 100 mm/s and 0.3 G."""
    moved = move_request(1, Target(5000, 2000, 10000, 30)).hex(" ")
    assert moved == "01 10 99 00 00 07 0e 00 00 13 88 00 00 07 d0 00 00 27 10 00 1e"
    assert status_request(1).hex(" ") == "01 03 90 00 00 0c"


def test_the_twin_takes_the_manuals_examples(bench):
    homed(bench)
    bench.controller.answer(bytes.fromhex("01 05 04 03 ff 00"))
    for request, reply in (
        (
            "01 10 99 00 00 09 12 00 00 13 88 00 00 07 d0 00 00 27 10 00 1e 00 b2 00 06 c3 77",
            "01 10 99 00 00 09 2e 93",
        ),
        ("01 10 99 00 00 02 04 00 00 13 88 38 af", "01 10 99 00 00 02"),
        ("01 05 04 07 ff 00 3c cb", "01 05 04 07 ff 00 3c cb"),
        ("01 03 90 05 00 01 b9 0b", "01 03 02"),
        ("01 03 90 00 00 0a e8 cd", "01 03 14"),
    ):
        assert bench.controller.respond(bytes.fromhex(request)).hex(" ").startswith(reply)
    for request in ("01 05 04 99 ff 00", "01 05 04 03 12 00", "01 05 04 03", "01 10 99 08 00 02 04 00 00 00 00"):
        message = bytes.fromhex(request)
        assert bench.controller.answer(message)[1] == message[1] | 0x80


@pytest.fixture
def leg() -> Leg:
    return Leg(0.6)


@pytest.fixture
def controller(leg: Leg) -> VirtualRoboCylinder:
    return VirtualRoboCylinder(leg, position_offset=0.5)


@pytest.fixture
def client(controller: VirtualRoboCylinder) -> Iterator[ModbusTcpClient]:
    """Somebody else's master."""
    with (
        serving([controller]) as [(host, port)],
        ModbusTcpClient(host, port=port, timeout=5.0, retries=0, framer=FramerType.RTU) as client,
    ):
        yield client


def agreeing(client: ModbusTcpClient) -> tuple[int, int, int]:
    """Device status 1 and extended, and device control 1, which are the same as registers and as coils."""
    registers = list(client.read_holding_registers(0x9000, count=22).registers)
    assert client.read_input_registers(0x9000, count=9).registers == registers[:9]
    status = registers[5:8] + registers[20:21] + registers[19:20] + registers[3:5] + registers[18:19] + registers[21:22]
    bits = [bool(word >> place & 1) for word in status for place in range(15, -1, -1)]
    assert client.read_coils(0x0100, count=144).bits[:144] == bits
    assert client.read_discrete_inputs(0x0103, count=10).bits[:10] == bits[3:13]
    control = client.read_holding_registers(0x0D00, count=4).registers
    bits = [bool(word >> place & 1) for word in control for place in range(15, -1, -1)]
    assert client.read_coils(0x0400, count=64).bits[:64] == bits
    assert client.read_discrete_inputs(0x0400, count=64).bits[:64] == bits
    assert client.read_exception_status().status == int(f"{status[0] >> 8:08b}"[::-1], 2)
    return status[0], status[2], control[0]


def test_a_master_reads_and_writes_by_every_function_of_the_manual(client: ModbusTcpClient, leg: Leg) -> None:
    assert agreeing(client) == (1 << 13, 0, 0)
    client.write_register(0x0D00, 0x1000)
    assert agreeing(client) == (1 << 13, 0, 0), "commands come from its inputs yet"
    assert not client.write_coil(0x0427, True).isError()
    assert not client.write_coils(0x0403, [True, False, False, False, False]).isError()
    assert agreeing(client) == (0x3008, 1 << 8, 0x1000)
    assert not client.write_register(0x0D00, 0x1010).isError()
    assert agreeing(client)[1] & 1 << 11, "it searches its reference"
    leg.settle()
    eventually(lambda: bool(agreeing(client)[0] & 0x10), "the search to end", 5.0)
    identity: Any = client.report_device_id()
    assert (identity.identifier, identity.status) == (b"\x01", True)
    moved = client.readwrite_registers(read_address=0x9900, read_count=2, address=0x9900, values=[0, 12000])
    assert moved.registers == [0, 12000]
    assert agreeing(client)[1] & 1 << 5, "it moves"
    assert not client.write_registers(0x0D00, [0, 0]).isError()
    assert agreeing(client)[0] & 1 << 12 == 0 and not leg.enabled


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ("05 0400 ff00", 2),
        ("05 0440 0000", 2),
        ("05 0100 ff00", 2),
        ("0f 0402 0002 01 03", 2),
        ("06 0d00 0008", 3),
        ("06 0d02 0100", 2),
        ("06 0d03 0001", 2),
        ("10 0d01 0002 04 00000000", 2),
        ("01 018f 0002", 2),
        ("01 0100 07d1", 3),
        ("07 00", 3),
        ("11 00", 3),
    ],
)
def test_what_is_not_simulated_or_there_is_refused(controller: VirtualRoboCylinder, request_: str, code: int) -> None:
    controller.answer(bytes.fromhex("01 05 0427 ff00"))
    data = b"\1" + bytes.fromhex(request_)
    assert controller.answer(data) == bytes((1, data[1] | 0x80, code))
    assert controller.answer(bytes.fromhex("01 01 0403 0001")) == bytes.fromhex("01 01 01 00")


def test_its_time_is_that_since_it_was_powered_up(controller: VirtualRoboCylinder) -> None:
    """Not that of the clock that it is given."""
    for now, said in ((5000.0, 0), (5001.5, 1500)):
        controller.tick(now)
        assert controller.answer(bytes.fromhex("01 04 9010 0002"))[3:] == said.to_bytes(4, "big")
    controller.reboot()
    controller.tick(5002.0)
    assert controller.answer(bytes.fromhex("01 04 9010 0002"))[3:] == (500).to_bytes(4, "big")


def test_its_coils_stand_while_it_hangs(client: ModbusTcpClient, controller: VirtualRoboCylinder, leg: Leg) -> None:
    controller.answer(bytes.fromhex("01 05 0427 ff00"))
    before = agreeing(client)
    controller.hung = True
    assert not client.write_coil(0x0403, True).isError()
    assert agreeing(client) == before and not leg.enabled


def test_one_thing_is_told_until_it_is_done(bench):
    homed(bench)
    assert told(bench, at(0.65)) == ["01 05 04 03 ff 00"] and bench.leg.enabled
    assert [frame[:5] for frame in told(bench, at(0.65))] == ["01 10 "[:5]]
    assert told(bench, COMMAND_OFF) == ["01 05 04 03 00 00"]
    assert told(bench, COMMAND_OFF) == [] and not bench.leg.enabled
    bench.faults.inject("drop_write", 3)
    assert told(bench, at(0.65)) == told(bench, at(0.65)) == ["01 05 04 03 ff 00"]


def test_it_does_not_move_before_it_has_found_its_reference(bench):
    for _ in range(5):
        assert "01 10" not in " ".join(told(bench, at(0.6)))
    assert bench.do(at(0.6)).status & Status.ENABLED and bench.leg.enabled
    assert bench.leg.position == pytest.approx(bench.leg.length)


def test_the_search_is_begun_once(bench):
    frames = [frame for _ in range(6) for frame in told(bench, COMMAND_HOME)]
    assert frames == ["01 05 04 03 ff 00", "01 05 04 0b 00 00", "01 05 04 0b ff 00"]
    bench.leg.settle()
    assert until(bench, COMMAND_HOME, Status.HOMED).position == pytest.approx(bench.leg.home, abs=1e-5)
    assert told(bench, COMMAND_HOME) == [] and bench.leg.enabled  # it holds
    bench.do(COMMAND_OFF)
    until(bench, COMMAND_HOME, Status.HOMING)  # another one


def test_a_coil_that_is_refused_is_told_again(bench, monkeypatch):
    answer = bench.controller.answer
    refusing = [b"\x01\x85\x06"] * 2

    def busy(message: bytes) -> bytes:
        if message[1:4] == bytes((COIL, *divmod(Coil.HOME, 256))) and refusing:
            return refusing.pop()
        reply: bytes = answer(message)
        return reply

    monkeypatch.setattr(bench.controller, "answer", busy)
    frames = [frame for _ in range(7) for frame in told(bench, COMMAND_HOME)]
    assert frames == ["01 05 04 03 ff 00", *["01 05 04 0b 00 00"] * 3, "01 05 04 0b ff 00"]
    assert bench.drive.counters.exceptions == 2


def test_a_stop_is_the_controllers_own_and_then_the_torque_goes(bench):
    homed(bench)
    until(bench, at(0.65), Status.ENABLED)
    for _ in range(100):
        bench.do(at(0.60, -0.1))
    speed = abs(bench.leg.feedforward)
    bench.leg.velocity = -0.1
    assert told(bench, COMMAND_STOP) == ["01 05 04 2c ff 00"]
    stopping = bench.do(COMMAND_STOP)
    assert stopping.status & Status.QUICK_STOP and stopping.status & Status.ENABLED and speed > 0.05
    for _ in range(20):
        bench.do(COMMAND_STOP)
    assert bench.leg.feedforward == 0.0  # it has come to rest by its ramp
    bench.leg.velocity = 0.0
    for _ in range(2):
        bench.do(COMMAND_STOP)
    assert not bench.leg.enabled and bench.leg.brake
    bench.do(COMMAND_OFF)
    assert told(bench, at(0.65)) == ["01 05 04 2c 00 00"]  # the stop is taken back first
    until(bench, at(0.65), Status.ENABLED)


def test_one_that_does_not_come_to_rest_loses_its_torque_all_the_same(bench):
    homed(bench)
    until(bench, at(0.65), Status.ENABLED)
    bench.leg.velocity = 0.3
    powered = []
    for _ in range(300):
        bench.do(COMMAND_STOP)
        powered.append(bench.leg.enabled)
    assert all(powered[:240]) and not powered[-1]


def test_alarms_are_said_and_reset(bench):
    homed(bench)
    until(bench, at(0.65), Status.ENABLED)
    bench.controller._fail(0x0E8)
    feedback = until(bench, at(0.65), Status.FAULT)
    assert (feedback.error, feedback.status & Status.ENABLED) == (0x0E8, 0)
    assert bench.drive.error_text(0x0E8) == "alarm 0E8, see the controller's manual"
    alarm, bench.controller._alarm = bench.controller._alarm, 0
    for _ in range(5):  # and were it gone by itself
        assert not bench.do(at(0.65)).status & Status.ENABLED
    bench.controller._alarm = alarm
    bench.do(COMMAND_OFF)
    assert told(bench, COMMAND_CLEAR) == ["01 05 04 07 ff 00"]
    assert told(bench, COMMAND_OFF) == ["01 05 04 07 00 00"]
    bench.do(COMMAND_OFF)
    until(bench, at(0.65), Status.ENABLED)


def test_an_encoder_without_a_value_as_the_servo_comes_on_is_an_alarm(bench):
    homed(bench)
    length, bench.leg.length = bench.leg.length, math.nan
    bench.controller.answer(coil_request(1, Coil.SERVO_ON, True))
    bench.leg.length = length
    feedback = bench.do(COMMAND_OFF)
    assert (feedback.error, feedback.status & Status.ENABLED) == (0x0E5, 0)


def test_it_follows_at_the_speed_that_it_is_told(bench):
    """A command every 10 ms: the slider is there as the next one comes, and never stands between two."""
    homed(bench)
    until(bench, at(0.65), Status.ENABLED)
    begin = bench.now
    behind, speeds = [], []
    for _ in range(80):
        bench.pass_time(0.008)
        t = bench.now + 0.002 - begin
        bench.leg.length, bench.leg.velocity = bench.leg.position, bench.leg.feedforward
        behind.append(bench.leg.position - (0.65 - 0.2 * t))
        bench.do(at(0.65 - 0.2 * t, -0.2))
        speeds.append(bench.leg.feedforward)
    assert max(map(abs, behind[-5:])) < 2e-3 and max(speeds[-30:]) < -0.19


@pytest.mark.parametrize(("cycle", "bound"), [(0.02, 1e-4), (0.1, 2e-4), (0.2, 1e-3)])
def test_it_follows_a_motion_in_a_long_cycle(bench, cycle, bound):
    """It is little behind 60 mm out and back in 4 s, and never stands within them."""
    homed(bench)
    until(bench, at(0.65), Status.ENABLED)
    begin, turns, size = bench.now, 2.0 * math.pi * 0.25, 0.03

    def reference(t):
        return 0.65 + size * (1.0 - math.cos(turns * t))

    behind, speeds = [], []
    for number in range(round(8.0 / cycle)):
        t = number * cycle
        behind.append(bench.leg.position - reference(t))
        bench.do(at(reference(t), (reference(t + cycle) - reference(t)) / cycle))
        for part in range(1, 5):
            bench.pass_time(begin + t + part * cycle / 4.0 - bench.now)
            bench.leg.length, bench.leg.velocity = bench.leg.position, bench.leg.feedforward
            speeds.append((bench.leg.feedforward, math.sin(turns * (bench.now - begin))))
    assert max(map(abs, behind)) < bound
    assert all(speed * sign > 0.0 for speed, sign in speeds if abs(sign) > 0.5)


def test_commands_from_its_inputs_are_refused_by_name():
    bench = IaiBench(name="drive 4")
    with pytest.raises(ConfigurationError, match=r"drive 4 .* takes its commands from its inputs, not from Modbus"):
        bench.drive.verify(1.0)
    bench.controller.answer(bytes.fromhex("01 05 04 03 ff 00"))
    assert not bench.leg.enabled
    bench.drive.configure()
    identity = bench.drive.verify(1.0)
    assert (identity.vendor, identity.serial) == ("IAI", "")
    bench.faults.inject("reboot")
    with pytest.raises(ConfigurationError, match="from its inputs"):
        bench.drive.verify(1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unit": 17}, "unit: 17 is outside 1..16"),
        ({"framing": "tcp", "host": "x", "device": None}, "frames of"),
        ({"serial": "7"}, "does not say one"),
        ({"acceleration": 0.0}, "acceleration"),
    ],
)
def test_options_that_no_controller_has_are_refused(options, said):
    with pytest.raises(ConfigurationError, match=said):
        create_drive("iai", {"device": "/dev/none", "name": "drive 4", **options})
