"""Draws solids and meshes through OpenGL into a picture of their own, as large as they are on it.

Programs are made once for all pictures, buffers once for each; what moves is the solids' places and the meshes'
matrices.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from OpenGL import GL
from pyqtgraph.Qt import QtCore, QtGui, isQObjectAlive

from gui.scene.camera import KEY_LIGHT, Camera, focal
from gui.scene.gl_context import drawing_board
from gui.scene.gl_parts import Board, Program
from gui.scene.meshes import Mesh, Placed
from gui.scene.shaders import MESH_FRAGMENT, MESH_VERTEX, SOLID_FRAGMENT, SOLID_VERTEX
from gui.scene.solids import SOLID, Solids
from gui.session import Floats

_TO_EYE = np.array([0.0, 0.0, 1.0])
_GLOSS = (KEY_LIGHT + _TO_EYE) / np.linalg.norm(KEY_LIGHT + _TO_EYE)
_QUAD = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
_SMOOTH = 4
"""samples a pixel of a picture that is looked at for long"""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture with transparent ground, and where its upper left corner is on the whole one, px."""

    image: QtGui.QImage
    corner: QtCore.QPoint


@dataclass(slots=True)
class _Kept:
    """A mesh on the graphics processor."""

    array: int
    buffer: int
    corners: int


class Renderer:
    """Has its buffers in the context of all pictures; `close` gives them back."""

    def __init__(self) -> None:
        self._context, self._surface = drawing_board()
        self._meshes: dict[Mesh, _Kept] = {}
        self._boards: dict[int, Board] = {}
        self._context.makeCurrent(self._surface)
        try:
            self._solid, self._mesh = _programs()
            name = GL.glGetString(GL.GL_RENDERER) or b""
            self.software = any(kind in name.lower() for kind in (b"llvmpipe", b"softpipe", b"swr"))
            """whether the processor draws"""
            self._array = int(GL.glGenVertexArrays(1))
            self._quad, self._instances = (int(buffer) for buffer in GL.glGenBuffers(2))
            self._describe_solids()
        finally:
            self._context.doneCurrent()

    def close(self) -> None:
        """Give all buffers back, unless the context has gone before. Nothing can be drawn afterwards."""
        if not isQObjectAlive(self._context):
            return
        self._context.makeCurrent(self._surface)
        try:
            self._keep_only(())
            for board in self._boards.values():
                board.release()
            self._boards.clear()
            GL.glDeleteBuffers(2, [self._quad, self._instances])
            GL.glDeleteVertexArrays(1, [self._array])
        finally:
            self._context.doneCurrent()

    def draw(
        self,
        camera: Camera,
        size: tuple[int, int],
        solids: Solids,
        meshes: Sequence[Placed],
        *,
        rim: float,
        fine: bool = False,
    ) -> Drawn | None:
        """What a camera sees on a picture of width and height `size`, px; None where nothing of it is on the picture.

        rim: how much edges brighten; below 0 they darken. fine: edges of meshes are smooth even where the processor
        draws.
        """
        region = _region(camera, size, solids, meshes)
        if region.isEmpty():
            return None
        self._context.makeCurrent(self._surface)
        try:
            samples = _SMOOTH if fine or not self.software else 0
            board = self._boards.get(samples)
            if board is None:
                board = self._boards[samples] = Board(samples)
            board.begin(region, size)
            common = _common(camera, size, solids, meshes, rim)
            self._keep_only([placed.mesh for placed in meshes])
            solid = [placed for placed in meshes if placed.alpha >= 1.0]
            clear = [placed for placed in meshes if placed.alpha < 1.0]
            self._draw_meshes(camera, solid, common)
            order = _farthest_first(camera, solids)
            opaque = order["colour"][:, 3] >= 1.0
            self._draw_solids(order[opaque], common)
            GL.glDepthMask(False)
            self._draw_solids(order[~opaque], common)
            self._draw_meshes(camera, clear, common)
            GL.glDepthMask(True)
            return Drawn(board.picture(), region.topLeft())
        finally:
            self._context.doneCurrent()

    def _describe_solids(self) -> None:
        GL.glBindVertexArray(self._array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._quad)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, _QUAD.nbytes, _QUAD, GL.GL_STATIC_DRAW)
        _attribute(0, 2, 0, 0)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._instances)
        for place, (count, field) in enumerate(((4, "begin"), (4, "end"), (4, "colour"), (2, "stripes")), start=1):
            _attribute(place, count, SOLID.itemsize, SOLID.fields[field][1])  # type: ignore[index]
            GL.glVertexAttribDivisor(place, 1)
        GL.glBindVertexArray(0)

    def _draw_solids(self, solids: Solids, common: dict[str, Floats]) -> None:
        if not len(solids):
            return
        self._solid.use(common)
        GL.glBindVertexArray(self._array)
        GL.glBindBuffer(GL.GL_ARRAY_BUFFER, self._instances)
        GL.glBufferData(GL.GL_ARRAY_BUFFER, solids.nbytes, np.ascontiguousarray(solids), GL.GL_STREAM_DRAW)
        GL.glDrawArraysInstanced(GL.GL_TRIANGLE_STRIP, 0, 4, len(solids))

    def _draw_meshes(self, camera: Camera, meshes: Sequence[Placed], common: dict[str, Floats]) -> None:
        for placed in meshes:
            kept = self._upload(placed.mesh)
            paint = np.array([*placed.colour, placed.alpha])
            turn = camera.axes @ placed.rotation
            shift = camera.seen(placed.origin[None])[0]
            self._mesh.use(common | {"paint": paint, "turn": turn, "shift": shift})
            GL.glBindVertexArray(kept.array)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, kept.corners)

    def _upload(self, mesh: Mesh) -> _Kept:
        kept = self._meshes.get(mesh)
        if kept is None:
            kept = _Kept(int(GL.glGenVertexArrays(1)), int(GL.glGenBuffers(1)), len(mesh.corners))
            GL.glBindVertexArray(kept.array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, kept.buffer)
            GL.glBufferData(GL.GL_ARRAY_BUFFER, mesh.corners.nbytes, mesh.corners, GL.GL_STATIC_DRAW)
            for place in (0, 1):
                _attribute(place, 3, 24, 12 * place)
            self._meshes[mesh] = kept
        return kept

    def _keep_only(self, meshes: Sequence[Mesh]) -> None:
        """Give the buffers of all other meshes back."""
        for mesh in [mesh for mesh in self._meshes if mesh not in meshes]:
            kept = self._meshes.pop(mesh)
            GL.glDeleteBuffers(1, [kept.buffer])
            GL.glDeleteVertexArrays(1, [kept.array])


