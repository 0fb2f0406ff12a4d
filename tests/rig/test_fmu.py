"""Exported co-simulation units: valid, equal to the library, independent of Python, and clear in what they refuse."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exploration import either
from exported_units import Running, exported
from fmpy import simulate_fmu
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import Dynamics, Mechanism, load_mechanism
from kinematics import angles_to_matrix, leg_kinematics
from rig.errors import InputError
from rig.fmu import VERSIONS, FmiVersion, Unit, UnitModel, build_unit, inverse_unit, longest_stable_step, plant_unit

TOLERANCE = 1e-9
COULOMB_SPEED = 0.002  # m/s
LAB = load_mechanism("lab-hexapod")


def _tilted() -> Mechanism:
    """A mechanism of six unlike legs that stands on a slope, with every kind of friction and cell."""
    machine = random_mechanism(5, coulomb=True)
    return replace(machine, gravity=np.asarray(angles_to_matrix([0.4, -0.3, 0.2]) @ machine.gravity))


MACHINES = {"lab-hexapod": LAB, "tilted": _tilted()}
START = {
    "lab-hexapod": np.array(
        [0.01, -0.02, 0.46, *np.array([1.0, 0.05, -0.03, 0.02]) / np.linalg.norm([1.0, 0.05, -0.03, 0.02])]
    ),
    "tilted": random_motions(3, 1)[0, :7],
}


def _plant(machine: str) -> Unit:
    unit = plant_unit(MACHINES[machine], START[machine], 0.0004, COULOMB_SPEED)
    assert unit.internal_step < longest_stable_step(unit)
    return unit


def _inverse(machine: str) -> Unit:
    return inverse_unit(MACHINES[machine], START[machine], COULOMB_SPEED)


Exported = Callable[[UnitModel, str, FmiVersion], Path]


@pytest.fixture(scope="module")
def unit_file(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Units are compiled once, when they are first asked for."""
    folder = tmp_path_factory.mktemp("units")
    made: dict[tuple[str, str, str], Path] = {}

    def of(model: UnitModel, machine: str, version: FmiVersion) -> Path:
        key = (model, machine, version)
        if key not in made:
            made[key] = exported(_plant(machine) if model == "plant" else _inverse(machine), version, folder)
        return made[key]

    return of


@pytest.fixture
def run(unit_file: Exported) -> Iterator[Callable[..., Running]]:
    """Begin instances, which are freed at the end."""
    begun: list[Running] = []

    def begin(model: UnitModel, machine: str = "lab-hexapod", version: FmiVersion = "2.0", **rest: object) -> Running:
        begun.append(Running(unit_file(model, machine, version), **rest))  # type: ignore[arg-type]
        return begun[-1]

    yield begin
    for one in begun:
        one.fmu.freeInstance()


CASES = [
    ("plant", "lab-hexapod", "2.0"),
    ("plant", "tilted", "3.0"),
    ("inverse", "tilted", "2.0"),
    ("inverse", "lab-hexapod", "3.0"),
]
each_case = pytest.mark.parametrize("case", CASES, ids="-".join)
each_version = pytest.mark.parametrize("version", VERSIONS)


@each_case
def test_it_is_valid(unit_file: Exported, case: tuple[UnitModel, str, FmiVersion]) -> None:
    assert validate_fmu(str(unit_file(*case))) == []


