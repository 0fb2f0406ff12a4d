"""The reader of sensors over real sockets, a pseudo-terminal, a package of somebody's own, and as a process."""

import importlib
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from own_packages import installed
from waiting import PATIENCE, eventually

from actuators import Terminal
from rig.config import RigConfig, SensorOptions
from rig.errors import HardwareError, InputError
from rig.findings import Code, Finding
from rig.recording import READING
from rig.runtime import SharedMemoryError, TelemetryRing
from rig.sensing import (
    MachineTime,
    Measurement,
    PacedTime,
    ReadingBuffer,
    ReadingLoop,
    SensorIntake,
    SensorReader,
    SensorReport,
    encode_packet,
)
from rig.testing import check_sensor

MOTOR: dict[str, Any] = {"name": "motor", "kind": "scalar", "channels": [{"name": "temperature", "unit": "°C"}]}
GAUGE = """
import time

from rig.config import ExtensionSettings, SensorDeclaration


class Settings(ExtensionSettings):
    start: float = 20.0
    fails_after: int = 1_000_000


class Gauge:
    def __init__(self, settings, channels):
        if settings.start < 0.0:
            raise OSError("no such gauge")
        self.left, self.value = settings.fails_after, settings.start

    def read(self, timeout):
        time.sleep(min(timeout, 0.002))
        if not self.left:
            raise OSError("the gauge was unplugged")
        self.left -= 1
        self.value += 1.0
        return [(time.monotonic(), [self.value])]

    def close(self):
        pass


DECLARED = SensorDeclaration("gauge", "A gauge", Gauge, Settings)
"""
ENTRY = "[stewart_rig.sensors]\ngauge = own_gauge:DECLARED\n"


def udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Bench:
    """The reader's turns, in rig time that began 100 s ago."""

    def __init__(self, key: bytes | None = None, **changes: Any) -> None:
        options = SensorOptions.model_validate(MOTOR | changes)
        self.intake = SensorIntake(0, options, key, MachineTime(time.monotonic() - 100.0))
        self.ring = TelemetryRing.create(256, row=READING)
        self.reader = self.ring.reader()
        self.loop = ReadingLoop([self.intake], self.ring)

    def values(self, count: int) -> list[float]:
        """The first values of the next `count` readings."""
        found: list[float] = []
        end = time.monotonic() + 10.0
        while len(found) < count and time.monotonic() < end:
            self.loop.turn(0.05)
            found += self.reader.read_new()[0]["values"][:, 0].tolist()
        return found

    def turned(self) -> bool:
        self.loop.turn(0.01)
        return True

    def close(self) -> None:
        self.loop.close()
        self.ring.close()


@contextmanager
def bench(key: bytes | None = None, **changes: Any) -> Iterator[Bench]:
    made = Bench(key, **changes)
    try:
        yield made
    finally:
        made.close()


def test_packets_and_lines_come_over_udp_with_their_times() -> None:
    port = udp_port()
    with (
        bench(source=f"udp://127.0.0.1:{port}", clock="machine") as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire,
    ):
        now = time.monotonic()
        wire.sendto(encode_packet(Measurement(1, 0, now, now - 0.5, (20.5,))), ("127.0.0.1", port))
        one.loop.turn(1.0)
        (row,) = one.reader.read_new()[0]
        assert row["received"] - row["t"] == pytest.approx(0.5, abs=0.2)
        assert row["sensor"] == 0


def test_a_line_over_udp_needs_no_packet() -> None:
    port = udp_port()
    with (
        bench(source=f"udp://127.0.0.1:{port}", clock="arrival") as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire,
    ):
        for line in (b",,21.5", b'{"values": [22]}', b"nonsense"):
            wire.sendto(line, ("127.0.0.1", port))
        assert one.values(2) == [21.5, 22.0]
        one.loop.turn(0.0)
        assert dict(one.intake.report().dropped) == {"malformed": 1}


def test_a_flood_is_read_in_parts_and_holds_up_no_other_sensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.sensing.reader._TURN", 1000.0)
    port = udp_port()
    with (
        bench(source=f"udp://127.0.0.1:{port}", clock="arrival") as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire,
    ):
        for number in range(500):
            wire.sendto(b"%d,,20.5" % number, ("127.0.0.1", port))
        for _ in range(4):
            one.loop.turn(0.01)
        assert len(one.reader.read_new()[0]) == 64  # then it rests for a turn
    monkeypatch.undo()
    with (
        bench(source=f"udp://127.0.0.1:{port}", clock="arrival") as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire,
    ):
        for number in range(200):
            wire.sendto(b"%d,,20.5" % number, ("127.0.0.1", port))
        assert len(one.values(200)) == 200


