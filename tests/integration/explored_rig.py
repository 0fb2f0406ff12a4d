"""A rig on which random operators ask, random faults happen and random clients come and go; Hypothesis draws them."""

import multiprocessing
import tempfile
from collections import Counter
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from explored_holds import Holds
from explored_motions import CONFIG, GOOD, MOTIONS
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from invariant_watcher import TorqueWatcher, Watcher

from actuators import Mode, Status
from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.config.rig_config import RigConfig
from rig.engine.lease import Leases
from rig.engine.link import Submission
from rig.engine.loop import Watch
from rig.engine.messages import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Stop,
)
from rig.runtime.control_block import ControlBlock
from rig.states import State
from rig.virtual import FAULTS

AMPLIFIER = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 5599}}
CONFIGS = {
    "as shipped": CONFIG,
    "cells on an amplifier": CONFIG.changed({"load_cells": AMPLIFIER}),
    "computed torque": CONFIG.changed({"mode": "computed-torque"}),
}
PERIOD = CONFIG.period
TARED = round(0.22 * CONFIG.rate)
"""cycles at rest in which the cells' zero is judged"""
HEARTBEAT = round(CONFIG.safety.heartbeat * CONFIG.rate)
"""cycles of silence that a client is borne"""

LYING = frozenset(
    {"swap_unit", "motor_exchanged", "brake_open", "brake_slips", "torque_stuck", "hang", "lag", "replay", "bit_flip"}
)
"""Faults with which a drive reports what is not so, or its leg does not do what the drive is told."""
UNHOMING = ("encoder_jump", "reboot")
ELSEWHERE = frozenset({"owner_hangs"})
"""Faults that only a rig of several processes can have."""
COMMANDS: list[RigCommand] = [
    Connect(), Disconnect(), Home(), Engage(), Pause(), Resume(), Abandon(), Park(), Reset(), Stop(0), Stop(1), Stop(2)
]  # fmt: skip


class Link:
    """As much of the control link as the watch looks at."""

    alive = True