@pytest.mark.parametrize(("machine", "version"), [("lab-hexapod", "2.0"), ("tilted", "3.0")])
def test_a_plant_moves_as_the_library_says(run: Callable[..., Running], machine: str, version: FmiVersion) -> None:
    """Under a controller and an external wrench; 10 s in the long profile."""
    unit = run("plant", machine, version)
    dynamics = Dynamics(MACHINES[machine], COULOMB_SPEED)
    geometry = MACHINES[machine].geometry
    state = np.concatenate([START[machine], np.zeros(6)])
    assert np.array_equal(unit.get("pose.x", 13), state)
    holding, home = unit.get("force[1]", 6), unit.get("length[1]", 6)
    assert np.allclose(holding, dynamics.forces(np.concatenate([state, np.zeros(6)])), rtol=0.0, atol=TOLERANCE)
    phases, period = np.arange(6.0), 0.001
    travelled = np.zeros(6)
    for cycle in range(either(1000, 10_000)):
        time = cycle * period
        wanted = home + 0.01 * (np.sin(4.0 * time + phases) - np.sin(phases))
        forces = holding + 3e4 * (wanted - unit.get("length[1]", 6)) - 600.0 * unit.get("speed[1]", 6)
        wrench = np.array([10.0, -5.0, 8.0, 0.5, 1.0, -0.7]) * np.sin(3.0 * time)
        unit.put("force[1]", forces)
        unit.put("wrench.force.x", wrench)
        unit.step(period)
        for _ in range(3):  # the least number of equal steps of at most 0.4 ms
            state = dynamics.step(state, forces, period / 3.0, wrench)
        assert np.allclose(unit.get("pose.x", 13), state, rtol=0.0, atol=TOLERANCE)
        if cycle % 20 == 0:
            acceleration = dynamics.acceleration(state, forces, wrench)
            motion = np.concatenate([state, acceleration])
            legs = leg_kinematics(geometry, motion)
            assert np.allclose(unit.get("acceleration.x", 6), acceleration, rtol=0.0, atol=TOLERANCE)
            assert np.allclose(unit.get("cell[1]", 6), dynamics.cells(motion, wrench)[0], rtol=0.0, atol=TOLERANCE)
            assert np.allclose(unit.get("length[1]", 6), legs.length, rtol=0.0, atol=TOLERANCE)
            assert np.allclose(unit.get("speed[1]", 6), legs.velocity, rtol=0.0, atol=TOLERANCE)
        travelled = np.maximum(travelled, np.abs(unit.get("length[1]", 6) - home))
    assert (travelled > 0.005).all(), "a plant that stands still shows nothing"
    assert unit.get("time")[0] == pytest.approx(unit.time, abs=1e-9)


@pytest.mark.parametrize(("machine", "version"), [("tilted", "2.0"), ("lab-hexapod", "3.0")])
def test_an_inverse_model_gives_the_forces_of_the_library(
    run: Callable[..., Running], machine: str, version: FmiVersion
) -> None:
    unit = run("inverse", machine, version)
    dynamics = Dynamics(MACHINES[machine], COULOMB_SPEED)
    motions = random_motions(1, 200)
    motions[:, 2] += START[machine][2] - 0.66
    wrenches = np.random.default_rng(2).normal(scale=20.0, size=(200, 6))
    cells, forces = dynamics.cells_and_forces(motions, wrenches)
    legs = leg_kinematics(MACHINES[machine].geometry, motions)
    for k, (motion, wrench) in enumerate(zip(motions, wrenches, strict=True)):
        unit.put("pose.x", motion)
        unit.put("wrench.force.x", wrench)
        if k % 2:
            unit.step(0.01)
        assert np.allclose(unit.get("force[1]", 6), forces[k], rtol=1e-12, atol=TOLERANCE)
        assert np.allclose(unit.get("cell[1]", 6), cells[k], rtol=1e-12, atol=TOLERANCE)
        assert np.allclose(unit.get("length[1]", 6), legs.length[k], rtol=0.0, atol=TOLERANCE)
        assert np.allclose(unit.get("speed[1]", 6), legs.velocity[k], rtol=0.0, atol=TOLERANCE)


def test_another_engine_agrees(run: Callable[..., Running]) -> None:
    """Pinocchio shares the mechanism's numbers with the units, and nothing else."""
    peer = PinocchioPlatform(MACHINES["tilted"])
    plant, inverse = run("plant", "tilted", "3.0"), run("inverse", "tilted")
    rng = np.random.default_rng(4)
    motions = random_motions(9, 60)
    sliding = np.abs(leg_kinematics(peer.mechanism.geometry, motions).velocity).min(axis=1) > 20.0 * COULOMB_SPEED
    assert sliding.sum() > 10
    for motion in motions[sliding][:10]:
        wrench = rng.normal(scale=30.0, size=6)
        inverse.put("pose.x", motion)
        inverse.put("wrench.force.x", wrench)
        forces = peer.inverse(motion, wrench)[0]
        assert np.allclose(inverse.get("force[1]", 6), forces, rtol=1e-9, atol=1e-7)
        forces += rng.normal(scale=50.0, size=6)
        plant.fmu.reset()
        plant.put("pose.x", motion[:13])
        plant.put("force[1]", forces)
        plant.put("wrench.force.x", wrench)
        plant.begin({})
        assert np.allclose(
            plant.get("acceleration.x", 6), peer.acceleration(motion[:13], forces, wrench), rtol=1e-9, atol=1e-7
        )


