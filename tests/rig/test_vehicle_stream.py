"""A vehicle's streamed motion: its packets and lines, and the washout between them and the ring of the engine."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exploration import either, seeds
from stream_sender import KEY
from streamed import StreamBench, legs_beyond
from vehicle_motions import KINDS, LEVEL, leg_motions, random_tuning, random_vehicle, use_of_bounds
from waiting import eventually

from kinematics import LimitError, Tuning, Washout, angles_to_quaternion, load_tuning
from rig.client import cue_setup
from rig.config import CueOptions, ReceiverOptions, load_config
from rig.runtime import ManualClock
from rig.streaming import (
    ATTITUDE,
    END,
    KINEMATIC,
    CueStage,
    Drop,
    PacketError,
    SampleRing,
    StreamReceiver,
    VehicleSample,
    decode_vehicle,
    decode_vehicle_line,
    encode_set_point,
    encode_vehicle,
    motion_bounds,
    new_samples,
    open_intake,
    specific_force,
    washout_of,
)

GUIDE = Path(__file__).parents[2] / "docs" / "cueing.md"
CONFIG = load_config("virtual")
CUED = CONFIG.changed({"stream": {"cue": {"tuning": "lab-hexapod"}}})
G = 9.80665
RATE = 200.0
PATIENCE = 0.02
OPTIONS = CueOptions(tuning="lab-hexapod", rate=RATE, hold=0.1, decay=0.2, rest_after=1.0)
NOSE_UP = np.radians(30.0)


def tuned(**changes: Any) -> Tuning:
    data = load_tuning("lab-hexapod").model_dump()
    for key, value in changes.items():
        section, _, name = key.rpartition("__")
        (data[section] if section else data)[name] = value
    return Tuning.model_validate(data)


def washout(tuning: Tuning | None = None) -> Washout:
    return washout_of(CONFIG.machine, CONFIG.safety, tuned() if tuning is None else tuning, RATE)


class Stage:
    """A stage, what comes out of it, and a sender whose samples are there at once."""

    def __init__(self, tuning: Tuning | None = None, options: CueOptions = OPTIONS) -> None:
        self.ring = SampleRing.local(1 << 14)
        self.washout = washout(tuning)
        self.stage = CueStage(self.ring, self.washout, options, PATIENCE)

    def send(self, t: float, vehicle: Any, given: int = 0) -> None:
        sample = new_samples(1)
        sample["time"], sample["given"] = t, given
        sample["acceleration"][0, :3], sample["velocity"][0, 3:] = vehicle[:3], vehicle[3:]
        self.stage.push(sample)

    def motions(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) and motions (n, 19) that have come out since."""
        taken = self.ring.take()
        return taken["time"].copy(), np.hstack([taken["pose"], taken["velocity"], taken["acceleration"]])


def wave(t: Any) -> np.ndarray:
    """A vehicle's motion (6,), or (n, 6) at times (n,)."""
    swing = np.sin(2.0 * t)
    found: np.ndarray = LEVEL + np.multiply.outer(swing, [1.5, 0.8, 0.4, 0.1, 0.2, -0.3])
    return found


# -- packets and lines -------------------------------------------------------------------------------------------------

SAMPLE = VehicleSample(3, 0, 7, 12.5, 12.25, ATTITUDE, (0.1, -0.2, 9.8), (0.3, 0.4, -0.5), (0.8, 0.0, 0.6, 0.0))


@pytest.mark.parametrize("key", [None, KEY])
def test_a_packet_is_144_bytes_and_comes_back_as_it_was(key: bytes | None) -> None:
    packet = encode_vehicle(SAMPLE, key)
    assert len(packet) == 144
    assert decode_vehicle(packet, key) == SAMPLE.set_point
    with pytest.raises(PacketError) as caught:
        decode_vehicle(packet, bytes(32))
    assert caught.value.drop is Drop.KEY


def test_lines_have_the_fields_of_a_packet_by_name() -> None:
    fields = {"session": 3, "sequence": 7, "sent": 12.5, "time": 12.25, "force": SAMPLE.force, "rate": SAMPLE.rate}
    line = json.dumps(fields | {"attitude": SAMPLE.attitude}).encode()
    assert decode_vehicle_line(line) == SAMPLE.set_point
    numbers = [3, 0, 7, 12.5, 12.25, ATTITUDE, *SAMPLE.force, *SAMPLE.rate, *SAMPLE.attitude, ""]
    assert decode_vehicle_line(",".join(map(str, numbers)).encode()) == SAMPLE.set_point
    with pytest.raises(PacketError, match="unknown field 'atitude'"):
        decode_vehicle_line(json.dumps(fields | {"atitude": SAMPLE.attitude}).encode())
    del fields["force"]
    with pytest.raises(PacketError, match="attitude"):
        decode_vehicle_line(json.dumps(fields | {"acceleration": [0, 0, 0]}).encode())
    with pytest.raises(PacketError, match="both"):
        decode_vehicle_line(json.dumps(fields | {"acceleration": [0, 0, 0], "force": [0, 0, 0]}).encode())


