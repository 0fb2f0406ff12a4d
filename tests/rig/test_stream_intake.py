"""The network's faults in a stream: each is counted by its kind, and what is good goes on to the ring."""

import math
import struct
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_sender import AT_REST, KEY, check_accounts, point

from rig.runtime import ManualClock
from rig.streaming import (
    END,
    SAMPLE,
    VELOCITY,
    Intake,
    SampleRing,
    SetPoint,
    StreamStatus,
    decode_line,
    decode_set_point,
    encode_json,
    encode_set_point,
)

HERE, THERE = ("192.0.2.1", 5000), ("192.0.2.2", 5000)
STEP = 1.0 / 500.0  # s
OFFSET = 1e6  # s, of the sender's clock


class Line:
    """A sender, the way and the intake, all on one manual clock."""

    def __init__(self, key: bytes | None = None, queue: int = 256) -> None:
        self.clock = ManualClock(100.0)
        self.key = key
        self.ring = SampleRing.local(4096)
        self.intake = Intake(self.ring, decode_set_point, key, queue=queue, now=self.clock.now)
        self.samples = np.zeros(0, SAMPLE)

    def bring(self, points: Iterable[SetPoint], origin: tuple[str, int] = HERE, key: bytes | None = None) -> None:
        """Bring set-points, one each 2 ms."""
        for each in points:
            self.intake.put(encode_set_point(each, key or self.key), origin)
            self.intake.work()
            self.clock.advance(STEP)
        self.samples = np.concatenate([self.samples, self.ring.take()])

    def send(
        self, numbers: Iterable[int], origin: tuple[str, int] = HERE, session: int = 1, challenge: int = 0
    ) -> None:
        """Send set-points with these sequence numbers; those left out take their time, too."""
        newest = math.inf
        for number in numbers:
            self.clock.advance(max(0.0, number - newest - 1.0) * STEP)
            newest = number if newest == math.inf else max(newest, number)
            self.bring([self.point(number, session, challenge)], origin)

    def point(self, number: int, session: int = 1, challenge: int = 0) -> SetPoint:
        return point(number, OFFSET + STEP * number, session=session, challenge=challenge, x=1e-6 * number)

    @property
    def status(self) -> StreamStatus:
        return self.intake.status()

    def counted(self) -> dict[str, int]:
        """Drops that are not zero, and what is missing."""
        status = self.status
        counts = {"missing": status.missing, "reordered": status.reordered, **status.dropped}
        return {name: count for name, count in counts.items() if count}


@pytest.fixture
def line() -> Line:
    return Line()


def test_a_sample_is_the_set_point_at_the_time_of_this_machine(line: Line) -> None:
    motion = tuple(float(value) for value in (0.01, 0.02, 0.03, 0.6, 0.0, 0.8, 0.0, *range(12)))
    line.bring([SetPoint(1, 0, 41, 7.0, 7.25, VELOCITY, motion)])
    (sample,) = line.samples
    assert (sample["sequence"], sample["given"], sample["sent"]) == (41, VELOCITY, 7.0)
    assert (sample["received"], sample["time"]) == (100.0, 100.25)
    assert (*sample["pose"], *sample["velocity"], *sample["acceleration"]) == motion
    assert struct.calcsize("@QdddI4x19d") == SAMPLE.itemsize


def test_a_whole_stream_passes_whole(line: Line) -> None:
    line.send(range(600))
    assert line.counted() == {}
    assert line.samples["sequence"].tolist() == list(range(600))
    assert np.abs(line.samples["time"] - (100.0 + STEP * np.arange(600))).max() < 1e-6
    assert (line.status.taken, line.status.sequence, line.status.active) == (600, 599, True)
    assert math.isclose(line.status.rate, 500.0, rel_tol=1e-6)
    check_accounts(line.status)


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_loss(line: Line, share: float) -> None:
    draw = np.random.default_rng(4)
    sent = [number for number in range(2000) if number in (0, 1999) or draw.random() > share]
    line.send(sent)
    assert line.counted() == {"missing": 2000 - len(sent)}
    assert line.samples["sequence"].tolist() == sent
    check_accounts(line.status)


def test_a_burst_of_loss(line: Line) -> None:
    line.send(range(100))
    line.send([99, *range(200, 300)])
    assert line.counted() == {"missing": 100, "duplicate": 1}
    assert line.status.sessions == 1
    check_accounts(line.status)


