"""View of the platform with coloured legs, live or replayed: colour scale, overlays, split pane."""

from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from dynamics import Mechanism
from gui.live.export import ExportWriter, write_picture
from gui.live.platform_flat import PlatformFlat
from gui.models import Floats, Rows, Swept, Timeline, implied_wrench, largest_amount, number_text, state_word
from gui.scene import (
    STROKE_SCALE,
    Colouring,
    LegPaint,
    OverlayOptions,
    Scale,
    Scene,
    Shapes,
    colour_map,
    force_scale,
    gl_problem,
    is_pose,
    make_scene,
    open_picture,
)
from gui.texts import mark, tr
from gui.widgets import FixedSize, FlowLayout, GuardedButton, Theme, ask_save, set_icon
from kinematics import quaternion_to_matrix
from rig.angles import shown_angle

if TYPE_CHECKING:
    from gui.scene import PlatformGL


class ColourBar(QtWidgets.QWidget):
    """Scale of the legs' colours with its ends, at least `width` px wide."""

    def __init__(self, theme: Theme, width: int) -> None:
        super().__init__()
        self._theme = theme
        self._kind, self.scale = Colouring.FORCE, Scale(-1.0, 1.0, "N")
        self.setMinimumSize(width, 22)
        self.setAccessibleName(tr("Scale of the colours"))

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        self.update()

    def show_scale(self, kind: Colouring, scale: Scale) -> None:
        """Show this scale; nothing for colours that only identify legs."""
        if (kind, scale) != (self._kind, self.scale):
            self._kind, self.scale = kind, scale
            low, high = self.ends
            self.setAccessibleDescription(tr("{low} to {high}").format(low=low, high=high))
            self.update()

    @property
    def ends(self) -> tuple[str, str]:
        """Return the texts at both ends, with unit."""
        unit = self.scale.unit
        digits = 0 if self.scale.high >= 1.0 else 2
        return f"{number_text(self.scale.low, digits)} {unit}", f"{number_text(self.scale.high, digits)} {unit}"

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


_TEXTS = {
    "forces": (
        tr("&Forces"),
        tr("Arrows of the leg forces: measured in the leg's colour, the model as a thin arrow next to it"),
    ),
    "wrench": (
        tr("External &wrench"),
        tr("Force and moment (two heads) that the residuals imply, if the model is right"),
    ),
    "trail": (tr("&Trail"), tr("Path of the plate's centre over the last seconds")),
    "limits": (tr("&Limits"), tr("Mark legs that use 90 % of a stroke, joint angle or force")),
}


class OverlayMenu(QtWidgets.QToolButton):
    """Menu of `OverlayOptions`. Signal `changed` after a change.

    Args:
        problem: why overlays cannot be drawn; empty if they can.
        measured: whether there are measured forces, and residuals that imply a wrench.
    """

    changed = QtCore.Signal()

    def __init__(self, problem: str, *, measured: bool) -> None:
        super().__init__()
        self.problem = problem
        self.setText(tr("Show"))
        self.setAccessibleName(tr("What is drawn next to the machine"))
        self.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setEnabled(not problem)
        reason = (
            tr("Not possible: {problem}").format(problem=problem) if problem else tr("Forces, wrench, trail, limits")
        )
        self.setToolTip(reason)
        self.setAccessibleDescription(reason)
        menu = QtWidgets.QMenu(self)
        menu.setToolTipsVisible(True)
        self.actions_ = {}
        for field in fields(OverlayOptions):
            text, hint = _TEXTS[field.name]
            action = menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(bool(field.default))
            action.setToolTip(hint)
            self.actions_[field.name] = action
            action.toggled.connect(lambda _on: self.changed.emit())
        if not measured:
            self.actions_["wrench"].setEnabled(False)
            self.actions_["wrench"].setToolTip(tr("No measured forces: there are no residuals to derive a wrench from"))
        self.setMenu(menu)

    @property
    def shown(self) -> OverlayOptions:
        """The selected options."""
        return OverlayOptions(
            **{name: action.isEnabled() and action.isChecked() for name, action in self.actions_.items()}
        )

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the options under a name."""
        for part, action in self.actions_.items():
            settings.setValue(f"{name}/show {part}", "yes" if action.isChecked() else "no")

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore the options saved under a name."""
        for part, action in self.actions_.items():
            saved = settings.value(f"{name}/show {part}")
            if saved is not None:
                action.setChecked(saved == "yes")


