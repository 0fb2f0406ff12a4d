"""`rig doctor`: what it finds, on this machine and on ones with something missing."""

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from rig.cli import main
from rig.commissioning import cycle_jitter
from rig.config.rig_config import RigConfig, load_config
from rig.errors import ExitCode
from rig.runtime.runtime_folder import RuntimeFolder
from rig.services import machine_probes, rig_probes


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that something listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def free() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _real(config: RigConfig) -> RigConfig:
    return config.changed({"virtual": None})


def test_it_reports_every_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(["doctor", "--json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    names = [finding["name"] for finding in findings]
    expected = {
        "Python",
        "packages",
        "SCHED_FIFO",
        "mlockall",
        "runtime",
        "cycle",
        "Qt",
        "serial ports",
        "configuration",
        "control loop",
        "drive 6",
    }
    assert expected <= set(names)
    assert code == (ExitCode.HARDWARE if any(finding["status"] == "fail" for finding in findings) else 0)
    assert all(finding["fix"] for finding in findings if finding["status"] != "ok")


@pytest.mark.parametrize(
    ("variable", "below"), [("XDG_CACHE_HOME", Path("stewart-rig", "kernels")), ("NUMBA_CACHE_DIR", Path())]
)
def test_the_kernels_cache_is_the_folder_in_use(tmp_path: Path, variable: str, below: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {variable: str(tmp_path / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    program = "from rig.services.machine_probes import kernel_cache; print(kernel_cache().detail)"
    done = subprocess.run(  # numba looks at the variable by itself, so it is not set in this process
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert Path(done.stdout.strip()) == tmp_path / "cache" / below


def test_lines_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ok    Python")
    assert all(line.startswith(("ok ", "warn ", "fail ", "      ")) for line in lines)


def test_a_wrong_configuration_is_one_of_the_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "gone.toml"]) == ExitCode.INPUT
    assert "no such configuration: gone.toml" in capsys.readouterr().out


def test_a_wrong_profile_is_a_finding_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text('name = "drive"\n[feedback]\nstate = 1\n')
    text = load_config().path.read_text().replace('profile = "generic-servo"', 'profile = "./drive.toml"')
    (tmp_path / "rig.toml").write_text(text)
    (found,) = rig_probes.all_findings(str(tmp_path / "rig.toml"))
    assert (found.name, found.status) == ("configuration", "fail") and "feedback.state" in found.detail


@pytest.mark.parametrize(
    ("mode", "who", "drives"),
    [
        ("force", "mode force: this computer closes the loop, over the wire at 500 Hz, and bears ", "FORCE"),
        ("computed-torque", "mode computed-torque: this computer closes the loop, over the wire at 500 Hz, ", "FORCE"),
        ("position", "mode position: the drives close the loop by their own gains; control.stiffness, ", "POSITION"),
    ],
)
def test_it_says_who_closes_the_loop(mode: str, who: str, drives: str) -> None:
    finding = rig_probes.control_loop(load_config().changed({"mode": mode}))
    assert (finding.name, finding.status) == ("control loop", "ok")
    assert finding.detail.startswith(who) and finding.detail.endswith(f"; the drives are in mode {drives}")


def test_a_loop_that_may_not_be_closed_fails() -> None:
    finding = rig_probes.control_loop(load_config().changed({"control": {"stiffness": 1e7}}))
    assert finding.status == "fail" and "is unstable" in finding.detail and finding.fix.startswith("change the gains")


def test_addresses_of_a_real_rig(taken: int, free: int) -> None:
    assert rig_probes.real_address("drive 1", "127.0.0.1", taken).status == "ok"
    finding = rig_probes.real_address("drive 1", "127.0.0.1", free)
    assert finding.status == "fail"
    assert f"127.0.0.1:{free} does not answer: Connection refused" in finding.detail


def test_addresses_of_a_virtual_rig(taken: int, free: int) -> None:
    assert rig_probes.virtual_address("drive 1", "127.0.0.1", free).status == "ok"
    assert rig_probes.virtual_address("drive 1", "127.0.0.1", taken).status == "warn"
    assert rig_probes.virtual_address("drive 1", "192.0.2.1.invalid", free).status == "fail"


def test_every_leg_of_a_real_rig_is_tried(free: int) -> None:
    legs = [{"host": "127.0.0.1", "port": free, "unit": unit} for unit in range(1, 7)]
    findings = list(rig_probes.addresses(_real(load_config().changed({"drives": {"legs": legs}}))))
    assert [finding.name for finding in findings] == [f"drive {leg}" for leg in range(1, 7)]
    assert all(finding.status == "fail" for finding in findings)


def test_an_unknown_driver(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(load_config().path.read_text(encoding="utf-8").replace('"servo"', '"steam"'), encoding="utf-8")
    (finding,) = rig_probes.all_findings(str(path))
    assert (finding.name, finding.status) == ("configuration", "fail")
    assert "drives.driver: no driver 'steam'; known drivers: " in finding.detail


def test_a_folder_for_recordings(tmp_path: Path) -> None:
    config = load_config().changed({"recording": {"directory": str(tmp_path / "a" / "b")}})
    assert rig_probes.recordings(config).status in ("ok", "warn")
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").touch()
    config = load_config().changed({"recording": {"directory": str(tmp_path / "file" / "b")}})
    assert rig_probes.recordings(config).status == "fail"


def test_rights_are_tried_and_given_back() -> None:
    policy = os.sched_getscheduler(0)
    assert machine_probes.scheduling().status in ("ok", "warn")
    assert machine_probes.memory_lock().status in ("ok", "warn")
    assert os.sched_getscheduler(0) == policy


def test_refused_rights_come_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    finding = machine_probes.scheduling()
    assert finding.status == "warn"
    assert "rtprio" in finding.fix


def test_old_python_and_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 1, "final", 0))
    assert machine_probes.python().status == "fail"
    monkeypatch.setattr(machine_probes, "PACKAGES", ("numpy", "no-such-package"))
    finding = machine_probes.packages()
    assert finding.status == "fail"
    assert finding.fix == "pip install no-such-package"


def test_without_the_app_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_probes, "APP_PACKAGES", ("numpy", "no-such-package"))
    finding = machine_probes.qt()
    assert finding.status == "warn"
    assert "no-such-package" in finding.detail and "numpy" not in finding.detail
    assert finding.fix == "pip install 'stewart-rig[gui]'"


def _system(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> Path:
    """A folder as the kernel's /sys, with files by their paths."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"{text}\n")
    monkeypatch.setattr(machine_probes, "SYSTEM", folder)
    return folder


def test_a_real_time_kernel_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _system(tmp_path, monkeypatch)
    monkeypatch.setattr(platform, "version", lambda: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1")
    assert machine_probes.kernel().status == "warn"
    monkeypatch.setattr(platform, "version", lambda: "#1 SMP PREEMPT_RT Debian 6.1.1")
    assert machine_probes.kernel().status == "ok"
    monkeypatch.setattr(platform, "version", lambda: "#1 SMP")
    _system(tmp_path, monkeypatch, **{"kernel/realtime": "1"})
    assert machine_probes.kernel().status == "ok"


def test_processors_that_slow_down_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _system(tmp_path, monkeypatch)
    assert machine_probes.governor().status == "ok"
    governor = "devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    _system(tmp_path, monkeypatch, **{governor.format(0): "performance"})
    assert machine_probes.governor().detail == "governor performance"
    _system(tmp_path, monkeypatch, **{governor.format(1): "schedutil"})
    finding = machine_probes.governor()
    assert finding.status == "warn" and "schedutil" in finding.detail


@pytest.mark.parametrize(("control", "status"), [("auto", "warn"), ("on", "ok")])
def test_an_adapter_that_may_be_suspended_is_named(
    control: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usb = "devices/pci/usb1/1-2"
    folder = _system(tmp_path, monkeypatch, **{f"{usb}/idVendor": "0403", f"{usb}/power/control": control})
    port = folder / usb / "1-2:1.0" / "ttyUSB0"
    port.mkdir(parents=True)
    tty = folder / "class" / "tty" / "ttyUSB0"
    tty.mkdir(parents=True)
    (tty / "device").symlink_to(port)
    finding = machine_probes.usb_adapters()
    assert finding.status == status
    assert ("ttyUSB0" in finding.detail) == (status == "warn")


def test_one_processor_is_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert machine_probes.processors().status == "warn"


def test_qt_that_lacks_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'ImportError: libGL.so.1: cannot open shared object file' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    finding = machine_probes.qt()
    assert finding.status == "warn"
    assert "libGL.so.1" in finding.detail
    assert "libgl1" in finding.fix


def test_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    assert machine_probes.display().status == "warn"
    monkeypatch.setenv("DISPLAY", ":7")
    assert machine_probes.display().detail == "DISPLAY=:7"


def _delays(*late: float) -> np.ndarray:
    """A thousand cycles that are done 0.25 ms after their deadline, but for some."""
    return np.array([*late, *[2.5e-4] * (1000 - len(late))])


@pytest.mark.parametrize(
    ("delays", "carries", "late"),
    [
        (_delays(), 1000.0, 0),  # at 2 kHz the replies would lack 0.05 ms
        (_delays(1.0e-3), 1000.0, 1),
        (_delays(*[1.0e-3] * 20), 250.0, 20),  # more than one in a hundred, and 500 Hz leaves 0.8 ms
        (_delays(7e-3), 250.0, 1),  # three cycles of 500 Hz are 6 ms
        (_delays(*[7e-3] * 20), 50.0, 20),
        (_delays(43e-3), 50.0, 1),
        (_delays(51e-3), None, 1),  # the drives' watchdog
    ],
)
def test_which_rate_is_carried(delays: np.ndarray, carries: float | None, late: int) -> None:
    found = cycle_jitter.judge(load_config(), delays)
    assert (found.rate, found.cycles, found.late, found.carries) == (500.0, 1000, late, carries)
    assert found.longest == delays.max()


def test_a_rate_of_ones_own_is_judged_too() -> None:
    config = load_config().changed({"rate": 300.0})
    assert cycle_jitter.judge(config, _delays(*[1.2e-3] * 20)).carries == 300.0


def test_a_machine_that_is_too_slow_is_said_to_with_the_remedy() -> None:
    finding = rig_probes.judged_cycle(cycle_jitter.judge(load_config(), _delays(*[7e-3] * 20)))
    assert finding.status == "warn"
    assert finding.detail == (
        "500 Hz is too fast now: 20 of 1000 cycles late, the longest delay was 7 ms, 99 % were below 7 ms; "
        "this machine carries up to 50 Hz"
    )
    assert "set `rate` to 50 or lower" in finding.fix and "real-time rights" in finding.fix
    finding = rig_probes.judged_cycle(cycle_jitter.judge(load_config(), _delays(0.1)))
    assert finding.status == "warn" and finding.detail.endswith("this machine carries no rate")
    assert "set `rate`" not in finding.fix and "drives.watchdog" in finding.fix
    finding = rig_probes.judged_cycle(cycle_jitter.judge(load_config(), _delays()))
    assert (finding.status, finding.fix) == ("ok", "")
    assert finding.detail.endswith("this machine carries up to 1000 Hz now")


def test_a_cycle_is_tried_with_what_is_granted_of_real_time() -> None:
    config = load_config().changed({"realtime": {"priority": 50}})
    found = cycle_jitter.measure(config, duration=0.1)
    assert 1 <= found.cycles <= 51 and 0.0 < found.usual <= found.longest


def test_what_killed_engines_left_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert machine_probes.runtime_folders().detail.endswith(": no engines running")
    with ExitStack() as living:
        RuntimeFolder.create(living)
        finding = machine_probes.runtime_folders()
        assert finding.status == "ok" and finding.detail.endswith(": 1 engine running")
        with ExitStack() as dying:
            left = RuntimeFolder.create(dying)
        finding = machine_probes.runtime_folders()
        assert finding.status == "warn" and finding.fix
        assert finding.detail.endswith("1 engine running; folder and shared memory of one that was killed are left")
        assert left.path.exists()  # nothing is changed
    (tmp_path / f"stewart-rig-{os.getuid()}").chmod(0o777)
    assert machine_probes.runtime_folders().status == "fail"