@each_version
def test_a_payload_is_a_parameter(run: Callable[..., Running], version: FmiVersion) -> None:
    heavier = replace(
        LAB,
        mass=25.0,
        center_of_mass=np.array([0.01, 0.02, 0.09]),
        inertia=LAB.inertia + np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.15]]),
        gravity=np.array([0.5, 0.2, -9.0]),
    )
    values = [heavier.mass, *heavier.center_of_mass, *heavier.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]]
    unit = run("plant", version=version, begun=False)
    unit.put("gravity.x", [*heavier.gravity, *values])
    unit.begin({})
    unit.step(0.002)
    dynamics = Dynamics(heavier, COULOMB_SPEED)
    state = np.concatenate([START["lab-hexapod"], np.zeros(6)])
    for _ in range(5):
        state = dynamics.step(state, unit.get("force[1]", 6), 0.0004)
    assert np.allclose(unit.get("pose.x", 13), state, rtol=0.0, atol=TOLERANCE)


@each_version
def test_instances_share_nothing(run: Callable[..., Running], version: FmiVersion) -> None:
    first, second = run("plant", version=version), run("plant", version=version)
    at_start = second.get("pose.x", 44)
    first.put("force[1]", np.zeros(6))
    first.step(0.01)
    assert np.array_equal(second.get("pose.x", 44), at_start)
    second.put("force[1]", np.zeros(6))
    second.step(0.01)
    assert np.array_equal(second.get("pose.x", 44), first.get("pose.x", 44))
    assert not np.allclose(second.get("pose.x", 44), at_start)


@each_version
def test_instances_run_at_the_same_time(run: Callable[..., Running], version: FmiVersion) -> None:
    """Each in a thread: a call of FMPy lets the others run."""
    units = [run("plant", version=version) for _ in range(4)]
    for unit in units:
        unit.put("force[1]", np.zeros(6))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda unit: [unit.step(0.02) for _ in range(3)], units))
    after = [unit.get("time", len(unit.references)) for unit in units]
    assert all(np.array_equal(one, after[0]) for one in after) and after[0][0] > 0.05


@each_version
def test_a_reset_instance_begins_again(run: Callable[..., Running], version: FmiVersion) -> None:
    unit = run("plant", version=version)
    count = len(unit.references)
    before = unit.get("time", count)
    unit.put("force[1]", np.zeros(6))
    unit.step(0.01)
    unit.fmu.reset()
    unit.begin({})
    assert np.array_equal(unit.get("time", count), before)


@each_version
def test_a_stored_state_is_gone_on_from(run: Callable[..., Running], version: FmiVersion) -> None:
    unit, other = run("plant", version=version), run("plant", version=version)
    unit.put("force[1]", np.arange(6.0))
    unit.step(0.01)
    stored, time = unit.fmu.getFMUState(), unit.time
    unit.step(0.01)
    after = unit.get("time", len(unit.references))
    for one in (unit, other):
        state = stored if one is unit else one.fmu.deserializeFMUState(unit.fmu.serializeFMUState(stored))
        one.fmu.setFMUState(state)
        one.time = time
        one.step(0.01)
        assert np.array_equal(one.get("time", len(one.references)), after)
    with pytest.raises(FMICallException):
        other.fmu.deserializeFMUState(b"x" * len(unit.fmu.serializeFMUState(stored)))
    assert "the state is not one of this unit" in other.log[-1][1]
    unit.fmu.freeFMUState(stored)
    other.fmu.freeFMUState(state)


def _refused(unit: Running, call: Callable[[], object], *words: str) -> None:
    """An error, and a last message in the log that has the words."""
    with pytest.raises(FMICallException) as caught:
        call()
    assert caught.value.status == 3
    status, text = unit.log[-1]
    assert status == 3 and all(word in text for word in words), text


