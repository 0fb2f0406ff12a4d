"""What the app costs beside a rig: Connect, its share of a core in view and minimised, its memory.

`make bench`, or this file under `xvfb-run -a`. Each figure is of the app's own process. The window is minimised by
openbox, as in the tests under window managers.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from bench_app import app
from lone_app import SIZE
from test_recordings_memory import write

from gui.models import Action, Phase
from gui.shell import Pilot
from rig.states import State

CONNECT = 1.0  # s, the second time
COLD = 30.0  # s, nothing compiled, on two processors that have nothing else to do
STANDS_STILL = 0.10  # of that time, without news of it
MINIMISED, RUNNING = 0.15, 0.60  # of a core
MEMORY = 450e6  # bytes, software rendering included
RECORDINGS = 10
GROWTH = 0.03
_MEASURED = 8.0  # s
_ENDED_WITHIN = 800.0  # s, on a busy machine


@contextmanager
def minimised(pilot: Pilot) -> Iterator[None]:
    """The window minimised, as the window manager does it."""
    window = pilot.window
    manager = subprocess.Popen(["openbox", "--sm-disable"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        pilot.pass_time(1.0)
        window.showMinimized()
        pilot.wait(lambda: not window.windowHandle().isExposed(), "the window to be minimised")
        yield
        window.showNormal()
        pilot.wait(lambda: bool(window.windowHandle().isExposed()), "the window to be back")
    finally:
        manager.terminate()
        manager.wait()


def share(pilot: Pilot) -> float:
    """Share of a core that this process takes for a while."""
    pilot.pass_time(1.0)
    begun, busy = time.perf_counter(), time.process_time()
    pilot.pass_time(_MEASURED)
    return (time.process_time() - busy) / (time.perf_counter() - begun)


@pytest.mark.usefixtures("qapp")
def test_connect_again(tmp_path: Path) -> None:
    times = []
    with app(tmp_path, {}, SIZE) as pilot:
        for _ in range(4):
            begun = time.perf_counter()
            pilot.click(Action.CONNECT)
            pilot.reach(State.IDLE, _ENDED_WITHIN)
            times.append(time.perf_counter() - begun)
            pilot.click(Action.DISCONNECT)
            pilot.wait(lambda: pilot.window.session.phase is Phase.DOWN, "the engine to end")
    print(f"\nfrom Connect to Idle: {', '.join(f'{each:.2f}' for each in times)} s")
    assert min(times[1:]) < CONNECT


def alone(what: str, folder: Path, **environment: str) -> list[float]:
    """Numbers that the app prints in a process of its own, see `lone_app`."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    child = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lone_app.py")), what, str(folder)],
        env=os.environ | {"PYTHONPATH": path} | environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_ENDED_WITHIN,
        check=True,
    )
    return [float(number) for number in child.stdout.split()]


def test_connect_with_nothing_compiled(tmp_path: Path) -> None:
    taken, longest, count = alone("cold", tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
    print(f"\nnothing compiled: from Connect to Idle {taken:.1f} s, {count:.0f} reports of progress", end="")
    print(f", at most {longest:.1f} s without")
    assert longest < STANDS_STILL * taken
    assert taken < COLD


@pytest.mark.usefixtures("qapp")
def test_share_of_a_core(tmp_path: Path) -> None:
    shares = {}
    with app(tmp_path, {}, SIZE) as pilot:
        window = pilot.window
        shares["not connected"] = share(pilot)
        pilot.home()
        pages = {"Live": window.views.live_page, "Motion": window.motion, "Event log": window.views.log}
        for name, page in pages.items():
            window.tabs.setCurrentWidget(page)
            shares[f"at rest, {name}"] = share(pilot)
        pilot.engage()
        pilot.run(1000)
        for name, page in pages.items():
            window.tabs.setCurrentWidget(page)
            shares[f"running, {name}"] = share(pilot)
        window.tabs.setCurrentWidget(window.views.live_page)
        with minimised(pilot):
            shares["running, minimised"] = share(pilot)
    print("\nthe app's share of a core beside an engine at 500 Hz")
    for what, taken in shares.items():
        print(f"  {what:20} {100 * taken:5.1f} %")
    assert shares["running, minimised"] <= MINIMISED
    assert shares["running, Live"] <= RUNNING


def test_memory_with_recordings(tmp_path: Path) -> None:
    for seed in range(RECORDINGS):
        write(tmp_path / f"{seed}.mcap", seed)
    first, running, *opened = alone("memory", tmp_path)
    print(f"\nmemory of the app {first / 1e6:.0f} MB, beside a running rig {running / 1e6:.0f} MB", end="")
    print(f", with one recording after the other {', '.join(f'{one / 1e6:.0f}' for one in opened)} MB")
    assert max(opened) <= MEMORY
    assert np.ptp(opened[2:]) <= GROWTH * opened[2]
