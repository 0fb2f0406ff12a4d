"""Real processes for tests: a rig on free ports, commands in groups of their own, and what they leave behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from lockstep_bench import bench_config
from waiting import PATIENCE, eventually

from rig.client import on_free_ports
from rig.config.rig_config import RigConfig
from rig.runtime.ring import TelemetryRing
from rig.runtime.shared_memory import SharedMemoryError
from rig.states import State

ROOT = Path(__file__).parents[2]


SPEED = 5.0
"""times as fast as the wall clock that paced time goes at most"""


def live_config(speed: float = SPEED) -> RigConfig:
    """A virtual rig on free ports, paced faster than real time.

    speed: 1 where its client's sign of life matters, which comes by the wall clock.
    """
    safety = {"stale_time": 0.15, "overruns_in_a_row": 60, "heartbeat": min(10.0, 2.0 * speed)}
    return _live(safety, drives={"watchdog": 0.3}, virtual={"speed": speed})


def patient_config() -> RigConfig:
    """`live_config` on the wall clock, whose bounds in time bear a machine that leaves it out for a second."""
    safety = {"stale_time": 1.0, "overruns_in_a_row": 200, "heartbeat": 10.0}
    return _live(safety, drives={"watchdog": 1.0}, virtual={"real_time": True})


def _live(safety: dict[str, Any], **rest: Any) -> RigConfig:
    """At a rate that costs little, with gains that are stable at it."""
    bounds = {"following_error": 0.02, "force_residual": 200.0} | safety
    slow = {"rate": 100.0, "control": {"stiffness": 2.5e3, "damping": 200.0}}
    return on_free_ports(bench_config(safety=bounds, **slow, **rest))


def shared_memory(pid: int) -> set[Path]:
    """Files of the shared memory that a process has mapped."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return set()
    return {Path(line.split()[-1]) for line in maps.splitlines() if " /dev/shm/stewart-rig-" in line}


class Command:
    """`python -m rig …` in a process group of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.shared: set[Path] = set()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rig", *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def members(self) -> list[int]:
        """Processes of the group that still live."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[2]) == self.process.pid and fields[0] not in "ZX":
                    found.append(int(entry.name))
        return found

    def interrupt(self) -> None:
        """Ctrl-C: SIGINT to the whole group."""
        self._look_for_shared()
        os.killpg(self.process.pid, signal.SIGINT)

    def until_running(self) -> Path:
        """Wait until the engine's own telemetry shows that the motion runs; the recording's path."""

        def recorded() -> bool:
            assert self.process.poll() is None, self.err.read_text()
            return any(self.folder.glob("*/*.mcap"))

        eventually(recorded, "the recording to be begun")
        # not the way to its start
        self._until_told(lambda rows: (rows["state"] == State.RUNNING) & (rows["path_time"] > 1.0), "the motion to run")
        (path,) = self.folder.glob("*/*.mcap")
        return path

    def until_stopping(self) -> None:
        """Wait until the engine's own telemetry shows that the platform is being stopped."""
        self._until_told(lambda rows: rows["state"] == State.STOPPING, "the platform to be stopped")

    def _until_told(self, wanted: Callable[[npt.NDArray[np.void]], npt.NDArray[np.bool_]], what: str) -> None:
        """Wait until a row of the engine's telemetry is as it is wanted to be."""

        def told() -> bool:
            assert self.process.poll() is None, self.err.read_text()
            return bool(wanted(reader.read_new()[0]).any())

        with self._ring() as ring:
            reader = ring.reader(0)
            eventually(told, what)

    def _look_for_shared(self) -> None:
        if not self.shared:  # else it is known: a stop, to be interrupted again, does not last long
            for pid in self.members():
                self.shared |= shared_memory(pid)

    def _ring(self) -> TelemetryRing:
        self._look_for_shared()
        for path in self.shared:
            with suppress(SharedMemoryError):
                return TelemetryRing.attach(path.name)
        raise AssertionError("no process of the group has a telemetry ring")

    def ended(self) -> int:
        """Wait for the end; the exit code. No process and no shared memory of it is left then."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # it says where each of its threads is
            self.process.wait(PATIENCE)
            raise AssertionError(f"not ended within {PATIENCE:g} s:\n{self.err.read_text()}") from None
        eventually(lambda: not self.members(), "the last process of the group to end", 10.0)
        assert not [path for path in self.shared if path.exists()]
        return code

    def texts(self) -> tuple[str, str]:
        """What it wrote, to the standard output and to the standard error."""
        return self.out.read_text(), self.err.read_text()


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator[Command]:
    """A command that is ended by force if the test fails."""
    started = Command(folder, *arguments)
    try:
        yield started
    finally:
        for pid in started.members():
            os.kill(pid, signal.SIGKILL)
        started.process.wait()
