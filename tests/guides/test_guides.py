"""The guides, typed literally: every command and every block of code of every page is run, in the page's order.

A block between fences is a file or code, by its language; an indented one is what is typed in a shell. All pages share
a folder, in which a newcomer's `my-rig.toml` is the virtual rig at a lower rate, on ports of its own. What is not run
is in `NOT_RUN`, each with the reason.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomlkit
from babel.messages.frontend import CommandLineInterface
from configured import VIRTUAL
from exploration import LONG

from actuators import ServoProfile, load_profile
from actuators.registry import CELL_GROUP, GROUP
from dynamics import format_mechanism, mechanism_tables, parse_tables
from dynamics.serial import load_arm
from kinematics import coordinates_to_pose, leg_lengths, parse_trajectory, pose_to_coordinates, tabulate
from rig.cli import main
from rig.client import on_free_ports
from rig.client.arguments import motion_of
from rig.config import LAW_GROUP, law_names, load_config
from rig.csvio import MOTION, write_table
from rig.engine.laws import law_of
from rig.errors import ExitCode, InputError
from rig.importing import load_mapping

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_MADE = re.compile(r"<!-- made: .*?<!-- end -->", re.DOTALL)
_FENCED = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"(?<=\n\n)((?: {4,}\S.*\n)+)|(?<=\n)(?:#+ .*\n)((?: {4}\S.*\n)+)")
_SERVED = re.compile(r"rig (twin|virtual) ")

ARMS = "arms.md"
"""The page whose motions are of an arm's joints."""
OWN_DEVICE = "adding-a-device.md"
"""The page whose `my-rig.toml` is its own."""
LIFT = """
frame = "home"
[[parts]]
type = "minimum-jerk"
start = [0, 0, 0, 0, 0, 0]
end = [0, 0, 0.002, 0, 0, 0]
duration = 0.5
"""

NETWORK, WINDOW, HARDWARE = "needs the network", "opens a window until it is closed", "needs real hardware"
NOT_RUN = {
    "git clone <this repository> && cd stewart-rig": NETWORK,
    "pip install Babel": NETWORK,
    "rig template driver mine": "tests/conformance/test_kit.py writes one and runs the suite on it",
    "pip install -e ./mine pytest": NETWORK,
    "cd mine && pytest --rig-driver mine": "tests/conformance/test_kit.py does",
    "pip install 'stewart-rig[canopen]'": NETWORK,
    "pip install 'stewart-rig[fmi]'": NETWORK,
    "pip install 'stewart-rig[mujoco]'": NETWORK,
    "pip install 'stewart-rig[urdf]'": NETWORK,
    "make install": "is what the tests run in",
    "make headless": NETWORK,
    "pip download . -c constraints.txt -d wheels --only-binary=:all: --python-version 3.13 --implementation cp "
    "--platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64": NETWORK,
    "make gui": WINDOW,
    "LANGUAGE=de make gui": WINDOW,
    "LANGUAGE=C make gui": WINDOW,
    "LANGUAGE=fr TEXTDOMAINDIR=~/my-translations make gui": WINDOW,
    "make texts": "tests/gui/test_texts.py does the same to a new translation",
    "make test": "are the tests",
    "make lint": "looks at the sources, beside the tests",
    "make explore": "runs tests, for hours",
    "make mutants": "runs tests, for hours",
    "make bench": "measures speeds, on a machine that does nothing else",
    "make demo": "tests/integration/test_live.py runs it",
    "make demo ARGS=--exact": "tests/integration/test_live.py runs it",
    "make demo ARGS=--identify": "tests/integration/test_identify_story.py runs it",
    "rig monitor /dev/serial/by-id/… -o drive.txt": HARDWARE,
    "rig setup new my-rig.toml --mechanism my-platform.toml --ask "
    + " ".join(f"--drive 192.168.10.{11 + leg}:502" for leg in range(6)): HARDWARE,
    "rig stream plotjuggler my-rig.toml": "tests/rig/test_streaming.py runs it beside a rig",
    "rig stream foxglove my-rig.toml": "tests/rig/test_streaming.py runs it beside a rig",
    "rig follow virtual --frame home": "waits for a sender: tests/integration/test_stream_in.py gives it one",
    "rig follow virtual --cue lab-hexapod": "tests/rig/test_vehicle_stream.py gives its receiver a sender",
    "rig follow my-rig.toml --duration 60": "needs an FMU: tests/integration/test_fmu_followed.py compiles one",
    "rig run my-rig.toml rests.toml": "three minutes: tests/calibration/test_cli_geometry.py checks such a motion",
    "rig calibrate geometry-poses RECORDING --sensor tracker -o poses.csv": "needs a recording with a tracker: "
    "tests/rig/test_tracked_poses.py makes one",
    'rig calibrate geometry lab-hexapod --data poses.csv --position-sigma "9 um"': "needs the poses of the line before",
    "python sender.py 9872 20": "tests/rig/test_stream_senders.py runs it against a receiver",
    "(umask 077; openssl rand -hex 32 > stream.key)": "tests/rig/test_stream_packets.py reads such a file",
    "rig arm identify tx40 motor_positions.csv --forces motor_torques.csv --at motors --rate 5000 "
    "--zero 0,-90deg,90deg,0,0,0 --page tx40.html": "needs the measured data: tests/benchmarks identify them",
    "rig import my-rig.toml log.csv --mapping columns.toml -o log.mcap": "tests/rig/test_import.py runs such",
    "rig weigh RECORDING --at-rest": "tests/integration/test_wrench_and_response.py runs it, with a payload",
    "rig weigh RECORDING --before 2,8 --during 12,40 -o payload.toml": "tests/integration/test_wrench_and_response.py "
    "runs it, with a payload",
}
"""Commands that are not run here, and why."""