def test_what_is_overtaken_goes_on_and_is_not_missing(line: Line) -> None:
    """Who follows the stream puts it in order."""
    numbers = list(range(200))
    for place in range(10, 200, 10):
        numbers[place], numbers[place - 1] = numbers[place - 1], numbers[place]
    line.send(numbers)
    assert line.counted() == {"reordered": 19}
    assert line.samples["sequence"].tolist() == numbers
    assert (line.status.taken, line.status.sequence) == (200, 199)
    late = line.samples["time"] - (100.0 + STEP * line.samples["sequence"].astype(float))
    assert np.abs(late).max() < 1.1 * STEP
    check_accounts(line.status)


def test_duplicates(line: Line) -> None:
    line.send(number for number in range(100) for _ in range(1 + number % 2))
    assert line.counted() == {"duplicate": 50}
    assert line.samples["sequence"].tolist() == list(range(100))
    check_accounts(line.status)


def test_sequence_numbers_begin_again_after_the_last_one(line: Line) -> None:
    most = 1 << 64
    numbers = [most - 1030, *range(most - 1020, most), 1, 0, 2, *range(4, 1100), most - 1, 3, 80]
    line.bring(point(number, OFFSET + STEP * n) for n, number in enumerate(numbers))
    assert line.counted() == {"missing": 10, "reordered": 1, "duplicate": 1, "old": 2}
    line.bring([point(1100, OFFSET + STEP * len(numbers))])
    assert line.status.sequence == 1100


def test_old_packets(line: Line) -> None:
    line.send([10, *range(1100, 1110), 10, 50, 3])
    assert line.counted() == {"missing": 1089, "old": 3}
    check_accounts(line.status, first=10)


def test_another_key_and_malformed_packets(line: Line) -> None:
    line = Line(KEY)
    line.bring([line.point(0)], key=KEY[::-1])
    line.intake.put(b"nonsense", HERE)
    line.intake.work()
    assert line.counted() == {"key": 1, "malformed": 1}
    assert len(line.samples) == 0
    assert line.intake.asked == {}  # who does not have the key gets no answer


def test_numbers_that_are_not_finite_and_no_rotation(line: Line) -> None:
    line.send(range(10))
    bad = [math.nan, math.inf, -math.inf]
    points = [line.point(10 + place)._replace(motion=(value, *AT_REST[1:])) for place, value in enumerate(bad)]
    points += [line.point(13)._replace(motion=(*AT_REST[:18], math.nan)), line.point(14)._replace(time=math.nan)]
    points += [line.point(15)._replace(motion=(0.0, 0.0, 0.0, 1.0, 1.0, *(0.0,) * 14))]
    points += [line.point(16)._replace(motion=(0.0,) * 19), line.point(17)._replace(time=OFFSET + 11.0)]
    line.bring(points)
    line.send(range(18, 21))
    assert line.counted() == {"invalid": 8}
    assert np.isfinite(line.samples["pose"]).all()
    assert len(line.samples) == 13
    check_accounts(line.status)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 50), st.floats(), st.floats()), min_size=1, max_size=20))
def test_whatever_its_stamps_a_sample_has_a_time(stamps: list[tuple[int, float, float]]) -> None:
    line = Line()
    line.bring(line.point(number)._replace(sent=sent, time=time) for number, sent, time in stamps)
    assert np.isfinite(line.samples["time"]).all()
    assert (np.abs(line.samples["time"] - line.samples["received"]) < 15.0).all()
    assert line.status.received == line.status.taken + sum(line.status.dropped.values())
    assert line.status.text


def test_no_stream_begins_with_what_is_invalid(line: Line) -> None:
    line.bring([line.point(0)._replace(motion=(math.nan,) * 19)])
    assert (line.status.sessions, line.status.dropped["invalid"]) == (0, 1)


def test_a_flood_of_the_sender_leaves_the_newest(line: Line) -> None:
    line = Line(queue=64)
    for number in range(10_000):
        line.intake.put(encode_set_point(line.point(number)), HERE)
    line.intake.work()
    line.samples = line.ring.take()
    assert line.samples["sequence"].tolist() == list(range(9936, 10_000))
    assert line.counted() == {"overflow": 9936}
    check_accounts(line.status, first=9936)


