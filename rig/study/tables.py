"""The tables of a study, as shown on its page and complete as numbers."""

from collections.abc import Iterator

import numpy as np

from kinematics import COORDINATE_UNITS, COORDINATES, motion_to_coordinates
from rig.csvio import per_leg
from rig.papers import Numbers, Sheet, number, rms
from rig.study.figures import NAMES
from rig.study.forces import TERMS
from rig.study.measures import DECADES, Decade
from rig.study.study import ROUNDING, MachineStudy

_LEGS, _LEG_COLUMNS = per_leg("Leg "), per_leg("leg")
_ROUNDED = 1e-12  # m, rad and their rates
_MOST_LISTED = 20  # singularities on the page


def sheets(study: MachineStudy) -> Iterator[tuple[str, Sheet]]:
    """Yield each table with the name of its section."""
    yield "motion", _motion(study)
    yield "forces", _terms(study)
    yield "forces", _legs(study)
    yield "models", _models(study)
    yield "models", _models_by_leg(study)
    yield "reactions", _reactions(study)
    if study.measures.singularities:
        yield "conditioning", _singularities(study)
    yield "conditioning", _decades(study)
    yield "operations", _operations(study)


def _motion(study: MachineStudy) -> Sheet:
    q, first, second = motion_to_coordinates(study.motion.motions)
    q[:, 3:] = np.unwrap(q[:, 3:], axis=0)
    for values in (q, first, second):
        values[np.abs(values) < _ROUNDED] = 0.0
    rows: list[tuple[str, float, float, float, float]] = []
    shown = []
    for k, (name, unit) in enumerate(zip(COORDINATES, COORDINATE_UNITS, strict=True)):
        low, high = float(q[:, k].min()), float(q[:, k].max())
        speed, rate = float(np.abs(first[:, k]).max()), float(np.abs(second[:, k]).max())
        rows.append((name, low, high, speed, rate))
        span = f"{number(low, unit)} to {number(high, unit)}"
        shown.append((name, span, number(speed, f"{unit}/s"), number(rate, f"{unit}/s²")))
    return Sheet(
        "The motion",
        "Coordinates of the platform in the base frame.",
        ("Coordinate", "Range", "Greatest speed", "Greatest acceleration"),
        tuple(shown),
        Numbers("motion", ("coordinate", "least", "greatest", "peak_speed", "peak_acceleration"), tuple(rows)),
    )


def _terms(study: MachineStudy) -> Sheet:
    forces, total = study.forces, rms(study.forces.exact)
    rows = []
    for name, term in zip((*TERMS, "total"), (*forces.terms, forces.exact), strict=True):
        sample, leg = divmod(int(np.abs(term).argmax()), 6)
        time = float(study.motion.times[sample])
        rows.append((name, rms(term), 100.0 * rms(term) / total, float(term[sample, leg]), leg + 1, time))
    return Sheet(
        "Forces by cause",
        "RMS over all legs and samples, the same in percent of the total's, and the largest value. Parts may cancel: "
        "their RMS do not add up.",
        ("Cause", "RMS", "of the total", "Largest", "Leg", "at t"),
        tuple(
            (name, number(size, "N"), number(share, "%"), number(peak, "N"), str(leg), number(time, "s"))
            if size
            else (name, "0 N", "0 %", "–", "–", "–")
            for name, size, share, peak, leg, time in rows
        ),
        Numbers("terms", ("cause", "rms", "share_percent", "peak", "leg", "t"), tuple(rows)),
    )


def _legs(study: MachineStudy) -> Sheet:
    forces = study.forces
    medians = 100.0 * np.nanmedian(np.abs(forces.fraction), axis=0)
    table = {
        "least": forces.exact.min(axis=0),
        "greatest": forces.exact.max(axis=0),
        "rms": np.sqrt(np.mean(forces.exact**2, axis=0)),
        "rms_massless": np.sqrt(np.mean(forces.massless**2, axis=0)),
        "median_fraction_percent": medians,
    }
    titles = ("Least force", "Greatest force", "RMS", "RMS, massless legs", "Median of |F_d/F|")
    shown = tuple(
        (title, *(number(float(value), "%" if name.endswith("percent") else "N") for value in values))
        for title, (name, values) in zip(titles, table.items(), strict=True)
    )
    return Sheet(
        "Forces by leg",
        "Actuator forces of the exact model, pushing positive.",
        ("", *_LEGS),
        shown,
        Numbers("legs", ("quantity", *_LEG_COLUMNS), tuple((name, *values.tolist()) for name, values in table.items())),
    )