@pytest.mark.parametrize(
    ("packet", "drop"),
    [
        (encode_vehicle(SAMPLE)[:-1], Drop.MALFORMED),
        (encode_set_point(SAMPLE.set_point), Drop.MALFORMED),
        (encode_vehicle(SAMPLE._replace(given=64)), Drop.MALFORMED),
        (encode_vehicle(SAMPLE._replace(given=KINEMATIC)), Drop.INVALID),
    ],
    ids=["size", "a pose", "flags", "no attitude"],
)
def test_what_is_no_sample_of_a_vehicle_is_refused_by_name(packet: bytes, drop: Drop) -> None:
    with pytest.raises(PacketError) as caught:
        decode_vehicle(packet)
    assert caught.value.drop is drop


@pytest.mark.parametrize(
    ("z_down", "pitch", "expected"),
    [(False, -NOSE_UP, [0.5 * G, 0.0, np.cos(NOSE_UP) * G]), (True, NOSE_UP, [0.5 * G, 0.0, -np.cos(NOSE_UP) * G])],
    ids=["ENU", "NED"],
)
def test_at_rest_with_the_nose_up_gravity_presses_into_the_seat(
    z_down: bool, pitch: float, expected: list[float]
) -> None:
    attitude = angles_to_quaternion([0.0, pitch, 1.0])  # whichever way the vehicle heads
    found = specific_force(np.zeros(3), attitude, G, z_down=z_down)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_an_acceleration_with_the_attitude_is_the_specific_force_that_it_means() -> None:
    attitude, acceleration = angles_to_quaternion([0.1, -0.2, 0.3]), np.array([0.5, -0.3, 0.2])
    ring, clock = SampleRing.local(), ManualClock(5.0)
    stage = CueStage(ring, washout(), OPTIONS, PATIENCE)
    intake = open_intake(ReceiverOptions(), None, stage)
    intake.now = clock.now
    for number in range(10):
        sample = SAMPLE._replace(
            sequence=number, sent=0.01 * number, time=0.01 * number, given=ATTITUDE | KINEMATIC,
            force=tuple(acceleration), attitude=tuple(attitude), rate=(0.0, 0.0, 0.0),
        )  # fmt: skip
        intake.put(encode_vehicle(sample), ("here", 1))
        intake.work()
        clock.advance(0.01)
    given = Stage()
    force = specific_force(acceleration, attitude, G)
    for number in range(10):
        given.send(5.0 + 0.01 * number, [*force, 0.0, 0.0, 0.0])
    taken = ring.take()
    assert len(taken) == 19 and intake.taken == 10
    np.testing.assert_allclose(taken["pose"], given.motions()[1][:, :7], atol=1e-12)


# -- the stage ---------------------------------------------------------------------------------------------------------


def test_the_motion_is_the_washouts_at_its_own_rate_whatever_the_senders() -> None:
    bench, times = Stage(), np.arange(0.0, 2.0, 0.013)
    for t in times:
        bench.send(10.0 + t, wave(t))
        bench.stage.turn(10.0 + t)
    t, motions = bench.motions()
    np.testing.assert_allclose(t, 10.0 + np.arange(len(t)) / RATE, atol=1e-9)
    grid = np.arange(len(t)) / RATE
    inputs = np.stack([np.interp(grid, times, column) for column in wave(times).T], axis=-1)
    np.testing.assert_allclose(motions, washout().run(inputs)[0], atol=1e-9)
    assert np.abs(motions[:, 0]).max() > 0.02 and bench.stage.status.held == 0


def test_lost_samples_are_bridged_when_the_next_one_comes_in_time() -> None:
    whole, holed = Stage(), Stage()
    for number in range(200):
        t = 0.005 * number
        for bench in (whole, holed):
            if bench is whole or number % 3 != 1:
                bench.send(t, wave(t))
            bench.stage.turn(t + 0.004)
    last = holed.motions()[1]
    apart = np.abs(last - whole.motions()[1][: len(last)])
    assert apart[:, :13].max() < 1e-4  # but for the wave's curvature
    assert holed.stage.status.held == 0


