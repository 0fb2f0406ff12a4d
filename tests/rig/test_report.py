"""Reports: the numbers against plain definitions, the page on its own, whatever the recording."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from engine_support import HOME, Bench, bench, smooth_table
from scipy.spatial.transform import Rotation
from synthetic_rows import NOISE, make_header, make_rows

from rig.client import RunResult, describe
from rig.client.motions import checked_move
from rig.engine import Abandon, Park, Pause, Resume
from rig.errors import InputError
from rig.recording import EventLevel, MotionRecord, RecordedEvent, Recording
from rig.report import summarize, write_report
from rig.states import FaultCode, MotionKind, State, StopSeverity
from rig.telemetry import ROW, CycleFlag

RATE = 250.0
SKIPPED = (300, 301, 900)


def make_recording(
    rows: npt.NDArray[np.void],
    *,
    events: tuple[RecordedEvent, ...] = (),
    motions: tuple[MotionRecord, ...] = (),
    complete: bool = True,
    **header: Any,
) -> Recording:
    return Recording(
        path=Path("run.mcap"),
        header={**make_header(RATE), **header},
        rows=rows,
        events=events,
        dropped=0,
        complete=complete,
        closing={"verdict": "finished"},
        motions=motions,
    )


@pytest.fixture(scope="module")
def recording() -> Recording:
    events = (
        RecordedEvent(0.0, EventLevel.INFO, 0, "recording <run.mcap> & more"),
        RecordedEvent(3.0, EventLevel.WARNING, 0, "late"),
        RecordedEvent(4.0, 7, 0, "unknown level"),
    )
    return make_recording(make_rows(8.0, RATE, skipped=SKIPPED), events=events)


@pytest.fixture(scope="module")
def summary(recording: Recording) -> dict[str, Any]:
    return summarize(recording)


def with_fault(rows: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    rows = rows.copy()
    rows["fault"][1000:] = FaultCode.FORCE_RESIDUAL
    rows["fault_leg"][1000:] = 3
    rows["stop"][1000:] = StopSeverity.CATEGORY_1
    rows["state"][1000:1100] = State.STOPPING
    rows["state"][1100:] = State.FAULT
    return rows


def test_cycle_numbers(recording: Recording, summary: dict[str, Any]) -> None:
    cycle = summary["cycle"]
    assert cycle["rate_hz"] == RATE
    assert cycle["cycles"] == len(recording.rows) == 8 * RATE - 3
    assert cycle["overruns"] == 3
    error = np.abs(recording.rows["period"][1:] - 1 / RATE)
    assert cycle["period_error_p99_us"] == pytest.approx(np.percentile(error, 99) * 1e6)
    assert cycle["period_error_max_us"] == pytest.approx(error.max() * 1e6)
    for key, field in (("lateness", "lateness"), ("exchange", "exchange_time"), ("compute", "compute_time")):
        assert cycle[f"{key}_p50_us"] == pytest.approx(np.median(recording.rows[field]) * 1e6)
    assert summary["recording"]["rows"] == len(recording.rows)
    assert summary["recording"]["dropped"] == 0


def test_tracking_covers_the_running_part(recording: Recording, summary: dict[str, Any]) -> None:
    running = np.flatnonzero(recording.rows["state"] == State.RUNNING)
    rows = recording.rows[running]
    assert summary["window"] == {
        "covers": "the longest motion",
        "states": ["RUNNING"],
        "span": [running[0], running[-1] + 1],
        "rows": len(rows),
        "begin_s": rows["t"][0],
        "end_s": rows["t"][-1],
        "motion": summary["motion"]["id"],
        "overruns": int(rows["overruns"][-1] - rows["overruns"][0]),
        "speed": rows["path_rate"].max(),
        "period_error_p99_s": pytest.approx(np.percentile(np.abs(rows["period"] - 1 / 250.0), 99)),
    }
    position = rows["pose"][:, :3] - rows["reference"][:, :3]
    assert summary["tracking"]["position_rms_m"] == pytest.approx(np.sqrt((position**2).sum(axis=1).mean()))
    reference = Rotation.from_quat(rows["reference"][:, 3:7], scalar_first=True)
    measured = Rotation.from_quat(rows["pose"][:, 3:], scalar_first=True)
    angle = (reference.inv() * measured).magnitude()
    assert summary["tracking"]["rotation_rms_rad"] == pytest.approx(np.sqrt((angle**2).mean()), rel=1e-9)
    assert summary["tracking"]["rotation_max_rad"] == pytest.approx(angle.max(), rel=1e-9)


def test_forces_per_leg(recording: Recording, summary: dict[str, Any]) -> None:
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    assert len(summary["force"]["legs"]) == 6
    for index, leg in enumerate(summary["force"]["legs"]):
        residual = rows["force_measured"][:, index] - rows["force_model"][:, index]
        assert leg["leg"] == index + 1
        assert leg["rms_measured_n"] == pytest.approx(np.sqrt(np.mean(rows["force_measured"][:, index] ** 2)))
        assert leg["rms_residual_n"] == pytest.approx(np.sqrt(np.mean(residual**2)))
        assert leg["bias_n"] == pytest.approx(residual.mean())
        assert leg["noise_ratio"] == pytest.approx(leg["rms_residual_n"] / NOISE)
        assert leg["peak_measured_n"] == np.abs(rows["force_measured"][:, index]).max()
    assert summary["force"]["noise_n"] == NOISE


def test_the_state_timeline_is_without_gaps(summary: dict[str, Any]) -> None:
    states = [stretch["state"] for stretch in summary["states"]]
    expected = "IDLE HOMING PARKED ENGAGING ENGAGED RUNNING ENGAGED PARKING PARKED"
    assert states == expected.split()
    ends = [stretch["end_s"] for stretch in summary["states"]]
    assert [stretch["begin_s"] for stretch in summary["states"]] == [0.0, *ends[:-1]]
    assert summary["faults"] == []
    assert summary["events"][1] == {"t_s": 3.0, "level": 30, "code": 0, "kind": "", "text": "late", "finding": None}


def test_a_fault_is_named_with_its_leg_and_stop() -> None:
    rows = with_fault(make_rows(8.0, RATE))
    assert summarize(make_recording(rows))["faults"] == [
        {
            "t_s": 4.0,
            "fault": "FORCE_RESIDUAL",
            "leg": 3,
            "state": "STOPPING",
            "stop": "CATEGORY_1",
            "cause": "force residual of leg 3",
        }
    ]


def test_without_a_run_the_powered_part_counts() -> None:
    rows = make_rows(4.0, RATE)
    rows["state"][rows["state"] == State.RUNNING] = State.ENGAGED
    summary = summarize(make_recording(rows))
    assert summary["window"]["covers"].startswith("ENGAGING, ENGAGED and PARKING") and not summary["motions"]
    assert summary["window"]["rows"] == np.isin(rows["state"], [4, 5, 7]).sum()


def test_values_that_are_not_finite_are_left_out(recording: Recording) -> None:
    rows = recording.rows.copy()
    running = np.flatnonzero(rows["state"] == State.RUNNING)
    rows["force_measured"][running[5], 2] = rows["force_residual"][running[5], 2] = np.nan
    rows["pose"][running[7]] = np.nan
    rows["period"][0] = np.nan
    summary = summarize(make_recording(rows))
    json.dumps(summary, allow_nan=False)
    kept = np.delete(rows["force_measured"][running, 2], 5)
    assert summary["force"]["legs"][2]["rms_measured_n"] == pytest.approx(np.sqrt(np.mean(kept**2)))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_hardly_any_rows(tmp_path: Path, count: int) -> None:
    empty = make_recording(make_rows(4.0, RATE)[:count], complete=False)
    summary = summarize(empty)
    json.dumps(summary, allow_nan=False)
    assert summary["tracking"]["position_rms_m"] is None
    write_report(empty, tmp_path / "empty.html", summary=summary)
    assert "cut off" in (tmp_path / "empty.html").read_text()


def test_a_recording_without_a_configuration(tmp_path: Path) -> None:
    rows = make_rows(4.0, RATE)
    bare = Recording(Path("bare.mcap"), {}, rows, (), 0, False, {})
    summary = summarize(bare)
    assert summary["cycle"]["rate_hz"] == pytest.approx(RATE)
    assert summary["force"]["noise_n"] is None
    assert summary["force"]["legs"][0]["noise_ratio"] is None
    write_report(bare, tmp_path / "bare.html", summary=summary)
    words = Page((tmp_path / "bare.html").read_text()).words
    assert "bare" in words
    assert "worst leg" in words


class Page(HTMLParser):
    """What a page refers to and says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.references: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("link", "iframe", "object", "embed")
        assert tag != "script" or [name for name, _ in attrs] in ([], ["type", "id"])
        if tag == "img":
            self.images.append(dict(attrs))
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())


