"""`rig setup`: a configuration from options, drives asked, a leg tested, with the exit codes of the README."""

import json
import re
import signal
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from configured import VIRTUAL, endpoints

from rig import commissioning
from rig.cli import main
from rig.client import on_free_ports
from rig.config.rig_config import RigConfig, load_config
from rig.errors import ExitCode
from rig.virtual import VirtualRigProcess

pytestmark = pytest.mark.usefixtures("here")


def drives(config: RigConfig) -> list[str]:
    """Options that name a configuration's drives."""
    return [option for host, port in endpoints(config) for option in ("--drive", f"{host}:{port}")]


DRIVES = [option for leg in range(1, 7) for option in ("--drive", f"10.0.0.{leg}:502")]
DEAF = [option for port in range(1, 7) for option in ("--drive", f"127.0.0.1:{port}")]
"""Where nobody listens."""
EASY = ["--watchdog", "1.0", "--rate", "200"]
PATIENT = "\n[safety]\nstale_time = 1.0\noverruns_in_a_row = 200\n"
"""Of a machine that others use too."""


def relaxed_timing(path: str) -> None:
    """Append the patience that such a machine needs to a configuration."""
    with Path(path).open("a") as file:
        file.write(PATIENT)


@pytest.fixture(scope="module")
def hardware() -> Iterator[tuple[VirtualRigProcess, list[str]]]:
    """A virtual rig that stands for a real one, and its drives' addresses, which are all that commands know of it."""
    config = on_free_ports(VIRTUAL).changed({"drives": {"watchdog": 1.0}})
    with VirtualRigProcess(config) as process:
        yield process, drives(config)


def test_a_configuration_is_written_from_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rate", "800", "--mode", "computed-torque", "--serials", "a,b,c,d,e,f", "--recordings", "out"]
    cells = ["--amplifier", "[fe80::1]:503:9", "--cell-noise", "0.2", "--cell-range", "500", "--bandwidth", "7 Hz"]
    drives = [*DRIVES[:-1], "plant-6.local:1502:17"]
    assert main(["setup", "new", "mine.toml", *drives, *options, *cells, "--name", "the rig"]) == ExitCode.OK
    config = load_config(here / "mine.toml")
    assert (config.name, config.rate, config.mode, config.recording.directory) == (
        "the rig",
        800,
        "computed-torque",
        "out",
    )
    assert config.control.task_bandwidth == 7.0
    last = config.drives.legs[5]
    assert (*endpoints(config)[5], last.unit, last.serial) == ("plant-6.local", 1502, 17, "f")
    assert config.load_cells.amplifier is not None
    assert (config.load_cells.amplifier.endpoint, config.load_cells.amplifier.unit) == (("fe80::1", 503), 9)
    assert (config.load_cells.noise, config.load_cells.range, config.virtual) == (0.2, 500.0, None)
    assert "rig setup probe mine.toml" in capsys.readouterr().out


def test_it_is_not_written_twice_unless_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "new", "mine.toml", *DRIVES]) == ExitCode.OK
    assert load_config("mine.toml").name == "mine"
    assert main(["setup", "new", "mine.toml", *DRIVES, "--rate", "100"]) == ExitCode.INPUT
    assert "exists already" in capsys.readouterr().err
    assert main(["setup", "new", "mine.toml", *DRIVES, "--rate", "100", "--overwrite", "--json"]) == ExitCode.OK
    said = json.loads(capsys.readouterr().out)
    assert said["config"] == "mine.toml" and tomllib.loads(said["text"])["rate"] == 100.0
    assert load_config("mine.toml").rate == 100.0


def test_external_sensors_are_written_from_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    imu = ["--sensor", "imu:imu:udp://127.0.0.1:9873", "--sensor-set", "imu.rate=500"]
    gauge = ["--sensor", "gauge:scalar:serial:///dev/ttyS9", "--sensor-set", "gauge.channels=[{name='t', unit='°C'}]"]
    assert main(["setup", "new", "mine.toml", *DRIVES, *imu, *gauge]) == ExitCode.OK
    first, second = load_config(here / "mine.toml").sensors
    assert (first.name, first.kind, first.rate) == ("imu", "imu", 500.0)
    assert (second.meaning.names, second.meaning.units) == (("t",), ("°C",))
    for wrong, words in (
        (["--sensor", "imu:udp"], "give NAME:KIND:SOURCE"),
        ([*imu, *imu], "imu is given twice"),
        ([*imu, "--sensor-set", "imu.rate=2"], "imu.rate is given twice"),
        ([*imu, "--sensor-set", "rate=2"], "give NAME.KEY=VALUE"),
        ([*imu, "--sensor-set", "gyro.rate=2"], "no --sensor is called 'gyro'"),
        ([*imu, "--sensor-set", "imu.ratio=2"], "sensors[1].ratio: unknown key"),
    ):
        assert main(["setup", "new", "other.toml", *DRIVES, *wrong]) == ExitCode.INPUT
        assert words in capsys.readouterr().err
    assert not (here / "other.toml").exists()


def test_every_fault_is_said_and_nothing_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = ["--rate", "-5", "--mode", "x", "--cell-noise", "-1", "--mechanism", "nothing.toml"]
    assert main(["setup", "new", "mine.toml", *DRIVES, *bad]) == ExitCode.INPUT
    said = capsys.readouterr().err
    for place in ("mode:", "rate:", "load_cells.noise:", "mechanism: nothing.toml: no such file"):
        assert place in said
    assert main(["setup", "new", "mine.toml", *DRIVES, "--bandwidth", "7"]) == ExitCode.INPUT
    assert "goes with --mode computed-torque" in capsys.readouterr().err
    assert main(["setup", "new", "mine.toml", *DRIVES[:-2]]) == ExitCode.INPUT
    assert main(["setup", "new", "mine.toml", *DRIVES[:-1], "nowhere"]) == ExitCode.INPUT
    assert main(["setup", "new", "none/mine.toml", *DRIVES]) == ExitCode.INPUT
    assert list(here.iterdir()) == []


