"""View of the platform with its legs coloured, live or scrubbed."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.numbers import number_text
from gui.live.opengl import gl_problem
from gui.live.platform_flat import PlatformFlat
from gui.live.scene import STROKE_SCALE, Colouring, Scale, colour_map, force_scale, make_scene
from gui.session import Timeline, largest_amount
from gui.widgets import Theme
from rig.angles import shown_angle
from rig.states import State, enum_name

if TYPE_CHECKING:
    from gui.live.platform_gl import PlatformGL

_TEXT_EVERY = 5
"""refreshes between two changes of the numbers"""

_BAR_WIDTH, _BAR_WIDTH_COMPACT = 230, 166  # px


class PlatformView(QtWidgets.QWidget):
    """The platform at the newest row of the timeline: 3-D, or two projections where there is no OpenGL.

    `refresh` is called by the clock of frames while this is visible; `set_mechanism` says what to draw.

    Args:
        theme: colours.
        compact: in little width, the controls in two lines, the pose in three.
    """

    def __init__(self, theme: Theme, *, compact: bool = False) -> None:
        super().__init__()
        self.setAccessibleName("Platform")
        self._theme = theme
        self._compact = compact
        self._mechanism: Mechanism | None = None
        self._row: np.void | None = None
        self._revision: tuple[int, int] | None = None
        self._refreshes = 0
        self._behind = False
        """whether the numbers are older than the picture"""
        self._largest = 0.0
        self._past = ""
        self.picture = _picture(theme)
        self.colouring = QtWidgets.QComboBox()
        self.colouring.setAccessibleName("What the legs' colours say")
        for kind in Colouring:
            self.colouring.addItem(kind.value, kind)
        self.bar = ColourBar(theme, _BAR_WIDTH if not compact else _BAR_WIDTH_COMPACT)
        self.pose = QtWidgets.QLabel("No mechanism")
        self.pose.setAccessibleName("Measured pose, mm and °")
        self.pose.setWordWrap(True)
        colours, viewpoints = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        if not compact:
            colours.addWidget(QtWidgets.QLabel("Legs coloured by"))
        self.colouring.setToolTip("What the legs' colours say")
        colours.addWidget(self.colouring)
        colours.addWidget(self.bar)
        colours.addStretch(1)
        for name in self.picture.viewpoints:
            self._add_view_button(viewpoints, name, f"{name} view", partial(self.picture.look_from, name))
        self._add_view_button(viewpoints, "Fit", "Fit the platform into the picture", self.picture.fit)
        viewpoints.addStretch(1 if compact else 0)
        controls = QtWidgets.QVBoxLayout() if compact else QtWidgets.QHBoxLayout()
        controls.addLayout(colours, 1)
        controls.addLayout(viewpoints)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(controls)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.pose)
        self.colouring.currentIndexChanged.connect(self._redraw)

    def _add_view_button(self, row: QtWidgets.QHBoxLayout, text: str, name: str, act: Callable[[], None]) -> None:
        button = QtWidgets.QToolButton()
        button.setText(text)
        button.setAccessibleName(name)
        button.clicked.connect(lambda: act())
        row.addWidget(button)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """The mechanism to draw; None draws nothing new."""
        self._mechanism = mechanism
        self._row = None
        self._largest = 0.0
        self.picture.frame_anew()
        self._redraw()

    def set_past(self, past: str) -> None:
        """Say why what is shown is not the present, in words; empty when it is."""
        if past != self._past:
            self._past = past
            self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.bar.set_theme(theme)
        self.picture.set_theme(theme)
        self._redraw()

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Keep under a name what the colours say."""
        settings.setValue(f"{name}/colouring", self.colouring.currentText())

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept under a name."""
        self.colouring.setCurrentText(str(settings.value(f"{name}/colouring", self.colouring.currentText())))

    def refresh(self, history: Timeline) -> None:
        """Show the timeline's present, no pose when there is none. Nothing is drawn that is shown already."""
        self._refreshes += 1
        due = self._refreshes % _TEXT_EVERY == 1
        revision = (id(history), history.revision)
        if revision != self._revision or (due and self._behind):
            self._revision = revision
            self._behind = not due
            self._largest = max(self._largest, history.peak_force)
            self.show_row(history.rows[-1] if len(history) else None, texts=due)

    def show_row(self, row: np.void | None, *, texts: bool = True) -> None:
        """Show one telemetry row; None: no pose is known."""
        self._row = None
        if row is not None:
            self._row = row.copy()
            self._largest = max(self._largest, largest_amount(row["force_measured"]))
        self._redraw(texts=texts)

    @property
    def kind(self) -> Colouring:
        """What the legs' colours say now."""
        return Colouring(self.colouring.currentData())

    def _redraw(self, *_args: object, texts: bool = True) -> None:
        if self._mechanism is None:
            self.pose.setText("No mechanism")
            return
        scale = force_scale(self._largest) if self.kind is Colouring.FORCE else STROKE_SCALE
        scene = make_scene(self._mechanism, self._row, self.kind, scale, self._theme, past=bool(self._past))
        self.picture.show_scene(scene)
        self.bar.show_scale(self.kind, scale)
        if texts or not scene.known:
            self.pose.setText(self._pose_text() if scene.known else f"{self._unknown}: shown at home, in grey")

    @property
    def _unknown(self) -> str:
        return f"{self._past}, pose not known" if self._past else "Pose not known"

    def _pose_text(self) -> str:
        if self._row is None:
            return ""
        position = 1e3 * self._row["pose"][:3]
        angles = [np.degrees(shown_angle(self._row["pose"][3:], axis)) for axis in range(3)]
        places = [f"{name} {number_text(float(value), 2)} mm" for name, value in zip("xyz", position, strict=True)]
        turns = [f"θ{name} {number_text(float(value), 2)}°" for name, value in zip("xyz", angles, strict=True)]
        state = enum_name(State, self._row["state"])
        moment = f"{float(self._row['t']):.3f} s   {f'{self._past}; last known: ' if self._past else ''}{state}"
        return ("\n" if self._compact else "   ").join((moment, "   ".join(places), "   ".join(turns)))


