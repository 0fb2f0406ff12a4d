"""The control link and the shared control block."""

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zmq

from rig.engine.lease import Leases
from rig.engine.link import LinkClient, LinkServer, Submission
from rig.engine.messages import (
    REPLY,
    Connect,
    Engage,
    Follow,
    Home,
    MoveLeg,
    Park,
    Pause,
    Release,
    Reply,
    Resume,
    Shutdown,
    Stop,
)
from rig.engine.snapshot import Snapshot
from rig.errors import HardwareError, InputError, RefusedError
from rig.findings import Finding
from rig.runtime import shared_memory, wait_until
from rig.runtime.shared_memory import ControlBlock, SharedMemoryError
from rig.states import State, StopSeverity

PATIENCE = 10.0  # s, of waits that end as soon as the other side has done its part


def a_status(lease: str) -> Snapshot:
    return Snapshot(
        state=State.PARKED, stop=StopSeverity.NONE, t=0.5, finding=None, cause_t=0.0,
        latched=False, homed=True, paused=False, lease=lease, motion="", path_time=0.0, path_duration=1.0,
        reference=(0.0,) * 7, cycles=3, overruns=0, rate=500.0, virtual=True, realtime=(), recording="", rows=2,
        dropped=0, recording_fault="", ring="r",
    )  # fmt: skip


class Desk:
    """A served link whose other end is the test."""

    def __init__(self, folder: Path, answer: Callable[[Submission], None] | None = None) -> None:
        self.address = f"ipc://{folder}/control.sock"
        self.submissions: list[Submission] = []
        self._answer = answer or (lambda submission: submission.reply.set_result(Reply(True)))
        self.stack = ExitStack()
        block = ControlBlock.create()
        self.stack.callback(block.close)
        self.leases = Leases(block)
        self.server = LinkServer(self.address, self._submit, a_status, self.leases)
        self.server.start()

    def _submit(self, submission: Submission) -> None:
        self.submissions.append(submission)
        self._answer(submission)

    def client(self, timeout: float = PATIENCE, beat: Callable[[], None] | None = None) -> LinkClient:
        client = LinkClient(self.address, timeout, beat)
        self.stack.callback(client.close)
        return client

    def raw(self) -> "zmq.Socket[bytes]":
        context = self.stack.enter_context(zmq.Context())
        return self.stack.enter_context(context.socket(zmq.DEALER))


@contextmanager
def desk(folder: Path, answer: Callable[[Submission], None] | None = None) -> Iterator[Desk]:
    made = Desk(folder, answer)
    try:
        yield made
    finally:
        made.stack.close()
        made.server.close()
        made.server.close()


def test_one_client_holds_the_lease_and_the_others_only_stop_and_look(tmp_path: Path) -> None:
    with desk(tmp_path) as served:
        first, second = served.client(), served.client()
        first.acquire("first")
        assert second.status().lease == "first" == served.leases.client
        with pytest.raises(RefusedError, match="'first' holds the command lease"):
            second.acquire("second")
        for command in (Connect(), Home(), Engage(), Pause(), Resume(), Release()):
            with pytest.raises(RefusedError, match=rf"^{command.kind}: needs the command lease; 'first' holds it$"):
                second.request(command)
        with pytest.raises(RefusedError, match="needs the command lease"):
            second.request(Follow("x", 0.01), np.zeros((3, 18)))
        assert served.submissions == []
        second.request(Stop(0))
        first.request(Home())
        assert [one.command for one in served.submissions] == [Stop(0), Home()]
        first.request(Release())
        with pytest.raises(RefusedError, match="acquire it first"):
            first.request(Home())
        second.acquire("second")
        with pytest.raises(RefusedError, match="'second' holds it"):
            first.request(Home())  # an old token opens nothing
        served.leases.end(served.leases.holder)
        with pytest.raises(RefusedError, match="acquire it first"):
            second.request(Home())
        assert len(served.submissions) == 2


def test_a_refusal_reaches_the_client_with_its_reason(tmp_path: Path) -> None:
    with desk(tmp_path, lambda one: one.reply.set_result(Reply(False, Finding.of_text("home: not now")))) as served:
        client = served.client()
        client.acquire("me")
        with pytest.raises(RefusedError, match=r"^home: not now$"):
            client.request(Home())


