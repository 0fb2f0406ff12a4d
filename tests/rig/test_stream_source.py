"""What a stream's source makes of good and bad samples: its motion, its reactions, and no reference beyond a limit."""

import math

import numpy as np
import pytest
from exploration import LONG, either, seeds
from streamed import CONFIG, HOME, Moved, StreamBench, legs_beyond, swaying

from kinematics import (
    Array,
    coordinates_to_motion,
    coordinates_to_pose,
    pose_to_coordinates,
    quaternion_multiply,
    quaternion_to_matrix,
)
from rig.engine.braking_ahead import PART
from rig.engine.stream import StreamSource, least_delay
from rig.engine.stream_kernels import BASE, PLATFORM, coordinates_kernel
from rig.engine.stream_kernels import HOME as HOME_AXES
from rig.errors import RefusedError
from rig.findings import Code
from rig.streaming import ACCELERATION, END, VELOCITY, new_samples
from rig.telemetry import ROW

SAMPLES = either(3_000, 1_000_000)
DELAY = CONFIG.stream.delay


@pytest.fixture
def following() -> StreamBench:
    bench = StreamBench()
    bench.follow(swaying(), 3.2)
    assert bench.codes() == ["stream_followed"]
    return bench


def errors(bench: StreamBench, pose: Moved, since: float) -> Array:
    """Distance, m, of the reference from where the stream was `DELAY` s before, from `since` s on."""
    first = round(since / bench.period)
    times = np.arange(first, bench.cycle) * bench.period + bench.period - DELAY
    wanted = np.array([pose(t)[:3] for t in times])
    distances: Array = np.linalg.norm(np.array(bench.motions)[first:, :3] - wanted, axis=1)
    return distances


def test_the_platform_is_where_the_stream_was_its_delay_before(following):
    assert errors(following, swaying(), 3.0).max() < 1e-6
    report = following.source.report
    assert (report.phase, report.lost, report.late, report.unusable) == ("following", 0, 0, 0)
    assert report.delay == pytest.approx(DELAY)
    assert legs_beyond(np.array(following.motions)).max() < 0.0
    motions = np.array(following.motions)
    derived = np.gradient(motions[:, 7], following.period)
    assert np.abs(derived - motions[:, 13])[2:-2].max() < 0.02  # one motion: its acceleration is that of its speed


@pytest.mark.parametrize("given", [0, VELOCITY, VELOCITY | ACCELERATION])
def test_what_is_given_of_velocity_and_acceleration_is_used(given):
    bench, w, size = StreamBench(fade_in=0.1), 2.0 * math.pi, 0.02
    for _ in range(500):
        if bench.cycle % 10 == 0:  # 50 Hz
            t = bench.t
            sample = new_samples(1)
            sample["pose"], sample["time"], sample["given"], sample["sequence"] = HOME, t, given, bench.count
            sample["pose"][0, 0] += size * math.sin(w * t)
            sample["velocity"][0, 0] = size * w * math.cos(w * t) if given & VELOCITY else math.nan
            sample["acceleration"][0, 0] = -size * w * w * math.sin(w * t) if given & ACCELERATION else math.nan
            bench.count += 1
            bench.ring.push(sample)
        bench.step()
    # one quintic polynomial through both ends of 20 ms, and the derivatives that had to be estimated
    bound = {0: 1e-5, VELOCITY: 1e-6, VELOCITY | ACCELERATION: 1e-9}[given]
    assert errors(bench, swaying(), 0.9).max() < bound


