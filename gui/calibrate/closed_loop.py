"""The wizard that compares controllers offline: its first step, and controllers side by side."""

import math
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtWidgets

from gui.calibrate.design_pages import DesignPage
from gui.fitting import (
    BarPicture,
    FitWizard,
    JobRequest,
    NumberTable,
    Outcome,
    PointPicture,
    Points,
    ResultView,
    outcome_text,
)
from gui.live import swatch
from gui.session import RigSession
from gui.texts import tr
from gui.widgets import Theme
from rig.services import LoopsRequest, compare_loops
from rig.virtual import CONTROLLERS

_HEADINGS = (
    tr("Controller"),
    tr("Plant"),
    tr("Position\nRMS, mm"),
    tr("peak"),
    tr("Rotation\nRMS, mrad"),
    tr("peak"),
    tr("Of the\nforce limit, %"),
    tr("Ended"),
)
_PLACES = tuple(name.replace("computed-", "c.-") for name in CONTROLLERS)
_BESIDE = 0.15  # of a place, from plant to plant
_PERCENT = 100.0
_ERROR = 20.0


class ClosedLoopPage(DesignPage):
    """A motion, and how far the masses may be from what the controllers think; arguments as `DesignPage`."""

    verb = tr("Compare")

    def __init__(self, config: Path, folder: Path) -> None:
        super().__init__(
            tr("Trajectory"),
            tr(
                "Every controller follows a trajectory on the open configuration's plant, offline: as modelled, and "
                "with masses and inertias that are greater and smaller."
            ),
            config,
            folder,
        )
        kinds = tr("Trajectories (*.toml *.csv)")
        self.trajectory = self.fields.file(tr("Trajectory"), tr("Trajectory to follow"), kinds, tr("empty: the demo's"))
        self.error = self.fields.quantity(
            tr("Masses off by"), tr("Error of masses and inertias"), "%", _ERROR, 0.0, 90.0
        )

    @property
    def asked(self) -> JobRequest:
        """See `AskPage`."""
        path = self.trajectory.path
        values = {
            "machine": str(self.config),
            "trajectory": "demo" if path is None else str(path),
            "controllers": tuple(CONTROLLERS),
            "mass_error": self.error.si() / _PERCENT,
        }
        saved = self.folder / f"{'demo' if path is None else path.stem}-loops.svg"
        return JobRequest(compare_loops, LoopsRequest, values, saved=saved, writes="plot")


class ClosedLoopView(ResultView):
    """Tracking and effort of each controller, on each plant beside the others.

    Args:
        theme: colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._colours = (theme.accent, theme.warning, theme.muted)
        self.tracking = PointPicture(tr("Error of the position"), theme, tr("mm RMS"), log_y=True, places=_PLACES)
        self.effort = BarPicture(tr("Greatest part of the force limit"), theme, "%", _PLACES)
        self.table = NumberTable(tr("Controllers"), _HEADINGS, words=(0, 1, 7), wide=7)
        names = (tr("as modelled"), tr("masses greater"), tr("smaller"))
        legend = " ".join(swatch(colour, name) for colour, name in zip(self._colours, names, strict=True))
        self.add_pictures(
            (
                (tr("Position: {legend}").format(legend=legend), self.tracking),
                (tr("Greatest leg force, of its limit"), self.effort),
            )
        )
        self.add_below(self.table)

    def show_outcome(self, outcome: Outcome) -> tuple[str, str]:
        """See `ResultView`."""
        told = outcome.result
        runs = told["runs"]
        names = list(dict.fromkeys(run["controller"] for run in runs))
        plants = list(dict.fromkeys(run["plant"] for run in runs))
        kept = [name for name in names if not any(run["end"] for run in runs if run["controller"] == name)]
        of = {(run["controller"], run["plant"]): run for run in runs}
        shown = list(zip(plants, self._colours, strict=False))
        self.tracking.show_points(
            [
                Points(
                    [place + _BESIDE * (number - 1) for place in range(len(names))],
                    [_position(of[name, plant]) if name in kept else math.nan for name in names],
                    colour,
                )
                for number, (plant, colour) in enumerate(shown)
            ]
        )
        bars = [([_share(of[name, plant]) for name in names], colour) for plant, colour in shown]
        self.effort.show_bars(bars, [_PERCENT] * len(names))
        self.table.fill([_row(run) for run in runs])
        lines = [
            tr("{mechanism}: {trajectory}, {duration:g} s at {rate:g} Hz.").format(
                mechanism=told["mechanism"],
                trajectory=told["trajectory"],
                duration=told["duration_s"],
                rate=told["rate_hz"],
            )
        ]
        if kept:
            best = min(kept, key=lambda name: max(_position(of[name, plant]) for plant in plants))
            worst = max(_position(of[best, plant]) for plant in plants)
            lines.append(
                tr("Nearest to the reference on its worst plant: {best}, {worst:.3g} mm RMS.").format(
                    best=best, worst=worst
                )
            )
        lines += [f"{name}: {_ended(runs, name)}." for name in names if name not in kept]
        return outcome_text(outcome, lines)


class ClosedLoopWizard(FitWizard):
    """Compare the controllers along a trajectory, and save the plot of it.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        trajectory: to follow, None for the demo's.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        trajectory: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, tr("Closed loop offline"), parent)
        self.page = ClosedLoopPage(session.config.path, session.folder)
        self.fit = ClosedLoopView(theme)
        judged = tr("Nothing is saved before the next step, which writes tracking and forces over time as a picture.")
        self.set_up(self.page, self.fit, (tr("Controllers"), judged), "plots")
        if trajectory is not None:
            self.page.trajectory.choose(trajectory)


def _position(run: Any) -> float:
    return float(run["position_rms_mm"])


def _share(run: Any) -> float:
    return _PERCENT * float(max(run["share_of_limit"]))


def _ended(runs: Any, name: str) -> str:
    return next(str(run["end"]) for run in runs if run["controller"] == name and run["end"])


def _row(run: Any) -> tuple[str, ...]:
    keys = ("position_rms_mm", "position_peak_mm", "rotation_rms_mrad", "rotation_peak_mrad")
    numbers = (f"{run[key]:.3g}" for key in keys)
    return run["controller"], run["plant"], *numbers, f"{_share(run):.0f}", run["end"] or ""
