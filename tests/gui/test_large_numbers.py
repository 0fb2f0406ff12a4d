"""The pose and the residual in large digits: what they say, and that they are large and do not jump."""

from typing import Any

import numpy as np
import pytest
from live_rows import live_rows
from pyqtgraph.Qt import QtGui
from pytestqt.qtbot import QtBot

from gui.live import LiveView
from gui.live.plot_page import Plots
from gui.live.readout import LargeNumbers
from gui.models.timeline import History
from gui.widgets.theme import DARK
from rig.telemetry import CycleFlag


@pytest.fixture
def numbers(qtbot: QtBot) -> LargeNumbers:
    made = LargeNumbers(DARK)
    qtbot.addWidget(made)
    made.resize(985, made.height())
    return made


def _image(numbers: LargeNumbers) -> Any:
    """Brightness of its pixels (height, width)."""
    image = numbers.grab().toImage().convertToFormat(QtGui.QImage.Format.Format_Grayscale8)
    bits = image.bits().asarray(image.sizeInBytes())
    return np.array(bits, np.uint8).reshape(image.height(), image.bytesPerLine())[:, : image.width()]


def test_they_say_pose_and_residual_with_their_units(view: LiveView, history: History) -> None:
    view.refresh(history)
    assert view.values.large.words == [
        "x 11.00 mm", "y 20.00 mm", "z 450.00 mm", "θx 0.00 °", "θy 0.00 °", "θz 0.00 °", "RMS residual 0.25 N"
    ]  # fmt: skip
    assert not view.values.large.isHidden() and LiveView(DARK, replayed=True).values.large.isHidden()
    assert LiveView(DARK, alone=Plots()).values.large.isHidden()


def test_what_is_not_known_is_a_dash(numbers: LargeNumbers) -> None:
    rows = live_rows(3)
    rows["pose"][:, :3], rows["force_residual"] = [-0.0123456, 1.5, 0.0], [np.nan, 3.0, 3.0, 3.0, 3.0, np.nan]
    numbers.show_rows(rows, rows)
    assert numbers.words[:3] == ["x −12.35 mm", "y 1500.00 mm", "z 0.00 mm"] and numbers.words[-1].endswith(" 3.00 N")
    rows["pose"][:, 3:] = 0.0  # no rotation at all
    numbers.show_rows(rows, rows)
    assert numbers.words[0] == "x – mm"
    rows = live_rows(3)
    rows["flags"] &= ~np.uint32(CycleFlag.HOMED)
    numbers.show_rows(rows, rows[:0])
    assert numbers.words[0] == "x – mm" and numbers.words[-1] == "RMS residual – N"


@pytest.mark.parametrize(("width", "look"), [(985, (26, 2)), (1620, (28, 2)), (730, (20, 1))])
def test_digits_are_large_and_all_are_in_view(numbers: LargeNumbers, width: int, look: tuple[int, int]) -> None:
    numbers.resize(width, numbers.height())
    rows = live_rows(1)
    rows["pose"][:, :3] = [-0.188, -0.288, 0.488]
    numbers.show_rows(rows, rows)
    assert numbers.digit_style == look
    # nothing is drawn onto the edges: the last unit is whole
    image = _image(numbers)
    inside = image[20:-7]  # the corners are round
    assert inside[:, -2:].std() == inside[:, :2].std() == 0.0


def test_a_number_that_changes_moves_nothing(numbers: LargeNumbers) -> None:
    rows = live_rows(1)
    rows["pose"][:, :3] = [-0.188, 0.1, 0.45]
    numbers.show_rows(rows, rows)
    before = _image(numbers)
    rows["pose"][:, 0] = 0.0011
    numbers.show_rows(rows, rows)
    changed = np.flatnonzero((_image(numbers) != before).any(axis=0))
    assert len(changed) and changed.max() < 985 / 7 + 20  # in the place of x only
