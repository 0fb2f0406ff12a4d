"""A co-simulation unit compiled: the kernels' machine code and the unit's C code in a shared library, packed in a file.

Kernels are compiled without numba's runtime and allocate nothing (docs/decisions/036): their machine code calls the
mathematical library and nothing of Python. LLVM emits it for any x86-64 processor, the system's C compiler links it.
"""

import hashlib
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dynamics import (
    SINGULAR,
    UNIT_TOLERANCE,
    WORK_SIZE,
    Dynamics,
    acceleration_kernel,
    cells_kernel,
    format_mechanism,
    layout,
    rk4_kernel,
)
from kinematics import leg_matrix, report_compilation
from rig.errors import InputError, RigError
from rig.fmu.unit import PARAMETER_COUNT, FmiVersion, Unit, documentation, model_description

SYSTEM = "x86-64 Linux"
"""The machines that run a unit, and build it."""

LONGEST = 1e6
"""Longest communication step, s."""

_TRIPLE = "x86_64-unknown-linux-gnu"
_FOLDERS: dict[FmiVersion, str] = {"2.0": "linux64", "3.0": "x86_64-linux"}
_ENTRIES: tuple[tuple[Callable[..., int], str], ...] = (
    (acceleration_kernel, "aaaaaa"),
    (cells_kernel, "aaaaaa"),
    (rk4_kernel, "aaaaada"),
)
"""Kernels that a unit calls, with their arguments: a for a contiguous array, d for a number."""

_FLAGS = (
    "-std=gnu11", "-O2", "-fno-math-errno", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function",
    "-Wl,--no-undefined", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-s",
)  # fmt: skip
_DATE = (1980, 1, 1, 0, 0, 0)  # of all files, so that the same mechanism gives the same bytes


