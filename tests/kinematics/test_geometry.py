import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hexapods import lab_hexapod

from kinematics import Geometry, KinematicsError


def parts() -> dict[str, np.ndarray]:
    geometry = lab_hexapod()
    return {
        "base_points": geometry.base_points.copy(),
        "universal_axes": geometry.universal_axes.copy(),
        "platform_points": geometry.platform_points.copy(),
    }


def test_packed_rows_are_base_axis_platform() -> None:
    geometry = lab_hexapod()
    expected = np.hstack([geometry.base_points, geometry.universal_axes, geometry.platform_points])
    np.testing.assert_array_equal(geometry.array, expected)
    assert geometry.array.flags.c_contiguous


def test_axes_are_normalised() -> None:
    values = parts()
    geometry = Geometry(**{**values, "universal_axes": values["universal_axes"] * 7.5})
    np.testing.assert_allclose(np.linalg.norm(geometry.universal_axes, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(geometry.universal_axes, values["universal_axes"], atol=1e-15)


def test_home_position_means_a_level_pose() -> None:
    geometry = Geometry(**parts(), home=[0.01, 0.0, 0.4])
    np.testing.assert_array_equal(geometry.home_pose, [0.01, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0])


def test_home_pose_is_kept() -> None:
    pose = [0.0, 0.1, 0.4, np.cos(0.1), 0.0, 0.0, np.sin(0.1)]
    np.testing.assert_allclose(Geometry(**parts(), home=pose).home_pose, pose, rtol=0, atol=1e-16)


def test_no_home() -> None:
    geometry = Geometry(**parts())
    assert geometry.home is None
    with pytest.raises(KinematicsError, match="no home pose"):
        _ = geometry.home_pose


def test_frozen_and_read_only() -> None:
    geometry = lab_hexapod()
    with pytest.raises(dataclasses.FrozenInstanceError):
        geometry.home = None  # type: ignore[misc]
    for array in (geometry.base_points, geometry.universal_axes, geometry.platform_points, geometry.array):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        geometry.home_pose[0] = 1.0


def test_does_not_share_memory_with_what_it_was_given() -> None:
    values = parts()
    geometry = Geometry(**values)
    values["base_points"][0, 0] = 99.0
    assert geometry.base_points[0, 0] != 99.0


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_the_same_to_the_bit_and_still_read_only(clone: object) -> None:
    geometry = Geometry(**{**parts(), "universal_axes": np.random.default_rng(3).normal(size=(6, 3))}, home=[0, 0, 1])
    again = clone(geometry)  # type: ignore[operator]
    np.testing.assert_array_equal(again.array, geometry.array)
    np.testing.assert_array_equal(again.home, geometry.home)
    assert not again.array.flags.writeable


def test_replace_changes_one_part() -> None:
    geometry = lab_hexapod()
    moved = dataclasses.replace(geometry, base_points=geometry.base_points + 0.1)
    np.testing.assert_array_equal(moved.array[:, :3], geometry.base_points + 0.1)
    np.testing.assert_array_equal(moved.array[:, 3:], geometry.array[:, 3:])


@pytest.mark.parametrize(
    ("part", "name"),
    [("base_points", "base points"), ("universal_axes", "universal axes"), ("platform_points", "platform points")],
)
class TestRefusals:
    def refuse(self, part: str, value: object, message: str) -> None:
        with pytest.raises(KinematicsError, match=message):
            Geometry(**{**parts(), part: value})  # type: ignore[arg-type]

    def test_five_rows(self, part: str, name: str) -> None:
        self.refuse(part, parts()[part][:5], rf"{name}: shape \(5, 3\), must be \(6, 3\)")

    def test_transposed(self, part: str, name: str) -> None:
        self.refuse(part, parts()[part].T, rf"{name}: shape \(3, 6\), must be \(6, 3\)")

    def test_ragged(self, part: str, name: str) -> None:
        self.refuse(part, [[1.0, 2.0, 3.0]] * 5 + [[1.0, 2.0]], rf"{name}: not a regular array of numbers")

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, part: str, name: str, value: float) -> None:
        points = parts()[part]
        points[3, 1] = value
        self.refuse(part, points, rf"{name}: leg 4 y is {value}, must be finite")

    def test_text(self, part: str, name: str) -> None:
        self.refuse(part, [["a", "b", "c"]] * 6, rf"{name}: holds <U1 values, must be real numbers")

    def test_complex(self, part: str, name: str) -> None:
        self.refuse(part, parts()[part] + 1j, rf"{name}: holds complex128 values, must be real numbers")


@pytest.mark.parametrize(("part", "name"), [("base_points", "base points"), ("platform_points", "platform points")])
def test_coincident_points_are_refused(part: str, name: str) -> None:
    values = parts()
    values[part][4] = values[part][1]
    with pytest.raises(KinematicsError, match=rf"{name}: legs 2 and 5 are 0 m apart at .* must be at least 1e-06 m"):
        Geometry(**values)


def test_axis_of_no_length_is_refused() -> None:
    values = parts()
    values["universal_axes"][5] = 0.0
    with pytest.raises(KinematicsError, match="universal axis of leg 6: length 0, must be above 1e-09"):
        Geometry(**values)


@pytest.mark.parametrize(
    ("home", "message"),
    [
        ([0.0, 0.0], r"home: shape \(2,\), must be \(7,\), or \(3,\) for a level"),
        ([[0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0]], r"home: shape \(1, 7\), must be \(7,\), or \(3,\)"),
        ([0.0, np.nan, 0.4], "home: y is nan, must be finite"),
        ([0.0, 0.0, 0.4, 1.0, 0.0, np.inf, 0.0], "home: qy is inf, must be finite"),
        ([0.0, 0.0, 0.4, 1.0, 0.1, 0.0, 0.0], r"home: quaternion norm 1\.004\d+, must be 1 within 1e-06"),
        ([0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0], "home: quaternion norm 0, must be 1 within 1e-06"),
    ],
)
def test_bad_homes_are_refused(home: list[float], message: str) -> None:
    with pytest.raises(KinematicsError, match=message):
        Geometry(**parts(), home=home)
