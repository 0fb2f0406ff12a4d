"""An engine that runs already: found by its drives, described, stopped, commanded by whoever takes the lease."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from engine_support import CONFIG

from rig.config import RigConfig
from rig.engine import ControlBlock, EngineAddress, Home, Status, find_engine
from rig.engine.claim import claim_drives
from rig.engine.link import LinkServer, Submission, socket_address
from rig.engine.messages import Command, Reply
from rig.engine.running import leave_record, own_record
from rig.errors import HardwareError, RefusedError
from rig.lockstep import LockstepRig
from rig.runs import on_free_ports
from rig.runtime import RuntimeFolder
from rig.session import Interruption, LiveRig
from rig.states import State


class StandIn:
    """What an engine leaves for others, without a cycle behind it; owner and engine die as they are told."""

    def __init__(self, config: RigConfig, recording: Path, stack: ExitStack) -> None:
        self.commands: list[Command] = []
        self.owner = stack.enter_context(ExitStack())
        self.folder = RuntimeFolder.create(self.owner)
        stack.callback(self.folder.remove)
        self.engine = stack.enter_context(ExitStack())
        self.engine.enter_context(self.folder.hold("engine"))
        self.engine.enter_context(claim_drives(config))
        self.block = ControlBlock(self.folder.shared("control"), create=True)
        self.engine.callback(self.block.close)
        with LockstepRig(config, recording, Interruption()) as rig:
            self.status = replace(rig.status(), state=State.ENGAGED, hold_left=22.0)
        address = socket_address(self.folder.path)
        self.server = LinkServer(address, self._submit, self._look)
        self.engine.callback(self.server.close)
        self.server.start()
        leave_record(self.folder, own_record(config, recording, EngineAddress(address, self.block.name, "", "")))

    def _submit(self, submission: Submission) -> None:
        self.commands.append(submission.command)
        submission.reply.set_result(Reply(True))

    def _look(self, lease: str) -> Status:
        return replace(self.status, lease=lease, hold_left=None if lease else self.status.hold_left)


@pytest.fixture
def config() -> RigConfig:
    return on_free_ports(CONFIG)


@pytest.fixture
def stand_in(config: RigConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with ExitStack() as stack:
        short = stack.enter_context(tempfile.TemporaryDirectory())  # a socket's path has little room
        monkeypatch.setattr("tempfile.tempdir", short)
        yield StandIn(config, tmp_path / "run.mcap", stack)


def test_an_engine_is_found_by_its_drives_while_it_lives(config: RigConfig, stand_in: StandIn, tmp_path: Path) -> None:
    assert find_engine(on_free_ports(CONFIG)) is None
    legs = on_free_ports(CONFIG).resolved()["drives"]["legs"]
    sharing = config.changed({"drives": {"legs": [*legs[:5], config.resolved()["drives"]["legs"][5]]}})
    for asked in (config, sharing):
        found = find_engine(asked)
        assert found is not None and found.alive and found.pid == os.getpid()
        assert found.recording == tmp_path / "run.mcap" and found.config == config.name
    assert found.owner_alive
    stand_in.owner.close()
    assert not found.owner_alive and found.alive
    assert found.status().hold_left == 22.0
    stand_in.engine.close()
    assert not found.alive and found.join(0.0) and find_engine(config) is None
    with pytest.raises(HardwareError, match="has gone"):
        found.request_stop()
    with pytest.raises(HardwareError, match="has gone"):
        LiveRig(config, found, "late", Interruption())


def test_its_stop_flag_needs_no_lease(config: RigConfig, stand_in: StandIn) -> None:
    found = find_engine(config)
    assert found is not None
    found.request_stop(1)
    assert stand_in.block.take_stop() == 1


def test_who_is_refused_is_told_who_holds_the_drives(config: RigConfig, stand_in: StandIn) -> None:
    stand_in.owner.close()
    with pytest.raises(HardwareError) as refused:
        claim_drives(config)
    text = str(refused.value)
    assert text.startswith(f"leg 1: another engine (process {os.getpid()}) commands the drive at 127.0.0.1:")
    assert "state ENGAGED, started 0 s ago by process 0, which is gone" in text
    assert "nobody holds the command lease and it stops the platform in 22 s" in text
    assert "rig engine end" in text and "rig operate --attach" in text


def test_an_engine_that_does_not_answer_is_said_to(
    config: RigConfig, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rig.engine.running._STATUS_TIMEOUT", 0.05)
    stand_in.server.close()
    with pytest.raises(HardwareError, match="which lives; it does not answer"):
        claim_drives(config)


def test_a_running_engine_is_attached_to_and_left_alone_again(config: RigConfig, stand_in: StandIn) -> None:
    found = find_engine(config)
    assert found is not None
    with LiveRig(config, found, "second", Interruption()) as rig:
        beats = stand_in.block.heartbeat()
        assert rig.status().lease == "second" and stand_in.block.heartbeat() > beats
        assert rig.virtual is None
        rig.request(Home())
        rig.raise_stop_flag(0)
        assert stand_in.block.take_stop() == 0
        with pytest.raises(RefusedError, match="'second' holds the command lease"):
            LiveRig(config, found, "third", Interruption())
    assert stand_in.commands == [Home()] and found.alive


def test_a_record_of_another_version_is_passed_over(config: RigConfig, stand_in: StandIn) -> None:
    (stand_in.folder.path / "engine.json").write_text('{"pid": 1}')
    assert find_engine(config) is None
