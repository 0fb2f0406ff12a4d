"""The receiver over real sockets: what a sender sends comes to the ring, and what the rig does goes back to it."""

import json
import os
import select
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from stream_sender import KEY, check_accounts, circle, point
from synthetic_rows import make_rows
from waiting import eventually

from dynamics import load_mechanism, wrench_from_residual
from rig.config import ReceiverOptions
from rig.errors import HardwareError, InputError
from rig.runtime import ChildDiedError, ManualClock, TelemetryRing
from rig.streaming import (
    END,
    FEEDBACK_SIZE,
    VELOCITY,
    Feedback,
    ReceiverLoop,
    RigSide,
    SampleRing,
    SetPoint,
    StreamReceiver,
    decode_feedback,
    encode_csv,
    encode_json,
    encode_set_point,
    open_endpoint,
    open_intake,
)
from rig.telemetry import CycleFlag

LAB = load_mechanism("lab-hexapod")
ROWS = make_rows(duration=0.1)
ROWS["flags"] = CycleFlag.FRESH | CycleFlag.POSE
ROWS["stream_delay"] = 0.05


class Bench:
    """The receiver's turns on a manual clock, and sockets of senders; what is sent on loopback has arrived at once."""

    def __init__(self, transport: str, key: bytes | None = None) -> None:
        options = ReceiverOptions(transport=transport, port=0, queue=512)
        self.clock = ManualClock(50.0)
        self.key = key
        self.ring = SampleRing.local(2048)
        self.telemetry = TelemetryRing.create(64)
        intake = open_intake(options, key, self.ring)
        intake.now = self.clock.now
        self.endpoint = endpoint = open_endpoint(options, key)
        self.loop = ReceiverLoop(endpoint, intake, RigSide(self.telemetry.name, LAB.geometry, 0.002))
        host, _, port = endpoint.address.partition("://")[2].rpartition(":")
        self.place = (host, int(port))
        self._kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
        self._senders: list[socket.socket] = []

    def sender(self, **options: int) -> socket.socket:
        """A new one, connected."""
        made = socket.socket(socket.AF_INET, self._kind)
        self._senders.append(made)
        for name, value in options.items():
            made.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        made.settimeout(10.0)
        made.connect(self.place)
        return made

    def turn(self, duration: float = 0.002) -> None:
        """Let the receiver do all that waits, then let time pass."""
        if self._kind == socket.SOCK_STREAM:
            select.select(self.endpoint.files, [], [], 0.1)
        while self.loop.turn():
            pass
        self.clock.advance(duration)

    def taken(self) -> list[int]:
        """Sequence numbers that are new in the ring."""
        numbers: list[int] = self.ring.take()["sequence"].tolist()
        return numbers

    def close(self) -> None:
        for each in self._senders:
            each.close()
        self.loop.close()
        self.telemetry.close()


@pytest.fixture
def udp() -> Iterator[Bench]:
    bench = Bench("udp")
    yield bench
    bench.close()


@pytest.fixture
def tcp() -> Iterator[Bench]:
    bench = Bench("tcp")
    yield bench
    bench.close()


def feedback_of(sender: socket.socket, key: bytes | None = None) -> Feedback:
    return decode_feedback(sender.recv(FEEDBACK_SIZE + 1), key)


def test_packets_come_to_the_ring_in_their_order(udp: Bench) -> None:
    sender = udp.sender()
    for number in range(300):
        sender.send(encode_set_point(SetPoint(1, 0, number, 0.002 * number, 0.002 * number, VELOCITY, circle(number))))
        if number % 3 == 2:
            udp.turn(0.006)
    assert udp.taken() == list(range(300))
    check_accounts(udp.loop.status())


def test_what_a_sender_sends_while_its_socket_is_made_stays_in_order(udp: Bench) -> None:
    sender = udp.sender()
    sender.send(encode_set_point(point(0, 0.0)))
    take_in = udp.loop.intake.work

    def meanwhile() -> int:
        for number in range(1, 40):
            sender.send(encode_set_point(point(number, 0.0)))
        return take_in()

    udp.loop.intake.work = meanwhile  # type: ignore[method-assign]
    udp.loop.turn()
    udp.loop.intake.work = take_in  # type: ignore[method-assign]
    for number in range(40, 60):
        sender.send(encode_set_point(point(number, 0.0)))
    udp.turn()
    assert udp.taken() == list(range(60))


def test_a_flood_from_elsewhere_takes_neither_room_nor_turns(udp: Bench) -> None:
    """Some thousand packets that the followed sender does not send overflow the system's buffer for all others."""
    sender, flood = udp.sender(), udp.sender()
    other = encode_set_point(point(0, 0.0, session=9))
    sender.send(encode_set_point(point(0, 0.0)))
    udp.turn()
    for number in range(1, 6):
        for _ in range(1500):
            flood.send(other)
        sender.send(encode_set_point(point(number, 0.002 * number)))
        assert udp.loop.turn() is False  # what others send does not keep it busy
        udp.clock.advance(0.002)
    assert udp.taken() == list(range(6))
    status = udp.loop.status()
    assert status.dropped["overflow"] == status.missing == 0
    assert status.dropped["other_session"] >= 5
    assert status.dropped["system"] + status.dropped["other_session"] > 3000
    check_accounts(status)