def test_a_serial_line_gives_its_lines(tmp_path: Path) -> None:
    link = tmp_path / "gauge"
    terminal = Terminal(link)
    try:
        with bench(source=f"serial://{link}?baud=9600", clock="arrival") as one:
            os.write(terminal.fileno(), b"9,,1.5\r\n0,,20.5\r\n1,,2")  # the first may have begun before
            assert one.values(1) == [20.5]
            os.write(terminal.fileno(), b"1.25\r\n\r\n2,,x\n3,,22\n")
            assert one.values(2) == [21.25, 22.0]
            report = one.intake.report()
            assert (dict(report.dropped), report.missing) == ({"malformed": 1}, 1)
            os.write(terminal.fileno(), b"4,,3" + b"3" * 3000)  # a line without an end
            one.loop.turn(0.2)
            eventually(lambda: one.turned() and dict(one.intake.report().dropped) == {"malformed": 2}, "its drop")
    finally:
        terminal.close()


def test_a_serial_port_that_is_gone_is_reported_and_reopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.sensing.reader._RETRY", 0.0)
    link = tmp_path / "gauge"
    with bench(source=f"serial://{link}", clock="arrival") as one:
        (reported,) = (finding for finding in one.loop.findings() if finding.code is Code.SENSOR_FAILED)
        assert "gauge" in reported.text
        assert one.loop.reports()[0].state == "failed"
        terminal = Terminal(link)
        try:
            one.loop.turn(0.0)
            os.write(terminal.fileno(), b"0,,1\n1,,2\n")
            assert one.values(1) == [2.0]
            assert one.loop.reports()[0].state == "live"
        finally:
            terminal.close()
        eventually(lambda: one.turned() and one.loop.reports()[0].state == "failed", "the port's end")


def test_a_reader_of_a_package_of_its_own(tmp_path: Path) -> None:
    with (
        installed(tmp_path, {"own_gauge": GAUGE}, ENTRY),
        bench(source="plugin://gauge", clock="machine", settings={"start": 30.0}) as one,
    ):
        assert one.values(3)[:3] == [31.0, 32.0, 33.0]
        assert not check_sensor("gauge", one.intake.options)
        with pytest.raises(ValueError, match="settings: beginning"):
            SensorOptions.model_validate(
                MOTOR | {"source": "plugin://gauge", "clock": "machine", "settings": {"beginning": 1.0}}
            )


def test_a_reader_that_fails_is_reported_and_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.sensing.reader._RETRY", 0.0)
    with (
        installed(tmp_path, {"own_gauge": GAUGE}, ENTRY),
        bench(source="plugin://gauge", clock="machine", settings={"fails_after": 2}) as one,
    ):
        assert one.values(4)[:4] == [21.0, 22.0, 21.0, 22.0]
        failures = [check.text for check in check_sensor("gauge", one.intake.options)]
        assert any("the gauge was unplugged" in text for text in failures)


def test_a_required_sensor_that_cannot_be_opened_refuses_the_start(tmp_path: Path) -> None:
    with installed(tmp_path, {"own_gauge": GAUGE}, ENTRY):
        changes: dict[str, Any] = {"source": "plugin://gauge", "clock": "machine", "settings": {"start": -1.0}}
        with pytest.raises(HardwareError, match=r"sensor 'motor', which is required: .*no such gauge"):
            Bench(**changes, required=True)
        with bench(**changes) as one:  # else it is a warning
            assert Code.SENSOR_FAILED in [finding.code for finding in one.loop.findings()]


LATE = GAUGE.replace(
    "import time\n", "import threading\nimport time\n\nGO, CLOSED = threading.Event(), threading.Event()\n"
)
LATE = LATE.replace("    def close(self):\n        pass", "    def close(self):\n        CLOSED.set()")


