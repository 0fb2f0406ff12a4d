"""Free ranges of the platform around a pose, and the steps that would be refused there."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kinematics import JogFrame
from rig.client import AXES, LEGS, FreeRange, free_range, jogged, search_limit, step_refusal
from rig.config import RigConfig
from rig.findings import Finding


@dataclass(frozen=True, slots=True)
class Question:
    """All inputs of the results, SI: current pose, steps, their axes, and the moves' peak speeds."""

    pose: tuple[float, ...]
    translation: float
    rotation: float
    leg_step: float
    frame: JogFrame
    pivot: tuple[float, float, float]
    speed: float
    turn_speed: float

    def step(self, axis: str) -> float:
        """Return the step along, about or of an axis or leg."""
        if axis in LEGS:
            return self.leg_step
        return self.translation if axis in AXES[:3] else self.rotation

    @property
    def without_steps(self) -> "Question":
        """Return the inputs of the ranges."""
        return replace(self, translation=0.0, rotation=0.0, leg_step=0.0)


def step_refusals(config: RigConfig, question: Question) -> dict[str, Finding]:
    """Return the steps that would be refused, and why."""
    here = np.array(question.pose)
    found = {}
    for axis in (*AXES, *LEGS):
        for sign, symbol in ((1, "+"), (-1, "-")):
            target = partial(_target, config, question, axis, sign * question.step(axis))
            if reason := step_refusal(config, here, target, question.speed, question.turn_speed):
                found[f"{symbol}{axis}"] = reason
    return found


def range_of(config: RigConfig, question: Question, way: str) -> FreeRange:
    """Return the free range of a direction."""
    sign, axis = (1 if way[0] == "+" else -1), way[1:]
    most = search_limit(config, turning=axis in AXES[3:])

    def target(extent: float) -> Any:
        return _target(config, question, axis, sign * extent)

    return free_range(config, np.array(question.pose), target, most, question.speed, question.turn_speed)


def _target(config: RigConfig, question: Question, axis: str, step: float) -> Any:
    own = axis in LEGS  # a leg's length has neither frame nor pivot
    frame: JogFrame = "base" if own else question.frame
    return jogged(config, np.array(question.pose), axis, step, frame, (0.0, 0.0, 0.0) if own else question.pivot)
