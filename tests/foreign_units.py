"""Foreign co-simulation units, compiled by the tests from `foreign_unit.c`."""

import inspect
import re
import subprocess
import zipfile
from pathlib import Path

from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

SOURCE = Path(__file__).with_name("foreign_unit.c")
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
    """A damped spring as an FMU of FMI 2 or 3: what the library's functions are not asked for here fails."""
    kind = FMU2Slave if version == 2 else FMU3Slave
    wanted = {name for name, _value in inspect.getmembers(kind) if name.startswith(f"fmi{version}")}
    there = set(re.findall(rf"fmi{version}\w+", SOURCE.read_text(encoding="utf-8")))
    (folder / "rest.h").write_text("\n".join(f"BAD({name})" for name in sorted(wanted - there)), encoding="utf-8")
    library = folder / f"spring{version}.so"
    command = ["cc", "-shared", "-fPIC", "-w", f"-DVERSION={version}", f"-I{folder}", str(SOURCE), "-o", str(library)]
    subprocess.run(command, check=True)
    path = folder / f"spring{version}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(library, f"binaries/{'linux64' if version == 2 else 'x86_64-linux'}/{library.name}")
        archive.writestr("modelDescription.xml", _description(version))
    return path


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
    if version == 2:
        unknowns = "".join(f'<Unknown index="{each + 1}"/>' for each in structure)
        head = 'fmiVersion="2.0" guid="foreign"'
        listed = f"<Outputs>{unknowns}</Outputs><InitialUnknowns>{unknowns}</InitialUnknowns>"
    else:
        variables.append('<Float64 name="time" valueReference="99" causality="independent" variability="continuous"/>')
        head = 'fmiVersion="3.0" instantiationToken="foreign"'
        listed = "".join(f'<Output valueReference="{each}"/>' for each in structure)
        listed += "".join(f'<InitialUnknown valueReference="{each}"/>' for each in structure)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription modelName="spring" {head}>'
        f'<CoSimulation modelIdentifier="spring{version}"/><ModelVariables>{"".join(variables)}</ModelVariables>'
        f"<ModelStructure>{listed}</ModelStructure></fmiModelDescription>"
    )