@pytest.mark.parametrize(
    ("slow", "required"),
    [("        self.left, self.value", True), ("        self.left, self.value", False), ("        time.sleep", False)],
    ids=["opens-required", "opens", "reads"],
)
def test_a_device_that_hangs_does_not_hold_up_the_start_and_is_closed_when_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str, required: bool
) -> None:
    for wait in ("_OPENING", "_OPENING_REQUIRED", "_ENDING"):
        monkeypatch.setattr(f"rig.sensing.sources.{wait}", 0.02)
    threads, files = set(threading.enumerate()), len(os.listdir("/proc/self/fd"))
    with installed(tmp_path, {"own_gauge": LATE.replace(slow, f"        GO.wait()\n{slow}", 1)}, ENTRY):
        gauge = importlib.import_module("own_gauge")
        changes: dict[str, Any] = {"source": "plugin://gauge", "clock": "machine"}
        if required:
            with (
                pytest.raises(HardwareError, match=r"which is required: .*not open after 0\.02 s"),
                bench(**changes, required=True),
            ):
                pass
        else:
            with bench(**changes) as one:
                one.loop.turn(0.0)
                assert one.loop.reports()[0].state == "waiting"
        assert not gauge.CLOSED.is_set()
        (late,) = set(threading.enumerate()) - threads
        gauge.GO.set()
        late.join(PATIENCE)
        assert gauge.CLOSED.is_set()
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_reader_that_ends_its_program_is_reported_as_one_that_fails(tmp_path: Path) -> None:
    ending = GAUGE.replace('raise OSError("the gauge was unplugged")', "raise SystemExit(1)")
    with (
        installed(tmp_path, {"own_gauge": ending}, ENTRY),
        bench(source="plugin://gauge", clock="machine", settings={"fails_after": 1}) as one,
    ):
        eventually(lambda: one.turned() and one.loop.reports()[0].state == "failed", "its end")
        assert "SystemExit" in one.loop.reports()[0].text


def test_a_reader_that_cannot_be_opened_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.sensing.reader._RETRY", 0.0)
    with (
        installed(tmp_path, {"own_gauge": GAUGE}, ENTRY),
        bench(source="plugin://gauge", clock="machine", settings={"start": -1.0}) as one,
    ):
        reported = []
        for _ in range(10):
            reported += [finding.code for finding in one.loop.findings()]
            one.loop.turn(0.01)
        assert reported.count(Code.SENSOR_FAILED) == 1


class Reported:
    """What a reader's process reports."""

    def __init__(self) -> None:
        self.reports: tuple[SensorReport, ...] = ()
        self.findings: list[Finding] = []

    def __call__(self, reports: Any, findings: Any) -> None:
        self.reports = tuple(reports) or self.reports
        self.findings += findings


def rig_with(port: int, **changes: Any) -> RigConfig:
    return VIRTUAL.changed(
        {"sensors": [MOTOR | {"source": f"udp://127.0.0.1:{port}"} | changes], "virtual": {"real_time": True}}
    )


def test_a_process_reads_into_the_ring_and_a_kill_is_reported() -> None:
    port, reported = udp_port(), Reported()
    with TelemetryRing.create(64) as telemetry, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        with SensorReader(rig_with(port), telemetry.name) as reader:
            rows = reader.ring.reader()
            origin = time.monotonic() - 50.0
            reader.start(lambda: origin, reported)

            def arrived() -> bool:
                now = time.monotonic()
                wire.sendto(encode_packet(Measurement(1, int(1e3 * now), now, now, (20.5,))), ("127.0.0.1", port))
                return len(rows.read_new()[0]) > 0

            eventually(arrived, "a reading")
            eventually(lambda: bool(reported.reports) and reported.reports[0].taken > 0, "a report")
            assert reader.pid is not None
            os.kill(reader.pid, signal.SIGKILL)
            eventually(lambda: bool(reported.findings) and reported.findings[-1].code is Code.SENSORS_DEAD, "the news")
            assert "motor" in reported.findings[-1].text
            pid, name = reader.pid, reader.ring.name
        assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(SharedMemoryError):
        TelemetryRing.attach(name, READING)


