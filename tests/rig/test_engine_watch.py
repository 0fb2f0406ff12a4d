"""The watch over client and owner: who falls silent, gives up or is gone."""

import math
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from engine_support import CONFIG, Bench, bench, smooth_table

from rig.engine.lease import Leases
from rig.engine.loop import Watch
from rig.engine.messages import Engage
from rig.runtime import ControlBlock, LeaseSign
from rig.states import FaultCode, State, StopSeverity


class _Link:
    alive = True


class _Watched:
    """A running rig, watched."""

    def __init__(self, rig: Bench, stack: ExitStack) -> None:
        self.rig = rig
        self.link = _Link()
        block = ControlBlock.create()
        stack.callback(block.close)
        self.leases = Leases(block)
        self.sign: LeaseSign | None = None
        ours, theirs = multiprocessing.Pipe()
        self.owner = ours
        stack.callback(ours.close)
        stack.callback(theirs.close)
        self.watch = Watch(rig.engine, rig.operator, self.link, self.leases, theirs)  # type: ignore[arg-type]

    def lease(self, client: str) -> None:
        """Have a client hold the lease, which says once that it lives."""
        self.sign = self.leases.block.sign(self.leases.grant(client, os.getpid()).number)
        self.sign.beat()

    def give_up(self) -> None:
        self.leases.end(self.leases.holder)

    def step(self, *, beat: bool) -> None:
        if beat and self.sign is not None:
            self.sign.beat()
        self.rig.step()
        self.watch.look(self.rig.engine.tick.t)


@contextmanager
def watched(folder: Path, motion: float = 4.0) -> Iterator[_Watched]:
    """Running, a motion of `motion` s."""
    with ExitStack() as stack, bench(folder) as rig:
        rig.engage()
        rig.follow(smooth_table(motion))
        made = _Watched(rig, stack)
        made.lease("client")
        yield made


def test_a_client_that_falls_silent_loses_the_lease_and_the_platform_is_held(tmp_path: Path) -> None:
    with watched(tmp_path) as one:
        for _ in range(400):
            one.step(beat=True)
        assert one.rig.state is State.RUNNING and one.leases.client == "client"
        silent = 0
        while one.leases.holder is not None and silent < one.rig.config.rate:
            one.step(beat=False)
            silent += 1
            assert silent < 1000
        assert silent == pytest.approx(one.rig.config.safety.heartbeat * one.rig.config.rate, abs=2)
        assert one.rig.state is State.STOPPING and not one.rig.engine.machine.latched
        one.rig.until(State.ENGAGED)
        assert one.rig.engine.reference.paused
        assert sum("no sign of life" in text for text in one.rig.tap.texts()) == 1


def test_who_gives_up_the_lease_while_running_stops_the_motion(tmp_path: Path) -> None:
    with watched(tmp_path) as one:
        one.step(beat=True)
        one.give_up()
        one.step(beat=True)
        assert one.rig.state is State.STOPPING
        assert one.rig.engine.machine.cause is not None
        assert one.rig.engine.machine.cause.code is FaultCode.CLIENT_LOST
        for _ in range(500):
            one.step(beat=True)
        assert one.rig.state is State.ENGAGED
        assert sum("no client holds the command lease" in text for text in one.rig.tap.texts()) == 1


def test_a_link_that_fails_leaves_no_lease_behind(tmp_path: Path) -> None:
    with watched(tmp_path) as one:
        one.link.alive = False
        one.step(beat=True)
        assert one.leases.holder is None and one.rig.state is State.STOPPING
        assert "the control link has failed" in one.rig.tap.texts()


def test_without_owner_and_client_the_platform_is_set_down_in_the_end(tmp_path: Path) -> None:
    with watched(tmp_path, 0.5) as one:
        one.rig.until(State.ENGAGED)
        one.owner.close()
        one.watch.look(t := one.rig.engine.tick.t + 1.0)
        assert one.watch.orphaned and not one.watch.abandoned
        assert one.rig.tap.texts()[-1].endswith("without a client the engine stops the platform in 30 s and ends")
        assert one.sign is not None
        one.sign.beat()
        one.watch.look(t := t + 40.0)
        assert one.rig.state is State.ENGAGED  # a client may go on without the owner
        one.give_up()
        one.watch.look(t := t + 1.0)
        one.watch.look(t + 28.5)
        assert one.rig.state is State.ENGAGED and not one.watch.abandoned  # it has torque
        one.lease("another")
        one.watch.look(t + 31.0)
        one.give_up()
        one.watch.look(t := t + 32.0)
        one.watch.look(t + 28.5)
        assert one.rig.state is State.ENGAGED  # the hold begins anew
        one.watch.look(t + 31.0)
        assert one.rig.state is State.STOPPING
        one.rig.until(State.PARKED)
        assert one.watch.abandoned


