"""A job belongs to the lease that it came with and dies with it, and so does a motion under way."""

import threading
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path

import pytest
from engine_support import Bench, smooth_table

from kinematics import MotionTable
from rig.engine.lease import Lease, Leases
from rig.engine.link import LinkClient, LinkServer, Submission
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
    Release,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
    refusal,
)
from rig.engine.operator import Operator
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.runtime.shared_memory import ControlBlock
from rig.states import FaultCode, State

PATIENCE = 20.0  # s, of waits that end as soon as the other side has done its part
LAPSED = "the command lease of the request has ended"


def lapsed(command: str) -> Reply:
    return Reply(False, refusal(command, Finding(Code.LEASE_LAPSED)))


class _Linked:
    """A rig whose operator is reached over the control link, and whose check of a motion is held back."""

    def __init__(self, rig: Bench, folder: Path, stack: ExitStack) -> None:
        self.rig = rig
        self.checking, self.checked, self.queued = threading.Event(), threading.Event(), threading.Event()
        stack.callback(self.checked.set)
        rig.operator = Operator(rig.engine, self._check)
        self.address = f"ipc://{folder}/c"
        self.block = ControlBlock.create()
        stack.callback(self.block.close)
        self.leases = Leases(self.block)
        self.server = LinkServer(self.address, self._submit, lambda _lease: rig.status(), self.leases)
        stack.callback(self.server.close)
        self.stack = stack
        self.server.start()

    def _check(self, _table: MotionTable) -> None:
        self.checking.set()
        assert self.checked.wait(PATIENCE)

    def _submit(self, submission: Submission) -> None:
        self.rig.operator.submit(submission)
        self.queued.set()

    def client(self) -> LinkClient:
        client = LinkClient(self.address, PATIENCE)
        self.stack.callback(client.close)
        return client


def test_a_motion_that_was_checked_under_one_lease_does_not_begin_under_another(rig: Bench, tmp_path: Path) -> None:
    rig.engage()
    with ExitStack() as stack:
        linked = _Linked(rig, tmp_path, stack)
        first, same, second = linked.client(), linked.client(), linked.client()
        first.acquire("first")
        same._token = first._token  # another thread of the first client's
        refusals: list[str] = []

        def follow() -> None:
            table = smooth_table()
            with pytest.raises(RefusedError) as refused:
                first.request(Follow("first's", table.step), table.samples)
            refusals.append(str(refused.value))

        asking = threading.Thread(target=follow)
        asking.start()
        assert linked.checking.wait(PATIENCE)
        same.request(Release())
        second.acquire("second")
        linked.checked.set()
        assert linked.queued.wait(PATIENCE)
        rig.step()
        assert rig.state is State.ENGAGED and rig.status().motion == ""
        asking.join(PATIENCE)
        assert refusals == [f"follow: {LAPSED}"]
        rig.run(0.1)
        assert rig.state is State.ENGAGED and linked.leases.client == "second"


def test_a_motion_is_not_checked_for_a_lease_that_is_gone(rig: Bench) -> None:
    rig.engage()
    operator = Operator(rig.engine, lambda _table: pytest.fail("it was checked"))
    lease, reply = Lease("first"), Future[Reply]()
    lease.active = False
    table = smooth_table()
    operator.submit(Submission(Follow("m", table.step), table.samples, reply, lease))
    operator.carry_out()
    assert reply.result(0.0) == lapsed("follow")


def _submitted(rig: Bench, command: RigCommand, lease: Lease) -> Future[Reply]:
    reply: Future[Reply] = Future()
    samples = smooth_table().samples if isinstance(command, Follow) else None
    rig.operator.submit(Submission(command, samples, reply, lease))
    return reply


def _into(rig: Bench, state: State) -> None:
    if state is State.OFF:
        return
    if state is State.IDLE:
        rig.request(Connect())
    elif state is State.PARKED:
        rig.park()
    else:
        rig.engage()
    if state is State.RUNNING:
        rig.follow(smooth_table())
        rig.run(0.1)
    elif state is State.FAULT:
        rig.virtual.faults.inject("drop_all", 2)
        rig.until(State.FAULT)
        rig.virtual.faults.clear()
        rig.run(0.1)


@pytest.mark.parametrize(
    ("state", "commands"),
    [
        (State.OFF, [Connect(), Shutdown()]),
        (State.IDLE, [Home(), Disconnect()]),
        (State.PARKED, [Engage(), Disconnect(), Shutdown()]),
        (State.ENGAGED, [Park(), Follow("m", 2e-3)]),
        (State.RUNNING, [Pause()]),
        (State.FAULT, [Reset()]),
    ],
)
def test_what_was_queued_is_refused_in_the_next_cycle(rig: Bench, state: State, commands: list[RigCommand]) -> None:
    _into(rig, state)
    for command in commands:
        lease = Lease("first")
        reply = _submitted(rig, command, lease)
        lease.active = False
        rig.step()
        assert reply.result(0.0) == lapsed(command.kind)
        assert rig.state is state


