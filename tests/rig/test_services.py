"""Use cases as a notebook has them: a request in, a result of numbers, codes and paths out."""

import json
import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import make_runs

from dynamics import Dynamics
from kinematics import Thresholds, leg_lengths, load_trajectory
from rig.client import free_ports
from rig.commissioning import DriveAddress
from rig.config import Validation, load_config
from rig.errors import FieldError, FieldRefusedError, InputError
from rig.recording import RecordingError, open_recording
from rig.services import (
    AllPosesRequest,
    CheckRequest,
    DemoRequest,
    DoctorRequest,
    Draft,
    Event,
    ExportRequest,
    ForcesRequest,
    ImportRequest,
    InverseRequest,
    LegLengthsRequest,
    LegRequest,
    LoopsRequest,
    MotionRequest,
    NoAnswerError,
    Notice,
    PaperRequest,
    PathRequest,
    PosesRequest,
    ProbeRequest,
    Progress,
    ReportRequest,
    RunRequest,
    RunsRequest,
    ScanRequest,
    SetupRequest,
    TemplateError,
    WorkspaceRequest,
    check,
    compare_loops,
    demo,
    doctor,
    export,
    find_all_poses,
    follow_poses,
    import_log,
    inverse,
    inverse_kinematics,
    list_runs,
    move_leg,
    paper_studies,
    plan_path,
    probe,
    report,
    reproduce_papers,
    run,
    scan,
    set_up,
    simulate_forces,
    start,
    sweep_workspace,
    write_motion,
)
from rig.states import State

PATIENCE = 120.0  # s


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Of two runs, of which the second one's forces are 3 N off the model."""
    return make_runs(tmp_path / "a.mcap", (0.0, 3.0))


@pytest.mark.usefixtures("undrawn_reports")
def test_reports_have_numbers_and_pages(recording: Path) -> None:
    runs = tuple(recording.with_name(f"a.mcap#{number}") for number in (1, 2))
    events: list[Event] = []
    found = report(
        ReportRequest(runs, models=False, thresholds=Validation(residual_rms=10.0), alone=True), events.append
    )
    assert [one.summary["validation"]["verdict"] for one in found.reports] == ["pass", "pass"], "by 1 N one would fail"
    assert [one.recording for one in found.reports] == list(runs)
    assert all(one.page is not None and one.page.stat().st_size for one in found.reports)
    assert len(found.comparison) == 2 and found.page is None and not found.damaged
    told = [event for event in events if isinstance(event, Progress)]
    assert [(event.stage, event.done, event.total) for event in told] == [("reported", 1, 2), ("reported", 2, 2)]
    assert told[0].values["report"] == found.reports[0]


@pytest.mark.usefixtures("undrawn_reports")
def test_a_report_of_what_is_cut_off_says_so_and_comes_of_a_job_too(tmp_path: Path) -> None:
    cut = make_runs(tmp_path / "a.mcap", (0.0,), close=False)
    (tmp_path / "a.mcap").write_bytes(cut.read_bytes()[:-100])
    job = start(report, ReportRequest((cut,), output=tmp_path / "cut.html", models=False))
    found = job.result(PATIENCE)
    assert found.main_page == tmp_path / "cut.html" and found.main_page.exists()
    (notice,) = (event for event in job.events() if isinstance(event, Notice))
    assert (notice.code, notice.source, notice.serious) == ("recording", str(cut), found.damaged)
    with pytest.raises(RecordingError):
        report(ReportRequest((tmp_path / "none.mcap",)))


def test_a_report_that_cannot_be_is_refused_before_it_is_begun(tmp_path: Path) -> None:
    two = (tmp_path / "a.mcap", tmp_path / "b.mcap")
    with pytest.raises(InputError):
        ReportRequest(())
    with pytest.raises(InputError):
        ReportRequest(two, figures=tmp_path)
    with pytest.raises(InputError):
        ReportRequest(two, pdf=tmp_path / "both.pdf", identify=True)
    with pytest.raises(InputError):
        ReportRequest(two * 50, pdf=tmp_path / "both.pdf")


def test_rows_are_exported(recording: Path) -> None:
    found = export(ExportRequest(recording))
    assert found.table == recording.with_suffix(".csv") and not found.damaged
    assert len(found.table.read_text(encoding="utf-8").splitlines()) == found.rows + 1
    with pytest.raises(InputError, match="the recording itself"):
        export(ExportRequest(recording, recording))


