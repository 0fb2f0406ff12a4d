"""Computer checks of `rig doctor`: Python, packages, real-time kernel and rights, Qt, display, serial ports."""

import ctypes
import grp
import os
import platform
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
    "orjson", "tomlkit", "zstandard", "pillow", "matplotlib", "jinja2", "trimesh", "reportlab", "pypdf",
)  # fmt: skip
APP_PACKAGES = ("PyQt5", "pyqtgraph", "PyOpenGL", "QtAwesome", "PySDL2", "pysdl2-dll")
"""Those of the extra `gui`."""
_CURRENT_PAGES = 1  # MCL_CURRENT of mlockall(2)
_LIMITS_FILE = "/etc/security/limits.d/stewart-rig.conf"
_PORT_GROUP = "dialout"
_JOIN = f"sudo usermod -aG {_PORT_GROUP} $USER, log in again"
SYSTEM = Path("/sys")
"""Where the kernel shows devices and settings."""


def all_findings() -> Iterator[Finding]:
    """Yield all findings on the computer."""
    yield python()
    yield packages()
    yield processors()
    yield kernel()
    yield governor()
    yield scheduling()
    yield memory_lock()
    yield kernel_cache()
    yield runtime_folders()
    yield qt()
    yield display()
    yield serial_ports()
    yield usb_adapters()


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
    found, missing = _installed(PACKAGES)
    if missing:
        return Finding("packages", "fail", f"missing: {', '.join(missing)}", f"pip install {' '.join(missing)}")
    return Finding("packages", "ok", ", ".join(found))


def _installed(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return those installed, with their versions, and those missing."""
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    return found, missing


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


def kernel() -> Finding:
    """Check whether the kernel is a real-time one (PREEMPT_RT)."""
    release, version = platform.release(), platform.version()
    if "PREEMPT_RT" in version or _text(SYSTEM / "kernel" / "realtime") == "1":
        return Finding("kernel", "ok", f"{release}, PREEMPT_RT")
    fix = "install one (Debian: linux-image-rt-amd64 or linux-image-rt-arm64), if the figures of `cycle` are not enough"
    return Finding("kernel", "warn", f"{release}, without PREEMPT_RT: under load a cycle may be late", fix)


def governor() -> Finding:
    """Check whether the processors keep their clock up."""
    found = {_text(path) for path in SYSTEM.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")}
    if not found:
        return Finding("processor clock", "ok", "not set by this kernel")
    if found == {"performance"}:
        return Finding("processor clock", "ok", "governor performance")
    slow = ", ".join(sorted(found - {"performance"}))
    fix = "sudo cpupower frequency-set -g performance"
    return Finding("processor clock", "warn", f"governor {slow}: a cycle takes longer after a rest", fix)


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

    found, missing = _installed(APP_PACKAGES)
    if missing:
        detail = f"no desktop app: {', '.join(missing)} not installed; the command line does all that it does"
        return Finding("Qt", "warn", detail, "pip install 'stewart-rig[gui]'")
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
    return Finding("Qt", "ok", ", ".join(found))


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
        return Finding("serial ports", "warn", f"no permission for {', '.join(barred)}", _JOIN)
    if not ports and not _in_port_group():
        detail = f"none; you are not in the group {_PORT_GROUP}, which they belong to once they are plugged in"
        return Finding("serial ports", "warn", detail, _JOIN)
    return Finding("serial ports", "ok", ", ".join(ports) or "none")


def usb_adapters() -> Finding:
    """Check whether the kernel may suspend USB serial adapters."""
    suspended = []
    for tty in sorted(SYSTEM.glob("class/tty/tty[UA]*")):
        device = (tty / "device").resolve()
        control = next((each / "power" / "control" for each in device.parents if (each / "idVendor").exists()), None)
        if control is not None and _text(control) == "auto":
            suspended.append(tty.name)
    if suspended:
        detail = f"may be suspended while idle: {', '.join(suspended)}"
        return Finding("USB adapters", "warn", detail, 'ATTR{power/control}="on" by a udev rule, see docs/machines.md')
    return Finding("USB adapters", "ok", "none that may be suspended")


def _in_port_group() -> bool:
    """Whether this user may use serial ports, by the group that systems give them."""
    try:
        number = grp.getgrnam(_PORT_GROUP).gr_gid
    except KeyError:
        return True  # this system has another rule
    return os.geteuid() == 0 or number in (os.getegid(), *os.getgroups())


def _text(path: Path) -> str:
    """Content of a file of the kernel; empty where there is none."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def writable(folder: Path) -> bool:
    """Return whether files can be created in a folder that exists or can be created."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
