"""Digital inputs and outputs at the drives: bits of a profile, its checks, and the rig that has them."""

import re
import tomllib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from fault_bench import C0, faulty, stopped
from jrk_bench import JrkBench
from lockstep_bench import Bench, bench_config, reaction
from pydantic import ValidationError
from servo_profiles import profile

from actuators import COMMAND_OFF, ConfigurationError
from actuators.jrk.protocol import HALTING_LENGTH, PINS
from rig.config import RigConfig, load_config
from rig.engine import make_drive_group
from rig.engine.messages import Connect, Disconnect, Reset, Shutdown
from rig.errors import ConfigError, RefusedError
from rig.states import FaultCode, State

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


NEAR = {"drive": {"start_spread": 1e-3}, "cells": {"noise": 0.01}}


def at_legs(shipped: str, *tables: dict[str, Any], io: dict[str, Any], **drives: Any) -> RigConfig:
    """A shipped rig whose legs 1 to n have these keys as well; drives: further keys of them all."""
    config = load_config(shipped)
    fields = [leg.model_dump(exclude_unset=True) for leg in config.drives.legs]
    none: dict[str, Any] = {}
    legs = [{**leg, **table} for leg, table in zip_longest(fields, tables, fillvalue=none)]
    return config.changed(
        {"drives": {"legs": legs, **drives}, "load_cells": {"noise": 0.01}, "virtual": NEAR, "io": io}
    )


CHAIN = {"leg": 1, "name": "chain"}
AT_OTHERS = {
    "canopen": at_legs(
        "virtual-canopen",
        {"inputs": {"chain": 16}, "outputs": {"brake": 16, "lamp": 17}},
        *[{"outputs": {"brake": 16}}] * 5,
        io={
            "inputs": {"emergency_stop": CHAIN},
            "outputs": {
                "brakes": [{"leg": leg, "name": "brake"} for leg in range(1, 7)],
                "lamp": {"leg": 1, "name": "lamp"},
            },
        },
    ),
    "iai": at_legs(
        "virtual-iai",
        {"inputs": {"chain": 3}},
        io={
            "inputs": {
                "emergency_stop": CHAIN,
                "safe_torque_off": {"leg": 2, "name": "emergency_stop", "active": "low"},
            }
        },
    ),
    "jrk-g2": at_legs(
        "virtual-jrk-g2",
        {"inputs": {"chain": "rc"}},
        io={"inputs": {"emergency_stop": CHAIN}},
        reply_deadline=0.7,  # for the bytes that read its pins
    ),
}


@pytest.mark.parametrize("driver", AT_OTHERS)
def test_a_chain_at_a_drive_of_another_kind_stops_the_rig(tmp_path: Path, driver: str) -> None:
    with Bench(tmp_path, AT_OTHERS[driver]) as bench:
        bench.engage()
        assert all(bench.virtual.cabinet.outputs.values())
        bench.inject("io_emergency_stop")
        bench.until(lambda: bench.in_state(State.FAULT))
        assert bench.engine.snapshot.cause_code is FaultCode.EMERGENCY_STOP
        bench.steps(2)
        assert not any(on for name, on in bench.virtual.cabinet.outputs.items() if name != "lamp")
        with pytest.raises(RefusedError, match="emergency stop"):
            bench.rig.request(Reset())


def test_a_wire_that_breaks_at_a_drive_is_the_chain_that_opens(tmp_path: Path) -> None:
    with Bench(tmp_path, AT_OTHERS["iai"]) as bench:
        bench.engage()
        bench.inject("io_emergency_stop_wire")
        bench.until(lambda: bench.in_state(State.FAULT))
        assert bench.engine.snapshot.cause_code is FaultCode.EMERGENCY_STOP


def test_the_guides_examples_are_valid() -> None:
    page = (Path(__file__).parents[2] / "docs" / "inputs-and-outputs.md").read_text(encoding="utf-8")
    of_a_profile, legs, points = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[-3:]
    assert set(profile(**tomllib.loads(of_a_profile)).inputs) == {"chain", "sto"}
    group = make_drive_group(load_config("virtual-canopen").changed(tomllib.loads(legs) | tomllib.loads(points)))
    assert group.io is not None
    assert set(group.io.inputs) == {"emergency_stop", "safe_torque_off"}
    assert set(group.io.outputs) == {"lamp", *(f"brake_{leg}" for leg in range(1, 7))}


class _DamagedPins(JrkBench):
    """One of the two readings of the pins has another bit."""

    damaged = False

    def respond(self, frame: bytes) -> bytes:
        reply = bytearray(super().respond(frame))
        if self.damaged and len(reply) > HALTING_LENGTH:
            reply[HALTING_LENGTH] ^= 1 << PINS["rc"]
        return bytes(reply)


def test_pins_of_a_jrk_count_by_two_readings_that_agree() -> None:
    bench = _DamagedPins(inputs={"chain": "rc"})
    bench.drive.configure()
    assert bench.do(COMMAND_OFF).fresh and bench.drive.inputs == {"chain": True}
    bench.damaged = True
    assert not bench.do(COMMAND_OFF).fresh and bench.drive.inputs == {"chain": True}
    assert bench.drive.counters.rejected == 1


@pytest.mark.parametrize(
    ("shipped", "text"),
    [
        ("virtual-orca", "drive 1 has no input 'chain'; it has: none"),
        ("virtual-canopen", "drive 1 has no input 'chain'; it has: none"),
        ("virtual-iai", "drive 1 has no input 'chain'; it has: emergency_stop"),
        ("virtual-jrk-g2", "drive 1 has no input 'chain'; it has: none"),
    ],
)
def test_a_drive_without_the_point_is_named(shipped: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        make_drive_group(at_legs(shipped, io={"inputs": {"emergency_stop": CHAIN}}))


@pytest.mark.parametrize(
    ("shipped", "table", "text"),
    [
        ("virtual-canopen", {"inputs": {"chain": 4}}, r"inputs: chain: 4 must be one of bits 0\.\.3 \(limit"),
        ("virtual-canopen", {"inputs": {"a": 16, "b": 16}}, "a and b are the same, 16"),
        ("virtual-canopen", {"outputs": {"brake": 0}}, "brake: 0 must be one of bits 16"),
        ("virtual-iai", {"inputs": {"chain": 16}}, r"chain: 16 must be one of bits 0\.\.15"),
        ("virtual-iai", {"inputs": {"emergency_stop": 1}}, "'emergency_stop' is the name of a bit of its status"),
        ("virtual-jrk-g2", {"inputs": {"chain": "rx"}}, "chain: 'rx' must be one of 'scl', 'sda', 'rc', 'aux', 'fbt'"),
        ("virtual-orca", {"inputs": {"chain": 1}}, "inputs"),
    ],
)
def test_a_wrong_bit_of_a_drive_is_named(shipped: str, table: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        at_legs(shipped, table, io={"inputs": {"emergency_stop": CHAIN}})


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


def test_a_lamp_at_a_drive_does_not_stay_on_when_the_engine_ends(bench: Bench) -> None:
    bench.park().inject("io_emergency_stop")
    bench.until_state(State.FAULT)
    bench.until(lambda: outputs(bench)["lamp"])
    bench.rig.request(Shutdown())
    assert not any(outputs(bench).values())


def test_inputs_of_a_drive_are_unknown_before_it_answers(bench: Bench) -> None:
    bench.rig.request(Connect())
    assert bench.engine.snapshot.io is not None
    assert dict(bench.engine.snapshot.io.inputs) == {"emergency_stop": True, "safe_torque_off": True}
    bench.rig.request(Disconnect())
    assert bench.engine.snapshot.io is None


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
