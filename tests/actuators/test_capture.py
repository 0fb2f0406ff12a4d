"""Captures: what a frame says, as a file has it, and played back to a driver."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrk_bench import JrkBench
from orca_bench import OrcaBench

from actuators import (
    COMMAND_OFF,
    ActuatorError,
    Command,
    ConfigurationError,
    Feedback,
    Frame,
    MemoryWire,
    Mode,
    Replay,
    create_drive,
    read_capture,
    rtu_frame_text,
    tcp_frame_text,
    tcp_frames,
)

COMMANDS = [COMMAND_OFF] * 3 + [Command(Mode.FORCE, force, enable=True) for force in (1.0, -2.5, 30.0)] + [COMMAND_OFF]


def session(drive, wait) -> list[Feedback]:
    drive.connect(1.0)
    drive.identify()
    drive.configure()
    seen = []
    for cycle, command in enumerate(COMMANDS, start=1):
        wait(0.002)
        seen.append(drive.exchange(command, 0.002 * cycle, 0.0))
    drive.close()
    return seen


def frames_of(bench: Any) -> list[Frame]:
    """What passed over a bench's wire."""
    pairs = zip(bench.sent, bench.received, strict=True)
    return [
        Frame(round(1e-4 * number, 6), sent, data)
        for number, both in enumerate(pairs)
        for sent, data in zip((True, False), both, strict=True)
    ]


def captured(path: Path) -> tuple[list[Feedback], dict[str, Any]]:
    """A session of an ORCA motor's driver, kept in a file."""
    bench = OrcaBench(name="drive 1")
    bench.drive.close()
    seen = session(bench.drive, bench.pass_time)
    frames = frames_of(bench)
    lines = [frame.line(rtu_frame_text(frame.data, sent=frame.sent)) for frame in frames]
    path.write_text("# an ORCA motor\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert read_capture(path) == frames
    return seen, bench.options


def test_a_capture_is_played_back_as_a_test(tmp_path: Path) -> None:
    seen, options = captured(tmp_path / "motor.txt")
    replay = Replay(read_capture(tmp_path / "motor.txt"))
    drive = create_drive("orca", options | {"open_wire": lambda _: MemoryWire(replay.respond)})
    again = session(drive, lambda _seconds: None)
    assert repr(again) == repr(seen) and replay.left == 0
    assert any(feedback.status for feedback in again)


def test_a_driver_that_says_something_else_is_told_what_the_capture_has(tmp_path: Path) -> None:
    captured(tmp_path / "motor.txt")
    replay = Replay(read_capture(tmp_path / "motor.txt"))
    with pytest.raises(ActuatorError, match=r"request 1: 01 03 00 00 00 01 84 0a, the capture has 01 03 01 96"):
        replay.respond(bytes.fromhex("01 03 00 00 00 01 84 0a"))
    short = Replay([Frame(0.0, True, b"\1\2"), Frame(0.1, False, b"\3"), Frame(0.2, False, b"\4")])
    assert short.respond(b"\1") == b"" and short.respond(b"\2") == b"\3\4"
    with pytest.raises(ActuatorError, match="request 2: 05, but the capture has no more"):
        short.respond(b"\5")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.0 > 01 0", "line 1: '0.0 > 01 0' is no frame"),
        ("# x\n0.0 = 01", "line 2: '0.0 = 01' is no frame"),
        ("-1 > 01", "line 1"),
        ("nan > 01", "line 1"),
        ("0.0 > ", "line 1"),
    ],
)
def test_a_line_that_is_no_frame_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=said):
        read_capture(tmp_path / "bad.txt")
    with pytest.raises(ConfigurationError, match="No such file"):
        read_capture(tmp_path / "none.txt")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match=r"bytes\.txt"):
        read_capture(tmp_path / "bytes.txt")


@pytest.mark.parametrize(
    ("frame", "sent", "said"),
    [
        ("01 03 01 56 00 02 25 e7", True, "unit 1: read 2 registers from 342"),
        ("01 03 04 e2 40 00 01 0c 5f", False, "unit 1: registers e240 0001"),
        ("01 06 00 03 00 02 f8 0b", True, "unit 1: write register 3 = 0002"),
        ("01 05 04 03 ff 00 7d 0a", True, "unit 1: write coil 1027 = ff00"),
        ("01 10 00 1e 00 02 04 ec 78 ff ff c6 16", True, "unit 1: write 2 registers from 30: ec78 ffff"),
        ("01 10 00 1e 00 02 21 ce", False, "unit 1: wrote 2 registers from 30"),
        (
            "01 17 01 56 00 08 00 1c 00 04 08 00 01 00 02 00 03 00 04 24 97",
            True,
            "unit 1: write 4 registers from 28: 0001 0002 0003 0004; read 8 registers from 342",
        ),
        ("01 83 02 c0 f1", False, "unit 1: function 3 refused: exception 02 (illegal data address)"),
        ("01 64 1c ff fe 1d c0 8a c2", True, "unit 1: function 100, 5 bytes"),
        ("01 03 01 56 00 02 25 e8", True, "8 bytes, wrong checksum"),
        ("01", False, "1 bytes, no frame"),
    ],
)
def test_a_frame_of_a_line_in_words(frame: str, sent: bool, said: str) -> None:
    assert rtu_frame_text(bytes.fromhex(frame), sent=sent) == said


def test_a_frame_of_tcp_in_words() -> None:
    asked = bytes.fromhex("0007 0000 0006 05 04 0000 0002")
    assert tcp_frame_text(asked, sent=True) == "transaction 7, unit 5: read 2 input registers from 0"
    assert tcp_frame_text(asked[:-1], sent=True) == "no frame of Modbus TCP"
    assert tcp_frame_text(b"\1", sent=True) == "1 bytes, no frame"
    short = bytes.fromhex("0007 0000 0003 05 03 09")
    assert tcp_frame_text(short, sent=False) == "transaction 7, unit 5: function 3, 1 bytes that are not its own"


def test_frames_of_tcp_are_told_from_each_other() -> None:
    one, two = bytes.fromhex("0007 0000 0003 05 83 02"), bytes.fromhex("0008 0000 0006 05 04 0000 0002")
    assert tcp_frames(one + two) == ([one, two], b"")
    assert tcp_frames(one + two[:-1]) == ([one], two[:-1])
    assert tcp_frames(one + b"\0\1\0\1\0\6\1") == ([one, b"\0\1\0\1\0\6\1"], b"")


@given(st.binary(max_size=40), st.booleans())
def test_whatever_passes_is_said_in_words(data: bytes, sent: bool) -> None:
    assert rtu_frame_text(data, sent=sent) and tcp_frame_text(data, sent=sent)
    frames, rest = tcp_frames(data)
    assert b"".join(frames) + rest == data


def test_other_protocols_are_played_back_as_well() -> None:
    bench = JrkBench(name="drive 1")
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    replay = Replay(frames_of(bench))
    drive = create_drive("jrk-g2", bench.options | {"open_wire": lambda _: MemoryWire(replay.respond)})
    drive.connect(1.0)
    drive.configure()
    assert drive.exchange(COMMAND_OFF, 0.002, 0.0).position == pytest.approx(bench.leg.length, abs=bench.step)
