"""A stream at 1 kHz from a program in C, live: what becomes of each sample, how late it is, how well it is tracked.

`make bench`, or this file with `pytest -s`; STREAM_SECONDS=600 for ten minutes of each kind. Over UDP and by the ring
in shared memory, with the virtual rig in paced and in real time. The program is the guide's. For each: samples that
were sent, used by the engine, and not used by their cause; the stated delay, and what the recorded one has beyond it,
in cycles; in real time also the delay by the phase of the reference against the sender's motion; the tracking error
beside that of the same motion from a table on the same rig, before the stream and after it. In real time these errors
are how late the operating system wakes the engine, which a program that sends makes worse on few cores, whether it is
followed or not: so one sends beside the table too. A table with no sender beside it is given for comparison. A few long
delays make the most of an error: periods of the motion are compared, by their median.
"""

import math
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import rig
from kinematics import Array, Placement, Trajectory
from rig.client import RigClient, motion_runner
from rig.client.live import LiveRig
from rig.config import RigConfig, in_real_time, load_config
from rig.engine import FollowStream
from rig.recording import RecordingFile
from rig.runtime import TelemetryRing
from rig.states import State
from rig.streaming import RigSide, SampleRing, StreamReceiver

SECONDS = float(os.environ.get("STREAM_SECONDS") or 20.0)
TABLED = min(SECONDS, 30.0)  # s, of the table before it and after it
RATE = 1000.0  # Hz, of the sender
HEIGHT, TURN = 0.005, math.pi  # m, rad/s, of the guide's motion
SETTLED = 3.0  # s, until the platform has faded in
GUIDE = Path(__file__).parents[2] / "docs" / "streaming.md"
_LOOK = 0.005  # s


class Heave(Trajectory):
    """The sender's motion as a table: z = HEIGHT (1 - cos TURN t)."""

    def __init__(self, home: Array) -> None:
        super().__init__(2.0 * round(0.5 * TABLED), Placement("home", home=home))

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        position, speed, acceleration = np.zeros((3, len(t), 6))
        position[:, 2] = HEIGHT * (1.0 - np.cos(TURN * t))
        speed[:, 2] = HEIGHT * TURN * np.sin(TURN * t)
        acceleration[:, 2] = HEIGHT * TURN**2 * np.cos(TURN * t)
        return position, speed, acceleration


@dataclass(frozen=True, slots=True)
class Way:
    """How samples come: the ring that is followed, what the sender is told, and what the way itself lost, by cause."""

    ring: SampleRing
    sender: list[str]
    lost: Callable[[], dict[str, int]]


@contextmanager
def way_of(kind: str, robot: RigClient, config: RigConfig, programs: dict[str, str]) -> Iterator[Way]:
    seconds = str(SECONDS)
    if kind == "shared memory":
        with SampleRing.create() as ring:
            yield Way(ring, [programs[kind], ring.name, seconds], dict)
        return
    assert isinstance(robot.rig, LiveRig)
    side = RigSide(robot.rig.engine.address.ring, config.machine.geometry, config.period)
    with StreamReceiver(config.stream.receiver, rig=side) as receiver:

        def lost() -> dict[str, int]:
            status = receiver.status()
            return {name: n for name, n in {"missing": status.missing, **status.dropped}.items() if n}

        yield Way(receiver.ring, [programs[kind], receiver.address.rpartition(":")[2], seconds], lost)


@contextmanager
def sending(command: list[str]) -> Iterator[None]:
    """A sender's program while it is needed."""
    sender = subprocess.Popen(command)
    try:
        yield
    finally:
        sender.kill()
        sender.wait()


