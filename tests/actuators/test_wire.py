import contextlib
import os
import socket
import time
import tty

import pytest

from actuators import ConnectError, LinkClosedError, MemoryWire, SerialEndpoint, TcpWire
from actuators.wire import SerialWire


class Master:
    """The other end of a pseudo-terminal."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        self.name = os.ttyname(self._slave)
        tty.setraw(self._slave)

    def recv(self, count: int) -> bytes:
        return os.read(self._master, count)

    def sendall(self, data: bytes) -> None:
        os.write(self._master, data)

    def close(self) -> None:
        for descriptor in (self._slave, self._master):
            with contextlib.suppress(OSError):  # closed already
                os.close(descriptor)


@pytest.fixture
def tcp():
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        wire = TcpWire(host, port, 1.0)
        peer, _ = server.accept()
        with peer:
            yield wire, peer
        wire.close()


@pytest.fixture(params=["TCP", "a serial port"])
def pair(request):
    """A wire and what is at its other end."""
    if request.param == "TCP":
        yield request.getfixturevalue("tcp")
        return
    peer = Master()
    wire = SerialWire(SerialEndpoint(peer.name, 1_000_000))
    yield wire, peer
    wire.close()
    peer.close()


def soon() -> float:
    return time.monotonic() + 2.0


def test_bytes_both_ways(pair):
    wire, peer = pair
    assert wire.send(b"question")
    assert peer.recv(100) == b"question"
    peer.sendall(b"answer")
    assert wire.receive(soon()) == b"answer"


def test_what_has_arrived_is_returned_after_the_deadline(pair):
    wire, peer = pair
    peer.sendall(b"x")
    assert wire.receive(soon()) == b"x"
    peer.sendall(b"y")
    deadline = soon()
    while not (data := wire.receive(0.0)):
        assert time.monotonic() < deadline
    assert data == b"y"


def test_nothing_by_the_deadline(pair):
    wire, _ = pair
    start = time.monotonic()
    assert wire.receive(start + 0.01) == b""
    assert time.monotonic() - start >= 0.01
    assert wire.receive(start) == b""
    assert wire.connected


def test_peer_that_closes(pair):
    wire, peer = pair
    peer.close()
    assert wire.receive(soon()) == b""
    assert not wire.connected
    assert not wire.send(b"x")
    assert wire.receive(soon()) == b""


def test_peer_that_resets(tcp):
    wire, peer = tcp
    wire.send(b"unread")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.close()
    assert wire.receive(soon()) == b""
    assert not wire.connected


def test_peer_that_does_not_read_makes_send_fail_without_waiting(pair):
    wire, _ = pair
    sent = 0
    while wire.send(b"x" * 65536):
        sent += 1
        assert sent < 10_000
    assert wire.send(b"x" * 65536) is False


def test_a_line_that_takes_no_more_makes_send_fail_without_waiting():
    peer = Master()
    wire = SerialWire(SerialEndpoint(peer.name, 1_000_000))
    sent = 0
    while wire.send(b"x"):
        sent += 1
        assert sent < 1_000_000
    assert sent and wire.connected  # as nothing of the last one was taken
    while len(peer.recv(4096)) == 4096:
        pass
    wire.close()
    peer.close()


def _acknowledges_at_once(wire: TcpWire) -> bool:
    """Whether the system has left the mode in which an acknowledgement waits for data to go along with."""
    with socket.fromfd(wire.descriptor, socket.AF_INET, socket.SOCK_STREAM) as same:
        return bool(same.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK))


def _answer_in_turns(wire: TcpWire, peer: socket.socket, exchanges: int) -> None:
    """Exchanges of one request and its reply each."""
    for _ in range(exchanges):
        assert wire.send(b"?")
        assert peer.recv(1) == b"?"
        peer.sendall(b"!")
        assert wire.receive(soon()) == b"!"


def test_replies_are_acknowledged_at_once_after_a_request_that_overtook_one(tcp):
    wire, peer = tcp
    deadline = soon()
    while _acknowledges_at_once(wire):  # the system does so at the beginning of a connection
        _answer_in_turns(wire, peer, 1)
        assert time.monotonic() < deadline
    assert wire.send(b"?")
    assert wire.receive(0.0) == b""  # late
    assert wire.send(b"?")
    assert peer.recv(1) == b"?"
    peer.sendall(b"!")  # by Nagle's algorithm the next waits for the acknowledgement of this one
    assert wire.receive(soon()) == b"!"
    assert _acknowledges_at_once(wire)
    assert peer.recv(1) == b"?"
    peer.sendall(b"!")
    assert wire.receive(soon()) == b"!"
    for _ in range(20):
        _answer_in_turns(wire, peer, 1)
        assert _acknowledges_at_once(wire)
    _answer_in_turns(wire, peer, 40)  # caught up: nothing more is sent than requests
    assert not _acknowledges_at_once(wire)


def test_close_is_idempotent(pair):
    wire, _ = pair
    wire.close()
    wire.close()
    assert not wire.connected


def test_connection_refused_and_unknown_host():
    with pytest.raises(ConnectError, match=r"cannot connect to 127\.0\.0\.1:1: Connection refused"):
        TcpWire("127.0.0.1", 1, 1.0)
    with pytest.raises(ConnectError, match=r"cannot connect to no\.such\.host\.invalid:502"):
        TcpWire("no.such.host.invalid", 502, 1.0)
    with pytest.raises(ConnectError, match="not a host name"):
        TcpWire("d" * 64, 502, 1.0)


def test_connection_that_is_not_accepted(monkeypatch):
    def late(address, timeout):
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", late)
    with pytest.raises(ConnectError, match=r"192\.0\.2\.1:502 did not accept a connection within 0\.5 s"):
        TcpWire("192.0.2.1", 502, 0.5)


def test_memory_wire_closed_by_its_device():
    def respond(data: bytes) -> bytes:
        raise LinkClosedError

    wire = MemoryWire(respond)
    assert wire.connected
    assert not wire.send(b"x")
    assert not wire.connected
    assert not wire.send(b"x")
    assert wire.receive(0.0) == b""


def test_nothing_is_waited_for_at_a_wire_that_is_closed(pair):
    wire, _ = pair
    wire.close()
    begun = time.monotonic()
    assert not wire.wait(begun + 60.0, ())
    assert time.monotonic() - begun < 30.0


def test_bytes_that_come_end_a_wait(pair):
    wire, peer = pair
    assert not wire.wait(time.monotonic() + 0.01, ())
    peer.sendall(b"x")
    assert wire.wait(soon(), ()) and wire.receive(soon()) == b"x"
    assert not wire.wait(time.monotonic() - 1.0, ())


def test_a_memory_wire_has_what_its_device_says_by_itself_until_it_closes():
    said = [b"23", b"45\r\n", b""]
    wire = MemoryWire(lambda _data: b"", lambda: said.pop(0) if said else close())

    def close() -> bytes:
        raise LinkClosedError

    assert [wire.receive(0.0) for _ in range(4)] == [b"23", b"45\r\n", b"", b""] and not wire.connected


def test_a_serial_port_is_opened_with_low_latency_where_it_can_be(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("serial.Serial.set_low_latency_mode", lambda _port, low: asked.append(low))
    monkeypatch.setattr("actuators.wire.ADAPTERS", tmp_path)
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        (tmp_path / os.path.basename(os.ttyname(slave))).mkdir()
        (tmp_path / os.path.basename(os.ttyname(slave)) / "latency_timer").write_text("2\n")
        wire = SerialWire(SerialEndpoint(os.ttyname(slave), 115_200))
        assert asked == [True] and wire.latency == 2e-3
        wire.close()
        monkeypatch.undo()  # a pseudo-terminal has none, and is opened all the same
        wire = SerialWire(SerialEndpoint(os.ttyname(slave), 115_200))
        assert wire.connected and wire.latency == 0.0
        wire.close()
    finally:
        os.close(master)
        os.close(slave)