@each_version
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_refused_by_name(
    run: Callable[..., Running], version: FmiVersion, value: float
) -> None:
    unit = run("plant", version=version)
    before = unit.get("force[1]", 6)
    _refused(unit, lambda: unit.set({"force[2]": 1.0, "force[3]": value}), "force[3]", "must be finite")
    assert np.array_equal(unit.get("force[1]", 6), before), "nothing of a refused call is taken"
    _refused(unit, lambda: unit.step(0.001), "has ended in an error")
    unit.fmu.reset()
    unit.time = 0.0
    unit.begin({})
    unit.step(0.001)


@each_version
def test_what_must_not_be_set_is_refused_by_name(run: Callable[..., Running], version: FmiVersion) -> None:
    for name, words in (
        ("length[4]", ("length[4]", "the unit computes it")),
        ("time", ("time", "the unit computes it")),
        ("platform.mass", ("platform.mass", "before the simulation")),
        ("pose.x", ("pose.x", "before the simulation")),
    ):
        unit = run("plant", version=version)
        _refused(unit, lambda unit=unit, name=name: unit.set({name: 1.0}), *words)  # type: ignore[misc]


@each_version
@pytest.mark.parametrize(
    ("start", "words"),
    [
        ({"pose.qw": 1.1}, ("pose.qw", "norm 1.1", "1e-06")),
        ({"platform.mass": 0.0}, ("platform.mass", "0 kg", "above 0 kg")),
        ({"platform.inertia.xy": 0.5}, ("platform.inertia.xx to platform.inertia.yz", "positive definite")),
        ({"platform.inertia.zz": -0.1}, ("platform.inertia.xx to platform.inertia.yz", "positive definite")),
    ],
    ids=["quaternion", "mass", "products", "moment"],
)
def test_a_start_that_cannot_be_is_refused_by_name(
    run: Callable[..., Running], version: FmiVersion, start: dict[str, float], words: tuple[str, ...]
) -> None:
    unit = run("plant", version=version, begun=False)
    _refused(unit, lambda: unit.begin({"pose.qx": 0.0, "pose.qy": 0.0, "pose.qz": 0.0, "pose.qw": 1.0} | start), *words)


def test_poses_without_forces_are_refused_by_leg(run: Callable[..., Running]) -> None:
    unit = run("inverse", "tilted")
    geometry = MACHINES["tilted"].geometry
    unit.put("pose.x", [*(geometry.base_points[3] - geometry.platform_points[3]), 1.0, 0.0, 0.0, 0.0])
    _refused(unit, lambda: unit.get("force[1]"), "length[4]", "leg 4 has no length")
    unit = run("inverse", "tilted")
    unit.set({"pose.qw": 0.9})
    _refused(unit, lambda: unit.step(0.01), "pose.qw, pose.qx, pose.qy, pose.qz", "must be 1")


@each_version
def test_steps_are_checked(run: Callable[..., Running], version: FmiVersion) -> None:
    unit = run("plant", version=version)
    _refused(unit, lambda: unit.fmu.doStep(0.5, 0.001), "time: 0.5 s, must be 0 s")
    for duration in (0.0, -0.001, float("nan"), float("inf"), 2e6):
        unit = run("plant", version=version)
        _refused(unit, lambda unit=unit, duration=duration: unit.step(duration), "communicationStepSize")  # type: ignore[misc]
    unit = run("plant", version=version, startTime=2.0, stopTime=2.01)
    unit.step(0.01)
    assert unit.get("time")[0] == 2.01
    _refused(unit, lambda: unit.step(0.01), "beyond the stop time of 2.01 s")
    unit = run("plant", version=version)
    unit.fmu.terminate()
    _refused(unit, lambda: unit.step(0.01), "not allowed after termination")


@each_version
def test_a_motion_that_diverges_is_refused(run: Callable[..., Running], version: FmiVersion) -> None:
    unit = run("plant", version=version)
    unit.put("force[1]", np.full(6, 1e300))
    _refused(unit, lambda: unit.step(1.0), "pose, velocity", "not finite or too large")