def test_a_flood_of_others_does_not_touch_the_stream(line: Line) -> None:
    line.send(range(10))
    other = encode_set_point(line.point(0, session=9))
    for number in range(10, 20):
        for _ in range(1000):
            line.intake.put(other, THERE)
        line.send([number])
    assert line.samples["sequence"].tolist() == list(range(20))
    assert line.counted() == {"other_session": 10_000}
    check_accounts(line.status)


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_a_clock_that_is_stepped_by_an_hour(line: Line, step: float) -> None:
    line.send(range(500))
    line.bring(line.point(number)._replace(sent=OFFSET + step + STEP * number, time=OFFSET + step + STEP * number)
               for number in range(500, 1000))  # fmt: skip
    assert line.counted() == {"time": 2}
    assert np.abs(line.samples["time"] - line.samples["received"]).max() < 1e-6
    assert line.status.clock.steps == 1
    check_accounts(line.status)


def test_a_clock_that_is_100_ppm_off(line: Line) -> None:
    line.bring(point(number, 0.9999 * STEP * number) for number in range(10_000))
    assert line.counted() == {}
    assert abs(line.status.clock.drift - 1e-4) < 1e-6
    assert np.abs(line.samples["time"] - line.samples["received"]).max() < 1e-3
    assert np.abs(line.samples["time"] - line.samples["received"])[1000:].max() < 1e-5


def test_a_sender_that_dies_and_comes_back(line: Line) -> None:
    line.send(range(100))
    line.send([0], origin=THERE, session=2)  # it is not followed while the first one may still be there
    line.clock.advance(0.3)
    assert not line.status.active
    line.send(range(50), origin=THERE, session=2)
    assert line.counted() == {"other_session": 1}
    assert (line.status.sessions, line.status.session, line.status.sequence) == (2, 2, 49)
    assert len(line.samples) == 150


def test_an_earlier_session_of_the_same_sender_is_not_followed_meanwhile(line: Line) -> None:
    line.send(range(5), session=3)
    line.send(range(5), session=2)
    line.send(range(5, 10), session=3)
    assert line.samples["sequence"].tolist() == list(range(10))
    assert line.counted() == {"other_session": 5}


def test_a_sender_that_hangs_for_a_while_goes_on(line: Line) -> None:
    line.send(range(100))
    line.clock.advance(1.0)
    line.send([99, 100])
    assert (line.status.sessions, line.counted()) == (1, {"duplicate": 1})
    line.bring([line.point(101)._replace(given=END), line.point(102)._replace(given=END), line.point(103)])
    assert line.counted() == {"duplicate": 1, "ended": 2}
    assert (line.status.ended, line.status.active) == (True, False)
    line.send([0], session=7)
    assert line.status.sessions == 2


def test_a_recorded_stream_opens_nothing_with_a_key() -> None:
    line = Line(KEY)
    line.send(range(3))
    assert line.counted() == {"challenge": 3}
    (challenge,) = line.intake.asked.values()
    line.send(range(3, 100), challenge=challenge)
    assert line.status.taken == 97
    line.clock.advance(10.0)
    line.send(range(3, 100), origin=THERE, challenge=challenge)  # every byte as it was, much later
    assert line.status.taken == 97
    assert line.counted()["challenge"] == 3 + 97
    again = Line(KEY)  # nor with a receiver that was started anew
    again.send(range(3, 100), challenge=challenge)
    assert again.status.taken == 0
    new = line.intake.next_challenge
    assert new not in (0, challenge)
    line.send(range(5), origin=THERE, challenge=new)
    assert (line.status.taken, line.status.sessions) == (102, 2)


def test_lines_come_in_likewise() -> None:
    clock = ManualClock(5.0)
    ring = SampleRing.local(16)
    intake = Intake(ring, decode_line, KEY, now=clock.now)
    intake.put(encode_json(point(4, 1.0, challenge=intake.next_challenge, x=0.5), KEY), HERE)
    intake.put(b"{}", HERE)
    intake.work()
    assert ring.take()["pose"][:, 0].tolist() == [0.5]
    assert intake.status().dropped["malformed"] == 1


def test_the_status_says_in_a_line_what_was_lost(line: Line) -> None:
    line.send([0, 1, 3, 3])
    assert (
        line.status.text
        == "3 set-points taken, 1 missing, 1 duplicate; clock drift +0.0 ± 400.0 ppm, jitter 0.00 ms (p99)"
    )
