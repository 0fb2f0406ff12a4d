"""Readings of sensors as they come in: packets, lines, clocks, counts, and what is reported of them."""

import math

import numpy as np
import pytest

from rig.config import SensorOptions
from rig.findings import Code
from rig.runtime import ManualClock
from rig.sensing import ManualTime, Measurement, SensorIntake, decode, decode_line, encode_packet
from rig.streaming import Drop, PacketError

KEY = bytes(range(32))
SCALAR = {"name": "motor", "kind": "scalar", "channels": [{"name": "temperature", "unit": "°C"}], "rate": 10.0}


class Bench:
    """The intake of one sensor on a manual clock."""

    def __init__(self, key: bytes | None = None, **changes: object) -> None:
        self.clock = ManualClock(1.0)
        options = SensorOptions.model_validate({"source": "udp://127.0.0.1:9873"} | SCALAR | changes)
        self.intake = SensorIntake(0, options, key, ManualTime(self.clock))

    def put(self, sequence: int, value: float = 20.0, *, stamp: float | None = None, session: int = 1) -> None:
        at = self.clock.now() if stamp is None else stamp
        self.intake.take(Measurement(session, sequence, at, at, (value,)))

    @property
    def dropped(self) -> dict[str, int]:
        return dict(self.intake.report().dropped)

    def codes(self) -> list[Code]:
        return [finding.code for finding in self.intake.watch()]


def test_a_packet_has_what_was_encoded() -> None:
    reading = Measurement(7, 12, 3.5, 3.25, (1.0, -2.0, 3e-9))
    for key in (None, KEY):
        packet = encode_packet(reading, key)
        assert len(packet) == 56 + 8 * 3
        assert decode(packet, 3, key) == reading


@pytest.mark.parametrize(
    ("change", "drop"),
    [
        (lambda packet: packet[:-1], Drop.MALFORMED),
        (lambda packet: packet + b"\0", Drop.MALFORMED),
        (lambda packet: packet[:4] + b"\2" + packet[5:], Drop.MALFORMED),
        (lambda packet: packet[:6] + b"\1" + packet[7:], Drop.MALFORMED),
        (lambda packet: packet[:44] + b"\1" + packet[45:], Drop.KEY),
        (lambda packet: packet[:-1] + bytes([packet[-1] ^ 1]), Drop.KEY),
        (lambda packet: b"1,2.0,3.0", Drop.KEY),
    ],
)
def test_another_packet_is_refused(change, drop) -> None:
    with pytest.raises(PacketError) as refused:
        decode(change(encode_packet(Measurement(1, 2, 3.0, 3.0, (4.0,)), KEY)), 1, KEY)
    assert refused.value.drop is drop


def test_lines_of_csv_and_json() -> None:
    assert decode_line(b"3, 1.5, 20.25\r\n", 1) == Measurement(0, 3, 1.5, 1.5, (20.25,))
    arrived = decode_line(b",,20.25,21", 2)
    assert arrived.sequence is None
    assert math.isnan(arrived.time)
    line = b'{"sequence": 3, "time": 1.5, "sent": 1.6, "values": [1, null]}'
    read = decode_line(line, 2)
    assert read[:4] == (0, 3, 1.6, 1.5)
    assert math.isnan(read.values[1])


