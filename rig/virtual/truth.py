"""The true plant of a virtual rig: its nominal mechanism with random deviations. Not available to estimators."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from dynamics import (
    Body,
    Drive,
    DynamicsError,
    Leg,
    Mechanism,
    body_of,
    deformed,
    format_mechanism,
    linear_body,
    load_mechanism,
)
from kinematics import Geometry, quaternion_to_matrix
from rig.config import Hose, PlantFriction, RigConfig, Tolerance, VirtualCells, VirtualPlant, resolve_name
from rig.errors import ConfigError
from rig.virtual.arrays import Array
from rig.virtual.plant import plant_mechanism

_STREAM = 10  # key of a random stream; noise and power-up pose use others of the seed
_TURN = 0.25  # shear of a body's mass relative to its stretch
_EFFECTS = 11  # key of one random stream per effect, so that effects do not influence each other
_SHAPE, _VISCOUS, _RIPPLE, _PRESLIDING, _RUNNING_IN = range(5)
_GAIN_WARMING, _CROSS_TALK, _CURVATURE, _HYSTERESIS, _HUM, _JUMP, _SPIKE, _TILT, _HOSE = range(5, 14)
_DRIVES = 14


class Draw:
    """Random deviations of a machine, deterministic in seed and tolerance.

    Independent of all estimators: of their friction models and assumed tolerances.
    """

    def __init__(self, seed: int, tolerance: Tolerance) -> None:
        self._seed = seed
        self._random = np.random.Generator(np.random.PCG64([seed, _STREAM]))
        self._tolerance = tolerance

    def mechanism(self, drawing: Mechanism) -> Mechanism:
        """Return a random mechanism within the tolerance about the nominal one."""
        tolerance, geometry = self._tolerance, drawing.geometry
        platform = self._body(Body(drawing.mass, drawing.center_of_mass, drawing.inertia))
        legs = tuple(
            replace(self._leg(leg), drive=drive) for leg, drive in zip(drawing.legs, self._drives(drawing), strict=True)
        )
        home = geometry.home_pose
        built = Geometry(
            geometry.base_points + self._about(tolerance.joints, (6, 3)),
            geometry.universal_axes + self._about(tolerance.axes, (6, 3)),
            geometry.platform_points + self._about(tolerance.joints, (6, 3)),
            home,
        )
        return replace(
            drawing,
            geometry=built,
            mass=platform.mass,
            center_of_mass=platform.center_of_mass,
            inertia=platform.inertia,
            legs=legs,
            source="",
        )

    def friction(self, drawing: Mechanism) -> PlantFriction:
        """Return friction that is not in the model."""
        tolerance = self._tolerance
        coulomb = np.array([leg.friction.coulomb for leg in drawing.legs])
        asymmetry = self._about(tolerance.asymmetry, (6,)) * coulomb
        excess = self._random.uniform(0.0, tolerance.breakaway, (2, 6)) * coulomb
        return PlantFriction(
            extending=tuple(asymmetry.tolist()),
            retracting=tuple((-asymmetry).tolist()),
            breakaway_extending=tuple(excess[0].tolist()),
            breakaway_retracting=tuple(excess[1].tolist()),
            speed=float(self._random.uniform(*tolerance.stribeck_speeds)),
            load=tuple(self._random.uniform(0.0, tolerance.load, 6).tolist()),
            **self._more_friction(coulomb),
        )

    def _more_friction(self, coulomb: Array) -> dict[str, object]:
        """Return more friction for the tolerances given explicitly; Coulomb frictions (6,) in N."""
        tolerance, found = self._tolerance, dict[str, object]()
        if tolerance.stribeck_shape:
            off = tolerance.stribeck_shape
            found["shape"] = float(self._stream(_SHAPE).uniform(2.0 - off, 2.0 + off))
        if tolerance.viscous:
            random = self._stream(_VISCOUS)
            found["viscous"] = tuple((random.uniform(0.0, tolerance.viscous, 6) * coulomb).tolist())
            found["viscous_exponent"] = float(random.uniform(0.3, 2.0))
        if tolerance.ripple:
            random = self._stream(_RIPPLE)
            found["ripple"] = tuple((random.uniform(0.0, tolerance.ripple, 6) * coulomb).tolist())
            found["ripple_length"] = _between(random, 4e-3, 40e-3)
            found["ripple_phase"] = tuple(random.uniform(0.0, 2.0 * math.pi, 6).tolist())
        if tolerance.presliding:
            random = self._stream(_PRESLIDING)
            stiffness = coulomb / (tolerance.presliding * random.uniform(0.5, 1.0, 6))
            found["presliding_stiffness"] = tuple(stiffness.tolist())
            found["presliding_damping"] = tuple((stiffness * _between(random, 1e-4, 5e-4)).tolist())
        if tolerance.running_in:
            random = self._stream(_RUNNING_IN)
            found["running_in"] = float(random.uniform(0.0, tolerance.running_in))
            found["running_in_time"] = _between(random, 20.0, 300.0)
        return found

    def cells(self) -> tuple[Array, Array]:
        """Return factors (6,) on the cells' gains, and additions to their biases, (6,) N."""
        return 1.0 + self._about(self._tolerance.cell_gain, (6,)), self._about(self._tolerance.cell_bias, (6,))

    def more_cells(self) -> dict[str, object]:
        """Return cell errors besides gains and zeros for explicitly given tolerances, as fields of `VirtualCells`."""
        tolerance, found = self._tolerance, dict[str, object]()
        for name, stream, largest in (
            ("gain_warming", _GAIN_WARMING, tolerance.cell_gain_warming),
            ("curvature", _CURVATURE, tolerance.cell_curvature),
        ):
            if largest:
                found[name] = tuple(self._stream(stream).uniform(-largest, largest, 6).tolist())
        if tolerance.cell_cross_talk:
            largest = tolerance.cell_cross_talk
            pairs = self._stream(_CROSS_TALK).uniform(-largest, largest, (6, 2))
            found["cross_talk"] = tuple(map(tuple, pairs.tolist()))
        for name, stream, largest in (
            ("hysteresis", _HYSTERESIS, tolerance.cell_hysteresis),
            ("hum", _HUM, tolerance.cell_hum),
        ):
            if largest:
                found[name] = tuple(self._stream(stream).uniform(0.0, largest, 6).tolist())
        for name, stream, largest, apart in (
            ("jump", _JUMP, tolerance.cell_jump, (20.0, 200.0)),
            ("spike", _SPIKE, tolerance.cell_spike, (2.0, 20.0)),
        ):
            if largest:
                random = self._stream(stream)
                found[name] = tuple(random.uniform(0.0, largest, 6).tolist())
                found[f"{name}_rate"] = 1.0 / _between(random, *apart)
        return found

    def tilt(self) -> tuple[float, float]:
        """Return the two tilt angles of the base against gravity, rad."""
        largest = self._tolerance.tilt
        first, second = self._stream(_TILT).uniform(-largest, largest, 2).tolist()
        return first, second

    def hose(self, drawing: Mechanism) -> Hose | None:
        """Return a hose at the platform's rim whose rest position is random about the rim at home."""
        largest = self._tolerance.hose
        if not largest:
            return None
        random, points = self._stream(_HOSE), drawing.geometry.platform_points
        point = points.mean(axis=0) + (points[random.integers(6)] - points.mean(axis=0)) * random.uniform(0.5, 1.0)
        size = float(np.linalg.norm(points - points.mean(axis=0), axis=1).max())
        home = drawing.geometry.home_pose
        rest = home[:3] + quaternion_to_matrix(home[3:]) @ point + random.uniform(-size, size, 3)
        stiffness = float(random.uniform(0.5, 1.0)) * largest
        return Hose(
            stiffness=stiffness,
            damping=stiffness * _between(random, 0.003, 0.03),
            point=tuple(point.tolist()),
            rest=tuple(rest.tolist()),
        )

    def _stream(self, effect: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64([self._seed, _EFFECTS, effect]))

    def _drives(self, drawing: Mechanism) -> list[Drive]:
        """Return the drives with other inertias and frictions."""
        random, tolerance, found = self._stream(_DRIVES), self._tolerance, []
        for leg in drawing.legs:
            sizes = random.uniform(0.5, 1.0, 3) * np.where(random.random(3) < 0.5, 1.0, -1.0)
            inertia, viscous, coulomb = 1.0 + sizes * (tolerance.inertia, tolerance.friction, tolerance.friction)
            drive = leg.drive.with_mass(float(inertia * leg.drive.mass))
            found.append(
                replace(
                    drive,
                    viscous=float(viscous * leg.drive.viscous),
                    coulomb=float(coulomb * leg.drive.coulomb),
                )
            )
        return found

    def _leg(self, leg: Leg) -> Leg:
        friction = leg.friction
        names = ("universal", "prismatic", "spherical", "coulomb")
        scaled = {name: getattr(friction, name) * (1.0 + self._error(self._tolerance.friction)) for name in names}
        return replace(
            leg,
            lower=self._body(leg.lower),
            upper=self._body(leg.upper),
            friction=replace(friction, **scaled),
            length_offset=leg.length_offset + float(self._about(self._tolerance.length_offset, ())),
        )

    def _body(self, body: Body) -> Body:
        """Stretch and shear the body about its centre of mass, shift it and scale its mass.

        The mass distribution undergoes an affine map, so that the result is realisable if the body is.
        """
        tolerance = self._tolerance
        moved = self._about(tolerance.center, (3,))
        factor = 1.0 + self._error(tolerance.mass)
        stretch = np.diag([math.sqrt(1.0 + self._error(tolerance.inertia)) for _ in range(3)])
        shear = self._about(0.5 * _TURN * tolerance.inertia, (3, 3))
        stretch += shear + shear.T - 2.0 * np.diag(np.diag(shear))
        if body.mass == 0.0:
            return body
        return body_of(deformed(linear_body(body), factor, moved, stretch))

    def _error(self, tolerance: float) -> float:
        """Return a relative error of at least half the tolerance, of random sign."""
        size = float(self._random.uniform(0.5, 1.0)) * tolerance
        return size if self._random.random() < 0.5 else -size

    def _about(self, tolerance: float, shape: tuple[int, ...]) -> Array:
        return np.asarray(self._random.uniform(-tolerance, tolerance, shape))