def test_drives_that_do_not_answer_leave_nothing_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "new", "mine.toml", *DEAF, "--ask"]) == ExitCode.HARDWARE
    assert "leg 6: drive 6: cannot connect to 127.0.0.1" in capsys.readouterr().err
    assert list(here.iterdir()) == []
    assert main(["setup", "new", "mine.toml", *DEAF]) == ExitCode.OK
    assert main(["setup", "probe", "mine.toml"]) == ExitCode.HARDWARE
    assert capsys.readouterr().out.count("FAIL leg") == 6
    assert main(["setup", "leg", "mine.toml", "1"]) == ExitCode.HARDWARE


def test_a_rehearsal_brings_its_drives_along() -> None:
    local = drives(on_free_ports(load_config("virtual")))
    assert main(["setup", "new", "mine.toml", *local, "--virtual", "--ask"]) == ExitCode.OK
    assert [leg.serial for leg in load_config("mine.toml").drives.legs] == [f"VIRTUAL-{leg}" for leg in range(1, 7)]


def test_drives_are_asked_and_a_leg_is_moved(
    hardware: tuple[VirtualRigProcess, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["setup", "new", "mine.toml", *hardware[1], "--ask", *EASY]) == ExitCode.OK
    relaxed_timing("mine.toml")
    capsys.readouterr()
    assert main(["setup", "probe", "mine.toml", "--json"]) == ExitCode.OK
    said = json.loads(capsys.readouterr().out)
    assert said["passed"] and [leg["identity"]["serial"] for leg in said["legs"]] == list(said["serials"].values())
    assert main(["setup", "leg", "mine.toml", "2"]) == ExitCode.REFUSED
    assert "(see --home)" in capsys.readouterr().err
    assert main(["setup", "leg", "mine.toml", "2", "--travel", "50 mm", "--speed", "1 m/s"]) == ExitCode.REFUSED
    said = capsys.readouterr().err
    assert "travel 50 mm is outside 0.5 to 22 mm" in said and "see --" not in said
    assert main(["setup", "leg", "mine.toml", "2", "--travel", "2 kg"]) == ExitCode.INPUT
    assert main(["setup", "leg", "mine.toml", "7"]) == ExitCode.INPUT
    capsys.readouterr()
    assert main(["setup", "leg", "mine.toml", "2", "--home", "--travel", "-1e-3"]) == ExitCode.OK
    output = capsys.readouterr()
    assert "watch that it is leg 2, and measure at its rod" in output.err
    assert re.search(r"\nby speed    -(0\.9|1\.0)\d\d mm\n", output.out), output.out
    assert "commanded   -1.000 mm and back" in output.out and "verdict     passed" in output.out
    assert re.search(r"following   0\.\d{3} mm at most, \d+ ms at 3\.75 mm/s\n", output.out)


def test_a_leg_that_does_not_pass(
    hardware: tuple[VirtualRigProcess, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    process, addresses = hardware
    assert main(["setup", "new", "mine.toml", *addresses, *EASY]) == ExitCode.OK
    relaxed_timing("mine.toml")
    capsys.readouterr()
    process.inject("cell_nan", 4)
    assert main(["setup", "leg", "mine.toml", "4", "--home", "--json"]) == ExitCode.FAULT
    output = capsys.readouterr()
    assert json.loads(output.out)["faults"] == ["leg 4: its load cell has no valid reading"]
    assert "leg 4 does not pass" in output.err
    assert main(["setup", "leg", "mine.toml", "4"]) == ExitCode.FAULT
    assert "load cell   – before, – after\n" in capsys.readouterr().out


def test_ctrl_c_while_the_virtual_rig_starts_ends_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    went_on = []

    @contextmanager
    def interrupted(config: RigConfig) -> Iterator[RigConfig]:
        signal.raise_signal(signal.SIGINT)
        went_on.append(config)
        with commissioning.served(config) as rig:
            yield rig

    assert main(["setup", "new", "mine.toml", *DEAF, "--virtual"]) == ExitCode.OK
    monkeypatch.setattr("rig.services.setting_up.served", interrupted)
    assert main(["setup", "leg", "mine.toml", "1", "--home"]) == ExitCode.INTERRUPTED
    assert not went_on


def test_where_no_drive_answers_a_configuration_stays_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "new", "mine.toml", *DEAF]) == ExitCode.OK
    text = Path("mine.toml").read_text()
    top, rest = text.split("\n[drives]")
    drives, _cells = rest.split("\n[load_cells]")
    inline = f"{top}\nload_cells = {{ noise = 0.5 }}\n\n[drives]{drives}"  # can be edited, however it is written
    Path("mine.toml").write_text(inline)
    capsys.readouterr()
    assert main(["calibrate", "zero", "mine.toml", "--apply"]) == ExitCode.HARDWARE
    assert Path("mine.toml").read_text() == inline
    assert [path.name for path in here.iterdir()] == ["mine.toml"]


def test_zero_of_a_rig_that_is_not_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "zero", "virtual", "--apply"]) == ExitCode.INPUT
    assert "shipped with the program" in capsys.readouterr().err
    assert main(["calibrate", "zero", "virtual", "--duration", "0.01"]) == ExitCode.INPUT
    assert main(["calibrate", "zero", "virtual", "--largest-shift", "-1"]) == ExitCode.INPUT
    Path("taken.toml").touch()
    assert main(["calibrate", "zero", "virtual", "-o", "taken.toml"]) == ExitCode.INPUT
