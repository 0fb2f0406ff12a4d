"""From the command to its help, and to the window: `make bench`, or this file under `xvfb-run -a`."""

import os
import subprocess
import sys
import time
from pathlib import Path

BOUND = 1.2  # s, on a machine that has nothing else to do
ROUNDS = 3
HELP_BOUND = 2.5  # times importing Typer
HELP_ROUNDS = 15
IMPORT_BOUND = 2.0  # times importing numpy
_ENDED_WITHIN = 60.0  # s
_CHILD = """
import sys, time
from pyqtgraph.Qt import QtCore, QtWidgets
from rig.cli import main

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
sys.exit(main(["gui"]))
"""


def test_the_window_is_there_soon(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CONFIG_HOME": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # every module that was changed would be compiled each time
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


def test_help_costs_little_more_than_typer() -> None:
    times = _best({"typer": "import typer", "help": "from rig.cli import main; main(['--help'])"})
    ratio = times["help"] / times["typer"]
    print(
        f"\nrig --help {times['help'] * 1e3:.0f} ms, importing Typer {times['typer'] * 1e3:.0f} ms: {ratio:.2f} times"
    )
    assert ratio < HELP_BOUND


def test_importing_rig_costs_no_more_than_numpy() -> None:
    assert _ratio("importing rig", "import rig", "numpy") < IMPORT_BOUND


def _ratio(what: str, program: str, module: str) -> float:
    """How many times as long a program takes as importing a module."""
    times = _best({what: program, module: f"import {module}"})
    taken, reference = times[what], times[module]
    print(f"\n{what} {taken * 1e3:.0f} ms, importing {module} {reference * 1e3:.0f} ms: {taken / reference:.2f} times")
    return taken / reference


def _best(programs: dict[str, str]) -> dict[str, float]:
    """The least wall time of each program, s, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(HELP_ROUNDS):
        for name, program in programs.items():
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=_ENDED_WITHIN, check=True)
            times[name].append(time.perf_counter() - begun)
    return {name: min(taken) for name, taken in times.items()}