@pytest.fixture(scope="module")
def report(recording: Recording, summary: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(recording, path, summary=summary)
    assert [item.name for item in path.parent.iterdir()] == ["report.html"]
    assert path.stat().st_size < 5_000_000
    return path


@pytest.fixture(scope="module")
def page(report: Path) -> Page:
    return Page(report.read_text(encoding="utf-8"))


def test_the_page_needs_nothing_else(page: Page) -> None:
    assert len(page.images) == 7
    assert all(reference.startswith("data:image/svg+xml;base64,") for reference in page.references)
    for image in page.images:
        assert image["alt"]
        svg = base64.b64decode((image["src"] or "").partition(",")[2])
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_the_page_says_what_happened(page: Page, summary: dict[str, Any]) -> None:
    assert "The trajectory ran without a fault" in page.words
    assert "recording <run.mcap> & more" in page.words
    assert f"{summary['force']['legs'][4]['rms_residual_n']:.3f}" in page.words
    assert f"{summary['cycle']['exchange_p99_us']:.1f}" in page.words
    assert any('name = "lab-hexapod"' in word for word in page.words)
    assert any("2023-11-14 22:13:20 UTC" in word for word in page.words)


def test_the_same_recording_gives_the_same_page(
    recording: Recording, summary: dict[str, Any], report: Path, tmp_path: Path
) -> None:
    write_report(recording, tmp_path / "again.html", summary=summary)
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


VERDICTS: list[tuple[str, Callable[[npt.NDArray[np.void]], Recording]]] = [
    ("Stopped at 4.000 s: force residual of leg 3", lambda rows: make_recording(with_fault(rows))),
    ("No fault, but no trajectory ran", lambda rows: make_recording(rows[:200])),
    ("on a simulated clock", lambda rows: make_recording(rows[:200], clock={"wall_ns": 0})),
]


@pytest.mark.parametrize(("text", "make"), VERDICTS, ids=["fault", "no run", "simulated"])
def test_verdicts(tmp_path: Path, text: str, make: Callable[[npt.NDArray[np.void]], Recording]) -> None:
    made = make(make_rows(8.0, RATE))
    write_report(replace(made, rows=made.rows[:1]), tmp_path / "v.html", summary=summarize(made))  # without pictures
    assert text in (tmp_path / "v.html").read_text()


def _run(rig: Bench) -> None:
    rig.follow(smooth_table(1.0), "demo")
    rig.until(State.ENGAGED)


def _jog(rig: Bench) -> None:
    target = HOME + np.array([0.002, 0.0, -0.003, 0.0, 0.0, 0.0, 0.0])
    for here, there in ((HOME, target), (target, HOME)):
        rig.follow(checked_move(rig.config, here, there, 0.02, 0.2), "jog", MotionKind.JOG)
        rig.until(State.ENGAGED)


def _pause(rig: Bench) -> None:
    rig.follow(smooth_table(1.0), "demo")
    rig.run(0.3)
    rig.request(Pause())
    rig.until(State.ENGAGED)


def _resume(rig: Bench) -> None:
    _pause(rig)
    rig.request(Resume())
    rig.until(State.ENGAGED)


def _abandon(rig: Bench) -> None:
    _pause(rig)
    rig.request(Abandon())


def _park(rig: Bench) -> None:
    rig.request(Park())
    rig.until(State.PARKED)


JOGS = "No fault; only jogs and moves were run"
ENDINGS: list[tuple[list[Callable[[Bench], None]], str, str]] = [
    ([_jog], "neutral", JOGS),
    ([_jog, _run, _jog], "good", "The trajectory ran without a fault"),
    ([_jog, _resume], "good", "The trajectory ran without a fault"),
    ([_jog, _abandon], "neutral", "The motion 'demo' was abandoned at PLACE of 1.000 s"),
    ([_run, _abandon], "neutral", "The motion 'demo' was abandoned at PLACE of 1.000 s"),
    ([_pause, _park], "neutral", "The motion 'demo' was abandoned at PLACE of 1.000 s"),
]


@pytest.mark.parametrize(("acts", "kind", "verdict"), ENDINGS)
def test_the_headline_says_how_the_longest_motion_ended(
    tmp_path: Path, acts: list[Callable[[Bench], None]], kind: str, verdict: str
) -> None:
    """By what was recorded of the motions; by rows and sentences in recordings made before."""
    with bench(tmp_path) as rig:
        rig.engage()
        for act in acts:
            act(rig)
        rig.run(0.1)
        rows = rig.tap.take()
        events = tuple(
            RecordedEvent(one.t, EventLevel[one.level.upper()], one.code, one.text) for one in rig.tap.events
        )
    stood = rows["path_time"][rows["flags"] & CycleFlag.PAUSED != 0]
    place = f"{stood[-1]:.3f}" if len(stood) else ""
    made = make_recording(rows, events=events, motions=tuple({m.id: m for m in rig.tap.motions}.values()))
    _check_headline(made, tmp_path / "v.html", kind, verdict.replace("PLACE", place))
    rows["motion"] = 0
    if acts[-1] is _park:
        verdict = "No fault, but the motion did not finish: it reached PLACE s of its path"
    _check_headline(replace(made, motions=()), tmp_path / "v.html", kind, verdict.replace("PLACE", place))


def _check_headline(made: Recording, path: Path, kind: str, verdict: str) -> None:
    summary = summarize(made)
    json.dumps(summary, allow_nan=False)
    write_report(replace(made, rows=made.rows[:1]), path, summary=summary)  # without pictures
    text = path.read_text()
    assert verdict in Page(text).words
    assert f'<header class="{kind}">' in text


def test_a_report_that_cannot_be_written_leaves_nothing(
    recording: Recording, summary: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "taken.html").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        write_report(recording, tmp_path / "taken.html", summary=summary)
    assert [item.name for item in tmp_path.iterdir()] == ["taken.html"]


def test_the_powered_span_ends_with_the_last_powered_row() -> None:
    rows = np.zeros(6, ROW)
    rows["state"] = [State.IDLE, State.ENGAGING, State.FAULT, State.STOPPING, State.FAULT, State.IDLE]
    assert summarize(make_recording(rows))["powered"] == {"first_row": 1, "rows": 3}
    rows["state"] = State.IDLE
    assert summarize(make_recording(rows))["powered"] == {"first_row": 0, "rows": 6}


@pytest.mark.usefixtures("undrawn_reports")
def test_what_a_busy_machine_cost_is_said(tmp_path: Path) -> None:
    rows = make_rows(4.0, RATE)
    for closing, said in (({}, ""), ({"slower": 0.004}, ""), ({"slower": 0.07}, "7 % slower than real time")):
        recording = replace(make_recording(rows), closing=closing)
        summary = summarize(recording)
        assert summary["cycle"]["slower"] == closing.get("slower", 0.0)
        write_report(recording, tmp_path / "report.html", summary=summary)
        assert ("the machine was busy" in (tmp_path / "report.html").read_text()) == bool(said)
        paths = {"recording": "run.mcap", "report": "run.html"}
        printed = describe(RunResult(Path("run.mcap"), Path("run.html"), summary | {"paths": paths}))
        assert [line for line in printed.splitlines() if line.startswith("time ")] == (
            [f"time       the machine was busy: {said}"] if said else []
        )


@pytest.mark.parametrize(("mode", "wanted"), [("force", False), ("position", True)])
def test_a_report_says_what_is_compared_where_the_drives_close_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, wanted: bool
) -> None:
    monkeypatch.setattr("rig.report.html.figures", lambda *_arguments: {"residuals": "<svg></svg>"})
    made = make_recording(make_rows(1.0, RATE))
    made = replace(made, header=made.header | {"config": made.header["config"] | {"mode": mode}})
    write_report(made, tmp_path / "v.html", summary=summarize(made))
    said = "In position mode the drives close the loop and no force is commanded"
    assert (said in (tmp_path / "v.html").read_text(encoding="utf-8")) == wanted
