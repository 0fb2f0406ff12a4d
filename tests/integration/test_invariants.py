"""Whatever operators ask and whatever breaks: what must hold in every reachable state, on the lockstep rig."""

import tempfile
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from actuators import Mode, Status
from dynamics import LegLimits
from kinematics import MotionTable, leg_kinematics, pose_to_coordinates
from rig.config import load_config
from rig.engine.link import Submission
from rig.engine.machine import TORQUE_STATES
from rig.engine.messages import (
    Abandon,
    Command,
    Connect,
    Disconnect,
    Engage,
    Event,
    Follow,
    Home,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    Stop,
)
from rig.engine.ports import Tick
from rig.lockstep import LockstepRig
from rig.session import Interruption
from rig.states import State, StopCategory
from rig.telemetry import CycleFlag

CONFIG = load_config("virtual")
GEOMETRY = CONFIG.machine.geometry
LIMITS: LegLimits = CONFIG.machine.legs[0].limits or LegLimits()
PERIOD = CONFIG.period
EDGE = 1.0 + 1e-6

FAULTS = [
    "drop_write", "drop_all", "delay", "bit_flip", "busy", "replay", "rechunk", "close",
    "encoder_frozen", "encoder_jump", "encoder_scale", "encoder_nan", "encoder_reversed", "force_reversed",
    "cell_nan", "cell_silent", "cell_saturated", "cell_offset", "reboot", "jam", "weak", "force_step",
]  # fmt: skip
COMMANDS: list[Command] = [
    Connect(), Disconnect(), Home(), Engage(), Pause(), Resume(), Abandon(), Park(), Reset(), Stop(0), Stop(1), Stop(2)
]  # fmt: skip


def wave(duration: float, amplitude: float) -> MotionTable:
    """A sin⁴ in z and about x, from home and back."""
    t = np.arange(round(duration / PERIOD) + 1) * PERIOD
    w = np.pi / duration
    s, c = np.sin(w * t), np.cos(w * t)
    shape = np.stack([s**4, 4 * w * s**3 * c, w**2 * (12 * s**2 * c**2 - 4 * s**4)], axis=1)
    samples = (shape[:, :, np.newaxis] * amplitude * np.array([0, 0, 1.0, 3.0, 0, 0])).reshape(len(t), 18)
    samples[:, :6] += pose_to_coordinates(GEOMETRY.home_pose)
    return MotionTable(PERIOD, samples)