def _between(random: np.random.Generator, least: float, greatest: float) -> float:
    """Return a random number between two, log-uniform."""
    return float(math.exp(random.uniform(math.log(least), math.log(greatest))))


SUFFIX = ".truth.toml"
CELL_EFFECTS = ("gain_warming", "curvature", "hysteresis", "hum", "jump", "spike")
"""Load-cell errors that a calibration by weights does not find; see `VirtualCells`."""
_SIZES = {
    "viscous_exponent": "viscous",
    "ripple_length": "ripple",
    "ripple_phase": "ripple",
    "presliding_damping": "presliding_stiffness",
    "running_in_time": "running_in",
    "jump_rate": "jump",
    "spike_rate": "spike",
}
"""Parameters that belong to the size of an effect: not drawn if that is given."""
_ADDED = ("extending", "retracting", "breakaway_extending", "breakaway_retracting", "load")
_FIRST = (
    "What the plant of the recording beside this file really is: to judge what is estimated from it, for nothing else.",
    "Beside what a mechanism's file says:",
)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The true plant: mechanism, friction outside the model, load-cell errors, and physics engine.

    tilt: of the base, rad; it rotates the mechanism's gravity. hose: between base and platform, None without.
    """

    mechanism: Mechanism
    friction: PlantFriction
    cells: VirtualCells
    engine: str
    tilt: tuple[float, float] = (0.0, 0.0)
    hose: Hose | None = None

    @property
    def text(self) -> str:
        """Return the plant as a mechanism file, with comments for everything the format lacks."""
        extras = [f"friction.{name} = {value}" for name, value in self.friction.model_dump().items()]
        extras += [f"cells.{name} = {value}" for name, value in self.cells.model_dump().items()]
        if any(self.tilt):
            extras.append(f"tilt = {self.tilt}")
        if self.hose is not None:
            extras += [f"hose.{name} = {value}" for name, value in self.hose.model_dump().items()]
        return format_mechanism(self.mechanism, *_FIRST, f"engine = {self.engine}", *extras)


def truth_of(config: RigConfig) -> Truth:
    """Return the plant of a configuration with a [virtual] section.

    Raises ConfigError without one, or if its mechanism, payload or mass is invalid.
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
        friction = _combined(friction, drawn)
        gain, bias = draw.cells()
        cells = cells.model_copy(
            update=_unset(cells, draw.more_cells())
            | {
                "gain": tuple((np.array(cells.gain) * gain).tolist()),
                "bias": tuple((np.array(cells.bias) + bias).tolist()),
            }
        )
    return Truth(plant_mechanism(mechanism, plant), friction, cells, plant.engine, plant.tilt, plant.hose)


