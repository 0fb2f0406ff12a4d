"""The live view: forces and model, terms, tracking, pose, implied wrench, timing; running, frozen or replayed."""

import math
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtWidgets

from dynamics import Mechanism
from gui.history import Excerpt, Rows, Timeline
from gui.live.live_bar import LiveBar
from gui.live.plot_page import PlotPage, write_csv
from gui.live.readout import WRENCH_WINDOW, StrokeBars, WrenchTable
from gui.live.series import FORCES, POSE, TERM_PANELS, TRACKING, wrench_panels
from gui.live.timing_page import TimingPage
from gui.theme import Theme
from kinematics import Geometry
from rig.telemetry import ROW

_TEXT_EVERY = 5
"""refreshes between two changes of the numbers: faster nobody can read them"""
_VALUE_WINDOW = 0.1  # s that a value is the mean of while no cursor is set


class LiveView(QtWidgets.QWidget):
    """Plots of telemetry over the last seconds; `refresh` is called by the clock of frames while this is visible.

    `set_mechanism` gives the limits of the strokes and what the implied wrench needs; `set_theme` changes colours.
    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Live views")
        self._mechanism: Mechanism | None = None
        self._timeline: Timeline | None = None
        self._frozen: Excerpt | None = None
        self._since = -math.inf
        self._span: tuple[float, float] | None = None
        """times somebody moved the frozen picture to, s"""
        self._drawn: object = None
        self._refreshes = 0
        self._behind = False
        """whether the numbers are older than the curves"""
        self._pinned = False
        self.cursor: float | None = None
        """time of the cursor, s"""

        self.bar = LiveBar(theme)
        self.pages: dict[str, PlotPage | TimingPage] = {
            "Forces": PlotPage(FORCES, theme),
            "Terms": PlotPage(TERM_PANELS, theme, columns=2),
            "Tracking": PlotPage(TRACKING, theme),
            "Pose": PlotPage(POSE, theme, columns=2),
            "External wrench": PlotPage(wrench_panels(self._geometry), theme),
            "Timing": TimingPage(theme),
        }
        self.tabs = QtWidgets.QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName("Pages of the live views")
        for name, page in self.pages.items():
            self.tabs.addTab(page, name)
            if isinstance(page, PlotPage):
                page.pointed.connect(self._point)
                page.pinned.connect(self._pin)
                page.moved.connect(self._move)
        self.strokes = StrokeBars(theme)
        self.wrench = WrenchTable()
        self.moment = QtWidgets.QLabel("No data")
        self.moment.setAccessibleName("Time of the values")
        self._lay_out()

        self.bar.freeze.toggled.connect(self._freeze)
        self.bar.clear.clicked.connect(self.clear)
        self.bar.fit.clicked.connect(self.fit)
        self.bar.window.currentIndexChanged.connect(self._window_changed)
        self.bar.legs.changed.connect(self._legs_changed)
        self.bar.exported.connect(self.export)
        self.tabs.currentChanged.connect(self._redraw)

    def _lay_out(self) -> None:
        side = QtWidgets.QWidget()
        side.setFixedWidth(224)
        column = QtWidgets.QVBoxLayout(side)
        column.setContentsMargins(4, 4, 4, 4)
        for title, widget in (
            ("Values at", self.moment),
            ("Leg length, mm", self.strokes),
            ("Implied wrench", self.wrench),
        ):
            box = QtWidgets.QGroupBox(title)
            QtWidgets.QVBoxLayout(box).addWidget(widget)
            column.addWidget(box)
        column.addStretch(1)
        self.body = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self.body)
        row.setContentsMargins(4, 0, 0, 4)
        row.addWidget(self.tabs, 1)
        row.addWidget(side)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.body, 1)

    def set_mechanism(self, mechanism: Mechanism | None) -> None:
        """The mechanism whose telemetry is shown; None when it is not known."""
        self._mechanism = mechanism
        self.strokes.set_mechanism(mechanism)
        self.wrench.set_mechanism(mechanism)
        self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        self.bar.legs.set_theme(theme)
        self.strokes.set_theme(theme)
        for page in self.pages.values():
            page.set_theme(theme)
        self._redraw()

    def refresh(self, history: Timeline) -> None:
        """Show the timeline's present, unless frozen. Nothing is drawn that is shown already."""
        self._timeline = history
        if history.end is None or history.end < self._since:
            self._since = -math.inf
        self._refreshes += 1
        shown = self._shown()
        state = (id(shown), shown.revision if shown is not None else 0)
        due = self._refreshes % _TEXT_EVERY == 1
        if state != self._drawn:
            self._drawn = state
            self._draw(texts=due)
        elif due and self._behind:
            self._draw(texts=True)

    def clear(self) -> None:
        """Leave out all that has been shown so far."""
        if self._timeline is not None and self._timeline.end is not None:
            self._since = math.nextafter(self._timeline.end, math.inf)
        self.bar.freeze.setChecked(False)
        self._redraw()

    def fit(self) -> None:
        """Let all axes follow the data again."""
        self._span = None
        for page in self._plot_pages():
            page.fit()
        self._redraw()

    def set_cursor(self, t: float | None) -> None:
        """Put the cursor of all plots at a time, s, or away; values are those of the cycle nearest to it."""
        self.cursor = t
        for page in self._plot_pages():
            page.set_cursor(t)
        self._show_values()

    def export(self, path: Path) -> None:
        """Save what is shown: its picture to a .png, its numbers to a .csv. Says in words whether that worked."""
        try:
            if path.suffix == ".png":
                if not self.body.grab().save(str(path)):
                    raise OSError(0, "the picture could not be written")
            else:
                page, shown = self.tabs.currentWidget(), self._shown()
                table = page.table(shown or Excerpt(np.empty(0, ROW))) if isinstance(page, PlotPage) else page.table()
                write_csv(path, *table)
        except OSError as error:
            self.bar.note.setText(f"Not saved: {error.strerror}")
        else:
            self.bar.note.setText(f"Saved {path.name}")

    def _geometry(self) -> Geometry | None:
        return None if self._mechanism is None else self._mechanism.geometry

    def _plot_pages(self) -> list[PlotPage]:
        return [page for page in self.pages.values() if isinstance(page, PlotPage)]

    def _shown(self) -> Timeline | None:
        return self._timeline if self._frozen is None else self._frozen

    def _redraw(self) -> None:
        self._drawn = None
        self._draw(texts=True)

    def _draw(self, *, texts: bool) -> None:
        shown, page = self._shown(), self.tabs.currentWidget()
        if shown is None:
            return
        end = shown.end if shown.end is not None else 0.0
        t0, t1 = self._span or (end - self.bar.seconds, end)
        if isinstance(page, PlotPage):
            page.draw(shown, t0, t1, self._since)
        elif texts:
            page.draw(shown.window(max(t0, self._since), t1))
        self._behind = not texts
        if texts:
            self._show_values()

    def _values(self) -> Rows | None:
        """Rows that the values in words are taken from; None when there are none."""
        shown = self._shown()
        if shown is None or shown.end is None or shown.end < self._since:
            return None
        if self.cursor is None:
            return shown.latest(_VALUE_WINDOW)
        index = shown.nearest(self.cursor)
        return None if index is None else shown.rows[index : index + 1]

    def _show_values(self) -> None:
        rows, page, shown = self._values(), self.tabs.currentWidget(), self._shown()
        if isinstance(page, PlotPage):
            page.show_values(rows)
        if rows is None or shown is None:
            self.moment.setText("No data")
            return
        t = float(rows["t"][-1])
        self.moment.setText(f"{t:.3f} s" + (", cursor" if self.cursor is not None else ", newest"))
        self.strokes.show_lengths(rows["length"][-1])
        self.wrench.show_rows(shown.window(t - WRENCH_WINDOW, t))

    def _freeze(self, frozen: bool) -> None:
        self._frozen = self._timeline.snapshot() if frozen and self._timeline is not None else None
        self._span = None
        for page in self._plot_pages():
            page.set_panning(frozen)
        self._redraw()

    def _window_changed(self) -> None:
        self._span = None
        self._redraw()

    def _legs_changed(self, legs: list[bool]) -> None:
        for page in self._plot_pages():
            page.set_legs(legs)
        self._redraw()

    def _point(self, t: float | None) -> None:
        if not self._pinned and t != self.cursor:
            self.set_cursor(t)

    def _pin(self, t: float) -> None:
        self._pinned = not self._pinned
        self.set_cursor(t)

    def _move(self, t0: float, t1: float) -> None:
        if self._frozen is not None:
            self._span = (t0, t1)
            self._redraw()
