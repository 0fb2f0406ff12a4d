"""The app is killed while a motion runs: the engine holds, the recording stays whole, and nothing is left for ever."""

import multiprocessing
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from app_process import run_app
from live_app import live_config
from processes import COMPUTING, offspring
from waiting import eventually

from actuators import Status as DriveStatus
from rig.client.post_mortem import ask_drives
from rig.config.rig_config import RigConfig
from rig.engine import EngineAddress, LinkClient, Snapshot
from rig.engine.drive_lock import claim_drives
from rig.errors import HardwareError
from rig.recording import Recording, open_recording
from rig.states import FaultCode, State

_START = 180.0  # s; the first start on a machine compiles the kernels
_BORNE = 2.0  # s of silence
_HOLD = 4.0 + _BORNE  # s after the last sign of life


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@dataclass
class _Orphans:
    """What a killed app left behind."""

    config: RigConfig
    folder: Path
    address: EngineAddress
    before: Snapshot
    processes: list[int]
    link: LinkClient = field(init=False)

    def __post_init__(self) -> None:
        self.link = LinkClient(self.address.socket)

    @property
    def recording(self) -> Recording:
        (path,) = self.folder.glob("*.mcap")
        return open_recording(path)

    def until_held(self) -> Snapshot:
        eventually(lambda: not self.link.status().lease, "the killed app's lease to be taken back")
        eventually(lambda: self.link.status().state is State.ENGAGED, "the platform to be held")
        return self.link.status()

    def until_gone(self) -> None:
        eventually(lambda: not any(map(_lives, self.processes)), "every process of the app's to end")
        shared = {Path("/dev/shm") / name for name in (self.address.block, self.address.ring, self.address.recorder)}
        assert not [path for path in shared if path.exists()]
        assert not Path(self.address.socket.removeprefix("ipc://")).parent.exists()


@pytest.fixture
def orphans(tmp_path: Path) -> Iterator[_Orphans]:
    """Engine, recorder and virtual rig of an app that was killed while a motion ran."""
    config = live_config(unattended_hold=_HOLD)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    app = context.Process(target=run_app, args=(config, tmp_path, theirs))
    app.start()
    theirs.close()
    processes: list[int] = []
    try:
        assert ours.poll(_START), "the app did not get a motion to run"
        address = ours.recv()
        found = offspring(app.pid or 0)
        processes += found
        others = [name for name in found.values() if not name.startswith(COMPUTING)]
        assert len(others) == 5  # virtual rig, engine, the engine's recorder and motion check, and the heartbeat
        link = LinkClient(address.socket)
        before = link.status()
        link.close()
        assert before.state is State.RUNNING and before.lease == "rig gui"
        os.kill(app.pid or 0, signal.SIGKILL)
        app.join()
        eventually(lambda: sum(map(_lives, processes)) == 4, "the heartbeat, and what computes, to end with the app")
        processes[:] = filter(_lives, processes)
        made = _Orphans(config, tmp_path, address, before, processes)
        yield made
        made.link.close()
    finally:
        ours.close()
        for pid in [app.pid or 0, *processes]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        app.join()


def test_the_engine_holds_and_ends_by_itself_when_nobody_comes(orphans: _Orphans) -> None:
    held = orphans.until_held()
    assert held.paused and held.motion == "long" and held.homed and held.cause == ""
    (lost,) = [event for event in held.events if event.code is FaultCode.CLIENT_LOST]
    assert re.fullmatch(r"client 'rig gui' gave no sign of life for \d+\.\d\d s", lost.text)
    assert all(map(_lives, orphans.processes))

    # it goes on exchanging with drives that hold the legs where they came to rest, none stopped by its watchdog
    eventually(lambda: orphans.link.status().cycles > held.cycles + 100, "the cycle to go on")
    for leg in ask_drives(orphans.config, time.monotonic(), patience=0.1):
        status = leg.seen.status
        assert DriveStatus.ENABLED in status and DriveStatus.STANDSTILL in status, leg.findings
        assert not status & (DriveStatus.WATCHDOG | DriveStatus.FAULT | DriveStatus.BRAKE)
    assert orphans.link.status().reference == held.reference
    with pytest.raises(
        HardwareError, match=r"another engine \(process \d+\) commands the drive .*which is gone; nobody holds"
    ):
        claim_drives(orphans.config)  # as the engine of an app that is started again does
    readable = orphans.recording.rows  # while it is being made
    assert readable["t"][-1] > orphans.before.t

    orphans.until_gone()
    recording = orphans.recording
    rows = recording.rows
    assert recording.complete and recording.dropped == 0 and len(rows) == recording.closing["cycles"]
    assert [event.code for event in recording.events if event.code] == [FaultCode.CLIENT_LOST] * 2  # held, then stopped
    texts = [event.text for event in recording.events]
    assert f"no client has commanded the engine for {_HOLD:g} s" in texts
    assert rows["state"][-1] == State.PARKED and not (rows["drive_status"] & DriveStatus.WATCHDOG).any()
    held_rows = rows[(rows["state"] == State.ENGAGED) & (rows["t"] > lost.t + 1.0)]
    assert held_rows["t"][-1] - held_rows["t"][0] > 0.5 * (_HOLD - _BORNE)
    assert np.ptp(held_rows["length_reference"], axis=0).max() == 0.0
    assert np.ptp(held_rows["length"], axis=0).max() < 1e-4
    stopping = rows[rows["t"] >= lost.t - orphans.config.period]["stop"]
    assert stopping[:3].max() == 1  # category 2 at once
    assert rows["stop"].max() <= 2  # and in the end category 1, which at rest is over within its cycle


def test_an_engine_without_its_app_can_be_ended_by_a_signal(orphans: _Orphans) -> None:
    orphans.until_held()
    (engine,) = [pid for pid in orphans.processes if offspring(pid)]  # the one with children of its own
    os.kill(engine, signal.SIGTERM)
    orphans.until_gone()
    recording = orphans.recording
    assert recording.complete and recording.dropped == 0
    codes = [event.code for event in recording.events if event.code]
    assert codes == [FaultCode.CLIENT_LOST, FaultCode.OPERATOR_STOP]  # the signal stops the platform first
