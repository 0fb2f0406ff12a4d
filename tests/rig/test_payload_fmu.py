"""A payload on the virtual rig that a foreign FMU computes."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from configured import VIRTUAL
from exploration import LONG
from fmpy.validation import validate_fmu
from foreign_units import CONNECTIONS, foreign_unit
from waiting import eventually

from actuators import Mode
from kinematics import Array, leg_matrix
from rig.client import LockstepRig, on_free_ports, open_rig
from rig.config import PAYLOAD_MOTION, PAYLOAD_WRENCH, PayloadFmu, RigConfig
from rig.engine import Report, Snapshot, note_departures
from rig.engine.lease import Leases
from rig.engine.link import LinkClient, LinkServer, Submission
from rig.errors import ConfigError, RefusedError
from rig.findings import Code, Finding
from rig.fmu import FmuError, inverse_unit
from rig.runtime.shared_memory import ControlBlock
from rig.services import CheckRequest, LoopsRequest, check, compare_loops
from rig.virtual import PayloadUnit, Plant, VirtualRig, VirtualRigProcess, payload_of
from rig.virtual import drive_kernel as columns

STIFFNESS, DAMPING, REST = 3000.0, 40.0, (0.02, -0.01, 0.5)
PARAMETERS = [
    f"stiffness = {STIFFNESS}", f"damping = {DAMPING}",
    *(f"rest_{axis} = {at}" for axis, at in zip("xyz", REST, strict=True)),
]  # fmt: skip
EXACT = VIRTUAL.changed({"virtual": {"step": 5e-4, "drive": {"start_spread": 0.0}}})


@pytest.fixture(scope="module")
def springs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("springs")
    return {version: foreign_unit(version, folder) for version in (2, 3)}


def _rig_of(unit: Path, **changes: object) -> RigConfig:
    settings = {"file": str(unit), "connections": CONNECTIONS, "parameters": PARAMETERS} | changes
    return EXACT.changed({"virtual": {"plant": {"payload_fmu": settings}}})


def _settings(config: RigConfig) -> PayloadFmu:
    assert config.virtual is not None and config.virtual.plant.payload_fmu is not None
    return config.virtual.plant.payload_fmu


def _moved(plant: Plant, payload: PayloadUnit | None = None, duration: float = 0.06) -> Array:
    """The platform's state after a free flight with open brakes, under the weight's forces, from a tilted throw.

    Without the drives' devices, which would close the brakes: nobody commands them.
    """
    state = plant.state
    state[3:7] = np.array([1.0, 0.05, -0.04, 0.03]) / np.linalg.norm([1.0, 0.05, -0.04, 0.03])
    state[7:13] = 0.2, -0.1, 0.15, 0.3, -0.2, 0.1
    drives = np.zeros((6, columns.DRIVE_COLUMNS))
    drives[:, columns.GAIN] = drives[:, columns.HOLD] = 1.0
    drives[:, columns.LEG] = np.arange(6)
    drives[:, columns.MODE] = float(Mode.FORCE)
    drives[:, columns.MOTOR] = drives[:, columns.FORCE] = 45.0
    drives[:, columns.ENABLED] = 1.0
    plant.set_moving(state, drives)
    if payload is not None:
        payload.begin(plant)
    while plant.time < duration - 1e-9:
        plant.advance(duration if payload is None else payload.due)
        if payload is not None:
            payload.exchange(plant)
    assert not plant.fault
    return plant.state


def test_the_springs_of_the_tests_are_valid_units(springs: dict[int, Path]) -> None:
    assert [validate_fmu(str(path)) for path in springs.values()] == [[], []]


def test_names_are_those_of_exported_units() -> None:
    unit = inverse_unit(EXACT.machine, EXACT.machine.geometry.home_pose, 0.0)
    assert tuple(each.name for each in unit.variables if each.role == "input") == PAYLOAD_MOTION + PAYLOAD_WRENCH


@pytest.mark.parametrize("version", [2, 3])
def test_a_spring_acts_as_the_rigs_own_hose(springs: dict[int, Path], version: int) -> None:
    """The plant has such a spring of its own; the error of the coupling is of first order in its step."""
    hose = {"stiffness": STIFFNESS, "damping": DAMPING, "rest": REST}
    wanted = _moved(VirtualRig(EXACT.changed({"virtual": {"plant": {"hose": hose}}})).plant)
    without = _moved(VirtualRig(EXACT).plant)
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        config = _rig_of(springs[version], step=step)
        with PayloadUnit(config, _settings(config)) as payload:
            errors.append(float(np.abs(_moved(VirtualRig(config).plant, payload) - wanted)[:7].max()))
    effect = float(np.abs(without - wanted)[:7].max())
    assert errors[2] < 0.01 * effect
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.3)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.3)


def test_two_rigs_of_one_configuration_move_alike(springs: dict[int, Path]) -> None:
    moved = []
    for _ in range(2):
        config = _rig_of(springs[2])
        with PayloadUnit(config, _settings(config)) as payload:
            moved.append(_moved(VirtualRig(config).plant, payload))
    assert np.array_equal(moved[0], moved[1])


@pytest.mark.parametrize("engine", ["exact", "mujoco"])
def test_it_acts_as_any_wrench_on_every_plant(engine: str) -> None:
    config = EXACT.changed({"virtual": {"plant": {"engine": engine}}})
    none, pushed, loaded = (VirtualRig(config).plant for _ in range(3))
    push = np.array([30.0, -20.0, -60.0, 3.0, 2.0, -1.0])
    pushed.wrench[:] = push
    loaded.wrench[:], loaded.payload = 0.25 * push, 0.75 * push
    for plant in (none, pushed, loaded):
        plant.advance(0.01)
    assert loaded.cells == pushed.cells != none.cells


class _Timed(PayloadUnit):
    """A payload that notes when it does its steps."""

    def __init__(self, config: RigConfig) -> None:
        super().__init__(config, _settings(config))
        self.times: list[float] = []

    def exchange(self, plant: Plant) -> None:
        super().exchange(plant)
        self.times.append(plant.time)


def test_steps_are_the_units_own_whatever_the_clock_does(springs: dict[int, Path]) -> None:
    """Advanced in odd pieces, and across a second of which only the last 10 ms are integrated."""
    config = _rig_of(springs[2], step=1e-3)
    with _Timed(config) as payload:
        rig = VirtualRig(config, longest_gap=0.01, payload=payload)
        for now in (0.0004, 0.0013, 0.0041, 0.0105, 1.0105):
            rig.advance(now)
        regular = np.arange(1, 21) * 1e-3
        assert np.allclose(payload.times, regular + 0.99 * (regular > 0.0105), rtol=0.0, atol=1e-9)


def test_a_unit_that_fails_stops_the_plant_and_says_so(springs: dict[int, Path]) -> None:
    config = _rig_of(springs[3], parameters=["stiffness = -1"])
    with PayloadUnit(config, _settings(config)) as payload:
        rig = VirtualRig(config, payload=payload)
        rig.advance(0.01)
        assert "spring3.fmu: " in rig.plant.fault and "failed with status 3" in rig.plant.fault
        failure = rig.failure
        assert failure is not None and failure.code is Code.PAYLOAD_FMU_FAILED
        assert failure.details["function"] == "fmi3DoStep" and failure.details["status"] == 3
        before = rig.plant.state
        rig.advance(0.1)
        assert np.array_equal(rig.plant.state, before)


def test_a_number_that_is_not_finite_is_named(springs: dict[int, Path]) -> None:
    config = _rig_of(springs[2], parameters=["stiffness = 1e308", "rest_x = 1e308"])
    with (
        PayloadUnit(config, _settings(config)) as payload,
        pytest.raises(FmuError, match=r"spring2.fmu: fx is not finite"),
    ):
        VirtualRig(config, payload=payload)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"file": "nowhere.fmu"}, ("nowhere.fmu", "there is no such file")),
        ({"connections": ["pose.z -> height", "fz -> wrench.force.z"]}, ("height", "no input", "px, py")),
        ({"connections": ["pz -> wrench.force.z"]}, ("pz", "no output", "fx, fy, fz")),
        ({"connections": []}, ("no output has the name", "wrench.force.x")),
        ({"parameters": ["stifness = 3"]}, ("stifness", "start value or parameter", "stiffness")),
    ],
    ids=["file", "input", "output", "names", "parameter"],
)
def test_what_does_not_fit_is_named(
    springs: dict[int, Path], changes: dict[str, object], words: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError) as caught:
        payload_of(_rig_of(springs[2], **changes))
    assert all(word in str(caught.value) for word in ("virtual.plant.payload_fmu", *words)), caught.value


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"connections": ["pose.z - height"]}, "'pose.z - height' must be"),
        ({"connections": ["pose.z -> wrench.force.z"]}, "'pose.z -> wrench.force.z' must be"),
        ({"connections": ["pose.z -> height"]}, "no component of the wrench"),
        ({"connections": ["a -> wrench.force.z", "b -> wrench.force.z"]}, "wrench.force.z is connected 2 times"),
        ({"parameters": ["mass = much"]}, "'mass = much' must be a name = a finite number"),
        ({"parameters": ["mass = nan"]}, "'mass = nan' must be a name = a finite number"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _rig_of(Path("x.fmu"), **changes)
    assert words in str(caught.value)


def test_a_slow_unit_is_refused_for_real_time(springs: dict[int, Path]) -> None:
    quick, slow = (_rig_of(springs[2], step=0.002, parameters=[f"busy = {busy}"]) for busy in (1e-4, 1.2e-3))
    with PayloadUnit(quick, _settings(quick)) as unit:
        unit.check_speed()
    said = r"spring2.fmu: a step of 0.002 s takes .* must take at most 0.001 s"
    with PayloadUnit(slow, _settings(slow)) as unit, pytest.raises(ConfigError, match=said):
        unit.check_speed()


def test_the_closed_loop_is_not_simulated_without_it_and_a_check_loads_it(
    springs: dict[int, Path], tmp_path: Path
) -> None:
    text = EXACT.path.read_text(encoding="utf-8")
    file = tmp_path / "rig.toml"
    file.write_text(
        f'{text}\n[virtual.plant.payload_fmu]\nfile = "{springs[2]}"\n',
        encoding="utf-8",
    )
    with pytest.raises(RefusedError, match="payload_fmu"):
        compare_loops(LoopsRequest(str(file), "demo", ("force",)))
    with pytest.raises(ConfigError, match=r"payload_fmu.*no output has the name"):
        check(CheckRequest(str(file)))


def test_a_rig_carries_it(springs: dict[int, Path]) -> None:
    """In lockstep, at rest under the force law: what the cells read beyond the model is the spring's pull."""
    config = _rig_of(springs[3], parameters=["stiffness = 2000", "rest_z = 0.4575"])
    config = config.changed({"virtual": {"cells": {"noise": 0.01}}})  # one reading is looked at
    with open_rig(config, lockstep=True, record=False) as robot:
        assert isinstance(robot.rig, LockstepRig)
        robot.home()
        robot.engage()
        robot.wait(0.3)
        row = robot.rig.engine.cycle_data.row[0]
        plant = robot.rig.virtual.plant
        assert plant.payload is not None and plant.payload[2] > 10.0
        assert plant.payload[2] == pytest.approx(2000.0 * (0.4575 - plant.state[2]), rel=1e-2)
        pull = leg_matrix(config.machine.geometry, plant.state[:7]) @ row["force_residual"]
        assert pull[2] == pytest.approx(-plant.payload[2], abs=0.3)
    notes: list[str] = []
    note_departures(config, lambda _action, text: notes.append(text))
    assert any("spring3.fmu computes" in text for text in notes)


