"""The handle that a pose is dragged by: what the pointer tells of axes and rings, beside a camera of the tests' own."""

import math

import numpy as np
import pytest

from gui.models.timeline import Floats
from gui.scene.camera import Camera, focal
from gui.scene.handle import PARTS, Drag, Handle, across, along_axis, distance_to, is_draggable, ray, round_axis
from kinematics import angles_to_matrix

SIZE = (640.0, 420.0)
RNG = np.random.default_rng(7)


def looking(azimuth: float = -1.0, elevation: float = 0.4, distance: float = 2.0) -> Camera:
    return Camera(azimuth, elevation, distance, np.array([0.1, -0.05, 0.4]))


def seen_at(camera: Camera, point: Floats) -> Floats:
    """Where a point is on the picture, px: by a look-at frame made of cross products, and similar triangles."""
    eye = camera.target + camera.distance * np.array(
        [
            math.cos(camera.elevation) * math.cos(camera.azimuth),
            math.cos(camera.elevation) * math.sin(camera.azimuth),
            math.sin(camera.elevation),
        ]
    )
    ahead = (camera.target - eye) / camera.distance
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    way = point - eye
    scale = focal(SIZE) / float(way @ ahead)
    place: Floats = np.array(SIZE) / 2 + scale * np.array([way @ right, -way @ np.cross(right, ahead)])
    return place


def cases() -> list[tuple[Camera, Floats, Floats]]:
    """A camera, a point and an axis, well seen from there."""
    found: list[tuple[Camera, Floats, Floats]] = []
    while len(found) < 30:
        camera = looking(RNG.uniform(-3, 3), RNG.uniform(0.05, 1.4), RNG.uniform(1.0, 3.0))
        origin, axis = camera.target + RNG.uniform(-0.2, 0.2, 3), RNG.normal(size=3)
        axis /= np.linalg.norm(axis)
        if all(is_draggable(camera, origin, axis, turning=turning) for turning in (False, True)):
            found.append((camera, origin, axis))
    return found


def test_a_ray_goes_through_what_is_seen_there() -> None:
    for camera, origin, _axis in cases():
        direction = ray(camera, SIZE, tuple(seen_at(camera, origin).tolist()))
        assert np.linalg.norm(np.cross(direction, origin - camera.eye)) < 1e-9
        assert float(direction @ (origin - camera.eye)) > 0.0


def test_what_is_dragged_along_an_axis_lies_under_the_pointer() -> None:
    for camera, origin, axis in cases():
        far = RNG.uniform(-0.25, 0.25)
        line = seen_at(camera, origin + (far + 1e-5) * axis) - seen_at(camera, origin + (far - 1e-5) * axis)
        aside = RNG.uniform(-60, 60) * np.array([-line[1], line[0]]) / np.linalg.norm(line)
        pointer = seen_at(camera, origin + far * axis) + aside  # beside the axis, at a right angle to its picture
        found = along_axis(camera, SIZE, tuple(pointer.tolist()), origin, axis)
        assert found == pytest.approx(far, abs=1e-7)
        places = [seen_at(camera, origin + (far + step) * axis) for step in (-0.01, 0.0, 0.01)]
        near = [float(np.linalg.norm(place - pointer)) for place in places]
        assert near[1] < near[0] and near[1] < near[2]  # nowhere else is it nearer


def test_what_is_dragged_round_a_ring_lies_under_the_pointer() -> None:
    told = 0
    for camera, origin, axis in cases():
        first, second = across(axis)
        np.testing.assert_allclose(np.cross(first, second), axis, atol=1e-12)
        angle, radius = RNG.uniform(-3, 3), RNG.uniform(0.05, 0.3)
        point = origin + radius * (math.cos(angle) * first + math.sin(angle) * second)
        found = round_axis(camera, SIZE, tuple(seen_at(camera, point).tolist()), origin, axis)
        if found is not None:  # the plane is seen edge-on from there
            told += 1
            assert math.remainder(found - angle, 2 * math.pi) == pytest.approx(0.0, abs=1e-7)
    assert told >= 25  # of thirty