def _picture(theme: Theme) -> "PlatformGL | PlatformFlat":
    problem = gl_problem()
    if problem:
        return PlatformFlat(theme, problem)
    from gui.live.platform_gl import PlatformGL  # cannot be imported everywhere

    return PlatformGL(theme)


class ColourBar(QtWidgets.QWidget):
    """Scale of the legs' colours with its ends, at least `width` px wide."""

    def __init__(self, theme: Theme, width: int) -> None:
        super().__init__()
        self._theme = theme
        self._kind, self.scale = Colouring.FORCE, Scale(-1.0, 1.0, "N")
        self.setMinimumSize(width, 22)
        self.setAccessibleName("Scale of the colours")

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_scale(self, kind: Colouring, scale: Scale) -> None:
        """Show this scale; nothing for colours that only tell the legs apart."""
        if (kind, scale) != (self._kind, self.scale):
            self._kind, self.scale = kind, scale
            low, high = self.ends
            self.setAccessibleDescription(f"{low} to {high}")
            self.update()

    @property
    def ends(self) -> tuple[str, str]:
        """Texts at both ends, with the unit."""
        unit = self.scale.unit
        return f"{number_text(self.scale.low, 0)} {unit}", f"{number_text(self.scale.high, 0)} {unit}"

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        """Draw."""
        if self._kind is Colouring.LEG:
            return
        painter = QtGui.QPainter(self)
        painter.setPen(QtGui.QColor(self._theme.text))
        align = QtCore.Qt.AlignmentFlag
        low, high = self.ends
        room = painter.fontMetrics().horizontalAdvance("−5000 N") + 6
        area = QtCore.QRectF(self.rect())
        painter.drawText(area.adjusted(0, 0, room - area.width() - 4, 0), align.AlignRight | align.AlignVCenter, low)
        painter.drawText(area.adjusted(area.width() - room + 4, 0, 0, 0), align.AlignLeft | align.AlignVCenter, high)
        bar = area.adjusted(room, 5, -room, -5)
        gradient = QtGui.QLinearGradient(bar.topLeft(), bar.topRight())
        positions, colours = colour_map(self._kind).getStops(mode="qcolor")
        for position, colour in zip(positions, colours, strict=True):
            gradient.setColorAt(float(position), colour)
        painter.fillRect(bar, gradient)
        painter.end()
