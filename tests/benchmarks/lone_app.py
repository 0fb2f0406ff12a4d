"""The app in a process of its own, as the benchmarks measure it: `python lone_app.py cold|memory FOLDER`.

Nothing of the test tools is loaded here, and nothing of a test before.
"""

import os
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

from bench_app import app
from pyqtgraph.Qt import QtWidgets

from gui.live import RecordingsView
from gui.models import Action
from gui.shell import Pilot
from rig.states import State

SIZE = (1900, 1000)  # px
_PATIENCE = 600.0  # s, on a busy machine
_FILLED = 150.0  # s, after which the views' two minutes are full
_AFTER = 60.0  # s


def cold(pilot: Pilot, _folder: Path) -> None:
    """Print how long Connect takes, s, the longest time without progress, and the number of reports."""
    times = [0.0]
    pilot.window.session.compilingProgressed.connect(lambda _now: times.append(time.monotonic()))
    times[0] = time.monotonic()
    pilot.click(Action.CONNECT)
    pilot.reach(State.IDLE, _PATIENCE)
    times.append(time.monotonic())
    print(times[-1] - times[0], max(after - before for before, after in pairwise(times)), len(times) - 2)


def memory(pilot: Pilot, folder: Path) -> None:
    """Print the resident memory, bytes: at first, beside a running rig, with each of the recordings open, at last."""
    window, view = pilot.window, pilot.window.views.recordings
    readings = [resident()]
    pilot.click(Action.CONNECT)
    pilot.reach(State.IDLE, _PATIENCE)
    pilot.click(Action.HOME)
    pilot.reach(State.PARKED)
    pilot.engage()
    pilot.run(1000)
    pilot.pass_time(_FILLED)
    readings.append(resident())
    window.tabs.setCurrentWidget(window.views.recordings_page)
    for path in sorted(folder.glob("*.mcap")):
        view.open(path)
        pilot.wait(partial(_is_open, view, path), "the recording to be open", _PATIENCE)
        view.tabs.setCurrentWidget(view.live)
        for place in range(view.live.tabs.count()):
            view.live.tabs.setCurrentIndex(place)
            pilot.pass_time(0.2)
        for place in range(view.tabs.count()):
            view.tabs.setCurrentIndex(place)
            pilot.pass_time(0.2)
        readings.append(resident())
    window.tabs.setCurrentWidget(window.views.live_page)
    pilot.pass_time(_AFTER)
    print(*readings, resident())


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _is_open(view: RecordingsView, path: Path) -> bool:
    return view.opened is not None and view.opened.name == path.name


def main() -> None:
    """See the module."""
    folder = Path(sys.argv[2])
    _application = QtWidgets.QApplication(sys.argv[:1])
    with app(folder, {}, SIZE) as pilot:
        {"cold": cold, "memory": memory}[sys.argv[1]](pilot, folder)


if __name__ == "__main__":
    main()