class Clocks:
    """The rig's clock against the machine's, and the sender's first sample, both seen from beside."""

    def __init__(self, telemetry: str, ring: str) -> None:
        self.offset = math.inf
        """s, monotonic time of rig time 0, by the soonest look at a row"""
        self.begun = math.nan
        """s, monotonic, at which the sender's motion began"""
        self._over = threading.Event()
        self._names = telemetry, ring
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        with TelemetryRing.attach(self._names[0]) as telemetry, SampleRing.attach(self._names[1]) as ring:
            rows = telemetry.reader()
            while not self._over.wait(_LOOK):
                new, now = rows.read_new()[0], time.monotonic()
                if len(new):
                    self.offset = min(self.offset, now - float(new["t"][-1]))
                if math.isnan(self.begun) and len(samples := ring.take()):
                    self.begun = float(samples["time"][-1]) - float(samples["sequence"][-1]) / RATE

    def __enter__(self) -> "Clocks":
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._over.set()
        self._thread.join()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The guide's senders in C, built."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.fail("no C compiler (gcc or cc): the sender of this measurement is in C")
    folder = tmp_path_factory.mktemp("senders")
    texts = re.findall(r"^```c\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    made = {}
    for kind, having in (("UDP", "SRSP"), ("shared memory", "shm_open")):
        (text,) = (text for text in texts if having in text)
        source, made[kind] = folder / f"{having}.c", str(folder / having)
        source.write_text(text, encoding="utf-8")
        subprocess.run([compiler, "-O2", source, "-o", made[kind], "-lm"], check=True)
    return made


def rows_of(recording: Path) -> "np.ndarray[tuple[int, ...], np.dtype[np.void]]":
    """What is needed of the cycles of both motions."""
    names = ["t", "motion", "state", "reference", "length", "length_reference", "stream_delay", "stream_asked"]
    return np.concatenate([block[names].copy() for block in RecordingFile(recording).blocks()])


def tracking_errors(rows: "np.ndarray[tuple[int, ...], np.dtype[np.void]]") -> Array:
    """RMS of the legs' errors, m, of each whole period in the middle of a motion."""
    period = 2.0 * math.pi / TURN
    number = np.floor((rows["t"] - rows["t"][0] - SETTLED) / period).astype(int)
    last = math.floor((rows["t"][-1] - 1.0 - rows["t"][0] - SETTLED) / period)
    squares = np.mean((rows["length_reference"] - rows["length"]) ** 2, axis=1)
    return np.array([math.sqrt(np.mean(squares[number == k])) for k in range(last)])


def phase_delay(rows: "np.ndarray[tuple[int, ...], np.dtype[np.void]]", clocks: Clocks) -> float:
    """Delay, s, of the reference's height against the sender's motion, by the phase of a sine through it."""
    t = rows["t"] + clocks.offset - clocks.begun
    inside = np.abs(rows["reference"][:, :3] - rows["stream_asked"][:, :3]).max(axis=1) < 1e-9  # not while it fades in
    t, z = t[inside], rows["reference"][inside, 2]
    design = np.stack([np.ones_like(t), np.cos(TURN * t), np.sin(TURN * t)], 1)
    _, c, s = np.linalg.lstsq(design, z, rcond=None)[0]
    return float(math.atan2(-s, -c) / TURN)  # z = -HEIGHT cos(TURN (t - delay)) and a constant


@pytest.mark.parametrize("timing", ["paced", "real time"])
@pytest.mark.parametrize("kind", ["UDP", "shared memory"])
@pytest.mark.timeout(4.0 * SECONDS + 300.0)
def test_a_stream_from_a_program_in_c(kind: str, timing: str, programs: dict[str, str], tmp_path: Path) -> None:
    bearing = {"drives": {"watchdog": 0.1}}  # s, for which the computer may be away
    config = load_config("virtual").changed(bearing | {"stream": {"frame": "home", "receiver": {"port": 0}}})
    config = in_real_time(config) if timing == "real time" else config
    with rig.open(rig.client.on_free_ports(config), output=tmp_path) as robot:
        live = robot.rig
        assert isinstance(live, LiveRig)
        recording = live.recording
        robot.home()
        robot.engage()
        heave = Heave(config.machine.geometry.home_pose)

        def run_table(beside: bool) -> int:
            with ExitStack() as stack:
                if beside:
                    way = stack.enter_context(way_of(kind, robot, config, programs))
                    stack.enter_context(Clocks(live.engine.address.ring, way.ring.name))
                    stack.enter_context(sending([*way.sender[:-1], str(TABLED + 30.0)]))
                robot.run(heave, name="table")
            assert robot.status.last_motion is not None
            return robot.status.last_motion.id

        alone = run_table(beside=False)
        before = run_table(beside=True)
        with way_of(kind, robot, config, programs) as way:
            live.request(FollowStream("stream", way.ring.name))  # before the sender begins: nothing goes by
            with Clocks(live.engine.address.ring, way.ring.name) as clocks, sending(way.sender):
                motion_runner.finish(live)
            report, lost = robot.status.stream, way.lost()
        of_stream = robot.status.last_motion
        after = run_table(beside=True)
        robot.park()
    rows = rows_of(recording)
    assert of_stream is not None and report is not None
    tabled = np.concatenate([tracking_errors(rows[rows["motion"] == table]) for table in (before, after)])
    undisturbed = tracking_errors(rows[rows["motion"] == alone])
    streamed = rows[rows["motion"] == of_stream.id]
    followed = streamed[np.isfinite(streamed["stream_asked"][:, 0]) & (streamed["state"] == State.RUNNING)]
    beyond = (followed["stream_delay"] - config.stream.delay) / config.period
    p50, p99 = np.percentile(beyond, (50.0, 99.0))
    sent = round(RATE * SECONDS)
    unused = {"lost": report.lost, "late": report.late, "unusable": report.unusable}
    on_the_way = ", ".join(f"{n} {name}" for name, n in lost.items()) or "nothing"
    errors = tracking_errors(streamed)
    ratio = float(np.median(errors) / np.median(tabled))
    print(
        f"\n{kind}, {timing}: {sent} sent, {report.used} used; not used: "
        f"{', '.join(f'{n} {name}' for name, n in unused.items())}; lost on the way: {on_the_way}\n"
        f"  delay stated {1e3 * config.stream.delay:g} ms, beyond it {p50:+.2f} (median), {p99:+.2f} (p99), "
        f"{beyond.max():+.2f} (most) cycles, over {len(followed)} cycles"
    )
    if timing == "real time":
        print(f"  delay by the reference's phase {1e3 * phase_delay(followed, clocks):.2f} ms")
    for name, each in (("stream", errors), ("table", tabled), ("table with no sender beside it", undisturbed)):
        low, middle, high = 1e6 * np.percentile(each, (25.0, 50.0, 75.0))
        whole = 1e6 * math.sqrt(np.mean(each**2))
        print(
            f"  tracking, {name}: {middle:.3f} µm RMS in a period (median; quartiles {low:.3f}, {high:.3f}), "
            f"{whole:.3f} in all {len(each)}"
        )
    print(f"  stream over table {ratio:.3f}")
    assert report.used + sum(unused.values()) == sent
    assert p99 <= 1.0
    assert ratio < 1.05
