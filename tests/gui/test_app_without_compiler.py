"""The app's own process stays small: what computes is loaded by the processes of its workers."""

import os
import subprocess
import sys
from pathlib import Path


def test_an_app_that_is_used_loads_neither_compiler_nor_scipy(tmp_path: Path) -> None:
    program = Path(__file__).with_name("app_without_compiler.py")
    path = os.pathsep.join([str(program.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=600.0,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"