@pytest.mark.parametrize(
    "line",
    [b"1,2", b"1,2,x", b"x,2,3", b"\xff,1,2", b"{", b'{"values": [1, 2]}', b'{"values": [true]}', b'{"value": [1]}',
     b'{"values": [1], "sequence": 1.5}', b""],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_refused(line: bytes) -> None:
    with pytest.raises(PacketError) as refused:
        decode_line(line, 1)
    assert refused.value.drop is Drop.MALFORMED


def test_a_line_that_is_too_long_or_has_a_number_of_python_is_refused() -> None:
    for line in (b"1,,20.5" + b" " * 3000, b"1,,2_0", b"1_0,,20"):
        with pytest.raises(PacketError) as refused:
            decode(line, 1)
        assert refused.value.drop is Drop.MALFORMED


def test_each_sequence_number_is_accounted_for() -> None:
    bench = Bench()
    for number in (5, 6, 9, 8, 8, 9, 10):  # 7 is missing
        bench.put(number)
    assert bench.intake.ready()["sequence"].tolist() == [5, 6, 9, 8, 10]
    report = bench.intake.report()
    assert (report.taken, report.missing, bench.dropped) == (5, 1, {"duplicate": 2})
    bench.put(266)
    bench.put(7)
    assert bench.dropped == {"duplicate": 2, "old": 1}


def test_another_sender_is_refused_until_the_first_is_silent() -> None:
    bench = Bench(stale_after=0.5)
    bench.put(100)
    bench.put(0, session=2)
    assert bench.dropped == {"other_session": 1}
    bench.clock.advance(0.6)
    bench.put(0, session=2)
    assert bench.intake.report().taken == 2


def test_a_sender_that_starts_again_is_taken_after_its_silence() -> None:
    bench = Bench(stale_after=0.5)
    bench.put(100_000)
    bench.clock.advance(0.6)
    bench.put(0)
    assert bench.intake.report().taken == 2
    assert not bench.intake.report().missing


def test_numbers_that_are_not_finite_are_dropped_and_reported_with_their_count() -> None:
    bench = Bench()
    bench.put(0)
    for number in range(1, 4):
        bench.put(number, math.nan)
    assert bench.dropped == {"invalid": 3}
    assert len(bench.intake.ready()) == 1
    (reported,) = bench.intake.watch()
    assert reported.code is Code.SENSOR_UNUSABLE
    assert reported.text == "3 readings of the sensor 'motor' were not used: temperature is not finite"
    bench.put(4, math.inf)
    assert bench.codes() == []  # one a second
    bench.clock.advance(1.0)
    assert Code.SENSOR_UNUSABLE in bench.codes()


def test_lasting_unusable_readings_are_reported_less_and_less_often() -> None:
    bench = Bench(stale_after=3600.0)
    reported = []
    for number in range(2000):
        bench.put(number, math.nan)
        reported += [bench.clock.now() for _ in bench.codes()]
        bench.clock.advance(0.1)
    assert np.diff(reported) == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0], abs=0.15)
    bench.clock.advance(130.0)  # a pause
    for number in range(2000, 2012):
        bench.put(number, math.nan)
        reported += [bench.clock.now() for _ in bench.codes()]
        bench.clock.advance(0.1)
    assert reported[-1] - reported[-2] == pytest.approx(1.0, abs=0.15)


def test_a_quaternion_has_unit_norm() -> None:
    bench = Bench(kind="pose", channels=(), clock="arrival")
    bench.intake.take(Measurement(1, 0, math.nan, math.nan, (0.0, 0.0, 0.4, 0.9, 0.0, 0.0, 0.0)))
    assert bench.dropped == {"invalid": 1}
    bench.intake.take(Measurement(1, 1, math.nan, math.nan, (0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0)))
    assert bench.intake.report().taken == 1


@pytest.mark.parametrize(("rate", "silence"), [(500.0, 0.25), (0.5, 6.0)])
def test_a_sensor_is_stale_by_default_after_three_periods_or_more(rate: float, silence: float) -> None:
    bench = Bench(rate=rate)
    bench.put(0)
    bench.clock.advance(silence - 0.01)
    assert bench.codes() == []
    bench.clock.advance(0.02)
    assert bench.codes() == [Code.SENSOR_STALE]


