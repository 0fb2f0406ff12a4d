"""Defaults that a machine's own size sets: those of the sections are of one like the lab-hexapod.

A bound of 30 N on the residual is a tenth of what a leg of the lab-hexapod exerts, and a thousand times nothing on a
machine of 380 kg. What a configuration does not give is the section's default times the machine's size
(`dynamics.machine_size`): forces by its legs' force limits, lengths by their stroke, speeds by theirs, stiffness and
damping by the mass that they move, so that loops have the same bandwidth. A leg then follows its reference to the same
mm on any machine, so that `following_error` and `position_jump` have no size. Three digits are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dynamics import MachineSize, Mechanism, machine_size
from rig.config.sections import Section

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig

_FORCE, _LENGTH, _MASS, _SPEED = "force", "length", "mass", "speed"

SCALED: Mapping[tuple[str, ...], Mapping[str, tuple[str, ...]]] = {
    ("control",): {"stiffness": (_MASS,), "damping": (_MASS,)},
    ("safety",): {
        "force_residual": (_FORCE,),
        "characteristic_length": (_LENGTH,),
        "homing_tolerance": (_LENGTH,),
        "tare_shift": (_FORCE,),
        "brake_slip": (_LENGTH,),
    },
    ("motion",): {"approach_speed": (_SPEED,), "approach_rotation": (_SPEED, f"-{_LENGTH}")},
    ("load_cells",): {"noise": (_FORCE,), "range": (_FORCE,)},
    ("virtual", "drive"): {
        "force_limit": (_FORCE,),
        "homing_speed": (_SPEED,),
        "position_stiffness": (_MASS,),
        "position_damping": (_MASS,),
        "brake_stiffness": (_MASS,),
        "brake_damping": (_MASS,),
        "brake_force": (_FORCE,),
        "quick_stop_damping": (_MASS,),
        "start_spread": (_LENGTH,),
    },
    ("virtual", "cells"): {"noise": (_FORCE,)},
    ("virtual", "plant", "tolerance"): {"center": (_LENGTH,), "cell_bias": (_FORCE,)},
}
"""Keys by section, and what of the size each grows with; "-": falls with it."""


def with_scaled_defaults(config: RigConfig, machine: Mechanism) -> tuple[RigConfig, list[str]]:
    """The configuration with the defaults of `SCALED` for this machine, and those that it cannot have, in words."""
    size = machine_size(machine)
    faults: list[str] = []
    for way, keys in SCALED.items():
        config = _scaled(config, way, keys, size, faults)
    return config, faults


def _scaled(
    top: Any, way: tuple[str, ...], keys: Mapping[str, tuple[str, ...]], size: MachineSize, faults: list[str]
) -> Any:
    """A copy of a section `top` with the defaults of `keys` in the section at `way` below it."""
    if way:
        part: Section | None = getattr(top, way[0])
        if part is None:
            return top
        found: list[str] = []
        new = _scaled(part, way[1:], keys, size, found)
        faults += [f"{way[0]}.{fault}" for fault in found]
        return top if new is part else top.model_copy(update={way[0]: new})
    changes: dict[str, Any] = {}
    for key in keys.keys() - top.model_fields_set:
        factor = 1.0
        for power in keys[key]:
            factor *= 1.0 / getattr(size, power[1:]) if power.startswith("-") else getattr(size, power)
        value = getattr(top, key)
        if factor != 1.0:
            several = isinstance(value, tuple)
            changes[key] = tuple(_round(one * factor) for one in value) if several else _round(value * factor)
    try:
        type(top).model_validate(top.model_dump() | changes)
    except ValidationError as error:
        texts = {str(each["loc"][0]): str(each["msg"]).removeprefix("Value error, ") for each in error.errors()}
        faults += [
            f"{key}: {text}: it is not given, and its default is that of the machine's size"
            for key, text in texts.items()
            if key in changes
        ]
    return top.model_copy(update=changes) if changes else top


def _round(value: float) -> float:
    return float(f"{value:.3g}")