def test_runs_are_listed_judged_compared_and_annotated(recording: Path) -> None:
    folder = recording.parent
    assert [one.run.id for one in list_runs(RunsRequest(folder)).runs] == ["a.mcap#2", "a.mcap#1"]
    events: list[Event] = []
    found = list_runs(RunsRequest(folder, compare=True, thresholds=Validation(residual_rms=1.0)), events.append)
    assert [one.verdict for one in found.runs] == ["fail", "pass"]
    assert found.comparison is not None and [one["verdict"] for one in found.comparison] == ["pass", "fail"]
    assert [event.values["run"] for event in events if isinstance(event, Progress)] == ["a.mcap#2", "a.mcap#1"]
    (one,) = list_runs(RunsRequest(folder, runs=("a.mcap#1",), name="the good one", star=True)).runs
    assert (one.name, one.entry.starred) == ("the good one", True)
    assert list_runs(RunsRequest(folder, starred=True)).runs == (one,)
    with pytest.raises(InputError, match="of one run"):
        RunsRequest(folder, name="which")
    with pytest.raises(InputError, match=r"has no run c\.mcap#1"):
        list_runs(RunsRequest(folder, runs=("c.mcap#1",)))


def test_a_configuration_and_a_trajectory_are_checked(tmp_path: Path) -> None:
    found = check(CheckRequest("virtual", "demo"))
    assert found.passed and found.verdict is not None and found.verdict.passed and found.loop.gain_margin > 1.0
    fast = tmp_path / "fast.toml"
    fast.write_text(
        'frame = "home"\n[[parts]]\ntype = "harmonic"\nduration = "4 s"\nfade = "1 s"\n'
        'terms = [{ dof = "z", amplitude = "60 mm", frequency = "6 Hz" }]\n',
        encoding="utf-8",
    )
    refused = check(CheckRequest("virtual", str(fast)))
    assert [fault.code for fault in refused.faults] == ["trajectory"] and not refused.passed
    assert json.dumps(refused.as_dict()["verdict"])
    with pytest.raises(InputError):
        check(CheckRequest("no-such-rig"))


def test_a_motion_comes_of_a_template(tmp_path: Path) -> None:
    wanted = Thresholds(residual_rms=0.5)
    numbers = {"axes": ("z",), "amplitude": 0.01, "frequency": 0.5, "cycles": 2}
    made = write_motion(MotionRequest("virtual", "sine", tmp_path / "up.toml", numbers, wanted))
    assert made.verdict.passed and made.motion.model_dump()["amplitude"] == 0.01
    motion = load_trajectory(str(made.trajectory), load_config("virtual").machine.geometry.home)
    assert motion.thresholds == wanted
    heights = motion.coordinates(np.linspace(0.0, motion.duration, 400))[0][:, 2]
    assert 2e-2 * 0.9 < np.ptp(heights) < 2e-2 * 1.001
    with pytest.raises(TemplateError) as unknown:
        write_motion(MotionRequest("virtual", "sine", tmp_path / "x.toml", {"radius": 0.1}))
    assert (unknown.value.template, unknown.value.unknown) == ("sine", ("radius",))
    with pytest.raises(TemplateError) as invalid:
        write_motion(MotionRequest("virtual", "sine", tmp_path / "x.toml", {"cycles": 0}))
    assert [name for name, _fault in invalid.value.invalid] == ["cycles"] and not (tmp_path / "x.toml").exists()


def test_a_workspace_is_swept(tmp_path: Path) -> None:
    events: list[Event] = []
    found = sweep_workspace(WorkspaceRequest("lab-hexapod", cells=6, output=tmp_path), events.append)
    assert found.summary["poses"] == 6**3 and 0.0 < found.summary["reachable"]["fraction"] < 1.0
    assert tmp_path / "workspace.json" in found.paths and all(path.exists() for path in found.paths)
    assert {event.stage for event in events if isinstance(event, Progress)} == {"sweeping"}
    box = {"rx": (-0.1, 0.1), "ry": (-0.1, 0.1), "rz": (-0.2, 0.2)}
    turned = sweep_workspace(WorkspaceRequest("lab-hexapod", "orientation", cells=4, ranges=box))
    assert turned.summary["box"] == {name: list(bounds) for name, bounds in box.items()}
    with pytest.raises(FieldError) as wrong:
        WorkspaceRequest("lab-hexapod", ranges={"rx": (0.0, 1.0)})
    assert wrong.value.field == "ranges"
    with pytest.raises(FieldError, match="leg_radius"):
        sweep_workspace(WorkspaceRequest("lab-hexapod", cells=2, leg_radius=-1.0))


