"""A cueing as a folder: a page, the motion that a rig runs, the cues, each figure as PDF, SVG and CSV, and JSON."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinematics import FLAGS, VEHICLE
from rig.csvio import MOTION, check_whole_folder, whole_folder, write_table
from rig.cueing.cueing import Cueing
from rig.cueing.figures import pictures
from rig.cueing.omct import FREQUENCIES, TESTS, ObjectiveTest, axis_record
from rig.papers import Picture, paper_environment, write_drawing, write_numbers

PAGE, SUMMARY, MOTION_FILE, CUES = "cueing.html", "cueing.json", "motion.csv", "cues.csv"
"""Names of the files in the folder: the page, its numbers, the motion for the rig, and what is felt."""
FIGURES = "figures"
_WHAT = "the cueing"
SECTIONS = {
    "cues": "What the vehicle did, and what is felt",
    "motion": "Motion of the platform",
    "legs": "Use of the legs",
    "fidelity": "Fidelity",
}
"""Titles of the page's sections, in order."""
_SHARES = {
    "input limited": "inputs are cut at input.force_limit or input.rate_limit",
    "tilt limited": "the tilt is at its limit of angle, rate or acceleration",
    "legs limited": "a leg's bound changes the motion",
    "braking": "the platform brakes along the path that is known to be free",
}


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    title: str
    pictures: tuple[Picture, ...]


def check_cueing_folder(folder: Path, *, force: bool = False) -> None:
    """Refuse a folder before any work is done; with `force`, an earlier cueing there may be replaced.

    Raises:
        InputError: it holds anything but a cueing, or its own folder is not there or not writable.
    """
    check_whole_folder(folder, SUMMARY, _WHAT, force=force)


def as_dict(cueing: Cueing, test: ObjectiveTest | None) -> dict[str, Any]:
    """Return a cueing as a JSON object, SI units."""
    vehicle = (cueing.times >= 0.0) & (cueing.times <= cueing.vehicle_end)
    error = cueing.sensed[vehicle] - cueing.vehicle[vehicle]
    summary: dict[str, Any] = {
        "mechanism": cueing.mechanism.name,
        "tuning": cueing.tuning.model_dump(),
        "vehicle": cueing.source,
        "rate_hz": cueing.rate,
        "duration_s": float(cueing.times[-1] - cueing.times[0]),
        "vehicle_duration_s": cueing.vehicle_end,
        "largest_use": {name: float(np.abs(values).max()) for name, values in cueing.use.items()},
        "shares": {name: float(np.mean(cueing.flags[vehicle] & flag != 0)) for name, flag in FLAGS.items()},
        "rms_error": dict(zip(VEHICLE, np.sqrt(np.mean(error**2, axis=0)).tolist(), strict=True)),
        "rms_vehicle": dict(zip(VEHICLE, np.std(cueing.vehicle[vehicle], axis=0).tolist(), strict=True)),
        "check": cueing.verdict.as_dict(),
        "omct": None,
    }
    if test is not None:
        summary["omct"] = {
            "standard": "after ICAO Doc 9625, attachment F; amplitudes and classes are this project's reading",
            "rate_hz": test.rate,
            "omega_rad_s": FREQUENCIES.tolist(),
            "tests": [axis_record(one, test) for one in TESTS],
            "distortion": test.distortion.tolist(),
            "limited": test.limited.tolist(),
            "fidelity_at_1_rad_s": [
                {"name": one.name, "gain": one.gain, "phase_rad": one.phase, "class": one.level}
                for one in test.fidelity
            ],
            "responses": [{"source": one.source, "dof": one.dof} for one in test.responses],
        }
    return summary


def write_cueing(
    cueing: Cueing,
    test: ObjectiveTest | None,
    folder: Path,
    *,
    force: bool = False,
    report: Callable[[float], None] = lambda _fraction: None,
) -> tuple[Path, ...]:
    """Draw and write a cueing; return its files, the page first. The folder appears only when all of it is written.

    Raises:
        InputError: see `check_cueing_folder`, or a file cannot be written.
    """
    drawn = []
    for place, found in enumerate(pictures(cueing, test)):
        drawn.append(found)
        report(min((place + 1) / 7.0, 1.0))
    sections = [
        _Section(name, title, tuple(picture for section, picture in drawn if section == name))
        for name, title in SECTIONS.items()
        if any(section == name for section, _ in drawn)
    ]
    summary = as_dict(cueing, test)
    with whole_folder(folder, SUMMARY, _WHAT, force=force) as temporary:
        (temporary / FIGURES).mkdir()
        written = [temporary / name for name in (PAGE, SUMMARY, MOTION_FILE, CUES)]
        written[0].write_text(_render(cueing, test, summary, sections), encoding="utf-8")
        written[1].write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        times = cueing.times - cueing.times[0]
        write_table(written[2], ("t", *MOTION), np.column_stack([times, cueing.motions]))
        names = ("t", *(f"vehicle_{name}" for name in VEHICLE), *(f"felt_{name}" for name in VEHICLE), "flags")
        write_table(
            written[3], names, np.column_stack([cueing.times, cueing.vehicle, cueing.sensed, cueing.flags])
        )  # fmt: skip
        for _, picture in drawn:
            written.append(write_numbers(picture.numbers, temporary / FIGURES))
            written += write_drawing(picture, temporary / FIGURES)
    return tuple(folder / path.relative_to(temporary) for path in written)


def _render(cueing: Cueing, test: ObjectiveTest | None, summary: dict[str, Any], sections: list[_Section]) -> str:
    return (
        paper_environment("rig.cueing")
        .get_template("cueing.html.j2")
        .render(
            cueing=cueing,
            test=test,
            summary=summary,
            sections=sections,
            figures=FIGURES,
            shares=_SHARES,
            tests=TESTS,
            frequencies=FREQUENCIES.tolist(),
            rows=_rows(test),
        )
    )


def _rows(test: ObjectiveTest | None) -> list[tuple[str, list[str]]]:
    """Cells of the table of the objective test: gain and phase of each test at each frequency."""
    if test is None:
        return []
    kinds = (False, True) if test.with_rig is not None else (False,)
    rows = []
    for one in TESTS:
        for rig in kinds:
            gains = test.response(one, rig=rig)
            cells = [
                "–" if np.isnan(gain) else f"{abs(gain):.3g} / {np.degrees(np.angle(gain)):.0f}°" for gain in gains
            ]
            name = (
                f"{one.number}  {one.name}" + (f", {one.unit}" if one.unit else "") + (", with the rig" if rig else "")
            )
            rows.append((name, cells))
    return rows
