"""The whole app beside the engine on the same processors: what it costs the cycle, and memory over an hour.

`make bench`, or this file under `xvfb-run -a`. An hour of a rig at 500 Hz is 1.8 million cycles; here as many are run
at a higher rate: SOAK_MINUTES=60 takes a quarter of an hour, with SOAK_RATE=500 the hour itself. Left out: 16 minutes.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_app import app

from gui.application import app_config
from gui.shell.main_window import MainWindow
from rig.client.runs import demo_trajectory, execute
from rig.recording import open_recording
from rig.states import State

MOTION = 20.0  # s of the demonstration, each way
ROUNDS = 2
_BY_CHANCE = 0.02
"""% of the cycles: fewer tell nothing of a machine that is never late alone"""
MINUTES = float(os.environ.get("SOAK_MINUTES", "16"))
"""of a rig at 500 Hz"""
RATE = float(os.environ.get("SOAK_RATE", "2000"))
SETTLED = 150.0
"""s, after which memory is to be flat: the views reach back two minutes, and fill up"""
MEGABYTE = 1e6

_SIZE = (1920, 1080)
"""px, of a window with everything a researcher looks at in view"""
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def overruns(recording: Path) -> tuple[int, int]:
    """Cycles skipped and cycles due while a motion was followed."""
    rows = open_recording(recording).rows
    rows = rows[rows["state"] == State.RUNNING]
    return int(rows["overruns"][-1] - rows["overruns"][0]), int(rows["cycle"][-1] - rows["cycle"][0])


def headless(folder: Path) -> tuple[int, int]:
    config = app_config("virtual")
    trajectory = demo_trajectory(config.machine.geometry.home_pose, MOTION)
    result = execute(config, trajectory, "headless", folder, report=lambda _progress: None)
    assert result.error is None
    return overruns(result.recording)


def with_the_app(folder: Path) -> tuple[int, int, float, float]:
    """Overruns and cycles, frames a second, share of one core that the app's process takes."""
    with app(folder, {}, _SIZE) as pilot:
        window = pilot.window
        pilot.home()
        pilot.engage()
        frames = _count_frames(window)
        window.tabs.setCurrentWidget(window.views.live_page)
        pilot.run(1)
        begun, cpu, first = time.perf_counter(), time.process_time(), frames[0]
        status = window.session.status
        pilot.wait(lambda: not window.motion.mover.active, "the motion to end", 2 * MOTION)
        elapsed, busy, shown = time.perf_counter() - begun, time.process_time() - cpu, frames[0] - first
        assert status is not None and window.session.recording is not None
        recording = window.session.recording
    return *overruns(recording), shown / elapsed, busy / elapsed


def _count_frames(window: MainWindow) -> list[int]:
    count = [0]
    draw = window.views.live.refresh

    def refresh(history: Any) -> None:
        count[0] += 1
        draw(history)

    window.views.live.refresh = refresh  # type: ignore[method-assign]
    return count


@pytest.mark.usefixtures("qapp")
def test_overruns_beside_the_live_views(tmp_path: Path) -> None:
    alone, beside = np.zeros(2, int), np.zeros(2, int)
    print("\noverruns of the engine at 500 Hz, six virtual drives on the same processors")
    for number in range(ROUNDS):
        alone += headless(tmp_path / f"headless {number}")
        *cycles, rate, share = with_the_app(tmp_path / f"app {number}")
        beside += cycles
        print(f"  live views and platform in view: {rate:.1f} frames/s, {100 * share:.0f} % of a core")
    fractions = [100.0 * skipped / due for skipped, due in (alone, beside)]
    print(f"  headless {alone[0]} of {alone[1]} ({fractions[0]:.3f} %), app {beside[0]} of {beside[1]}", end="")
    print(f" ({fractions[1]:.3f} %): ratio {fractions[1] / fractions[0] if fractions[0] else float('nan'):.2f}")
    assert fractions[1] <= max(1.3 * fractions[0], _BY_CHANCE)


def processes() -> dict[int, str]:
    """This process and all below it: id → what it is, as far as its command line tells."""
    parents: dict[int, int] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
    found, fresh = {os.getpid()}, {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh}
        found |= fresh
    return {pid: (_PROC / str(pid) / "comm").read_text().strip() for pid in sorted(found)}


def resident(pid: int) -> float:
    """Memory of a process, bytes."""
    return float((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE


@pytest.mark.timeout(MINUTES * 60.0 * 500.0 / RATE + 300.0)
@pytest.mark.usefixtures("qapp")
def test_memory_stays(tmp_path: Path) -> None:
    # other programs may run here too, and a plant that stood still meanwhile catches up
    patience = {"stale_cycles": 100, "overruns_in_a_row": 100, "heartbeat": 5.0}
    patience |= {"following_error": 0.02, "force_residual": 200.0}
    changes = {"rate": RATE, "drives": {"watchdog": 0.5}, "safety": patience}
    seconds = MINUTES * 60.0 * 500.0 / RATE
    with app(tmp_path, changes, _SIZE) as pilot:
        window = pilot.window
        pilot.home()
        pilot.engage()
        window.tabs.setCurrentWidget(window.views.live_page)
        pilot.run(1000)
        pids, samples = processes(), []
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            pilot.pass_time(min(5.0, seconds / 30.0))
            assert window.motion.mover.active, window.windowTitle()
            samples.append([time.monotonic() - begun, *map(resident, pids)])
        status = window.session.status
        assert status is not None
        print(f"\nmemory over {status.cycles} cycles at {RATE:g} Hz ({status.overruns} overruns), {seconds:.0f} s")
    table = np.array(samples)
    flat = table[table[:, 0] >= SETTLED, 1:] / MEGABYTE
    quarter = len(flat) // 4
    # medians, as the check of a motion takes and gives
    begin, end = (np.median(part, axis=0) for part in (flat[:quarter], flat[-quarter:]))
    # from the middle of a quarter to that of another, and so over the whole time
    growth = 100.0 * (end / begin - 1.0) * 4.0 / 3.0
    for name, first, last, most, grown in zip(pids.values(), begin, end, flat.max(axis=0), growth, strict=True):
        print(f"  {name:16} {first:7.1f} MB → {last:7.1f} MB, {grown:+.2f} % over all of it, at most {most:.1f} MB")
    assert np.all(growth < 3.0)