def test_an_axis_seen_end_on_and_a_ring_seen_edge_on_cannot_be_taken() -> None:
    camera = looking(elevation=0.0)
    middle = tuple(seen_at(camera, camera.target).tolist())
    ahead = (camera.target - camera.eye) / camera.distance
    up = np.array([0.0, 0.0, 1.0])
    assert not is_draggable(camera, camera.target, ahead, turning=False)
    assert is_draggable(camera, camera.target, ahead, turning=True)
    assert not is_draggable(camera, camera.target, up, turning=True)
    assert along_axis(camera, SIZE, middle, camera.target, ahead) is None
    assert round_axis(camera, SIZE, middle, camera.target, up) is None
    behind = camera.eye - 0.5 * ahead
    assert along_axis(camera, SIZE, middle, behind, up) is None
    assert round_axis(camera, SIZE, middle, behind, ahead) is None


def test_beyond_the_horizon_of_an_axis_the_pointer_tells_nothing() -> None:
    camera, axis = looking(azimuth=-math.pi / 2, elevation=0.2), np.array([0.0, 1.0, 0.0])
    near, far = (seen_at(camera, camera.target + distance * axis) for distance in (1.0, 1e6))
    assert far[1] < near[1]  # it goes up to its vanishing point
    above = (float(far[0]), float(far[1] - 5.0))
    assert along_axis(camera, SIZE, above, camera.target, axis) is None


def test_each_part_is_taken_where_it_is_seen() -> None:
    camera = looking()
    handle = Handle(camera.target, np.asarray(angles_to_matrix([0.2, -0.1, 0.1])), 0.25)
    for part in PARTS:
        assert is_draggable(camera, handle.place, handle.axis(part), turning=len(part) > 1)
        line = handle.line(part)
        own = line[-1:] if len(part) == 1 else line
        hits = [handle.at(camera, SIZE, tuple(seen_at(camera, point).tolist())) for point in own]
        assert hits.count(part) > 0.5 * len(hits) and set(hits) <= set(PARTS)  # where it crosses no other
    assert handle.at(camera, SIZE, (5.0, 5.0)) == ""
    assert distance_to(np.array([[0.0, 0.0], [10.0, 0.0]]), (4.0, 3.0)) == pytest.approx(3.0)
    assert distance_to(np.array([[0.0, 0.0], [10.0, 0.0]]), (13.0, 4.0)) == pytest.approx(5.0)


@pytest.mark.parametrize("axis", range(3))
def test_a_ring_is_turned_as_often_round_as_one_likes_and_right_handed(axis: int) -> None:
    camera = looking(elevation=0.7)
    handle = Handle(camera.target, np.eye(3), 0.3)
    first, second, normal = (np.eye(3)[(axis + shift) % 3] for shift in (1, 2, 0))
    np.testing.assert_array_equal(np.cross(first, second), normal)

    def place(angle: float) -> tuple[float, float]:
        point = handle.place + 0.2 * (math.cos(angle) * first + math.sin(angle) * second)
        x, y = seen_at(camera, point).tolist()
        return x, y

    drag = Drag(handle, PARTS[3 + axis], camera, SIZE, place(0.4))
    told = [drag.to(camera, SIZE, place(0.4 + turned)) for turned in np.linspace(0.0, 4.5 * math.pi, 40)]
    known = [(one, turned) for one, turned in zip(told, np.linspace(0.0, 4.5 * math.pi, 40), strict=True) if one]
    assert len(known) > 30
    np.testing.assert_allclose([one for one, _ in known], [turned for _, turned in known], atol=1e-6)


def test_a_drag_is_told_from_where_it_was_taken() -> None:
    camera = looking()
    handle = Handle(camera.target, np.eye(3), 0.3)

    def place(far: float) -> tuple[float, float]:
        x, y = seen_at(camera, handle.place + far * np.array([1.0, 0.0, 0.0])).tolist()
        return x, y

    drag = Drag(handle, "x", camera, SIZE, place(0.28))
    assert drag.to(camera, SIZE, place(0.28)) == pytest.approx(0.0, abs=1e-9)
    assert drag.to(camera, SIZE, place(0.08)) == pytest.approx(-0.2, abs=1e-9)
    assert drag.to(camera, SIZE, place(0.33)) == pytest.approx(0.05, abs=1e-9)