def test_an_engine_does_not_end_while_a_drive_reports_torque(tmp_path: Path) -> None:
    """Without owner and client, in a fault: that drive would be neither supervised nor recorded."""
    with watched(tmp_path, 0.5) as one:
        t = _alone(one)
        one.owner.close()
        one.rig.virtual.faults.inject("torque_stuck", 3)
        one.rig.engine.stop(0)
        one.rig.until(State.FAULT)
        one.watch.look(t + 10.0)
        assert one.watch.orphaned and not one.watch.abandoned
        one.rig.virtual.faults.inject("drop_all", 3)  # of one that is silent for longer than its watchdog nobody knows
        one.rig.run(0.5 * one.rig.config.drives.watchdog)
        assert not one.watch.abandoned
        one.rig.run(one.rig.config.drives.watchdog)
        assert one.watch.abandoned
        one.rig.virtual.faults.clear("drop_all")
        one.rig.run(0.1)
        assert not one.watch.abandoned
        one.rig.virtual.faults.clear()
        one.rig.run(0.1)
        assert one.watch.abandoned


def test_an_engine_that_is_told_to_end_stops_the_drives_first(tmp_path: Path) -> None:
    with watched(tmp_path) as one:
        one.step(beat=True)
        one.watch.leave(signal.SIGTERM, None)
        assert not one.watch.abandoned and one.rig.state is State.RUNNING
        one.step(beat=True)
        assert one.rig.state is State.STOPPING and one.rig.engine.machine.stop is StopSeverity.QUICK_STOP
        steps = 0
        while not one.watch.abandoned:
            one.step(beat=True)
            steps += 1
        assert steps > 1 and not one.rig.status().powered
        assert not any(command.enable and not command.quick_stop for command in one.rig.engine.commands)


def _alone(one: _Watched) -> float:
    """A platform that is held, without a client from now on; the rig time."""
    one.rig.until(State.ENGAGED)
    one.step(beat=True)
    one.give_up()
    one.step(beat=True)
    return one.rig.engine.tick.t


def test_an_owner_that_hangs_holds_torque_no_longer_than_one_that_is_gone(tmp_path: Path) -> None:
    with watched(tmp_path, 0.5) as one:
        t = _alone(one)
        one.watch.look(t + 1.0)
        assert one.rig.engine.runtime_info.hold_left == pytest.approx(29.0)
        one.watch.look(t + 29.9)
        assert one.rig.state is State.ENGAGED
        one.watch.look(t + 30.1)
        assert one.rig.state is State.STOPPING and one.rig.engine.machine.stop is StopSeverity.CATEGORY_1
        cause = one.rig.engine.machine.cause
        assert cause is not None and cause.code is FaultCode.CLIENT_LOST
        assert cause.text == "no client has commanded the engine for 30 s"
        one.rig.until(State.PARKED)
        one.watch.look(t + 40.0)
        assert all(one.rig.virtual.plant.braked(leg) for leg in range(6))
        assert one.rig.engine.runtime_info.hold_left is None
        assert not one.watch.abandoned  # its owner may come back
        one.lease("owner")
        one.rig.run(0.4)
        one.rig.request(Engage())
        one.rig.until(State.ENGAGED)
        one.owner.close()
        one.watch.look(t + 50.0)
        one.give_up()
        one.watch.look(t + 51.0)
        one.watch.look(t + 82.0)
        one.rig.until(State.PARKED)
        one.watch.look(t + 90.0)
        assert one.watch.abandoned


