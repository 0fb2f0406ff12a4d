"""The live view: forces and model, terms, tracking, pose, implied wrench, timing; running, frozen or replayed."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets

from dynamics import Mechanism
from gui.live.builtin_pages import DerivedPlots, Sources, TimingPage, make_builtin_pages, panels_to_write
from gui.live.export import ExportWriter, write_picture, write_table
from gui.live.live_bar import LiveBar
from gui.live.model_forces import ModelForces, ModelsBar
from gui.live.platform_view import PlatformSplit
from gui.live.plot_page import Plots
from gui.live.readout import ValuesColumn
from gui.models import Cursors, Excerpt, ShownRows, Stretch, Timeline
from gui.scene import Shapes
from gui.texts import tr
from gui.widgets import Theme, at_once, plain_tabs, put_tab, tab_name
from kinematics import Geometry
from rig.csvio import write_columns
from rig.telemetry import ROW

_TEXT_EVERY = 5  # refreshes between two changes of the numbers: faster nobody can read them
_MODELS_EVERY = 3  # refreshes between two looks for rows whose models are wanted: a few more cost hardly more
_RESIDUALS_EVERY = 6  # refreshes between two lines of the models' table: over a long window each takes its time
_MODELS_BEHIND = 0.5  # s that published models may be behind the newest row, for their newest values to be shown


class LiveView(QtWidgets.QWidget):
    """Plots of telemetry over the last seconds; `refresh` is called by the clock of frames while this is visible.

    Args:
        theme: colours.
        replayed: the timeline is a replay, which is paused and moved itself: without freeze and clear.
        alone: a page that stands here alone, without the others, their models and the column of values.
        whole: with its pages, which otherwise `build` makes before anything else is done with it.
    """

    def __init__(self, theme: Theme, *, replayed: bool = False, alone: Plots | None = None, whole: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Live views") if alone is None else alone.accessibleName())
        self._mechanism: Mechanism | None = None
        self._rows = ShownRows(replayed)
        self._drawn: object = None
        self._refreshes = 0
        self._behind = self._pointed = False
        """whether the numbers are older than the curves; whether the mouse has moved a cursor since it was drawn"""
        self._replayed = replayed
        self.cursors = Cursors()
        self.models = ModelForces(self)
        self.bar = LiveBar(theme, replayed=replayed)
        self._exports = ExportWriter(self, self.bar.say)
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
            at_once(self.build())

    def build(self) -> Iterator[None]:
        """Make the pages, a plot at a time."""
        for name, page in make_builtin_pages(
            self._theme, self.models.differences, self._geometry, self.chooser
        ).items():
            yield from page.build()
            self.add_page(name, page)
            if name == "Forces" and isinstance(page, Plots):
                self._forces = page
            yield

    def add_page(self, name: str, page: Plots | TimingPage) -> None:
        """One page more, behind the others."""
        self.pages[name] = page
        if isinstance(page, DerivedPlots):
            page.sources = Sources(self.models.differences, self._geometry)
        put_tab(self.tabs, page, name)
        if isinstance(page, Plots):
            page.pointed.connect(self._point)
            page.pinned.connect(self._click)
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
        self.values.large.setVisible(large)  # a replay and a dashboard need the height for other things
        layout.addWidget(self.body, 1)

    def set_mechanism(self, mechanism: Mechanism | None, coulomb_speed: float = 0.0) -> None:
        """The mechanism whose telemetry is shown, None when it is not known; m/s of the control's Coulomb friction."""
        self._mechanism = mechanism
        self.values.set_mechanism(mechanism)
        self.platform_split.set_mechanism(mechanism)
        self.models.set_mechanism(mechanism, coulomb_speed)
        for page in self._plot_pages():
            page.forget()
        self.chooser.set_available(mechanism is not None)
        self._redraw()

    def set_shapes(self, shapes: Shapes) -> None:
        """The owner's own shapes of mechanisms from the next one on."""
        self.platform_split.shapes = shapes

    def set_theme(self, theme: Theme) -> None:
        """Change colours."""
        for part in (self.bar.legs, self.chooser, self.platform_split, self.values, *self.pages.values()):
            part.set_theme(theme)
        self._redraw()

    def refresh(self, history: Timeline) -> None:
        """Show the timeline's present, unless frozen. Nothing is drawn that is shown already."""
        if self._rows.follow(history):
            self._drawn = None
            for plots in self._plot_pages():  # those that nobody looks at, too: the rows may be hundreds of megabytes
                plots.clear()
        self.models.follow(history)
        self._refreshes += 1
        if self._rows.present_moved():
            self._behind = True
            self._mark_present()
        shown = self._rows.drawn
        state = (id(shown), shown.revision if shown is not None else 0, self._rows.times.chosen)
        due = self._refreshes % _TEXT_EVERY == 1
        if self._pointed:
            self._cursors_moved()
        if state != self._drawn:
            self._drawn = state
            self._draw(texts=due)
        elif due and self._behind:
            self._draw(texts=True)
        if (page := self._page_of_models()) is not None and self.models.chosen and shown is not None:
            if self._refreshes % _MODELS_EVERY == 0:
                self.models.compute(page.stretch(shown))
            if self._refreshes % _RESIDUALS_EVERY == 1 and page is self._forces:
                self.chooser.show_next(lambda model: self.models.rms_residuals(model, page.stretch(shown)))

    def save(self, settings: QtCore.QSettings, name: str) -> None:
        """Keep under a name the page, what is shown of it, and whether the platform stands beside it."""
        settings.setValue(f"{name}/page", tab_name(self.tabs, self.tabs.currentIndex()))
        for part in (self.bar, self.chooser, self.platform_split):
            part.save(settings, name)

    def restore(self, settings: QtCore.QSettings, name: str) -> None:
        """Take up what was kept under a name."""
        kept = self.pages.get(str(settings.value(f"{name}/page")))
        if kept is not None:
            self.tabs.setCurrentWidget(kept)
        for part in (self.bar, self.chooser, self.platform_split):
            part.restore(settings, name)

    def close_worker(self) -> None:
        """End the threads of the models and of exports. May be called again.

        Files begun are finished if that takes at most 5 s; what takes longer never gets its name.
        """
        self.models.close()
        self._exports.close()
        self.platform_split.close_worker()

    def clear(self) -> None:
        """Leave out all that has been shown so far."""
        self._rows.clear()
        self.bar.freeze.setChecked(False)
        self._redraw()

    def fit(self) -> None:
        """Let all axes follow the data again; of a replay all of it is shown."""
        shown = self._rows.present
        self._rows.times.follow()
        if self._replayed and shown is not None:
            self._rows.times.choose(shown, -math.inf, math.inf)
        for page in self._plot_pages():
            page.fit()
        self._redraw()

    def export_picture(self, path: Path) -> None:
        """Have a picture of what is shown now written as PNG. See `export_table`."""
        self._exports.write(path, partial(write_picture, path, self.body.grab().toImage()))

    def export_table(self, path: Path) -> None:
        """Have the numbers of what is shown now written as CSV. Returns at once.

        Says in words whether that worked. `close_worker` waits for it.
        """
        self._exports.write(path, self._table(path))

    def _table(self, path: Path) -> Callable[[], None]:
        """What writes the numbers shown now, whatever is shown by then."""
        page, shown = self.tabs.currentWidget(), self._rows.drawn or Excerpt(np.empty(0, ROW))
        if not isinstance(page, Plots):
            return partial(write_columns, path, *page.table())
        stretch, name = page.stretch(shown).copy(), tab_name(self.tabs, self.tabs.currentIndex())
        complete = self.models.completion(stretch) if self._page_of_models() else None
        panels = panels_to_write(name, page, complete, self._geometry())
        return partial(write_table, path, panels, page.exported, page.selection, stretch)

    def _page_of_models(self) -> Plots | None:
        """The page in view if it shows published models, which are chosen then."""
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

    def look_at(self, t: float) -> None:
        """Of a replay, show the window's length about a time, s: a tenth of it before."""
        shown = self._rows.present
        if shown is not None:
            self._rows.times.choose_about(shown, t, self.bar.seconds)
            self._redraw()

    def show_span(self, t0: float, t1: float) -> None:
        """Show the times t0 to t1, s, where somebody may choose them: of a replay, and of what is frozen."""
        shown = self._rows.present
        if shown is not None and self._rows.chosen_freely:
            self._rows.times.choose(shown, t0, t1)
            self._redraw()

    def set_cursors(self, a: float | None, b: float | None) -> None:
        """Put both cursors there, s: the values are what B is more than A; or take both away."""
        self.cursors.place(a, b)
        self._cursors_moved()

    def _mark_present(self) -> None:
        for page in self._plot_pages():
            page.set_present(self._rows.marked)

    def _redraw(self) -> None:
        self._drawn = None
        self.values.setHidden(self.tabs.currentWidget().tells_moment)
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

    def _at(self, shown: Timeline, t: float | None) -> Stretch:
        """The row nearest to a time, s; without a time the newest one.

        With published models in view that is the newest one that they have come to.
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
            page.say_moment(words)
        if not self.values.isHidden():
            self.values.show_values(words, now, shown, self._rows.since(shown))
        if self.platform_split.drawn is not None:
            row = now.rows[-1] if t is not None else shown.rows[-1] if reaches else None
            before = shown.rows if t is None else shown.window(-math.inf, t)
            self.platform_split.drawn.show_row(row, before=before)  # says its own time

    def _models_chosen(self, models: tuple[str, ...]) -> None:
        self.models.choose(models)
        for page in self._plot_pages():
            page.set_models(models)
        self._models_changed()
        self._redraw()

    def _models_changed(self) -> None:
        self._drawn = None
        state = tr("preparing …") if self.models.preparing else self.models.fault
        (self.bar if isinstance(self.tabs.currentWidget(), DerivedPlots) else self.chooser).say(state)

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
        self._pointed |= self.cursors.point(t)  # seen to by the next refresh: the mouse may move far more often

    def _click(self, t: float) -> None:
        self.cursors.click(t)
        self._cursors_moved()

    def _cursors_moved(self) -> None:
        self._pointed = False
        for page in self._plot_pages():
            page.set_cursor(self.cursors.b)
            page.set_mark(self.cursors.a)
        self._show_values()