def test_a_hanging_reader_is_reported_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.sensing.reader._HANGING", 0.5)
    reported = Reported()
    with TelemetryRing.create(64) as telemetry, SensorReader(rig_with(udp_port()), telemetry.name) as reader:
        reader.start(lambda: time.monotonic() - 50.0, reported)
        eventually(lambda: bool(reported.reports), "a report")
        assert reader.pid is not None
        os.kill(reader.pid, signal.SIGSTOP)
        try:
            eventually(lambda: Code.SENSORS_HANG in [finding.code for finding in reported.findings], "the news")
            assert reported.reports[0].state == "stale"
        finally:
            os.kill(reader.pid, signal.SIGCONT)
        eventually(lambda: reported.findings[-1].code is Code.SENSOR_BACK, "its answer")


def test_a_process_that_starts_late_holds_up_a_rig_only_where_a_sensor_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rig.sensing.reader._STARTING", 0.0)
    reported = Reported()
    with TelemetryRing.create(64) as telemetry:
        with SensorReader(rig_with(udp_port()), telemetry.name) as reader:
            reader.start(lambda: time.monotonic() - 50.0, reported)
            eventually(lambda: bool(reported.reports), "a report")
        with pytest.raises(HardwareError, match="did not open the sensors within 0 s"):
            SensorReader(rig_with(udp_port(), required=True), telemetry.name)


def test_a_buffer_keeps_the_newest_readings_in_order_by_sensor() -> None:
    channels = SensorOptions.model_validate(MOTOR | {"source": "udp://127.0.0.1:1"}).meaning
    rows = np.zeros(6, READING)
    rows["t"], rows["sensor"] = [1.0, 3.0, 2.0, 2.0, 1.5, 4.0], [0, 0, 0, 1, 1, 0]
    rows["values"][:, 0] = rows["t"]
    with TelemetryRing.create(64, row=READING) as ring:
        buffer = ReadingBuffer(ring.name, [channels, channels])
        assert [len(series.time) for series in buffer.series()] == [0, 0]
        for row in rows[:4]:
            ring.push(row)
        one, other = buffer.series()
        assert (one.time.tolist(), other.time.tolist()) == ([1.0, 2.0, 3.0], [2.0])
        for row in rows[4:]:
            ring.push(row)
        one, other = buffer.series()
        assert one.values[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
        assert other.time.tolist() == [2.0]  # one that was overtaken is recorded, and not shown
        at = one.newest(np.array([0.5, 1.0, 2.9, 3.5, 6.0]), oldest=1.5)[:, 0]
        assert at[1:4].tolist() == [1.0, 2.0, 3.0]
        assert np.isnan(at[[0, 4]]).all()
        buffer.close()


def test_a_port_that_is_taken_is_refused_where_the_sensor_is_required() -> None:
    name = f"sensors-{os.getpid()}"
    with TelemetryRing.create(64) as telemetry, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(HardwareError, match="sensor 'motor', which is required: sensor: cannot listen on"):
            SensorReader(rig_with(taken.getsockname()[1], required=True), telemetry.name, name)
    with pytest.raises(SharedMemoryError):
        TelemetryRing.attach(name, READING)


def test_a_key_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with TelemetryRing.create(64) as telemetry, pytest.raises(InputError, match=r"none\.key"):
        SensorReader(rig_with(1, key_file=str(tmp_path / "none.key")), telemetry.name)


def test_rig_time_is_unknown_before_it_begins() -> None:
    assert math.isnan(MachineTime().now())
    assert MachineTime(5.0).of_machine(7.5) == 2.5


def test_the_stamps_of_a_plant_have_no_rig_time_while_the_engine_does_not_have_it() -> None:
    with TelemetryRing.create(64) as telemetry:
        paced = PacedTime(telemetry, 0.02, 1.0)
        options = SensorOptions.model_validate(MOTOR | {"source": "udp://127.0.0.1:1", "clock": "machine"})
        intake = SensorIntake(0, options, None, paced, twin=True)
        row = np.zeros(1, telemetry.row)
        row["t"] = 4.0
        telemetry.push(row)
        intake.take(Measurement(1, 6, 104.0, 104.0, (20.0,)))
        paced.origin = 100.0
        intake.take(Measurement(1, 7, 104.0, 104.0, (21.0,)))
        paced.origin = math.nan
        intake.take(Measurement(1, 8, 104.0, 104.0, (22.0,)))
        (reading,) = intake.ready()
        assert (reading["t"], reading["values"][0]) == (4.0, 21.0)
        report = intake.report()
        assert (report.taken, report.dropped) == (1, ())
