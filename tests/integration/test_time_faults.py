"""Faults that are about time, on real processes: in paced time, and with the virtual rig on the wall clock."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from live_bench import live_config, patient_config
from lockstep_bench import motion_table
from waiting import eventually

from actuators import Command, Mode, Status
from rig.client import LiveRig, ask_drives, begin, connect_and_home
from rig.client.lifecycle import engage
from rig.config import RigConfig
from rig.engine import Pause
from rig.engine.devices import make_drive_group
from rig.engine.paced_ticker import PacedTicker
from rig.engine.pacer import Pacer, pace_path
from rig.findings import Code
from rig.recording import open_recording
from rig.states import FaultCode, State
from rig.virtual import VirtualRigProcess

WAIT = 60.0  # s
STILL = 2.5  # s, of the plant's clock
STOPPED = Status.WATCHDOG | Status.BRAKE | Status.STANDSTILL


@pytest.fixture(params=[False, True], ids=["paced", "real time"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveRig]:
    """A live rig on which a motion runs."""
    config = patient_config() if request.param else live_config()
    with LiveRig(config, tmp_path / "run.mcap", "test") as made:
        connect_and_home(made, lambda _progress: None)
        engage(made)
        begin(made, motion_table(config, 60.0), "bench")  # longer than a busy machine makes this test wait
        made.wait(lambda status: status.path_time > 0.7, WAIT, "the motion to run")
        yield made


def plant_time(rig: LiveRig) -> float:
    assert rig.virtual is not None
    return rig.virtual.look().time


def test_a_frozen_engine_is_stopped_by_the_drives_and_finds_its_cycles_missed(rig: LiveRig, tmp_path: Path) -> None:
    pid, before = rig.engine.pid or 0, plant_time(rig)
    os.kill(pid, signal.SIGSTOP)
    try:
        eventually(lambda: plant_time(rig) > before + STILL, "the plant to go on by itself")
    finally:
        os.kill(pid, signal.SIGCONT)
    status = rig.wait(lambda now: now.state is State.FAULT, WAIT, "the fault")
    assert status.latched and status.overruns >= 0.5 * STILL * rig.config.rate
    rig.close()
    rows = open_recording(tmp_path / "run.mcap").rows
    codes = {event.code for event in open_recording(tmp_path / "run.mcap").events}
    assert codes & {FaultCode.HOST_SUSPENDED, FaultCode.DRIVE_WATCHDOG}
    assert np.diff(rows["t"]).max() > 0.5 * STILL  # skipped, not caught up
    assert not (rows["drive_status"][-1] & Status.ENABLED).any()


def test_the_drives_of_a_killed_engine_stop_by_their_own_watchdogs(rig: LiveRig, tmp_path: Path) -> None:
    os.kill(rig.engine.pid or 0, signal.SIGKILL)
    killed = plant_time(rig)
    eventually(lambda: plant_time(rig) > killed + STILL, "the plant to go on by itself")
    eventually(lambda: open_recording(tmp_path / "run.mcap").complete, "the recorder to close the recording")
    lengths = open_recording(tmp_path / "run.mcap").rows["length"][-1]
    for leg in ask_drives(rig.config, 0.0, lengths, patience=30.0):
        assert leg.safe and [found.code for found in leg.findings] == [
            Code.WATCHDOG_STOPPED,
            Code.BRAKE_ON,
            Code.STANDSTILL,
        ]


def test_a_host_that_is_not_heard_is_stopped_by_the_drives(rig: LiveRig) -> None:
    assert rig.virtual is not None
    rig.request(Pause())  # in motion, drives that keep their last force may need too much of it before
    rig.wait(lambda now: now.state is State.ENGAGED, WAIT, "the platform to be held")
    rig.virtual.inject("drop_all")
    status = rig.wait(lambda now: now.state is State.FAULT, WAIT, "the fault")
    assert status.cause_code is FaultCode.COMMUNICATION_LOST and status.latched
    rig.virtual.clear()
    eventually(lambda: _all_stopped(rig.config), "the drives to be stopped by their watchdogs")


def test_a_reply_delayed_beyond_its_deadline_is_stale(rig: LiveRig, tmp_path: Path) -> None:
    assert rig.virtual is not None
    rig.request(Pause())  # in motion, a leg that keeps its last force may follow badly before
    rig.wait(lambda now: now.state is State.ENGAGED, WAIT, "the platform to be held")
    rig.virtual.inject("delay", 3, 10.0 * rig.config.period)
    status = rig.wait(lambda now: now.state is State.FAULT, WAIT, "the fault")
    late = (FaultCode.COMMUNICATION_LOST, FaultCode.COMMUNICATION_DISTURBED)  # whichever bound is reached first
    assert status.cause_code in late and "leg 3" in status.cause
    rig.close()
    stale = open_recording(tmp_path / "run.mcap").rows["stale"]
    assert rig.config.virtual is not None
    if status.cause_code is FaultCode.COMMUNICATION_LOST:
        assert stale[:, 2].max() >= rig.config.stale_time * rig.config.rate - 1
    if not rig.config.virtual.real_time:  # nobody else was late, however busy the machine
        assert np.delete(stale, 2, axis=1).max() == 0


def _all_stopped(config: RigConfig) -> bool:
    """Whether all six drives are, as a Modbus client of no engine's reads them."""
    drives = make_drive_group(config)
    with suppress(Exception):
        drives.connect(2.0)
    try:
        return bool(drives.all(STOPPED)) and not drives.any(Status.ENABLED)
    finally:
        drives.close()


def pace_and_hang(config: RigConfig, pipe: Connection) -> None:
    """Stands for an engine that commands its drives for a while, and then lives on without a sign."""
    pacer = Pacer(pace_path(config))
    drives = make_drive_group(config, pacer=pacer)
    drives.connect(2.0)
    ticker = PacedTicker(config.period, pacer, 20.0)
    ticker.begin()
    for _ in range(100):
        ticker.next()
        drives.exchange([Command(Mode.HOMING, enable=True)] * 6, ticker.now(), 0.6 * config.period)
    assert drives.all(Status.ENABLED) and drives.fresh.all()
    pipe.send(ticker.now())
    pipe.recv()
    ticker.next()
    pipe.send((ticker.now(), ticker.next().overruns))


def test_the_drives_of_an_engine_that_hangs_stop_by_their_own_watchdogs() -> None:
    config = live_config()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=pace_and_hang, args=(config, theirs), daemon=True)
    with VirtualRigProcess(config) as virtual:
        process.start()
        theirs.close()
        try:
            assert ours.poll(WAIT)
            last = ours.recv()
            eventually(lambda: virtual.look().time > last + STILL, "the plant to go on by itself")
            assert process.is_alive()
            there = virtual.look().time
            eventually(lambda: _all_stopped(config), "the drives to be stopped by their watchdogs")
            ours.send("go on")
            assert ours.poll(WAIT)
            back, overruns = ours.recv()
            assert back >= there and overruns >= 0.5 * STILL * config.rate
        finally:
            process.kill()
            process.join()
            ours.close()