_TEXT_EVERY = 5
"""Refreshes between updates of the numbers."""
_BAR_WIDTH = 166  # px
_LEAST_HEIGHT = 80  # px, minimum height of the picture
_TRAIL, _TRAIL_PIECES = 3.0, 24
"""s of the trail's length, and number of its segments."""
_CALM = 0.1
"""s over which residuals are averaged for the implied wrench."""
_PICTURE = 2.0
"""px of a saved picture per px on the screen."""
_KEYS = {mark("Isometric"): "I", mark("Front"): "F", mark("Side"): "S", mark("Top"): "T", mark("Fit"): "Home"}
_VIEWS = {
    "Isometric": mark("Isometric view"),
    "Front": mark("Front view"),
    "Side": mark("Side view"),
    "Top": mark("Top view"),
}


class PlatformView(QtWidgets.QWidget):
    """The platform at the newest row of the timeline: 3-D, or two projections without OpenGL.

    The frame clock calls `refresh` while it is visible; `set_mechanism` sets what to draw; `close_worker` ends the
    thread that writes pictures.

    Args:
        theme: colours.
        compact: for narrow places, the pose in three lines.
        bare: without colour selection, in leg colours, and without the pose.
        expected: rows are model predictions: the modelled forces are shown, there are none measured.
    """

    def __init__(self, theme: Theme, *, compact: bool = False, bare: bool = False, expected: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(tr("Platform"))
        self._theme = theme
        self._compact = compact
        self._bare = bare
        self._expected = expected
        self._forces = "force_model" if expected else "force_measured"
        self._mechanism: Mechanism | None = None
        self._row: np.void | None = None
        self._before: Rows | None = None
        self._revision: tuple[int, int] | None = None
        self._refreshes = 0
        self._behind = False
        """Whether the numbers are older than the picture."""
        self._largest = 0.0
        self._past = ""
        self._shapes = Shapes()
        problem = gl_problem()
        self.picture = _picture(theme, problem)
        self.colouring = QtWidgets.QComboBox()
        self.colouring.setAccessibleName(tr("Meaning of the leg colours"))
        for kind in Colouring:
            text = tr("expected force") if expected and kind is Colouring.FORCE else tr(kind.value)
            self.colouring.addItem(text, kind)
        self.colouring.setToolTip(tr("Meaning of the rod colours; the cylinders have the colour of their leg"))
        self.bar = ColourBar(theme, _BAR_WIDTH)
        self.menu = OverlayMenu(problem, measured=not expected)
        self.save_picture = GuardedButton(tr("Save …"), tr("Save a picture of the view at twice the resolution"))
        set_icon(self.save_picture, "picture")
        self.save_picture.setAccessibleName(tr("Save a picture of the platform"))
        self.save_picture.clicked.connect(self._ask_picture)
        self.pose = QtWidgets.QLabel(tr("No mechanism"))
        self.pose.setAccessibleName(tr("Measured pose, mm and °"))
        self.pose.setWordWrap(True)
        self._words = FixedSize(self.pose)
        self._exports = ExportWriter(self, self._set_message)
        self._lay_out()
        if bare:
            self.colouring.setCurrentIndex(self.colouring.findData(Colouring.LEG))
        self.colouring.currentIndexChanged.connect(self._redraw)
        self.menu.changed.connect(self._redraw)

    def _lay_out(self) -> None:
        controls = FlowLayout()
        if not self._bare:
            colours = QtWidgets.QHBoxLayout()
            colours.setSpacing(6)
            if not self._compact:
                colours.addWidget(QtWidgets.QLabel(tr("Rods coloured by")))
            colours.addWidget(self.colouring)
            colours.addWidget(self.bar)
            controls.addItem(colours)
        for name in self.picture.viewpoints:
            controls.addWidget(self._view_button(name, tr(_VIEWS[name]), partial(self.picture.set_viewpoint, name)))
        controls.addWidget(self._view_button("Fit", tr("Fit the platform into the picture"), self.picture.fit))
        controls.addWidget(self.menu)
        controls.addWidget(self.save_picture)
        self.controls = controls
        """For further buttons."""
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 4, 4)
        layout.addLayout(controls)
        layout.addWidget(self.picture, 1)
        self.picture.setMinimumHeight(_LEAST_HEIGHT)
        if not self._bare:
            layout.addWidget(self._words)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Update the minimum height: buttons and texts wrap by width."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().minimumHeightForWidth(self.width()))

    def _view_button(self, key: str, name: str, act: "partial[None] | object") -> QtWidgets.QToolButton:
        """Return a button with a shortcut that works while the picture has the focus."""
        button = QtWidgets.QToolButton()
        button.setText(tr(key))
        button.setAccessibleName(name)
        button.setToolTip(
            tr("{name} ({key}, in the picture)").format(name=name, key=_KEYS[key]) if self.picture.viewpoints else name
        )
        button.clicked.connect(lambda: act())  # type: ignore[operator]
        self.picture.keys[QtGui.QKeySequence(_KEYS[key])[0]] = button.click
        return button

    def set_shapes(self, shapes: Shapes) -> None:
        """Set custom meshes, used from the next `set_mechanism` on."""
        self._shapes = shapes

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Set the mechanism to draw; None: nothing new is drawn."""
        self._mechanism = mechanism
        self._row = self._before = None
        self._largest = 0.0
        self.save_picture.set_obstacle("" if mechanism is not None else tr("no mechanism is shown"))
        self.picture.set_mechanism(mechanism, self._shapes)
        self._redraw()

    def reset_scale(self) -> None:
        """Reset the force scale."""
        self._largest = 0.0

    def set_swept(self, swept: Swept | None, poses: Floats | None = None) -> None:
        """Show the space that the plate sweeps along a motion, and the path of its poses (t, 7); None: hide."""
        self.picture.set_swept(swept, poses)

    def set_past(self, past: str) -> None:
        """Show why the picture is not the present; empty if it is."""
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
        """Save colouring and overlays under a name."""
        settings.setValue(f"{name}/colouring", self.kind.value)
        self.menu.save(settings, name)

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore what was saved under a name."""
        saved = settings.value(f"{name}/colouring")
        self.colouring.setCurrentIndex(next((i for i, kind in enumerate(Colouring) if kind.value == saved), 0))
        self.menu.restore(settings, name)

    def close_worker(self) -> None:
        """Finish writing pictures. May be called again."""
        self._exports.close()

    def refresh(self, history: Timeline) -> None:
        """Show the timeline's present, no pose without one. Draws only changes."""
        self._refreshes += 1
        due = self._refreshes % _TEXT_EVERY == 1
        revision = (id(history), history.revision)
        if revision != self._revision or (due and self._behind):
            self._revision = revision
            self._behind = not due
            self._largest = max(self._largest, history.peak_force)
            self.show_row(history.rows[-1] if len(history) else None, before=history.rows, texts=due)

    def show_row(self, row: np.void | None, *, before: Rows | None = None, texts: bool = True) -> None:
        """Show one telemetry row; None: the pose is unknown. before: rows up to it, for trail and wrench."""
        self._row, self._before = None, before
        if row is not None:
            self._row = row.copy()
            self._largest = max(self._largest, largest_amount(row[self._forces]))
        self._redraw(texts=texts)

    def scene_of(self, row: np.void | None, before: Rows | None) -> Scene:
        """Return the scene of a row with the rows before it, as this view shows it."""
        assert self._mechanism is not None
        shown, scale = self.menu.shown, force_scale(self._largest)
        wrench = _wrench(self._mechanism, before) if shown.wrench and before is not None else None
        trail = _trail(before) if shown.trail and before is not None else None
        self.picture.shown, self.picture.full_force = shown, scale.high
        return make_scene(
            self._mechanism,
            row,
            LegPaint(
                self.kind, scale if self.kind is Colouring.FORCE else STROKE_SCALE, self._theme, forces=self._forces
            ),
            past=bool(self._past),
            wrench=wrench,
            trail=trail,
        )

    @property
    def kind(self) -> Colouring:
        """The selected colouring."""
        return Colouring(self.colouring.currentData())

    def _redraw(self, *_args: object, texts: bool = True) -> None:
        if self._mechanism is None:
            self._set_message(tr("No mechanism"))
            return
        scene = self.scene_of(self._row, self._before)
        self.picture.show_scene(scene)
        self.bar.show_scale(self.kind, force_scale(self._largest) if self.kind is Colouring.FORCE else STROKE_SCALE)
        if texts or not scene.known:
            self._set_message(
                self._pose_text()
                if scene.known
                else tr("{unknown}: shown at home, in grey").format(unknown=self._unknown)
            )

    @property
    def _unknown(self) -> str:
        return tr("{past}, pose not known").format(past=self._past) if self._past else tr("Pose not known")

    def _pose_text(self) -> str:
        if self._row is None:
            return ""
        position = 1e3 * self._row["pose"][:3]
        angles = [np.degrees(shown_angle(self._row["pose"][3:], axis)) for axis in range(3)]
        places = [f"{name} {number_text(float(value), 2)} mm" for name, value in zip("xyz", position, strict=True)]
        turns = [f"θ{name} {number_text(float(value), 2)}°" for name, value in zip("xyz", angles, strict=True)]
        state = state_word(self._row["state"])
        known = tr("{reason}; last known: {state}").format(reason=self._past, state=state) if self._past else state
        moment = f"{float(self._row['t']):.3f} s   {known}"
        if self._expected:
            places.insert(0, f"{float(self._row['t']):.3f} s")
            return "\n".join(("   ".join(places), "   ".join(turns)))
        return ("\n" if self._compact else "   ").join((moment, "   ".join(places), "   ".join(turns)))

    # -- pictures ----------------------------------------------------------------------------------------------------

    def export_picture(self, path: Path) -> None:
        """Write a picture of the current view as PNG in a thread. Returns at once; reports the result as a message."""
        ratio = _PICTURE * self.devicePixelRatioF()
        size = (round(ratio * self.picture.width()), round(ratio * self.picture.height()))
        self._exports.write(path, partial(write_picture, path, self.picture.snapshot(size, ratio)))

    def picture_of(self, row: np.void, before: Rows, size: tuple[int, int], letters: float) -> QtGui.QImage:
        """Return a picture of a row from this view's camera, with text scaled by `letters`."""
        return self.picture.snapshot(size, letters, self.scene_of(row, before))

    def _ask_picture(self) -> None:
        path = ask_save(self, tr("Save the picture"), "platform.png", tr("Pictures (*.png)"), ".png")
        if path is not None:
            self.export_picture(path)

    def _set_message(self, text: str) -> None:
        self.pose.setText(text)
        self._words.make_room()


