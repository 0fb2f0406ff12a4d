"""A study as a folder: a page with all figures, each figure as PDF, SVG and CSV, tables as CSV, and JSON."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.csvio import check_whole_folder, whole_folder
from rig.papers import Numbers, Picture, Sheet, paper_environment, write_drawing, write_numbers
from rig.study.figures import Drawer
from rig.study.statements import Statement
from rig.study.study import MachineStudy, Report
from rig.study.tables import sheets

PAGE, SUMMARY = "study.html", "study.json"
"""Names of the page and of the numbers in the folder."""
FIGURES, TABLES = "figures", "tables"
SECTIONS = {
    "motion": "The machine and the motion",
    "forces": "Actuator forces",
    "fraction": "Dynamic fraction",
    "models": "Comparison of the models",
    "ends": "Spin of the legs, and spherical ends",
    "reactions": "Reactions in the joints",
    "conditioning": "Conditioning and singularities",
    "operations": "Operations",
}
"""Titles of the sections of the page, in order."""
_HEADLINE = ("peak-force", "peak-force-weightless", "dominant", "fraction", "improved", "not-improved", "no-error",
             "crosses", "crosses-one", "near-singular", "regular")  # fmt: skip
"""Codes of the statements that stand at the top of the page."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    title: str
    statements: tuple[Statement, ...]
    sheets: tuple[Sheet, ...]
    pictures: tuple[Picture, ...]


def check_study_folder(folder: Path, *, force: bool = False) -> None:
    """Refuse a folder for a study before any work is done; with `force`, an earlier study there may be replaced.

    Raises:
        InputError: it exists and holds anything but a study, or its own folder is not there or not writable.
    """
    check_whole_folder(folder, SUMMARY, "the study", force=force)


def write_study(
    study: MachineStudy,
    folder: Path,
    *,
    force: bool = False,
    report: Report = lambda _what, _fraction: None,
) -> tuple[Path, ...]:
    """Draw and write a study; return its files, the page first.

    The folder appears, or is replaced, only when all of it is written.

    Raises:
        InputError: see `check_study_folder`, or a file cannot be written.
    """
    check_study_folder(folder, force=force)
    drawn: list[tuple[str, Picture]] = []
    for place, found in enumerate(Drawer(study).figures()):
        drawn.append(found)
        report("figures", min(place / 25.0, 1.0))
    tables = list(sheets(study))
    sections = [
        _Section(
            name,
            title,
            study.statements[name],
            tuple(sheet for section, sheet in tables if section == name),
            tuple(picture for section, picture in drawn if section == name),
        )
        for name, title in SECTIONS.items()
    ]
    with whole_folder(folder, SUMMARY, "the study", force=force) as temporary:
        for name in (FIGURES, TABLES):
            (temporary / name).mkdir()
        written = [
            _written(temporary / PAGE, _render(study, sections)),
            _written(temporary / SUMMARY, json.dumps(as_dict(study), indent=2, ensure_ascii=False) + "\n"),
        ]
        for _, sheet in tables:
            written.append(write_numbers(sheet.numbers, temporary / TABLES))
        for _, picture in drawn:
            written.append(write_numbers(picture.numbers, temporary / FIGURES))
            written += write_drawing(picture, temporary / FIGURES)
    return tuple(folder / path.relative_to(temporary) for path in written)


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _render(study: MachineStudy, sections: Iterable[_Section]) -> str:
    found = [one for statements in study.statements.values() for one in statements]
    return (
        paper_environment("rig.study")
        .get_template("study.html.j2")
        .render(
            study=study,
            sections=list(sections),
            headline=[one for code in _HEADLINE for one in found if one.code == code],
            figures=FIGURES,
            tables=TABLES,
        )
    )


def as_dict(study: MachineStudy) -> dict[str, Any]:
    """Return a study as a JSON object: what was studied, what was found, and all tables; SI units."""
    motion = study.motion
    return {
        "mechanism": study.mechanism.name,
        "trajectory": motion.source,
        "source": motion.kind,
        "samples": len(motion.times),
        "duration_s": float(motion.times[-1] - motion.times[0]),
        "friction": study.friction,
        "box": {"low": study.box.low.tolist(), "high": study.box.high.tolist(), "poses": len(study.box.forces)},
        "statements": {
            section: [one.as_dict() for one in statements] for section, statements in study.statements.items()
        },
        "tables": {sheet.numbers.name: _records(sheet.numbers) for _, sheet in sheets(study)},
    }


def _records(numbers: Numbers) -> list[dict[str, Any]]:
    def known(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return [dict(zip(numbers.columns, map(known, row), strict=True)) for row in numbers.rows]
