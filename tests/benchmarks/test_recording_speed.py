"""Reports on long recordings beside a mere pass over the file by the mcap library, and the memory they take.

`make bench`. REPORT_MINUTES=60 takes an hour at 500 Hz; left out: 4 minutes.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcap.reader import make_reader

from rig.recording import RecordingWriter

sys.path.insert(0, str(Path(__file__).parents[1] / "rig"))
from synthetic_rows import make_header, make_rows

RATE = 500.0
MINUTES = float(os.environ.get("REPORT_MINUTES", "4"))
MEGABYTE = 1024.0
_PEAK = """
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
_MEASURE = """import sys
from rig.cli import main
assert main(sys.argv[1:]) == 0
"""
_COMPARE = """import sys
from pathlib import Path
from gui.models.recordings import open_with_numbers
first, second = open_with_numbers(Path(sys.argv[1])), open_with_numbers(Path(sys.argv[1]), replayed=False)
"""


def record(path: Path, minutes: float) -> Path:
    """A session of so many minutes, its rows repeated minute by minute."""
    rows = make_rows(60.0, RATE)
    with RecordingWriter(path, make_header(RATE)) as writer:
        for minute in range(round(minutes)):
            rows["t"] += 60.0 * (minute > 0)
            rows["cycle"] += round(60.0 * RATE) * (minute > 0)
            writer.write_rows(rows)
    return path


def run(code: str, *arguments: object) -> tuple[float, float]:
    """s and MB that a process takes."""
    begun = time.perf_counter()
    command = [sys.executable, "-c", code + _PEAK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - begun, int(done.stdout.split()[-1]) / MEGABYTE


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("long")
    return record(folder / "one.mcap", MINUTES / 4), record(folder / "four.mcap", MINUTES)


def test_a_report_beside_a_pass_over_the_file_and_its_memory(recordings: tuple[Path, Path]) -> None:
    short, long = recordings
    begun = time.perf_counter()
    with open(long, "rb") as file:
        messages = sum(1 for _ in make_reader(file).iter_messages())
    alone = time.perf_counter() - begun
    (first, before), (elapsed, after) = (run(_MEASURE, "report", path) for path in (short, long))
    print(f"\nreport on {messages} rows: {elapsed:.1f} s, the mcap library's pass alone {alone:.1f} s")
    print(f"  ratio {elapsed / alone:.2f}; {after:.0f} MB, on a quarter of it {before:.0f} MB in {first:.1f} s")
    assert messages == round(MINUTES) * 60 * RATE
    assert elapsed - first < 3.0 * alone  # what the start and the figures take, both have
    assert after < before + 20.0 and after < 600.0


def test_an_export_takes_no_more_memory_for_a_longer_recording(recordings: tuple[Path, Path], tmp_path: Path) -> None:
    (first, before), (elapsed, after) = (run(_MEASURE, "export", p, "-o", tmp_path / "rows.csv") for p in recordings)
    print(f"\nexport: {elapsed:.1f} s, {after:.0f} MB; of a quarter {first:.1f} s, {before:.0f} MB")
    assert after < before + 20.0 and after < 600.0


def test_two_recordings_compared_in_the_app_take_less_than_a_gigabyte(recordings: tuple[Path, Path]) -> None:
    elapsed, after = run(_COMPARE, recordings[1])
    print(f"\ntwo recordings opened and compared: {elapsed:.1f} s, {after:.0f} MB")
    assert after < 1000.0