@pytest.mark.parametrize("frame", [BASE, HOME_AXES, PLATFORM])
def test_poses_velocities_and_accelerations_are_taken_in_their_frame(frame):
    """Beside poses composed in numpy, and their differences."""
    home = coordinates_to_pose([0.1, -0.2, 0.4, 0.3, -0.2, 0.5])
    first, rate, step = np.array([0.01, -0.02, 0.03, 0.1, -0.15, 0.2]), np.array([0.1, 0.2, -0.1, 0.3, 0.5, -0.4]), 1e-4
    at = [first + n * step * rate + 0.5 * (n * step) ** 2 * 3.0 * rate[::-1] for n in (-1, 0, 1)]
    motion = coordinates_to_motion(first, rate, 3.0 * rate[::-1])

    def composed(pose):
        turn = home[3:]
        if frame == BASE:
            return pose
        if frame == HOME_AXES:
            return np.concatenate([home[:3] + pose[:3], quaternion_multiply(pose[3:], turn)])
        moved = home[:3] + quaternion_to_matrix(turn) @ pose[:3]
        return np.concatenate([moved, quaternion_multiply(turn, pose[3:])])

    before, here, after = (pose_to_coordinates(composed(coordinates_to_pose(q))) for q in at)
    out = np.zeros(18)
    given = VELOCITY | ACCELERATION
    assert coordinates_kernel(
        frame, home, given, motion[:7].copy(), motion[7:13].copy(), motion[13:].copy(), out
    )  # fmt: skip
    np.testing.assert_allclose(out[:6], here, atol=1e-12)
    np.testing.assert_allclose(out[6:12], (after - before) / (2.0 * step), atol=1e-6)
    np.testing.assert_allclose(out[12:], (after - 2.0 * here + before) / step**2, atol=1e-5)


def test_a_stream_in_another_frame_is_refused_on_the_way_to_its_first_pose():
    bench = StreamBench(frame="home")
    bench.follow(swaying(), 12.0)  # absolute poses
    assert bench.codes() == ["stream_elsewhere"]
    assert "stream.frame is 'home'" in bench.found[0][1].text
    assert bench.source.paused
    assert legs_beyond(np.array(bench.motions)).max() < 0.0


def test_a_jump_is_refused_on_the_way_and_the_platform_comes_to_rest(following):
    def jumped(t):
        pose = swaying()(t)
        pose[1] += 0.05
        return pose

    at = following.cycle
    following.follow(jumped, 1.0)
    assert following.codes()[1:] == ["stream_refused"]
    assert following.when("stream_refused") - at <= 20  # the delay of 50 ms less the look ahead
    assert following.source.paused and not following.source.moving
    assert np.abs(following.motions[-1][7:]).max() == 0.0
    assert legs_beyond(np.array(following.motions)).max() < 0.0
    following.source.resume((0.4,))
    following.follow(jumped, 4.5)
    assert errors(following, jumped, 8.5).max() < 1e-6


def test_what_is_refused_is_not_followed_again_though_nobody_stops_the_rig(following, monkeypatch):
    """The source does not rely on what it tells."""
    monkeypatch.setattr(following.source, "_act", lambda found: following.found.append((following.cycle, found.cause)))
    far = HOME + np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0, 0.0])
    following.follow(lambda _t: far, 2.0)
    assert len(following.found) == 2 and following.found[1][1].finding.code is Code.STREAM_REFUSED
    assert following.source.paused
    assert np.abs(np.array(following.motions)[-1, :7] - far).max() > 0.04  # it did not go there


def test_a_jump_is_limited_and_the_platform_is_there_again():
    bench = StreamBench(mode="limit")
    bench.follow(swaying(), 3.2)

    def jumped(t):
        pose = swaying()(t)
        pose[1] += 0.05
        return pose

    at = bench.cycle
    bench.follow(jumped, 1.5)
    assert bench.codes()[1:] == ["stream_limited"]
    assert bench.when("stream_limited") - at <= 20
    assert 100 < bench.source.report.limited < 500
    limit = bench.source.report.limit
    assert limit is not None and limit.code in (Code.REFERENCE_SPEED, Code.REFERENCE_ACCELERATION) and limit.leg > 0
    assert errors(bench, jumped, 4.6).max() < 1e-6
    motions = np.array(bench.motions)
    assert legs_beyond(motions).max() < 0.0
    assert motions[:, 1].max() < HOME[1] + 0.0502  # without overshoot
    assert np.abs(np.diff(motions[at:, 14])).max() < 6.0  # m/s², of 17: nor steps of the acceleration


def test_a_pose_out_of_reach_is_followed_as_far_as_the_legs_reach():
    bench = StreamBench(mode="limit")
    bench.follow(swaying(0.3, 0.2, axis=2), 9.0, every=10)
    motions = np.array(bench.motions)
    assert legs_beyond(motions).max() < 0.0
    assert motions[:, 2].max() > HOME[2] + 0.13  # of 0.135 that the stroke has
    assert "stream_limited" in bench.codes()
    limit = bench.source.report.limit
    assert limit is not None and limit.code is Code.REFERENCE_LENGTH and limit.leg > 0
    low, high = (float(str(limit.details[name])) for name in ("low", "high"))
    assert limit.value is not None and not low <= limit.value <= high


