"""How long the window's event loop is held up at a time while pages are built, shown and given another theme.

Times of the processor in the thread of the window, in one turn of its event loop: `make bench`, or this file under
`xvfb-run -a`. A picture in three dimensions counts for itself where it is painted by the processor.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session.rig_session import RigSession
from gui.shell.main_window import MainWindow
from rig.config.rig_config import load_config

BOUND = 0.3  # s; the first look for OpenGL alone takes 0.2 s, any other part half of that
_QUIET = 25  # turns without work, after which what was begun is done


class _Clock:
    """Turns the event loop, and keeps the longest turn of each thing that is done."""

    def __init__(self) -> None:
        self.longest: dict[str, float] = {}

    def turn(self, name: str) -> float:
        """One turn, which counts for a name."""
        begun = time.thread_time()
        QtWidgets.QApplication.processEvents()
        took = time.thread_time() - begun
        self.longest[name] = max(took, self.longest.get(name, 0.0))
        return took

    def through(self, name: str, begin: Callable[[], object]) -> None:
        """Begin something, and turn until it is done."""
        QtCore.QTimer.singleShot(0, begin)  # what it does at once is of a turn as well
        quiet = 0
        while quiet < _QUIET:
            quiet = 0 if self.turn(name) > 0.002 else quiet + 1
            time.sleep(0.002)


def test_longest_block_of_each_page(qapp: QtWidgets.QApplication, tmp_path: Path) -> None:
    session = RigSession(load_config("virtual"), tmp_path)
    window = MainWindow(session, QtCore.QSettings(str(tmp_path / "gui.ini"), QtCore.QSettings.Format.IniFormat))
    clock, parts = _Clock(), _Clock()
    building = window.views.building
    go_on = building._continue

    def timed() -> None:
        begun = time.thread_time()
        go_on()
        took = time.thread_time() - begun
        parts.longest["a part"] = max(took, parts.longest.get("a part", 0.0))

    building.timeout.disconnect()
    building.timeout.connect(timed)
    try:
        window.resize(1280, 800)
        window.show()
        while not window.complete:
            clock.turn("built, the first pictures painted")
        for index in range(window.tabs.count()):
            name = window.tabs.tabText(index)
            clock.through(f"{name}, first shown", partial(window.tabs.setCurrentIndex, index))
        for index in range(window.tabs.count()):
            window.tabs.setCurrentIndex(index)
            clock.through("(before)", lambda: None)
            other = "light" if window.appearance.theme.name == "dark" else "dark"
            name = window.tabs.tabText(index)
            clock.through(f"{name}, another theme", partial(window.appearance.use, other))
    finally:
        window.close_now()
        window.deleteLater()
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    print("\nlongest turn of the event loop, ms of the processor")
    for name, took in (parts.longest | clock.longest).items():
        print(f"  {name:36} {1e3 * took:5.0f}")
    assert parts.longest["a part"] <= BOUND
    assert max(took for name, took in clock.longest.items() if not name.startswith("built")) <= BOUND
