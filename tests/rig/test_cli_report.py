"""`rig report`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from configured import VIRTUAL
from synthetic_rows import make_header, make_rows

from dynamics import format_mechanism, load_mechanism
from rig.cli import main
from rig.client.motion_runner import Progress
from rig.client.runs import demo_trajectory, describe, execute
from rig.errors import ExitCode, RefusedError, RunFaultError
from rig.recording import RecordingWriter, open_recording
from rig.runs import runs_of


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "run.mcap"
    writer = RecordingWriter(path, make_header())
    writer.write_rows(make_rows(2.0))
    writer.close({})
    return path


@pytest.mark.usefixtures("undrawn_reports")
def test_report_beside_the_recording(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(recording)]) == 0
    page = recording.with_suffix(".html")
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {page}"
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


@pytest.mark.usefixtures("undrawn_reports")
def test_json(recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(recording), "-o", str(tmp_path / "page.html"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"rate_hz", "cycles", "overruns", "period_error_p99_us"} <= set(result["cycle"])
    assert {"position_rms_m", "rotation_rms_rad"} <= set(result["tracking"])
    assert len(result["force"]["legs"]) == 6
    assert {"rms_measured_n", "rms_residual_n", "bias_n"} <= set(result["force"]["legs"][0])
    assert {"rows", "dropped"} <= set(result["recording"])
    assert result["paths"] == {"recording": str(recording), "report": str(tmp_path / "page.html")}


@pytest.mark.usefixtures("undrawn_reports")
def test_what_identification_would_leave_is_said_where_it_is_asked_for(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(recording), "--no-models"]) == 0
    assert "outlook" not in capsys.readouterr().out
    assert main(["report", str(recording), "--no-models", "--identify"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("outlook")]
    assert "nothing can be identified from this motion: " in line
    page = recording.with_suffix(".html").read_text(encoding="utf-8")
    assert "Expected residual after identification" in page and "Nothing can be identified from this motion: " in page


@pytest.mark.parametrize("content", [None, b"t,f1\n0,1\n"])
def test_what_is_no_recording(tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.mcap"
    if content is not None:
        path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert main(["report", str(path)]) == ExitCode.RECORDING
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("error:") == 1
    assert str(path) in printed.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_report_that_cannot_be_written(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(recording), "-o", str(recording.parent / "gone" / "page.html")]) == ExitCode.INPUT
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn_reports")
def test_a_run_whose_report_cannot_be_written_tells_its_own_fault(tmp_path: Path) -> None:
    config = VIRTUAL.changed({"virtual": {"faults": [{"fault": "cell_nan", "leg": 4}]}})
    trajectory = demo_trajectory(config.machine.geometry.home_pose, 4.0)

    def take_its_name(progress: Progress) -> None:
        if progress.phase == "reporting":
            (recording,) = tmp_path.glob("*.mcap")
            recording.with_suffix(".html").mkdir()

    faulty = execute(config, trajectory, "run", tmp_path, lockstep=True, report=take_its_name)
    assert isinstance(faulty.error, RefusedError | RunFaultError) and "leg 4" in str(faulty.error)
    assert faulty.recording.exists() and faulty.summary["recording"]["rows"] > 0
    assert "report     could not be written" in describe(faulty)


@pytest.mark.usefixtures("undrawn_reports")
def test_a_run_ends_with_the_same_cause_in_command_report_and_list(tmp_path: Path) -> None:
    config = VIRTUAL.changed({"virtual": {"faults": [{"fault": "drop_all", "leg": 3, "at": 4.0}]}})
    trajectory = demo_trajectory(config.machine.geometry.home_pose, 4.0)
    result = execute(config, trajectory, "run", tmp_path, lockstep=True, report=lambda _progress: None)
    cause = result.summary["motion"]["cause"]
    assert cause.startswith("communication lost: leg 3: no fresh feedback")
    assert str(result.error) == f"the run ended in a fault at {result.summary['faults'][-1]['t_s']:.3f} s: {cause}"
    assert runs_of(open_recording(result.recording))[-1].cause == cause


@pytest.mark.usefixtures("undrawn_reports")
def test_published_models_beside_the_exact_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a run of the virtual rig, whose plant is exact, only the exact model explains the cells to their noise."""
    config = VIRTUAL
    trajectory = demo_trajectory(config.machine.geometry.home_pose, 4.0)
    run = execute(config, trajectory, "run", tmp_path, lockstep=True, report=lambda _progress: None)
    assert run.error is None
    assert main(["report", str(run.recording), "--models", "--json"]) == 0
    entries = {entry["model"]: entry for entry in json.loads(capsys.readouterr().out)["force"]["models"]}
    assert list(entries) == ["exact", "dasgupta-1998", "pedrammehr-2012", "massless"]
    noise = config.load_cells.noise
    assert max(entries["exact"]["rms_residual_n"]) < 1.3 * noise
    assert entries["exact"]["peak_difference_n"] == 0.0
    assert min(entries["pedrammehr-2012"]["rms_residual_n"]) > 1.5 * noise
    assert max(entries["pedrammehr-2012"]["rms_residual_n"]) < 4.0 * noise  # Coulomb friction of 4 N is no part of it
    assert min(entries["massless"]["rms_residual_n"]) > 8.0 * noise
    for entry in entries.values():  # noise and difference are independent
        expected = np.hypot(entries["exact"]["rms_residual_n"], entry["rms_difference_n"])
        np.testing.assert_allclose(entry["rms_residual_n"], expected, rtol=0.1)
    page = run.report.read_text(encoding="utf-8")
    assert "Models compared" in page and "Each has the mechanism's friction" in page


@pytest.mark.usefixtures("undrawn_reports")
def test_models_have_the_same_friction_or_that_of_their_papers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Told apart by cells between drive and rod, which alone read the 4 N of the prismatic joints' Coulomb friction."""
    mechanism = load_mechanism("lab-hexapod")
    legs = [replace(leg, load_cell=replace(leg.load_cell, location="actuator")) for leg in mechanism.legs]
    (tmp_path / "machine.toml").write_text(format_mechanism(replace(mechanism, legs=tuple(legs))))
    config = VIRTUAL.changed({"mechanism": str(tmp_path / "machine.toml")})
    trajectory = demo_trajectory(config.machine.geometry.home_pose, 4.0)
    run = execute(config, trajectory, "run", tmp_path, lockstep=True, report=lambda _progress: None)
    found = {}
    for friction in ("same", "printed"):
        assert main(["report", str(run.recording), "--friction", friction, "--json"]) == 0
        force = json.loads(capsys.readouterr().out)["force"]
        assert force["models_friction"] == friction
        found[friction] = {entry["model"]: entry["peak_difference_n"] for entry in force["models"]}
    for model in ("dasgupta-1998", "pedrammehr-2012"):
        assert found["printed"][model] > found["same"][model] + 2.0
    assert main(["report", str(run.recording), "--friction", "none"]) == ExitCode.INPUT
