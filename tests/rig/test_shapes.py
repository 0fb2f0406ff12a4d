"""Shapes of a machine's own bodies: STL, OBJ and GLB, and what is wrong with a file."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from rig.config import MOST_TRIANGLES, load_config, read_shape
from rig.config.rig_config import parse_config
from rig.errors import ConfigError, InputError

CORNERS = np.array([[0, 0, 0], [100, 0, 0], [0, 100, 0], [0, 0, 100]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
"""a tetrahedron, mm"""
VIRTUAL = load_config("virtual").path.read_text(encoding="utf-8")


def binary_stl(corners: np.ndarray) -> bytes:
    record = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    record["corners"] = corners
    return b"\0" * 80 + len(corners).to_bytes(4, "little") + record.tobytes()


def text_stl(corners: np.ndarray) -> bytes:
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x:g} {y:g} {z:g}\n" for x, y, z in facet)
        + "endloop\nendfacet\n"
        for facet in corners
    )
    return f"solid tetrahedron\n{facets}endsolid\n".encode()


def obj(faces: str) -> bytes:
    return ("# drawn\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "vn 0 0 1\n" + faces).encode()


def glb(change: dict[str, object] | None = None, faces: np.ndarray = FACES) -> bytes:
    """The same in metres, its y up, half of its size placed by its node; `change` is of the file's tables."""
    turned = CORNERS @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    numbers = (turned / 500).astype("<f4").tobytes() + faces.astype("<u2").tobytes()
    tables = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "scale": [0.5, 0.5, 0.5], "translation": [1.0, 2.0, 3.0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": len(numbers)}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [-1] * 3, "max": [1] * 3},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
    } | (change or {})
    text = json.dumps(tables).encode()
    text += b" " * (-len(text) % 4)
    chunks = [struct.pack("<II", len(text), 0x4E4F534A) + text, struct.pack("<II", len(numbers), 0x004E4942) + numbers]
    return struct.pack("<4sII", b"glTF", 2, 12 + sum(map(len, chunks))) + b"".join(chunks)


READ = {
    "binary.stl": binary_stl(CORNERS[FACES]),
    "text.STL": text_stl(CORNERS[FACES]),
    "triangles.obj": obj("f 1 3 2\nf 1/7 2/7/1 4//1\nf -4 -1 -2\nf 2 3 4\n"),
    "scene.glb": glb(),
}


@pytest.mark.parametrize("name", READ)
def test_a_tetrahedron_is_read_from_each_kind(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(READ[name])
    shape = read_shape(path, "mm")
    assert len(shape.points) == 4  # corners in one place are one
    triangles = shape.points[shape.faces]
    volume = np.einsum("mi,mi->", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])) / 6
    assert volume == pytest.approx(0.1**3 / 6)
    if path.suffix != ".glb":
        assert np.ptp(read_shape(path, "cm").points) == pytest.approx(1.0)


def test_a_scene_is_placed_by_its_nodes_and_its_y_is_up(tmp_path: Path) -> None:
    path = tmp_path / "scene.glb"
    path.write_bytes(READ["scene.glb"])
    points = read_shape(path, "in").points  # whatever the others are in
    expected = CORNERS / 1000 + [1.0, -3.0, 2.0]
    np.testing.assert_allclose(points[np.lexsort(points.T)], expected[np.lexsort(expected.T)], atol=1e-6)


def test_a_face_of_four_corners_is_two_triangles(tmp_path: Path) -> None:
    path = tmp_path / "quad.obj"
    path.write_bytes(obj("f 1 2 3 4\n"))
    assert len(read_shape(path, "mm").faces) == 2


WRONG = {
    "gone.stl": (None, "no such file"),
    "empty.stl": (b"", "0 bytes are not an STL file"),
    "cut.stl": (READ["binary.stl"][:-1], "283 bytes are not an STL file"),
    "odd.stl": (READ["text.STL"].replace(b"vertex 0 0 0\n", b"", 1), "11 corners, must be three for each triangle"),
    "word.stl": (READ["text.STL"].replace(b"vertex 0 0 0", b"vertex 0 zero 0"), "a coordinate is no number"),
    "nan.stl": (READ["text.STL"].replace(b"vertex 0 0 0", b"vertex 0 nan 0", 1), "point 1: nan, must be a finite"),
    "no-face.obj": (obj(""), f"0 triangles, must be 1 to {MOST_TRIANGLES}"),
    "beyond.obj": (obj("f 1 2 5\n"), "line 7: point 5, must be one of the 4 before it"),
    "zero.obj": (obj("f 0 1 2\n"), "line 7: point 0, must be one of the 4"),
    "text.obj": (obj("f 1 2 x\n"), "line 7: corner 'x' is no number"),
    "empty.glb": (b"", "not a GLB file that can be read"),
    "cut.glb": (READ["scene.glb"][:-1], "not a GLB file that can be read"),
    "no-mesh.glb": (glb({"meshes": [], "nodes": [{}]}), "0 triangles, must be 1 to"),
    "beyond.glb": (glb(faces=FACES + 1), "a triangle of point 4, of 4"),
    "flat.obj": (b"v 1 2\n", "line 1: 2 coordinates of a point, must be 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str) -> None:
    data, words = WRONG[name]
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError, match=r"^" + str(path)) as caught:
        read_shape(path, "mm")
    assert words in str(caught.value)


def test_too_many_triangles_and_a_wrong_unit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.stl"
    path.write_bytes(binary_stl(np.broadcast_to(CORNERS[FACES[0]], (MOST_TRIANGLES + 1, 3, 3))))
    with pytest.raises(InputError, match=f"{MOST_TRIANGLES + 1} triangles, must be 1 to {MOST_TRIANGLES}"):
        read_shape(path, "mm")
    path.write_bytes(binary_stl(10 * CORNERS[FACES]))
    with pytest.raises(InputError, match=r"1000 m across in unit 'm', must be 0.001 to 100 m"):
        read_shape(path, "m")


def test_triangles_without_an_area_are_no_shape(tmp_path: Path) -> None:
    path = tmp_path / "line.stl"
    path.write_bytes(binary_stl(np.array([[[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [20.0, 0.0, 0.0]]] * 3)))
    with pytest.raises(InputError, match="3 triangles, none of which has an area"):
        read_shape(path, "mm")


def test_a_configuration_names_shapes_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    with_shape = VIRTUAL.replace('# platform = "platform.stl"', 'platform = "platform.stl"')
    assert with_shape != VIRTUAL
    with pytest.raises(ConfigError, match=r"picture.platform: no such file: .*platform.stl"):
        parse_config(with_shape, path)
    (tmp_path / "platform.stl").write_bytes(READ["binary.stl"])
    config = parse_config(with_shape, path)
    assert config.picture.platform == "platform.stl" and config.picture.unit == "mm"
    with pytest.raises(ConfigError, match=r"picture.base: 'base.step', must end in .stl or .obj or .glb"):
        parse_config(with_shape.replace('# base = "base.obj"', 'base = "base.step"'), path)
