"""The command line parses and prints; what is done is done by services."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CLI = Path(__file__).parents[2] / "rig" / "cli"

FACES = ("typer", "rich", "click", "rig.services", "rig.cli", "rig.errors", "rig.findings", "rig.names")
"""Packages of which a command may use anything, beside the standard library."""

TEXT = {
    "actuators": {"CAN_SCHEME", "PARITIES", "SerialEndpoint", "TcpEndpoint", "find_driver"},
    "calibration": {"calibration_file_name", "parameters_line"},
    "kinematics": {
        "COORDINATES", "NumberTextError", "Quantity", "SYNTHETIC", "Thresholds", "decimals_of", "in_words", "read_list",
        "read_number", "read_quantity", "read_whole", "toml_item",
    },
    "rig": {"__version__"},
    "rig.analysis": {"TERM_NAMES", "described"},
    "rig.client": {"describe"},
    "rig.commissioning": {
        "CellAmplifier", "DriveAddress", "answer_finding", "own_settings", "setting_value", "usual_unit",
    },
    "rig.config": {"Validation", "parse_thresholds"},
    "rig.papers": {"Origin", "Verdict", "count"},
    "rig.report": {"comparison_text", "summary_lines"},
    "rig.runtime": {"begin_server"},
    "rig.virtual": {"controllers"},
}  # fmt: skip
"""What reads a quantity or an address as it is typed, or makes text of a result, by package; and what begins to load
the processes of a run while the command itself is loaded."""

WORKING: dict[str, set[str]] = {
    "console": {"kinematics", "rig.client", "rig.engine", "rig.states"},
    "console_commands": {
        "kinematics",
        "numpy",
        "rig.client",
        "rig.engine",
        "rig.recording",
        "rig.runtime",
        "rig.states",
        "rig.virtual",
    },
    "console_hold": {"kinematics", "rig.client", "rig.engine"},
    "console_motions": {"kinematics", "numpy", "rig.client", "rig.engine", "rig.runtime"},
    "console_positions": {"kinematics", "numpy", "rig.client", "rig.states"},
    "console_rig": {"rig.client", "rig.engine"},
    "drive": {"rig.client", "rig.commissioning"},
    "geometry_output": {"calibration"},
    "gui": {"rig.runtime"},
    "live": {"rig.client", "rig.config"},
    "monitor": {"actuators", "rig.client"},
    "operate": {"rig.client"},
    "options": {"rig.config"},
    "stream": {"rig.client"},
    "twin": {"rig.client"},
    "zero": {"rig.client"},
}
"""Modules that do work of their own still, with the packages that they use for it. It only gets shorter."""


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Package and name of everything that a module imports to run; types are nothing that is done."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unused = {inner for node in types for part in node.body for inner in ast.walk(part)}
    for node in ast.walk(tree):
        if node in unused:
            continue
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, name.name) for name in node.names)


def work_of(path: Path) -> set[str]:
    """The packages by which a module does work of its own."""
    return {
        package
        for package, name in imported(path)
        if package.split(".")[0] not in sys.stdlib_module_names
        and not any(package == face or package.startswith(f"{face}.") for face in FACES)
        and name not in TEXT.get(package, ())
    }


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.stem)
def test_a_command_parses_and_prints(path: Path) -> None:
    """New work goes into `rig.services`; a module that has given its own away leaves the list."""
    assert work_of(path) == WORKING.get(path.stem, set())


def test_modules_on_the_list_exist() -> None:
    assert set(WORKING) <= {path.stem for path in CLI.glob("*.py")}


def test_work_is_found_wherever_it_is_imported(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "import typing\nfrom typing import TYPE_CHECKING\nfrom rig.services import scan\n"
        "if TYPE_CHECKING:\n    from rig.config import RigConfig\n"
        "def command():\n    import numpy as np\n    from kinematics import Quantity, leg_lengths\n",
        encoding="utf-8",
    )
    assert work_of(module) == {"numpy", "kinematics"}
