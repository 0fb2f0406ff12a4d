"""Foreign co-simulation units, compiled by the tests from `foreign_unit.c` and `foreign_vehicle.c`."""

import inspect
import re
import subprocess
import zipfile
from pathlib import Path

from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

SPRING = Path(__file__).with_name("foreign_unit.c")
SHIP = Path(__file__).with_name("foreign_vehicle.c")
INPUTS = ("px", "py", "pz", "a", "b", "c", "d", "u", "v", "w")
OUTPUTS = ("fx", "fy", "fz")
PARAMETERS = ("stiffness", "damping", "rest_x", "rest_y", "rest_z", "busy")
CONNECTIONS = [
    *(f"{source} -> {target}" for source, target in zip(
        [f"pose.{each}" for each in ("x", "y", "z", "qw", "qx", "qy", "qz")] + [f"velocity.{each}" for each in "xyz"],
        INPUTS, strict=True,
    )),
    *(f"{source} -> wrench.force.{axis}" for source, axis in zip(OUTPUTS, "xyz", strict=True)),
]  # fmt: skip


def foreign_unit(version: int, folder: Path) -> Path:
    """A damped spring as an FMU of FMI 2 or 3."""
    return _packed(version, folder, SPRING, "spring", _description(version), {})


PERIOD = 2.0
"""s, of the ship's motion"""
SHIP_VARIABLES = {
    "heave": "m", "pitch": "degree", "qw": "", "qx": "", "qy": "", "qz": "", "surge_speed": "", "heave_speed": "m/s",
    "pitch_rate": "", "heave_acceleration": "", "pitch_acceleration": "", "none": "", "surge": "", "heard": "",
    "height": "mm", "heave_size": "m", "pitch_size": "degree", "busy": "", "trouble_at": "", "trouble": "",
}  # fmt: skip
"""Units that the ship states, by variable."""


def foreign_vehicle(version: int, folder: Path) -> Path:
    """A ship as an FMU of FMI 2 or 3, beginning at rest: heave, pitch in degrees, their rates and accelerations."""
    return _packed(version, folder, SHIP, "ship", _ship(version), {"resources/sea.txt": str(PERIOD)})


def with_steps_of_its_own(unit: Path, step: float) -> Path:
    """A copy of a ship of FMI 3.0 that says that its states advance in steps, s."""
    changed = unit.with_name("stepping.fmu")
    with zipfile.ZipFile(unit) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "modelDescription.xml":
                text = text.replace(b"<CoSimulation ", f'<CoSimulation fixedInternalStepSize="{step}" '.encode())
                text = text.replace(b'name="heave_speed"', b'name="heave_speed" derivative="0"')
                state = f'<ContinuousStateDerivative valueReference="{list(SHIP_VARIABLES).index("heave_speed")}"/>'
                text = text.replace(b"<InitialUnknown", f"{state}<InitialUnknown".encode(), 1)
            new.writestr(name, text)
    return changed


def _packed(version: int, folder: Path, source: Path, name: str, description: str, files: dict[str, str]) -> Path:
    """Compile and pack a unit: what the library's functions are not asked for here fails."""
    kind = FMU2Slave if version == 2 else FMU3Slave
    wanted = {name for name, _value in inspect.getmembers(kind) if name.startswith(f"fmi{version}")}
    there = set(re.findall(rf"fmi{version}\w+", source.read_text(encoding="utf-8")))
    (folder / "rest.h").write_text("\n".join(f"BAD({name})" for name in sorted(wanted - there)), encoding="utf-8")
    library = folder / f"{name}{version}.so"
    command = ["cc", "-shared", "-fPIC", "-w", f"-DVERSION={version}", f"-I{folder}", str(source), "-o", str(library)]
    subprocess.run([*command, "-lm"], check=True)
    path = folder / f"{name}{version}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(library, f"binaries/{'linux64' if version == 2 else 'x86_64-linux'}/{library.name}")
        archive.writestr("modelDescription.xml", description)
        for place, text in files.items():
            archive.writestr(place, text)
    return path


_SAIL = (
    '<TypeDefinitions><EnumerationType name="Sail"><Item name="jib" value="1"/><Item name="spinnaker" value="4"/>'
    "</EnumerationType></TypeDefinitions>"
)


