"""A payload that a foreign FMU computes: coupled to the plant at fixed intervals."""

from typing import Self

import numpy as np

from rig.config import PAYLOAD_MOTION, PAYLOAD_WRENCH, Connection, PayloadFmu, RigConfig
from rig.errors import ConfigError, InputError
from rig.fmu import LARGEST_SHARE, FmuError, ForeignUnit, same_names, step_time
from rig.virtual.arrays import Array
from rig.virtual.plant import Plant


class PayloadUnit:
    """An FMU that gives a wrench on the platform from its motion; a context manager that frees it.

    Every `settings.step` s it does its step with the motion of the plant at the end of it, and its wrench then acts on
    the plant until the next one. Where the wrench follows the acceleration at once, such as that of a rigid body, this
    is stable only for a body that is lighter than the platform.

    Raises ConfigError with the reasons of `ForeignUnit`, which names file and variable.
    """

    def __init__(self, config: RigConfig, settings: PayloadFmu) -> None:
        self._settings = settings
        self._path = config.folder / settings.file
        try:
            self._connections = settings.connected if settings.connections else self._of_the_same_names()
            inputs, outputs = self._connections
            self._quantities = [PAYLOAD_MOTION.index(each.quantity) for each in inputs]
            self._components = [PAYLOAD_WRENCH.index(each.quantity) for each in outputs]
            self._unit = self._instance()
        except (InputError, FmuError) as error:
            raise ConfigError(f"virtual.plant.payload_fmu: {error}") from error
        self.due = 0.0
        """time of the plant, s, at which the next exchange is due"""
        self._wrench: Array = np.zeros(6)

    def _instance(self) -> ForeignUnit:
        return ForeignUnit(self._path, *self._connections, self._settings.start, self._settings.step)

    def _of_the_same_names(self) -> tuple[list[Connection], list[Connection]]:
        inputs, outputs = same_names(self._path, PAYLOAD_MOTION, PAYLOAD_WRENCH)
        if not outputs:
            raise InputError(
                f"{self._path}: no output has the name of a component of the wrench ({', '.join(PAYLOAD_WRENCH)}): say "
                "in connections which of its variables it is"
            )
        return inputs, outputs

    def check_speed(self) -> None:
        """Refuse an FMU that is too slow for real time, by steps at rest, after which it is made anew.

        Raises ConfigError.
        """
        step = self._settings.step
        try:
            needed = step_time(self._unit, self._rest())
            self._unit.close()  # before another one is made: it may be the only one of its process
            self._unit = self._instance()
        except FmuError as error:
            raise ConfigError(f"virtual.plant.payload_fmu: {error}") from error
        if needed > LARGEST_SHARE * step:
            raise ConfigError(
                f"virtual.plant.payload_fmu: {self._path}: a step of {step:g} s takes {needed:.3g} s on this machine, "
                f"must take at most {LARGEST_SHARE * step:g} s for real time: a longer step, or lockstep"
            )

    def _rest(self) -> Array:
        rest = np.zeros(len(PAYLOAD_MOTION))
        rest[3] = 1.0
        return rest[self._quantities]

    def begin(self, plant: Plant) -> None:
        """Couple the plant: what the FMU gives for the present motion acts from now on. Raises FmuError."""
        self._apply(plant, self._unit.begin(self._motion(plant)))
        self.due = plant.time + self._settings.step

    def exchange(self, plant: Plant) -> None:
        """Do the step that ends at the plant's present time, and apply its wrench. Raises FmuError."""
        self._apply(plant, self._unit.step(self._motion(plant)))
        self.due += self._settings.step

    @property
    def time(self) -> float:
        """The FMU's own time, s."""
        return self._unit.time

    def skip(self, duration: float) -> None:
        """Let the plant's time go on by `duration` s without the payload."""
        self.due += duration

    def _motion(self, plant: Plant) -> Array:
        motion: Array = np.concatenate([plant.state, plant.acceleration])
        return motion[self._quantities]

    def _apply(self, plant: Plant, values: Array) -> None:
        self._wrench[self._components] = values
        plant.payload = self._wrench

    def close(self) -> None:
        """Free the FMU."""
        self._unit.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def payload_of(config: RigConfig) -> PayloadUnit | None:
    """Return the payload's FMU of a configuration, loaded; None without one. Raises as `PayloadUnit`."""
    settings = None if config.virtual is None else config.virtual.plant.payload_fmu
    return None if settings is None else PayloadUnit(config, settings)