def test_a_path_is_planned(tmp_path: Path) -> None:
    raised = (0.0, 0.0, 0.47, 1.0, 0.0, 0.0, 0.0)
    found = plan_path(PathRequest("lab-hexapod", None, raised, 2.0, tmp_path / "path.csv", step=0.1))
    assert found.best.peak <= found.best.straight_peak * (1.0 + 1e-9)
    table = np.loadtxt(found.motion, delimiter=",", skiprows=1)
    assert table.shape == (21, 20) and np.allclose(table[-1, 1:8], raised, atol=1e-9)
    with pytest.raises(FieldError, match="step: 3 s must be at most"):
        PathRequest("lab-hexapod", None, None, 2.0, tmp_path / "x.csv", step=3.0)
    with pytest.raises(FieldRefusedError) as beyond:
        plan_path(PathRequest("lab-hexapod", None, (0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0), 2.0, tmp_path / "x.csv"))
    assert beyond.value.field == "end" and not (tmp_path / "x.csv").exists()


def test_leg_forces_move_a_platform(tmp_path: Path) -> None:
    forces = tmp_path / "forces.csv"
    forces.write_text("t,f1,f2,f3,f4,f5,f6\n0,0,0,0,0,0,0\n0.01,0,0,0,0,0,0\n5,0,0,0,0,0,0\n", encoding="utf-8")
    home = (0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0)
    found = simulate_forces(ForcesRequest("lab-hexapod", forces, home, tmp_path / "motion.csv"))
    assert (found.rows, found.of) == (2, 3) and found.departure is not None, "it falls out of its strokes"
    table = np.loadtxt(found.motion, delimiter=",", skiprows=1)
    assert 0.0 < table[0, 3] - table[1, 3] < 0.5 * 9.81 * 0.01**2
    with pytest.raises(FieldError, match="step: 0 s must be greater"):
        ForcesRequest("lab-hexapod", forces, home, tmp_path / "x.csv", step=0.0)


def test_controllers_are_compared_in_the_closed_loop(tmp_path: Path) -> None:
    motion = write_motion(MotionRequest("virtual", "sine", tmp_path / "up.toml", {"axes": ("z",), "amplitude": 0.01}))
    events: list[Event] = []
    request = LoopsRequest("virtual", str(motion.trajectory), ("pd", "force"))
    found = compare_loops(request, events.append)
    pd, force = found.runs
    assert (pd.controller, force.controller) == ("pd", "force") and force.position[0] < 0.1 * pd.position[0]
    told = [event for event in events if isinstance(event, Progress)]
    assert [(event.values["controller"], event.done, event.total) for event in told] == [("pd", 0, 2), ("force", 1, 2)]


def test_the_model_is_applied_to_files(tmp_path: Path) -> None:
    raised = (0.0, 0.0, 0.47, 1.0, 0.0, 0.0, 0.0)
    motion = plan_path(PathRequest("lab-hexapod", None, raised, 2.0, tmp_path / "path.csv", step=0.5)).motion
    found = inverse(InverseRequest("lab-hexapod", motion, tmp_path / "forces.csv", peaks=True))
    forces = np.loadtxt(found.forces, delimiter=",", skiprows=1)[:, 1:]
    machine = load_config("virtual").machine
    rows = np.loadtxt(motion, delimiter=",", skiprows=1)[:, 1:]
    np.testing.assert_allclose(forces[0], Dynamics(machine).forces(rows[0]), rtol=1e-9)
    assert found.peaks is not None and max(peak.magnitude for peak in found.peaks) > np.abs(forces).max()
    legs = inverse_kinematics(LegLengthsRequest("lab-hexapod", motion, tmp_path / "legs.csv"))
    home = (0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0)
    back = follow_poses(PosesRequest("lab-hexapod", legs.legs, tmp_path / "back.csv", home))
    np.testing.assert_allclose(np.loadtxt(back.motion, delimiter=",", skiprows=1)[:, 1:], rows, atol=1e-8)
    every = find_all_poses(AllPosesRequest("lab-hexapod", legs.legs, tmp_path / "all.csv"))
    assert len(every.modes) == len(every.times) == legs.rows == 5 and min(map(len, every.modes)) > 1
    with pytest.raises(FieldError, match="reactions"):
        InverseRequest("lab-hexapod", motion, tmp_path / "x.csv", model="massless", reactions=True)


def test_a_log_becomes_a_recording(tmp_path: Path) -> None:
    log, times = tmp_path / "log.csv", np.arange(0.0, 2.0, 0.01)
    lengths = leg_lengths(load_config("virtual").machine.geometry, load_config("virtual").machine.geometry.home_pose)
    rows = np.column_stack([times, np.tile(lengths, (len(times), 1))])
    np.savetxt(log, rows, delimiter=",", header="t,l1,l2,l3,l4,l5,l6", comments="")
    looked = import_log(ImportRequest("virtual", log, dry_run=True))
    assert looked.recording is None and list(tmp_path.iterdir()) == [log]
    made = import_log(ImportRequest("virtual", log))
    assert made.recording == tmp_path / "log.mcap" and open_recording(made.recording).rows.size == len(times)
    assert made.log.summary()["rate_hz"] == looked.log.summary()["rate_hz"] == pytest.approx(100.0)
    with pytest.raises(InputError, match="it exists already"):
        import_log(ImportRequest("virtual", log))