def test_a_hung_owner_is_noticed_in_the_cycles_of_its_hold(tmp_path: Path) -> None:
    config = CONFIG.changed({"safety": {"unattended_hold": 0.5}})
    with ExitStack() as stack, bench(tmp_path, config) as rig:
        rig.engage()
        one = _Watched(rig, stack)
        one.lease("owner")
        one.step(beat=True)
        one.give_up()
        one.step(beat=True)
        cycles = 1
        while rig.state is State.ENGAGED and cycles < config.rate:
            one.step(beat=False)
            cycles += 1
        looks = 0.1 * config.rate  # between two looks after the unattended
        assert 0.5 * config.rate < cycles <= 0.5 * config.rate + looks + 1


def test_who_does_not_hold_the_lease_lengthens_no_hold(tmp_path: Path) -> None:
    with watched(tmp_path, 0.5) as one:
        stranger = one.leases.block.sign(one.leases.holder.number + 1)  # type: ignore[union-attr]
        t = _alone(one)
        former = one.sign
        assert former is not None
        for _ in range(298):  # the one that had the lease, and one that never did
            former.beat()
            stranger.beat()
            one.watch.look(t := t + 0.1)
        assert one.rig.state is State.ENGAGED and one.rig.engine.runtime_info.hold_left == pytest.approx(0.2)
        for _ in range(3):
            former.beat()
            stranger.beat()
            one.watch.look(t := t + 0.1)
        assert one.rig.state is State.STOPPING


def test_the_hold_counts_from_the_last_sign_of_life(tmp_path: Path) -> None:
    with watched(tmp_path, 0.5) as one:
        one.rig.until(State.ENGAGED)
        one.step(beat=True)
        t = one.rig.engine.tick.t
        one.watch.look(t + 0.51)
        assert one.leases.holder is None
        one.rig.run(0.2)
        one.watch.look(t + 29.9)
        assert one.rig.state is State.ENGAGED
        one.watch.look(t + 30.1)
        assert one.rig.state is State.STOPPING


def test_a_stopped_platform_is_not_stopped_again(tmp_path: Path) -> None:
    with watched(tmp_path, 0.5) as one:
        t = _alone(one)
        for seconds in (30.2, 30.4, 30.6, 30.8):
            one.watch.look(t + seconds)
        assert sum("no client has commanded" in text for text in one.rig.tap.texts()) == 1


def test_an_engine_without_torque_ends_with_its_owner_and_client(tmp_path: Path) -> None:
    with ExitStack() as stack, bench(tmp_path) as rig:
        rig.park()
        one = _Watched(rig, stack)
        one.lease("client")
        one.owner.close()
        one.step(beat=True)
        assert rig.tap.texts()[-1].endswith("has ended: without a client the engine ends at once")
        assert not one.watch.abandoned
        one.give_up()
        assert one.watch.abandoned


class _Process:
    """Stands for `ProcessWatch`: a client whose process could have given a sign for so long, s."""

    idle = 0.0

    def __init__(self, pid: int) -> None:
        assert pid == os.getpid()

    def silence(self) -> float:
        return _Process.idle


@pytest.mark.parametrize(
    ("idle", "lost_after"),
    [(0.0, math.inf), (0.4 * CONFIG.safety.heartbeat, math.inf), (0.6 * CONFIG.safety.heartbeat, 1.0), (math.inf, 1.0)],
)
def test_in_paced_time_a_client_that_waits_for_a_processor_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, idle: float, lost_after: float
) -> None:
    monkeypatch.setattr("rig.engine.lease.ProcessWatch", _Process)
    monkeypatch.setattr(_Process, "idle", idle)
    with watched(tmp_path) as one:
        one.watch = Watch(one.rig.engine, one.rig.operator, one.link, one.leases, one.watch.owner, 1.0)  # type: ignore[arg-type]
        one.step(beat=True)
        bound = CONFIG.safety.heartbeat
        begun = one.rig.engine.tick.t
        while one.leases.holder is not None and one.rig.engine.tick.t - begun < 3.0 * bound:
            one.step(beat=False)
        silent = one.rig.engine.tick.t - begun
        assert silent > 3.0 * bound - 0.01 if math.isinf(lost_after) else silent == pytest.approx(bound, abs=0.02)
        one.step(beat=True)
        assert (one.leases.holder is not None) == math.isinf(lost_after)
