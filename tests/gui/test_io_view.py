"""Digital inputs and outputs in the panel Operate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from shell_support import FakeSession, make_status

from gui.operate.operate_panel import IoView, OperatePanel
from rig.engine import IoReport, ReplyCounts
from rig.states import State
from rig.telemetry import ROW

CONFIG = VIRTUAL.changed(
    {
        "io": {
            "block": {"host": "127.0.0.1", "port": 5090},
            "inputs": {"emergency_stop": {"channel": 0}, "safe_torque_off": {"channel": 1}},
            "outputs": {"enable": {"channel": 0}, "brakes": [{"channel": leg} for leg in range(1, 7)]},
        }
    }
)
INPUTS: tuple[tuple[str, bool | None], ...] = (("emergency_stop", True), ("safe_torque_off", True))


@pytest.fixture
def view(qtbot: Any) -> IoView:
    assert CONFIG.io is not None
    made = IoView(CONFIG.io)
    qtbot.addWidget(made)
    return made


def test_points_are_shown_by_name_and_state(view: IoView) -> None:
    assert view.text("emergency_stop") == view.text("outputs") == "–"
    view.show_report(IoReport(INPUTS, (("enable", True), ("brake_1", False), ("brake_2", True))))
    assert (view.text("emergency_stop"), view.text("outputs")) == ("✓ closed", "on: Enable, brake 2 released")
    view.show_report(IoReport(INPUTS, tuple((f"brake_{leg}", leg != 2) for leg in range(1, 7))))
    assert view.text("outputs") == "on: brakes 1, 3–6 released"
    view.show_report(IoReport((("emergency_stop", False), ("safe_torque_off", None)), (("enable", False),)))
    assert view.text("emergency_stop") == "✗ open" and view.text("safe_torque_off") == "✗ unknown"
    assert view.text("outputs") == "all off"
    view.show_report(None)
    assert view.text("emergency_stop") == "–"


def test_a_silent_block_leaves_its_inputs_unknown(view: IoView) -> None:
    assert view.text("block") == "–"
    view.show_report(IoReport(INPUTS, ()))
    assert (view.text("block"), view.text("emergency_stop")) == ("✓ ready", "✓ closed")
    view.show_report(IoReport(INPUTS, (), replies=ReplyCounts(damaged=1, lately=1)))
    assert view.text("block") == "✓ 1 reply rejected, 1 in the last second"
    view.show_report(IoReport(INPUTS, (), replies=ReplyCounts(damaged=2, foreign=1), silent=True))
    assert (view.text("block"), view.text("emergency_stop")) == ("✗ silent", "✗ unknown")
    view.show_report(IoReport(INPUTS, (), replies=ReplyCounts(damaged=2, foreign=1)))
    assert view.text("block") == "✓ 3 replies rejected, 0 in the last second"


def test_the_page_states_that_it_is_no_safety_function(view: IoView) -> None:
    assert "No safety function" in view.notice.text()


@pytest.fixture
def session(qtbot: Any, tmp_path: Path) -> Iterator[FakeSession]:
    made = FakeSession(CONFIG, tmp_path)
    yield made
    made.close()


def test_the_panel_follows_the_rig(session: FakeSession, qtbot: Any) -> None:
    panel = OperatePanel(session)
    qtbot.addWidget(panel)
    assert panel.io is not None
    row = np.zeros(1, ROW)[0]
    row["state"] = State.ENGAGED
    session.take(make_status(State.ENGAGED, io=IoReport(INPUTS, (("enable", True),))))
    panel.show_newest(row)
    assert panel.io.text("emergency_stop") == "✓ closed" and panel.io.text("outputs") == "on: Enable"
    assert panel.io.text("block") == "✓ ready"
    counted = ReplyCounts(late=1, foreign=2, lately=2, bound=5.0)
    session.take(make_status(State.ENGAGED, io=IoReport(INPUTS, (), (), counted)))
    panel.show_newest(row)
    assert panel.io.text("block") == "✓ 2 replies rejected, 2 in the last second"
