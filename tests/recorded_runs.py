"""Recordings of several runs, made from numbers: cheap, and with as many runs as a test wants."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from validated import RATE, forces, header_with, make_running, noise

from rig.recording import INJECTED, MotionRecord, RecordingWriter
from rig.states import MotionKind, MotionOutcome

LENGTH = 3.0
"""s of each run"""
PAUSE = 1.0
"""s between two"""


def make_runs(
    path: Path,
    offsets: tuple[float, ...],
    *,
    close: bool = True,
    own: str = "",
    begun_ns: int = 0,
    called: str = "sway",
    **header: Any,
) -> Path:
    """A recording of a run for each offset, N, by which its measured forces are off the model; ids 1, 2, …

    The last one has no end where the recording is not closed. `own`: thresholds of the motions' file, JSON. `begun_ns`:
    wall clock of their beginning, 0 for recordings that have none. `called`: what they are, before their number.
    """
    count, between = round(LENGTH * RATE), round(PAUSE * RATE)
    model = forces(np.arange(count) / RATE)
    known = header_with(residual_rms=1.0)
    known["config_sha256"] = hashlib.sha256(json.dumps(known["config"], sort_keys=True).encode()).hexdigest()
    known |= {"operator": "A. Weber", "note": "first try"} | header
    writer = RecordingWriter(path, known)
    first = 0
    for number, offset in enumerate(offsets, start=1):
        rows = make_running(model + offset + noise(number, count), model)
        rows["motion"] = number
        rows["cycle"] += first
        rows["t"] = rows["cycle"] / RATE
        begin, end = float(rows["t"][0]), float(rows["t"][-1] + 1 / RATE)
        outcome = MotionOutcome.UNDERWAY
        name, amplitude = f"{called} {number}", 0.5 * number
        run = MotionRecord(number, MotionKind.RUN, outcome, begin, np.nan, 0.0, LENGTH, name, amplitude, own, begun_ns)
        writer.motion(run)
        writer.write_rows(rows)
        if number == 2:
            writer.event(begin + 0.5, 20, 0, f"{INJECTED}injected: leg 3 jammed, 300 N")
            writer.event(end + 0.2, 20, 0, f"{INJECTED}cleared: leg 3 jammed")
        if close or number < len(offsets):
            writer.motion(replace(run, outcome=MotionOutcome.FINISHED, end=end, reached=LENGTH))
        rest = rows[-1:].repeat(between)
        rest["motion"], rest["state"] = 0, 5
        rest["cycle"] = rows["cycle"][-1] + 1 + np.arange(between)
        rest["t"] = rest["cycle"] / RATE
        writer.write_rows(rest)
        first += count + between
    if close:
        writer.close({})
    else:
        writer.sync()
        writer.abandon()
    return path