class _Reports:
    """The engine's journal, of which only reports are asked."""

    def __init__(self) -> None:
        self.found: list[Finding] = []

    def report(self, finding: Finding) -> None:
        self.found.append(finding)


@contextmanager
def _journal(folder: Path) -> Iterator[tuple[str, list[Finding]]]:
    """A control link's address, and the findings that are reported there."""
    reports, address = _Reports(), f"ipc://{folder}/link"
    block = ControlBlock.create()
    with closing(block), closing(LinkServer(address, _no_submission, _no_status, Leases(block), reports)) as server:  # type: ignore[arg-type]
        server.start()
        yield address, reports.found


def _no_submission(_submission: Submission) -> None:
    raise AssertionError("a command")


def _no_status(_lease: str) -> Snapshot:
    raise AssertionError("asked for the status")


def test_nothing_but_why_an_fmu_has_failed_is_reported(tmp_path: Path) -> None:
    failed = Finding(Code.PAYLOAD_FMU_FAILED, details={"log": "x" * 1000}, within=(Finding.of_text("it ended"),))
    with _journal(tmp_path) as (address, reported), closing(LinkClient(address, 10.0)) as client:
        client.request(Report(failed))
        assert [found.code for found in reported] == [failed.code] and len(str(reported[0].details["log"])) < 500
    with pytest.raises(ValueError, match="must be one of payload_fmu_failed, reference_fmu_failed"):
        Report(Finding(Code.CONNECT_FIRST))


def test_the_virtual_rigs_process_carries_it(springs: dict[int, Path], tmp_path: Path) -> None:
    """It starts a process: from the configuration to the served rig it goes another way than in lockstep.

    What the unit prints is not in this program's output.
    """
    failing = on_free_ports(_rig_of(springs[2], parameters=["stiffness = -1"], step=0.002))
    if LONG:  # another process, of which as much is known by `check_speed`
        slow = on_free_ports(_rig_of(springs[2], parameters=["busy = 0.01"]).changed({"virtual": {"real_time": True}}))
        with pytest.raises(ConfigError, match=r"spring2.fmu: a step of 0.001 s takes"), VirtualRigProcess(slow):
            pass
    with VirtualRigProcess(failing) as process:
        with _journal(tmp_path) as (address, reported):
            process.notify(address)
            eventually(lambda: "spring2.fmu" in process.look().plant_fault, "the fault of the unit")
            eventually(lambda: bool(reported), "the engine to be told")
        assert reported[0].code is Code.PAYLOAD_FMU_FAILED and reported[0].details["status"] == 3
        output, error = (os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (1, 2))
        assert output == error
