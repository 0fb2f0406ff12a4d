"""Thinning of curves, the range of value axes, the implied wrench."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live_rows import MECHANISM

from dynamics import Dynamics
from gui.live.plot import AxisRange
from gui.models.decimation import Thinned, decimate, stride_for
from gui.models.live import implied_wrench
from gui.models.timeline import Excerpt, Floats, Segment
from gui.widgets.theme import DARK, LIGHT, Theme
from rig.telemetry import ROW


@settings(max_examples=80)
@given(st.integers(0, 3000), st.integers(16, 400), st.integers(0, 10_000))
def test_thinned_curves_lose_no_peak(count: int, bins: int, first: int) -> None:
    values = np.random.default_rng(count).normal(size=(count, 3))
    times = np.arange(count) / 500.0
    t, thinned = decimate(times, values, bins, first)
    assert len(t) == len(thinned) <= 2 * bins + 4
    if count:
        np.testing.assert_array_equal(thinned.min(axis=0), values.min(axis=0))
        np.testing.assert_array_equal(thinned.max(axis=0), values.max(axis=0))
        assert (np.diff(t) >= 0).all() and t[0] == times[0]
    if count <= 2 * bins:
        assert thinned is values


def test_bins_stand_still_while_the_curve_moves() -> None:
    values = np.random.default_rng(2).normal(size=(4000, 1))
    times = np.arange(4000) / 500.0
    t0, before = decimate(times[:3000], values[:3000], 100, 0)
    t1, after = decimate(times[17:3017], values[17:3017], 100, 17)
    inside = (t0 > times[100]) & (t0 < times[2900])
    np.testing.assert_array_equal(t0[inside], t1[(t1 > times[100]) & (t1 < times[2900])])
    np.testing.assert_array_equal(before[inside], after[(t1 > times[100]) & (t1 < times[2900])])


def test_a_smooth_curve_stays_one() -> None:
    times = np.arange(4000) / 500.0
    _, thinned = decimate(times, np.column_stack([times, -times]), 100)
    assert (np.diff(thinned[:, 0]) > 0).all() and (np.diff(thinned[:, 1]) < 0).all()


def test_values_that_are_no_numbers_are_left_out() -> None:
    values = np.full((2000, 1), 3.0)
    values[::2] = np.nan
    values[1000:] = np.nan
    _, thinned = decimate(np.arange(2000.0), values, 50)
    assert (thinned[:40] == 3.0).all() and np.isnan(thinned[-40:]).all()


def test_stride_makes_no_more_bins_than_asked_for() -> None:
    assert [stride_for(count, 100) for count in (0, 100, 101, 201, 301, 401, 601)] == [1, 1, 2, 3, 4, 6, 8]


class _Moving:
    """A series of two columns whose rows become known one after the other, and how many of them were asked for."""

    def __init__(self, count: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.values = random.normal(size=(count, 2))
        self.known = np.ones(count, np.bool_)
        self.asked = 0
        rows = np.zeros(count, ROW)
        rows["t"] = np.arange(count) / 500.0
        self.timeline = Excerpt(rows)

    def extract(self, segment: Segment) -> Floats:
        self.asked += len(segment)
        part = slice(segment.first, segment.first + len(segment))
        return np.where(self.known[part, None], self.values[part], np.nan)

    def at(self, start: int, count: int) -> Segment:
        return self.timeline.cut(start, start + count)


@settings(max_examples=60)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_curves_that_are_thinned_again_and_again_are_as_thinned_at_once(data: st.DataObject, seed: int) -> None:
    moving = _Moving(6000, seed)
    moving.known[:] = np.random.default_rng(seed + 1).random(6000) < data.draw(st.sampled_from([0.0, 0.99, 0.9999]))
    thinned = Thinned(moving.extract)
    start = data.draw(st.integers(0, 3000))
    for _ in range(data.draw(st.integers(1, 8))):
        start = max(0, start + data.draw(st.integers(-100, 300)))
        count = data.draw(st.integers(1800, 2000) | st.integers(0, 4000))
        segment, bins = moving.at(start, count), data.draw(st.sampled_from([40, 50]))
        at_once = decimate(segment.times, moving.extract(segment), bins, start)
        for given_points, wanted in zip(thinned.points(moving.timeline, segment, bins), at_once, strict=True):
            np.testing.assert_array_equal(given_points, wanted)
        moving.known[data.draw(st.integers(0, 5999)) :] = True


def test_what_was_thinned_is_not_asked_for_again_unless_something_was_lacking() -> None:
    moving = _Moving(6000, 3)
    thinned = Thinned(moving.extract)
    segment = moving.at(1000, 4000)
    thinned.points(moving.timeline, segment, 100)
    moving.asked = 0
    thinned.points(moving.timeline, moving.at(1017, 4000), 100)
    assert moving.asked < 120  # the newest, and the parts of bins at both ends
    moving.asked, moving.known[4990:] = 0, False
    thinned.points(moving.timeline, moving.at(1017, 4000), 100)
    assert moving.asked < 120
    thinned.clear()
    moving.asked = 0
    _, values = thinned.points(moving.timeline, moving.at(1017, 4000), 100)
    assert moving.asked == 4000 and np.isnan(values[-1]).all()
    moving.known[4990:] = True
    other = _Moving(6000, 4)
    _, values = thinned.points(moving.timeline, moving.at(1017, 4000), 100)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(
        thinned.points(other.timeline, moving.at(1017, 4000), 100)[1],
        decimate(segment.times, moving.values[1017:5017], 100, 1017)[1],
    )


def test_axis_grows_at_once_and_shrinks_after_a_while() -> None:
    axis = AxisRange(least=1.0)
    assert axis.follow(0.0, 0.0) == pytest.approx((-0.56, 0.56))
    grown = axis.follow(-10.0, 0.0)
    assert grown is not None and grown[0] < -10.0
    changes = [axis.follow(-1.0, 0.0) for _ in range(60)]
    assert changes[:40] == [None] * 40
    assert next(change for change in changes if change is not None) == pytest.approx((-1.06, 0.06))
    axis.reset()
    assert axis.follow(3.0, 5.0) == pytest.approx((2.88, 5.12))


@pytest.mark.parametrize("seed", range(5))
def test_implied_wrench_is_the_one_that_acts(seed: int) -> None:
    """Against the exact dynamics: load cells with a known wrench, less the model that knows of none."""
    random = np.random.default_rng(seed)
    dynamics = Dynamics(MECHANISM)
    motions = np.zeros((4, 19))
    motions[:, :3] = random.uniform([-0.03, -0.03, 0.42], [0.03, 0.03, 0.48], (4, 3))
    motions[:, 3:7] = random.uniform([0.9, -0.1, -0.1, -0.1], [1.1, 0.1, 0.1, 0.1], (4, 4))
    motions[:, 3:7] /= np.linalg.norm(motions[:, 3:7], axis=1, keepdims=True)
    motions[:, 7:] = random.normal(0, 0.3, (4, 12))
    wrenches = random.normal(0, [30, 30, 30, 4, 4, 4], (4, 6))
    residuals = dynamics.cells(motions, wrenches) - dynamics.cells(motions)
    np.testing.assert_allclose(
        implied_wrench(MECHANISM.geometry, motions[:, :7], residuals), wrenches, rtol=1e-9, atol=1e-9
    )


def test_no_wrench_without_a_pose_or_a_residual() -> None:
    poses = np.tile([0, 0, 0.45, 1.0, 0, 0, 0], (3, 1))
    residuals = np.zeros((3, 6))
    poses[0, 2] = np.nan
    residuals[1, 4] = np.nan
    wrench = implied_wrench(MECHANISM.geometry, poses, residuals)
    assert np.isnan(wrench[:2]).all() and (wrench[2] == 0).all()


def _luminance(colour: str) -> float:
    parts = [part / 255 for part in bytes.fromhex(colour[1:])]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_text_can_be_read(theme: Theme) -> None:
    for colour in (theme.text, theme.muted, theme.accent, theme.good, theme.warning, theme.error):
        for ground in (theme.window, theme.surface):
            bright, dark = sorted((_luminance(colour), _luminance(ground)), reverse=True)
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, f"{colour} on {ground}"


def test_pens_are_one_pixel_wide() -> None:
    assert DARK.leg_pen(3).width() == 1
    assert DARK.leg_pen(3).color().name().upper() == "#0072B2"
    assert DARK.pen("#102030", dashed=True).style() != DARK.pen("#102030").style()
