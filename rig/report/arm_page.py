"""The page on an arm's identification: one self-contained HTML file in the form of the report on a recording."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from calibration import autocorrelation
from kinematics import Array
from rig.analysis import FORMULATION_NAMES, MISFIT_RESIDUAL, SPLIT_NAMES, ArmIdentified
from rig.csvio import check_output, whole_file
from rig.report.figures import LEG_COLORS, STYLE
from rig.report.pages import TITLE, drawing, fixed, page_environment, panelled, styled
from rig.version import __version__

_POINTS = 1500
_DARK = "#3A424A"
_PANEL = 1.75  # inches
_LISTED = 60


def write_arm_page(identified: ArmIdentified, path: Path) -> None:
    """Write the page on an identification; it appears only when complete, and replaces one of the same name.

    Raises InputError if it cannot be written.
    """
    check_output(path)
    text = render(identified)
    with whole_file(path) as file:
        file.write(text)


def render(identified: ArmIdentified) -> str:
    """The page as text."""
    summary = identified.summary()
    with styled(STYLE):
        pictures = {
            name: drawing(make(identified)).svg
            for name, make in (("forces", _forces), ("residual", _residual), ("bars", _bars))
        }
    environment = page_environment("rig.report")
    environment.filters["fixed"] = fixed
    environment.filters["embedded"] = lambda svg: base64.b64encode(svg.encode()).decode()
    return environment.get_template("arm.html.j2").render(
        summary=summary,
        pictures=pictures,
        cards=_cards(summary),
        models=_models(summary),
        names=SPLIT_NAMES,
        titles=FORMULATION_NAMES,
        misfit_residual=MISFIT_RESIDUAL,
        listed=_LISTED,
        combination=_combination,
        version=__version__,
    )


def _cards(summary: dict[str, Any]) -> list[dict[str, str]]:
    chosen = next(each for each in summary["models"] if each["code"] == "chosen")
    ordinary = {
        each["split"]: each for model in summary["models"] if model["code"] == "ordinary" for each in model["hold_outs"]
    }
    cards = []
    for held in chosen["hold_outs"]:
        ours = _average(held["held_out"])
        theirs = _average(ordinary[held["split"]]["held_out"])
        cards.append(
            {
                "name": f"Held out: {SPLIT_NAMES[held['split']]}",
                "value": f"{100.0 * ours:.1f}",
                "unit": "% of the forces",
                "note": f"ordinary least squares {100.0 * theirs:.1f} %",
                "kind": "good" if ours <= theirs else "warn",
            }
        )
    cards.append(
        {
            "name": "Base parameters",
            "value": str(sum(each["determined"] for each in summary["base_parameters"])),
            "unit": f"of {len(summary['base_parameters'])}",
            "note": "determined by the data: σ at most half of the prior's",
            "kind": "neutral",
        }
    )
    cards.append(
        {
            "name": "Bodies",
            "value": "exist" if summary["consistent"] else "cannot exist",
            "unit": "",
            "note": "by a constraint" if summary["constrained"] else "without a constraint",
            "kind": "good" if summary["consistent"] else "bad",
        }
    )
    return cards


def _average(values: Sequence[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))


def _models(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table of models: title, number of unknowns, and per split the average and worst joint."""
    return [
        {
            "title": FORMULATION_NAMES[model["code"]],
            "code": model["code"],
            "unknowns": model["unknowns"],
            "splits": [
                (_average(held["fitted"]), _average(held["held_out"]), _average(held["held_out_in_motion"]))
                for held in model["hold_outs"]
            ],
        }
        for model in summary["models"]
    ]


def _combination(parts: dict[str, float]) -> str:
    """A base parameter as a sum, its largest coefficients first."""
    ranked = sorted(parts.items(), key=lambda each: (each[1] != 1.0, -abs(each[1])))
    return " ".join(f"{'+' if value >= 0.0 else '−'} {abs(value):.4g} {name}" for name, value in ranked).removeprefix(
        "+ "
    )


