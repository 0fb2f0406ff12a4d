"""What a co-simulation unit of a mechanism is: its variables, and their description in XML.

The unit's C code (`sources/model.c`) has all values in one array: a value reference is an index into it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

import numpy as np

from dynamics import Dynamics, LegLimits, Mechanism, layout
from kinematics import Array
from rig.version import __version__

UnitModel = Literal["plant", "inverse"]
FmiVersion = Literal["2.0", "3.0"]
Role = Literal["time", "input", "state", "output", "parameter"]

MODELS: tuple[UnitModel, ...] = ("plant", "inverse")
VERSIONS: tuple[FmiVersion, ...] = ("2.0", "3.0")

PARAMETER_COUNT = layout.COULOMB_SPEED - layout.GRAVITY
"""Parameters of the kernels that a user of the unit may set: gravity, and the platform with its payload."""

_UNITS: dict[str, dict[str, int]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
}
"""Exponents of the SI base units by unit."""

_AXES = ("x", "y", "z")
_LEGS = range(1, 7)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a unit.

    name: structured, such as `force[1]`. role: `state` is an output whose start value may be set. unit: a key of the
    unit definitions, or "" for none. description: for its users. start: value before the first step; None for an output
    that is computed. prompt: whether it depends on the inputs of the same time.
    """

    name: str
    role: Role
    unit: str
    description: str
    start: float | None = None
    prompt: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A mechanism's model as a co-simulation unit, before it is compiled.

    model: `plant` or `inverse`. mechanism: whose model. parameters: as `Dynamics.parameters`. internal_step: longest
    Runge-Kutta step of a plant, s; 0 for the inverse. pose (7,): where the unit starts, m.
    """

    model: UnitModel
    mechanism: Mechanism
    parameters: Array
    coulomb_speed: float
    internal_step: float
    pose: Array
    variables: tuple[Variable, ...]

    @property
    def identifier(self) -> str:
        """Name of the unit as C and the standard need it: letters, digits and underscores."""
        name = re.sub(r"\W", "_", self.mechanism.name, flags=re.ASCII)
        return f"stewart_{name}_{self.model}"

    @property
    def strokes(self) -> list[tuple[float, float]]:
        """Least and greatest length of each leg, m; infinite where there is no limit."""
        return [(leg.limits or LegLimits()).length or (0.0, np.inf) for leg in self.mechanism.legs]

    def index(self, name: str) -> int:
        """Value reference of a variable. Raises StopIteration for an unknown one."""
        return next(k for k, variable in enumerate(self.variables) if variable.name == name)

    @property
    def description(self) -> str:
        """What the unit computes, in a sentence or two."""
        smoothing = (
            f"Coulomb friction is smoothed over {self.coulomb_speed:g} m/s."
            if self.coulomb_speed
            else "Coulomb friction changes sign with the leg's speed."
        )
        if self.model == "plant":
            return (
                f"Exact forward dynamics of the 6-UPS platform {self.mechanism.name}, leg inertia included: leg forces "
                "and an external wrench in, motion, leg lengths and load cells out. Fourth-order Runge-Kutta; a "
                f"communication step is divided into equal steps of at most {self.internal_step:g} s, in which the "
                f"inputs are constant. {smoothing} There are no end stops and no brakes."
            )
        return (
            f"Exact inverse dynamics of the 6-UPS platform {self.mechanism.name}, leg inertia included: the platform's "
            f"motion and an external wrench in, leg forces, load cells, leg lengths and speeds out. {smoothing}"
        )


def plant_unit(mechanism: Mechanism, pose: Array, internal_step: float, coulomb_speed: float) -> Unit:
    """Return the unit of the forward dynamics, at rest at `pose` (7,) with the leg forces that hold it there.

    internal_step: longest Runge-Kutta step, s. coulomb_speed: leg speed that smooths Coulomb friction, m/s.
    Raises DynamicsError for a pose in which the leg forces are not determined.
    """
    dynamics = Dynamics(mechanism, coulomb_speed)
    holding = dynamics.forces(np.concatenate([pose, np.zeros(12)]))
    variables = (
        _TIME,
        *_per_leg(
            "force",
            "input",
            "N",
            "Force of the drive's motor on the rod of leg {leg}: pushes above zero",
            start=holding,
        ),
        *_wrench(),
        *_motion("state", pose)[:13],
        *(_computed(each) for each in _motion("input", pose)[13:]),
        *_lengths(),
        *_per_leg("cell", "output", "N", "Reading of the load cell of leg {leg}: compression above zero", prompt=True),
        *_parameters(mechanism),
    )
    return Unit("plant", mechanism, dynamics.parameters, dynamics.coulomb_speed, internal_step, pose, variables)


def inverse_unit(mechanism: Mechanism, pose: Array, coulomb_speed: float) -> Unit:
    """Return the unit of the inverse dynamics, whose inputs are at rest at `pose` (7,) until they are set.

    coulomb_speed: as for `plant_unit`. Raises DynamicsError for a pose in which the leg forces are not determined.
    """
    dynamics = Dynamics(mechanism, coulomb_speed)
    dynamics.forces(np.concatenate([pose, np.zeros(12)]))
    variables = (
        _TIME,
        *_motion("input", pose),
        *_wrench(),
        *_per_leg(
            "force", "output", "N", "Force of the drive's motor on the rod of leg {leg}: pushes above zero", prompt=True
        ),
        *_per_leg("cell", "output", "N", "Reading of the load cell of leg {leg}: compression above zero", prompt=True),
        *_lengths(prompt=True),
        *_parameters(mechanism),
    )
    return Unit("inverse", mechanism, dynamics.parameters, dynamics.coulomb_speed, 0.0, pose, variables)


_TIME = Variable("time", "time", "s", "Simulation time")


def _per_leg(
    name: str, role: Role, unit: str, text: str, *, start: Iterable[float | None] = (None,) * 6, prompt: bool = False
) -> list[Variable]:
    return [
        Variable(f"{name}[{leg}]", role, unit, text.format(leg=leg), None if value is None else float(value), prompt)
        for leg, value in zip(_LEGS, start, strict=True)
    ]


def _lengths(*, prompt: bool = False) -> list[Variable]:
    length = "Length of leg {leg}, between the centres of its joints"
    speed = "Speed of leg {leg}: it extends above zero"
    return [
        *_per_leg("length", "output", "m", length, prompt=prompt),
        *_per_leg("speed", "output", "m/s", speed, prompt=prompt),
    ]


def _vector(name: str, role: Role, unit: str, text: str, start: Sequence[float]) -> list[Variable]:
    return [
        Variable(f"{name}.{axis}", role, unit, text.format(axis=axis), float(value))
        for axis, value in zip(_AXES, start, strict=True)
    ]


def _motion(role: Role, pose: Array) -> list[Variable]:
    zero = (0.0, 0.0, 0.0)
    quaternion = [
        Variable(
            f"pose.q{part}", role, "", f"{part} of the unit quaternion that turns platform into base axes", float(value)
        )
        for part, value in zip("wxyz", pose[3:], strict=True)
    ]
    return [
        *_vector("pose", role, "m", "{axis} of the platform's origin, base frame", pose[:3].tolist()),
        *quaternion,
        *_vector("velocity", role, "m/s", "{axis} of the velocity of the platform's origin, base axes", zero),
        *_vector("angular_velocity", role, "rad/s", "{axis} of the platform's angular velocity, base axes", zero),
        *_vector("acceleration", role, "m/s2", "{axis} of the acceleration of the platform's origin, base axes", zero),
        *_vector(
            "angular_acceleration", role, "rad/s2", "{axis} of the platform's angular acceleration, base axes", zero
        ),
    ]


def _computed(variable: Variable) -> Variable:
    return Variable(variable.name, "output", variable.unit, variable.description, prompt=True)


def _wrench() -> list[Variable]:
    force = "{axis} of the external force on the platform at its origin, platform axes"
    moment = "{axis} of the external moment on the platform at its origin, platform axes"
    zero = (0.0, 0.0, 0.0)
    return [
        *_vector("wrench.force", "input", "N", force, zero),
        *_vector("wrench.moment", "input", "N.m", moment, zero),
    ]


def _parameters(mechanism: Mechanism) -> list[Variable]:
    """The first parameters of the kernels, in their order."""
    tensor = [mechanism.inertia[row, column] for row, column in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    about = "{pair} of the inertia of platform and payload about their centre of mass, platform axes"
    center = "{axis} of the centre of mass of platform and payload, platform frame"
    return [
        *_vector("gravity", "parameter", "m/s2", "{axis} of gravity, base axes", mechanism.gravity.tolist()),
        Variable("platform.mass", "parameter", "kg", "Mass of platform and payload", float(mechanism.mass)),
        *_vector("platform.center_of_mass", "parameter", "m", center, mechanism.center_of_mass.tolist()),
        *(
            Variable(f"platform.inertia.{pair}", "parameter", "kg.m2", about.format(pair=pair), float(value))
            for pair, value in zip(("xx", "yy", "zz", "xy", "xz", "yz"), tensor, strict=True)
        ),
    ]


_CAUSALITY: dict[Role, str] = {
    "time": "independent", "input": "input", "state": "output", "output": "output", "parameter": "parameter",
}  # fmt: skip


def model_description(unit: Unit, version: FmiVersion, token: str) -> str:
    """Return the text of modelDescription.xml; token: what the compiled unit expects as its GUID or token."""
    third = version == "3.0"
    root = ElementTree.Element(
        "fmiModelDescription",
        {
            "fmiVersion": version,
            "modelName": f"{unit.mechanism.name} ({unit.model})",
            "instantiationToken" if third else "guid": token,
            "description": unit.description,
            "generationTool": f"stewart-rig {__version__}",
            "variableNamingConvention": "structured",
        },
    )
    state = "FMUState" if third else "FMUstate"
    capabilities = {
        "modelIdentifier": unit.identifier,
        "canHandleVariableCommunicationStepSize": "true",
        f"canGetAndSet{state}": "true",
        f"canSerialize{state}": "true",
    }
    if not third:
        capabilities["canNotUseMemoryManagementFunctions"] = "true"
    ElementTree.SubElement(root, "CoSimulation", capabilities)
    definitions = ElementTree.SubElement(root, "UnitDefinitions")
    for name, base in _UNITS.items():
        definition = ElementTree.SubElement(definitions, "Unit", name=name)
        ElementTree.SubElement(definition, "BaseUnit", {key: str(exponent) for key, exponent in base.items()})
    categories = ElementTree.SubElement(root, "LogCategories")
    for name, text in (("logStatusError", "Errors"), ("logStatusWarning", "Warnings")):
        ElementTree.SubElement(categories, "Category", name=name, description=text)
    experiment = {"startTime": "0"}
    if unit.internal_step:
        experiment["stepSize"] = repr(unit.internal_step)
    ElementTree.SubElement(root, "DefaultExperiment", experiment)
    variables = ElementTree.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(unit.variables):
        _describe(variables, variable, reference, third)
    structure = ElementTree.SubElement(root, "ModelStructure")
    (_structure_3 if third else _structure_2)(structure, unit)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _describe(parent: ElementTree.Element, variable: Variable, reference: int, third: bool) -> None:
    common = {
        "name": variable.name,
        "valueReference": str(reference),
        "description": variable.description,
        "causality": _CAUSALITY[variable.role],
        "variability": "fixed" if variable.role == "parameter" else "continuous",
    }
    if variable.role in ("state", "parameter"):
        common["initial"] = "exact"
    elif variable.role == "output":
        common["initial"] = "calculated"
    real = {"unit": variable.unit} if variable.unit else {}
    if variable.start is not None:
        real["start"] = repr(variable.start)
    if third:
        ElementTree.SubElement(parent, "Float64", common | real)
    else:
        ElementTree.SubElement(ElementTree.SubElement(parent, "ScalarVariable", common), "Real", real)


def _structure_2(structure: ElementTree.Element, unit: Unit) -> None:
    """Outputs and initial unknowns of FMI 2.0, by their places in the list of variables, from 1."""
    inputs = " ".join(str(k) for k, each in enumerate(unit.variables, start=1) if each.role == "input")
    outputs = ElementTree.SubElement(structure, "Outputs")
    unknowns = ElementTree.Element("InitialUnknowns")
    for place, variable in enumerate(unit.variables, start=1):
        if variable.role in ("state", "output"):
            ElementTree.SubElement(outputs, "Unknown", index=str(place), dependencies=inputs if variable.prompt else "")
        if variable.role == "output":
            ElementTree.SubElement(unknowns, "Unknown", index=str(place))
    structure.append(unknowns)


def _structure_3(structure: ElementTree.Element, unit: Unit) -> None:
    """Outputs and initial unknowns of FMI 3.0, by their value references."""
    inputs = " ".join(str(k) for k, each in enumerate(unit.variables) if each.role == "input")
    for reference, variable in enumerate(unit.variables):
        if variable.role in ("state", "output"):
            ElementTree.SubElement(
                structure, "Output", valueReference=str(reference), dependencies=inputs if variable.prompt else ""
            )
    for reference, variable in enumerate(unit.variables):
        if variable.role == "output":
            ElementTree.SubElement(structure, "InitialUnknown", valueReference=str(reference))


def documentation(unit: Unit, needs: str) -> str:
    """Return the page that goes into the unit; needs: what it needs of the machine that runs it."""
    html = ElementTree.Element("html", lang="en")
    head = ElementTree.SubElement(html, "head")
    ElementTree.SubElement(head, "meta", charset="utf-8")
    ElementTree.SubElement(head, "title").text = f"{unit.mechanism.name} ({unit.model})"
    body = ElementTree.SubElement(html, "body")
    ElementTree.SubElement(body, "h1").text = f"{unit.mechanism.name} ({unit.model})"
    for text in (
        unit.description,
        "All numbers are SI. A pose is the place of the platform's origin in the base frame and a unit quaternion, "
        "scalar first. Twist and acceleration are in base axes, the external wrench in platform axes.",
        needs,
        "The mechanism is in resources/mechanism.toml.",
    ):
        ElementTree.SubElement(body, "p").text = text
    table = ElementTree.SubElement(body, "table")
    for cells in (
        ("variable", "causality", "unit", "start", "meaning"),
        *(
            (
                each.name,
                _CAUSALITY[each.role],
                each.unit,
                "" if each.start is None else f"{each.start:.9g}",
                each.description,
            )
            for each in unit.variables
        ),
    ):
        row = ElementTree.SubElement(table, "tr")
        for text in cells:
            ElementTree.SubElement(row, "td").text = text
    ElementTree.indent(html)
    return "<!DOCTYPE html>\n" + ElementTree.tostring(html, encoding="unicode", method="html") + "\n"