def test_a_silent_sensor_is_stale_and_comes_back() -> None:
    bench = Bench(stale_after=0.5)
    assert bench.codes() == []
    assert bench.intake.report().state == "waiting"
    bench.clock.advance(0.51)
    assert bench.codes() == [Code.SENSOR_STALE]  # none came at all
    bench.put(0)
    assert bench.codes() == [Code.SENSOR_BACK]
    assert bench.intake.report().state == "live"
    bench.clock.advance(0.49)
    assert bench.codes() == []
    bench.clock.advance(0.02)
    (reported,) = bench.intake.watch()
    assert reported.code is Code.SENSOR_STALE
    assert reported.text == "no reading of the sensor 'motor' for 0.51 s (bound 0.5 s), after 1 readings"
    assert bench.codes() == []  # once
    assert bench.intake.report().state == "stale"


@pytest.mark.parametrize(("offset", "drift"), [(0.0, 0.0), (1e6, 1e-4), (-37.25, -1e-4)])
def test_stamps_of_a_clock_of_its_own_become_rig_time_within_a_millisecond(offset: float, drift: float) -> None:
    bench = Bench(rate=500.0)
    random = np.random.default_rng(4)
    errors = []
    for number in range(5000):
        true = 1.0 + number / 500.0
        bench.clock.set(max(bench.clock.now(), true + 3e-4 + random.exponential(4e-3)))
        bench.put(number, stamp=true * (1.0 + drift) + offset)
        (row,) = bench.intake.ready()
        errors.append(row["t"] - true)
    assert np.abs(errors[1000:]).max() < 1e-3


def test_a_step_of_the_sender_s_clock_is_dropped_until_it_is_accepted() -> None:
    bench = Bench()
    for number in range(30):
        bench.clock.advance(0.1)
        bench.put(number, stamp=bench.clock.now() + (3600.0 if number >= 20 else 0.0))
    assert bench.dropped == {"time": 2}
    assert np.abs(bench.intake.ready()["t"] - bench.clock.now()).min() < 1e-6


def test_a_known_delay_is_taken_off() -> None:
    for clock in ("sender", "machine", "arrival"):
        bench = Bench(clock=clock, delay=0.05)
        bench.put(0)
        assert bench.intake.ready()["t"][0] == pytest.approx(0.95)


def test_stamps_far_from_the_arrival_are_refused() -> None:
    bench = Bench(clock="machine")
    bench.put(0, stamp=100.0)
    bench.put(1, stamp=-0.5)
    assert bench.dropped == {"time": 2}
    bench = Bench()
    bench.intake.take(Measurement(1, 0, 1.0, 12.0, (1.0,)))
    bench.intake.take(Measurement(1, 1, math.nan, math.nan, (1.0,)))
    assert bench.dropped == {"invalid": 2}


def test_stamps_of_the_future_are_refused() -> None:
    bench = Bench(clock="machine")
    bench.put(0, stamp=6.0)
    assert bench.dropped == {"time": 1}
    bench.put(1, stamp=1.05)  # two clocks of one time
    bench.intake.take(Measurement(1, 2, 1.0, 6.0, (1.0,)))
    assert bench.dropped == {"invalid": 1, "time": 1}
    assert bench.intake.ready()["t"].tolist() == [1.05]


def test_a_damaged_sequence_number_neither_counts_as_a_loss_nor_makes_later_readings_old() -> None:
    bench = Bench()
    for number in (0, 1, 1 << 40, 2, 3):
        bench.clock.advance(0.1)
        bench.put(number)
    report = bench.intake.report()
    assert (report.taken, report.missing, bench.dropped) == (4, 0, {"invalid": 1})
    bench.clock.advance(3600.0)  # a break in which the sensor went on
    bench.put(36_003)
    assert (bench.intake.report().taken, bench.intake.report().missing) == (5, 35_999)


def test_nothing_is_taken_before_rig_time() -> None:
    bench = Bench()
    bench.intake = SensorIntake(0, bench.intake.options, None, _NotBegun())
    bench.put(0)
    bench.intake.put(b"nonsense")
    assert (bench.intake.report().taken, bench.dropped, bench.codes()) == (0, {}, [])


class _NotBegun(ManualTime):
    def __init__(self) -> None:
        super().__init__(ManualClock())

    def now(self) -> float:
        return math.nan