def test_a_lost_stream_fades_out_comes_back_and_stops_the_rig_in_the_end(following):
    at = following.cycle
    for _ in range(100):  # 200 ms
        following.step()
    assert following.codes()[1:] == ["stream_starved", "stream_silent"]
    assert following.when("stream_starved") - at < 0.05 / following.period
    assert 45 <= following.when("stream_silent") - at <= 50  # 100 ms after the last sample
    following.follow(swaying(), 3.0)
    assert following.codes()[3:] == ["stream_followed"]
    assert errors(following, swaying(), 6.2).max() < 1e-6
    at = following.cycle
    for _ in range(1200):
        following.step()
    assert following.codes()[-1] == "stream_lost"
    assert 1045 <= following.when("stream_lost") - at <= 1050  # 2 s later
    assert following.source.paused
    assert np.abs(following.motions[-1][7:]).max() == 0.0
    assert legs_beyond(np.array(following.motions)).max() < 0.0


@pytest.mark.parametrize(("part", "bound"), [(0.01, 2e-6), (0.1, 1e-4)])
def test_lost_samples_are_counted_and_interpolated_across(following, part, bound):
    random = np.random.default_rng(1)
    for _ in range(1000):
        if following.cycle % 5 == 0:
            if random.random() < part:
                following.count += 1
            else:
                following.send(swaying()(following.t), following.t)
        following.step()
    report = following.source.report
    assert report.lost == following.count - report.used - (
        following.count - 1 - int(following.source._data["sequence"])
    )
    assert report.lost > 0
    assert following.codes() == ["stream_followed"]
    assert errors(following, swaying(), 3.3).max() < bound


def test_reordered_samples_are_put_in_order_and_duplicates_are_not_used(following):
    waiting: list[tuple[float, int]] = []
    for _ in range(1000):
        if following.cycle % 5 == 0:
            waiting.append((following.t, following.count))
            following.count += 1
            if len(waiting) == 2:  # in pairs, the later one first, and twice
                for t, count in (waiting[1], waiting[0], waiting[1]):
                    following.send(swaying()(t), t, count)
                following.count -= 3
                waiting.clear()
        following.step()
    report = following.source.report
    assert following.codes() == ["stream_followed"]
    assert report.late == 100 and report.lost <= 1
    assert errors(following, swaying(), 3.3).max() < 1e-6


def test_jitter_that_the_delay_covers_has_no_effect(following):
    random, due = np.random.default_rng(2), []
    for _ in range(1000):
        if following.cycle % 5 == 0:
            due.append((following.t + random.uniform(0.0, 0.02), following.t, following.count))
            following.count += 1
        for entry in [one for one in due if one[0] <= following.t]:
            due.remove(entry)
            following.send(swaying()(entry[1]), entry[1], entry[2])
            following.count -= 1
        following.step()
    assert following.codes() == ["stream_followed"]
    assert errors(following, swaying(), 3.3).max() < 1e-6


def test_samples_that_are_not_finite_or_stale_are_not_used(following):
    at = following.cycle
    for n in range(40):
        if following.cycle % 5 == 0:
            good = n % 10
            bad = swaying()(following.t)
            bad[0 if good else 4] = math.nan if n < 20 else math.inf
            following.send(bad if n in (5, 25) or not good else swaying()(following.t), following.t)
        following.step()
    assert following.codes()[1] == "stream_unusable"
    assert following.when("stream_unusable") - at <= 6
    assert following.source.report.unusable == 6  # four in the quaternion, two in the place
    following.send(swaying()(0.0), following.t - 10.0)
    following.send(swaying()(0.0), following.t + 10.0)
    following.step()
    assert following.codes()[-1] == "stream_stale"
    assert following.source.report.late == 2
    assert legs_beyond(np.array(following.motions)).max() < 0.0


