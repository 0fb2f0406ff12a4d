"""Memory of the app's page of recordings while one is opened after the other: `make bench`, or under `xvfb-run -a`.

MEMORY_SECONDS=360 writes recordings of the size of an afternoon's, at 500 Hz. Left out: a minute.
"""

import itertools
import os
from functools import partial
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot

from gui.live import RecordingsView
from gui.models.timeline import History
from gui.widgets.theme import DARK
from rig.recording import RecordingWriter
from rig.states import State
from rig.telemetry import ROW, CycleFlag

RATE = 500.0
SECONDS = float(os.environ.get("MEMORY_SECONDS", "60"))
ROUNDS = 8
PATIENCE = 300_000  # ms


def write(path: Path, seed: int) -> int:
    """A recording of noise; bytes of its rows."""
    random = np.random.default_rng(seed)
    rows = np.zeros(round(SECONDS * RATE), ROW)
    rows["cycle"] = np.arange(len(rows))
    rows["t"] = rows["cycle"] / RATE
    rows["state"], rows["flags"] = State.ENGAGED, CycleFlag.FRESH | CycleFlag.HOMED | CycleFlag.POSE
    for name in ("force_measured", "force_model", "force_residual", "length", "length_reference"):
        rows[name] = random.normal(size=(len(rows), 6))
    rows["pose"][:, 3] = rows["reference"][:, 3] = 1.0
    with RecordingWriter(path, {"rate": RATE}) as writer:
        writer.write_rows(rows)
    return rows.nbytes


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _another(view: RecordingsView, before: object) -> bool:
    """Whether another recording is open than before."""
    return view.opened is not before


def test_memory_does_not_grow_with_the_recordings_that_were_opened(qtbot: QtBot, tmp_path: Path) -> None:
    paths = [tmp_path / "a.mcap", tmp_path / "b.mcap"]
    size = max(write(path, seed) for seed, path in enumerate(paths))
    view = RecordingsView(DARK)
    qtbot.addWidget(view)
    view.resize(1140, 700)
    view.show()
    live, told = History(1), []
    for number, path in enumerate(itertools.islice(itertools.cycle(paths), ROUNDS)):
        before = view.opened
        view.open(path)
        qtbot.waitUntil(partial(_another, view, before), timeout=PATIENCE)
        for tabs in (view.tabs, view.live.tabs) if number % 2 == 0 else ():  # else pages show the last
            view.tabs.setCurrentWidget(view.live)
            for place in range(tabs.count()):
                tabs.setCurrentIndex(place)
                view.refresh(live)
                QtWidgets.QApplication.processEvents()
        qtbot.wait(500)  # ms, in which what is free is given back
        told.append(resident())
    view.close()
    view.close_worker()
    print(f"\nrows {size / 1e6:.0f} MB, resident after each: {', '.join(f'{one / 1e6:.0f}' for one in told)} MB")
    assert max(told[2:]) - min(told[2:]) < 0.5 * size  # neither by those before, nor by the one before
    assert told[1] - told[0] < 2.0 * size  # the second is read before the first goes
