"""`rig identify` of a minute at 500 Hz: processor time and memory of the command; `make bench`.

IDENTIFY_RECORDING=FILE.mcap takes another recording; left out: the virtual rig on a motion of `rig excite`.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

DURATION = 60.0  # s
ROUNDS = 3
BOUND = 3.0  # s of the processor, on a machine that has nothing else to do
MOST_MEMORY = 600.0  # MB
_RUN = """import sys
from rig.cli import main
code = main(sys.argv[1:])
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
assert code == 0, code
"""


def run(*arguments: object) -> tuple[float, float]:
    """Processor time, s, and memory at most, MB, of a command of `rig`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # every module that was changed would be compiled each time
    command = [sys.executable, "-c", _RUN, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600.0, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, int(done.stdout.split()[-1]) / 1024.0


@pytest.mark.timeout(900)
def test_a_minute_is_identified_in_seconds(tmp_path: Path) -> None:
    given = os.environ.get("IDENTIFY_RECORDING")
    if given is None:
        motion = tmp_path / "motion.toml"
        run("excite", "virtual", "-o", motion, "--duration", DURATION, "--candidates", 2, "--steps", 0)
        run("run", "virtual", motion, "--lockstep", "-o", tmp_path)
        (recording,) = tmp_path.glob("*.mcap")
    else:
        recording = Path(given)
    run("identify", recording)  # compiles the model where that was not done
    found = [run("identify", recording) for _ in range(ROUNDS)]
    times, memory = [each[0] for each in found], max(each[1] for each in found)
    print(
        f"\nrig identify of {DURATION:.0f} s at 500 Hz: {', '.join(f'{each:.2f}' for each in times)} s of the processor"
    )
    print(f"  {memory:.0f} MB at most")
    assert min(times) < BOUND
    assert memory < MOST_MEMORY
