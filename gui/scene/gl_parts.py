"""The parts of OpenGL that drawing needs: programs, and a board to draw on whose picture can be read."""

import numpy as np
from OpenGL import GL
from pyqtgraph.Qt import QtCore, QtGui

from gui.session import Floats

_GRAIN = 128
"""px in whose steps a board grows: what moves does not make it anew in every frame"""
_SETTERS = {1: GL.glUniform1f, 2: GL.glUniform2f, 3: GL.glUniform3f, 4: GL.glUniform4f}


class Program:
    """A program of a vertex and a fragment shader. Raises RuntimeError where the driver does not take it."""

    def __init__(self, vertex: str, fragment: str) -> None:
        self._name = int(GL.glCreateProgram())
        for kind, source in ((GL.GL_VERTEX_SHADER, vertex), (GL.GL_FRAGMENT_SHADER, fragment)):
            shader = GL.glCreateShader(kind)
            GL.glShaderSource(shader, source)
            GL.glCompileShader(shader)
            if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
                raise RuntimeError(f"OpenGL refuses a shader: {GL.glGetShaderInfoLog(shader)!r}")
            GL.glAttachShader(self._name, shader)
            GL.glDeleteShader(shader)  # it goes with the program
        GL.glLinkProgram(self._name)
        if not GL.glGetProgramiv(self._name, GL.GL_LINK_STATUS):
            raise RuntimeError(f"OpenGL refuses a program: {GL.glGetProgramInfoLog(self._name)!r}")
        self._places: dict[str, int] = {}

    def use(self, values: dict[str, Floats]) -> None:
        """Draw with it, its uniforms being `values`: (1,) to (4,), or matrices (3, 3); others' are left."""
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
    """Colour and depth to draw on, with a number of samples a pixel; grows as it must."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._size = (0, 0)
        self._region = QtCore.QRect()
        self._frames: list[tuple[int, list[int]]] = []
        """framebuffers and what they hold: the one drawn on, the one read from"""

    def begin(self, region: QtCore.QRect, size: tuple[int, int]) -> None:
        """Draw on an empty board from now on: the part `region` of a picture of this size, px."""
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
        """What was drawn since `begin`, with transparent ground."""
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
        """Give everything back."""
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
