"""Templates in a size that a rig bears."""

import math
from collections.abc import Container
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from kinematics import TrajectorySpec, build_trajectory
from rig.client.motions import checked_motion
from rig.client.templates import Template
from rig.config import RigConfig
from rig.errors import InputError, RefusedError
from rig.safety import check_trajectory

_PART = 0.5  # of the largest size that passes: room to make it larger
_TRIES = 4
_LEAST = 0.05  # of a size; where next to nothing passes it is made smaller by no more than this at once
_UNLIMITED = 0.05  # m, half of a stroke that nothing bounds
_ROUGH_RATE = 100.0  # Hz, of the first look; what it leads to is checked as every motion is
_ROUND = (5.0, 2.0, 1.0)

SomeTemplate = TypeVar("SomeTemplate", bound=Template)


def template_motion(template: Template) -> TrajectorySpec:
    """The motion of a template, validated. Raises InputError for numbers that make none."""
    try:
        return TrajectorySpec.model_validate(template.motion())
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        raise InputError("\n".join(faults)) from None


def fitted(
    config: RigConfig, template: SomeTemplate, given: Container[str] = (), folder: Path | None = None
) -> SomeTemplate:
    """A template with its sizes chosen, but for those `given`: some half of the largest that pass, in round numbers.

    It begins with the size of the legs' stroke, and of the angle that it makes of the platform, of which the check of
    every motion tells the largest scale that passes. What does not matter is not chosen.
    Raises RefusedError where no size passes, InputError for numbers that make no motion.
    """
    free = [name for name in template.sizes if name not in given and template.matters(name)]
    if not free:
        return template
    home, factor = config.machine.geometry.home_pose, 1.0
    for look in range(_TRIES):
        trial = template.model_copy(update=_sizes(config, free, factor))
        motion = build_trajectory(template_motion(trial), home, folder)
        if look == 0:
            verdict = check_trajectory(config.machine, config.safety, motion, min(config.rate, _ROUGH_RATE))
        elif (verdict := checked_motion(config, motion)[1]).passed:
            return trial
        factor *= _PART * max(verdict.scale, _LEAST)
    raise RefusedError(f"no size that passes was found: of the smallest that was tried,\n{verdict.message}")


def _sizes(config: RigConfig, names: list[str], factor: float) -> dict[str, object]:
    length, angle = _nominal(config)
    length, angle = _rounded(1e3 * factor * length) / 1e3, math.radians(_rounded(math.degrees(factor * angle)))
    values = {"amplitude": length, "angle": angle, "radius": length, "pose": (0.0, 0.0, length, 0.0, 0.0, 0.0)}
    return {name: values[name] for name in names}


def _nominal(config: RigConfig) -> tuple[float, float]:
    """Half the shortest stroke, m, and the angle, rad, that moves the outermost joint of the platform as far."""
    bounds = [limits.length for limits in config.machine.limits if limits is not None and limits.length is not None]
    reach = min((0.5 * (high - low) for low, high in bounds), default=_UNLIMITED)
    points = config.machine.geometry.platform_points
    radius = max(float(((points - points.mean(axis=0)) ** 2).sum(axis=1).max()) ** 0.5, 1e-3)
    return reach, min(reach / radius, 0.5)


def _rounded(number: float) -> float:
    """The next round number (1, 2, 5, 10 …) at or below one above 0."""
    power = 10.0 ** math.floor(math.log10(number))
    return power * next(each for each in _ROUND if each * power <= number * (1.0 + 1e-12))
