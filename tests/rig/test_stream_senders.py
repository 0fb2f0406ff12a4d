"""The guide's senders, as they are printed, send to a real receiver; each that this machine has the tool for."""

import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from stream_sender import KEY
from waiting import eventually

from rig.config import ReceiverOptions
from rig.streaming import END, VELOCITY, Drop, SampleRing, StreamReceiver

GUIDE = Path(__file__).parents[2] / "docs" / "streaming.md"
DURATION = 0.1  # s
COMPILER, NODE = shutil.which("gcc") or shutil.which("cc"), shutil.which("node")
OCTAVE = shutil.which("octave-cli")
UDP_OF_OCTAVE = Path("/usr/share/octave/packages")
CASES = [("python", 50, False), ("python", 50, True)]
"""language, set-points of the duration, with a key"""
if COMPILER is not None:
    CASES.append(("c", 100, False))
if NODE is not None:
    CASES += [("js", 20, False), ("js", 20, True)]
if OCTAVE is not None and list(UDP_OF_OCTAVE.glob("instrument-control*")):
    CASES.append(("matlab", 20, False))


def sender_of(language: str, having: str = "SRSP") -> str:
    """The guide's sender in a language: over the network, or of what has another text."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (text,) = (text for text in found if having in text)
    return str(text)


def built(text: str, folder: Path) -> str:
    """The program of a text in C."""
    assert COMPILER is not None
    source, program = folder / "sender.c", folder / "sender"
    source.write_text(text, encoding="utf-8")
    subprocess.run([COMPILER, "-O2", "-Wall", "-Werror", source, "-o", program, "-lm"], check=True, timeout=60)
    return str(program)


def in_octave(source: Path) -> Sequence[str]:
    """What runs a text of Matlab with port and duration, by the two replacements that the guide names."""
    assert OCTAVE is not None
    text = source.read_text(encoding="utf-8")
    for matlab, octave in (
        ('udpport("datagram")', "udpport()"),
        ('posixtime(datetime("now"))', "time()"),
        ("port = 9872;", "port = str2num(argv(){1});"),
        ("count = 20 * rate;", "count = str2num(argv(){2}) * rate;"),
    ):
        assert text.count(matlab) == 1
        text = text.replace(matlab, octave)
    source.write_text("pkg load instrument-control\n" + text, encoding="utf-8")
    return [OCTAVE, "--no-gui", "--norc", str(source)]


def command_of(language: str, folder: Path) -> Sequence[str]:
    """What runs it, without its arguments."""
    if language == "c":
        return [built(sender_of(language), folder)]
    source = folder / f"sender.{language}"
    source.write_text(sender_of(language), encoding="utf-8")
    if language == "js":
        assert NODE is not None
        return [NODE, str(source)]
    if language == "matlab":
        return in_octave(source)
    return [sys.executable, "-I", str(source)]


@pytest.mark.parametrize(("language", "count", "keyed"), CASES)
def test_a_sender_of_the_guide_is_followed_to_its_end(language: str, count: int, keyed: bool, tmp_path: Path) -> None:
    key = tmp_path / "stream.key"
    key.write_text(KEY.hex())
    key.chmod(0o600)
    command = command_of(language, tmp_path)
    options = ReceiverOptions(port=0, key_file=key.name if keyed else None)
    with StreamReceiver(options, tmp_path) as receiver:
        port = receiver.address.rpartition(":")[2]
        given = [*command, port, str(DURATION), *([KEY.hex()] if keyed else [])]
        subprocess.run(given, check=True, timeout=60, capture_output=True)
        eventually(lambda: receiver.status().ended, "the end of the stream")
        status = receiver.status()
        samples = receiver.ring.take()
    asking = status.dropped[Drop.CHALLENGE]
    assert (status.taken, status.missing, status.received) == (count - asking, 0, count)
    assert keyed is (asking > 0)
    assert samples["sequence"].tolist() == list(range(asking, count))
    assert (abs(samples["pose"][:, 3]) == 1.0).all()
    assert 0.0 < samples["pose"][-1, 2] < 0.01


@pytest.mark.parametrize("compiler", [COMPILER] if COMPILER is not None else [])
def test_a_writer_of_the_guide_in_c_fills_the_ring(compiler: str, tmp_path: Path) -> None:
    program = built(sender_of("c", "shm_open"), tmp_path)
    with SampleRing.create(128) as ring:
        subprocess.run([program, ring.name, "0.1"], check=True, timeout=60)
        samples = ring.take()
        assert samples["sequence"].tolist() == list(range(100))
        assert samples["given"].tolist() == [VELOCITY] * 99 + [VELOCITY | END]
        assert np.abs(np.diff(samples["time"]) - 1e-3).max() < 1e-6
        assert 0.0 < samples["pose"][-1, 2] < 0.01 and (samples["pose"][:, 3] == 1.0).all()
        ring._header[1] = 184  # of another version
        assert subprocess.run([program, ring.name, "0.1"], timeout=60).returncode == 2
        assert ring.pushed == 100


def test_the_layouts_of_the_guide_are_the_packets() -> None:
    """Each field's place follows from the sizes of those before, and the whole is as large as stated."""
    text = GUIDE.read_text(encoding="utf-8")
    sizes = {"uint8": 1, "uint16": 2, "uint64": 8, "float64": 8, "bytes": 1}
    for heading, size in (("## A set-point as a packet", 216), ("## What goes back", 440)):
        section = text[text.index(heading) :].split("\n## ")[0]
        place = 0
        for at, count, kind in re.findall(r"^\| (\d+) \| (?:(\d+) )?(\w+) \|", section, re.MULTILINE):
            assert int(at) == place, (heading, at)
            place += int(count or 1) * sizes[kind]
        assert place == size
    assert struct.calcsize("<4sBBH3Q2d19d16s") == 216
