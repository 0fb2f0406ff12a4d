"""Computer checks of `rig doctor`: Python, packages, real-time rights, Qt, display, serial ports."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from rig import __version__
from rig.services.finding import Finding

_OLDEST_PYTHON = (3, 11)
PACKAGES = (
    "numpy", "scipy", "numba", "pydantic", "pint", "typer", "rich", "pymodbus", "pyserial", "fastcrc", "pyzmq", "mcap",
    "orjson", "tomlkit", "zstandard", "pyqtgraph", "PyQt5", "PyOpenGL", "pillow", "matplotlib", "jinja2",
    "PySDL2", "pysdl2-dll", "trimesh", "QtAwesome", "reportlab", "pypdf",
)  # fmt: skip
_CURRENT_PAGES = 1  # MCL_CURRENT of mlockall(2)
_LIMITS_FILE = "/etc/security/limits.d/stewart-rig.conf"


def all_findings() -> Iterator[Finding]:
    """Yield all findings on the computer."""
    yield python()
    yield packages()
    yield processors()
    yield scheduling()
    yield memory_lock()
    yield kernel_cache()
    yield runtime_folders()
    yield qt()
    yield display()
    yield serial_ports()


def python() -> Finding:
    """Check the interpreter's version."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        return Finding(
            "Python", "fail", f"{version} is too old", f"install Python {oldest} or newer, then `make install`"
        )
    return Finding("Python", "ok", f"{version}, stewart-rig {__version__}")


def packages() -> Finding:
    """Check the required packages."""
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("packages", "fail", f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    return Finding("packages", "ok", ", ".join(found))


def processors() -> Finding:
    """Check the number of processors available to this process."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if count < 2:
        return Finding(
            "processors",
            "warn",
            "one: the cycle shares it with everything else",
            "give the rig at least two processors",
        )
    return Finding("processors", "ok", f"{count}")


def scheduling() -> Finding:
    """Check whether the engine may take a real-time priority; tried and reverted."""
    fix = f"put `@realtime - rtprio 95` into {_LIMITS_FILE}, join the group realtime, log in again"
    if not hasattr(os, "sched_setscheduler"):
        return Finding("SCHED_FIFO", "warn", "this operating system has none", "run the rig on Linux")
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError as error:
        return Finding("SCHED_FIFO", "warn", f"not permitted ({error.strerror}): more cycles may be late", fix)
    os.sched_setscheduler(0, policy, parameters)
    return Finding("SCHED_FIFO", "ok", "permitted")


def memory_lock() -> Finding:
    """Check whether the engine may lock its memory; tried and reverted."""
    fix = f"put `@realtime - memlock unlimited` into {_LIMITS_FILE}, join the group realtime, log in again"
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "mlockall"):
        return Finding("mlockall", "warn", "this operating system has none", "run the rig on Linux")
    if library.mlockall(_CURRENT_PAGES) != 0:
        reason = os.strerror(ctypes.get_errno())
        return Finding("mlockall", "warn", f"not permitted ({reason}): paging may delay cycles", fix)
    library.munlockall()
    return Finding("mlockall", "ok", "permitted")


def kernel_cache() -> Finding:
    """Check whether compiled kernels can be cached."""
    from kinematics import kernel_cache_folder

    folder = kernel_cache_folder()
    if not writable(folder):
        return Finding(
            "kernel cache",
            "warn",
            f"{folder} cannot be written: kernels are compiled anew at every start",
            "make it writable, or set NUMBA_CACHE_DIR",
        )
    return Finding("kernel cache", "ok", str(folder))


def runtime_folders() -> Finding:
    """Check the runtime folders of engines and clients, and what dead ones left there."""
    from rig.errors import HardwareError
    from rig.runtime import folders, runtime_root

    try:
        used = [folder.in_use for folder in folders()]
    except HardwareError as error:
        return Finding("runtime", "fail", str(error), "`ls -ld` shows whose it is; the administrator can remove it")
    running = f"{runtime_root()}: {used.count(True) or 'no'} engine{'' if used.count(True) == 1 else 's'} running"
    if all(used):
        return Finding("runtime", "ok", running)
    left = used.count(False)
    what = "one that was killed" if left == 1 else f"{left} that were killed"
    detail = f"{running}; folder and shared memory of {what} are left"
    return Finding("runtime", "warn", detail, "the next start of an engine removes them")


def qt() -> Finding:
    """Check whether Qt loads with all its system libraries, in a separate process in case it crashes."""
    from rig.runtime import NEEDED, missing_packages, needed_packages

    program = "import PyQt5.QtWidgets, PyQt5.QtOpenGL"
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return Finding("Qt", "warn", "loading it takes more than a minute", "try again when the machine is idle")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it ends without a word"])[-1]
        packages = missing_packages(*NEEDED) or needed_packages(*NEEDED)
        return Finding("Qt", "warn", f"no desktop app: {reason}", f"sudo apt-get install {' '.join(packages)}")
    if missing := missing_packages(*NEEDED):
        reason = "no window on X: shared libraries are missing"
        return Finding("Qt", "warn", reason, f"sudo apt-get install {' '.join(missing)}")
    return Finding("Qt", "ok", "PyQt5 loads")


def display() -> Finding:
    """Check for a screen, or a virtual one for tests."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        if os.environ.get(name):
            return Finding("display", "ok", f"{name}={os.environ[name]}")
    if shutil.which("Xvfb"):
        return Finding("display", "ok", "none, but Xvfb for tests")
    return Finding("display", "warn", "no screen and no Xvfb: no desktop app here", "sudo apt-get install xvfb xauth")


def serial_ports() -> Finding:
    """Check the serial ports and their permissions."""
    ports = sorted(str(path) for pattern in ("ttyUSB*", "ttyACM*") for path in Path("/dev").glob(pattern))
    barred = [port for port in ports if not os.access(port, os.R_OK | os.W_OK)]
    if barred:
        fix = "sudo usermod -aG dialout $USER, log in again"
        return Finding("serial ports", "warn", f"no permission for {', '.join(barred)}", fix)
    return Finding("serial ports", "ok", ", ".join(ports) or "none")


def writable(folder: Path) -> bool:
    """Return whether files can be created in a folder that exists or can be created."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
