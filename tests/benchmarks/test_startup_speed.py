"""From the command to the window: `make bench`, or this file under `xvfb-run -a`."""

import os
import subprocess
import sys
import time
from pathlib import Path

BOUND = 2.5  # s
ROUNDS = 3
_ENDED_WITHIN = 60.0  # s
_CHILD = """
import sys, time
from pyqtgraph.Qt import QtCore, QtWidgets
from gui.application import run

class FirstPaint(QtCore.QObject):
    shown = False

    def eventFilter(self, receiver, event):
        if event.type() == QtCore.QEvent.Type.Paint and not self.shown and type(receiver).__name__ == "MainWindow":
            self.shown = True
            print(time.monotonic(), flush=True)
            QtCore.QTimer.singleShot(0, receiver.close)
        return False

application = QtWidgets.QApplication(sys.argv[:1])
first = FirstPaint(application)
application.installEventFilter(first)
sys.exit(run("virtual"))
"""


def test_the_window_is_there_soon(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CONFIG_HOME": str(tmp_path)}
    times = []
    for _ in range(ROUNDS):
        begun = time.monotonic()
        child = subprocess.run(
            [sys.executable, "-c", _CHILD],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_ENDED_WITHIN,
            check=True,
        )
        times.append(float(child.stdout.split()[0]) - begun)
    print(
        f"\nfrom the start of Python to the first paint of the window: {', '.join(f'{each:.2f}' for each in times)} s"
    )
    assert min(times) < BOUND