def test_a_paused_motion_is_neither_resumed_nor_abandoned_by_a_lease_that_is_gone(rig: Bench) -> None:
    _into(rig, State.RUNNING)
    rig.request(Pause())
    rig.until(State.ENGAGED)
    for command in (Resume(), Abandon()):
        reply = _submitted(rig, command, lease := Lease("first"))
        lease.active = False
        rig.run(0.1)
        assert reply.result(0.0) == lapsed(command.kind)
        assert rig.state is State.ENGAGED and rig.engine.reference.paused


@pytest.mark.parametrize(("command", "state"), [(Home(), State.IDLE), (Engage(), State.PARKED)])
def test_what_waits_for_a_late_reply_dies_with_its_lease(rig: Bench, command: RigCommand, state: State) -> None:
    _into(rig, state)
    rig.virtual.faults.inject("drop_all", 2, duration=3.0 * rig.config.period)
    rig.step()
    lease = Lease("first")
    reply = _submitted(rig, command, lease)
    rig.step()
    assert not reply.done()  # it waits
    lease.active = False
    rig.step()
    assert reply.result(0.0) == lapsed(command.kind)
    rig.run(0.1)
    assert rig.state is state


def test_a_stop_needs_no_lease(rig: Bench) -> None:
    _into(rig, State.RUNNING)
    reply: Future[Reply] = Future()
    rig.operator.submit(Submission(Stop(1), None, reply))
    rig.step()
    assert reply.result(0.0).accepted and rig.state is State.STOPPING


@pytest.mark.parametrize("command", [Follow("m", 2e-3), Park(), Home(), Engage()])
def test_a_motion_under_way_is_held_in_the_cycle_in_which_its_lease_passes_to_another(
    rig: Bench, tmp_path: Path, command: RigCommand
) -> None:
    before = {Home: State.IDLE, Engage: State.PARKED}.get(type(command), State.ENGAGED)
    _into(rig, before)
    with ExitStack() as stack:
        linked = _Linked(rig, tmp_path, stack)
        linked.checked.set()
        lease = linked.leases.grant("first")
        watch = Watch(rig.engine, rig.operator, linked.server, linked.leases, _Pipe())  # type: ignore[arg-type]
        reply = _submitted(rig, command, lease)
        for _ in range(6 if isinstance(command, Engage) else 1):  # one drive a cycle is asked
            assert not reply.done()
            rig.step()
        assert reply.result(0.0).accepted
        watch.look(rig.engine.tick.t)
        moving = rig.state
        rig.step()
        watch.look(rig.engine.tick.t)
        assert rig.state is moving and moving is not before
        linked.leases.end(lease)  # and taken by another before the next cycle
        linked.leases.grant("second")
        watch.look(rig.engine.tick.t)
        cause = rig.engine.machine.cause
        assert rig.state is State.STOPPING and cause is not None and cause.code is FaultCode.CLIENT_LOST
        assert cause.text == "the command lease passed from 'first' to 'second'"
        assert linked.leases.client == "second"


def test_the_control_block_names_the_lease_that_is_held_and_no_end_reaches_another() -> None:
    block = ControlBlock.create()
    try:
        leases = Leases(block)
        first = leases.grant("first")
        assert block.lease == first.number != 0
        with pytest.raises(RefusedError, match="'first' holds the command lease"):
            leases.grant("second")
        leases.end(first)
        assert not first.active and block.lease == 0 and leases.holder is None
        second = leases.grant("second")
        leases.end(first)
        leases.end(None)
        assert second.active and leases.holder is second and block.lease == second.number != first.number
    finally:
        block.close()


def test_what_was_begun_under_another_lease_goes_on_only_for_whoever_takes_it_over(rig: Bench) -> None:
    _into(rig, State.ENGAGED)
    first, second = Lease("first"), Lease("second")
    reply = _submitted(rig, Follow("m", 2e-3), first)
    rig.run(0.1)
    assert reply.result(0.0).accepted
    for lease in (first, second):
        rig.request(Stop(2))  # anybody's
        rig.until(State.ENGAGED)
        assert rig.status().begun_by == ""
        reply = _submitted(rig, Resume(), lease)  # of the lease that it was begun under, or taken over by
        rig.step()
        assert reply.result(0.0).accepted and rig.state is State.RUNNING
        if lease is second:
            return
        rig.request(Stop(2))
        first.active = False
        rig.until(State.ENGAGED)
        assert rig.status().begun_by == "first"
        reply = _submitted(rig, Resume(), second)
        rig.run(0.1)
        assert not reply.result(0.0).accepted and rig.state is State.ENGAGED
        assert reply.result(0.0).reason.startswith(
            "resume: 'm' was begun by 'first' under a command lease that has ended"
        )
        reply = _submitted(rig, Resume(take_over=True), second)
        rig.step()
        assert reply.result(0.0).accepted and rig.state is State.RUNNING


class _Pipe:
    """The pipe of an owner that lives and says nothing."""

    def poll(self) -> bool:
        return False