LONG_ONLY = {
    "rig demo --identify",
    "rig demo --lockstep --plant mujoco --as-built 3 --identify",
    "rig operate virtual < steps.txt",
    "rig operate virtual --lockstep < steps.txt",
    "rig paper all -o papers",
}
"""Commands that take long, which `make explore` runs; tests/rig/test_operate.py runs the script at a lower rate."""

IN_SHORT = {
    "rig accept my-rig.toml --look": "--axis z --test speed",
    "rig accept my-rig.toml": "--axis z --test speed",
    "rig accept virtual --lockstep": "--axis z --test speed",
    "rig excite my-rig.toml -o excitation.toml": "--duration 14 --candidates 1 --steps 6",
    "rig multisine my-rig.toml --dof z --from 0.5 --to 30 -o excite.toml": "--from 1 --period 1 --realizations 2",
    "rig calibrate cells-in-place --plan 30 --config my-rig.toml -o weight-poses.toml": "--plan 12 --hold 0.5",
}
"""Commands that compute or move for half a minute as they are typed, and options against that; `make explore` adds
none."""

NOT_WHOLE = {
    ("acceptance.md", "--tracker"): "logs of sensors: tests/rig/test_acceptance_numbers.py makes some",
    (
        "adding-a-device.md",
        "python",
    ): "parts of a module that the page does not show: tests/actuators/foreign.py is one",
    ("driver-of-your-own.md", "python"): "tests/conformance/test_kit.py runs the suite on both",
    ("driver-of-your-own.md", "mine device: watchdog"): "a failure",
    ("scripting.md", 'with rig.open("virtual") as robot'): "tests/integration/test_scripting.py runs it, live too",
    ("your-own-rig.md", "toml"): "tests/test_docs.py puts its parts together to whole files",
    ("driver-of-your-own.md", "ethercat://eth1"): "tests/conformance/test_kit_ethercat.py installs the template",
    ("inputs-and-outputs.md", "# in the drive's profile"): "tests/integration/test_io_at_drives.py has such points",
    ("inputs-and-outputs.md", 'driver = "canopen"'): "tests/integration/test_io_at_drives.py reads it",
    ("laws-and-references.md", "toml"): "tests/rig/test_control_laws.py and tests/integration install them",
    ("laws-and-references.md", 'with rig.open("virtual") as robot'): "tests/integration does the same, installed",
    ("architecture.md", "──commands──▶"): "a drawing",
    ("machines.md", "SUBSYSTEM"): "rules of the system's",
    ("machines.md", "[Unit]"): "a unit of the system's",
    ("streaming.md", "from rig.streaming import SampleRing"): "tests/integration/test_stream_rig.py has such a ring",
    ("cueing.md", "SRVS"): "a sender: tests/rig/test_vehicle_stream.py runs it against a receiver",
    ("sensors.md", "SRRD"): "a sender: tests/guides/test_sensors_page.py runs it",
    ("sensors.md", "class Card"): "a package: tests/guides/test_sensors_page.py installs it",
    ("sensors.md", "stewart_rig.sensors"): "of the package before",
    ("sensors.md", "[[sensors]]"): "needs a device: tests/guides/test_sensors_page.py reads it",
    ("streaming.md", "SRSP"): "senders: tests/rig/test_stream_senders.py runs them against a receiver",
    ("streaming.md", "shm_open"): "a sender: tests/rig/test_stream_senders.py runs it against a ring",
}
"""Blocks that are not run here: page, and language or words of it; and why."""


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, "shell" where it is indented, the line that it begins at, its text."""

    page: str
    language: str
    line: int
    text: str

    @property
    def commands(self) -> list[str]:
        """What is typed, without its comments; a line that is continued is one."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [" ".join(line.split()) for each in lines if (line := re.sub(r"(^|\s+)# .*", "", each).strip())]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that a person has written, in their order."""
    text = "\n" + _MADE.sub(lambda made: "\n" * made[0].count("\n"), page.read_text(encoding="utf-8"))
    found = []
    for match in _FENCED.finditer(text):
        lines = [line.removeprefix(match[1]) for line in match[3].splitlines()]
        found.append((match.start(), match[2], "\n".join(lines) + "\n"))
    plain = _FENCED.sub(lambda fenced: re.sub(r"[^\n]", ".", fenced[0]), text)
    found += [(each.start(), "shell", each[1] or each[2]) for each in _SHELL.finditer(plain)]
    return [Block(page.name, kind, text.count("\n", 0, start), body) for start, kind, body in sorted(found)]