def test_a_motion_arrives_as_it_was_sent(tmp_path: Path) -> None:
    samples = np.random.default_rng(1).normal(size=(40, 18))
    with desk(tmp_path) as served:
        client = served.client()
        client.acquire("me")
        client.request(Follow("m", 0.25), np.asfortranarray(samples))
        (one,) = served.submissions
        assert one.command == Follow("m", 0.25) and one.samples is not None
        np.testing.assert_array_equal(one.samples, samples)


A_MOTION = (Follow("long", 0.1), np.zeros((2, 18)))


@pytest.mark.parametrize(
    "checked", [A_MOTION, (Park(),), (MoveLeg(3, 2e-3, 5e-3),)], ids=["follow", "park", "move-leg"]
)
def test_a_stop_overtakes_what_is_checked(tmp_path: Path, checked: tuple[Any, ...]) -> None:
    """A motion, the way home, the move of a leg."""
    checking, stopped = threading.Event(), threading.Event()

    def answer(submission: Submission) -> None:
        if submission.command == checked[0]:
            checking.set()
            assert stopped.wait(PATIENCE)
        submission.reply.set_result(Reply(True))

    with desk(tmp_path, answer) as served:
        holder, other = served.client(), served.client()
        holder.acquire("holder")
        follow = threading.Thread(target=holder.request, args=checked)
        follow.start()
        assert checking.wait(PATIENCE)
        other.request(Stop(1))
        assert other.status().state is State.PARKED
        stopped.set()
        follow.join(PATIENCE)
        assert not follow.is_alive()


def test_what_waits_for_another_check_was_asked_for_before_the_stops_meanwhile(tmp_path: Path) -> None:
    checking, stopped = threading.Event(), threading.Event()

    def answer(submission: Submission) -> None:
        if isinstance(submission.command, Follow):
            checking.set()
            assert stopped.wait(PATIENCE)
        submission.reply.set_result(Reply(True))

    with desk(tmp_path, answer) as served:
        stops = 4
        looks: list[str] = []

        def status(lease: str) -> Snapshot:  # asked as a command that is checked comes in
            looks.append(lease)
            return replace(a_status(lease), stops=stops)

        served.server._status = status
        holder, again, other = served.client(), served.client(), served.client()
        holder.acquire("holder")
        again._token = holder._token
        asking = [threading.Thread(target=one.request, args=A_MOTION) for one in (holder, again)]
        asking[0].start()
        assert checking.wait(PATIENCE)
        before = len(looks)
        asking[1].start()
        assert wait_until(lambda: len(looks) > before, PATIENCE)
        other.request(Stop(1))
        stops = 5
        stopped.set()
        for thread in asking:
            thread.join(PATIENCE)
        assert [(one.command.kind, one.stops) for one in served.submissions] == [
            ("follow", 4), ("stop", None), ("follow", 4)
        ]  # fmt: skip


def test_a_check_that_fails_is_a_refusal(tmp_path: Path) -> None:
    def answer(_submission: Submission) -> None:
        raise ZeroDivisionError("in the check")

    with desk(tmp_path, answer) as served:
        client = served.client()
        client.acquire("me")
        with pytest.raises(RefusedError, match="follow: ZeroDivisionError: in the check"):
            client.request(Follow("m", 0.1), np.zeros((2, 18)))
        assert served.server.alive


GARBAGE = [
    [],
    [b""],
    [b"\xff\x00\xfe"],
    [b"{}"],
    [b'{"number": 1, "token": "", "request": {"kind": "no such"}}'],
    [b'{"number": "x", "token": "", "request": {"kind": "stop"}}'],
    [b'{"number": 1, "token": "", "request": {"kind": "stop", "category": 7}}'],
    [b'{"number": 1, "token": "", "request": {"kind": "follow", "name": "a", "step": NaN}}', b"12"],
    [b'{"number": 1, "token": "", "request": {"kind": "follow", "name": "a", "step": -1}}'],
    [b"[" * 100_000],
]


