"""A kernel is an ordinary function until it is called; the compiler comes with the first."""

import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynamics import Dynamics, load_mechanism
from kinematics import Array, Kernel, inlined, interpreted, kernel
from kinematics.compiled.cache import SOURCES
from kinematics.trajectories.generators import minimum_jerk_kernel

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


@kernel
def allocating(x: float) -> float:
    """Makes an array."""
    made = np.zeros(3)
    made[0] = x
    return float(made.sum())


def test_a_kernel_that_allocates_is_refused() -> None:
    assert allocating.py_func(2.0) == 2.0  # type: ignore[attr-defined]
    with pytest.raises(Kernel.unfit(), match="zeros"):
        allocating(2.0)


@inlined
def entry(array: Array, i: int) -> float:
    """One number of an array."""
    return float(array[i])


@kernel
def passing_on(array: Array) -> float:
    """Pass an array on in a loop."""
    total = 0.0
    for i in range(len(array)):
        total += entry(array, i)
    return total


def test_no_references_are_counted_to_arrays_that_are_passed_on() -> None:
    array = np.arange(6.0)
    before = sys.getrefcount(array)
    assert passing_on(array) == 15.0 and sys.getrefcount(array) == before
    assert isinstance(passing_on, Kernel)
    (code,) = passing_on.compiled.inspect_llvm().values()
    assert "passing_on" in code and "NRT_incref" not in code and "NRT_decref" not in code


def test_whoever_uses_the_compiler_himself_may_call_kernels() -> None:
    program = (
        "import numba, kinematics; cross = kinematics.cross;"
        "mine = numba.njit(lambda x: cross(x, 0.0, 0.0, 0.0, 1.0, 0.0)[2]); print(mine(2.0))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT, timeout=300.0
    )
    assert done.stdout == "2.0\n"


def test_all_threads_get_one_compiled_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(function: Any, **_options: Any) -> Any:
        time.sleep(0.05)
        return lambda *arguments: function(*arguments)

    monkeypatch.setattr("kinematics.compiled.compiler.dispatcher", slow)
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
    assert made(1.0) == 2.0


def test_a_thread_interprets_until_another_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = threading.Event()

    def compiled(function: Any, **_options: Any) -> Any:
        def call(x: float) -> float:
            ready.wait(60.0)
            return -float(function(x))

        return call

    monkeypatch.setattr("kinematics.compiled.compiler.dispatcher", compiled)
    made = Kernel(lambda x: x + 1.0)
    with interpreted():
        with interpreted():
            assert made(1.0) == 2.0
        thread = threading.Thread(target=made, args=(1.0,))
        thread.start()
        assert made(1.0) == 2.0  # does not wait for the compiler
        ready.set()
        thread.join(60.0)
        assert made(1.0) == -2.0
    other = Kernel(lambda x: x + 1.0)
    assert other(1.0) == -2.0


def test_it_is_pickled_by_name_and_copied_as_itself() -> None:
    assert pickle.loads(pickle.dumps(quarter)) is quarter and copy.deepcopy(quarter) is quarter
    again = pickle.loads(pickle.dumps(minimum_jerk_kernel))  # its name is that of the function it is made of
    assert again(0.5) == minimum_jerk_kernel(0.5)


def test_a_closure_over_a_kernel_is_compiled() -> None:
    def made(inner: Any) -> Any:
        return kernel(lambda x: inner(x) + 1.0)

    assert made(half)(4.0) == 3.0


def test_dynamics_are_pickled_and_copied() -> None:
    dynamics = Dynamics(load_mechanism("lab-hexapod"))
    motion = np.zeros(19)
    motion[:7] = dynamics.mechanism.geometry.home_pose
    forces = dynamics.forces(motion).tolist()
    for other in (copy.deepcopy(dynamics), pickle.loads(pickle.dumps(dynamics))):
        assert other.forces(motion).tolist() == forces


def test_what_was_loaded_is_not_kept_as_that_of_a_file_written_since(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "from kinematics import kernel\n@kernel\ndef twice(x):\n    return {}.0 * x\n"
    program = (
        "import sys, pathlib, mine; file = pathlib.Path(mine.__file__);"
        "sys.argv[1:] and file.write_text(file.read_text().replace('2.0', '3.0 ')); print(mine.twice(1.0))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300.0)
        return ended.stdout.strip()

    file.write_text(text.format(2), encoding="utf-8")
    assert run("written meanwhile") == "2.0"  # as it was loaded
    assert run() == "3.0"


@pytest.mark.parametrize("arguments", [("1 N",), (), (1.0, 2.0)])
def test_arguments_of_other_types_are_refused(arguments: tuple[object, ...]) -> None:
    called: Any = half
    with pytest.raises(Kernel.unfit()):
        called(*arguments)


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_the_compiler_is_imported_by_the_first_call(tmp_path: Path, variable: str) -> None:
    program = (
        "import sys, kinematics, dynamics; print('numba' in sys.modules);"
        "kinematics.cross(1.0, 0.0, 0.0, 0.0, 1.0, 0.0); print('numba' in sys.modules);"
        "import numba; print(numba.config.CACHE_DIR)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    lines = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {variable: str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=300.0,
    ).stdout.splitlines()
    assert lines[:2] == ["False", "True"]
    # numba sees no change of a kernel's callees: wherever the cache is, each state of the sources has its own folder
    assert Path(lines[2]).is_relative_to(tmp_path) and SOURCES in lines[2]
    assert list(tmp_path.rglob("*.nbi"))  # and what it compiled lies there


_HOLDS = """
import sys
from kinematics.compiled import compiler
with compiler._compile_lock("one"):
    print("holds it", flush=True)
    sys.stdin.readline()
"""


def test_another_process_that_compiles_the_same_kernel_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kinematics.compiled import compiler

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler, "_FOLDER", str(tmp_path / Path(compiler._FOLDER).name))
    monkeypatch.setattr("numba.config.CACHE_DIR", compiler._FOLDER)
    waited, locked = [], compiler._locked
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        try:
            assert other.stdout.readline() == "holds it\n"

            def counted(lock: int) -> bool:
                waited.append(locked(lock))
                if len(waited) == 3 and other.stdin is not None:
                    other.stdin.close()
                    other.wait(300.0)
                return waited[-1]

            monkeypatch.setattr(compiler, "_locked", counted)
            with compiler._compile_lock("one"):
                assert waited == [False, False, False, True]
            with compiler._compile_lock("another"):
                assert waited[4:] == [True]
        finally:
            other.kill()


def test_a_kernel_is_compiled_under_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.compiler_lock import global_compiler_lock

    from kinematics.compiled import compiler

    asked: list[str] = []

    @contextmanager
    def alone(kernel: str) -> Iterator[None]:
        asked.append(kernel)
        assert global_compiler_lock.is_locked()  # else threads of two processes could wait for each other
        yield

    monkeypatch.setattr(compiler, "_compile_lock", alone)
    made = compiler.dispatcher(lambda x: 3.0 * x, cache=True)
    assert made(2.0) == 6.0 and [name.rpartition(".")[2] for name in asked] == ["<lambda>"]
