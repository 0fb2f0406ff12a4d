"""Inputs and outputs in a report: points, states at its ends, changes and what they made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_rows import make_header, make_rows

from rig.recording import Recording
from rig.report import summarize, summary_lines, write_report
from rig.states import FaultCode
from rig.telemetry import CycleFlag

RATE = 100.0
IO = {
    "block": {"host": "127.0.0.1", "port": 502},
    "inputs": {
        "emergency_stop": {"channel": 3, "leg": None, "name": None, "active": "high"},
        "safe_torque_off": {"channel": None, "leg": 2, "name": "sto", "active": "low"},
    },
    "outputs": {
        "enable": None,
        "brake": None,
        "brakes": [{"channel": 10 + leg, "leg": None} for leg in range(6)],
        "lamp": {"channel": 0},
    },
}
CLOSED = CycleFlag.EMERGENCY_STOP_CLOSED | CycleFlag.SAFE_TORQUE_OFF_CLOSED
ON = CycleFlag.BRAKE_RELEASED | CycleFlag.LAMP


def make_recording(io: Any = IO) -> Recording:
    """Torque from row 10 to 60; there the chain opens, at 62 the circuit of safe torque off; then a lamp flashes."""
    rows = make_rows(2.0, RATE)
    flags = np.full(len(rows), int(CLOSED))
    flags[10:60] |= int(ON)
    flags[60:] &= ~int(CycleFlag.EMERGENCY_STOP_CLOSED)
    flags[62:] &= ~int(CycleFlag.SAFE_TORQUE_OFF_CLOSED)
    flags[60:] |= int(CycleFlag.LATCHED)
    flags[70::20] |= int(CycleFlag.LAMP)
    rows["flags"] |= flags.astype(rows["flags"].dtype)
    rows["flags"] &= ~np.array(int(CycleFlag.ENABLE), rows["flags"].dtype)
    rows["fault"][60:] = FaultCode.EMERGENCY_STOP
    header = make_header(RATE)
    header["config"]["io"] = io
    return Recording(
        path=Path("run.mcap"), header=header, rows=rows, events=(), dropped=0, complete=True, closing={}, motions=()
    )


@pytest.mark.parametrize("block", [1, 7, 30, 4096])
def test_points_and_their_changes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.recording.reader._BLOCK", block)
    recording = make_recording()
    found = summarize(recording)["io"]
    t = recording.rows["t"]
    assert [(point["name"], point["kind"], point["begin"], point["end"]) for point in found["points"]] == [
        ("emergency_stop", "input", True, False),
        ("safe_torque_off", "input", True, False),
        ("brake", "output", False, False),
        ("lamp", "output", False, bool(recording.rows["flags"][-1] & CycleFlag.LAMP)),
    ]
    assert [point["changes"] for point in found["points"]] == [1, 1, 2, 2]  # without those of a flashing lamp
    assert [tuple(change.values()) for change in found["changes"]] == [
        (t[10], "brake", True, None),
        (t[10], "lamp", True, None),
        (t[60], "emergency_stop", False, "EMERGENCY_STOP"),
        (t[60], "brake", False, None),
        (t[60], "lamp", False, None),
        (t[62], "safe_torque_off", False, None),
    ]


def test_the_page_and_the_lines_have_them(tmp_path: Path, undrawn_reports: None) -> None:
    recording = make_recording()
    summary = summarize(recording)
    write_report(recording, tmp_path / "report.html", summary=summary)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    section = page[page.index('<section id="io">') :]
    section = section[: section.index("</section>")]
    for text in (
        "channel 3",
        "sto of leg 2",
        "channels 10, 11, 12, 13, 14, 15",
        "released",
        ">emergency stop</td></tr>",
    ):
        assert text in section
    assert "inputs     emergency stop open at the end, 1 change, safe torque off open at the end, 1 change" in (
        summary_lines(summary)
    )


@pytest.mark.parametrize(
    "io", [None, 7, {}, {"inputs": 3, "outputs": []}, {"inputs": {"emergency_stop": 1}, "outputs": {"x": {"leg": 1}}}]
)
def test_a_recording_without_points_has_no_section(io: Any, tmp_path: Path, undrawn_reports: None) -> None:
    recording = make_recording(io)
    summary = summarize(recording)
    assert summary["io"] is None
    write_report(recording, tmp_path / "report.html", summary=summary)
    assert 'id="io"' not in (tmp_path / "report.html").read_text(encoding="utf-8")
