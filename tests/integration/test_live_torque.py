"""The end of a real engine while a drive reports torque: neither a signal nor its owner's leaving ends it."""

import os
import signal
from pathlib import Path

import pytest
from live_bench import live_config
from waiting import eventually

from actuators import Status
from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.engine import RunningEngine, find_engine
from rig.engine.messages import Connect, Engage, Home, Shutdown
from rig.errors import RefusedError
from rig.recording import open_recording
from rig.states import FaultCode, State
from rig.virtual import VirtualRigProcess

LEG = 3
WAIT = 60.0  # s


def test_an_engine_goes_on_until_no_drive_reports_torque(tmp_path: Path) -> None:
    config = live_config()
    with VirtualRigProcess(config) as virtual:
        with LiveRig(config, tmp_path / "run.mcap", "first", Interruption(), serve=False) as rig:
            virtual.notify(rig.engine.address.socket)
            rig.request(Connect())
            virtual.inject("torque_stuck", LEG)
            rig.wait(lambda status: status.state is State.FAULT, WAIT, "the fault")
            with pytest.raises(RefusedError, match=f"leg {LEG}: the drive still has torque"):
                rig.request(Shutdown())
            pid = rig.engine.pid
            assert pid is not None
            os.kill(pid, signal.SIGTERM)
            rig.wait(lambda status: "asked to end" in status.events[-1].text, WAIT, "the engine to hear it")
        left = find_engine(config)  # nobody owns it any more
        assert isinstance(left, RunningEngine) and left.pid == pid
        before = left.status()
        assert before.powered == (LEG,)
        eventually(lambda: left.status().rows > before.rows, "rows of an engine that nobody owns")
        virtual.clear("torque_stuck", LEG)
        assert left.join(WAIT)
    recording = open_recording(tmp_path / "run.mcap")
    assert recording.complete and recording.rows["state"][-1] == State.FAULT


def test_a_signal_stops_the_drives_before_the_engine_ends(tmp_path: Path) -> None:
    with LiveRig(live_config(), tmp_path / "run.mcap", "first", Interruption()) as rig:
        rig.request(Connect())
        rig.request(Home())
        rig.wait(lambda status: status.state is State.PARKED and status.settled > 0.3, WAIT, "home")
        rig.request(Engage())
        rig.wait(lambda status: status.state is State.ENGAGED, WAIT, "torque")
        assert rig.engine.pid is not None
        os.kill(rig.engine.pid, signal.SIGTERM)
        assert rig.engine.join(WAIT)
    recording = open_recording(tmp_path / "run.mcap")
    assert recording.complete and not (recording.rows["drive_status"][-1] & Status.ENABLED).any()
    assert [event.code for event in recording.events if event.code] == [FaultCode.OPERATOR_STOP]
