"""What tests of the fault table have in common: bounds, and what must be true after a reaction."""

import numpy as np
import numpy.typing as npt
from configured import VIRTUAL
from lockstep_bench import Bench, causes

from actuators import Mode
from rig.recording import Recording
from rig.states import FaultCode, State, StopSeverity
from rig.telemetry import CycleFlag

K = 3  # stale samples that are borne
LEG = 3
D = 0.05  # s, the drives' watchdog
ONCE = 1.5 * VIRTUAL.period  # s: one exchange takes place in it

Q, C0, C1, C2 = StopSeverity.QUICK_STOP, StopSeverity.CATEGORY_0, StopSeverity.CATEGORY_1, StopSeverity.CATEGORY_2


def silence(bench: Bench) -> str:
    """What is said of feedback that is not fresh for as long as is borne."""
    bound = 1e3 * bench.config.stale_time
    return f"{bound:g} ms (bound {bound:g} ms)"


def faulty(bench: Bench, recording: Recording) -> npt.NDArray[np.bool_]:
    """Cycles that could see the fault."""
    found: npt.NDArray[np.bool_] = np.arange(len(recording.rows)) >= bench.injected
    return found


def stopped(bench: Bench, code: FaultCode, *, leg: int = LEG, homed: bool) -> Recording:
    """Wait for FAULT and look at what is kept: the first cause, latched, once; homing; the recording."""
    bench.until_state(State.FAULT)
    bench.steps(20)
    machine = bench.machine
    assert machine.cause is not None
    assert (machine.cause.code, machine.cause.leg) == (code, leg), machine.cause.text
    assert leg == 0 or f"leg {leg}" in machine.cause.text
    assert machine.latched and machine.homed is homed
    assert not bench.torque
    recording = bench.recording()
    assert recording.complete and recording.dropped == 0
    assert causes(recording)[0] is code and causes(recording).count(code) == 1
    invariants(recording)
    return recording


def lived_through(bench: Bench, stale: int) -> Recording:
    """The rig goes on as if nothing had happened; `stale` cycles of one leg were stale, no two in a row."""
    bench.steps(50)
    assert bench.in_state(State.RUNNING) and bench.machine.homed
    recording = bench.recording()
    assert recording.complete and causes(recording) == []
    assert recording.rows["stale"].max() == 1
    assert recording.rows["stale"].sum() == np.count_nonzero(recording.rows["stale"][:, LEG - 1]) == stale
    rows = recording.rows[bench.injected - 5 :]
    assert np.abs(rows["length"] - rows["length_reference"]).max() < 1e-3
    invariants(recording)
    return recording


def invariants(recording: Recording) -> None:
    """What holds in every cycle of every run."""
    rows = recording.rows
    latched = rows["flags"] & CycleFlag.LATCHED.value > 0
    torque = np.isin(rows["mode"], (Mode.FORCE, Mode.POSITION, Mode.HOMING)).any(axis=1)
    controlled_stop = (rows["state"] == State.STOPPING) & (rows["stop"] <= C1)
    assert not (latched & torque & ~controlled_stop).any(), "torque while a fault is latched"
    stopping = (rows["state"][1:] == State.STOPPING) & (rows["state"][:-1] == State.STOPPING)
    assert (np.diff(rows["stop"].astype(int))[stopping] >= 0).all(), "the severity of a stop fell"
    assert np.isfinite(rows["force_command"]).all() and np.abs(rows["force_command"]).max() <= 400.0
    running = rows["state"] == State.RUNNING
    assert (rows["flags"][running] & CycleFlag.HOMED.value).all(), "running without being homed"