def test_nobody_who_answers_is_an_error_with_what_was_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(NoAnswerError) as none:
            scan(ScanRequest(place, units=(1, 2), timeout=0.01))
    assert (none.value.target, none.value.asked, none.value.units) == (place, 1, 2)
    with pytest.raises(InputError, match="parities"):
        ScanRequest(place, parities=("mark",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="of a serial port"):
        ScanRequest(place, bauds=(9600,))


def test_the_doctor_tells_each_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rig.toml").write_text("name = 3\n", encoding="utf-8")
    events: list[Event] = []
    found = doctor(DoctorRequest(str(tmp_path / "rig.toml")), events.append)
    assert "configuration" in found.failed and found.findings[0].name == "Python"
    assert [event.values["finding"] for event in events if isinstance(event, Progress)] == list(found.findings)


def test_a_study_of_a_paper_is_reproduced(tmp_path: Path) -> None:
    (name, *_others) = [study for study in paper_studies() if study == "lee-1982"]
    found = reproduce_papers(PaperRequest((name,), tmp_path))
    assert found.page == tmp_path / f"{name}.html" and all(path.exists() for path in (found.page, *found.figures))
    assert list(found.as_dict()["claims"]) == [name] and found.tables
    with pytest.raises(FieldError, match="newton-1687"):
        PaperRequest(("newton-1687",))


@pytest.mark.usefixtures("undrawn_reports")
def test_a_demonstration_is_run_and_recorded(tmp_path: Path) -> None:
    phases: list[Event] = []
    found = demo(DemoRequest(4.0, lockstep=True, exact=True, output=tmp_path), phases.append)
    assert found.last.error is None and found.identified is None
    assert found.last.recording.parent == tmp_path and found.last.report.exists()
    assert found.last.summary["validation"]["verdict"] == "pass"
    assert any(event.stage == "rig" and event.fraction for event in phases if isinstance(event, Progress))
    with pytest.raises(FieldError, match="nothing to identify"):
        DemoRequest(exact=True, identify=True)


@pytest.mark.usefixtures("undrawn_reports")
def test_a_motion_is_run_smaller_and_slower(tmp_path: Path) -> None:
    numbers = {"axes": ("z",), "amplitude": 0.01, "frequency": 1.0, "cycles": 2}
    motion = write_motion(MotionRequest("virtual", "sine", tmp_path / "up.toml", numbers)).trajectory
    found = run(RunRequest("virtual", str(motion), 0.5, 0.5, lockstep=True, operator="A. Weber", output=tmp_path))
    assert found.error is None
    recording = open_recording(found.recording)
    heights = recording.rows["reference"][recording.rows["state"] == State.RUNNING][:, 2]
    assert 0.9e-2 < np.ptp(heights) < 1.001e-2
    assert recording.header["operator"] == "A. Weber"
    with pytest.raises(InputError, match="speed"):
        RunRequest("virtual", "demo", speed=0.05)


def test_a_configuration_is_written_and_its_drives_are_asked(tmp_path: Path) -> None:
    draft = Draft(name="mine", virtual=True, drives=tuple(DriveAddress("127.0.0.1", port) for port in free_ports(6)))
    made = set_up(SetupRequest(draft, tmp_path / "mine.toml"))
    assert (made.name, made.config) == ("mine", tmp_path / "mine.toml") and made.config.read_text() == made.text
    with pytest.raises(InputError, match="exists already"):
        set_up(SetupRequest(draft, tmp_path / "mine.toml"))
    profile = tmp_path / "drive.toml"
    profile.write_text("name = 'x'")
    with pytest.raises(InputError, match="give the configuration another name"):
        set_up(SetupRequest(replace(draft, profile=str(profile)), profile, overwrite=True))
    assert profile.read_text() == "name = 'x'"
    answer = probe(ProbeRequest(str(made.config)))
    assert answer.probe.passed and sorted(answer.new_serials) == [1, 2, 3, 4, 5, 6]
    tested = move_leg(LegRequest(str(made.config), 3, travel=0.001, home=True))
    assert tested.result.passed and tested.result.leg == 3 and tested.recording.exists()
    assert not tested.provable, "a virtual rig has no wiring"