def _thinned(values: Array) -> slice:
    return slice(None, None, max(1, len(values) // _POINTS))


def _time(identified: ArmIdentified) -> tuple[Array, Array]:
    """Time s along all records, one behind another, and where a new one begins."""
    samples = identified.result.samples
    t = np.arange(len(samples.t)) / samples.rate
    return t, t[np.flatnonzero(np.diff(samples.record)) + 1]


def _forces(identified: ArmIdentified) -> Figure:
    """Measured and predicted force of each joint; prediction by what was fitted to the other rows of each split."""
    result = identified.result
    held = result.formulation("chosen").hold_outs[0]
    t, begins = _time(identified)
    names = [joint.name for joint in result.arm.joints]
    rows = (len(names) + 1) // 2
    figure = panelled(rows * (_PANEL + TITLE), rows)
    thin = _thinned(t)
    for j, name in enumerate(names):
        axes = figure.add_subplot(rows, 2, j + 1)
        color = LEG_COLORS[j % len(LEG_COLORS)]
        axes.fill_between(
            t[thin], 0, 1, where=held.held[thin], transform=axes.get_xaxis_transform(), color="#eef1f4", linewidth=0
        )
        axes.plot(t[thin], held.measured[thin, j], color=color, linewidth=1.0)
        axes.plot(t[thin], held.predicted[thin, j], color=_DARK, linewidth=0.8, linestyle="--")
        axes.plot(t[thin], (held.measured - held.predicted)[thin, j], color="#B23C00", linewidth=0.7)
        for begin in begins:
            axes.axvline(begin, color="#b8c2cb", linewidth=0.6)
        axes.set_title(f"{name}: held out {100.0 * held.held_out[j]:.1f} %, in motion {100.0 * held.moving[j]:.1f} %")
        axes.set_ylabel("N m" if result.arm.joints[j].revolute else "N")
        if j >= len(names) - 2:
            axes.set_xlabel("time, s")
    return figure


def _residual(identified: ArmIdentified) -> Figure:
    """Autocorrelation of each drive's residual, and its cumulative periodogram, which is straight for white noise."""
    result = identified.result
    figure = panelled(2.6, 1)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    begins = np.flatnonzero(np.diff(result.samples.record)) + 1
    longest = int(max(0.5, 6.0 * float(result.whiteness.correlation_time.max())) * result.samples.rate)
    for j, joint in enumerate(result.arm.joints):
        color = LEG_COLORS[j % len(LEG_COLORS)]
        residual = result.fit.residual[:, j] - result.fit.residual[:, j].mean()
        rho = autocorrelation(np.split(residual, begins))[:longest]
        left.plot(np.arange(len(rho)) / result.samples.rate, rho, color=color, label=joint.name)
        density = np.abs(np.fft.rfft(residual)) ** 2
        frequency = np.fft.rfftfreq(len(residual), 1.0 / result.samples.rate)
        band = (frequency > 0.0) & (frequency <= result.samples.cutoff)
        share = np.cumsum(density[band])
        right.plot(frequency[band], share / share[-1], color=color)
    left.axhline(0.0, color=_DARK, linewidth=0.6)
    left.set_title("Autocorrelation of the residual")
    left.set_xlabel("lag, s")
    left.legend(fontsize=7, ncols=2)
    right.plot([0.0, result.samples.cutoff], [0.0, 1.0], color=_DARK, linestyle=":", linewidth=0.8)
    right.set_title("Share of the residual's power below a frequency; dotted: white")
    right.set_xlabel("Hz")
    return figure


def _bars(identified: ArmIdentified) -> Figure:
    """Held-out relative residual of each joint by models, for each split."""
    result = identified.result
    codes = [each.code for each in result.formulations if each.code in ("ordinary", "weighted", "consistent", "chosen")]
    n = len(result.arm.joints)
    splits = result.formulation("chosen").hold_outs
    figure = panelled(2.6, 1, len(splits))
    colors = dict(
        zip(("ordinary", "weighted", "consistent", "chosen"), ("#b8c2cb", "#56B4E9", "#0072B2", "#00795a"), strict=True)
    )
    for place, split in enumerate(splits):
        axes = figure.add_subplot(1, len(splits), place + 1)
        for k, code in enumerate(codes):
            held = result.formulation(code).hold_outs[place]
            at = np.arange(n) + (k - 0.5 * (len(codes) - 1)) * 0.2
            axes.bar(at, 100.0 * held.held_out, 0.19, color=colors[code], label=FORMULATION_NAMES[code])
        axes.set_xticks(range(n), [joint.name for joint in result.arm.joints])
        axes.set_title(f"Held out: {SPLIT_NAMES[split.split]}, % of each joint's force")
        if place == 0:
            axes.legend(fontsize=7)
    return figure