def test_a_silent_vehicle_is_held_falls_off_and_the_platform_comes_to_rest() -> None:
    bench = Stage()
    push = LEVEL + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.3])
    for number in range(100):
        bench.send(0.005 * number, push)
        bench.stage.turn(0.005 * number)
    for turn in range(1000):
        bench.stage.turn(0.5 + 0.005 * turn)
    t, motions = bench.motions()
    silence = np.maximum(0.0, t - 0.495)
    fallen = np.where(silence > 0.1, np.exp(-(silence - 0.1) / 0.2), 1.0)
    reference = washout()
    stepped = silence <= 1.0 + 1e-9
    expected, _ = reference.run(LEVEL + fallen[stepped, None] * (push - LEVEL))
    np.testing.assert_allclose(motions[stepped], expected, atol=1e-9)
    status = bench.stage.status
    assert status.held == np.count_nonzero(silence) and status.rests == 1
    assert np.abs(motions[-1, 7:13]).max() < 1e-9 and t[-1] < 0.495 + 1.0 + 1.0  # at rest, and nothing more
    bench.send(6.0, LEVEL)
    bench.send(6.1, LEVEL)
    t, motions = bench.motions()
    assert t[0] == 6.0 and len(t) == 21 and np.abs(motions[0, :7] - motions[-1, :7]).max() < 0.01


def test_a_late_sample_is_the_vehicles_motion_from_now_on() -> None:
    bench, away = Stage(), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    bench.send(0.0, LEVEL)
    bench.stage.turn(0.1)
    assert bench.stage.status.held == 16  # up to 80 ms
    bench.send(0.05, LEVEL + away)
    bench.send(0.04, LEVEL - away)  # older still: it says nothing of now
    bench.motions()
    bench.send(0.1, LEVEL + away)
    _, motions = bench.motions()
    assert bench.stage.status.late == 2 and (motions[:, 13] > 0.0).all()


def test_the_end_of_the_vehicles_stream_is_that_of_the_platforms() -> None:
    for t in (0.005, 0.007):  # with a step of the washout at its time, and without one
        bench = Stage()
        bench.send(0.0, LEVEL)
        bench.send(t, LEVEL, END)
        taken = bench.ring.take()
        assert [bool(given & END) for given in taken["given"]] == [False] * (len(taken) - 1) + [True]
        bench.stage.turn(1.0)
        assert not len(bench.ring.take())


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e7])
def test_what_is_no_number_of_a_vehicle_is_counted_and_not_used(number: float) -> None:
    bench = Stage()
    bench.send(0.0, LEVEL)
    bench.send(0.005, [number, *LEVEL[1:]])
    bench.send(0.01, LEVEL)
    bench.stage.turn(0.01)
    bench.send(number, LEVEL)  # nor a time
    assert len(bench.motions()[0]) == 3 and bench.stage.status.unusable == 2


# -- the receiver's process -------------------------------------------------------------------------------------------


def test_the_guides_sender_is_cued_to_its_end_and_the_tuning_changes_meanwhile(tmp_path: Path) -> None:
    """With the processes of sender and receiver, whose start takes most of the time."""
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (text,) = (text for text in blocks if "SRVS" in text)
    (source := tmp_path / "drive.py").write_text(text, encoding="utf-8")
    assert CUED.stream.cue is not None
    setup = cue_setup(CUED, CUED.stream.cue, tuned())
    with StreamReceiver(ReceiverOptions(port=0), tmp_path, cue=setup) as receiver:
        port = receiver.address.rpartition(":")[2]
        assert receiver.tune(tuned(tilt__rate=0.04)) == ["tilt.rate 0.05235987755982989 → 0.04"]
        with pytest.raises(LimitError, match="axes"):
            receiver.tune(tuned(axes="z-down"))
        subprocess.run([sys.executable, "-I", str(source), port, "0.2"], check=True, timeout=60)
        eventually(lambda: receiver.status().ended, "the end of the stream")
        taken, cueing = receiver.ring.take(), receiver.cueing()
        assert receiver.status().taken == 20 and cueing.tunings == 1 and cueing.tuning.tilt.rate == 0.04
    assert taken["given"][-1] & END and len(taken) == cueing.steps >= 20
    assert (np.diff(taken["time"]) > 0.0).all() and np.abs(taken["pose"][:, 0]).max() > 0.0


def test_a_stream_may_be_ended_by_who_follows_it() -> None:
    bench = Stage()
    bench.stage.end()
    assert not len(bench.ring.take())  # nothing has begun
    bench.send(0.0, LEVEL)
    bench.send(0.02, LEVEL)
    bench.stage.end()
    assert bench.ring.take()["given"][-1] & END


# -- tuning while it runs ----------------------------------------------------------------------------------------------