@cache
def _programs() -> tuple[Program, Program]:
    """Those that draw solids and meshes, made for the first picture and used by all: the context is one."""
    return Program(SOLID_VERTEX, SOLID_FRAGMENT), Program(MESH_VERTEX, MESH_FRAGMENT)


def _attribute(place: int, count: int, stride: int, offset: int) -> None:
    GL.glEnableVertexAttribArray(place)
    GL.glVertexAttribPointer(place, count, GL.GL_FLOAT, False, stride, ctypes.c_void_p(offset))


def _farthest_first(camera: Camera, solids: Solids) -> Solids:
    """The solids in the camera's axes; edges, which blend, come over what is behind them."""
    placed = solids.copy()
    for end in ("begin", "end"):
        placed[end] = camera.seen(solids[end].astype(np.float64))
    return placed[np.argsort(placed["begin"][:, 2] + placed["end"][:, 2], kind="stable")]


def _extents(camera: Camera, solids: Solids, meshes: Sequence[Placed]) -> tuple[Floats, Floats]:
    """Centres (n, 3) m in base axes and radii (n,) m of balls whose hull has everything."""
    boxes = [placed.mesh.bounds @ placed.rotation.T + placed.origin for placed in meshes]
    centres = np.concatenate([solids["begin"], solids["end"], *boxes]).astype(np.float64)
    radii = np.concatenate([solids["begin_radius"], solids["end_radius"], np.zeros(8 * len(boxes))])
    return centres, radii.astype(np.float64)


def _region(camera: Camera, size: tuple[int, int], solids: Solids, meshes: Sequence[Placed]) -> QtCore.QRect:
    """The part of the picture that has everything, px."""
    centres, radii = _extents(camera, solids, meshes)
    if not len(centres):
        return QtCore.QRect()
    places = camera.picture(centres, size)
    depths = np.maximum(-camera.seen(centres)[:, 2], 1e-3)
    around = (1.15 * focal(size) * radii / depths + 2.0)[:, None]
    limits = np.array(size)
    low = np.clip(np.floor((places - around).min(axis=0)), 0, limits).astype(int)
    high = np.clip(np.ceil((places + around).max(axis=0)), 0, limits).astype(int)
    return QtCore.QRect(int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1]))


def _common(
    camera: Camera, size: tuple[int, int], solids: Solids, meshes: Sequence[Placed], rim: float
) -> dict[str, Floats]:
    """What both programs are told."""
    centres, radii = _extents(camera, solids, meshes)
    depths = -camera.seen(centres)[:, 2]
    reach = float(radii.max(initial=0.0)) + 1e-3
    near = max(float(depths.min()) - reach, 1e-3)
    return {
        "light": KEY_LIGHT,
        "gloss": _GLOSS,
        "zenith": camera.axes[:, 2],
        "rim": np.array([rim]),
        "scale": 2.0 * focal(size) / np.array(size, dtype=np.float64),
        "pixel": np.array([1.0 / focal(size)]),
        "depths": np.array([near, max(float(depths.max()) + reach, near + 1e-3)]),
    }
