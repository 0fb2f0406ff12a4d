"""Compare controllers along a trajectory offline."""

import math
from typing import Any

from gui.session import RigSession
from gui.steps import fields
from gui.texts import tr
from gui.widgets import Theme
from gui.wizard import Description, DisplayedResult, Entered, Outcome, Result, Table, Task, pictures
from rig.services import LoopsRequest, compare_loops
from rig.virtual import controllers

_PLACES = tuple(name.replace("computed-", "c.-") for name in controllers())
_COLOURS = ("accent", "warning", "muted")
_APART = 0.15  # fraction of a slot between neighbouring plants
_PERCENT = 100.0


def describe(session: RigSession) -> Description:
    """Describe the wizard: a motion, and the mass error that the controllers have to cope with."""
    return Description(
        title=tr("Closed loop offline"),
        request_heading=(
            tr("Trajectory"),
            tr(
                "Every controller follows a trajectory on the open configuration's plant, offline: as "
                "modelled, and with increased and decreased masses and inertias."
            ),
        ),
        compute_heading=(
            tr("Controllers"),
            tr("Nothing is saved before the next step, which writes tracking and forces over time as a picture."),
        ),
        file_kind="plots",
        tasks=(
            Task(
                tr("Compare"),
                compare_loops,
                LoopsRequest,
                saved=_saved,
                result=_RESULT,
                values=lambda _entered: {"machine": str(session.config.path), "controllers": tuple(controllers())},
                writes="plot",
            ),
        ),
        fields=(
            fields.file(
                "trajectory",
                tr("Trajectory"),
                tr("Trajectory to follow"),
                tr("Trajectories (*.toml *.csv)"),
                tr("empty: the demo's"),
                convert=lambda path: "demo" if path is None else str(path),
            ),
            fields.quantity(
                "mass_error",
                tr("Mass error"),
                tr("Error of masses and inertias"),
                "%",
                (0.0, 90.0),
                usual=20.0,
                convert=lambda percent: percent / _PERCENT,
            ),
            fields.optional(
                "bandwidth",
                tr("Bandwidth"),
                tr("Natural frequency of the fastest direction, for all controllers"),
                "Hz",
                (0.01, 1000.0),
                hint=tr("gains of the configuration"),
            ),
            fields.tick("mujoco", tr("Also on plants that MuJoCo moves")),
        ),
    )


def _saved(entered: Entered) -> Any:
    return entered.folder / f"{'demo' if entered.source is None else entered.source.stem}-loops.svg"


def _pictures(theme: Theme) -> pictures.Pictures:
    """Plot tracking error and effort of each controller on each plant."""
    names = (tr("as modelled"), tr("masses greater"), tr("smaller"))
    legend = pictures.swatches(theme, *zip(_COLOURS, names, strict=True))
    return (
        (
            tr("Position: {legend}").format(legend=legend),
            pictures.PointPicture(tr("Error of the position"), theme, tr("mm RMS"), log_y=True, places=_PLACES),
        ),
        (
            tr("Largest leg force, share of its limit"),
            pictures.BarPicture(tr("Largest share of the force limit"), theme, "%", _PLACES),
        ),
    )


def _show(outcome: Outcome) -> DisplayedResult:
    found = outcome.result
    runs = found["runs"]
    names = list(dict.fromkeys(run["controller"] for run in runs))
    plants = list(dict.fromkeys(run["plant"] for run in runs))
    ended = {run["controller"]: str(run["end"]) for run in reversed(runs) if run["end"]}
    of = {(run["controller"], run["plant"]): run for run in runs}
    loops = {loop["controller"]: loop for loop in found["bandwidths"]}
    shown = list(zip(plants, _COLOURS, strict=False))
    lines = [
        tr("{mechanism}: {trajectory}, {duration:g} s at {rate:g} Hz.").format(
            mechanism=found["mechanism"],
            trajectory=found["trajectory"],
            duration=found["duration_s"],
            rate=found["rate_hz"],
        )
    ]
    worst = {name: max(_position(of[name, plant]) for plant in plants) for name in names if name not in ended}
    if worst:
        best = min(worst, key=worst.__getitem__)
        lines.append(
            tr("Best controller on its worst plant: {best}, {worst:.3g} mm RMS.").format(best=best, worst=worst[best])
        )
    lines += [f"{name}: {ended[name]}." for name in names if name in ended]
    tracking = [
        pictures.Points(
            [place + _APART * (number - 1) for place in range(len(names))],
            [math.nan if name in ended else _position(of[name, plant]) for name in names],
            colour,
        )
        for number, (plant, colour) in enumerate(shown)
    ]
    effort = [([_share(of[name, plant]) for name in names], colour) for plant, colour in shown]
    return DisplayedResult(
        drawn=(pictures.Scatter(tracking), pictures.Bars(effort, [_PERCENT] * len(names))),
        rows=[_row(run, loops.get(run["controller"])) for run in runs],
        lines=lines,
    )


def _position(run: Any) -> float:
    return float(run["position_rms_mm"])


def _share(run: Any) -> float:
    return _PERCENT * float(max(run["share_of_limit"]))


def _bandwidth(loop: Any) -> tuple[str, str]:
    """Natural frequencies and gain margin of a loop as text; empty where there is none."""
    if loop is None:
        return "", ""
    slowest, fastest = (f"{loop[name]:.3g}" for name in ("slowest_hz", "fastest_hz"))
    margin = "" if loop["gain_margin"] is None else f"{loop['gain_margin']:.3g}"
    return fastest if slowest == fastest else f"{slowest}–{fastest}", margin


def _row(run: Any, loop: Any) -> tuple[str, ...]:
    keys = ("position_rms_mm", "position_peak_mm", "rotation_rms_mrad", "rotation_peak_mrad")
    numbers = (f"{run[key]:.3g}" for key in keys)
    return run["controller"], run["plant"], *_bandwidth(loop), *numbers, f"{_share(run):.0f}", run["end"] or ""


_RESULT = Result(
    _pictures,
    Table(
        tr("Controllers"),
        (
            tr("Controller"),
            tr("Plant"),
            tr("Bandwidth\nat home, Hz"),
            tr("Gain\nmargin"),
            tr("Position\nRMS, mm"),
            tr("peak"),
            tr("Rotation\nRMS, mrad"),
            tr("peak"),
            tr("Of the\nforce limit, %"),
            tr("Ended"),
        ),
        words=(0, 1, 9),
        wide=9,
    ),
    _show,
)
