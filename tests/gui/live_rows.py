"""Telemetry of a running rig for the live views, made from sines, and recordings of it."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from dynamics import load_mechanism
from gui.models.timeline import Timeline
from rig.recording import RecordingWriter
from rig.states import State
from rig.telemetry import ROW, CycleFlag

RATE = 500.0
MECHANISM = load_mechanism("lab-hexapod")
BEGIN, MOTION, FAULT, END = 2.0, 25.0, 33.0, 39.998
"""s, of the recording of `write_moving`"""


def live_rows(count: int, begin: int = 0, *, offset: float = 0.0) -> npt.NDArray[np.void]:
    """Rows (count,) of cycles begin, begin + 1, …; leg i's measured force is 10 i + sin t, its residual `offset`."""
    rows = np.zeros(count, ROW)
    cycle = np.arange(begin, begin + count)
    t = cycle / RATE
    legs = np.arange(1, 7)
    rows["t"], rows["cycle"] = t, cycle
    rows["period"] = 1 / RATE
    rows["lateness"], rows["exchange_time"], rows["compute_time"] = 20e-6, 200e-6, 30e-6
    rows["state"] = State.RUNNING
    rows["flags"] = CycleFlag.FRESH | CycleFlag.HOMED | CycleFlag.POSE
    rows["condition"] = 4.0
    rows["force_measured"] = 10.0 * legs + np.sin(t)[:, None]
    rows["force_model"] = rows["force_measured"] - offset
    rows["force_residual"] = offset
    rows["terms"] = rows["force_model"][:, None, :] / 5
    rows["length_reference"] = 0.5
    rows["length"] = 0.5 + 1e-6 * legs
    rows["reference"][:, :7] = [0.01, 0.02, 0.45, 1, 0, 0, 0]
    rows["pose"] = [0.011, 0.02, 0.45, 1, 0, 0, 0]
    return rows


def latest(timeline: Timeline, seconds: float) -> npt.NDArray[np.void]:
    """Rows of the last seconds before the newest one, that one included."""
    assert timeline.end is not None
    return timeline.window(timeline.end - seconds, timeline.end)


def write_recording(path: Path, rows: npt.NDArray[np.void]) -> Path:
    """A whole recording of these rows with one event."""
    header = {"rate": RATE, "config": {"name": "test", "rate": RATE}, "mechanism": MECHANISM.source}
    with RecordingWriter(path, header) as writer:
        writer.write_rows(rows)
        writer.event(float(rows["t"][0]), 20, 0, "the motion begins")
        writer.event(float(rows["t"][0]), 40, 5, "leg 2: restarted")
        writer.event(float(rows["t"][0]), 40, 99, "what a later program may write")
        writer.close({})
    return path


def write_moving(path: Path) -> Path:
    """A recording of forty seconds, a motion in the last fifteen, a fault in its middle."""
    rows = live_rows(19_000, 1000)
    rows["state"] = np.where(rows["t"] < MOTION, State.PARKED, State.RUNNING)
    rows["path_time"] = np.maximum(rows["t"] - MOTION, 0.0)
    with RecordingWriter(path, {"rate": RATE, "config": {"rate": RATE}, "mechanism": MECHANISM.source}) as writer:
        writer.write_rows(rows)
        writer.event(BEGIN, 20, 0, "connected")
        writer.event(FAULT, 40, 10, "leg 3: measured force is +31.0 N off the model's")
        writer.close({})
    return path