def test_a_flood_is_thinned_and_the_platform_follows(following):
    for _ in range(100):
        for k in range(100):  # 50 kHz
            following.send(swaying()(following.t + k * 2e-5), following.t + k * 2e-5)
        following.step()
    assert following.codes() == ["stream_followed"]
    assert errors(following, swaying(), 3.3).max() < 1e-6
    assert following.source.report.late > 5000


def test_a_late_cycle_leaves_the_delay_as_it_is(following):
    late = 15 * following.period
    for n in range(15):
        following.send(swaying()(following.t + n * following.period), following.t + n * following.period)
    following.late = late
    following.step()
    assert following.source.report.delay == pytest.approx(DELAY + late)
    following.late = 0.0
    following.step(skipped=15)
    kept = len(following.motions)
    following.follow(swaying(), 0.5)
    assert following.codes() == ["stream_followed"]
    assert following.source.report.delay == pytest.approx(DELAY)
    places = following.t - following.period * np.arange(len(following.motions) - kept - 1, -1, -1) - DELAY
    wanted = [swaying()(t)[0] for t in places]
    np.testing.assert_allclose(np.array(following.motions)[kept:, 0], wanted, atol=1e-6)


def test_a_small_lag_of_the_rig_that_stays_is_made_up_for_smoothly(following):
    """As in paced time, in which a computer that was busy for 10 ms leaves the rig's clock behind."""
    following.late, at = 0.01, following.cycle
    for _ in range(3000):
        now = following.t + following.late
        if following.cycle % 5 == 0:
            following.send(swaying()(now), now)
        following.step()
        if following.cycle == at + 1:
            assert following.source.report.delay == pytest.approx(DELAY + 0.01)
    assert following.codes() == ["stream_followed"]
    assert following.source.report.delay == pytest.approx(DELAY, abs=2e-4)
    motions = np.array(following.motions)
    times = np.arange(following.cycle - 500, following.cycle) * following.period + following.period - DELAY
    wanted = [swaying()(t + following.source.report.delay - DELAY + 0.01)[0] for t in times]
    np.testing.assert_allclose(motions[-500:, 0], wanted, atol=4e-5)
    derived = np.gradient(motions[:, 7], following.period)[at - 1 : -2]
    assert np.abs(derived - motions[at - 1 : -2, 13]).max() < 0.1  # m/s², of 0.8


@pytest.mark.parametrize(("amplitude", "rate", "limit"), [(0.0724, 12.0, 1), (0.0207, 25.0, 2)])
def test_a_stream_at_its_limit_is_not_refused_for_a_lag_that_is_made_up_for(amplitude, rate, limit):
    """A heave that grows within 2 s to 99.9 % of what is accepted of the legs' speed, or acceleration."""
    bench = StreamBench(fade_in=0.5)
    for _ in range(2000):
        bench.late = 0.01 if bench.t > 0.5 else 0.0
        t = bench.t + bench.late
        s, g = min(1.0, 0.5 * t), rate * t
        left = 1.0 - s
        steps = [s**3 * (10.0 - 15.0 * s + 6.0 * s * s), 15.0 * (s * left) ** 2, 15.0 * s * left * (left - s)]
        grown = amplitude * np.array(steps)  # with its derivatives
        swung = [math.sin(g), rate * math.cos(g), -rate * rate * math.sin(g)]
        sample = new_samples(1)
        sample["pose"], sample["time"], sample["sequence"] = HOME, t, bench.count
        sample["pose"][0, 2] += grown[0] * swung[0]
        sample["velocity"][0, 2] = grown[1] * swung[0] + grown[0] * swung[1]
        sample["acceleration"][0, 2] = grown[2] * swung[0] + 2.0 * grown[1] * swung[1] + grown[0] * swung[2]
        sample["given"] = VELOCITY | ACCELERATION
        bench.count += 1
        bench.ring.push(sample)
        bench.step()
    assert bench.codes() == ["stream_followed"]
    assert bench.source.report.delay < DELAY + 0.007
    assert legs_beyond(np.array(bench.motions)).max() < 0.0
    most = (0.8, 12.0)[limit - 1]  # of each leg
    assert legs_beyond(np.array(bench.motions))[limit] > (0.998 * PART - 1.0) * most