@pytest.mark.parametrize(
    "name", ["", " \t", "x" * 256, "x" * 100_000, "\x1b[2Jx", "bell\x07", "two\nlines", "\x9b31m", "\u202ex"]
)
def test_a_name_that_is_none_is_refused_without_an_echo(tmp_path: Path, name: str) -> None:
    with desk(tmp_path) as served:
        client = served.client()
        with pytest.raises(InputError, match=r"^client: "):
            client.acquire(name)
        client.acquire("me")
        with pytest.raises(InputError, match=r"^name of the motion: "):
            client.request(Follow(name, 0.1), np.zeros((2, 18)))
        raw = served.raw()
        raw.connect(served.address)
        acquire = {"kind": "acquire", "client": name}
        follow = {"kind": "follow", "name": name, "step": 0.1}
        unknown = {"kind": name, name: 1}
        for number, request in enumerate((acquire, follow, unknown)):
            raw.send(json.dumps({"number": number, "token": "", "request": request}).encode())
            assert raw.poll(round(1000 * PATIENCE))
            answered, reply = raw.recv_multipart()
            said = json.loads(reply)
            assert int(answered) == number and not said["accepted"] and len(json.dumps(said["finding"])) < 1000
            assert not any(letter in REPLY.validate_python(said).reason for letter in "\x1b\x07\x9b\u202e")
        assert served.leases.client == "me" and served.submissions == []


def test_a_refusal_is_no_longer_than_can_be_read(tmp_path: Path) -> None:
    with desk(
        tmp_path, lambda one: one.reply.set_result(Reply(False, Finding.of_text("home: " + "x" * 100_256)))
    ) as served:
        client = served.client()
        client.acquire("me")
        with pytest.raises(RefusedError, match=r"^home: xxx.* characters left out .*x$") as refused:
            client.request(Home())
        assert len(str(refused.value)) < 5000


def test_garbage_is_ignored(tmp_path: Path) -> None:
    with desk(tmp_path) as served:
        stranger, client = served.raw(), served.client()
        stranger.connect(served.address)
        for parts in GARBAGE:
            stranger.send_multipart(parts or [b""])
        client.acquire("me")
        assert client.status().lease == "me"
        assert served.submissions == [] and served.server.alive
        while stranger.poll(0):  # what is numbered is told why it is refused
            assert not json.loads(stranger.recv_multipart()[1])["accepted"]


def test_bytes_that_are_no_rows_are_refused(tmp_path: Path) -> None:
    with desk(tmp_path) as served:
        client, stranger = served.client(), served.raw()
        stranger.connect(served.address)
        client.acquire("me")
        envelope = {"number": 9, "token": client._token, "request": {"kind": "follow", "name": "a", "step": 0.1}}
        stranger.send_multipart([json.dumps(envelope).encode(), b"x" * 145])
        assert stranger.poll(int(PATIENCE * 1000))
        number, reply = stranger.recv_multipart()
        assert int(number) == 9 and REPLY.validate_json(reply).reason == "follow: 145 bytes are not rows of 18 float64"
        assert served.submissions == []


def test_a_table_that_is_none_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    """Eighteen rows of 17 are as many bytes as seventeen rows of 18."""
    with desk(tmp_path) as served:
        client = served.client()
        client.acquire("me")
        with pytest.raises(RefusedError, match=r"follow: a table of shape \(18, 17\), must be \(n, 18\)"):
            client.request(Follow("a", 0.1), np.zeros((18, 17)))
        with pytest.raises(RefusedError, match=r"follow: the table is not finite at \[3, 1\]"):
            client.request(Follow("a", 0.1), np.where(np.arange(18 * 17).reshape(18, 17) == 52, np.nan, 0.0))
        assert served.submissions == []


def test_an_engine_that_is_gone_is_reported(tmp_path: Path) -> None:
    client = LinkClient(f"ipc://{tmp_path}/nobody.sock", 0.02)
    with pytest.raises(HardwareError, match=r"did not answer a 'status' request within 0.02 s"):
        client.status()
    client.close()
    client.close()


def test_a_late_reply_answers_no_other_request(tmp_path: Path) -> None:
    held: list[Future[Reply]] = []

    def answer(submission: Submission) -> None:
        if isinstance(submission.command, Home):
            held.append(submission.reply)
        else:
            held[0].set_result(Reply(False, Finding.of_text("home: too late")))
            submission.reply.set_result(Reply(True))

    with desk(tmp_path, answer) as served:
        client = served.client()
        client.acquire("me")
        client._timeout = 0.02
        with pytest.raises(HardwareError, match="'home'"):
            client.request(Home())
        client._timeout = PATIENCE
        client.request(Pause())
        assert client.status().lease == "me"


