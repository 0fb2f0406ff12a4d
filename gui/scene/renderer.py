"""Draws solids and meshes through OpenGL into an image of their bounding region."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from OpenGL import GL
from pyqtgraph.Qt import QtCore, QtGui, isQObjectAlive

from gui.models import Floats
from gui.scene.camera import KEY_LIGHT, Camera, focal
from gui.scene.gl_context import drawing_board
from gui.scene.meshes import SOLID, Mesh, Placed, Solids
from gui.scene.shaders import MESH_FRAGMENT, MESH_VERTEX, SOLID_FRAGMENT, SOLID_VERTEX

_GRAIN = 128
"""px, growth step of a board: avoids reallocation in every frame."""
_SETTERS = {1: GL.glUniform1f, 2: GL.glUniform2f, 3: GL.glUniform3f, 4: GL.glUniform4f}


class Program:
    """A program of a vertex and a fragment shader. Raises RuntimeError if it does not compile."""

    def __init__(self, vertex: str, fragment: str) -> None:
        self._name = int(GL.glCreateProgram())
        for kind, source in ((GL.GL_VERTEX_SHADER, vertex), (GL.GL_FRAGMENT_SHADER, fragment)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, source)
            GL.glCompileShader(shader)
            if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
                raise RuntimeError(f"OpenGL refuses a shader: {GL.glGetShaderInfoLog(shader)!r}")
            GL.glAttachShader(self._name, shader)
            GL.glDeleteShader(shader)  # deleted with the program
        GL.glLinkProgram(self._name)
        if not GL.glGetProgramiv(self._name, GL.GL_LINK_STATUS):
            raise RuntimeError(f"OpenGL refuses a program: {GL.glGetProgramInfoLog(self._name)!r}")
        self._places: dict[str, int] = {}

    def use(self, values: dict[str, Floats]) -> None:
        """Activate it and set uniforms `values`: (1,) to (4,), or matrices (3, 3); others keep their values."""
        GL.glUseProgram(self._name)
        for name, value in values.items():
            place = self._places.get(name)
            if place is None:
                place = self._places[name] = int(GL.glGetUniformLocation(self._name, name))
            if place < 0:
                continue
            if value.ndim == 2:
                GL.glUniformMatrix3fv(place, 1, True, value.astype(np.float32))
            else:
                _SETTERS[len(value)](place, *value)


class Board:
    """Framebuffer with colour and depth, multisampled; grows on demand."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._size = (0, 0)
        self._region = QtCore.QRect()
        self._frames: list[tuple[int, list[int]]] = []
        """Framebuffers and their attachments: the multisampled one, and the resolved one."""

    def begin(self, region: QtCore.QRect, size: tuple[int, int]) -> None:
        """Clear it and start drawing the part `region` of a picture of this size, px."""
        needed = tuple(-(-side // _GRAIN) * _GRAIN for side in (region.width(), region.height()))
        if any(n > s for n, s in zip(needed, self._size, strict=True)):
            self.release()
            self._size = (max(needed[0], self._size[0]), max(needed[1], self._size[1]))
            self._frames = [self._frame(samples) for samples in ([self._samples, 0] if self._samples else [0])]
        self._region = region
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._frames[0][0])
        GL.glViewport(-region.x(), -region.y(), *size)
        GL.glScissor(0, 0, region.width(), region.height())
        GL.glEnable(GL.GL_SCISSOR_TEST)
        GL.glEnable(GL.GL_DEPTH_TEST)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA)
        GL.glClearColor(0.0, 0.0, 0.0, 0.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)

    def picture(self) -> QtGui.QImage:
        """Return the image drawn since `begin`, with transparent background."""
        width, height = self._region.width(), self._region.height()
        if self._samples:
            GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._frames[0][0])
            GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, self._frames[1][0])
            area = (0, 0, width, height)
            GL.glBlitFramebuffer(*area, *area, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self._frames[-1][0])
        image = QtGui.QImage(width, height, QtGui.QImage.Format.Format_ARGB32_Premultiplied)
        bits = image.bits()
        bits.setsize(image.sizeInBytes())
        GL.glReadPixels(0, 0, width, height, GL.GL_BGRA, GL.GL_UNSIGNED_INT_8_8_8_8_REV, np.frombuffer(bits, np.uint32))
        return image

    def release(self) -> None:
        """Release all resources."""
        for frame, buffers in self._frames:
            GL.glDeleteFramebuffers(1, [frame])
            GL.glDeleteRenderbuffers(len(buffers), buffers)
        self._frames = []

    def _frame(self, samples: int) -> tuple[int, list[int]]:
        frame = int(GL.glGenFramebuffers(1))
        buffers = [int(buffer) for buffer in GL.glGenRenderbuffers(2)]
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, frame)
        for buffer, form, place in zip(
            buffers,
            (GL.GL_RGBA8, GL.GL_DEPTH_COMPONENT24),
            (GL.GL_COLOR_ATTACHMENT0, GL.GL_DEPTH_ATTACHMENT),
            strict=True,
        ):
            GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, buffer)
            GL.glRenderbufferStorageMultisample(GL.GL_RENDERBUFFER, samples, form, *self._size)
            GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, place, GL.GL_RENDERBUFFER, buffer)
        status = GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER)
        if status != GL.GL_FRAMEBUFFER_COMPLETE:
            raise RuntimeError(f"OpenGL gives no board of {self._size[0]} × {self._size[1]} px: {status}")
        return frame, buffers