_AT_ONCE = np.linspace(0.0, 1.0, 5)
_SMOOTHLY = 0.5 - 0.5 * np.cos(np.pi * np.linspace(0.0, 1.0, 9))


@pytest.mark.parametrize(
    ("lag", "rise"), [(0.0, _AT_ONCE), (0.004, _AT_ONCE), (0.01, _AT_ONCE), (0.0, _SMOOTHLY), (0.01, _SMOOTHLY)]
)
def test_an_acceleration_that_comes_to_its_limit_at_once_is_not_refused_for_a_lag(lag, rise):
    """Of a heave, from 0 to 99 % of what is accepted within 8 or 16 ms; the rest is the overshoot between two samples.

    In 16 ms the end of the plan has speed to spare while what is asked for behind it has none.
    """
    bench, h = StreamBench(fade_in=0.5), CONFIG.period
    pulse = np.concatenate([rise, np.ones(11), rise[::-1]])
    a = 12.85 * np.concatenate([np.zeros(600), np.tile([*np.zeros(80), *pulse, *-pulse, *-pulse, *pulse], 7)])
    v = np.concatenate([[0.0], np.cumsum(0.5 * h * (a[:-1] + a[1:]))])
    z = np.concatenate([[0.0], np.cumsum(h * v[:-1] + h * h / 6.0 * (2.0 * a[:-1] + a[1:]))])
    for _ in range(1700):
        bench.late = lag if bench.t > 0.5 else 0.0
        while bench.count * h <= bench.t + bench.late + 1e-9:
            sample, n = new_samples(1), bench.count
            sample["pose"], sample["time"], sample["sequence"] = HOME, n * h, n
            sample["pose"][0, 2] += z[n]
            sample["velocity"][0, 2], sample["acceleration"][0, 2] = v[n], a[n]
            sample["given"] = VELOCITY | ACCELERATION
            bench.count += 1
            bench.ring.push(sample)
        bench.step()
    assert bench.codes() == ["stream_followed"]
    assert bench.source.report.delay < DELAY + max(3e-4, lag - 0.003)
    excess = legs_beyond(np.array(bench.motions))
    assert excess.max() < 0.0 and excess[2] > -0.03 * 12.0


def test_a_rig_that_falls_behind_begins_the_stream_anew_with_its_delay(following):
    following.late = 0.03
    following.clock.set(following.t + following.late)
    for _ in range(600):
        if following.cycle % 5 == 0:
            now = following.t + following.late
            following.send(swaying()(now), now)
        following.step()
    assert following.codes() == ["stream_followed", "stream_slipped", "stream_followed"]
    assert following.source.report.delay == pytest.approx(DELAY)
    assert legs_beyond(np.array(following.motions)).max() < 0.0


def test_the_end_is_an_end(following):
    sample = new_samples(1)
    sample["pose"], sample["time"], sample["given"] = swaying()(following.t), following.t, END
    sample["sequence"] = following.count
    following.ring.push(sample)
    for _ in range(400):
        following.step()
    assert following.codes()[1:] == ["stream_ended"]
    source = following.source
    assert not (source.moving or source.paused or source.slowing)
    assert np.abs(following.motions[-1][7:]).max() == 0.0
    source.resume((0.4,))
    following.follow(swaying(), 0.5)
    assert not source.moving


def test_a_prediction_needs_less_delay_and_is_bounded():
    delay = least_delay(CONFIG)
    with pytest.raises(RefusedError, match="the look-ahead of a cycle"):
        StreamBench(delay=0.9 * delay)
    bench = StreamBench(delay=delay, resampling="predict", predict=0.03, fade_in=0.1)
    w = 2.0 * math.pi

    def fed() -> None:
        for _ in range(500):
            if bench.cycle % 5 == 0:
                velocity = [0.02 * w * math.cos(w * bench.t), 0, 0, 0, 0, 0]
                bench.send(swaying()(bench.t), bench.t, given=VELOCITY, velocity=velocity)
            bench.step()

    fed()
    first = round(0.9 / bench.period)
    times = np.arange(first, bench.cycle) * bench.period + bench.period - delay
    wanted = HOME[0] + 0.02 * np.sin(w * times)
    assert np.abs(np.array(bench.motions)[first:, 0] - wanted).max() < 2e-4
    assert bench.codes() == ["stream_followed"]
    at = bench.cycle
    for _ in range(60):
        bench.step()
    assert 0.03 / bench.period < bench.when("stream_starved") - at + 10 and "stream_silent" in bench.codes()
    assert legs_beyond(np.array(bench.motions)).max() < 0.0


