"""Shapes of a machine's own bodies, for pictures: triangles from STL (binary or text), OBJ and GLB files."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator

from kinematics import Array, InputFileError, open_input
from rig.config.sections import Section, Text
from rig.errors import InputError

MOST_TRIANGLES = 200_000
"""more are not visible in a picture, and slow down every frame"""
MOST_SHAPE_BYTES = 100_000_000
_SMALLEST, _LARGEST = 1e-3, 100.0  # m, across the whole shape
_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
_HEAD, _TRIANGLE = 84, 50
"""bytes of a binary STL file before its triangles, and of each"""
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


def _known_kind(name: str) -> str:
    if Path(name).suffix.lower() not in _READERS:
        raise ValueError(f"{name!r}, must end in {' or '.join(_READERS)}")
    return name


ShapeFile = Annotated[Text, AfterValidator(_known_kind)]


class Picture(Section):
    """Shapes of the machine in pictures: files next to the configuration, instead of plates between the joints."""

    platform: ShapeFile | None = None
    """Shape of the platform, in axes of the platform frame."""
    base: ShapeFile | None = None
    """Shape of the base, in axes of the base frame."""
    unit: Literal["m", "cm", "mm", "in"] = "mm"
    """Unit of the files' coordinates; a GLB file is always in m."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Triangles `faces` (m, 3), three indices each into `points` (n, 3) m; coincident corners share a point."""

    points: Array
    faces: npt.NDArray[np.int64]


def read_shape(path: Path, unit: str) -> Shape:
    """Read a shape, its numbers in m, cm, mm or in; GLB is always in m, y up, by its standard.

    Raises:
        InputError: no such file or an unreadable one; not of the kind in its name; no triangles, more than
            `MOST_TRIANGLES`, or none with an area; a number that is not finite; not between 1 mm and 100 m across.
    """
    kind = path.suffix.lower()
    unit = _OWN_UNIT.get(kind, unit)
    try:
        with open_input(path, MOST_SHAPE_BYTES) as file:
            data = file.buffer.read()
        points, faces = _READERS[kind](data)
        if not 0 < len(faces) <= MOST_TRIANGLES:
            raise InputFileError(f"{len(faces)} triangles, must be 1 to {MOST_TRIANGLES}")
        bad = np.argwhere(~np.isfinite(points))
        if len(bad):
            raise InputFileError(f"point {bad[0][0] + 1}: {points[tuple(bad[0])]}, must be a finite number")
        points = points * _UNITS[unit]
        across = float(np.ptp(points[np.unique(faces)], axis=0).max())
        if not _SMALLEST <= across <= _LARGEST:
            raise InputFileError(f"{across:g} m across in unit {unit!r}, must be {_SMALLEST:g} to {_LARGEST:g} m")
        corners = points[faces]
        if not np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).any():
            raise InputFileError(f"{len(faces)} triangles, none of which has an area")
    except InputFileError as error:
        raise InputError(f"{path}: {error}") from None
    places, numbers = np.unique(points, axis=0, return_inverse=True)
    return Shape(places, numbers.reshape(-1)[faces])


def _read_stl(data: bytes) -> tuple[Array, npt.NDArray[np.int64]]:
    count = int.from_bytes(data[_HEAD - 4 : _HEAD], "little") if len(data) >= _HEAD else -1
    if len(data) == _HEAD + _TRIANGLE * count:
        corners = np.frombuffer(data, _FACET, count, _HEAD)["corners"].reshape(-1, 3).astype(np.float64)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _numbers(_VERTEX.findall(data))
        if len(corners) % 3:
            raise InputFileError(f"{len(corners)} corners, must be three for each triangle")
    else:
        raise InputFileError(f"{len(data)} bytes are not an STL file: neither text nor what its triangles would take")
    return corners, np.arange(len(corners)).reshape(-1, 3)


def _read_obj(data: bytes) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return points and faces; polygons become triangle fans. Textures, normals and groups are ignored."""
    points: list[tuple[bytes, ...]] = []
    faces: list[tuple[int, int, int]] = []
    for number, line in enumerate(data.splitlines(), start=1):
        words = line.split()
        if words[:1] == [b"v"]:
            if len(words) < 4:
                raise InputFileError(f"line {number}: {len(words) - 1} coordinates of a point, must be 3")
            points.append(tuple(words[1:4]))
        elif words[:1] == [b"f"]:
            corners = [_corner(word, len(points), number) for word in words[1:]]
            faces += [(corners[0], *pair) for pair in pairwise(corners[1:])]
    return _numbers(points), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _read_glb(data: bytes) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return all meshes of its scene, transformed by their nodes; their y, which points up, becomes z."""
    import trimesh

    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type="glb", process=False, skip_materials=True)
        mesh = scene.to_mesh()
        points, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    except Exception as error:  # the reader may raise anything on a malformed file
        raise InputFileError(f"not a GLB file that can be read: {type(error).__name__}: {error}") from None
    if faces.size and not 0 <= faces.min() <= faces.max() < len(points):
        raise InputFileError(f"a triangle of point {faces.max()}, of {len(points)}")
    return points[:, (0, 2, 1)] * (1.0, -1.0, 1.0), faces


def _corner(word: bytes, count: int, line: int) -> int:
    try:
        index = int(word.split(b"/")[0])
    except ValueError:
        raise InputFileError(f"line {line}: corner {word.decode(errors='replace')!r} is no number") from None
    place = index - 1 if index > 0 else count + index
    if index == 0 or not 0 <= place < count:
        raise InputFileError(f"line {line}: point {index}, must be one of the {count} before it")
    return place


def _numbers(points: list[tuple[bytes, ...]]) -> Array:
    try:
        return np.array(points, dtype="S32").astype(np.float64).reshape(-1, 3)
    except ValueError as error:
        raise InputFileError(f"a coordinate is no number: {error}") from None


_READERS: dict[str, Callable[[bytes], tuple[Array, npt.NDArray[np.int64]]]] = {
    ".stl": _read_stl,
    ".obj": _read_obj,
    ".glb": _read_glb,
}
_OWN_UNIT = {".glb": "m"}