def build_unit(
    unit: Unit, version: FmiVersion, file: BinaryIO, report: Callable[[int, int], None] = lambda done, total: None
) -> str:
    """Compile a unit and write it as an FMU into an open file. Returns what it needs of a machine, in a sentence.

    Needs FMPy, for the standard's header files and its validation of the result, and a C compiler (`CC`, or cc).
    report: called with the number of compiled kernels and their total, on the first call on a machine.

    Raises:
        InputError: FMPy or the compiler is missing or fails, or this is no x86-64 Linux.
        RigError: FMPy finds a problem in the unit.
    """
    headers = _headers()
    compiler = _compiler()
    with report_compilation([f"dynamics.{kernel.__name__}" for kernel, _arguments in _ENTRIES], report):
        code = _machine_code()
    files = [each for each in resources.files("rig.fmu.sources").iterdir() if each.name.endswith(".c")]
    sources = {each.name: each.read_text(encoding="utf-8") for each in files}
    tables = _tables(unit)
    parts = (version, tables, *(sources[name] for name in sorted(sources)), documentation(unit, ""))
    digest = hashlib.sha256(code + "\0".join(parts).encode())
    token = f"{{{uuid.UUID(digest.hexdigest()[:32])}}}"
    with tempfile.TemporaryDirectory(prefix="rig-fmu-") as temporary:
        folder = Path(temporary)
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "unit.h").write_text(f'#define TOKEN "{token}"\n{tables}', encoding="utf-8")
        (folder / "kernels.o").write_bytes(code)
        library = folder / f"{unit.identifier}.so"
        source = f"fmi{version[0]}.c"
        command = [compiler, *_FLAGS, f"-I{headers}", source, "kernels.o", "-o", library.name, "-lm"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise InputError(f"{compiler} fails with exit code {ended.returncode}:\n{ended.stderr.strip()}")
        binary = library.read_bytes()
        needs = f"The unit needs {SYSTEM} with glibc {_glibc(binary)} or newer, and nothing else: no Python."
        whole = folder / "unit.fmu"
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in (
                ("modelDescription.xml", model_description(unit, version, token)),
                (f"binaries/{_FOLDERS[version]}/{library.name}", binary),
                ("documentation/index.html", documentation(unit, needs)),
                ("resources/mechanism.toml", format_mechanism(unit.mechanism)),
            ):
                entry = zipfile.ZipInfo(name, _DATE)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
        if problems := _problems(whole):
            raise RigError("FMPy finds the unit invalid:\n" + "\n".join(problems))
        with whole.open("rb") as packed:
            shutil.copyfileobj(packed, file)
    return needs


def longest_stable_step(unit: Unit) -> float:
    """Return the longest Runge-Kutta step, s, that integrates a plant's friction without growing oscillations.

    Viscous friction and Coulomb friction at low speed damp each leg by C_p + C_r + (F_c + F_r)/v. The fastest decay is
    that of the direction which is moved most easily at the start pose; twice its rate covers other poses. Infinite
    without friction, 0 for Coulomb friction that is not smoothed.
    """
    legs = unit.mechanism.legs
    coulomb = max(leg.coulomb for leg in legs)
    if coulomb > 0.0 and unit.coulomb_speed == 0.0:
        return 0.0
    damping = max(leg.viscous for leg in legs) + (coulomb / unit.coulomb_speed if coulomb else 0.0)
    if damping == 0.0:
        return math.inf
    matrix = leg_matrix(unit.mechanism.geometry, unit.pose)
    mass = Dynamics(unit.mechanism).mass_matrix(unit.pose)
    mobility = 2.0 * float(np.linalg.eigvals(matrix.T @ np.linalg.solve(mass, matrix)).real.max())
    return _RK4_INTERVAL / (mobility * damping)


_RK4_INTERVAL = 2.785293563405282
"""Longest step times decay rate for which classical Runge-Kutta is stable on the real axis."""


def _headers() -> Path:
    """Folder of the standard's header files."""
    try:
        import fmpy
    except ImportError as error:
        raise InputError(
            "exporting an FMU needs FMPy, which is not installed: pip install 'stewart-rig[fmi]'"
        ) from error
    return Path(fmpy.__file__).parent / "c-code"


def _compiler() -> str:
    if not (sys.platform == "linux" and platform.machine() == "x86_64"):
        raise InputError(f"exporting an FMU needs {SYSTEM}: this machine is {platform.machine()} {sys.platform}")
    name = os.environ.get("CC") or "cc"
    if shutil.which(name) is None:
        raise InputError(f"exporting an FMU needs a C compiler: there is no {name} (Debian: apt install gcc libc6-dev)")
    return name


def _problems(path: Path) -> list[str]:
    from fmpy.validation import validate_fmu

    return [str(each) for each in validate_fmu(str(path))]


def _glibc(binary: bytes) -> str:
    """Newest version of glibc that a library's symbols ask for."""
    versions = re.findall(rb"GLIBC_(\d+(?:\.\d+)+)", binary)
    newest = max(versions, key=lambda version: [int(part) for part in version.split(b".")])
    return str(newest, "ascii")


@cache
def _machine_code() -> bytes:
    """Object code of the kernels for any x86-64 processor; each entry has its kernel's name."""
    import llvmlite.binding as llvm
    import numba

    types = {"a": numba.float64[::1], "d": numba.float64}
    entries = {}
    whole: Any = None
    for kernel, arguments in _ENTRIES:
        dispatcher = kernel.compiled  # type: ignore[attr-defined]  # a Kernel
        signature = tuple(types[each] for each in arguments)
        dispatcher.compile(signature)
        compiled = dispatcher.overloads[signature]
        if compiled.signature.return_type != numba.int64:
            raise RigError(f"{kernel.__name__} returns {compiled.signature.return_type}, must return a status")
        module = llvm.parse_bitcode(compiled.library._get_module_for_linking().as_bitcode())
        entries[compiled.fndesc.llvm_func_name] = kernel.__name__
        module.get_function(compiled.fndesc.llvm_func_name).linkage = "external"  # or linking would leave it out
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    for function in whole.functions:
        if not function.is_declaration:
            if function.name in entries:
                function.name = entries[function.name]
            else:
                function.linkage = "internal"  # among them those that Python would call, which go
    for variable in whole.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    target = llvm.Target.from_triple(_TRIPLE)
    machine = target.create_target_machine(cpu="x86-64", features="", opt=3, reloc="pic", codemodel="default")
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(whole, builder)
    code: bytes = machine.emit_object(whole)
    return code


def _tables(unit: Unit) -> str:
    """The C header of a unit: its variables, the mechanism, and the places of what the kernels compute."""
    first = {
        "MOTION": unit.index("pose.x"),
        "QUATERNION": unit.index("pose.qw"),
        "WRENCH": unit.index("wrench.force.x"),
        "FORCE": unit.index("force[1]"),
        "ACCELERATION": unit.index("acceleration.x"),
        "LENGTH": unit.index("length[1]"),
        "SPEED": unit.index("speed[1]"),
        "CELL": unit.index("cell[1]"),
        "FIRST_PARAMETER": unit.index("gravity.x"),
    }
    sizes = {
        "VARIABLES": len(unit.variables),
        "PARAMETERS": len(unit.parameters),
        "PARAMETER_COUNT": PARAMETER_COUNT,
        "WORK": WORK_SIZE,
        "WORK_LENGTH": layout.LENGTH,
        "WORK_SPEED": layout.SPEED,
        "MASS": layout.MASS,
        "INERTIA": layout.INERTIA,
        "SINGULAR": SINGULAR,
    }
    numbers = {"INTERNAL_STEP": unit.internal_step, "UNIT_TOLERANCE": UNIT_TOLERANCE, "LONGEST": LONGEST}
    lines = [f"#define IDENTIFIER {json.dumps(unit.identifier)}"]
    lines += ["#define PLANT"] if unit.model == "plant" else []
    lines += [f"#define {name} {value}" for name, value in (first | sizes).items()]
    lines += [f"#define {name} {_number(value)}" for name, value in numbers.items()]
    lines.append("static const Variable UNIT[VARIABLES] = {")
    lines += [
        f"    {{{json.dumps(each.name)}, {each.role.upper()}, {_number(each.start or 0.0)}}},"
        for each in unit.variables
    ]
    lines.append("};")
    for name, values in (
        ("MECHANISM[PARAMETERS]", unit.parameters.tolist()),
        ("LOWEST[6]", [low for low, _high in unit.strokes]),
        ("HIGHEST[6]", [high for _low, high in unit.strokes]),
    ):
        lines += [f"static const double {name} = {{", *(f"    {_number(value)}," for value in values), "};"]
    return "\n".join([*lines, ""])


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else "HUGE_VAL"
