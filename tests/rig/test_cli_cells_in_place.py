"""`rig calibrate cells-in-place`: from a recording with rests to a dated file, and a plan that `rig run` takes."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from synthetic_rows import make_header
from typer.testing import CliRunner, Result

from calibration import Parameter, ParameterFile, format_parameters, load_cell_calibration
from dynamics import Dynamics, load_mechanism
from kinematics import coordinates_to_motion, load_trajectory
from rig.cli.calibrate import app
from rig.errors import InputError, RefusedError
from rig.recording import RecordingWriter
from rig.states import State
from rig.telemetry import ROW, CycleFlag

LAB = load_mechanism("lab-hexapod")
GAIN = np.array([1.01, 0.99, -1.012, 0.988, 1.005, 0.995])
OFFSET = np.array([3.0, -3.0, 2.0, -2.5, 3.0, -1.0])
RATE = 200.0
HELD = 200  # rows at each pose, of which every second half moves


def run(*arguments: str | Path, catch: bool = True) -> Result:
    return CliRunner().invoke(app, ["cells-in-place", *map(str, arguments)], catch_exceptions=catch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(path: Path, *, turn: float = 0.25, speed: float = 0.0, parameters: dict[str, str] | None = None) -> None:
    """Rests at 12 poses, with a motion in between in which the cells read nonsense."""
    random = np.random.default_rng(2)
    coordinates = random.uniform(-1.0, 1.0, (12, 6)) * [0.05, 0.05, 0.02, turn, turn, turn]
    coordinates[:, :3] = coordinates[:, :3] * min(1.0, 4.0 * turn) + LAB.geometry.home_pose[:3] + [0.0, 0.0, 0.03]
    motions = coordinates_to_motion(coordinates, np.zeros((12, 6)), np.zeros((12, 6)))
    forces = Dynamics(LAB).cells(motions)
    rows = np.zeros(12 * HELD, ROW)
    rows["cycle"] = np.arange(len(rows))
    rows["t"] = rows["cycle"] / RATE
    rows["state"], rows["flags"] = State.RUNNING, CycleFlag.POSE
    rows["pose"] = np.repeat(motions[:, :7], HELD, axis=0)
    readings = OFFSET + np.repeat(forces, HELD, axis=0) / GAIN + random.normal(0.0, 0.2, (len(rows), 6))
    moving = rows["cycle"] % HELD >= HELD // 2
    rows["twist"][:, 0] = np.where(moving, 0.1, speed)
    rows["force_measured"] = np.where(moving[:, np.newaxis], 1e3, readings)
    header = make_header(RATE) | {"mechanism": LAB.source, "parameters": parameters or {}}
    with RecordingWriter(path, header) as writer:
        writer.write_rows(rows)


def test_a_recording_becomes_a_dated_file(folder: Path) -> None:
    record(folder / "run.mcap")
    result = run("run.mcap", "--date", "2026-11-21", "--operator", "A. Nother", "--mass-sigma", "0.01")
    assert result.exit_code == 0, result.output
    assert "polarity reversed at leg 3" in result.output
    assert 'calibration = "cells-2026-11-21.toml"' in result.output
    made = load_cell_calibration(folder / "cells-2026-11-21.toml")
    sigma = np.array([[cell.gain_standard_error, cell.offset_standard_error] for cell in made.cells])
    assert (np.abs(made.gain - GAIN) < 4.0 * sigma[:, 0]).all()
    assert (np.abs(made.offset - OFFSET) < 4.0 * sigma[:, 1]).all()
    assert made.provenance.operator == "A. Nother"
    assert "12 rests of run.mcap" in made.provenance.source

    answer = json.loads(run("run.mcap", "-o", "again.toml", "--json").stdout)
    assert answer["verdict"] == "ok"
    assert answer["reversed"] == [3]
    assert len(answer["cells"]) == 6
    assert answer["paths"] == {"calibration": "again.toml"}
    assert len(answer["rests"]) == 12 and answer["mechanism"] == LAB.name


def test_recordings_are_looked_into_and_nothing_is_computed(folder: Path) -> None:
    record(folder / "alike.mcap", turn=1e-4)  # refused only where it is calibrated
    looked = run("alike.mcap", "--look", "--json")
    assert looked.exit_code == 0 and json.loads(looked.stdout) == {"holds": "12 rests, lab-hexapod, cells in N"}
    planned = run("--plan", "9", "--config", "virtual", "--look")
    assert planned.exit_code == 0 and planned.stdout == f"lab-hexapod, a platform of {LAB.mass:g} kg\n"
    record(folder / "moving.mcap", speed=0.1)
    assert run("moving.mcap", "--look").stdout == "0 rests, lab-hexapod, cells in N\n"
    assert sorted(entry.name for entry in folder.iterdir()) == ["alike.mcap", "moving.mcap"]


def test_what_cannot_be_used_is_refused_and_nothing_written(folder: Path) -> None:
    record(folder / "alike.mcap", turn=1e-4)
    refused = run("alike.mcap", "--gain-limit", "0.1")
    assert isinstance(refused.exception, RefusedError)
    assert "leg 6: these poses load its cell" in str(refused.exception)
    record(folder / "moving.mcap", speed=0.1)
    assert "0 poses at rest, at least 8" in str(run("moving.mcap").exception)
    (folder / "moving.mcap").unlink()
    zero = Parameter("load_cells[2].offset", "N", 0.0, 1.5, 0.1)
    zeros = format_parameters(ParameterFile("inertia", date(2026, 1, 1), LAB.name, (zero,)))
    record(folder / "zeros.mcap", parameters={"p.toml": zeros})
    with pytest.raises(InputError, match=r"forces are corrected by parameter files \(p.toml\)"):
        run("zeros.mcap", catch=False)
    (folder / "cells.toml").write_text("precious")
    assert "never overwritten" in str(run("alike.mcap", "-o", "cells.toml").exception)
    assert sorted(entry.name for entry in folder.iterdir()) == ["alike.mcap", "cells.toml", "zeros.mcap"]
    record(folder / "other.mcap")
    for arguments in ([], ["other.mcap", "--plan", "9"], ["--plan", "9"], ["other.mcap", "--config", "virtual"]):
        assert run(*arguments).exit_code == 2


def test_a_plan_is_a_trajectory_within_the_limits(folder: Path) -> None:
    result = run("--plan", "8", "--config", "virtual", "-o", "poses.toml", "--hold", "1", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    motion = load_trajectory(folder / "poses.toml", LAB.geometry.home)
    assert motion.duration == pytest.approx(told["duration_s"])
    t = np.arange(0.0, motion.duration, 0.01)
    still = (np.abs(motion.motion(t)[:, 7:13]) < 1e-9).all(axis=1)
    assert np.count_nonzero(still) * 0.01 == pytest.approx(8.0, abs=0.3)
