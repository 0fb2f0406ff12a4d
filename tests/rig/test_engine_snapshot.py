"""The snapshot of a cycle: when it is published, what it holds, and that nobody reads anything else."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import numpy as np
import numpy.typing as npt
import pytest
from engine_support import Bench, Tap, smooth_table

from rig.engine import Connect, Follow, Home, Reply, Snapshot, Submission
from rig.engine.snapshot import SNAPSHOT
from rig.states import State


class _Looking(Tap):
    """A sink that looks at the engine's snapshot whenever it is given a row."""

    def __init__(self, rig: Bench) -> None:
        super().__init__()
        self._rig = rig
        self.seen: list[Snapshot] = []

    def push(self, row: npt.NDArray[np.void]) -> None:
        super().push(row)
        self.seen.append(self._rig.engine.snapshot)


def test_a_cycle_is_seen_once_its_row_is_there(rig: Bench) -> None:
    rig.park()
    rig.engine.sink = looking = _Looking(rig)
    for _ in range(5):
        before = rig.engine.snapshot
        rig.step()
        now, row = rig.engine.snapshot, looking.rows[-1][0]
        assert looking.seen[-1] is before  # the row came first
        assert (now.t, now.cycles, now.state) == (row["t"], before.cycles + 1, row["state"])
        assert now.t > before.t


def test_without_drives_time_is_published_too(rig: Bench) -> None:
    rig.run(0.1)
    assert rig.engine.snapshot.state is State.OFF and rig.engine.snapshot.t == pytest.approx(0.1)


def test_how_busy_the_machine_was_is_published(rig: Bench) -> None:
    assert rig.engine.snapshot.slower == 0.0
    rig.engine.step(rig.engine.tick._replace(slower=0.13))
    assert rig.engine.snapshot.slower == 0.13


def test_a_snapshot_never_changes_and_shares_what_did_not(rig: Bench) -> None:
    rig.engage()
    first = rig.engine.snapshot
    with pytest.raises(FrozenInstanceError):
        first.t = 0.0  # type: ignore[misc]
    assert type(first) is Snapshot and replace(first, t=first.t) == first
    rig.step()
    assert rig.engine.snapshot.events is first.events and hash(first) == hash(first)
    rig.follow(smooth_table())
    assert rig.engine.snapshot.events is not first.events and first.state is State.ENGAGED


def test_whoever_asks_in_the_middle_of_a_cycle_sees_the_one_before(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.request(Connect())
    rig.step()
    before, exchange, seen = rig.status(), rig.engine.drives.exchange, []

    def exchanged(*arguments: object) -> None:
        exchange(*arguments)  # type: ignore[arg-type]
        seen.append(rig.status())

    monkeypatch.setattr(rig.engine.drives, "exchange", exchanged)
    rig.submit(Home())
    rig.step()
    assert rig.state is State.HOMING and seen == [before]
    assert rig.status().state is State.HOMING


def test_another_thread_sees_what_happens_at_once_and_all_else_soon(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table())
    with ThreadPoolExecutor(1) as others:

        def seen() -> Snapshot:
            return others.submit(lambda: rig.engine.published).result(10.0)

        ages = []
        for _ in range(60):
            rig.step()
            ages.append(rig.engine.tick.t - seen().t)
        assert 0.0 == min(ages) < max(ages) < 0.02 and seen().state is State.RUNNING
        rig.engine.stop(2)
        rig.step()
        assert seen().stops == rig.engine.machine.stops and seen().finding is not None
        rig.run(0.01)
        assert others.submit(rig.status).result(10.0).t == rig.engine.tick.t  # nobody lets time pass
    assert rig.engine.snapshot.t == rig.engine.tick.t


def test_who_let_time_pass_before_does_not_look_while_another_thread_does(
    rig: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.park()
    rig.run(0.01)
    seen, advance = rig.engine.published, rig.virtual.advance
    looked: list[Snapshot] = []
    asks, answered = threading.Event(), threading.Event()

    def advanced(now: float) -> None:
        asks.set()
        answered.wait(10.0)
        advance(now)

    with ThreadPoolExecutor(1) as others:
        monkeypatch.setattr(rig.virtual, "advance", advanced)
        other = others.submit(rig._pass, 1)
        asks.wait(10.0)
        monkeypatch.setattr(rig.engine, "take_snapshot", lambda: pytest.fail("a snapshot in the middle of a cycle"))
        looked.append(rig.status())
        monkeypatch.undo()
        answered.set()
        other.result(10.0)
    assert looked[0].t == seen.t


def test_who_has_the_answer_sees_what_came_of_it_in_snapshot_and_telemetry(rig: Bench) -> None:
    table = smooth_table()
    rig.engage()
    reply, seen = Future[Reply](), []

    def answered(_reply: Future[Reply]) -> None:
        seen.append((rig.engine.snapshot.state, rig.tap.rows[-1][0]["state"]))

    reply.add_done_callback(answered)
    rig.operator.submit(Submission(Follow("x", table.step), table.samples, reply))
    rig.operator.carry_out()
    assert rig.state is State.RUNNING and not seen
    rig.step()
    assert seen == [(State.RUNNING, State.RUNNING)] and reply.result(0).accepted


def test_a_snapshot_goes_over_the_link_and_comes_back_the_same(rig: Bench) -> None:
    rig.park()
    rig.run(0.1)
    now = rig.status()
    assert SNAPSHOT.validate_json(SNAPSHOT.dump_json(now)) == now
