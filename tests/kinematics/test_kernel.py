"""A kernel is an ordinary function until it is called; the compiler comes with the first."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kinematics import Kernel, kernel
from kinematics.compiled.compiling import SOURCES

ROOT = Path(__file__).parents[2]


@kernel
def half(x: float) -> float:
    """Half of a number."""
    return 0.5 * x


@kernel
def quarter(x: float) -> float:
    """Calls another one."""
    return half(half(x))


def test_it_reads_like_the_function_that_it_is_of() -> None:
    assert isinstance(quarter, Kernel)
    assert (quarter.__name__, quarter.__doc__, quarter.__module__) == ("quarter", "Calls another one.", __name__)
    assert quarter.py_func(8.0) == 2.0


def test_a_kernel_in_another_is_its_compiled_function() -> None:
    assert quarter(8.0) == 2.0
    assert isinstance(quarter, Kernel) and isinstance(half, Kernel)
    assert quarter.compiled.nopython_signatures and half.compiled.nopython_signatures


def test_whoever_uses_the_compiler_himself_may_call_kernels() -> None:
    program = (
        "import numba, kinematics; cross = kinematics.cross;"
        "mine = numba.njit(lambda x: cross(x, 0.0, 0.0, 0.0, 1.0, 0.0)[2]); print(mine(2.0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT, timeout=300.0
    )
    assert done.stdout == "2.0\n"


def test_all_threads_get_one_compiled_function() -> None:
    made = Kernel(lambda x: x + 1.0)
    ready, got = threading.Barrier(8), []

    def ask() -> None:
        ready.wait(10.0)
        got.append(made.compiled)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(got) == 8 and len({id(one) for one in got}) == 1


@pytest.mark.parametrize("arguments", [("1 N",), (), (1.0, 2.0)])
def test_arguments_of_other_types_are_refused(arguments: tuple[object, ...]) -> None:
    called: Any = half
    with pytest.raises(Kernel.unfit()):
        called(*arguments)


def test_the_compiler_is_imported_by_the_first_call(tmp_path: Path) -> None:
    program = (
        "import sys, kinematics, dynamics; print('numba' in sys.modules);"
        "kinematics.cross(1.0, 0.0, 0.0, 0.0, 1.0, 0.0); print('numba' in sys.modules);"
        "import numba; print(numba.config.CACHE_DIR)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    lines = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=300.0,
    ).stdout.splitlines()
    assert lines[:2] == ["False", "True"]
    assert Path(lines[2]).is_relative_to(tmp_path) and SOURCES in lines[2]
    assert list(tmp_path.rglob("*.nbi"))  # and what it compiled lies there
