"""Services under the command line and the app: these parse, ask and show; every stage that is told has its words."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rig.errors import InputError
from rig.services import (
    CellsRequest,
    GeometryRequest,
    IdentifyRequest,
    Progress,
    RespondRequest,
    WeighRequest,
    WrenchRequest,
    calibrate_cells,
    homing_spread,
    identify,
    plan_geometry,
    weigh,
)
from rig.services.stages import stage_text

ROOT = Path(__file__).parents[2]
COMMANDS = [
    "calibrate",
    "cells_in_place",
    "closed_loop",
    "geometry",
    "identify",
    "respond",
    "stream",
    "weigh",
    "wrench",
    "zero",
]
WORK = (
    "rig.recording",
    "rig.csvio",
    "rig.config",
    "rig.report",
    "rig.commissioning",
    "rig.engine",
    "actuators",
    "dynamics",
)
"""what a use case is made of, and no face of it"""
WIZARDS = ("gui/calibrate", "gui/wizard")


def imports(path: Path) -> Iterator[str]:
    """Modules that a module imports, wherever; not for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in for_types:
            yield node.module
        elif isinstance(node, ast.Import) and id(node) not in for_types:
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_no_work_of_its_own(name: str) -> None:
    found = set(imports(ROOT / "rig" / "cli" / f"{name}.py"))
    assert "rig.services" in found
    assert [module for module in sorted(found) if module.startswith(WORK)] == []


@pytest.mark.parametrize("room", WIZARDS)
def test_wizards_start_no_command_and_read_no_text(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        found = set(imports(path))
        assert not found & {"re", "rig.cli", "subprocess"}, path
        text = path.read_text(encoding="utf-8")
        assert "RigCommand" not in text and "errors_and_warnings" not in text, path


def test_every_stage_has_its_words() -> None:
    told = set()
    for path in (ROOT / "rig" / "services").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id == "Progress":
                first = node.args[0] if isinstance(node, ast.Call) else None
                if isinstance(first, ast.Constant):
                    told.add(str(first.value))
    assert len(told) > 10
    values = {"controller": "pd", "plant": "as built", "cell": 1, "mass": 5.0, "phase": "homing"}
    values |= {"run": "a.mcap#1", "leg": 3, "what": "figure 1", "place": "to PlotJuggler"}
    for stage in sorted(
        told | {"put-on", "hang-from", "reading-cell", "reading-cells", "fitting-parameters", "judging"}
    ):
        assert stage_text(Progress(stage, values=values))
    assert stage_text(Progress("reading-cell", 1, 8, values)) == "reading cell 1 under 5 kg: 12 %"


def test_a_request_that_cannot_be_names_what_is_wrong(tmp_path: Path) -> None:
    recording = tmp_path / "a.mcap"
    with pytest.raises(InputError, match="mass"):
        IdentifyRequest((recording,), mass=-1.0)
    with pytest.raises(InputError, match="not both"):
        WeighRequest((recording,), without=recording, without_span=(0.0, 1.0))
    with pytest.raises(InputError, match="not both"):
        WrenchRequest(recording, quiet=(0.0, 1.0), noise=0.5)
    with pytest.raises(InputError, match="coordinate 'w'"):
        RespondRequest(recording, "w")
    with pytest.raises(InputError, match="band: 3 to 2 Hz"):
        RespondRequest(recording, band=(3.0, 2.0))
    with pytest.raises(InputError, match="position"):
        GeometryRequest("lab-hexapod", position_sigma=-1.0)
    with pytest.raises(InputError, match=r"serials: \('a',\)"):
        CellsRequest(data=tmp_path / "a.csv", serials=("a",))


def test_a_request_without_its_files_is_refused() -> None:
    with pytest.raises(InputError, match="no recording is given"):
        identify(IdentifyRequest(()))
    with pytest.raises(InputError, match="no recording is given"):
        weigh(WeighRequest(()))
    with pytest.raises(InputError, match="give either a rig's configuration"):
        calibrate_cells(CellsRequest())
    with pytest.raises(InputError, match="no number of poses"):
        plan_geometry(GeometryRequest("lab-hexapod"))
    with pytest.raises(InputError, match="no file of homings"):
        homing_spread(GeometryRequest("lab-hexapod"))
