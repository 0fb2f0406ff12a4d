"""Numbers that Jog offers: of the machine's own size, and kept for each rig by itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from shell_support import VIRTUAL, FakeSession, make_settings

from gui.operate.jog_panel import JogPanel
from gui.operate.jog_speeds import JogSpeeds
from gui.operate.jog_steps import LegSteps, PoseSteps
from gui.session import Mover
from kinematics import Geometry
from rig.config.rig_config import RigConfig


def _sized(factor: float) -> RigConfig:
    """The shipped rig with every length of its mechanism so much larger."""
    geometry = VIRTUAL.machine.geometry
    home = geometry.home_pose.copy()
    home[:3] *= factor
    base, platform = factor * geometry.base_points, factor * geometry.platform_points
    geometry = Geometry(base, geometry.universal_axes, platform, home)
    config = VIRTUAL.model_copy()
    config._machine = replace(VIRTUAL.machine, geometry=geometry)
    return config


@pytest.mark.parametrize(
    ("factor", "step", "offered", "pivot"),
    [
        pytest.param(0.2, 0.5e-3, ["0.01", "0.05", "0.1", "0.5", "1"], 1.0, id="0.1 m"),
        pytest.param(1.0, 5e-3, ["0.1", "0.5", "1", "5", "10"], 1.0, id="0.5 m"),
        pytest.param(20.0, 50e-3, ["1", "5", "10", "50", "100"], 10.0, id="10 m"),
    ],
)
@pytest.mark.usefixtures("qapp")
def test_steps_and_pivot_suit_the_machine(factor: float, step: float, offered: list[str], pivot: float) -> None:
    config = _sized(factor)
    steps, legs = PoseSteps(config), LegSteps(config)
    assert steps.translation.si() == pytest.approx(step) and legs.step.si() == pytest.approx(0.4 * step)
    buttons = list(steps.presets[0].buttons.values())
    assert [button.text() for button in buttons] == offered
    for button in buttons:
        assert button.width() > button.fontMetrics().horizontalAdvance(button.text())
        button.click()
        assert button.isChecked()  # the field has taken it, within its bounds
    for box in steps.pivot:
        assert not box.fault(pivot) and box.fault(1.01 * pivot)
    assert steps.rotation.si() == pytest.approx(PoseSteps(VIRTUAL).rotation.si())


@pytest.mark.usefixtures("qapp")
def test_a_large_machine_may_be_moved_faster(qapp: Any) -> None:
    assert JogSpeeds(_sized(1.0), lambda: (0.0, 0.0, 0.0)).speed.fault(2.0)
    assert not JogSpeeds(_sized(20.0), lambda: (0.0, 0.0, 0.0)).speed.fault(2.0)


def test_what_was_typed_for_one_rig_is_not_offered_for_another(
    session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    settings, mover = make_settings(tmp_path), Mover(session)
    panel = JogPanel(session, mover)
    qtbot.addWidget(panel)
    panel.speed.set_si(0.4)
    panel.steps.pivot[2].set_si(0.08)
    panel.save(settings)
    for name, speed, pivot in (("virtual", 0.4, 0.08), ("another", VIRTUAL.motion.approach_speed, 0.0)):
        session.config = session.config.changed({"name": name})
        again = JogPanel(session, mover)
        qtbot.addWidget(again)
        again.restore(settings)
        assert (again.speed.si(), again.steps.pivot[2].si()) == pytest.approx((speed, pivot))
    mover.close()