def torn(table: MotionTable) -> MotionTable:
    samples = table.samples.copy()
    samples[len(samples) // 2, 2] += 0.01
    return MotionTable(table.step, samples)


MOTIONS = {
    "gentle": wave(0.8, 4e-3),
    "brisk": wave(0.4, 8e-3),
    "beyond the stroke": wave(0.8, 0.3),
    "beyond the speed": wave(0.05, 0.02),
    "torn": torn(wave(0.4, 4e-3)),
    "sparse": MotionTable(0.05, wave(0.8, 0.04).samples[[0, 200]]),
}


class Watcher:
    """A sink that judges every row as it comes."""

    def __init__(self) -> None:
        self.fault = ""
        self.before: npt.NDArray[np.void] | None = None
        self.in_fault = 0
        self.rows = 0
        self.pending: list[npt.NDArray[np.void]] = []

    def event(self, event: Event) -> None:
        assert event.text

    def push(self, row: npt.NDArray[np.void]) -> None:
        now = row[0]
        state, stop, flags = State(now["state"]), StopCategory(now["stop"]), CycleFlag(int(now["flags"]))
        enabled, fresh = now["drive_status"] & Status.ENABLED != 0, now["stale"] == 0
        controlled = state in TORQUE_STATES and state is not State.HOMING and stop < StopCategory.QUICK_STOP
        # 1: with a fault latched, force is commanded only to decelerate or to hold, and no drive that answers has any
        if CycleFlag.LATCHED in flags:
            assert state in (State.STOPPING, State.FAULT)
        assert (now["mode"] == Mode.FORCE) <= controlled
        if state not in TORQUE_STATES:
            assert now["mode"] == Mode.OFF and not now["force_command"].any()
        self.in_fault = self.in_fault + 1 if state is State.FAULT else 0
        if self.in_fault > 5:
            assert not (enabled & fresh).any()
        # 6
        if state is State.RUNNING:
            assert CycleFlag.HOMED in flags and not self.fault
        # 7
        if CycleFlag.HOMED in flags:
            assert (now["drive_status"][fresh] & Status.HOMED != 0).all()
        if self.before is not None:
            self._compare(self.before[0], now, enabled, fresh)
        self.before = row.copy()
        self.rows += 1
        if controlled:
            self.pending.append(row.copy())

    def _compare(self, before: Any, now: Any, enabled: npt.NDArray[np.bool_], fresh: npt.NDArray[np.bool_]) -> None:
        # 2
        if before["state"] == State.FAULT:
            assert now["state"] in (State.FAULT, State.IDLE, State.OFF)
        # 8
        if before["state"] == now["state"] == State.STOPPING:
            assert now["stop"] >= before["stop"]
        # 9: the cycle that finds the cause tells every leg
        if now["stop"] >= StopCategory.QUICK_STOP > before["stop"] and before["state"] in TORQUE_STATES:
            stopping = now["drive_status"] & Status.QUICK_STOP != 0
            assert (stopping | ~enabled | ~fresh).all()
        # 10
        elapsed = now["t"] - before["t"]
        if now["path_time"] > before["path_time"] and now["state"] == before["state"] == State.RUNNING:
            assert now["path_time"] - before["path_time"] <= elapsed * EDGE
        # 14
        if before["flags"] & now["flags"] & CycleFlag.LATCHED:
            assert (now["fault"], now["fault_leg"]) == (before["fault"], before["fault_leg"])

    def judge_references(self) -> None:
        """Invariants 4 and 5 of the rows since the last look: only now, all at once."""
        if not self.pending:
            return
        rows = np.concatenate(self.pending)
        self.pending.clear()
        legs = leg_kinematics(GEOMETRY, rows["reference"])
        assert LIMITS.length and LIMITS.velocity and LIMITS.acceleration and LIMITS.force
        assert np.isfinite(rows["reference"]).all() and np.isfinite(rows["force_command"]).all()
        assert LIMITS.length[0] / EDGE <= legs.length.min() and legs.length.max() <= LIMITS.length[1] * EDGE
        assert np.abs(legs.velocity).max() <= LIMITS.velocity * EDGE
        assert np.abs(legs.acceleration).max() <= LIMITS.acceleration * EDGE
        assert np.abs(rows["force_command"]).max() <= LIMITS.force * EDGE
        assert rows["condition"].max() <= CONFIG.safety.condition


class Rig(RuleBasedStateMachine):
    """Random operators and random faults."""

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        folder = Path(self.resources.enter_context(tempfile.TemporaryDirectory()))
        self.rig = self.resources.enter_context(LockstepRig(CONFIG, folder / "x.mcap", Interruption()))
        self.engine, self.machine = self.rig.engine, self.rig.engine.machine
        self.watcher = Watcher()
        self.engine.sink = self.watcher
        self.t = 0.0
        self.overruns = 0
        self.faulty = False
        self.resets: list[Future[Reply]] = []
        self.was: tuple[bool, object] = (False, None)

    def teardown(self) -> None:
        self.run(200)
        assert all(reply.done() for reply in self.resets) or self.machine.state is State.OFF
        event(f"ends in {self.machine.state.name}")
        self.resources.close()

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self, missed: int = 0) -> None:
        """One cycle, after `missed` that the host slept through."""
        before, accepted = self.machine.state, self._accepted()
        self.t += (1 + missed) * PERIOD
        self.overruns += missed
        self.rig._clock.set(self.t)
        self.rig.virtual.advance(self.t)
        rows = self.watcher.rows
        self.engine.step(Tick(self.t, 0.0, PERIOD, self.overruns))
        assert self.watcher.rows - rows == (before is not State.OFF)
        if before is State.FAULT and self.machine.state is not State.FAULT:
            assert self._accepted() > accepted  # 2

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.step()
            self.check_cause()

    def _accepted(self) -> int:
        return sum(reply.done() and reply.result().accepted for reply in self.resets)

    def snapshot(self) -> tuple[object, ...]:
        machine, reference = self.machine, self.engine.reference
        return (
            (machine.state, machine.stop, machine.cause, machine.latched, machine.homed),
            (reference.name, reference.path_time, reference.moving, reference.paused),
            (self.engine.commands, self.engine.clearing, self.rig.operator.motion, len(self.engine.events)),
        )

    def ask_for(self, command: Command, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        reply: Future[Reply] = Future()
        before, setpoint = self.snapshot(), self.engine.commands
        self.rig.operator.submit(Submission(command, samples, reply))
        self.rig.operator.carry_out()
        if isinstance(command, Reset):
            self.resets.append(reply)
            assert reply.done() or self.engine.clearing
        else:
            assert reply.done() or self.may_wait(command)
        if reply.done() and not reply.result().accepted:
            assert reply.result().reason  # 16
            assert self.snapshot() == before
        if isinstance(command, Connect | Reset):  # 3
            assert all(one.mode is Mode.OFF for one in self.engine.commands) or self.engine.commands == setpoint
        event(f"{command.kind} {'pending' if not reply.done() else reply.result().accepted}")
        return reply

    def may_wait(self, command: Command) -> bool:
        """For a late reply, or for drives that have not reported their torque off yet."""
        if isinstance(command, Disconnect):
            return self.engine.bank.any(Status.ENABLED)
        return isinstance(command, Home | Engage | Follow | Resume) and not self.engine.bank.fresh.all()

    # -- rules -------------------------------------------------------------------------------------------------------

    @initialize(way=st.sampled_from(["running", "engaged", "parked", "idle", "off"]))
    def begin(self, way: str) -> None:
        for state, commands, cycles in (
            ("off", [Connect()], 2),
            ("idle", [Home()], 700),
            ("parked", [Engage()], 200),
            ("engaged", [], 1),
        ):
            if way == state:
                return
            for command in commands:
                self.ask_for(command)
            self.run(cycles)
        self.follow("gentle")

    @rule(command=st.sampled_from(COMMANDS), cycles=st.integers(0, 120))
    def ask(self, command: Command, cycles: int) -> None:
        self.ask_for(command)
        self.run(cycles)

    @rule()
    def progress(self) -> None:
        """What a patient operator would do next."""
        following: dict[State, Command] = {
            State.OFF: Connect(), State.IDLE: Home(), State.PARKED: Engage(), State.FAULT: Reset(),
            State.ENGAGED: Resume() if self.engine.reference.paused else Park(),
        }  # fmt: skip
        if self.machine.state is State.FAULT:
            self.clear()
        command = following.get(self.machine.state)
        if command is not None:
            self.ask_for(command)
        self.run(600 if isinstance(command, Home) else 150)

    @rule(pausing=st.integers(1, 250), cycles=st.integers(1, 50))
    def give_up(self, pausing: int, cycles: int) -> None:
        """Pause, and abandon what has come to a stand: the setpoint stays where it is."""
        self.ask_for(Pause())
        self.run(pausing)
        state, held, paused = self.machine.state, self.engine.frame.now.copy(), self.engine.reference.paused
        reply = self.ask_for(Abandon())
        assert reply.result().accepted == (state is State.ENGAGED and paused)
        if reply.result().accepted:
            assert not self.engine.reference.paused
            self.step()
            assert self.machine.state is not State.ENGAGED or np.abs(self.engine.frame.now - held).max() < 1e-12
        self.run(cycles)

    @rule(name=st.sampled_from(sorted(MOTIONS)), cycles=st.integers(1, 250))
    def follow(self, name: str, cycles: int = 150) -> None:
        table = MOTIONS[name]
        self.ask_for(Follow(name, table.step), table.samples)
        if name not in ("gentle", "brisk"):
            assert self.engine.reference.name != name
        self.run(cycles)

    @rule(fault=st.sampled_from(FAULTS), leg=st.integers(1, 6), cycles=st.integers(1, 80))
    def break_something(self, fault: str, leg: int, cycles: int) -> None:
        moving = self.machine.homed and not self.faulty and self.machine.state is not State.OFF
        self.rig.virtual.faults.inject(fault, leg)
        if moving and fault in ("encoder_jump", "reboot"):  # 7
            self.run(3)
            assert not self.machine.homed
        self.faulty = True
        event(f"{fault} in {self.machine.state.name}")
        self.run(cycles)

    @rule(cycles=st.integers(0, 40))
    def clear(self, cycles: int = 20) -> None:
        self.rig.virtual.faults.clear()
        self.faulty = False
        self.run(cycles)

    @rule(missed=st.sampled_from([1, 1, 2, 10, 40]), times=st.integers(1, 4))
    def oversleep(self, missed: int, times: int) -> None:
        for _ in range(times):
            self.step(missed)
        self.run(20)

    @rule(text=st.sampled_from(["", "the disk is full"]), cycles=st.integers(0, 100))
    def record(self, text: str, cycles: int) -> None:
        self.watcher.fault = text
        self.run(cycles)

    # -- after every rule --------------------------------------------------------------------------------------------

    def check_cause(self) -> None:
        """Invariant 14: while latched the cause is one and the same."""
        latched, cause = self.was
        if latched and self.machine.latched:
            assert self.machine.cause is cause
        self.was = (self.machine.latched, self.machine.cause)

    @invariant()
    def references_keep_to_the_limits(self) -> None:
        self.watcher.judge_references()

    @invariant()
    def a_latched_fault_has_a_cause_in_words(self) -> None:
        assert (not self.machine.latched) or (self.machine.cause is not None and self.machine.cause.text)
        assert self.machine.latched or self.machine.state is not State.FAULT


TestRig = Rig.TestCase
TestRig.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
