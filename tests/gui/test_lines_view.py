"""How much each line takes: bars by the plan, and the last exchange as measured."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from gui.operate.operate_panel import LinesView
from rig.config import load_config
from rig.engine import check_buses
from rig.telemetry import ROW


@pytest.fixture
def view(qtbot: QtBot) -> LinesView:
    made = LinesView(check_buses(load_config("virtual-mixed")))
    qtbot.addWidget(made)
    return made


def test_a_bar_for_each_line_says_its_share(view: LinesView) -> None:
    assert list(view.bars)[:5] == ["motor-3", "motor-4", "cylinder-5", "cylinder-6", "cell-1"]
    assert len(view.bars) == 10
    verdict = check_buses(load_config("virtual-mixed"))
    for plan in verdict.plans:
        bar = view.bars[plan.place]
        assert bar.value() == round(100.0 * plan.time / verdict.budget) and bar.text() == f"{bar.value()} %"
        assert plan.place in bar.toolTip() and f"{plan.bytes} bytes" in bar.toolTip()
        assert bar.accessibleName() == f"Share of line {plan.place}: {bar.text()}"


def test_a_line_beyond_its_time_is_full_and_says_by_how_much(qtbot: QtBot) -> None:
    slow = load_config("virtual-mixed").changed({"rate": 250.0, "drives": {"watchdog": 0.2}})
    view = LinesView(check_buses(slow))
    qtbot.addWidget(view)
    bar = view.bars["cylinder-5"]
    assert bar.value() == 100 and bar.text() == "185 %"


def test_what_the_last_exchange_took(view: LinesView) -> None:
    assert view.measured.text() == "of 6 ms for replies, as planned"
    row = np.zeros(1, ROW)
    row["exchange_time"] = 3.456e-3
    view.show_row(row[0])
    assert view.measured.text() == "last exchange 3.46 of 6 ms"
    view.show_nothing()
    assert view.measured.text() == "of 6 ms for replies, as planned"
