"""What a stand-alone twin takes while it waits: `make bench`, or this file."""

import os
import subprocess
import sys
import time
from pathlib import Path

from waiting import eventually

MEMORY = 90e6  # bytes
SHARE = 0.01  # of a core, with no client
SECONDS = 10.0
PATIENCE = 300.0  # s; the first start on a machine compiles the kernels


def resident(pid: int) -> int:
    """Bytes of a process in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def busy(pid: int) -> float:
    """s for which a process has had a core."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_twin_that_waits_is_small(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("w") as written:
        process = subprocess.Popen([sys.executable, "-m", "rig", "twin", "virtual", "--leg", "1"], stdout=written)
    try:
        eventually(lambda: "Ctrl-C ends it" in out.read_text(), "the twin to be served", PATIENCE)
        before = busy(process.pid)
        time.sleep(SECONDS)
        share = (busy(process.pid) - before) / SECONDS
        memory = resident(process.pid)
    finally:
        process.kill()
        process.wait()
    print(f"\na twin that waits: {memory / 1e6:.0f} MB, {100.0 * share:.1f} % of a core")
    assert memory <= MEMORY and share <= SHARE