def with_blocks() -> list[Path]:
    return [page for page in PAGES if blocks(page)]


class Typist:
    """Types what pages say, in one folder; what was typed already is not typed again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.page = ""
        self.recording = ""
        """what RECORDING stands for: the newest"""
        self._done: dict[str, str] = {}
        # At a higher speed a client that compiles for a second would miss the heartbeat, which counts in rig time.
        patient = {"name": "my-rig", "safety": {"heartbeat": 10.0}, "virtual": {"speed": 8.0}}
        own = on_free_ports(VIRTUAL.changed(patient))
        self._own = tomlkit.dumps(_given(own.resolved()))
        self.write("my-platform.toml", format_mechanism(VIRTUAL.machine))
        _write_motion(folder / "motion.csv")
        _write_poses(folder / "tracker.csv")
        times = np.arange(0.0, 10.0, 0.01)
        shaken = np.exp(-((times - 5.0) ** 2)) * np.sin(12.0 * times)
        write_table(folder / "record.csv", ["t", "ax"], np.column_stack([times, shaken]))
        shutil.copytree(ROOT / "gui" / "texts", folder / "gui" / "texts", ignore=shutil.ignore_patterns("*.mo"))

    def open(self, page: str) -> None:
        """Begin a page, with a rig as the virtual one."""
        self.page = page
        self.write("my-rig.toml", self._own)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def type(self, command: str) -> None:
        """One command; what it does must be done, by its exit code."""
        known = f"{self.page if self.page == OWN_DEVICE else ''} {command}"
        if known in self._done:
            self.recording = self._done[known] or self.recording
        elif command.startswith("pybabel "):
            assert not CommandLineInterface().run(shlex.split(command))
        else:
            assert command.startswith("rig "), f"nobody knows how to type {command}"
            if "RECORDING" in command and not self.recording:
                self._rig("rig run my-rig.toml motion.csv")
            short = "" if LONG else IN_SHORT.get(command, "")
            self._rig(f"{command.replace('RECORDING', self.recording)} {short}")
            self._done[known] = self.recording if command.startswith("rig run ") else ""

    def _rig(self, command: str) -> None:
        before = set((self.folder / "recordings").glob("*.mcap"))
        line, _, source = command.partition(" < ")
        with contextlib.ExitStack() as stack:
            typed = stack.enter_context(open(source or os.devnull, encoding="utf-8"))
            stack.enter_context(pytest.MonkeyPatch.context()).setattr("sys.stdin", typed)
            if _SERVED.match(command):
                stack.enter_context(contextlib.redirect_stdout(_Watched()))
            code = main(shlex.split(line)[1:])
        assert code == ExitCode.OK, f"{command}: {code!r}"
        if made := set((self.folder / "recordings").glob("*.mcap")) - before:
            self.recording = str(max(made, key=lambda path: path.stat().st_mtime).relative_to(self.folder))

    def file(self, block: Block) -> None:
        """A file as its keys tell: motion, profile, registration, a log's columns, configuration, part of one, leg."""
        data = tomllib.loads(block.text)
        if "joints" in data:
            assert load_arm(self.write("my-arm.toml", block.text)).name == data["name"]
        elif "kp" in data:
            self.write("gains.toml", block.text)
        elif "parts" in data and self.page == ARMS:
            self.write("swing.toml", block.text)
        elif "parts" in data:
            self.write("motion.toml", block.text)
            assert main(["check", "my-rig.toml", "motion.toml"]) == ExitCode.OK
        elif "feedback" in data:
            assert load_profile(self.write(f"{data['name']}.toml", block.text), ServoProfile).name == data["name"]
        elif "project" in data:
            assert set(data["project"]["entry-points"]) <= {GROUP, CELL_GROUP, LAW_GROUP}
        elif "lengths" in data:
            assert load_mapping(self.write("columns.toml", block.text)) is not None
        elif "mechanism" in data:
            assert load_config(self.write(f"{data['name']}.toml", block.text)).name == data["name"]
        elif "legs" in data:
            tables = mechanism_tables(VIRTUAL.machine)
            tables["legs"] = [leg | data["legs"] for leg in tables["legs"]]
            assert parse_tables(tables).name == VIRTUAL.machine.name
        else:
            assert VIRTUAL.changed(data)