def _models(study: MachineStudy) -> Sheet:
    rows = [(one.model, one.rms, one.peak, one.at_rest, one.at_rest_peak) for one in study.forces.errors]

    def cells(share: float, peak: float) -> tuple[str, str]:
        return ("0 %", "0 N") if share < ROUNDING else (number(share, "%"), number(peak, "N"))

    return Sheet(
        "Models against the exact one",
        "RMS of the difference over all legs and samples, relative to the forces, and the largest difference; the same "
        "standing still in the same poses. Zero is to rounding.",
        ("Model", "RMS", "largest", "At rest: RMS", "largest"),
        tuple(
            (NAMES[model], *cells(share, peak), *cells(rest, rest_peak)) for model, share, peak, rest, rest_peak in rows
        ),
        Numbers("models-summary", ("model", "rms_percent", "peak", "at_rest_rms_percent", "at_rest_peak"), tuple(rows)),
    )


def _models_by_leg(study: MachineStudy) -> Sheet:
    rows = [(one.model, *one.rms_of_leg.tolist()) for one in study.forces.errors]
    shown = [
        (NAMES[one.model], *("0 %" if share < ROUNDING else number(share, "%") for share in one.rms_of_leg.tolist()))
        for one in study.forces.errors
    ]
    return Sheet(
        "The same by leg",
        "RMS of the difference, relative to that leg's force.",
        ("Model", *_LEGS),
        tuple(shown),
        Numbers("models-by-leg", ("model", *_LEG_COLUMNS), tuple(rows)),
    )


def _reactions(study: MachineStudy) -> Sheet:
    peaks = study.peaks
    rows = [
        (one.reaction, one.leg or 0, one.unit, one.magnitude, float(study.motion.times[one.sample]), *one.components)
        for one in peaks
    ]
    shown = []
    for reaction in dict.fromkeys(one.reaction for one in peaks if one.leg is not None):
        found = [one for one in peaks if one.reaction == reaction]
        cells = [f"{number(one.magnitude, one.unit)} at {number(float(one.time or 0.0), 's')}" for one in found]
        shown.append((reaction, *cells))
    return Sheet(
        "Greatest reactions",
        "Size of the reaction of each joint where it is greatest, by leg. The file has the load on the base too.",
        ("Reaction", *_LEGS),
        tuple(shown),
        Numbers("reactions", ("reaction", "leg", "unit", "magnitude", "t", "x", "y", "z"), tuple(rows)),
    )


def _singularities(study: MachineStudy) -> Sheet:
    rows = [(one.time, one.condition, int(one.crossed)) for one in study.measures.singularities]
    return Sheet(
        "Singularities on the motion, and near it",
        "Where det H changes its sign between two samples, and peaks of the condition number from 100 on."
        + (f" The first {_MOST_LISTED} of {len(rows)}." if len(rows) > _MOST_LISTED else ""),
        ("t", "Condition number", ""),
        tuple(
            (number(time, "s"), "without bound" if crossed else number(condition),
             "passed" if crossed else "a peak nearby")
            for time, condition, crossed in rows[:_MOST_LISTED]
        ),
        Numbers("singularities", ("t", "condition", "crossed"), tuple(rows)),
    )  # fmt: skip


def _decades(study: MachineStudy) -> Sheet:
    def cells(one: Decade) -> tuple[str, str, str]:
        if one.median is None or one.greatest is None:
            return "none", "–", "–"
        return number(100.0 * one.share, "%"), number(one.median, "N"), number(one.greatest, "N")

    shown, rows = [], []
    for path, box in zip(study.decades, study.box.decades, strict=True):
        last = path.least == DECADES[-1]
        name = f"{number(path.least)} and more" if last else f"{number(path.least)} to {number(10.0 * path.least)}"
        shown.append((name, *cells(path), *cells(box)))
        nan = float("nan")
        for where, one in (("motion", path), ("box", box)):
            median = nan if one.median is None else one.median
            rows.append((where, one.least, one.count, one.share, median, nan if one.greatest is None else one.greatest))
    return Sheet(
        "Near-singular poses",
        "Samples of the motion, and static poses of the box around it, by condition number: their share, and the "
        "median and the maximum of their largest leg force.",
        ("Condition number", "Motion", "median", "maximum", "Box", "median", "maximum"),
        tuple(shown),
        Numbers("decades", ("where", "least_condition", "count", "share", "median_force", "peak_force"), tuple(rows)),
    )


def _operations(study: MachineStudy) -> Sheet:
    parts = ("leg", "platform", "equations", "total")
    rows = [
        (row.part, row.as_printed, row.counted, study.counts.structural[part])
        for part, row in zip(parts, study.counts.rows, strict=False)
    ]
    return Sheet(
        "Floating-point operations of one evaluation",
        "Counted in the printed equations of 1998 (an inner product of n pairs is 2n, zeros count), in the exact "
        "inverse dynamics here, and in it where zeros and ones of this mechanism cost nothing and what is constant is "
        "formed beforehand (a leg: on average). Friction counts where there is any.",
        ("Part", "Equations of 1998", "Exact model", "Exact model, this mechanism"),
        tuple((part, *map(str, numbers)) for part, *numbers in rows),
        Numbers("operations", ("part", "printed_1998", "exact", "exact_structural"), tuple(rows)),
    )