def _wrench(mechanism: Mechanism, before: Rows) -> Floats | None:
    """Return the wrench (6,) implied by the last rows' residuals, base axes, N and N m; None without residuals."""
    start = int(np.searchsorted(before["t"], before["t"][-1] - _CALM)) if len(before) else 0
    last = before[start:]
    if not len(last) or not is_pose(last["pose"][-1]):
        return None
    residual = last["force_residual"].mean(axis=0)
    wrench = implied_wrench(mechanism.geometry, last["pose"][-1:], residual[None])[0]
    if not np.isfinite(wrench).all():
        return None
    turn = quaternion_to_matrix(last["pose"][-1][3:])
    return np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])


def _trail(before: Rows) -> Floats:
    """Return the poses of the last seconds, (n, 7)."""
    if not len(before):
        return np.empty((0, 7))
    times = np.linspace(before["t"][-1] - _TRAIL, before["t"][-1], _TRAIL_PIECES + 1)
    picked = np.unique(np.searchsorted(before["t"], times[times >= before["t"][0]]).clip(0, len(before) - 1))
    poses = before["pose"][picked]
    return np.array(poses[np.isfinite(poses).all(axis=1)])


def _picture(theme: Theme, problem: str) -> "PlatformGL | PlatformFlat":
    return PlatformFlat(theme, problem) if problem else open_picture(theme)