@pytest.mark.parametrize("resampling", ["interpolate", "predict"])
@pytest.mark.parametrize("mode", ["refuse", "limit"])
def test_no_random_stream_brings_a_reference_beyond_a_limit(mode, resampling):
    worst, beyond = np.full(3, -np.inf), 0
    for seed in seeds(1):
        for motions in streamed_at_random(mode, resampling, seed, SAMPLES):
            excess = legs_beyond(motions)
            beyond += int((excess > 0.0).any())
            worst = np.maximum(worst, excess)
    if LONG:
        print(f"{mode}, {resampling}: {SAMPLES} samples; worst: {worst} m, m/s, m/s² beyond a limit")
    assert not beyond, worst


def streamed_at_random(mode: str, resampling: str, seed: int, samples: int):
    """Blocks of references, now and ahead, of a stream at 1 kHz of all sizes with every fault; resumed when stopped.

    The rig's clock falls behind now and then, by what is made up for or by more.
    """
    random, bench = np.random.default_rng(seed), StreamBench(mode=mode, resampling=resampling)
    home, q, v, step = pose_to_coordinates(HOME), np.zeros(6), np.zeros(6), np.zeros(6)
    scale, burst, sent, ahead = 1.0, 0, 0, []
    while sent < samples:
        if bench.cycle % 500 == 0:
            scale, step = 10.0 ** random.uniform(-2.0, 1.0), np.zeros(6)
            bench.late += random.choice([0.0, 0.005, 0.015])
        for k in range(2):
            v += 1e-3 * (random.normal(size=6) * scale * [20.0, 20.0, 20.0, 60.0, 60.0, 60.0] - 5.0 * v)
            q += 1e-3 * (v - q)
            sent, chance = sent + 1, random.random()
            if chance < 2e-4:
                step = 0.03 * random.normal(size=6)  # a jump
            if 0.01 < chance < 0.0102:
                burst = int(random.integers(50, 300))
            if burst > 0 or chance < 0.01:
                burst, bench.count = max(0, burst - 1), bench.count + 1
                continue
            pose, t = coordinates_to_pose(np.clip(home + q + step, -1.0, 1.0)), bench.t + bench.late + 1e-3 * k
            if 0.02 < chance < 0.021:
                pose[int(random.integers(7))] = random.choice([math.nan, math.inf, 1e300])
            if 0.03 < chance < 0.031:
                pose[:3] *= random.uniform(-1e3, 1e3)
            if 0.04 < chance < 0.05:
                t += 0.005 * random.normal()
            bench.send(pose, t)
            if 0.07 < chance < 0.08:
                bench.send(pose, t)  # twice
        bench.step()
        motion = np.zeros(19)
        assert bench.source.evaluate(bench.period + CONFIG.command_lead, motion)
        ahead.append(motion)
        if random.random() < 2e-4:
            bench.source.decelerate((0.4, 0.8))  # somebody stops it
        if bench.source.paused:
            bench.source.resume((0.4,))
        if len(ahead) >= 20_000 or sent >= samples:
            yield np.array(bench.motions + ahead)
            bench.motions.clear()
            ahead.clear()


def test_another_source_ends_what_is_recorded_of_a_stream():
    row = np.zeros(1, ROW)
    bench = StreamBench()
    bench.source = StreamSource(bench.config, bench.ring, "bench", bench.clock, bench._act, bench.clock.now, row)
    bench.source.begin(HOME)
    bench.follow(swaying(), 0.5)
    assert row["stream_delay"][0] == pytest.approx(DELAY)
    assert row["stream_counts"][0].tolist() == [50, 0, 0, 0]
    assert row["stream_asked"][0, 0] == pytest.approx(swaying()(0.5 - DELAY)[0], abs=1e-6)
    bench.source.leave()
    assert np.isnan(row["stream_delay"][0]) and np.isnan(row["stream_asked"]).all() and not row["stream_counts"].any()