_TO_EYE = np.array([0.0, 0.0, 1.0])
_GLOSS = (KEY_LIGHT + _TO_EYE) / np.linalg.norm(KEY_LIGHT + _TO_EYE)
_QUAD = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
_SMOOTH = 4
"""Samples per pixel of exported pictures."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An image with transparent background, and its position in the whole picture, px."""

    image: QtGui.QImage
    corner: QtCore.QPoint


@dataclass(slots=True)
class _MeshBuffers:
    """Buffers of a mesh on the GPU."""

    array: int
    buffer: int
    corners: int


class Renderer:
    """Owns buffers in the shared context; `close` releases them."""

    def __init__(self) -> None:
        self._context, self._surface = drawing_board()
        self._meshes: dict[Mesh, _MeshBuffers] = {}
        self._boards: dict[int, Board] = {}
        self._context.makeCurrent(self._surface)
        try:
            self._solid, self._mesh = _programs()
            name = GL.glGetString(GL.GL_RENDERER) or b""
            self.software = any(kind in name.lower() for kind in (b"llvmpipe", b"softpipe", b"swr"))
            """Whether the CPU renders."""
            self._array = int(GL.glGenVertexArrays(1))
            self._quad, self._instances = (int(buffer) for buffer in GL.glGenBuffers(2))
            self._describe_solids()
        finally:
            self._context.doneCurrent()

    def close(self) -> None:
        """Release all buffers, unless the context is gone. Nothing can be drawn afterwards."""
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
        """Return what a camera sees in a picture of `size` (width, height), px; None if nothing is in the picture.

        rim: brightening of edges; negative darkens. fine: antialias meshes even if the CPU renders.
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
            buffers = self._upload(placed.mesh)
            paint = np.array([*placed.colour, placed.alpha])
            turn = camera.axes @ placed.rotation
            shift = camera.seen(placed.origin[None])[0]
            self._mesh.use(common | {"paint": paint, "turn": turn, "shift": shift})
            GL.glBindVertexArray(buffers.array)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, buffers.corners)

    def _upload(self, mesh: Mesh) -> _MeshBuffers:
        buffers = self._meshes.get(mesh)
        if buffers is None:
            buffers = _MeshBuffers(int(GL.glGenVertexArrays(1)), int(GL.glGenBuffers(1)), len(mesh.corners))
            GL.glBindVertexArray(buffers.array)
            GL.glBindBuffer(GL.GL_ARRAY_BUFFER, buffers.buffer)
            GL.glBufferData(GL.GL_ARRAY_BUFFER, mesh.corners.nbytes, mesh.corners, GL.GL_STATIC_DRAW)
            for place in (0, 1):
                _attribute(place, 3, 24, 12 * place)
            self._meshes[mesh] = buffers
        return buffers

    def _keep_only(self, meshes: Sequence[Mesh]) -> None:
        """Release the buffers of all other meshes."""
        for mesh in [mesh for mesh in self._meshes if mesh not in meshes]:
            buffers = self._meshes.pop(mesh)
            GL.glDeleteBuffers(1, [buffers.buffer])
            GL.glDeleteVertexArrays(1, [buffers.array])


@cache
def _programs() -> tuple[Program, Program]:
    """Return the programs for solids and meshes, created once for the shared context."""
    return Program(SOLID_VERTEX, SOLID_FRAGMENT), Program(MESH_VERTEX, MESH_FRAGMENT)


def _attribute(place: int, count: int, stride: int, offset: int) -> None:
    GL.glEnableVertexAttribArray(place)
    GL.glVertexAttribPointer(place, count, GL.GL_FLOAT, False, stride, ctypes.c_void_p(offset))


def _farthest_first(camera: Camera, solids: Solids) -> Solids:
    """Return the solids in camera axes, sorted back to front for blending."""
    placed = solids.copy()
    for end in ("begin", "end"):
        placed[end] = camera.seen(solids[end].astype(np.float64))
    return placed[np.argsort(placed["begin"][:, 2] + placed["end"][:, 2], kind="stable")]


def _extents(camera: Camera, solids: Solids, meshes: Sequence[Placed]) -> tuple[Floats, Floats]:
    """Return bounding balls of everything: centres (n, 3) m in base axes and radii (n,) m."""
    boxes = [placed.mesh.bounds @ placed.rotation.T + placed.origin for placed in meshes]
    centres = np.concatenate([solids["begin"], solids["end"], *boxes]).astype(np.float64)
    radii = np.concatenate([solids["begin_radius"], solids["end_radius"], np.zeros(8 * len(boxes))])
    return centres, radii.astype(np.float64)


def _region(camera: Camera, size: tuple[int, int], solids: Solids, meshes: Sequence[Placed]) -> QtCore.QRect:
    """Return the part of the picture that contains everything, px."""
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
    """Return the uniforms of both programs."""
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
