"""Digital inputs and outputs at the drives: bits of a profile, its checks, and the rig that has them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_bench import C0, faulty, stopped
from lockstep_bench import Bench, bench_config, reaction
from pydantic import ValidationError
from servo_profiles import profile

from actuators import COMMAND_OFF
from actuators.virtual.mapped_servo import VirtualMappedServo
from rig.config import RigConfig
from rig.engine.messages import Connect, Disconnect
from rig.states import FaultCode, State
from rig.testing import DriveBench

POINTS: dict[str, Any] = {
    "inputs": {"chain": {"discrete": 12}, "sto": {"bit": 14, "active": "low"}},
    "outputs": {"lamp": {"coil": 40}, "brake": {"bit": 9}},
}
TEXT = """
[inputs]
chain = { discrete = 12 }
sto = { bit = 14, active = "low" }

[outputs]
lamp = { coil = 40 }
brake = 9
"""
IO = {
    "inputs": {"emergency_stop": {"leg": 1, "name": "chain"}, "safe_torque_off": {"leg": 4, "name": "sto"}},
    "outputs": {
        "lamp": {"leg": 6, "name": "lamp"},
        "brakes": [{"leg": leg, "name": "brake"} for leg in range(1, 7)],
    },
}


@pytest.fixture
def config(tmp_path: Path) -> RigConfig:
    """Six servos of the generic profile with points."""
    import actuators

    shipped = Path(actuators.__file__).parent / "profiles" / "generic-servo.toml"
    (file := tmp_path / "servo.toml").write_text(shipped.read_text(encoding="utf-8") + TEXT, encoding="utf-8")
    return bench_config(drives={"profile": str(file)}, io=IO)


@pytest.fixture
def bench(tmp_path: Path, config: RigConfig) -> Iterator[Bench]:
    with Bench(tmp_path, config) as made:
        yield made


def outputs(bench: Bench) -> dict[str, bool]:
    return bench.virtual.cabinet.outputs


def test_a_chain_at_a_drive_stops_the_rig(bench: Bench) -> None:
    bench.run()
    assert all(outputs(bench).values())
    bench.inject("io_emergency_stop")
    recording = stopped(bench, FaultCode.EMERGENCY_STOP, leg=0, homed=True)
    assert reaction(recording, faulty(bench, recording), C0) <= 2


def test_outputs_at_drives_follow_the_state(bench: Bench) -> None:
    bench.engage()
    assert all(outputs(bench).values())
    bench.engine.stop(0)
    bench.steps(1)
    assert not any(on for name, on in outputs(bench).items() if name.startswith("brake"))
    bench.until_state(State.PARKED)
    bench.steps(2)
    assert not any(outputs(bench).values())


def test_inputs_of_a_drive_are_unknown_before_it_answers(bench: Bench) -> None:
    bench.rig.request(Connect())
    assert bench.engine.snapshot.io is not None
    assert dict(bench.engine.snapshot.io.inputs) == {"emergency_stop": True, "safe_torque_off": True}
    bench.rig.request(Disconnect())
    assert bench.engine.snapshot.io is None


@pytest.fixture
def drive() -> DriveBench:
    return DriveBench("servo", {"host": "twin", "profile": profile(**POINTS)})


def test_a_drive_reads_and_switches_its_points(drive: DriveBench) -> None:
    device, twin = drive.drive, drive.faults.device
    assert isinstance(twin, VirtualMappedServo)
    assert (device.input_names, device.output_names) == (("chain", "sto"), ("lamp", "brake"))
    assert device.inputs == {}
    for chain, sto in ((True, True), (False, True), (True, False)):
        twin.inputs = {"chain": chain, "sto": sto}
        drive.do(COMMAND_OFF)
        assert device.inputs == {"chain": chain, "sto": sto}
    for name in device.output_names:
        device.switch(name, True)
        drive.do(COMMAND_OFF)
        assert twin.outputs == {one: one == name for one in device.output_names}
        device.switch(name, False)
    drive.drive.connect(1.0)
    assert device.inputs == {}


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        (
            {"inputs": {"a": {"mask": 12, "value": 4}}},
            "inputs.a: bits 0x0004 of its word are those of status.fault, too",
        ),
        ({"inputs": {"a": {"bit": 3, "word": "more"}}}, "inputs.a: no word 'more' in feedback.words"),
        ({"outputs": {"a": 1}}, r"outputs.a: bit 1 of the control word is taken twice"),
        ({"outputs": {"a": 9, "b": 9}}, r"outputs.b: bit 9 of the control word is taken twice"),
        ({"outputs": {"a": {"coil": 1}, "b": {"coil": 1}}}, "outputs.b: coil 1 is taken twice"),
        ({"outputs": {"a": {"discrete": 1}}}, "outputs.a: is written: a bit of the control word, or a coil"),
        ({"outputs": {"a": {"coil": 1, "active": "low"}}}, "one that is off has no signal"),
    ],
)
def test_a_wrong_point_is_named(tables: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        profile(**tables)