def test_a_tuning_changes_without_a_jump() -> None:
    bench = Stage()
    bolder = tuned(
        input__force_scale=(1.0, 0.9, 0.2), translation__frequency=(4.0, 1.5, 8.0), translation__order=2,
        tilt__angle=0.1, tilt__rate=0.02, rotation__frequency=(3.0, 0.5, 2.0), rotation__order=2,
        algorithm="constrained",
    )  # fmt: skip
    for number in range(1200):
        t = 0.005 * number
        if number == 500:
            changes = bench.stage.tune(bolder)
        if number == 560:
            bench.stage.tune(tuned())  # while the first change is under way
        bench.send(t, wave(t))
    _, motions = bench.motions()
    assert "input.force_scale [0.5, 0.5, 0.5] → [1, 0.9, 0.2]" in changes and "rotation.order 1 → 2" in changes
    assert bench.stage.status.tunings == 2 and bench.washout.tuning == tuned()
    jerk = np.diff(leg_motions(CONFIG.machine.geometry, motions)[2], axis=0) * RATE
    assert np.abs(jerk[450:800]).max() < 30.0  # m/s³; numbers that jump give the limiter's 300
    undisturbed = Stage()
    for number in range(1200):
        undisturbed.send(0.005 * number, wave(0.005 * number))
    apart = np.abs(motions - undisturbed.motions()[1])[:, :3].max(1)
    assert apart[499] == 0.0 and 0.005 < apart[500:].max() < 0.1


def test_a_tuning_that_cannot_be_had_leaves_the_old_one_as_it_is() -> None:
    bench, other = Stage(), Stage()
    for number in range(100):
        if number == 50:
            with pytest.raises(LimitError, match="head"):
                bench.stage.tune(tuned(head=(0.0, 0.0, 0.2), input__force_scale=(1.0, 1.0, 1.0)))
            assert bench.stage.tune(tuned()) == []
        for each in (bench, other):
            each.send(0.005 * number, wave(0.005 * number))
    assert (bench.motions()[1] == other.motions()[1]).all() and bench.stage.status.tunings == 0


# -- nothing leaves the free range -------------------------------------------------------------------------------------


@cache
def bounds() -> Any:
    return motion_bounds(CONFIG.machine, CONFIG.safety)


@pytest.mark.parametrize("seed", seeds(250))
def test_no_vehicle_and_no_tuning_at_any_time_leads_out_of_the_free_range(seed: int) -> None:
    rng, count = np.random.default_rng(seed), 0
    for kind in rng.permutation(KINDS)[: either(3, len(KINDS))]:
        bench = Stage(random_tuning(rng), OPTIONS.model_copy(update={"rest_after": 0.3}))
        steps = either(120, 180)
        vehicle = np.clip(random_vehicle(rng, kind, steps, 100.0), -1e6, 1e6)  # the most that is taken
        lost = rng.random(steps) < rng.choice([0.0, 0.1, 0.5])
        lost[(begin := rng.integers(steps)) : begin + rng.integers(60)] = True
        for number in range(steps):
            t = 0.01 * number
            if rng.random() < 0.05:
                bench.stage.tune(random_tuning(rng))
            if not lost[number]:
                bench.send(t + rng.uniform(-0.02, 0.0), vehicle[number])
            bench.stage.turn(t)
        _, motions = bench.motions()
        use = use_of_bounds(CONFIG.machine.geometry, bounds(), motions)
        assert max(use.values()) <= 1.0, (kind, use)
        rest = bench.washout.braking_path(np.linspace(0.0, bench.washout.braking_time, 20))
        assert max(use_of_bounds(CONFIG.machine.geometry, bounds(), rest).values()) <= 1.0
        count += len(motions)
    assert count > 300


def test_the_engines_check_passes_what_the_washout_gives_at_its_bounds() -> None:
    rng = np.random.default_rng(4)
    bench = StreamBench(fade_in=0.05, mode="limit", watchdog=0.2)
    bold = tuned(
        input__force_scale=(2.0, 2.0, 1.0), input__force_limit=(6.0, 6.0, 4.0), translation__frequency=(1, 1, 2)
    )
    stage = CueStage(bench.ring, washout(bold), OPTIONS, PATIENCE)
    vehicle = random_vehicle(rng, "bang-bang", 600, 100.0)
    for number in range(3000):
        if number % 5 == 0:
            sample = new_samples(1)
            sample["time"] = bench.t
            sample["acceleration"][0, :3] = vehicle[number // 5, :3]
            sample["velocity"][0, 3:] = vehicle[number // 5, 3:]
            stage.push(sample)
        stage.turn(bench.t)
        if number == 1500:
            stage.tune(tuned(input__force_scale=(1.5, 2.0, 2.0)))
        bench.step()
    motions = np.array(bench.motions)
    assert (legs_beyond(motions) <= 0.0).all()
    assert stage.status.flags["legs limited"] > 100
    assert bench.codes() == ["stream_followed"] and bench.source.report.limited == 0
    assert np.abs(motions[:, :3] - motions[0, :3]).max() > 0.05
