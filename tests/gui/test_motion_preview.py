"""What is said and drawn of a motion before it runs."""

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from motion_support import HOME, look_first, looked, take
from shell_support import FakeSession, Panels, finite, make_status, press

from gui.models import Preview, preview_motion
from gui.models.motion import NEW_PARTS
from gui.motion.preview_views import PreviewPlots
from gui.widgets.theme import DARK
from kinematics import leg_lengths
from rig.config.rig_config import load_config
from rig.findings import Finding
from rig.states import State


def test_the_curves_show_the_motion(panels: Panels, qtbot: Any) -> None:
    panel = panels.motion
    take(panel, qtbot, parts=[{"type": "minimum-jerk", **NEW_PARTS["minimum-jerk"]}])
    position, _angles, length, speed, force = panel.sights.plots.curves
    times, z = position[2].getData()
    assert (times[0], times[-1]) == (0.0, pytest.approx(2.0))
    assert z[-1] - z[0] == pytest.approx(20.0)
    up = HOME + np.array([0, 0, 0.02, 0, 0, 0, 0])
    geometry = load_config("virtual").machine.geometry
    for leg in range(6):
        assert length[leg].getData()[1][-1] == pytest.approx(1e3 * leg_lengths(geometry, up)[leg])
        assert np.abs(speed[leg].getData()[1]).max() > 10.0
        assert finite(force[leg].getData()[1])


def test_a_motion_outside_the_limits_says_where_and_what_would_pass(
    panels: Panels, session: FakeSession, qtbot: Any
) -> None:
    session.take(make_status(State.ENGAGED))
    panel = panels.motion
    far = {"start": [0.0] * 6, "end": [0.0, 0.0, 0.25, 0.0, 0.0, 0.0], "duration": 3.0}
    take(panel, qtbot, parts=[{"type": "minimum-jerk", **far}])
    assert panel.verdict.text().startswith("✗ The trajectory exceeds the limits")
    assert "greatest length of leg" in panel.verdict.text() and " s, must be at most" in panel.verdict.text()
    assert not panel.run.isEnabled() and "does not pass" in panel.run.toolTip()
    press(panel.fit)
    looked(panel, qtbot)
    assert panel.amplitude.value() < 100.0 and panel.run.isEnabled()


@pytest.mark.parametrize(
    ("amplitude", "scale", "largest"), [(100.0, 0.413, 41.3), (37.3, 0.999, 37.2), (50.0, 0.299, 14.9)]
)
def test_the_largest_that_passes_is_never_rounded_up(
    panels: Panels, qtbot: Any, amplitude: float, scale: float, largest: float
) -> None:
    panel = panels.motion
    look_first(panel, qtbot)
    verdict = panel.preview.verdict
    assert verdict is not None
    panel.amplitude.set_si(amplitude)
    panel._show_preview(Preview(verdict=dataclasses.replace(verdict, obstacle=Finding.of_text("at 1 s"), scale=scale)))
    assert panel.fit.isEnabled()
    press(panel.fit)
    assert panel.amplitude.value() == pytest.approx(largest)


def test_no_amplitude_that_passes_is_said(panels: Panels, qtbot: Any) -> None:
    panel = panels.motion
    look_first(panel, qtbot)
    verdict = panel.preview.verdict
    assert verdict is not None
    panel.amplitude.set_si(0.1)
    panel._show_preview(Preview(verdict=dataclasses.replace(verdict, obstacle=Finding.of_text("at 1 s"), scale=0.9)))
    assert not panel.fit.isEnabled() and panel.fit.toolTip() == "none above 0.1 % passes"
    press(panel.fit)
    assert panel.amplitude.value() == 0.1


def test_only_the_newest_change_is_looked_at(panels: Panels, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = panels.motion
    look_first(panel, qtbot)
    looks, begun, gate = [], threading.Event(), threading.Event()

    def look(function: Callable[..., Preview], *arguments: Any) -> Preview:
        looks.append(arguments[3])
        begun.set()
        assert gate.wait(20.0)
        return function(*arguments)

    monkeypatch.setattr(panel._worker, "compute", look)
    for amplitude in (90.0, 80.0, 70.0, 60.0):
        panel.amplitude.set_si(amplitude)
        panel._preview()
        panel._changed.stop()
        if amplitude == 90.0:
            assert begun.wait(20.0)
    gate.set()
    looked(panel, qtbot)
    assert looks == [pytest.approx(0.9), pytest.approx(0.6)]


def test_the_curves_show_every_peak_of_a_long_fast_motion() -> None:
    sweep = {"dof": "z", "amplitude": 0.0005, "start_frequency": 10.0, "end_frequency": 10.0, "phase": 0.0}
    part = {"type": "chirp", "terms": [sweep], "duration": 120.0, "fade": 1.0, "offset": [0.0] * 6}
    motion = {"frame": "home", "pivot": [0.0] * 3, "parts": [part]}
    preview = preview_motion(load_config("virtual"), motion, Path(), 1.0, np.eye(6, 3))
    curves = preview.curves
    assert curves is not None and preview.table is not None and curves.from_home
    assert len(curves.t) < 2000 and curves.t[-1] == pytest.approx(120.0)
    z = 1e3 * curves.coordinates[:, 2]
    for first in np.arange(2.0, 117.0):  # every second of it goes all the way up and down
        part_of_it = z[(curves.t >= first) & (curves.t <= first + 1.0)]
        assert part_of_it.max() == pytest.approx(0.5, abs=0.01) and part_of_it.min() == pytest.approx(-0.5, abs=0.01)
    assert curves.coordinates[:, 2].max() == pytest.approx((preview.table.samples[:, 2] - HOME[2]).max(), abs=1e-12)


def test_every_bound_of_every_leg_is_drawn_once(qtbot: Any) -> None:
    config = load_config("virtual")
    legs = list(config.machine.legs)
    assert legs[4].limits is not None and legs[4].limits.length is not None
    shortest, longest = legs[4].limits.length
    legs[4] = dataclasses.replace(legs[4], limits=dataclasses.replace(legs[4].limits, length=(shortest, 0.5)))
    config._machine = dataclasses.replace(config.machine, legs=tuple(legs))
    plots = PreviewPlots(config, DARK)
    qtbot.addWidget(plots)
    plots.show_preview(Preview())
    drawn = [line.value() for line in plots._limits[2]]
    assert drawn == pytest.approx([1e3 * shortest, 500.0, 1e3 * longest])


def test_an_axis_is_not_drawn_in_the_hue_of_a_leg(panels: Panels) -> None:
    panels.motion.sights.plots.show_preview(Preview())
    position, angles, length, *_ = panels.motion.sights.plots.curves
    of_axes, of_angles, of_legs = (
        [curve.opts["pen"].color().name() for curve in curves] for curves in (position, angles, length)
    )
    assert of_axes == of_angles and len(set(of_legs)) == 6 and not set(of_axes) & set(of_legs)


def test_faults_of_a_motion_are_all_said(panels: Panels, qtbot: Any) -> None:
    panel = panels.motion
    blend = {"start": [0.0] * 6, "end": [0.0, 0.0, 0.02, 0.0, 0.0, 0.1], "duration": 2.0, "speed": 9.0}
    take(panel, qtbot, parts=[{"type": "blend", **blend}])
    assert "speed: 9" in panel.verdict.text() and "angular_speed: missing" in panel.verdict.text()