class ExploredRig(Holds, RuleBasedStateMachine):
    """Random operators, faults and clients; `counts` what was done, over all runs."""

    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        block = ControlBlock.create()
        self.resources.callback(block.close)
        self.leases = Leases(block)
        self.take_lease("first")
        self.beats = True
        self.faulty = False
        self.unled = 0
        self.replies: list[Future[Reply]] = []
        self.resets: list[Future[Reply]] = []
        self.was: tuple[bool, object] = (False, None)

    @initialize(
        config=st.sampled_from(sorted(CONFIGS)), way=st.sampled_from(["running", "engaged", "parked", "idle", "off"])
    )
    def begin(self, config: str, way: str) -> None:
        self.start(CONFIGS[config])
        commands: list[RigCommand] = [Connect(), Home(), Engage()]
        states = (State.OFF, State.IDLE, State.PARKED, State.ENGAGED)
        for command, state in zip(commands, states[1:], strict=True):
            if way == states[states.index(state) - 1].name.lower():
                return
            self.ask_for(command)
            self.run_to(state)
            self.run(TARED if state is State.PARKED else 1)
        if way == "running":
            self.follow("gentle", 60)

    def start(self, config: RigConfig) -> None:
        folder = Path(self.resources.enter_context(tempfile.TemporaryDirectory()))
        self.rig = self.resources.enter_context(LockstepRig(config, folder / "x.mcap", Interruption()))
        self.engine, self.machine, self.operator = self.rig.engine, self.rig.engine.machine, self.rig.operator
        self.watcher, self.torque = Watcher(config), TorqueWatcher()
        self.engine.sink = self.watcher
        owner, ours = multiprocessing.Pipe()
        self.resources.callback(owner.close)
        self.resources.callback(ours.close)
        self.watch = Watch(self.engine, self.operator, Link(), self.leases, owner)  # type: ignore[arg-type]
        self.perform = self.operator._perform
        self.operator._perform = self.performed  # type: ignore[method-assign]
        self.faults = [
            name
            for name in FAULTS
            if name not in ELSEWHERE and (config.load_cells.amplifier or not name.startswith("amplifier_"))
        ]

    def teardown(self) -> None:
        if hasattr(self, "watch"):
            self.run(120)
            assert all(reply.done() for reply in self.replies)
            assert all(reply.done() for reply in self.resets) or self.machine.state is State.OFF
            self.counts["reset accepted"] += self._accepted()
            event(f"ends in {self.machine.state.name}")
        self.resources.close()

    def take_lease(self, client: str) -> None:
        """Have a client hold the lease, unless one does."""
        if self.leases.holder is None:
            self.sign = self.leases.block.sign(self.leases.grant(client).number)

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self, missed: int = 0) -> None:
        """One cycle of the rig's own, what is queued carried out before it, after `missed` that the host slept."""
        before, accepted, rows = self.machine.state, self._accepted(), self.watcher.rows
        waiting = any(not reply.done() for reply in self.replies)
        if self.beats:
            self.sign.beat()
        self.watch.look(self.engine.tick.t + PERIOD)
        self.rig.step(missed)
        assert self.watcher.rows - rows == (before is not State.OFF) or waiting
        if before is State.FAULT and self.machine.state is not State.FAULT:
            assert self._accepted() > accepted or waiting  # 2
        self.unled = self.unled + 1 if self.machine.state is State.RUNNING and not self.leases.holder else 0
        assert self.unled <= 1  # 6
        self._judge_torque()
        self.counts["cycles"] += 1

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.step()
            self.check_cause()

    def run_to(self, state: State, cycles: int = 1000) -> None:
        """Until the rig is in a state, or something keeps it from it."""
        for _ in range(cycles):
            if self.machine.state in (state, State.FAULT):
                return
            self.run(1)

    def _judge_torque(self) -> None:
        plant = self.rig.virtual.plant
        on = np.array([not plant.braked(leg) for leg in range(6)])
        self.torque.look(on, self.machine.state, ~self.watcher.lying)
        if self.watcher.lying.any() and not on.any() and not self.faulty:
            self.watcher.lying[:] = False

    def _accepted(self) -> int:
        return sum(reply.done() and reply.result().accepted for reply in self.resets)

    def snapshot(self) -> tuple[object, ...]:
        machine, reference = self.machine, self.engine.reference
        return (
            (machine.state, machine.stop, machine.cause, machine.latched, machine.homed),
            (reference.name, reference.path_time, reference.moving, reference.paused),
            (tuple(self.engine.commands), self.engine.clearing, self.engine.motions.name, self.engine.events),
        )

    def performed(self, job: Any) -> None:
        """Carry out a job, as the cyclic thread does between two cycles, and judge what came of it."""
        before, setpoint = self.snapshot(), tuple(self.engine.commands)
        self.perform(job)
        self.engine.publish()  # what was carried out is answered then
        command, reply = job.command, job.reply
        if not reply.done():
            assert self.may_wait(command)
            return
        accepted = reply.result().accepted
        if not accepted:
            assert reply.result().reason  # 16
            assert self.snapshot() == before
        if accepted:
            assert job.lease is None or job.lease.held  # 18
        if accepted and isinstance(command, Home | Engage):
            self.torque.granted()
        if isinstance(command, Connect | Reset):  # 3
            commands = tuple(self.engine.commands)
            assert all(one.mode is Mode.OFF for one in commands) or commands == setpoint
        self.counts[f"{command.kind} {'accepted' if accepted else 'refused'}"] += 1
        event(f"{command.kind} {accepted}")

    def submit(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        reply: Future[Reply] = Future()
        lease = None if isinstance(command, Stop) else self.leases.holder
        self.operator.submit(Submission(command, samples, reply, lease))
        (self.resets if isinstance(command, Reset) else self.replies).append(reply)
        return reply

    def ask_for(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        """Ask, and have it carried out before the next cycle begins."""
        reply = self.submit(command, samples)
        self.operator.carry_out()
        return reply

    def may_wait(self, command: RigCommand) -> bool:
        """For a late reply, drives that are asked or have yet to report their torque off, a reset to be done."""
        if isinstance(command, Reset):
            return self.engine.clearing
        if isinstance(command, Disconnect):
            return self.engine.bank.any(Status.ENABLED)
        if isinstance(command, Engage) and self.machine.state is State.PARKED:
            return True  # one drive after the other is asked whether it is as it was
        return isinstance(command, Home | Engage | Follow | Resume) and not self.engine.bank.fresh.all()

    # -- rules -------------------------------------------------------------------------------------------------------

    @rule(command=st.sampled_from(COMMANDS), cycles=st.integers(0, 50))
    def ask(self, command: RigCommand, cycles: int) -> None:
        self.ask_for(command)
        self.run(cycles)

    @rule(commands=st.lists(st.sampled_from(COMMANDS), min_size=2, max_size=4), cycles=st.integers(1, 60))
    def ask_at_once(self, commands: list[RigCommand], cycles: int) -> None:
        """Several commands between the same two cycles."""
        for command in commands:
            self.submit(command)
        self.run(cycles)

    @rule(mends=st.booleans(), parks=st.integers(0, 3), cycles=st.integers(1, 40))
    def progress(self, mends: bool, parks: int, cycles: int) -> None:
        self.advance(mends, parks, cycles)

    @rule(cycles=st.integers(1, 50))
    def go_on(self, cycles: int) -> None:
        self.advance(True, 2, cycles)

    def advance(self, mends: bool, parks: int, cycles: int) -> None:
        """What a patient operator would do next."""
        state = self.machine.state
        if mends or state is State.FAULT:
            self.clear()
        if state is State.ENGAGED and parks and not self.engine.reference.paused:
            self.follow("gentle" if parks > 1 else "brisk", cycles)
            return
        following: dict[State, tuple[RigCommand, State]] = {
            State.OFF: (Connect(), State.IDLE),
            State.IDLE: (Home(), State.PARKED),
            State.PARKED: (Engage(), State.ENGAGED),
            State.FAULT: (Reset(), State.IDLE),
            State.ENGAGED: (Resume(), State.RUNNING) if self.engine.reference.paused else (Park(), State.PARKED),
        }
        if state in following:
            command, then = following[state]
            self.ask_for(command)
            for _ in range(20 if state is State.FAULT else 1000):
                if self.machine.state in (then, State.FAULT) and state is not State.FAULT:
                    break
                self.run(1)
        self.run(TARED if self.machine.state is State.PARKED else cycles)

    @rule(pausing=st.integers(1, 80), cycles=st.integers(1, 20))
    def give_up(self, pausing: int, cycles: int) -> None:
        """Pause, and abandon what has come to a stand: the setpoint stays where it is."""
        self.ask_for(Pause())
        self.run(pausing)
        state, held, paused = self.machine.state, self.engine.frame.now.copy(), self.engine.reference.paused
        reply = self.ask_for(Abandon())
        if self.leases.holder:
            assert reply.result().accepted == (state is State.ENGAGED and paused)
        if reply.result().accepted:
            assert not self.engine.reference.paused
            self.step()
            assert self.machine.state is not State.ENGAGED or np.abs(self.engine.frame.now - held).max() < 1e-12
        self.run(cycles)

    @rule(name=st.sampled_from(sorted(MOTIONS)), cycles=st.integers(1, 60))
    def follow(self, name: str, cycles: int = 60) -> None:
        table = MOTIONS[name]
        self.ask_for(Follow(name, table.step), table.samples)
        if name not in GOOD:
            assert self.engine.reference.name != name
        self.run(cycles)

    @rule(
        command=st.sampled_from([Home(), Engage(), Resume(), Park(), Follow("gentle", PERIOD)]),
        taken=st.booleans(),
        cycles=st.integers(0, 60),
    )
    def hand_over(self, command: RigCommand, taken: bool, cycles: int) -> None:
        """The lease is given up while a command is on its way, and perhaps taken by another client."""
        samples = GOOD["gentle"].samples if isinstance(command, Follow) else None
        reply = self.submit(command, samples)
        self.leases.end(self.leases.holder)
        if taken:
            self.take_lease("another")
        self.step()
        assert reply.done() and not reply.result().accepted  # 18
        self.run(cycles)
        self.take_lease("first")

    @rule(silent=st.sampled_from([1, 20, HEARTBEAT - 5, HEARTBEAT + 5, HEARTBEAT + 20]))
    def fall_silent(self, silent: int) -> None:
        """The client gives no sign of life for a while; then another takes the lease."""
        self.beats = False
        self.run(silent)
        self.beats = True
        self.take_lease("another")

    @rule(data=st.data(), leg=st.integers(1, 6), cycles=st.integers(1, 50))
    def break_something(self, data: st.DataObject, leg: int, cycles: int) -> None:
        self.break_it(data.draw(st.sampled_from(self.faults)), leg)
        self.run(cycles)

    @rule(data=st.data(), cycles=st.integers(1, 50))
    def break_six(self, data: st.DataObject, cycles: int) -> None:
        """The same at every leg in the same cycle."""
        self.break_it(data.draw(st.sampled_from(self.faults)), None)
        self.run(cycles)

    def break_it(self, fault: str, leg: int | None) -> None:
        moving = self.machine.homed and not self.faulty and self.machine.state is not State.OFF
        whole = fault == "payload" or fault.startswith("amplifier_")
        if fault in LYING:
            self.watcher.lying[slice(None) if leg is None or fault == "motor_exchanged" else leg - 1] = True
        self.faulty = True
        self.rig.virtual.faults.inject(fault, None if whole else leg)
        if moving and fault in UNHOMING:  # 7
            self.run(3)
            assert not self.machine.homed
        self.counts[fault] += 1
        event(f"{fault} in {self.machine.state.name}")

    @rule(cycles=st.integers(0, 40))
    def clear(self, cycles: int = 20) -> None:
        self.rig.virtual.faults.clear()
        self.faulty = False
        self.run(cycles)

    @rule(missed=st.sampled_from([1, 1, 2, 5, 16]), times=st.integers(1, 4))
    def oversleep(self, missed: int, times: int) -> None:
        for _ in range(times):
            self.step(missed)
        self.run(20)

    @rule(text=st.sampled_from(["", "the disk is full"]), cycles=st.integers(0, 40))
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
        if hasattr(self, "watcher"):
            self.watcher.judge_references()
            self.counts["rules"] += 1
            self.counts[self.machine.state.name] += 1

    @invariant()
    def a_latched_fault_has_a_cause_in_words(self) -> None:
        if hasattr(self, "machine"):
            assert (not self.machine.latched) or (self.machine.cause is not None and self.machine.cause.text)
            assert self.machine.latched or self.machine.state is not State.FAULT
