"""`rig demo` with every kind of drives, of several durations, as built and exact, on the machine's clock and paced.

`make test` has one of them. EXPLORE=1 runs all, two at a time in some 20 minutes, and prints a table:

    EXPLORE=1 pytest -s --timeout=0 tests/integration/test_demo_grid.py

GRID_DRIVES=canopen,mixed chooses kinds of drives, GRID_TIME=real or paced how time passes (without it tcp and canopen
run in both), GRID_AT_A_TIME how many run beside one another (1 where all are in real time), GRID_LOOPS how many busy
loops beside them all.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from exploration import LONG

KINDS = tuple((os.environ.get("GRID_DRIVES") or "tcp,servo,orca,iai,jrk-g2,mixed,canopen").split(","))
DURATIONS = (4, 6, 20)
TIME = os.environ.get("GRID_TIME") or ""
PACED = KINDS if TIME in ("", "paced") else ()
IN_REAL_TIME = KINDS if TIME == "real" else tuple(one for one in ("tcp", "canopen") if one in KINDS and not TIME)
AT_A_TIME = int(os.environ.get("GRID_AT_A_TIME") or (1 if TIME == "real" else 2))
LOOPS = int(os.environ.get("GRID_LOOPS") or 0)
SHORT = [("servo", 4, True, False)]
ALL = [
    *((drives, duration, exact, False) for drives, duration, exact in product(PACED, DURATIONS, (False, True))),
    *((drives, duration, exact, True) for drives, duration, exact in product(IN_REAL_TIME, DURATIONS, (False, True))),
]
"""Drives, s of the motion, whether the plant is the model, whether in real time."""
PATIENCE = 900.0  # s; a machine that has to compile the model first takes minutes


@dataclass(frozen=True)
class Row:
    """One demonstration: how it ended, what it said of its motion and of its end, and what its report says."""

    case: tuple[str, int, bool, bool]
    code: int
    words: str
    summary: dict[str, Any]

    @property
    def explained(self) -> str:
        """Worst RMS residual, N, and what of it is expected or within the bound of its noise."""
        validation = self.summary.get("validation") or {}
        rms = max((leg["rms_n"] or 0.0 for leg in validation.get("legs", [])), default=0.0)
        if validation.get("expected_n"):
            return f"{rms:6.2f} of {validation['expected_n']:6.2f} N"
        noise = validation.get("noise_n") or 0.0
        return f"{rms:6.2f} of {1.5 * noise:6.2f} N"

    def __str__(self) -> str:
        drives, duration, exact, real_time = self.case
        validation, force = self.summary.get("validation") or {}, self.summary.get("force", {"legs": []})
        peak = max((leg["peak_residual_n"] or 0.0 for leg in force["legs"]), default=0.0)
        replies = self.summary.get("cycle", {}).get("replies", {})
        return (
            f"{drives:8s} {duration:3d} s {'exact   ' if exact else 'as built'} {'real' if real_time else 'paced':5s} "
            f"exit {self.code} {validation.get('verdict')!s:9s} rms {self.explained} peak {peak:5.1f} N | "
            f"{self.words} {replies or ''}"
        )


def demonstrate(case: tuple[str, int, bool, bool], folder: Path) -> Row:
    """Run `rig demo` and read its numbers; what it prints is kept beside its recording."""
    drives, duration, exact, real_time = case
    target = folder / f"{drives}-{duration}-{'exact' if exact else 'built'}-{'real' if real_time else 'paced'}"
    target.mkdir()
    options = [*(["--exact"] if exact else []), *(["--real-time"] if real_time else [])]
    command = ["demo", "--drives", drives, "--duration", str(duration), "--json", *options]
    rig = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())"]
    try:
        started = subprocess.run(
            [*rig, *command, "-o", str(target)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Row(case, -1, f"not done after {PATIENCE:g} s", {})
    (target / "output.txt").write_text(started.stdout + started.stderr, encoding="utf-8")
    lines = started.stderr.splitlines()
    motion = next((line for line in lines if "% of its size" in line), "").removeprefix("the motion is run at ")
    error = next((line for line in lines if line.startswith("error:")), "")
    summary = json.loads(started.stdout) if started.stdout else {}
    return Row(case, started.returncode, "; ".join(filter(None, (motion, error))), summary)


@pytest.fixture
def busy_loops() -> Iterator[None]:
    """Other programs that compute all the time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("busy_loops")
def test_every_demonstration_ends_well_and_its_residuals_are_explained(tmp_path: Path) -> None:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        rows = []
        for row in pool.map(lambda case: demonstrate(case, tmp_path), ALL if LONG else SHORT):
            rows.append(row)
            print(f"\n{row}" if len(rows) == 1 else row, flush=True)
    assert [row.case for row in rows if row.code != 0] == []
    assert [row.case for row in rows if (row.summary.get("validation") or {}).get("verdict") in (None, "fail")] == []
