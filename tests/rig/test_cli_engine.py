"""`rig engine` and `rig operate --attach`: an engine that another process started."""

import io
import json
import os
from dataclasses import replace

import pytest
from engine_stand_in import StandIn

from rig.cli import main
from rig.client.live import LiveRig
from rig.config.rig_config import RigConfig
from rig.engine import Abandon, Disconnect, Park, Shutdown, Stop, find_engine
from rig.errors import ExitCode


@pytest.fixture(autouse=True)
def _configured(free_config: RigConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.config.load_config", lambda _name: free_config)


def test_what_is_known_of_it_is_said(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "status"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith(f"process    {os.getpid()}: state ENGAGED, started 0 s ago")
    assert "nobody holds the command lease and it stops the platform in 22 s\nrecording  " in out
    stand_in.owner.close()
    assert main(["engine", "status", "--json"]) == ExitCode.OK
    engine = json.loads(capsys.readouterr().out)["engine"]
    assert (engine["pid"], engine["owner_alive"], engine["state"]) == (os.getpid(), False, "ENGAGED")
    assert (engine["lease"], engine["seconds_left"]) == ("", 22.0)
    assert (engine["recording_fault"], engine["recording_room_s"]) == ("", None)
    stand_in.server.close()
    assert main(["engine", "status", "--json"]) == ExitCode.OK
    assert "did not answer" in json.loads(capsys.readouterr().out)["engine"]["error"]
    assert main(["engine", "end"]) == ExitCode.HARDWARE
    assert f"`kill -9 {os.getpid()}` ends it" in capsys.readouterr().err


def test_it_is_stopped_without_the_lease_and_goes_on(
    stand_in: StandIn, free_config: RigConfig, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = find_engine(free_config)
    assert engine is not None
    with LiveRig(free_config, engine, "another", beating=False):
        beats = stand_in.beats()
        assert main(["engine", "stop", "--category", "0"]) == ExitCode.OK
        assert stand_in.beats() == beats  # whoever holds the lease must beat by himself
        assert main(["engine", "end"]) == ExitCode.REFUSED
    assert stand_in.block.take_stop() == 0 and stand_in.commands == [Stop(0)] and engine.alive
    printed = capsys.readouterr()
    assert printed.out == "stopped: state PARKED\n"
    assert printed.err == "error: acquire: 'another' holds the command lease\n"


def test_it_is_brought_to_rest_and_ended(stand_in: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "end"]) == ExitCode.OK
    assert stand_in.commands == [Stop(1), Disconnect(), Shutdown()]
    assert capsys.readouterr().out.startswith("ended; recording ")
    assert main(["engine", "status"]) == ExitCode.OK
    assert capsys.readouterr().out == "no engine of yours commands 'virtual'\n"


def test_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "status", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"engine": None}
    for arguments in (["engine", "stop"], ["engine", "end"], ["operate", "--attach"]):
        assert main(arguments) == ExitCode.HARDWARE
        assert capsys.readouterr().err == "error: no engine of yours commands 'virtual'\n"


def test_it_is_taken_over_step_by_step(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("status\nabandon\npark\ninject payload\n"))
    stand_in.status = replace(stand_in.status, paused=True, homed=True)
    assert main(["operate", "--attach", "--rate", "100"]) == ExitCode.INPUT
    assert main(["operate", "--attach"]) == ExitCode.REFUSED
    printed = capsys.readouterr()
    assert "state      ENGAGED" in printed.out
    assert "line 4: the virtual rig belongs to the process that started" in printed.err
    assert stand_in.commands[:2] == [Abandon(), Park()]
    assert stand_in.commands[2:] == [Stop(1), Disconnect(), Shutdown()]  # the script has ended by an error