@pytest.mark.parametrize("answered", [True, False])
def test_an_engine_that_ends_as_it_answers_has_answered(tmp_path: Path, answered: bool) -> None:
    with zmq.Context() as context, context.socket(zmq.ROUTER) as engine:
        engine.bind(f"ipc://{tmp_path}/control.sock")

        def beat() -> None:
            assert engine.poll(int(1000 * PATIENCE))
            sender, envelope = engine.recv_multipart()
            number = str(json.loads(envelope)["number"]).encode()
            if answered:
                engine.send_multipart([sender, number, b'{"accepted": true, "reason": ""}'])
            raise HardwareError("the engine has died")

        outcome = nullcontext() if answered else pytest.raises(HardwareError, match="has died")
        with closing(LinkClient(f"ipc://{tmp_path}/control.sock", PATIENCE, beat)) as client, outcome:
            client.request(Shutdown())


def test_half_a_reply_that_an_interrupt_left_is_passed_over(tmp_path: Path) -> None:
    with desk(tmp_path) as served:
        client = served.client()
        client.acquire("me")
        client._socket.send_multipart([b'{"number": 9, "token": "", "request": {"kind": "status"}}'])
        assert client._socket.recv() == b"9" and client._socket.getsockopt(zmq.RCVMORE)
        assert client.status().lease == "me"


def test_a_waiting_client_shows_that_it_lives(tmp_path: Path) -> None:
    enough = threading.Event()
    beats = itertools.count(1)

    def beat() -> None:
        if next(beats) == 3:
            enough.set()

    def answer(submission: Submission) -> None:
        assert enough.wait(PATIENCE)
        submission.reply.set_result(Reply(True))

    with desk(tmp_path, answer) as served:
        client = served.client(PATIENCE, beat)
        client.acquire("me")
        client.request(Home())
        assert enough.is_set()


def test_an_address_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    block = ControlBlock.create()
    with pytest.raises(HardwareError, match="control link ipc://"):
        LinkServer(f"ipc://{tmp_path}/{'long' * 60}", lambda _submission: None, a_status, Leases(block))
    block.close()


# -- control block ---------------------------------------------------------------------------------------------------


def test_the_more_severe_of_two_stop_requests_counts() -> None:
    engine = ControlBlock.create()
    client = ControlBlock.attach(engine.name)
    try:
        assert engine.take_stop() is None
        for first, second, expected in ((2, 2, 2), (2, 1, 1), (1, 0, 0), (0, 2, 0), (0, 1, 0)):
            client.request_stop(first)  # type: ignore[arg-type]
            client.request_stop(second)  # type: ignore[arg-type]
            assert engine.take_stop() == expected
            assert engine.take_stop() is None
    finally:
        client.close()
        client.close()
        engine.close()
        engine.close()
    with pytest.raises(SharedMemoryError, match="no such shared memory"):
        ControlBlock.attach(engine.name)


def test_only_the_holder_of_the_lease_is_heard() -> None:
    block = ControlBlock.create()
    client = ControlBlock.attach(block.name)
    try:
        early, first, second = (client.sign(number) for number in (7, 8, 9))
        early.beat()
        early.hold()
        assert not early.active and block.heartbeat(7) == block.hold_count(7) == 0
        block.lease = 8
        for count in (1, 2, 3):
            first.beat()
            first.hold()
            second.beat()  # before it has the lease
            assert (block.heartbeat(8), block.hold_count(8), block.heartbeat(9)) == (count, count, 0)
        first.let_go()
        assert (block.heartbeat(8), block.hold_count(8)) == (3, 0)
        block.lease = 9
        second.beat()
        second.hold()
        for _ in range(3):  # it wakes, and has lost it
            first.beat()
            first.hold()
            first.let_go()
        assert not first.active and second.active
        assert (block.heartbeat(9), block.hold_count(9), block.heartbeat(8)) == (4, 1, 0)
        shared_memory._COUNT.pack_into(client._bytes, shared_memory._BEAT_AT, 8, 5)  # stopped right before, it woke now
        assert block.heartbeat(9) == 0
        second.beat()
        assert block.heartbeat(9) == 5
        assert block.take_stop() is None  # nothing shares a byte
    finally:
        client.close()
        block.close()


def test_a_heartbeat_wraps_past_what_would_be_none() -> None:
    block = ControlBlock.create()
    try:
        block.lease = 5
        sign = block.sign(5)
        sign._beats = sign._holds = (1 << 64) - 1
        sign.beat()
        sign.hold()
        assert (block.heartbeat(5), block.hold_count(5)) == (1, 1)
    finally:
        block.close()
