"""STOP in a cycle that is drawn, while a whole rig follows a stream: the recorded references keep to every limit."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from exploration import LONG, either, seeds
from streamed import CONFIG, Sender, legs_beyond, poses_beyond

import rig
from rig.client import RigClient
from rig.client.lockstep import LockstepRig
from rig.engine import FollowStream, Resume
from rig.runtime import StopRequest
from rig.safety.machine import LAW_STATES
from rig.states import State
from rig.streaming import SampleRing

STOPS = either(5, 500)
LONGEST = 2.0  # s
Rows = npt.NDArray[np.void]
NEAR = {"virtual": {"drive": {"start_spread": 1e-3}}}  # homing is short
CATEGORIES: tuple[StopRequest, ...] = (2, 2, 1, 2, 0)


def stopped(robot: RigClient, sender: Sender, random: np.random.Generator, stops: int) -> Iterator[tuple[int, Rows]]:
    """Category, and the recorded rows from before a STOP until the platform rests, of each."""
    lockstep = robot.rig
    assert isinstance(lockstep, LockstepRig)
    for stop in range(stops):
        sender.change()
        left, cycles = int(random.integers(1, 40)), 0  # tens of cycles in which it is followed
        for _ in range(int(random.integers(10, 200))):
            if robot.status.paused:  # refused, or stopped before
                lockstep.request(Resume())
            report = robot.status.stream
            left -= report is not None and report.phase == "following"
            if left == 0:
                break
            for _ in range(10):
                lockstep.step()
                cycles += 1
        category = CATEGORIES[stop % 5]
        lockstep.raise_stop_flag(category)
        lockstep.step()
        slowing = 1
        while robot.state in (State.RUNNING, State.STOPPING):
            assert slowing * CONFIG.period < LONGEST
            lockstep.step()
            slowing += 1
        assert robot.state is (State.PARKED if category < 2 else State.ENGAGED)
        yield category, robot.telemetry((cycles + slowing) * CONFIG.period).rows
        if robot.state is State.PARKED:
            robot.settle()
            robot.engage()
            lockstep.request(FollowStream("stream", sender.name))


@pytest.mark.parametrize("mode", ["refuse", "limit"])
def test_the_references_from_before_a_stop_until_rest_are_within_every_limit(mode: str) -> None:
    lengths, ways, counted, fastest = np.full(3, -np.inf), np.full(6, -np.inf), np.zeros(3, int), 0.0
    h = CONFIG.period
    for seed in seeds(1):
        random = np.random.default_rng(seed)
        config = CONFIG.changed({"stream": {"mode": mode, "fade_in": 0.1}} | NEAR)
        with rig.open(config, lockstep=True, record=False) as robot, SampleRing.create() as ring:
            sender = Sender(random, ring)
            robot.home()
            robot.engage()
            robot.rig.request(FollowStream("stream", ring.name))
            with robot.rig.feeding(sender.send, config.period):
                for category, rows in stopped(robot, sender, random, STOPS):
                    followed = rows[np.isin(rows["state"], list(LAW_STATES))]
                    motions = followed["reference"]
                    lengths = np.maximum(lengths, legs_beyond(motions))
                    ways = np.maximum(ways, poses_beyond(motions[:, :7], h))
                    x, v, a = motions[:, :3], motions[:, 7:10], motions[:, 13:16]
                    gone = 0.5 * h * (v[:-1] + v[1:]) + h * h / 12.0 * (a[:-1] - a[1:])
                    assert np.abs(np.diff(x, axis=0) - gone).max() < 1e-6  # one motion, without a jump
                    assert category == 0 or np.abs(v[-1]).max() < 1e-4  # at rest
                    stops = followed["stop"] > 0
                    counted[category] += 1
                    fastest = max(fastest, float(np.linalg.norm(v[np.argmax(stops) if stops.any() else -1])))
    if LONG:
        print(f"{mode}: {counted} stops of category 0, 1, 2, from up to {fastest:.2f} m/s; beyond {lengths}, {ways}")
    assert counted.min() > 0 and fastest > 0.1
    assert (lengths <= 0.0).all() and (ways <= 0.0).all(), (lengths, ways)
