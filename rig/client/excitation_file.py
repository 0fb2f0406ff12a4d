"""Designed motions as trajectory files."""

from pathlib import Path

import tomlkit
from tomlkit.items import Table

from calibration import Excitation, WeightPlan
from kinematics import toml_item
from rig.errors import InputError


def write_excitation(path: Path, motion: Excitation) -> None:
    """Write a motion as a trajectory file that `rig run` takes. Raises InputError where it cannot be written."""
    document = tomlkit.document()
    document.add(tomlkit.comment("A motion that tells a rig's inertias and frictions, designed by `rig excite`."))
    document.add("frame", toml_item("home"))
    part = tomlkit.table()
    part.add("type", toml_item("harmonic"))
    part.add("duration", toml_item(motion.duration))
    part.add("fade", toml_item(motion.fade))
    terms = tomlkit.array()
    terms.extend(
        toml_item({"dof": t.dof, "amplitude": t.amplitude, "frequency": t.frequency, "phase": t.phase})
        for t in motion.terms
    )
    part.add("terms", terms.multiline(True))
    parts = tomlkit.aot()
    parts.append(part)
    document.add("parts", parts)
    _write(path, document)


def write_weight_plan(path: Path, plan: WeightPlan, hold: float) -> None:
    """Write a plan as a trajectory file that `rig run` takes, `hold` s at each pose.

    Raises InputError where it cannot be written.
    """
    document = tomlkit.document()
    document.add(tomlkit.comment("Poses at rest for `rig calibrate cells-in-place`, planned by its option --plan."))
    document.add("frame", toml_item("home"))
    points = [[round(value, 6) for value in point] for point in plan.way_points.tolist()]
    parts = tomlkit.aot()
    for start, end, seconds, rests in zip(points[:-1], points[1:], plan.moves.tolist(), plan.holds[1:], strict=True):
        parts.append(_part(type="minimum-jerk", start=start, end=end, duration=seconds))
        if rests:
            parts.append(_part(type="hold", position=end, duration=hold))
    document.add("parts", parts)
    _write(path, document)


def _part(**values: object) -> Table:
    part = tomlkit.table()
    for name, value in values.items():
        part.add(name, toml_item(value))
    return part


def _write(path: Path, document: tomlkit.TOMLDocument) -> None:
    try:
        path.write_text(tomlkit.dumps(document), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
