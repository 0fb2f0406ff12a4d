"""A rig on which random operators ask, random faults happen and random clients come and go; Hypothesis draws them."""

import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from checkpoints import go
from configured import VIRTUAL
from exploration import either
from explored_coverage import KINDS, Coverage
from explored_motions import BAD, GOOD, motions
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from invariant_watcher import TorqueWatcher, Watcher

from actuators import Mode, Status
from kinematics import MotionTable, pose_to_coordinates
from rig.client.interruption import Interruption
from rig.client.lockstep import LockstepRig
from rig.config import RigConfig, load_config
from rig.engine import (
    RAMPS,
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    MoveLeg,
    Pace,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
    Submission,
)
from rig.engine.lease import Lease, Leases
from rig.engine.loop import Watch
from rig.errors import InputError, RefusedError
from rig.runtime import ControlBlock, LeaseSign
from rig.states import State
from rig.virtual import FAULTS

AMPLIFIER = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 5599}}
CHANGES: dict[str, dict[str, Any]] = {
    "servos on TCP": {},
    "cells on an amplifier": {"load_cells": AMPLIFIER},
    **{mode: {"mode": mode} for mode in ("computed-torque", "observer", "position")},
}
KINDS_OF_DRIVE = ("servo", "mixed", "orca", "iai", "jrk-g2", "canopen")
CONFIGS: dict[str, Callable[[], RigConfig]] = {
    **{name: partial(VIRTUAL.changed, changes) for name, changes in CHANGES.items()},
    **{kind: partial(load_config, f"virtual-{kind}") for kind in KINDS_OF_DRIVE},
}
"""Every control law, every kind of drive, on TCP and on serial lines."""

EXCHANGED = ("motor_exchanged", "encoder_exchanged")
LYING = frozenset({
    "swap_unit", *EXCHANGED, "brake_open", "brake_slips", "torque_stuck", "hang", "lag", "replay", "bit_flip",
})  # fmt: skip
"""Faults with which a drive reports what is not so, or its leg does not do what the drive is told."""
UNHOMING = ("encoder_jump", "reboot")
LEG_MOVES = [MoveLeg(leg, travel, 0.02, home=True) for leg, travel in ((2, 2e-3), (5, -2e-3))]
COMMANDS: list[RigCommand] = [
    Connect(), Disconnect(), Home(), Engage(), Pause(), Resume(), Abandon(), Park(), Reset(), Stop(0), Stop(1), Stop(2),
    Pace(0.5), Pace(1.0), *LEG_MOVES, Shutdown(),
]  # fmt: skip
STARTS = (State.ENGAGED, State.PARKED, State.IDLE, State.OFF)
"""States in which a rig is taken up; from the first of them a motion is begun."""
BEGIN_AT = {
    State.HOMING: State.IDLE,
    State.SINGLE_LEG: State.IDLE,
    State.ENGAGING: State.PARKED,
    State.RUNNING: State.ENGAGED,
    State.PARKING: State.ENGAGED,
    State.STOPPING: State.ENGAGED,
    State.FAULT: State.IDLE,
}
"""From where those that pass by, or are a fault's, are reached."""
MOVING = frozenset({State.HOMING, State.ENGAGING, State.RUNNING, State.PARKING, State.SINGLE_LEG})
"""States in which the rig moves at somebody's command."""
_PATIENCE = 2000  # cycles until a state is reached
_OFF_HOME = 1e-3  # m, rad, by which a rig that holds at home may be off it
_STEPS = either(0, 4)  # from a fault to torque


class Link:
    """As much of the control link as the watch looks at."""

    alive = True