def test_a_leg_that_leaves_its_stroke_is_reported_once(run: Callable[..., Running]) -> None:
    unit = run("plant")
    unit.put("force[1]", np.full(6, 200.0))
    for _ in range(60):
        unit.step(0.005)
    assert {status for status, _text in unit.log} == {1}
    assert sorted(text.partition(":")[0] for _status, text in unit.log) == [f"length[{leg}]" for leg in range(1, 7)]
    assert all("outside the stroke of 0.4 to 0.62 m" in text for _status, text in unit.log)


@each_version
def test_another_units_description_is_refused(
    unit_file: Exported, version: FmiVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[tuple[int, str]] = []
    monkeypatch.setattr(Running, "log", property(lambda self: log, lambda self, value: None), raising=False)
    with pytest.raises(Exception, match="Failed to instantiate"):
        Running(unit_file("plant", "lab-hexapod", version), token="{00000000}")
    assert log == [(3, log[0][1])] and "the token is {00000000}, must be {" in log[0][1]


@each_version
def test_it_runs_by_the_simulator_of_fmpy(unit_file: Exported, version: FmiVersion) -> None:
    """With an input that changes, and start values: what a user would type."""
    path = str(unit_file("plant", "lab-hexapod", version))
    times = np.array([0.0, 0.05, 0.1])
    force = np.array(list(zip(times, [0.0, 5.0, 0.0], strict=True)), dtype=[("time", float), ("wrench.force.z", float)])
    result = simulate_fmu(
        path, stop_time=0.1, output_interval=0.01, input=force, output=["pose.z", "cell[1]"],
        start_values={"platform.mass": 17.0},
    )  # fmt: skip
    assert len(result) == 11 and result["pose.z"][-1] > result["pose.z"][0] + 1e-4


HOST = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "fmi2FunctionTypes.h"
int main(int count, char **given) {
    void *unit = dlopen(given[1], RTLD_NOW);
    if (!unit) { puts(dlerror()); return 1; }
    fmi2InstantiateTYPE *instantiate = dlsym(unit, "fmi2Instantiate");
    fmi2SetupExperimentTYPE *setup = dlsym(unit, "fmi2SetupExperiment");
    fmi2EnterInitializationModeTYPE *enter = dlsym(unit, "fmi2EnterInitializationMode");
    fmi2ExitInitializationModeTYPE *leave = dlsym(unit, "fmi2ExitInitializationMode");
    fmi2DoStepTYPE *step = dlsym(unit, "fmi2DoStep");
    fmi2GetRealTYPE *get = dlsym(unit, "fmi2GetReal");
    fmi2CallbackFunctions none = {0};
    fmi2Component one = instantiate("host", fmi2CoSimulation, given[2], "", &none, 0, 0);
    if (!one || setup(one, 0, 0.0, 0.0, 0, 0.0) || enter(one) || leave(one)) return 2;
    for (int k = 0; k < 100; k++) if (step(one, 0.001 * k, 0.001, 1)) return 3;
    fmi2ValueReference reference = atoi(given[3]);
    double value;
    if (get(one, &reference, 1, &value)) return 4;
    printf("%.17g", value);
    return 0;
}
"""


def test_a_host_without_python_runs_it(unit_file: Exported, run: Callable[..., Running], tmp_path: Path) -> None:
    """A program in C, and a library that asks for the C and the mathematical library alone, of any such processor."""
    import fmpy

    unit = run("plant")
    library = next(unit.folder.glob("binaries/linux64/*.so"))
    (tmp_path / "host.c").write_text("#include <stdlib.h>\n" + HOST, encoding="utf-8")
    headers = Path(fmpy.__file__).parent / "c-code"
    subprocess.run(["cc", f"-I{headers}", "host.c", "-o", "host", "-ldl"], cwd=tmp_path, check=True)
    arguments = [str(library), unit.fmu.guid, str(unit.references["pose.z"])]
    ended = subprocess.run([tmp_path / "host", *arguments], capture_output=True, text=True, check=True, env={})
    for _ in range(100):
        unit.step(0.001)
    assert float(ended.stdout) == unit.get("pose.z")[0]
    dynamic = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED +(\S+)", dynamic)) <= {"libc.so.6", "libm.so.6"}
    assert set(re.findall(r"GLIBC_[\d.]+", dynamic)) == {"GLIBC_2.2.5"}
    code = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "sqrtpd" in code and not re.search(r"[yz]mm\d", code)


def test_the_same_mechanism_gives_the_same_file(unit_file: Exported, tmp_path: Path) -> None:
    again = exported(_plant("lab-hexapod"), "2.0", tmp_path)
    assert again.read_bytes() == unit_file("plant", "lab-hexapod", "2.0").read_bytes()


def test_the_longest_step_is_where_friction_grows() -> None:
    """At the start pose the bound has a factor of two in hand."""
    unit = plant_unit(LAB, LAB.geometry.home_pose, 0.0005, COULOMB_SPEED)
    longest = longest_stable_step(unit)
    dynamics = Dynamics(LAB, COULOMB_SPEED)
    rest = np.concatenate([LAB.geometry.home_pose, np.zeros(6)])
    forces = dynamics.forces(np.concatenate([rest, np.zeros(6)]))

    def left(step: float) -> float:
        """Speed that is left of 1 µm/s after 40 steps: so slow that friction is linear."""
        state = rest.copy()
        state[7:13] = 1e-6 * np.array([1.0, -1.0, 1.0, 2.0, -1.0, 1.0])
        for _ in range(40):
            state = dynamics.step(state, forces, step)
        return float(np.abs(state[7:13]).max())

    assert left(longest) < 1e-6
    assert left(2.1 * longest) > 1e-5


def test_what_is_missing_for_an_export_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = _inverse("lab-hexapod")
    with (tmp_path / "unit.fmu").open("wb") as file:
        with monkeypatch.context() as patch:
            patch.setenv("CC", "no-such-compiler")
            with pytest.raises(InputError, match="there is no no-such-compiler"):
                build_unit(unit, "2.0", file)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "fmpy", None)
            with pytest.raises(InputError, match=r"stewart-rig\[fmi\]"):
                build_unit(unit, "2.0", file)


def test_a_status_that_is_not_known_ends_nothing(run: Callable[..., Running]) -> None:
    """FMI 2.0: what a unit cannot say is discarded, which is no error of the simulation."""
    unit = run("plant")
    unit.step(0.001)
    assert unit.fmu.getRealStatus(2) == 0.001
    assert not unit.fmu.getBooleanStatus(3)
    for asked in (unit.fmu.getStatus, unit.fmu.getRealStatus, unit.fmu.getIntegerStatus, unit.fmu.getBooleanStatus):
        with pytest.raises(FMICallException) as caught:
            asked(0)
        assert caught.value.status == 2 and "no step is pending" in unit.log[-1][1]
    unit.step(0.001)


@each_version
def test_what_is_logged_can_be_switched(run: Callable[..., Running], version: FmiVersion) -> None:
    unit = run("plant", version=version)
    nothing: list[str] = []
    for on, categories, logged in ((False, nothing, 0), (True, ["logStatusError"], 1), (True, nothing, 1)):
        unit.fmu.setDebugLogging(on, categories)
        before = len(unit.log)
        with pytest.raises(FMICallException):
            unit.set({"length[1]": 1.0})
        assert len(unit.log) - before == logged
    unit.fmu.setDebugLogging(True, ["events"])
    assert "there is no category events" in unit.log[-1][1]


@each_version
def test_bytes_that_are_no_state_are_refused(run: Callable[..., Running], version: FmiVersion) -> None:
    """Of the right unit and size, with a mode that there is not."""
    unit = run("plant", version=version)
    stored = unit.fmu.getFMUState()
    told = bytearray(unit.fmu.serializeFMUState(stored))
    place = -(-(len(unit.fmu.guid) + 1) // 4) * 4  # the mode follows the token
    assert told[place : place + 4] == b"\x02\0\0\0"
    told[place : place + 4] = b"\x7f\x7f\x7f\x7f"
    with pytest.raises(FMICallException):
        unit.fmu.deserializeFMUState(bytes(told))
    assert "the state is not one of this unit" in unit.log[-1][1]
    unit.fmu.freeFMUState(stored)


def test_an_event_mode_that_there_is_not_is_refused(run: Callable[..., Running]) -> None:
    unit = run("plant", version="3.0")
    with pytest.raises(Exception, match="Failed to instantiate"):
        unit.fmu.instantiate(logMessage=unit._log_3, eventModeUsed=True)
    assert "eventModeUsed must be false" in unit.log[-1][1]
