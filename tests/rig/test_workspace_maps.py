"""Slices and pictures of a workspace."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure

from dynamics import load_mechanism, pose_limits
from kinematics import PoseGrid, PoseLimits, condition_numbers, leg_lengths, pose_to_coordinates
from rig.workspace.maps import REASONS, Slice, dexterity_figure, draw_maps, limits_figure, slices
from rig.workspace.sweep import Workspace, sweep_workspace

MACHINE = load_mechanism("lab-hexapod")
LIMITS = pose_limits(MACHINE, characteristic_length=0.22)
BOX = np.array([-0.33, -0.31, 0.28]), np.array([0.34, 0.30, 0.63])


def swept(kind: str = "position", limits: PoseLimits = LIMITS, shape: tuple[int, int, int] = (16, 17, 18)) -> Workspace:
    if kind == "position":
        grid = PoseGrid("position", np.zeros(3), *BOX, shape)
    else:
        grid = PoseGrid("orientation", MACHINE.geometry.home_pose[:3], np.full(3, -0.9), np.full(3, 1.1), shape)
    return sweep_workspace("lab-hexapod", MACHINE.geometry, grid, limits, threads=1)


def contours(figure: Figure) -> int:
    return sum(
        len(child.get_paths())
        for axes in figure.axes
        for child in axes.get_children()
        if isinstance(child, QuadContourSet)
    )


@pytest.mark.parametrize("kind", ["position", "orientation"])
def test_slices_go_through_home_itself(kind: str) -> None:
    """Which is at no centre of a cell of the grid."""
    workspace = swept(kind)
    home = pose_to_coordinates(MACHINE.geometry.home_pose)
    at = home[:3] if kind == "position" else home[3:]
    assert all(np.abs(workspace.grid.axis(k) - at[k]).min() > 1e-3 for k in range(3))
    planes = slices(workspace)
    assert [plane.across for plane in planes] == [2, 1, 0]
    for plane in planes:
        others = [k for k in range(3) if k != plane.across]
        assert plane.value == at[plane.across]
        assert plane.home == tuple(at[others])
        cell = tuple(int(np.abs(plane.grid.axis(k) - at[k]).argmin()) for k in others)
        assert plane.reachable[cell]
        poses = plane.grid.poses()
        expected = condition_numbers(MACHINE.geometry, poses[:50], 0.22)
        np.testing.assert_allclose(plane.condition.ravel()[:50], expected)


def test_a_stroke_names_its_leg_and_its_end() -> None:
    seen = set()
    for plane in slices(swept()):
        lengths = leg_lengths(MACHINE.geometry, plane.grid.poses())
        reasons = plane.reason.ravel()
        for place in range(0, len(reasons), 97):
            reason = REASONS[reasons[place]]
            short, long = 0.40 - lengths[place], lengths[place] - 0.62
            worst = max(short.max(), long.max())
            if worst <= 0.0:
                assert not reason.startswith("leg ")
                continue
            leg = int(reason.split()[1]) - 1
            assert (short if reason.endswith("short") else long)[leg] == worst
            seen.add(reason)
    assert len(seen) >= 8


def test_contours_are_drawn_where_the_map_is_smooth() -> None:
    planes = slices(swept())
    assert contours(dexterity_figure(swept(), planes)) >= 6
    rough = [
        replace(plane, condition=np.where(np.indices(plane.condition.shape).sum(axis=0) % 2, 2.0, 40.0))
        for plane in planes
    ]
    assert not any(plane.smooth.any() for plane in rough)
    assert contours(dexterity_figure(swept(), rough)) == 0


def test_the_legend_names_what_is_there() -> None:
    planes = slices(swept())
    (legend,) = limits_figure(swept(), planes).legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [
        REASONS[number] for number in sorted({int(n) for plane in planes for n in np.unique(plane.reason)})
    ]
    assert {"reachable", "leg 1 too long", "leg 5 too short", "spherical joint"} <= set(names)


def test_without_home_in_the_box_the_middle_is_shown() -> None:
    grid = PoseGrid("position", np.zeros(3), np.array([-0.1, -0.1, 0.5]), np.array([0.1, 0.1, 0.55]), (8, 8, 8))
    planes = slices(sweep_workspace("lab-hexapod", MACHINE.geometry, grid, LIMITS, threads=1))
    assert [plane.home for plane in planes] == [None, None, None]
    assert 0.5 < planes[0].value < 0.55
    assert (planes[1].value, planes[2].value) == (0.0, 0.0)


def test_a_slice_is_shown_as_it_was_swept(tmp_path: Path) -> None:
    lower, upper = BOX[0].copy(), BOX[1].copy()
    lower[2] = upper[2] = 0.45
    grid = PoseGrid("position", np.zeros(3), lower, upper, (20, 22, 1))
    workspace = sweep_workspace("lab-hexapod", MACHINE.geometry, grid, LIMITS, threads=1)
    (plane,) = slices(workspace)
    assert isinstance(plane, Slice)
    assert (plane.across, plane.value, plane.home) == (2, 0.45, (0.0, 0.0))
    np.testing.assert_array_equal(plane.condition, workspace.samples.condition.reshape(20, 22))
    np.testing.assert_array_equal(plane.reachable, workspace.reachable[:, :, 0])
    paths = draw_maps(workspace, tmp_path)
    assert [path.name for path in paths] == [
        f"{name}.{kind}" for name in ("dexterity", "limits") for kind in ("png", "svg", "pdf")
    ]
    assert paths[1].read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert paths[2].read_bytes().startswith(b"%PDF")


def test_nothing_reachable_is_shown_all_the_same(tmp_path: Path) -> None:
    never = pose_limits(MACHINE, condition=1.0)
    assert len(draw_maps(swept(limits=never, shape=(5, 5, 5)), tmp_path)) == 6
