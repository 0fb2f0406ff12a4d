"""Motions designed for a rig, as trajectory files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import tomlkit
from tomlkit.items import Table

from calibration import Excitation, ExcitationSettings, WeightPlan, design_excitation
from dynamics import LegLimits, Mechanism
from kinematics import Trajectory, toml_item
from rig.client.motions import passes
from rig.config import RigConfig
from rig.errors import InputError
from rig.safety import MASS_ERROR


def excitation_for(
    config: RigConfig,
    duration: float,
    *,
    candidates: int,
    steps: int,
    fastest: float = 2.0,
    margin: float = 0.75,
    seed: int = 0,
    progress: Callable[[float], None] = lambda _part: None,
) -> Excitation:
    """Design an exciting motion that passes the check before a run; see `design_excitation`.

    The configuration gives the noise of the cells, and the drives' forces if the engine closes all six loops. Forces
    are also limited so that the loop follows with an error `MASS_ERROR` of the masses. Raises CalibrationError as that.
    """

    def permits(trajectory: Trajectory) -> bool:
        return passes(config, trajectory)

    return design_excitation(
        _followed(config),
        ExcitationSettings(
            duration, fastest, margin, candidates, steps, seed, config.cell_noise, drives=not any(config.own_loops)
        ),
        permits=permits,
        progress=progress,
    )


def _followed(config: RigConfig) -> Mechanism:
    """The machine with limits of force at which the following error is at its bound, in mode force.

    An error ΔF of the model moves a leg by ΔF/K_p from its reference, see `judge_sag`.
    """
    if config.mode != "force":
        return config.machine
    most = config.control.stiffness * config.safety.following_error / MASS_ERROR
    legs = []
    for leg, own in zip(config.machine.legs, config.own_loops, strict=True):
        limits = leg.limits or LegLimits()
        force = most if limits.force is None else min(limits.force, most)
        legs.append(leg if own else replace(leg, limits=replace(limits, force=force)))
    return replace(config.machine, legs=tuple(legs))


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