def differs(config: RigConfig) -> bool:
    """Return whether the plant, or a cell beyond gain, zero and noise, differs from the configuration's files."""
    if config.virtual is None:
        return False
    plant, cells = config.virtual.plant, config.virtual.cells
    if any(getattr(cells, name) != VirtualCells.model_fields[name].default for name in CELL_EFFECTS):
        return True
    return plant != VirtualPlant(tolerance=plant.tolerance, coulomb_speed=plant.coulomb_speed)


def truth_path(recording: Path) -> Path:
    """Return the path of the truth file of a recording."""
    return recording.with_suffix(SUFFIX)


def _combined(given: PlantFriction, drawn: PlantFriction) -> PlantFriction:
    """Combine configured and random friction; the configured speed applies if any excess is configured."""
    values = {
        name: tuple(a + b for a, b in zip(getattr(given, name), getattr(drawn, name), strict=True)) for name in _ADDED
    }
    own = any(given.breakaway_extending) or any(given.breakaway_retracting)
    others = {name: getattr(drawn, name) for name in PlantFriction.model_fields if name not in _ADDED}
    update = _unset(given, others) | values | {"speed": given.speed if own else drawn.speed}
    return given.model_copy(update=update)


def _unset(section: BaseModel, drawn: dict[str, Any]) -> dict[str, Any]:
    """Select drawn values that a section does not give itself."""

    def given(name: str) -> bool:
        return bool(getattr(section, name) != type(section).model_fields[name].default)

    return {name: value for name, value in drawn.items() if not (given(name) or given(_SIZES.get(name, name)))}
