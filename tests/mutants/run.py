"""Break the rig at one place after the other, and see whether a test fails: `make mutants`.

Works on copies of the tree, one for each worker; the tree itself is not touched. Ends with 1 when fewer than 98 % of
the breaks make a test fail, when one hangs, or when one does not fit the text any more. An argument chooses the breaks
that have it in their name or module.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from breaks import Break, check
from table import BREAKS

from kinematics.compiled.cache import HAS_KERNELS, KERNEL_FOLDERS

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 2
WANTED = 0.98
TEST_LIMIT = 100  # s for one test, which fails then
LIMIT = 400.0  # s for the tests of one break; then it hangs
KERNEL_TEST_LIMIT, KERNEL_LIMIT = 400, 1200.0  # the same where a kernel is broken, after which all are compiled anew
BASE_TEST_LIMIT, BASE_LIMIT = 600, 3600.0  # the same before anything is broken: kernels are compiled
_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/(\S+)", re.MULTILINE)
_PACKAGES = ("actuators", "calibration", "dynamics", "gui", "kinematics", "rig", "tests")
_FILES = ("pyproject.toml", "constraints.txt", "README.md", "Makefile")


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one break."""

    broken: Break
    verdict: str
    """caught, survived, hung, or invalid where no test could be run; "limit": caught by a test's time limit"""
    detail: str
    duration: float


def copy_tree(target: Path) -> Path:
    """A copy of what the tests need."""
    target.mkdir()
    for name in _PACKAGES:
        shutil.copytree(ROOT / name, target / name)
    for name in _FILES:
        shutil.copy2(ROOT / name, target / name)
    shutil.copytree(ROOT / "docs", target / "docs")
    return target


def kernels(tree: Path) -> Path:
    """Folder of the compiled kernels of a copy; in it is one for each state of their sources."""
    return tree.with_name(f"{tree.name}-kernels")


def run_tests(tree: Path, tests: Sequence[str], limit: float, *options: str) -> tuple[int | None, str]:
    """Exit code of the tests, None if they take longer than `limit` s, and what they wrote."""
    # a screen for each worker: windows of one would take the keyboard from those of another
    screen = ["xvfb-run", "-a", "-n", str(700 + 50 * int(tree.name)), "-s", "-screen 0 1920x1080x24"]
    command = screen if shutil.which("xvfb-run") else []
    command += [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", *options]
    command += [f"tests/{test}" for test in tests]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "EXPLORE": ""}
    environment["NUMBA_CACHE_DIR"] = str(kernels(tree))
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever its tests left
            process.wait()
        output.seek(0)
        return code, output.read()


def attempt(broken: Break, tree: Path, left_out: Sequence[str]) -> Result:
    """Make one break in a copy, run its tests but those `left_out`, and mend it again."""
    begun = time.perf_counter()
    path = tree / broken.path
    stamp, text = path.stat(), path.read_bytes()
    options = [f"--deselect=tests/{test}" for test in left_out]
    path.write_text(broken.broken(text.decode()), encoding="utf-8")
    compiled = set(kernels(tree).iterdir())
    compiles = broken.path.startswith(KERNEL_FOLDERS) and HAS_KERNELS.search(text) is not None
    limit, test_limit = (KERNEL_LIMIT, KERNEL_TEST_LIMIT) if compiles else (LIMIT, TEST_LIMIT)
    try:
        code, output = run_tests(tree, broken.tests, limit, "-x", f"--timeout={test_limit}", *options)
    finally:
        path.write_bytes(text)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        for folder in set(kernels(tree).iterdir()) - compiled:
            shutil.rmtree(folder)
    verdict = {0: "survived", 1: "caught", None: "hung"}.get(code, "invalid")
    failed = _FAILED.search(output)
    verdict = "limit" if verdict == "caught" and "Timeout (>" in output else verdict
    detail = failed[1] if failed else "" if verdict == "survived" else output.strip().splitlines()[-1]
    return Result(broken, verdict, detail, time.perf_counter() - begun)


def attempt_all(breaks: list[Break], trees: list[Path], left_out: Sequence[str]) -> list[Result]:
    """Every break, each worker in its own copy; told as they come."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def work(broken: Break) -> Result:
        tree = free.get()
        try:
            result = attempt(broken, tree, left_out)
        finally:
            free.put(tree)
        print(f"{result.verdict:9}{result.duration:5.0f} s  {broken.name}: {result.detail}", flush=True)
        return result

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(work, breaks))


def main(wanted: list[str]) -> int:
    breaks = [one for one in BREAKS if not wanted or any(word in one.name or word in one.path for word in wanted)]
    faults = check(BREAKS, ROOT)
    if faults or not breaks:
        print("\n".join(faults or [f"no break is named {' or '.join(wanted)}"]))
        return 1
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [copy_tree(Path(folder) / str(number)) for number in range(WORKERS)]
        for tree in trees:
            kernels(tree).mkdir()
        tests = list(dict.fromkeys(test for one in breaks for test in one.tests))
        print(f"{len(breaks)} breaks; first the {len(tests)} files and tests of theirs, unbroken", flush=True)
        with ThreadPoolExecutor(WORKERS) as pool:
            parts = [part for number in range(WORKERS) if (part := tests[number::WORKERS])]
            limit = f"--timeout={BASE_TEST_LIMIT}"
            unbroken = list(pool.map(lambda part, tree: run_tests(tree, part, BASE_LIMIT, limit), parts, trees))
        failing = [found[1] for _code, output in unbroken for found in _FAILED.finditer(output)]
        if any(code not in (0, 1) for code, _output in unbroken):
            print("".join(output for _code, output in unbroken))
            return 1
        print("\n".join(f"fails unbroken, and is left out: {test}" for test in failing) or "they pass", flush=True)
        results = attempt_all(breaks, trees, failing)
    return tell(results, time.perf_counter() - begun) or int(bool(failing))


def tell(results: list[Result], duration: float) -> int:
    """Print the table and the sum; returns the exit code."""
    print(f"\n{'verdict':9}{'module':34}break, and the test that fails")
    for one in results:
        verdict = "same" if one.verdict == "survived" and one.broken.equivalent else one.verdict
        detail = one.broken.equivalent if verdict == "same" else one.detail
        print(f"{verdict:9}{one.broken.path:34}{one.broken.name}: {detail}")
    caught = sum(one.verdict in ("caught", "limit") for one in results)
    wrong = [one for one in results if one.verdict in ("hung", "invalid")]
    share = caught / len(results)
    print(f"\n{caught} of {len(results)} breaks fail a test, {100 * share:.1f} %, in {duration / 60:.1f} min")
    return int(share < WANTED or bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
