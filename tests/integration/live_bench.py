"""Real processes for tests: a rig on free ports, commands in groups of their own, and what they leave behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from lockstep_bench import bench_config
from waiting import PATIENCE, eventually

from rig.client.runs import on_free_ports
from rig.config.rig_config import RigConfig
from rig.errors import RigError
from rig.recording import open_recording
from rig.runtime.ring import TelemetryRing
from rig.runtime.shared_memory import SharedMemoryError
from rig.states import State

ROOT = Path(__file__).parents[2]


SPEED = 20.0
"""times as fast as the wall clock that paced time goes at most"""


def live_config(speed: float = SPEED) -> RigConfig:
    """A virtual rig on free ports, paced faster than real time.

    speed: 1 where its client's sign of life matters, which comes by the wall clock.
    """
    safety = {"stale_cycles": 75, "overruns_in_a_row": 150, "following_error": 0.02, "force_residual": 200.0}
    safety["heartbeat"] = min(10.0, 2.0 * speed)
    return on_free_ports(bench_config(safety=safety, drives={"watchdog": 0.3}, virtual={"speed": speed}))


def patient_config() -> RigConfig:
    """`live_config` on the wall clock, whose bounds in time bear a machine that leaves it out for a second."""
    safety = {"stale_time": 1.0, "overruns_in_a_row": 200, "following_error": 0.02, "force_residual": 200.0}
    safety["heartbeat"] = 10.0
    control = {"stiffness": 8e3, "damping": 360.0}  # stable at this rate
    rest = {"drives": {"watchdog": 1.0}, "virtual": {"real_time": True}}
    return on_free_ports(bench_config(rate=200.0, safety=safety, control=control, **rest))


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
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
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
        for pid in self.members():
            self.shared |= shared_memory(pid)
        os.killpg(self.process.pid, signal.SIGINT)

    def until_running(self) -> Path:
        """Wait until the recording shows that the motion runs; its path."""
        recordings: list[Path] = []

        def runs() -> bool:
            recordings[:] = self.folder.glob("*/*.mcap")
            assert self.process.poll() is None, self.err.read_text()
            if not recordings:
                return False
            try:
                rows = open_recording(recordings[0]).rows
            except RigError:
                return False
            return bool((rows["path_time"][rows["state"] == State.RUNNING] > 1.0).any())  # not the way to its start

        eventually(runs, "the motion to run")
        return recordings[0]

    def until_stopping(self) -> None:
        """After `interrupt`: wait until the engine's own telemetry shows that the platform is being stopped."""
        with self._ring() as ring:
            reader = ring.reader()
            seen: list[np.ndarray] = []

            def stops() -> bool:
                seen.append(reader.read_new()[0]["state"])
                return bool((np.concatenate(seen) == State.STOPPING).any())

            eventually(stops, "the platform to be stopped")

    def _ring(self) -> TelemetryRing:
        for path in self.shared:
            with suppress(SharedMemoryError):
                return TelemetryRing.attach(path.name)
        raise AssertionError("no process of the group has a telemetry ring")

    def ended(self) -> int:
        """Wait for the end; the exit code. No process and no shared memory of it is left then."""
        code = self.process.wait(PATIENCE)
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
