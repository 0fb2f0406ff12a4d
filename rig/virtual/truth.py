"""What the plant of a virtual rig really is. Only the plant, and whoever judges an estimate, may look."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynamics import DynamicsError, Mechanism, format_mechanism, load_mechanism
from rig.config import PlantFriction, RigConfig, VirtualCells, beside
from rig.errors import ConfigError
from rig.virtual.as_built import Draw
from rig.virtual.loading import plant_mechanism

SUFFIX = ".truth.toml"
_FIRST = (
    "What the plant of the recording beside this file really is: to judge what is estimated from it, for nothing else.",
    "Beside what a mechanism's file says:",
)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The plant: its mechanism, friction that no model has, what its load cells do, and whose equations move it."""

    mechanism: Mechanism
    friction: PlantFriction
    cells: VirtualCells
    engine: str

    @property
    def text(self) -> str:
        """It as a mechanism's file; what such a file cannot say in its comments."""
        extras = [f"friction.{name} = {value}" for name, value in self.friction.model_dump().items()]
        extras += [f"cells.{name} = {value}" for name, value in self.cells.model_dump().items()]
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
            mechanism = load_mechanism(beside(config.folder, plant.mechanism))
        except (DynamicsError, OSError) as error:
            raise ConfigError(f"configuration {config.path}: virtual.plant.mechanism: {error}") from None
        if mechanism.geometry.home is None:
            raise ConfigError(f"configuration {config.path}: virtual.plant.mechanism: gives no platform.home")
    if plant.as_built is not None:
        draw = Draw(plant.as_built, plant.tolerance)
        mechanism, drawn = draw.mechanism(mechanism), draw.friction(mechanism)
        friction = _together(friction, drawn)
        gain, bias = draw.cells()
        cells = cells.model_copy(
            update={
                "gain": tuple((np.array(cells.gain) * gain).tolist()),
                "bias": tuple((np.array(cells.bias) + bias).tolist()),
            }
        )
    return Truth(plant_mechanism(mechanism, plant), friction, cells, plant.engine)


def differs(config: RigConfig) -> bool:
    """Whether the plant of a configuration is more than its mechanism's file says."""
    if config.virtual is None:
        return False
    plant = config.virtual.plant
    return plant != type(plant)(tolerance=plant.tolerance, coulomb_speed=plant.coulomb_speed)


def truth_path(recording: Path) -> Path:
    """Where the truth of a recording lies."""
    return recording.with_suffix(SUFFIX)


def _together(given: PlantFriction, drawn: PlantFriction) -> PlantFriction:
    """What a configuration gives beside what was drawn; the given speed where it gives any excess."""
    values = {
        name: tuple(a + b for a, b in zip(getattr(given, name), getattr(drawn, name), strict=True))
        for name in PlantFriction.model_fields
        if name != "speed"
    }
    own = any(given.breakaway_extending) or any(given.breakaway_retracting)
    return drawn.model_copy(update=values | {"speed": given.speed if own else drawn.speed})
