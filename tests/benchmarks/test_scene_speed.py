"""Cost of a frame of the platform in three dimensions: `make bench`, or this file under `xvfb-run -a`.

The machine with light, shadow, forces, trail and marks, beside lines and points as pyqtgraph's own items draw them:
processor time a frame, all threads of software OpenGL included.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest
from plain_platform import PlainPlatform
from pyqtgraph.Qt import QtWidgets
from pytestqt.qtbot import QtBot
from test_gui_speed import RATE, telemetry

from dynamics import load_mechanism
from gui.live import PlatformView
from gui.live.platform_flat import PlatformFlat
from gui.widgets.theme import DARK

FIRST, FRAMES = 10, 150
FPS = 30.0
SIZES = ((700, 800), (1600, 900))
"""px: beside the curves on a screen of 1920 × 1080, and alone on it"""
MOST = 4.0
"""times the processor time of the lines that it may take"""


def _cost(widget: QtWidgets.QWidget, frame: Callable[[int], None]) -> float:
    """Processor time of a frame, s; the first ones, which compile and allocate, are left out."""
    begun = 0.0
    for number in range(FIRST + FRAMES):
        if number == FIRST:
            begun = time.process_time()
        frame(number)
        widget.repaint()
    return (time.process_time() - begun) / FRAMES


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_machine_beside_plain_lines(qtbot: QtBot, size: tuple[int, int]) -> None:
    rows = telemetry(10 * RATE)
    stops = np.linspace(RATE, 10 * RATE, FRAMES + FIRST).astype(int)
    view, plain = PlatformView(DARK), PlainPlatform()
    view.set_mechanism(load_mechanism("lab-hexapod"))
    scenes = [view.scene_of(rows[stop - 1], rows[:stop]) for stop in stops]
    assert not isinstance(view.picture, PlatformFlat)
    canvas = view.picture.view
    for widget, painted in ((view, canvas), (plain, plain)):
        qtbot.addWidget(widget)
        painted.setFixedSize(*size)
        with qtbot.waitExposed(widget):
            widget.show()
    ours = _cost(canvas, lambda n: view.show_row(rows[stops[n] - 1], before=rows[: stops[n]], texts=False))
    lines = _cost(plain, lambda n: plain.show_scene(scenes[n]))
    print(f"\n{size[0]} × {size[1]} px, share of a core at {FPS:g} frames a second")
    print(f"  the machine {1e3 * ours:.1f} ms a frame, {100 * FPS * ours:.0f} %")
    print(f"  plain lines {1e3 * lines:.1f} ms a frame, {100 * FPS * lines:.0f} %")
    print(f"  the machine takes {ours / lines:.1f} times as much")
    view.close_worker()
    assert ours <= MOST * lines