ROOMY = 1600
"""px of the window from which on the platform is shown by default."""


class PlatformSplit(QtWidgets.QSplitter):
    """Curves, and to their right the platform while `toggle` is checked; created when first shown.

    Args:
        curves: the left widget.
        toggle: checkable button.
        theme: colours.
    """

    def __init__(self, curves: QtWidgets.QWidget, toggle: QtWidgets.QAbstractButton, theme: Theme) -> None:
        super().__init__()
        self.setChildrenCollapsible(False)
        self.addWidget(curves)
        self.platform: PlatformView | None = None
        self._toggle = toggle
        self._theme = theme
        self._mechanism: Mechanism | None = None
        self.shapes = Shapes()
        """Custom meshes, for when the platform is created."""
        self._past = ""
        self._saved_state: tuple[QtCore.QSettings, str] | None = None
        """Saved settings to apply when the platform is created."""
        self._state: QtCore.QByteArray | None = None
        self._chosen = False
        """Whether the user has chosen to show or hide the platform."""
        toggle.toggled.connect(self._show)
        toggle.clicked.connect(self._choose)

    @property
    def drawn(self) -> PlatformView | None:
        """The platform if visible, else None."""
        return self.platform if self.platform is not None and self.platform.isVisible() else None

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """Set the mechanism to draw."""
        self._mechanism = mechanism
        if self.platform is not None:
            self.platform.set_mechanism(mechanism)

    def close_worker(self) -> None:
        """Finish writing pictures."""
        if self.platform is not None:
            self.platform.close_worker()

    def set_past(self, past: str) -> None:
        """See `PlatformView.set_past`."""
        self._past = past
        if self.platform is not None:
            self.platform.set_past(past)

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self._theme = theme
        if self.platform is not None:
            self.platform.set_theme(theme)

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the user's choice, the platform's settings and the sizes under a name."""
        if self._chosen:
            settings.setValue(f"{name}/platform beside", "yes" if self._toggle.isChecked() else "no")
        if self.platform is not None:
            settings.setValue(f"{name}/splitter", self.saveState())
            self.platform.save(settings, name)

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore what was saved."""
        self._saved_state = (settings, name)
        if self.platform is not None:
            self.platform.restore(settings, name)
        state = settings.value(f"{name}/splitter")
        self._state = state if isinstance(state, QtCore.QByteArray) else None
        saved = settings.value(f"{name}/platform beside")
        if saved is not None:
            self._chosen = True
            self._toggle.setChecked(saved == "yes")

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Show the platform if there is room, until the user chooses."""
        super().resizeEvent(event)
        if not self._chosen:
            self._toggle.setChecked(self.window().width() >= ROOMY)

    def _choose(self) -> None:
        self._chosen = True

    def _show(self, shown: bool) -> None:
        if shown and self.platform is None:
            self.platform = PlatformView(self._theme, compact=True)
            self.platform.set_shapes(self.shapes)
            self.platform.set_mechanism(self._mechanism)
            self.platform.set_past(self._past)
            if self._saved_state is not None:
                self.platform.restore(*self._saved_state)
            self.addWidget(self.platform)
            self.setStretchFactor(0, 3)
            self.setStretchFactor(1, 2)
            if self._state is None or not self.restoreState(self._state):
                self.setSizes([3 * self.width() // 5, 2 * self.width() // 5])
        if self.platform is not None:
            self.platform.setVisible(shown)
