"""An engine that runs already: found by its drives, described, stopped, commanded by whoever takes the lease."""

import os
from pathlib import Path

import pytest
from engine_stand_in import StandIn
from engine_support import CONFIG
from waiting import eventually

from rig.client import on_free_ports
from rig.client.interruption import Interruption
from rig.client.live import LiveRig
from rig.config.rig_config import RigConfig
from rig.engine import Home, find_engine
from rig.engine.drive_lock import claim_drives
from rig.errors import HardwareError, RefusedError


def test_an_engine_is_found_by_its_drives_while_it_lives(
    free_config: RigConfig, stand_in: StandIn, tmp_path: Path
) -> None:
    assert find_engine(on_free_ports(CONFIG)) is None
    legs = on_free_ports(CONFIG).resolved()["drives"]["legs"]
    sharing = free_config.changed({"drives": {"legs": [*legs[:5], free_config.resolved()["drives"]["legs"][5]]}})
    for asked in (free_config, sharing):
        engine = find_engine(asked)
        assert engine is not None and engine.alive and engine.pid == os.getpid()
        assert engine.recording == tmp_path / "run.mcap" and engine.config == free_config.name
    found = find_engine(free_config)
    assert found is not None
    assert found.owner_alive
    stand_in.owner.close()
    assert not found.owner_alive and found.alive
    assert found.status().hold_left == 22.0
    stand_in.engine.close()
    assert not found.alive and found.join(0.0) and find_engine(free_config) is None
    with pytest.raises(HardwareError, match="has ended"):
        found.request_stop()
    with pytest.raises(HardwareError, match="has ended"):
        LiveRig(free_config, found, "late", Interruption())


def test_its_stop_flag_needs_no_lease(free_config: RigConfig, stand_in: StandIn) -> None:
    found = find_engine(free_config)
    assert found is not None
    found.request_stop(1)
    assert stand_in.block.take_stop() == 1


def test_who_is_refused_is_told_who_holds_the_drives(free_config: RigConfig, stand_in: StandIn) -> None:
    stand_in.owner.close()
    with pytest.raises(HardwareError) as refused:
        claim_drives(free_config)
    text = str(refused.value)
    assert text.startswith(f"leg 1: another engine (process {os.getpid()}) commands the drive at 127.0.0.1:")
    assert "state ENGAGED, started 0 s ago by process 0, which is gone" in text
    assert "nobody holds the command lease and it stops the platform in 22 s" in text
    assert "rig engine end" in text and "rig operate --attach" in text


def test_an_engine_that_does_not_answer_is_said_to(
    free_config: RigConfig, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rig.engine.engine_discovery._STATUS_TIMEOUT", 0.05)
    stand_in.server.close()
    with pytest.raises(HardwareError, match="which lives; it does not answer"):
        claim_drives(free_config)


def test_a_running_engine_is_attached_to_and_left_alone_again(free_config: RigConfig, stand_in: StandIn) -> None:
    found = find_engine(free_config)
    assert found is not None
    with LiveRig(free_config, found, "second", Interruption()) as rig:
        assert rig.status().lease == "second"
        beats = stand_in.beats()
        eventually(lambda: stand_in.beats() > beats, "a beat of its own")
        assert rig.virtual is None
        rig.request(Home())
        rig.raise_stop_flag(0)
        assert stand_in.block.take_stop() == 0
        with pytest.raises(RefusedError, match="'second' holds the command lease"):
            LiveRig(free_config, found, "third", Interruption())
    assert stand_in.commands == [Home()] and found.alive


def test_a_record_of_another_version_is_passed_over(free_config: RigConfig, stand_in: StandIn) -> None:
    (stand_in.folder.path / "engine.json").write_text('{"pid": 1}')
    assert find_engine(free_config) is None