def test_a_flood_of_the_sender_itself_leaves_the_newest(udp: Bench) -> None:
    sender = udp.sender()
    sender.send(encode_set_point(point(0, 0.0)))
    udp.turn()
    for number in range(1, 5000):
        sender.send(encode_set_point(point(number, 0.0)))
        if not number % 500:
            udp.turn(0.0)
    udp.turn()
    status = udp.loop.status()
    lost = status.dropped["overflow"] + status.dropped["system"]
    assert (status.taken + lost, status.missing) == (5000, lost - (4999 - status.sequence))
    assert status.taken >= 1000


def test_a_sender_that_dies_and_comes_back_is_followed_again(udp: Bench) -> None:
    first = udp.sender()
    for number in range(5):
        first.send(encode_set_point(point(number, 0.002 * number)))
        udp.turn()
    first.close()
    again = udp.sender()
    again.send(encode_set_point(point(0, 7.0, session=2)))
    udp.turn(0.3)
    again.send(encode_set_point(point(1, 7.3, session=2)))
    udp.turn()
    again.send(encode_set_point(point(2, 7.302, session=2)))
    udp.turn()
    assert udp.taken() == [*range(5), 1, 2]
    assert (udp.loop.status().sessions, udp.loop.status().dropped["other_session"]) == (2, 1)


def test_the_sender_hears_of_every_cycle_what_the_rig_did(udp: Bench) -> None:
    sender = udp.sender()
    for row in ROWS[10:13]:
        udp.telemetry.push(row)
    udp.turn()  # nobody to answer
    sender.send(encode_set_point(point(7, 3.5)))
    udp.turn(0.0)
    for row in ROWS[20:23]:
        udp.telemetry.push(row)
    udp.turn(0.0)
    wrenches = np.einsum(
        "nij,nj->ni", wrench_from_residual(LAB.geometry, ROWS[20:23]["pose"]), ROWS[20:23]["force_residual"]
    )
    for row, wrench in zip(ROWS[20:23], wrenches, strict=True):
        answer = feedback_of(sender)
        assert (answer.session, answer.challenge, answer.sequence, answer.sent) == (1, 0, 7, 3.5)
        assert (answer.cycle, answer.t, answer.state) == (row["cycle"], row["t"], row["state"])
        assert (answer.received, answer.answered) == (50.002, 50.002)
        assert answer.delay == 0.05
        assert answer.pose == tuple(row["pose"])
        assert answer.twist == tuple(row["twist"])
        assert answer.force == tuple(row["force_measured"])
        assert answer.model == tuple(row["force_model"])
        assert answer.reference == tuple(row["reference"][:7])
        assert np.allclose(answer.wrench, wrench)


def test_with_a_key_a_sender_is_given_the_number_that_opens_its_session() -> None:
    bench = Bench("udp", KEY)
    try:
        sender, stranger = bench.sender(), bench.sender()
        stranger.send(encode_set_point(point(0, 0.0)))
        sender.send(encode_set_point(point(0, 0.0), KEY))
        bench.turn()
        challenge = feedback_of(sender, KEY).challenge
        sender.send(encode_set_point(point(1, 0.002, challenge=challenge), KEY))
        bench.turn()
        assert bench.taken() == [1]
        assert bench.loop.status().dropped["key"] == bench.loop.status().dropped["challenge"] == 1
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.recv(1)
        bench.telemetry.push(ROWS[0])
        bench.turn()
        assert feedback_of(sender, KEY).challenge == challenge  # the same from now on
    finally:
        bench.close()


def test_lines_come_in_whole_or_in_parts_and_are_answered(tcp: Bench) -> None:
    sender = tcp.sender()
    tcp.turn()
    lines = encode_json(point(0, 0.0)) + encode_csv(point(1, 0.002, x=0.25))
    sender.sendall(lines[:70])
    tcp.turn()
    sender.sendall(lines[70:] + b"\r\n" + b"no line\n" + b"x" * 5000)
    tcp.turn()
    sender.sendall(b"x" * 50 + b"\n" + encode_csv(point(2, 0.004)).replace(b"\n", b" " * 5000 + b"\n"))
    tcp.turn()
    sender.sendall(encode_csv(point(2, 0.006)))
    tcp.turn(0.0)
    assert tcp.taken() == [0, 1, 2]
    assert tcp.loop.status().dropped["malformed"] == 3  # also what is too long and comes at once
    check_accounts(tcp.loop.status())
    tcp.telemetry.push(ROWS[30])
    tcp.turn()
    answer = json.loads(sender.makefile().readline())
    assert (answer["sequence"], answer["pose"], answer["delay"]) == (2, ROWS[30]["pose"].tolist(), 0.05)
    assert answer["offset_sigma"] is None  # unknown so far


