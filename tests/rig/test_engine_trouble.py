"""What comes late, hangs or breaks in the engine: checks, motions that nobody waits for any more, requests, Ctrl-C."""

import os
import signal
from pathlib import Path

import pytest
from engine_support import CONFIG, bench, smooth_table

from rig.client.interruption import Interruption
from rig.client.lifecycle import bring_to_rest
from rig.engine import checking
from rig.engine.checking import MotionChecker
from rig.engine.lease import Leases
from rig.engine.link import LinkClient, LinkServer, Submission
from rig.engine.messages import Follow, Home, Reply, Stop
from rig.engine.snapshot import Snapshot
from rig.errors import HardwareError, RefusedError
from rig.runtime import ControlBlock
from rig.states import FaultCode, State


def test_a_check_that_hangs_is_ended_and_its_answer_taken_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "CHECK_TIMEOUT", 0.2)
    checker = MotionChecker(CONFIG)
    try:
        checker.wait_ready()
        table = smooth_table(step=4e-3)  # what a pipe takes whose other end does not read
        assert checker.check(table) is None
        os.kill(checker._process.pid or 0, signal.SIGSTOP)
        with pytest.raises(HardwareError, match=r"longer than 0\.2 s: disconnect and connect again"):
            checker.check(table)
        assert not checker._process.alive
        with pytest.raises(HardwareError, match="has died: disconnect and connect again"):
            checker.check(table)
    finally:
        checker.close()


def test_a_motion_is_not_begun_that_was_stopped_while_it_was_checked(tmp_path: Path) -> None:
    table = smooth_table()
    with bench(tmp_path) as rig:
        rig.engage()

        def slow(_table: object) -> None:
            rig.engine.stop(2)
            rig.until(State.ENGAGED)

        rig.operator._check = slow
        reply = rig.submit(Follow("late", table.step), table.samples)
        rig.run(0.1)
        assert reply.result(0).reason == "follow: the rig was stopped meanwhile"
        assert rig.state is State.ENGAGED and not rig.status().motion


def test_a_request_that_breaks_is_refused_and_stop_goes_on_being_served(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    taken: list[Submission] = []

    def submit(submission: Submission) -> None:
        if isinstance(submission.command, Home):
            raise ValueError("broken")
        taken.append(submission)
        submission.reply.set_result(Reply(True))

    def status(_lease: str) -> Snapshot:
        raise ValueError("unreadable")

    address = f"ipc://{tmp_path}/control.sock"
    block = ControlBlock.create()
    server = LinkServer(address, submit, status, Leases(block))
    client = LinkClient(address, timeout=0.3)
    try:
        server.start()
        client.acquire("test")
        with pytest.raises(RefusedError, match="home: ValueError: broken"):
            client.request(Home())
        with pytest.raises(HardwareError, match="did not answer a 'status' request"):
            client.status()
        client.request(Stop(1))
        assert [one.command for one in taken] == [Stop(1)] and server.alive
    finally:
        client.close()
        server.close()
        block.close()
    assert "ValueError: broken" in capfd.readouterr().err


def test_the_first_ctrl_c_during_a_stop_waits_for_its_end(tmp_path: Path) -> None:
    table = smooth_table(2.0)
    with bench(tmp_path) as rig:
        rig.engage()
        rig.follow(table)
        rig.run(0.7)
        interruption: Interruption = rig._interruption
        interruption.count = 1
        bring_to_rest(rig)
        assert rig.state is State.OFF
        stops = [event.text for event in rig.tap.events if event.code is FaultCode.OPERATOR_STOP]
        assert stops == ["operator's stop, category 1"]
