"""The live view: forces and models, terms, tracking, pose, implied wrench, timing; live, frozen or replayed."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import Mechanism
from gui.live.builtin_pages import DerivedPlots, SensorSource, Sources, TimingPage, make_builtin_pages, panels_to_write
from gui.live.export import ExportWriter, write_picture, write_table
from gui.live.live_bar import LiveBar
from gui.live.model_forces import ModelForces, ModelsBar
from gui.live.platform_view import PlatformSplit
from gui.live.plot_page import Plots
from gui.live.readout import ValuesColumn
from gui.models import Cursors, Excerpt, Segment, Timeline, VisibleRows
from gui.scene import Shapes
from gui.texts import tr
from gui.widgets import Theme, plain_tabs, put_tab, run_all, tab_name
from kinematics import Geometry
from rig.csvio import write_columns
from rig.telemetry import ROW, SensorChannels

_TEXT_EVERY = 5  # refreshes between updates of the numbers, to be readable
_MODELS_EVERY = 3  # refreshes between checks for rows that need model values
_RESIDUALS_EVERY = 6  # refreshes between updates of the model table: each takes time over a long window
_MODELS_BEHIND = 0.5  # s that model values may lag behind the newest row while their newest values are shown


class LiveView(QtWidgets.QWidget):
    """Plots of telemetry over the last seconds; the frame clock calls `refresh` while it is visible.

    Args:
        theme: colours.
        replayed: the timeline is a replay, which needs no freeze and clear.
        alone: the only page, without the model selector and the column of values.
        whole: create the pages now; otherwise call `build` first.
    """

    def __init__(self, theme: Theme, *, replayed: bool = False, alone: Plots | None = None, whole: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Live views") if alone is None else alone.accessibleName())
        self._mechanism: Mechanism | None = None
        self._sensors: SensorSource = tuple
        self._rows = VisibleRows(replayed)
        self._drawn: object = None
        self._refreshes = 0
        self._behind = self._cursor_moved = False
        """Whether the numbers are older than the curves; whether a cursor moved since the last draw."""
        self._replayed = replayed
        self.cursors = Cursors()
        self.models = ModelForces(self)
        self.bar = LiveBar(theme, replayed=replayed)
        self._exports = ExportWriter(self, self.bar.set_message)
        self.chooser = ModelsBar(theme)
        self.pages: dict[str, Plots | TimingPage] = {}
        self.tabs = plain_tabs(tr("Pages of the live views"))
        self.tabs.setTabBarAutoHide(True)
        if alone is not None:
            self.add_page(alone.name, alone)
        self._forces: Plots | None = None
        self.values = ValuesColumn(theme)
        self.platform_split = PlatformSplit(self.tabs, self.bar.platform, theme)
        self._lay_out(large=not replayed and alone is None)

        self.bar.freeze.toggled.connect(self._freeze)
        self.bar.clear.clicked.connect(self.clear)
        self.bar.fit.clicked.connect(self.fit)
        self.bar.window.currentIndexChanged.connect(self._window_changed)
        self.bar.legs.changed.connect(self._legs_changed)
        self.bar.pictured.connect(self.export_picture)
        self.bar.tabulated.connect(self.export_table)
        self.bar.platform.toggled.connect(self._redraw)
        self.chooser.changed.connect(self._models_chosen)
        self.models.changed.connect(self._models_changed)
        self.tabs.currentChanged.connect(self._redraw)
        if alone is None and whole:
            run_all(self.build())

    def build(self) -> Iterator[None]:
        """Create the pages, one plot at a time."""
        for name, page in make_builtin_pages(
            self._theme, self.models.differences, self._geometry, self.chooser
        ).items():
            yield from page.build()
            self.add_page(name, page)
            if name == "Forces" and isinstance(page, Plots):
                self._forces = page
            yield

    def add_page(self, name: str, page: Plots | TimingPage) -> None:
        """Append a page."""
        self.pages[name] = page
        if isinstance(page, DerivedPlots):
            page.sources = Sources(self.models.differences, self._geometry, lambda: self._sensors())
        put_tab(self.tabs, page, name)
        if isinstance(page, Plots):
            page.hovered.connect(self._point)
            page.clicked.connect(self._click)
            page.moved.connect(self.show_span)
            page.remade.connect(self._redraw)
            page.set_panning(self._rows.chosen_freely)

    def _lay_out(self, *, large: bool) -> None:
        self.body = QtWidgets.QWidget()
        row = QtWidgets.QHBoxLayout(self.body)
        row.setContentsMargins(4, 0, 0, 4)
        row.addWidget(self.platform_split, 1)
        row.addWidget(self.values)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.values.large)
        self.values.large.setVisible(large)  # a replay and a dashboard need the height
        layout.addWidget(self.body, 1)

    def set_sensors(self, channels: Sequence[SensorChannels], sensors: SensorSource) -> None:
        """Set the external sensors that there are, and what gives their readings."""
        self._sensors = sensors
        for page in self._plot_pages():
            if isinstance(page, DerivedPlots):
                page.offer_sensors(channels)
            page.invalidate()

    def set_mechanism(self, mechanism: Mechanism | None, coulomb_speed: float = 0.0) -> None:
        """Set the mechanism whose telemetry is shown, None if unknown, and the speed, m/s, of Coulomb friction."""
        self._mechanism = mechanism
        self.values.set_mechanism(mechanism)
        self.platform_split.set_mechanism(mechanism)
        self.models.set_mechanism(mechanism, coulomb_speed)
        for page in self._plot_pages():
            page.invalidate()
        self.chooser.set_available(mechanism is not None)
        self._redraw()

    def set_shapes(self, shapes: Shapes) -> None:
        """Set custom meshes, used from the next `set_mechanism` on."""
        self.platform_split.shapes = shapes

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for part in (self.bar.legs, self.chooser, self.platform_split, self.values, *self.pages.values()):
            part.set_theme(theme)
        self._redraw()

    def refresh(self, history: Timeline) -> None:
        """Show the timeline's present, unless frozen. Draws only changes."""
        if self._rows.follow(history):
            self._drawn = None
            for plots in self._plot_pages():  # hidden ones, too: rows may take hundreds of megabytes
                plots.clear()
        self.models.follow(history)
        self._refreshes += 1
        if self._rows.present_moved():
            self._behind = True
            self._mark_present()
        shown = self._rows.drawn
        state = (id(shown), shown.revision if shown is not None else 0, self._rows.times.chosen)
        due = self._refreshes % _TEXT_EVERY == 1
        if self._cursor_moved:
            self._cursors_moved()
        if state != self._drawn:
            self._drawn = state
            self._draw(texts=due)
        elif due and self._behind:
            self._draw(texts=True)
        if (page := self._page_of_models()) is not None and self.models.chosen and shown is not None:
            if self._refreshes % _MODELS_EVERY == 0:
                self.models.compute(page.segment(shown))
            if self._refreshes % _RESIDUALS_EVERY == 1 and page is self._forces:
                self.chooser.show_next(lambda model: self.models.rms_residuals(model, page.segment(shown)))

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Save the page, its settings and the visibility of the platform under a name."""
        settings.setValue(f"{name}/page", tab_name(self.tabs, self.tabs.currentIndex()))
        for part in (self.bar, self.chooser, self.platform_split):
            part.save(settings, name)

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Restore what was saved under a name."""
        saved = self.pages.get(str(settings.value(f"{name}/page")))
        if saved is not None:
            self.tabs.setCurrentWidget(saved)
        for part in (self.bar, self.chooser, self.platform_split):
            part.restore(settings, name)

    def close_worker(self) -> None:
        """End the threads of models and exports. May be called again.

        Waits up to 5 s for files in progress; unfinished files never get their names.
        """
        self.models.close()
        self._exports.close()
        self.platform_split.close_worker()

    def clear(self) -> None:
        """Hide all rows so far."""
        self._rows.clear()
        self.bar.freeze.setChecked(False)
        self._redraw()

    def fit(self) -> None:
        """Let all axes follow the data again; show all of a replay."""
        shown = self._rows.present
        self._rows.times.follow()
        if self._replayed and shown is not None:
            self._rows.times.choose(shown, -math.inf, math.inf)
        for page in self._plot_pages():
            page.fit()
        self._redraw()

    def export_picture(self, path: Path) -> None:
        """Write a picture of the current view as PNG; see `export_table`."""
        self._exports.write(path, partial(write_picture, path, self.body.grab().toImage()))

    def export_table(self, path: Path) -> None:
        """Write the current numbers as CSV in a thread. Returns at once.

        Reports the result as a message. `close_worker` waits for it.
        """
        self._exports.write(path, self._table(path))

    def _table(self, path: Path) -> Callable[[], None]:
        """Return a job that writes the current numbers, independent of later changes."""
        page, shown = self.tabs.currentWidget(), self._rows.drawn or Excerpt(np.empty(0, ROW))
        if not isinstance(page, Plots):
            return partial(write_columns, path, *page.table())
        segment, name = page.segment(shown).copy(), tab_name(self.tabs, self.tabs.currentIndex())
        complete = self.models.completion(segment) if self._page_of_models() else None
        panels = panels_to_write(name, page, complete, self._geometry(), self._sensors())
        return partial(write_table, path, panels, page.exported, page.selection, segment)

    def _page_of_models(self) -> Plots | None:
        """Return the visible page if it shows published models; selects its models."""
        page = self.tabs.currentWidget()
        if not isinstance(page, DerivedPlots) and page is not self._forces:
            return None
        wanted = page.needed_models if isinstance(page, DerivedPlots) else self.chooser.chosen
        if set(wanted) != set(self.models.chosen):
            self.models.choose(wanted)
        return page

    def _geometry(self) -> Geometry | None:
        return None if self._mechanism is None else self._mechanism.geometry

    def _plot_pages(self) -> list[Plots]:
        return [page for page in self.pages.values() if isinstance(page, Plots)]

    def show_around(self, t: float) -> None:
        """Show the window's length around a time, s, of a replay; one tenth before it."""
        shown = self._rows.present
        if shown is not None:
            self._rows.times.choose_about(shown, t, self.bar.seconds)
            self._redraw()

    def show_span(self, t0: float, t1: float) -> None:
        """Show the times t0 to t1, s, if selectable: in a replay or while frozen."""
        shown = self._rows.present
        if shown is not None and self._rows.chosen_freely:
            self._rows.times.choose(shown, t0, t1)
            self._redraw()

    def set_cursors(self, a: float | None, b: float | None) -> None:
        """Place both cursors, s, so that values are differences B − A; None removes them."""
        self.cursors.place(a, b)
        self._cursors_moved()

    def _mark_present(self) -> None:
        for page in self._plot_pages():
            page.set_present(self._rows.marked)

    def _redraw(self) -> None:
        self._drawn = None
        self.values.setHidden(self.tabs.currentWidget().shows_moment)
        if self._rows.present is not None:
            self._mark_present()
        self._draw(texts=True)

    def _draw(self, *, texts: bool) -> None:
        shown, page = self._rows.drawn, self.tabs.currentWidget()
        if shown is None:
            return
        t0, t1 = self._rows.times.on(shown, self.bar.seconds)
        if isinstance(page, Plots):
            page.draw(shown, t0, t1, self._rows.since(shown))
        elif texts:
            page.draw(shown.window(max(t0, self._rows.since(shown)), t1))
        self._behind = not texts
        self.chooser.make_stale()
        if texts:
            self._show_values()
        elif self.platform_split.drawn is not None and self.cursors.at is None:
            row = shown.rows[-1] if self._rows.reaches(shown) else None
            self.platform_split.drawn.show_row(row, before=shown.rows, texts=False)

    def _at(self, shown: Timeline, t: float | None) -> Segment:
        """Return the row nearest to a time, s; without a time the newest one.

        With published models visible, the newest row for which all have values.
        """
        if t is not None:
            return self._rows.at(shown, t)
        newest = self._rows.last(shown, _MODELS_BEHIND)
        end = len(newest)
        return self.models.newest(newest) if self._page_of_models() else newest.part(max(end - 1, 0), end)

    def _show_values(self) -> None:
        page, cursors = self.tabs.currentWidget(), self.cursors
        shown = self._rows.present if cursors.at is None else self._rows.drawn
        if shown is None:
            return
        reaches, now = self._rows.reaches(shown), self._at(shown, cursors.at)
        t = float(now.times[-1]) if len(now) else None
        words = cursors.words(t) if reaches else tr("No data")
        if isinstance(page, Plots):
            begin = self._at(shown, cursors.a) if cursors.apart is not None else None
            page.show_values(now if reaches else None, begin)
            page.show_moment(words)
        if not self.values.isHidden():
            self.values.show_values(words, now, shown, self._rows.since(shown))
        if self.platform_split.drawn is not None:
            row = now.rows[-1] if t is not None else shown.rows[-1] if reaches else None
            before = shown.rows if t is None else shown.window(-math.inf, t)
            self.platform_split.drawn.show_row(row, before=before)  # shows its own time

    def _models_chosen(self, models: tuple[str, ...]) -> None:
        self.models.choose(models)
        for page in self._plot_pages():
            page.set_models(models)
        self._models_changed()
        self._redraw()

    def _models_changed(self) -> None:
        self._drawn = None
        state = tr("preparing …") if self.models.preparing else self.models.fault
        (self.bar if isinstance(self.tabs.currentWidget(), DerivedPlots) else self.chooser).set_message(state)

    def _freeze(self, frozen: bool) -> None:
        self._rows.freeze(frozen)
        for page in self._plot_pages():
            page.set_panning(frozen)
        self._redraw()

    def _window_changed(self) -> None:
        self._rows.times.follow()
        self._redraw()

    def _legs_changed(self, legs: list[bool]) -> None:
        for page in self._plot_pages():
            page.set_legs(legs)
        self._redraw()

    def _point(self, t: float | None) -> None:
        self._cursor_moved |= self.cursors.point(t)  # handled by the next refresh: mouse moves are far more frequent

    def _click(self, t: float) -> None:
        self.cursors.click(t)
        self._cursors_moved()

    def _cursors_moved(self) -> None:
        self._cursor_moved = False
        for page in self._plot_pages():
            page.set_cursor(self.cursors.b)
            page.set_mark(self.cursors.a)
        self._show_values()