def _write_motion(path: Path) -> None:
    """A motion as a table, of half a second: under its own forces alone a platform does not stand for long."""
    table = tabulate(parse_trajectory(LIFT, VIRTUAL.machine.geometry.home_pose), 0.01)
    times = np.arange(0.0, table.duration, 0.01)
    write_table(path, ["t", *MOTION], np.column_stack([times, table.motion(times)]))


def _write_poses(path: Path) -> None:
    """What a tracker and the encoders measured at 60 poses, with noise."""
    random, geometry = np.random.default_rng(1), VIRTUAL.machine.geometry
    spread = np.array([0.08, 0.08, 0.06, 0.3, 0.3, 0.4])
    coordinates = pose_to_coordinates(geometry.home_pose) + spread * random.uniform(-1.0, 1.0, (60, 6))
    lengths = np.array([leg_lengths(geometry, coordinates_to_pose(row)) for row in coordinates])
    lengths += 5e-6 * random.normal(size=(60, 6))
    coordinates += np.repeat([2e-5, 1e-4], 3) * random.normal(size=(60, 6))
    poses = np.array([coordinates_to_pose(row) for row in coordinates])
    write_table(
        path, ["l1", "l2", "l3", "l4", "l5", "l6", "x", "y", "z", "qw", "qx", "qy", "qz"], np.hstack([lengths, poses])
    )


class _Watched(io.StringIO):
    """What a command prints that serves until Ctrl-C, which is pressed once it says that it serves."""

    def write(self, text: str) -> int:
        if "Ctrl-C ends it" in text:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return super().write(text)


def _given(data: Any) -> Any:
    """A configuration's data as its file has it: what is not given is left out."""
    if isinstance(data, dict):
        return {key: _given(value) for key, value in data.items() if value is not None}
    return [_given(each) for each in data] if isinstance(data, list | tuple) else data


@pytest.fixture(scope="module")
def typist(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Typist]:
    folder = tmp_path_factory.mktemp("newcomer")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield Typist(folder)


@pytest.mark.parametrize("page", with_blocks(), ids=lambda page: page.name)
def test_a_page_is_true_as_it_is_typed(page: Path, typist: Typist, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(typist.folder)
    typist.open(page.name)
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks(page):
        if any(page.name == name and (what == block.language or what in block.text) for name, what in NOT_WHOLE):
            continue
        where = f"{page.name}:{block.line}"
        print(f"--- {where}")
        match block.language:
            case "shell":
                for command in block.commands:
                    if command not in NOT_RUN and (LONG or command not in LONG_ONLY):
                        typist.type(command)
            case "python":
                exec(compile(block.text, where, "exec"), names)
            case "toml":
                typist.file(block)
            case "text":
                typist.write("poses.csv" if block.text.startswith("t,") else "steps.txt", block.text)
            case _:
                pytest.fail(f"{where}: a block in {block.language}, which nobody runs")


def test_what_is_not_run_is_there_and_is_run_elsewhere() -> None:
    typed = {command for page in with_blocks() for block in blocks(page) for command in block.commands}
    assert set(NOT_RUN) | LONG_ONLY | set(IN_SHORT) <= typed
    for reason in NOT_RUN.values():
        for file in re.findall(r"tests/\S+\.py", reason):
            assert (ROOT / file).exists(), reason
    for name, what in NOT_WHOLE:
        assert any(what in (block.language, block.text) or what in block.text for block in blocks(ROOT / "docs" / name))


# -- what the guides say can be added ----------------------------------------------------------------------------------


def test_every_law_of_the_program_has_its_class() -> None:
    names = law_names()
    assert {name: law_of(name).name for name in names} == {name: name for name in names}
    assert all(name in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") for name in names)


@pytest.mark.parametrize(
    "motion", [lambda t: 0.01 * t, 3.0, None, np.zeros((2, 6))], ids=lambda each: type(each).__name__
)
def test_what_is_no_motion_is_refused_with_what_would_be_one(motion: Any) -> None:
    kind = type(motion).__name__
    with pytest.raises(InputError, match=rf"motion: got {kind}, must be a trajectory file, .* kinematics\.Trajectory"):
        motion_of(VIRTUAL, motion)
