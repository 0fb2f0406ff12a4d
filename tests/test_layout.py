"""The project's own shape: who may import what, and what an installation must bring along."""

import ast
import fnmatch
import itertools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

from kinematics.compiled.cache import HAS_KERNELS, KERNEL_FOLDERS
from rig.services.machine_probes import APP_PACKAGES
from rig.services.machine_probes import PACKAGES as PACKAGES_LOOKED_FOR

ROOT = Path(__file__).parent.parent
PACKAGES = ("rig", "actuators", "kinematics", "dynamics", "calibration", "gui")
OPEN = "rig"
"""Its root stays empty so that the command line answers at once: whoever is above imports its modules and the roots of
its sub-packages."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MYPY = PROJECT["tool"]["mypy"]


@cache
def _nodes(path: Path) -> tuple[ast.stmt, ...]:
    """The statements of a module, wherever in it."""
    found, left = [], list(ast.parse(path.read_text(encoding="utf-8")).body)
    while left:
        found.append(statement := left.pop())
        for name in ("body", "orelse", "finalbody"):
            left += getattr(statement, name, ())
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            left += part.body
    return tuple(found)


def _imported_modules(path: Path) -> Iterator[tuple[int, str]]:
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_each_other_from_the_root_only(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.stem.startswith("example_")  # a template for a package of somebody else's
        for line, module in _imported_modules(path)
        if module.split(".")[0] in PACKAGES
        and module.split(".")[0] != package
        and module.count(".") > (module.split(".")[0] == OPEN)
    ]
    assert wrong == []


FACES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("__init__.py"))]
ROOMS = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for package in ("rig", "gui", "kinematics")
    for path in (ROOT / package).glob("*/__init__.py")
)


@pytest.mark.parametrize("room", ROOMS)
def test_packages_inside_a_package_import_each_other_by_their_face(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sorted((ROOT / room.replace(".", "/")).rglob("*.py"))
        for line, module in _imported_modules(path)
        if any(module.startswith(f"{other}.") for other in ROOMS if other != room)
    ]
    assert wrong == []


@pytest.mark.parametrize("face", FACES)
def test_no_name_that_a_package_hands_out_hides_one_of_its_modules(face: Path) -> None:
    """`import package.module` would give the function instead."""
    imported = (node for node in ast.parse(face.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom))
    package = ".".join(face.parent.relative_to(ROOT).parts)
    names = {name.asname or name.name for node in imported if node.module != package for name in node.names}
    assert names & {path.stem for path in face.parent.iterdir()} == set()


def test_every_kernel_is_where_the_cache_looks_for_changes() -> None:
    """Elsewhere it could be changed, and the machine code of those that call it would be taken from the cache."""
    looked_at = [ROOT / folder for folder in KERNEL_FOLDERS]
    assert all(folder.is_dir() for folder in looked_at)
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    kernels = [
        path
        for path in paths
        if re.search(r"^ *@(kernel|inlined)\b|= (kernel|inlined)\(", path.read_text(encoding="utf-8"), re.M)
    ]
    assert len(kernels) > 20
    assert [path for path in kernels if not any(map(path.is_relative_to, looked_at))] == []
    assert all(HAS_KERNELS.search(path.read_bytes()) for path in kernels)


LOOSE = {"rig": 8, "gui": 4, "kinematics": 6}
"""How many modules may lie loose at the top of a package, beside `__init__` and `__main__`."""


@pytest.mark.parametrize("package", LOOSE)
def test_few_modules_lie_loose(package: str) -> None:
    loose = [path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("__")]
    assert len(loose) <= LOOSE[package], loose


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside of functions count; those for types only do not."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    assert "rig.client.client" in graph.modules
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    left = set(imported)
    while ends := {module for module in left if not imported[module] & left}:
        left -= ends  # it is in no circle, as all that it imports is in none
    while starts := {module for module in left if not any(module in imported[other] for other in left)}:
        left -= starts
    assert {module: sorted(imported[module] & left) for module in sorted(left)} == {}


MOST_PARAMETERS = 8
TOO_MANY = {
    "calibration/geometry/calibrate.py: calibrate_geometry",
    "calibration/geometry/planning.py: next_poses",
    "dynamics/path_conditioning.py: best_path",
    "gui/widgets/number_field.py: __init__",
    "rig/analysis/response.py: multisine",
    "rig/client/live.py: __init__",
    "rig/client/runs.py: conduct",
    "rig/client/runs.py: execute",
}
"""Functions that still have more: one that is mended leaves this set, and none comes in."""


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def test_no_function_has_more_parameters_than_can_be_held_in_mind() -> None:
    """Kernels take plain floats and arrays, commands their options: elsewhere what belongs together is one object."""
    found, counted = set(), 0
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        if path.is_relative_to(ROOT / "rig" / "cli"):
            continue
        for node in _nodes(path):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            counted += 1
            kernel = {"kernel", "inlined"} & {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if not kernel and _parameters(node) > MOST_PARAMETERS:
                found.add(f"{path.relative_to(ROOT)}: {node.name}")
    assert counted > 5000
    assert found == TOO_MANY


def test_whoever_installs_a_package_sees_its_types() -> None:
    assert [package for package in PACKAGES if not (ROOT / package / "py.typed").exists()] == []
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["*"]


def test_every_data_file_is_installed() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    left_out = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and not any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)
    ]
    assert left_out == []


def test_every_dependency_has_one_exact_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0].lower() for line in lines if line and not line.startswith("#")}
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = {_name(text) for text in itertools.chain(PROJECT["project"]["dependencies"], *extras.values())}
    assert [name for name in wanted - {PROJECT["project"]["name"]} if name.lower() not in pinned] == []
    assert [line for line in lines if "://" in line or " @ " in line] == []


def test_the_doctor_looks_for_every_dependency() -> None:
    assert sorted(PACKAGES_LOOKED_FOR) == sorted(_name(text) for text in PROJECT["project"]["dependencies"])
    extra = PROJECT["project"]["optional-dependencies"]["gui"]
    assert sorted(APP_PACKAGES) == sorted(_name(text) for text in extra)


def _name(requirement: str) -> str:
    return requirement.split(">")[0].split("[")[0].strip()


LEFT_OUT = [path for path in ROOT.glob("tests/*/conftest.py") if re.match(MYPY["exclude"], str(path.relative_to(ROOT)))]


@pytest.mark.parametrize("path", LEFT_OUT, ids=lambda path: path.parent.name)
def test_what_types_are_not_checked_of_holds_nothing_but_a_list(path: Path) -> None:
    """Two modules of one name cannot be checked in one run: what such a one brings is written elsewhere."""
    docstring, *rest = ast.parse(path.read_text(encoding="utf-8")).body
    assert isinstance(docstring, ast.Expr) and isinstance(rest.pop(), ast.Assign)
    assert rest and all(isinstance(node, ast.ImportFrom) for node in rest)


def test_types_are_checked_of_all_tests() -> None:
    folders = {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders <= set(MYPY["files"])


def test_what_every_process_loads_brings_nothing_along_that_few_need() -> None:
    """Statistics, filters and plots take as long to load as all the rest; there are many processes."""
    heavy = (
        "scipy.linalg",
        "scipy.stats",
        "scipy.signal",
        "scipy.optimize",
        "matplotlib",
        "rig.analysis",
        "mujoco",
        "sdl2",
        "numba",
    )
    program = f"import sys, rig.client, rig.engine, rig.virtual; print([n for n in {heavy} if n in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout.strip() == "[]"