def test_over_tcp_the_number_comes_with_the_connection() -> None:
    bench = Bench("tcp", KEY)
    try:
        sender = bench.sender()
        bench.turn()
        challenge = json.loads(sender.makefile().readline())["challenge"]
        sender.sendall(encode_json(point(0, 0.0, challenge=challenge), KEY))
        bench.turn()
        assert bench.taken() == [0]
    finally:
        bench.close()


def test_a_sender_that_does_not_read_holds_nobody_up(tcp: Bench) -> None:
    """Nor does it get half a line: answers that do not fit are left out."""
    sender = tcp.sender(SO_RCVBUF=4096)
    tcp.turn()
    answers = b""
    for number in range(40):
        sender.sendall(encode_csv(point(number, 0.002 * number)))
        for _ in range(2):
            for row in ROWS[:10]:
                tcp.telemetry.push(row)
        tcp.turn()
        if not number % 5:  # it reads too little, and never whole lines
            answers += sender.recv(5_001)
    assert tcp.taken() == list(range(40))
    tcp.loop.close()
    while more := sender.recv(1 << 20):
        answers += more
    *lines, _rest = answers.split(b"\n")
    assert 50 < len(lines) < 800
    assert {json.loads(line)["session"] for line in lines} == {1}


def test_strangers_that_stay_connected_do_not_keep_a_sender_out(tcp: Bench) -> None:
    followed = tcp.sender()
    tcp.turn()
    followed.sendall(encode_json(point(0, 0.0)))
    tcp.turn()
    senders = [tcp.sender() for _ in range(5)]
    tcp.turn()
    for each in senders[:2]:  # the oldest but the one that is followed
        assert each.recv(1) == b""
    followed.sendall(encode_json(point(1, 0.004)))
    tcp.turn(0.3)
    senders[4].sendall(encode_json(point(0, 7.0)))
    tcp.turn()
    assert tcp.taken() == [0, 1, 0]
    assert tcp.loop.status().sessions == 2


# -- the process -----------------------------------------------------------------------------------------------------


def test_a_process_receives_and_says_what_came_in(tmp_path: Path) -> None:
    key = tmp_path / "stream.key"
    key.write_text(KEY.hex())
    key.chmod(0o600)
    with StreamReceiver(ReceiverOptions(port=0, key_file="stream.key"), tmp_path) as receiver:
        host, _, port = receiver.address.partition("://")[2].rpartition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect((host, int(port)))
            sender.settimeout(20.0)
            sender.send(encode_set_point(point(0, 0.0), KEY))
            challenge = feedback_of(sender, KEY).challenge
            for number in range(1, 51):
                given = END if number == 50 else 0
                sender.send(encode_set_point(point(number, 0.002 * number, challenge=challenge, given=given), KEY))
            eventually(lambda: receiver.ring.pushed == 50, "50 set-points")
            assert receiver.ring.take()["sequence"].tolist() == list(range(1, 51))
            status = receiver.status()
            assert (status.taken, status.ended, status.active) == (50, True, False)
            assert status.origin == f"127.0.0.1:{sender.getsockname()[1]}"
            other = StreamReceiver(ReceiverOptions(port=0), tmp_path)
            sender.sendto(encode_set_point(point(0, 0.0)), (host, int(other.address.rpartition(":")[2])))
            eventually(lambda: other.status().taken == 1, "a set-point")
            with pytest.raises(HardwareError, match=f"cannot listen on 127.0.0.1, port {port}: Address already in use"):
                StreamReceiver(ReceiverOptions(port=int(port)), tmp_path)
            assert other.pid is not None
            os.kill(other.pid, signal.SIGKILL)
            with pytest.raises(ChildDiedError, match="the stream receiver has died"):
                for _ in range(2):  # the pipe may take one more question
                    other.status()
            other.close()
            assert other.status().taken == 1  # what is known of it stays
    assert receiver.status().taken == 50


def test_the_receiver_is_not_started_without_its_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"key of the stream: .*absent\.key: No such file"):
        StreamReceiver(ReceiverOptions(key_file="absent.key"), tmp_path)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.10.2", "::", "rig.example"])
def test_other_machines_are_heard_with_a_key_only(host: str) -> None:
    with pytest.raises(ValidationError, match=f"host '{host}' is reached from other machines: give a key_file"):
        ReceiverOptions(host=host)
    assert ReceiverOptions(host=host, key_file="stream.key").host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_is_heard_without_a_key(host: str) -> None:
    assert ReceiverOptions(host=host).key_file is None


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(HardwareError, match=r"cannot listen on 203\.0\.113\.7, port 9872: "):
        open_endpoint(ReceiverOptions(host="203.0.113.7", key_file="k"), None)