class Client:
    """A process that may command: it lives, hangs, or is dead; and it may think that it holds the lease.

    Args:
        leases: where it asks for it.
        name: of the client.
    """

    def __init__(self, leases: Leases, name: str) -> None:
        self.name = name
        self.alive = self.beating = True
        self.lease: Lease | None = None
        self._leases = leases
        self._sign: LeaseSign | None = None

    def acquire(self) -> bool:
        """Ask for the lease."""
        try:
            self.lease = self._leases.grant(self.name)
        except RefusedError:
            return False
        self._sign = self._leases.block.sign(self.lease.number)
        return True

    def release(self) -> None:
        """Give the lease back."""
        self._leases.end(self.lease)
        self.lease = self._sign = None

    def live(self) -> None:
        """Show that it lives, as its own thread does all the time, whether the lease is still its own or not."""
        if self._sign is not None and self.alive and self.beating:
            self._sign.beat()


class ExploredRig(RuleBasedStateMachine):
    """The rig, its clients and all that must hold whatever they do; what they do are the rules of those who derive.

    `counts` what was done and `coverage` what was asked for where, over all runs.
    """

    counts: ClassVar[Counter[str]] = Counter()
    coverage: ClassVar[Coverage] = Coverage()

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        self.owner, ours = multiprocessing.Pipe()
        self.resources.callback(self.owner.close)
        self.resources.callback(ours.close)
        block = ControlBlock.create()
        self.resources.callback(block.close)
        self.leases = Leases(block)
        self.clients = [Client(self.leases, name) for name in ("app", "script", "console")]
        self.clients[0].acquire()
        self.knocking = False
        """whether clients without the lease ask for it in every cycle"""
        self.active: set[str] = set()
        """faults that are there"""
        self.begun = False
        self.rig: LockstepRig

    @initialize(config=st.sampled_from(sorted(CONFIGS)), state=st.sampled_from(STARTS))
    def begin(self, config: str, state: State) -> None:
        self.config = CONFIGS[config]()
        self.motions = motions(self.config)
        self.heartbeat = round(self.config.safety.heartbeat * self.config.rate)
        self.renewal = round(self.config.safety.hold_renewal * self.config.rate)
        self.tared = round(0.25 * self.config.rate)
        self.counts[config] += 1
        self.start(state)
        if state is State.ENGAGED:
            self.follow_one("gentle")
            self.run(60)

    # -- the rig -----------------------------------------------------------------------------------------------------

    def start(self, state: State) -> None:
        """Take a new rig, in one of the states of `STARTS`; that which was there before is gone."""
        self.end()
        self.once = ExitStack()
        folder = Path(self.once.enter_context(tempfile.TemporaryDirectory()))
        self.rig = self.once.enter_context(LockstepRig(self.config, folder / "x.mcap", Interruption()))
        go(self.rig, self.rig, ("explored", state), partial(_walk_to, self.rig, state, self.tared))
        self.engine, self.machine, self.operator = self.rig.engine, self.rig.engine.machine, self.rig.operator
        self.watcher, self.torque = Watcher(self.config), TorqueWatcher()
        self.engine.sink = self.watcher
        self.torque.begin(self._brakes_open())
        self.watch = Watch(self.engine, self.operator, Link(), self.leases, self.owner)  # type: ignore[arg-type]
        self.perform = self.operator._perform
        self.operator._perform = self.performed  # type: ignore[method-assign]
        self.rig.virtual.faults._hang = self.owner_hangs
        self.active.clear()
        self.replies: list[Future[Reply]] = []
        self.resets: list[Future[Reply]] = []
        self.was: tuple[bool, object] = (False, None)
        self.unled = self.silent = 0
        self.begun = True

    def end(self) -> None:
        """Let go of the rig, all that was asked for being answered."""
        if self.begun:
            self.begun = False
            self.counts["reset accepted"] += self._accepted()
            self.once.close()

    def teardown(self) -> None:
        if self.begun:
            self.run(120)
            assert all(reply.done() for reply in self.replies)
            assert all(reply.done() for reply in self.resets) or self.machine.state is State.OFF
            self.end()
        self.resources.close()

    def step(self, missed: int = 0) -> None:
        """One cycle of the rig's own, what is queued carried out before it, after `missed` that the host slept."""
        before, accepted, rows = self.machine.state, self._accepted(), self.watcher.rows
        waiting = any(not reply.done() for reply in self.replies)
        for client in self.clients:
            client.live()
            if self.knocking and client.alive and self.leases.holder is not None:
                assert not Client(self.leases, client.name).acquire()  # 13
        self.watch.look(self.engine.tick.t + self.config.period)
        self.rig.step(missed)
        assert self.watcher.rows - rows == (before is not State.OFF) or waiting
        if before is State.FAULT and self.machine.state is not State.FAULT:
            assert self._accepted() > accepted or waiting  # 2
        self._judge_lease(missed)
        self._judge_torque()
        self.counts["cycles"] += 1
        if self.operator.ended:
            assert not self._brakes_open()[~self.watcher.lying].any()  # 25
            self.start(State.OFF)

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.step()
            self.check_cause()

    def run_to(self, *states: State, cycles: int = _PATIENCE) -> bool:
        """Until the rig is in one of the states; whether it is, and nothing has kept it from it."""
        for _ in range(cycles):
            if self.machine.state in (*states, State.FAULT):
                break
            self.run(1)
        return self.machine.state in states

    def _judge_lease(self, missed: int) -> None:
        """6 and 21: it moves under a lease, and only as long as its holder itself gives signs of life."""
        moving, holder = self.machine.state in MOVING, self.leases.holder
        lives = any(client.lease is holder and client.alive and client.beating for client in self.clients)
        self.unled = self.unled + 1 if moving and holder is None else 0
        self.silent = self.silent + 1 + missed if moving and not lives else 0
        assert self.unled <= 1
        assert self.silent <= self.heartbeat + missed + 2

    def _judge_torque(self) -> None:
        on = self._brakes_open()
        self.torque.look(on, self.machine.state, ~self.watcher.lying)
        if self.watcher.lying.any() and not on.any() and not self.active:
            self.watcher.lying[:] = False

    def _brakes_open(self) -> npt.NDArray[np.bool_]:
        plant = self.rig.virtual.plant
        return np.array([not plant.braked(leg) for leg in range(6)])

    def _accepted(self) -> int:
        return sum(reply.done() and reply.result().accepted for reply in self.resets)

    def snapshot(self) -> tuple[object, ...]:
        machine, reference = self.machine, self.engine.reference
        return (
            (machine.state, machine.stop, machine.cause, machine.latched, machine.homed),
            (reference.name, reference.path_time, reference.moving, reference.paused),
            (tuple(self.engine.commands), self.engine.clearing, self.engine.motions.name, self.engine.events),
        )

    # -- commands ----------------------------------------------------------------------------------------------------

    def performed(self, job: Any) -> None:
        """Carry out a job, as the cyclic thread does between two cycles, and judge what came of it."""
        before, setpoint, state = self.snapshot(), tuple(self.engine.commands), self.machine.state
        self.coverage.ask(state, job.command, self.active)
        self.perform(job)
        self.engine.publish()  # what was carried out is answered then
        command, reply = job.command, job.reply
        if not reply.done():
            assert self.may_wait(command)
            if isinstance(command, Reset) and self.engine.clearing:
                self.coverage.accept(state, command)
            return
        accepted = reply.result().accepted
        if not accepted:
            assert reply.result().reason  # 16
            assert self.snapshot() == before
        if accepted:
            assert job.lease is None or job.lease.active  # 18
            self.coverage.accept(state, command)
        if accepted and isinstance(command, Home | Engage | MoveLeg):
            leg = command.leg if isinstance(command, MoveLeg) else None
            # a leg that is to look for its reference first rests without torque between that and its move
            looks = isinstance(command, MoveLeg) and not self.engine.drives.status[command.leg - 1] & Status.HOMED
            self.torque.granted(leg, 2 if looks else 1)
        if isinstance(command, Connect | Reset):  # 3
            commands = tuple(self.engine.commands)
            assert all(one.mode is Mode.OFF for one in commands) or commands == setpoint
        self.counts[f"{command.kind} {'accepted' if accepted else 'refused'}"] += 1

    def submit(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        """Send what the holder of the lease asks for; where nobody holds it, somebody who lives takes it."""
        if self.leases.holder is None:
            self.living().acquire()
        lease = None if isinstance(command, Stop) else self.leases.holder
        return self._send(Submission(command, samples, Future(), lease))

    def _send(self, submission: Submission) -> Future[Reply]:
        self.operator.submit(submission)
        (self.resets if isinstance(submission.command, Reset) else self.replies).append(submission.reply)
        return submission.reply

    def living(self) -> Client:
        """A client that lives; if there is none, a new one begins."""
        found = [client for client in self.clients if client.alive and client.beating]
        if not found:
            self.clients[-1] = Client(self.leases, self.clients[-1].name)
            found = [self.clients[-1]]
        return found[0]

    def ask_for(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> Future[Reply]:
        """Ask, and have it carried out before the next cycle begins."""
        reply = self.submit(command, samples)
        self.operator.carry_out()
        return reply

    def motion(self, name: str) -> MotionTable:
        """A motion of that name; one from home begins where a rig stands that is a step of its encoders off."""
        table = self.motions[name]
        if self.machine.state is not State.ENGAGED:
            return table
        off = pose_to_coordinates(self.engine.cycle_data.reference.now[:7]) - table.samples[0, :6]
        if np.abs(off).max() > _OFF_HOME:
            return table
        return MotionTable(table.step, table.samples + np.concatenate([off, np.zeros(12)]))

    def follow_one(self, name: str) -> Future[Reply]:
        table = self.motion(name)
        return self.ask_for(Follow(name, table.step), table.samples)

    def go_on_with_it(self) -> Future[Reply]:
        """Resume what is paused, whoever has begun it."""
        self.engine.publish()
        return self.ask_for(Resume(take_over=bool(self.engine.snapshot.begun_by)))

    def may_wait(self, command: RigCommand) -> bool:
        """For a late reply, drives that are asked or have yet to report their torque off, a reset to be done."""
        if isinstance(command, Reset):
            return self.engine.clearing
        if isinstance(command, Disconnect | Shutdown):
            return self.engine.drives.any(Status.ENABLED)
        if isinstance(command, Engage) and self.machine.state is State.PARKED:
            return True  # one drive after the other is asked whether it is as it was
        if isinstance(command, Home | MoveLeg) and self.engine.drives.any(Status.ENABLED):
            return True
        fresh = self.engine.drives.fresh.all() and self.engine.drives.cells_fresh
        return isinstance(command, Home | MoveLeg | Engage | Follow | Resume) and not fresh

    def advance(self, mends: bool, parks: int, cycles: int) -> None:
        """What a patient operator would do next."""
        state, paused = self.machine.state, self.engine.reference.paused
        if mends or state is State.FAULT:
            self.mend()
            self.run(20)
        if state is State.ENGAGED and parks and not paused:
            self.follow_one("gentle" if parks > 1 else "brisk")
            self.run(cycles)
            return
        following: dict[State, tuple[RigCommand, State]] = {
            State.OFF: (Connect(), State.IDLE),
            State.IDLE: (Home(), State.PARKED),
            State.PARKED: (Engage(), State.ENGAGED),
            State.FAULT: (Reset(), State.IDLE),
            State.ENGAGED: (Park(), State.PARKED),
        }
        if state is State.ENGAGED and paused:
            self.go_on_with_it()
        elif state in following:
            command, then = following[state]
            self.ask_for(command)
            self.run_to(then, cycles=20 if state is State.FAULT else 1000)
        self.run(self.tared if self.machine.state is State.PARKED else cycles)

    # -- faults ------------------------------------------------------------------------------------------------------

    def break_it(self, fault: str, leg: int | None, duration: float | None = None) -> bool:
        """Have a fault begin; False where the devices of this rig, or that leg, cannot have it."""
        moving = self.machine.homed and not self.active and self.machine.state is not State.OFF
        whole = fault in ("payload", "owner_hangs") or fault.startswith("amplifier_")
        if fault == "amplifier_invalid":
            whole = False
        try:
            self.rig.virtual.faults.inject(fault, None if whole else leg, None, duration)
        except InputError:
            return False
        if fault in LYING:
            self.watcher.lying[slice(None) if leg is None or fault in EXCHANGED else leg - 1] = True
        self.active.add(fault)
        if moving and fault in UNHOMING:  # 7
            self.run(3)
            assert not self.machine.homed
        self.counts[fault] += 1
        return True

    def mend(self) -> None:
        """Every fault ends."""
        self.rig.virtual.faults.clear()
        self.active.clear()

    def owner_hangs(self, stop: bool) -> None:
        """The process that started the rig, a client of it, stands still, or goes on."""
        self.clients[0].beating = not stop

    # -- after every rule --------------------------------------------------------------------------------------------

    def check_cause(self) -> None:
        """Invariant 14: while latched the cause is one and the same."""
        latched, cause = self.was
        if latched and self.machine.latched:
            assert self.machine.cause is cause
        self.was = (self.machine.latched, self.machine.cause)

    @invariant()
    def references_keep_to_the_limits(self) -> None:
        if self.begun:
            self.watcher.judge_references()
            self.counts["rules"] += 1
            self.counts[self.machine.state.name] += 1

    @invariant()
    def a_latched_fault_has_a_cause_in_words(self) -> None:
        if self.begun:
            assert (not self.machine.latched) or (self.machine.cause is not None and self.machine.cause.text)
            assert self.machine.latched or self.machine.state is not State.FAULT


def _walk_to(rig: LockstepRig, state: State, tared: int) -> None:
    for command, then in ((Connect(), State.IDLE), (Home(), State.PARKED), (Engage(), State.ENGAGED)):
        if rig.engine.machine.state is state:
            return
        rig.request(command)
        for _ in range(_PATIENCE):
            if rig.engine.machine.state is then:
                break
            rig.step()
        for _ in range(tared):
            rig.step()
    assert rig.engine.machine.state is state


class RandomWalk(ExploredRig):
    """Random operators, faults and clients, one after the other on one rig."""

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

    @rule(pausing=st.integers(1, 80), cycles=st.integers(1, 20))
    def give_up(self, pausing: int, cycles: int) -> None:
        """Pause, and abandon what has come to a stand: the setpoint stays where it is."""
        self.ask_for(Pause())
        self.run(pausing)
        state, now, paused = (
            self.machine.state,
            self.engine.cycle_data.reference.now.copy(),
            self.engine.reference.paused,
        )
        reply = self.ask_for(Abandon())
        assert reply.result().accepted == (state is State.ENGAGED and paused)
        if reply.result().accepted:
            assert not self.engine.reference.paused
            self.step()
            assert (
                self.machine.state is not State.ENGAGED
                or np.abs(self.engine.cycle_data.reference.now - now).max() < 1e-12
            )
        self.run(cycles)

    @rule(name=st.sampled_from(GOOD + BAD), cycles=st.integers(1, 60))
    def follow(self, name: str, cycles: int) -> None:
        self.follow_one(name)
        if name not in GOOD:
            assert self.engine.reference.name != name
        self.run(cycles)

    @rule(
        name=st.sampled_from(GOOD),
        held=st.integers(1, 100),
        every=st.sampled_from([1, 10, -5, 5]),
        cycles=st.integers(0, 40),
    )
    def hold(self, name: str, held: int, every: int, cycles: int) -> None:
        """A motion that is held for so many cycles; what is left of it then nobody can take up again.

        every: cycles between two signs of it; below 10, so many beyond what is borne.
        """
        for _ in range(_STEPS):
            if self.machine.state is State.ENGAGED and not self.engine.reference.paused:
                break
            self.advance(True, 0, 1)
        self.rig.hold()
        table = self.motion(name)
        reply = self.ask_for(Follow(name, table.step, slowing=RAMPS[0]), table.samples)
        accepted = reply.done() and reply.result().accepted
        self.counts["held"] += accepted
        for cycle in range(held):
            if cycle % (every if every in (1, 10) else self.renewal + every) == 0:
                self.rig.hold()
            self.run(1)
        self.rig.let_go()
        self.run(1)
        if accepted and self.machine.state is State.RUNNING:
            reference = self.engine.reference
            left = (reference.path_duration - reference.path_time) / max(reference.path_rate, 1e-3)
            assert reference.slowing or left <= RAMPS[0]
        self.run(cycles)
        assert not (accepted and self.machine.state is State.ENGAGED and self.engine.reference.paused)

    # -- clients -----------------------------------------------------------------------------------------------------

    @rule(
        command=st.sampled_from([Home(), Engage(), Resume(), Park(), Follow("gentle", 0.01), *LEG_MOVES]),
        taken=st.booleans(),
        cycles=st.integers(0, 60),
    )
    def hand_over(self, command: RigCommand, taken: bool, cycles: int) -> None:
        """The lease is given up while a command is on its way, and perhaps taken by another client."""
        table = self.motion("gentle")
        if isinstance(command, Follow):
            reply = self.submit(Follow("gentle", table.step), table.samples)
        else:
            reply = self.submit(command)
        holder = self.leases.holder
        self.leases.end(holder)
        if taken:
            next(client for client in self.clients if client.lease is not holder or not client.alive).acquire()
        self.step()
        assert reply.done() and not reply.result().accepted  # 18
        self.run(cycles)

    @rule(who=st.integers(0, 2), cycles=st.integers(0, 40))
    def take(self, who: int, cycles: int) -> None:
        """A client asks for the lease: it is given where nobody has it, and refused else."""
        client, free = self.clients[who], self.leases.holder is None
        if client.alive and client.beating:
            assert client.acquire() == free
        self.run(cycles)

    @rule(who=st.integers(0, 2), cycles=st.integers(0, 40))
    def release(self, who: int, cycles: int) -> None:
        if self.clients[who].alive and self.clients[who].beating:
            self.clients[who].release()
        self.run(cycles)

    @rule(who=st.integers(0, 2), knocking=st.booleans(), silent=st.sampled_from([1, 20, -5, 5, 20]))
    def hang(self, who: int, knocking: bool, silent: int) -> None:
        """A client stands still for a while and wakes, the others asking for its lease meanwhile, or not.

        silent: cycles; -5 and 5: of the heartbeat's bound.
        """
        client = self.clients[who]
        client.beating, self.knocking = False, knocking
        self.run(silent if silent in (1, 20) else self.heartbeat + silent)
        client.beating, self.knocking = True, False
        if self.leases.holder is None:
            self.living().acquire()
        self.run(5)

    @rule(who=st.integers(0, 2), knocking=st.booleans(), cycles=st.integers(1, 200))
    def die(self, who: int, knocking: bool, cycles: int) -> None:
        """A client is killed; it begins anew when some time has passed, as another process of the same name."""
        self.clients[who].alive, self.knocking = False, knocking
        self.run(cycles)
        self.clients[who], self.knocking = Client(self.leases, self.clients[who].name), False

    @rule(who=st.integers(0, 2), command=st.sampled_from(COMMANDS), cycles=st.integers(0, 20))
    def ask_without_lease(self, who: int, command: RigCommand, cycles: int) -> None:
        """Whoever has lost the lease, and does not know it, changes nothing."""
        client = self.clients[who]
        if client.lease is not None and not client.lease.active and not isinstance(command, Stop):
            reply = self._send(Submission(command, None, Future(), client.lease))
            self.operator.carry_out()
            assert reply.done() and not reply.result().accepted  # 13
        self.run(cycles)

    # -- what happens to the rig -------------------------------------------------------------------------------------

    @rule(fault=st.sampled_from(sorted(FAULTS)), leg=st.integers(1, 6), cycles=st.integers(1, 50))
    def break_something(self, fault: str, leg: int, cycles: int) -> None:
        self.break_it(fault, leg)
        self.run(cycles)

    @rule(fault=st.sampled_from(sorted(FAULTS)), cycles=st.integers(1, 50))
    def break_six(self, fault: str, cycles: int) -> None:
        """The same at every leg in the same cycle."""
        self.break_it(fault, None)
        self.run(cycles)

    @rule(cycles=st.integers(0, 40))
    def clear(self, cycles: int) -> None:
        self.mend()
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


class EverySituation(ExploredRig):
    """Into each state, under each fault, and there every command asked for: in an order that is drawn."""

    @rule(
        state=st.sampled_from(sorted(State)),
        fault=st.sampled_from(sorted(FAULTS)),
        leg=st.one_of(st.none(), st.integers(1, 6)),
        wait=st.integers(0, 6),
        order=st.permutations(sorted(KINDS)),
        cycles=st.integers(1, 40),
    )
    def ask_for_everything(
        self, state: State, fault: str, leg: int | None, wait: int, order: list[str], cycles: int
    ) -> None:
        """wait: cycles from the fault to the first command, if the state lasts so long."""
        self.mend()
        self.watcher.fault = ""
        if not self.reach(state):
            self.counts[f"not reached: {state.name}"] += 1
            return
        if not self.break_it(fault, leg):
            return
        for _ in range(wait):
            if self.machine.state is not state:
                break
            self.run(1)
        if self.machine.state is not state:  # with the fault it does not last: the first moment is what there is
            self.start(BEGIN_AT.get(state, state))
            if not (self.go_to(state) and self.break_it(fault, leg)):
                return
        for name in order:
            if self.machine.state is not state:
                break
            self.ask_by_name(name)
        self.run(cycles)

    def ask_by_name(self, name: str) -> None:
        match name:
            case "follow":
                self.follow_one("gentle")
            case "resume":
                self.go_on_with_it()
            case "move-leg":
                self.ask_for(LEG_MOVES[0])
            case "pace":
                self.ask_for(Pace(0.5))
            case "stop 0" | "stop 1" | "stop 2":
                self.ask_for(Stop(int(name[-1])))  # type: ignore[arg-type]
            case _:
                self.ask_for(KINDS[name]())  # type: ignore[call-arg]

    def reach(self, state: State) -> bool:
        """Bring the rig to a state by what an operator would do; on a new rig where this one does not get there."""
        start = BEGIN_AT.get(state, state)
        if self.machine.state is start and not self.active and not self.engine.reference.paused and self.go_to(state):
            return True
        self.start(start)
        return self.go_to(state)

    def go_to(self, state: State) -> bool:
        """From where it begins (`BEGIN_AT`) to a state; whether it got there."""
        match state:
            case State.HOMING:
                self.ask_for(Home())
            case State.SINGLE_LEG:
                self.ask_for(LEG_MOVES[1])
            case State.ENGAGING:
                self.ask_for(Engage())
            case State.RUNNING:
                self.follow_one("gentle")
            case State.PARKING:
                self.ask_for(Park())
            case State.STOPPING:
                self.follow_one("gentle")
                self.run(self.tared)
                self.ask_for(Stop(1))
            case State.FAULT:
                self.break_it("drop_all", None)
                self.run_to(State.FAULT)
                self.mend()
                self.run(20)
        return self.run_to(state, cycles=20)


class Paused(EverySituation):
    """The same where a motion is paused, or on its way to a stand."""

    def go_to(self, state: State) -> bool:
        if state not in (State.ENGAGED, State.RUNNING):
            return super().go_to(state)
        if not super().go_to(State.RUNNING):
            return False
        self.run(self.tared)
        self.ask_for(Pause())
        self.run(2)
        return self.run_to(state)