def _ship(version: int) -> str:
    variables, outputs = [], []
    names = list(SHIP_VARIABLES)
    for reference, (name, unit) in enumerate(SHIP_VARIABLES.items()):
        stated = f' unit="{unit}"' if unit else ""
        if reference < names.index("height"):
            kind, start = 'causality="output" variability="continuous" initial="calculated"', ""
            outputs.append(reference)
        elif name == "height":
            kind, start = 'causality="input" variability="continuous"', ' start="0.0"'
        else:
            kind, start = 'causality="parameter" variability="fixed" initial="exact"', ' start="0.0"'
        real, whole = ("Real", "Integer") if version == 2 else ("Float64", "Int32")
        if name == "trouble":
            reference, real, start = 30, whole, ' start="0"'
        elif name == "heave_size":
            start += ' max="0.1"'
        common = f'name="{name}" valueReference="{reference}" {kind}'
        variables.append(
            f"<ScalarVariable {common}><{real}{start}{stated}/></ScalarVariable>"
            if version == 2
            else f"<{real} {common}{start}{stated}/>"
        )
    units = (
        '<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>'
        '<Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit>'
        '<Unit name="degree"><BaseUnit rad="1" factor="0.017453292519943295"/></Unit>'
    )
    if version == 3:
        given = 'causality="output" variability="continuous" initial="calculated"'
        variables += [
            f'<Float64 name="motion" valueReference="40" {given}><Dimension start="3"/></Float64>',
            '<Float64 name="wind" valueReference="41" causality="input" start="0.25 0.5">'
            '<Dimension start="2"/></Float64>',
            f'<Float32 name="gust" valueReference="42" {given}/>',
            '<Enumeration name="sail" declaredType="Sail" valueReference="43" causality="parameter" start="1"/>',
            '<Int32 name="crew" valueReference="44" causality="output" initial="calculated"/>',
        ]
        outputs += [40, 42, 44]
    return _model("ship", version, units, variables, outputs, _SAIL if version == 3 else "")


def _model(name: str, version: int, units: str, variables: list[str], outputs: list[int], types: str = "") -> str:
    if version == 2:
        unknowns = "".join(f'<Unknown index="{each + 1}"/>' for each in outputs)
        head = 'fmiVersion="2.0" guid="foreign"'
        listed = f"<Outputs>{unknowns}</Outputs><InitialUnknowns>{unknowns}</InitialUnknowns>"
    else:
        clock = '<Float64 name="time" valueReference="99" causality="independent" variability="continuous"/>'
        variables = [*variables, clock]
        head = 'fmiVersion="3.0" instantiationToken="foreign"'
        listed = "".join(f'<Output valueReference="{each}"/>' for each in outputs)
        listed += "".join(f'<InitialUnknown valueReference="{each}"/>' for each in outputs)
    defined = f"<UnitDefinitions>{units}</UnitDefinitions>" if units else ""
    defined += types + '<LogCategories><Category name="logStatusError"/></LogCategories>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription modelName="{name}" {head}>'
        f'<CoSimulation modelIdentifier="{name}{version}"/>{defined}'
        f"<ModelVariables>{''.join(variables)}</ModelVariables>"
        f"<ModelStructure>{listed}</ModelStructure></fmiModelDescription>"
    )


def _description(version: int) -> str:
    variables, structure = [], []
    for reference, name in enumerate((*INPUTS, *OUTPUTS, *PARAMETERS)):
        start = f' start="{1.0 if name == "a" else 0.0}"'
        if name in INPUTS:
            kind = 'causality="input" variability="continuous"'
        elif name in OUTPUTS:
            kind, start = 'causality="output" variability="continuous" initial="calculated"', ""
            structure.append(reference)
        else:
            kind = 'causality="parameter" variability="fixed" initial="exact"'
        common = f'name="{name}" valueReference="{reference}" {kind}'
        variables.append(
            f"<ScalarVariable {common}><Real{start}/></ScalarVariable>"
            if version == 2
            else f"<Float64 {common}{start}/>"
        )
    return _model("spring", version, "", variables, structure)
