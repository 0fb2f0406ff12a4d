"""What the plant of a virtual rig really is. Only the plant, and whoever judges an estimate, may look."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from dynamics import DynamicsError, Mechanism, format_mechanism, load_mechanism
from rig.config import Hose, PlantFriction, RigConfig, VirtualCells, VirtualPlant, resolve_name
from rig.errors import ConfigError
from rig.virtual.as_built import Draw
from rig.virtual.loading import plant_mechanism

SUFFIX = ".truth.toml"
CELL_EFFECTS = ("gain_warming", "curvature", "hysteresis", "hum", "jump", "spike")
"""Of load cells, what a calibration by weights does not find; see `VirtualCells`."""
_SIZES = {
    "viscous_exponent": "viscous",
    "ripple_length": "ripple",
    "ripple_phase": "ripple",
    "presliding_damping": "presliding_stiffness",
    "running_in_time": "running_in",
    "jump_rate": "jump",
    "spike_rate": "spike",
}
"""What belongs to the size of an effect, and is not drawn where that is given."""
_ADDED = ("extending", "retracting", "breakaway_extending", "breakaway_retracting", "load")
_FIRST = (
    "What the plant of the recording beside this file really is: to judge what is estimated from it, for nothing else.",
    "Beside what a mechanism's file says:",
)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The plant: its mechanism, friction that no model has, what its load cells do, and whose equations move it.

    tilt: of the base, rad; the mechanism's gravity is turned by it. hose: between base and platform, None without.
    """

    mechanism: Mechanism
    friction: PlantFriction
    cells: VirtualCells
    engine: str
    tilt: tuple[float, float] = (0.0, 0.0)
    hose: Hose | None = None

    @property
    def text(self) -> str:
        """It as a mechanism's file; what such a file cannot say in its comments."""
        extras = [f"friction.{name} = {value}" for name, value in self.friction.model_dump().items()]
        extras += [f"cells.{name} = {value}" for name, value in self.cells.model_dump().items()]
        if any(self.tilt):
            extras.append(f"tilt = {self.tilt}")
        if self.hose is not None:
            extras += [f"hose.{name} = {value}" for name, value in self.hose.model_dump().items()]
        return format_mechanism(self.mechanism, *_FIRST, f"engine = {self.engine}", *extras)


def truth_of(config: RigConfig) -> Truth:
    """The plant of a configuration with a [virtual] section.

    Raises ConfigError where there is none, its own mechanism cannot be used, or a payload or mass cannot be put on it.
    """
    settings = config.virtual
    if settings is None:
        raise ConfigError(f"configuration {config.path}: no [virtual] section, it describes real hardware")
    plant, cells = settings.plant, settings.cells
    mechanism, friction = config.nominal, plant.friction
    if plant.mechanism is not None:
        try:
            mechanism = load_mechanism(resolve_name(config.folder, plant.mechanism))
        except (DynamicsError, OSError) as error:
            raise ConfigError(f"configuration {config.path}: virtual.plant.mechanism: {error}") from None
        if mechanism.geometry.home is None:
            raise ConfigError(f"configuration {config.path}: virtual.plant.mechanism: gives no platform.home")
    if plant.as_built is not None:
        draw = Draw(plant.as_built, plant.tolerance)
        about_x, about_y = draw.tilt()
        tilt = (plant.tilt[0] + about_x, plant.tilt[1] + about_y)
        plant = plant.model_copy(update={"tilt": tilt, "hose": plant.hose or draw.hose(mechanism)})
        mechanism, drawn = draw.mechanism(mechanism), draw.friction(mechanism)
        friction = _together(friction, drawn)
        gain, bias = draw.cells()
        cells = cells.model_copy(
            update=_not_given(cells, draw.more_cells())
            | {
                "gain": tuple((np.array(cells.gain) * gain).tolist()),
                "bias": tuple((np.array(cells.bias) + bias).tolist()),
            }
        )
    return Truth(plant_mechanism(mechanism, plant), friction, cells, plant.engine, plant.tilt, plant.hose)


def differs(config: RigConfig) -> bool:
    """Whether the plant of a configuration, or a cell beyond gain, zero and noise, is more than its files say."""
    if config.virtual is None:
        return False
    plant, cells = config.virtual.plant, config.virtual.cells
    if any(getattr(cells, name) != VirtualCells.model_fields[name].default for name in CELL_EFFECTS):
        return True
    return plant != VirtualPlant(tolerance=plant.tolerance, coulomb_speed=plant.coulomb_speed)


def truth_path(recording: Path) -> Path:
    """Where the truth of a recording lies."""
    return recording.with_suffix(SUFFIX)


def _together(given: PlantFriction, drawn: PlantFriction) -> PlantFriction:
    """What a configuration gives beside what was drawn; the given speed where it gives any excess."""
    values = {
        name: tuple(a + b for a, b in zip(getattr(given, name), getattr(drawn, name), strict=True)) for name in _ADDED
    }
    own = any(given.breakaway_extending) or any(given.breakaway_retracting)
    others = {name: getattr(drawn, name) for name in PlantFriction.model_fields if name not in _ADDED}
    update = _not_given(given, others) | values | {"speed": given.speed if own else drawn.speed}
    return given.model_copy(update=update)


def _not_given(section: BaseModel, drawn: dict[str, Any]) -> dict[str, Any]:
    """Of what was drawn for a section, what it does not give itself."""

    def given(name: str) -> bool:
        return bool(getattr(section, name) != type(section).model_fields[name].default)

    return {name: value for name, value in drawn.items() if not (given(name) or given(_SIZES.get(name, name)))}
