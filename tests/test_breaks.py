"""The deliberate breaks of `make mutants` fit the source, and name tests that there are."""

import subprocess
import sys
from pathlib import Path

MUTANTS = Path(__file__).parent / "mutants"
CHECK = """
import sys
from pathlib import Path
import breaks, table
print("\\n".join(breaks.check(table.BREAKS, Path(sys.argv[1]))))
"""


def test_every_break_fits_and_names_a_test() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(MUTANTS.parent.parent)],
        cwd=MUTANTS,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr
