"""`rig monitor`: everything passes unchanged, each frame is told and kept, and it ends when it should."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from drive_support import PROFILE, serving
from waiting import eventually

from actuators import (
    COMMAND_OFF,
    DeviceLine,
    FaultyDrive,
    MemoryWire,
    Replay,
    SerialEndpoint,
    TwinServer,
    VirtualServo,
    create_drive,
    create_twin,
    read_capture,
)
from rig.cli import main
from rig.errors import ExitCode
from rig.testing import BenchLeg as Leg

PATIENCE = 60.0  # s
BAUD = 1_000_000


@contextmanager
def monitored(tmp_path: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """The command in a process of its own, and what it says."""
    told = tmp_path / "told"
    command = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main(sys.argv[1:]))", "monitor"]
    with told.open("w") as out:
        process = subprocess.Popen([*command, *arguments], stdout=out, stderr=subprocess.STDOUT)
    try:
        eventually(lambda: "Ctrl-C ends it" in told.read_text() or process.poll() is not None, "a place", PATIENCE)
        yield process, told
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


@contextmanager
def on_a_line(path: Path, twin: FaultyDrive) -> Iterator[None]:
    """A twin on a pseudo-terminal, served from a thread that ends with the block."""
    endpoint = SerialEndpoint(str(path), BAUD)
    stop, ready = threading.Event(), threading.Event()
    server = TwinServer([(endpoint, DeviceLine([twin], endpoint.byte_time))])
    thread = threading.Thread(target=server.serve, args=(stop, lambda _found: ready.set()))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def place(told: Path) -> str:
    return told.read_text().splitlines()[0].split(" at ")[-1].split(";")[0]


def test_a_drive_on_tcp_is_as_before_and_what_was_said_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    with (
        serving([VirtualServo(PROFILE, Leg(0.61))]) as [(host, port)],
        monitored(tmp_path, f"{host}:{port}", "-o", str(kept)) as (process, told),
    ):
        served, number = place(told).rsplit(":", 1)
        for _ in range(2):  # one client after the other
            drive = create_drive("servo", {"name": "drive 1", "host": served, "port": int(number)})
            drive.connect(5.0)
            assert drive.identify().product == "virtual servo"
            drive.configure()
            before = drive.exchange(COMMAND_OFF, time.monotonic(), PATIENCE)
            assert drive.counters.received == 1
            drive.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    frames = read_capture(kept)
    text = told.read_text()
    assert "unit 1: read 28 registers from 300" in text and "unit 1: write 1 registers from 200: 0032" in text
    assert [line.partition("  #")[0] for line in text.splitlines()[1:]] == [frame.line() for frame in frames]
    assert [frame.time for frame in frames] == sorted(frame.time for frame in frames)
    replay = Replay(frames[: len(frames) // 2])
    options = {"name": "drive 1", "host": "capture", "open_wire": lambda _: MemoryWire(replay.respond)}
    drive = create_drive("servo", options)
    drive.connect(1.0)
    drive.identify()
    drive.configure()
    assert drive.exchange(COMMAND_OFF, 0.0, 0.0).position == before.position and replay.left == 0


def test_a_device_that_has_gone_ends_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as device:
        with monitored(tmp_path, f"127.0.0.1:{device.getsockname()[1]}") as (process, told):
            accepted, _ = device.accept()
            accepted.close()
            assert process.wait(PATIENCE) == ExitCode.HARDWARE
        assert "has closed the connection" in told.read_text()


def test_a_line_is_passed_on_through_a_pseudo_terminal(tmp_path: Path) -> None:
    options = {"name": "drive 1", "device": str(tmp_path / "motor"), "baud": BAUD, "turnaround": 1e-3}
    with (
        on_a_line(tmp_path / "motor", create_twin("orca", options, Leg())),
        monitored(tmp_path, str(tmp_path / "motor"), "--baud", str(BAUD)) as (_, told),
    ):
        drive = create_drive(
            "orca", options | {"device": place(told), "reply_timeout": 1.0, "request_timeout": PATIENCE}
        )
        drive.connect(5.0)
        assert drive.identify().vendor == "Iris Dynamics"
        drive.close()
        eventually(lambda: "unit 1: read 5 registers from 406" in told.read_text(), "a frame", PATIENCE)


def test_nothing_is_lost_however_much_is_said_at_once_and_who_has_said_all_is_answered(tmp_path: Path) -> None:
    asked = bytes(range(256)) * 2000
    with socket.create_server(("127.0.0.1", 0)) as device:
        device.settimeout(PATIENCE)
        with monitored(tmp_path, f"127.0.0.1:{device.getsockname()[1]}", "--rtu") as (process, told):
            behind, _ = device.accept()
            host, port = place(told).rsplit(":", 1)
            with behind, socket.create_connection((host, int(port)), PATIENCE) as client:
                behind.settimeout(PATIENCE)
                sender = threading.Thread(target=client.sendall, args=(asked,))
                sender.start()
                heard = b""
                while len(heard) < len(asked):
                    heard += behind.recv(1 << 16)
                sender.join(PATIENCE)
                assert heard == asked
                client.shutdown(socket.SHUT_WR)
                behind.sendall(b"and the answer")
                assert client.recv(100) == b"and the answer"
            assert process.wait(PATIENCE) == ExitCode.HARDWARE  # the device has gone


def test_no_file_is_left_where_nothing_came_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept.txt"
    assert main(["monitor", "127.0.0.1:1", "-o", str(kept)]) == ExitCode.HARDWARE
    assert not kept.exists()
    kept.write_text("mine")
    with socket.create_server(("127.0.0.1", 0)) as device:
        assert main(["monitor", f"127.0.0.1:{device.getsockname()[1]}", "-o", str(kept)]) == ExitCode.INPUT
    assert "kept.txt: File exists" in capsys.readouterr().err and kept.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nowhere",), ExitCode.INPUT, "device 'nowhere': give HOST:PORT"),
        (("x:1", "--listen", "here"), ExitCode.INPUT, "--listen 'here': give HOST:PORT"),
        (("x:1", "--listen", "y:2", "--pty"), ExitCode.INPUT, "--listen and --pty: give one of them"),
        (("/dev/none", "--parity", "mark"), ExitCode.INPUT, "--parity 'mark': one of even, none, odd"),
        (("/dev/none",), ExitCode.HARDWARE, "cannot open /dev/none at 19200 baud: No such file or directory"),
    ],
)
def test_what_cannot_be_is_said(
    arguments: tuple[str, ...], code: ExitCode, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", *arguments]) == code
    assert said in capsys.readouterr().err
