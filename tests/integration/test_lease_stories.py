"""Clients that die, hang, wake, knock and take over: the stories in lockstep, a random campaign, and real processes.

However often others ask, the platform is held within the heartbeat of its holder's death, and without torque within the
time of the unattended.
"""

import multiprocessing
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from exploration import LONG, either, seeds
from explored_motions import wave
from lease_stories import AT_COMMAND, EVERY, STORIES, World
from lockstep_bench import Bench, bench_config

from rig.engine import RAMPS, Abandon, Engage, Follow, Operator, Resume, RigCommand, Stop, Submission
from rig.engine.lease import Lease, Leases
from rig.engine.loop import Watch
from rig.engine.messages import Connect, Home, Reply, Reset
from rig.errors import RefusedError
from rig.runtime import ControlBlock, LeaseSign
from rig.states import State

CONFIG = bench_config(safety={"heartbeat": 0.2, "unattended_hold": 0.8})
BRIEF = bench_config(safety={"heartbeat": 0.1, "unattended_hold": 0.3})
LONG_WAVE = wave(CONFIG, 12.0, 8e-3)
BEAT = 0.05  # s between two signs of life
MARGIN = 0.25
"""s: a look at the unattended, the way to a stand, and the brakes' time, beyond the time that is asked for"""


class _Link:
    alive = True


@dataclass(eq=False)
class Puppet:
    """A client without a process: what it would do in its own time is done between two cycles."""

    name: str
    world: "Lockstep"
    alive: bool = True
    awake: bool = True
    knocking: bool = False
    lease: Lease | None = None
    sign: LeaseSign | None = None
    holding: bool = False
    busy: Future[Reply] | None = field(default=None, repr=False)

    @property
    def holds_lease(self) -> bool:
        return self.sign is not None and self.sign.active

    @property
    def lives(self) -> bool:
        return self.alive and self.awake

    def live(self, cycle: int) -> None:
        """What happens by itself in a cycle."""
        if not self.lives:
            return
        if self.knocking and cycle % round(EVERY / self.world.period) == 0:
            self.knocking = not self.takes()
        if self.sign is not None and cycle % round(BEAT / self.world.period) == 0:
            self.sign.beat()  # as long as it runs: whether it is heard is not its to decide
            if self.holding:
                self.sign.hold()

    def takes(self) -> bool:
        if not self.holds_lease:
            try:
                self.lease = self.world.leases.grant(self.name)
            except RefusedError:
                return False
            self.sign = self.world.leases.block.sign(self.lease.number)
            self.sign.beat()
        return True

    def knocks(self) -> None:
        self.knocking = True

    def runs(self, *, held: bool = False) -> None:
        assert self.takes()
        self.world.passes(2 * self.world.period)
        if self.world.engine.reference.paused:
            assert self.asks(Abandon())
        assert self.world.state is State.ENGAGED
        if held:
            assert self.sign is not None
            self.holding = True
            self.sign.hold()
        command = Follow(f"{self.name}'s", LONG_WAVE.step, slowing=RAMPS[0] if held else None)
        assert self.asks(command, LONG_WAVE.samples)
        self.world.passes(0.2)
        assert self.world.state is State.RUNNING

    def asks(self, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> bool:
        lease = None
        if not isinstance(command, Stop):
            if not self.takes():
                return False
            lease = self.lease
        reply: Future[Reply] = Future()
        self.world.operator.submit(Submission(command, samples, reply, lease, self.name))
        self.world.until(reply.done, within=1.0)
        return reply.result().accepted

    def gives_up(self) -> None:
        self.world.leases.end(self.lease)

    def lets_go(self) -> None:
        self.holding = False
        assert self.sign is not None
        self.sign.let_go()

    def dies(self) -> None:
        self.alive = False

    def hangs(self) -> None:
        self.awake = False

    def wakes(self) -> None:
        self.awake = True


class Lockstep:
    """See `World`: engine, watch and leases on the manual clock, with puppets."""

    def __init__(self, bench: Bench, stack: ExitStack) -> None:
        block = ControlBlock.create()
        stack.callback(block.close)
        owner, ours = multiprocessing.Pipe()
        stack.callback(owner.close)
        stack.callback(ours.close)
        self.rig, self.engine, safety = bench.rig, bench.engine, bench.config.safety
        self.heartbeat, self.hold, self.renewal = safety.heartbeat, safety.unattended_hold, safety.hold_renewal
        self.period = bench.config.period
        self.leases = Leases(block)
        self.operator = bench.rig.operator = Operator(bench.engine, hold_count=self.leases.hold_count)
        self.watch = Watch(bench.engine, self.operator, _Link(), self.leases, owner)  # type: ignore[arg-type]
        self.players: list[Puppet] = []
        self._bench = bench

    def player(self, name: str) -> Puppet:
        self.players.append(Puppet(name, self))
        return self.players[-1]

    @property
    def now(self) -> float:
        return self.engine.tick.t

    @property
    def state(self) -> State:
        return self.engine.machine.state

    @property
    def holder(self) -> str:
        return self.leases.client

    @property
    def torque(self) -> bool:
        return self._bench.torque

    def passes(self, duration: float) -> None:
        for _ in range(round(duration / self.period)):
            self.step()

    def until(self, wanted: Callable[[], bool], within: float, since: float | None = None) -> None:
        end = (self.now if since is None else since) + within + MARGIN
        while not wanted():
            assert self.now < end, f"in vain; {self.state.name}, held by {self.holder!r}"
            self.step()

    def step(self) -> None:
        cycle = self.engine.cycles
        for player in self.players:
            player.live(cycle)
        self.watch.look(self.now + self.period)
        self.rig.step()


@contextmanager
def lockstep(folder: Path, config: object = CONFIG) -> Iterator[Lockstep]:
    with ExitStack() as stack:
        bench = stack.enter_context(Bench(folder, config))  # type: ignore[arg-type]
        bench.engage()
        yield Lockstep(bench, stack)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_in_lockstep(story: Callable[[World], None], tmp_path: Path) -> None:
    with lockstep(tmp_path) as world:
        story(world)


class Campaign:
    """Three players who do anything at any time; what must be so is looked at in every cycle."""

    def __init__(self, world: Lockstep, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.led_at = world.now
        self.players = [world.player(name) for name in "abc"]

    def step(self) -> None:
        world = self.world
        world.step()
        if any(player.lives and player.holds_lease for player in world.players):
            self.led_at = world.now
        unled = world.now - self.led_at
        if unled > world.heartbeat + 2.0 * world.period:
            assert world.state not in AT_COMMAND, f"{world.state.name} for {unled:.3f} s without a holder"
            self.counts["cycles held without a holder"] += 1
        if unled > world.hold + MARGIN:
            assert not world.torque, f"torque for {unled:.3f} s without a holder"
            self.counts["cycles down without a holder"] += 1
        assert sum(player.holds_lease for player in world.players) <= 1
        self.counts["cycles"] += 1

    def passes(self, cycles: int) -> None:
        for _ in range(cycles):
            self.step()

    def act(self) -> None:
        """One player does one thing, then some time passes."""
        world, player = self.world, self.random.choice(self.players)
        deeds = ["kill", "hang", "retry", "run"]
        if not player.awake:
            deeds = ["kill", "wake", "wake", "wake"]
        elif player.holds_lease:
            deeds = ["kill", "hang", "hang", "run", "run", "release", "take over", "hold"]
        elif world.holder == "":
            deeds = ["kill", "run", "take over", "hold", "retry", "nothing"]
        deed = self.random.choice([*deeds, "stop", "nothing"])
        self.counts[deed] += 1
        if deed == "kill":
            player.dies()
            self.players[self.players.index(player)] = world.player(player.name)  # started anew
            world.players.remove(player)
        elif deed == "hang":
            player.hangs()
        elif deed == "wake":
            player.wakes()
        elif deed == "retry":
            player.knocks()
        elif deed == "release":
            player.gives_up()
        elif deed == "stop":
            self.submit(player, Stop(self.random.choice([2, 2, 1, 0])))
        elif deed in ("run", "take over", "hold"):
            self.go_on(player, deed)
        self.passes(self.random.choice([1, 5, 15, 30, 60, 120]))

    def submit(self, player: Puppet, command: RigCommand, samples: npt.NDArray[np.float64] | None = None) -> bool:
        """Ask, and let a few cycles pass; whether it was accepted by then."""
        if not player.lives or not (isinstance(command, Stop) or player.takes()):
            return False
        reply: Future[Reply] = Future()
        lease = None if isinstance(command, Stop) else player.lease
        self.world.operator.submit(Submission(command, samples, reply, lease, player.name))
        for _ in range(8):
            self.step()
            if reply.done():
                return reply.result().accepted
        return False

    def go_on(self, player: Puppet, deed: str) -> None:
        """What brings the rig on, by one command."""
        state, paused = self.world.state, self.world.engine.reference.paused
        if state is State.ENGAGED and paused:
            begun = self.world.engine.runtime_info.begun_under
            accepted = self.submit(player, Resume(take_over=deed == "take over"))
            assert not accepted or deed == "take over" or begun is None or begun.active
            if not accepted:
                self.submit(player, Abandon())
        elif state is State.ENGAGED:
            held = deed == "hold"
            if held and player.lives and player.takes() and player.sign is not None:
                player.holding = True
                player.sign.hold()
            self.submit(player, Follow("m", LONG_WAVE.step, slowing=RAMPS[0] if held else None), LONG_WAVE.samples)
        else:
            following: dict[State, RigCommand] = {
                State.OFF: Connect(), State.IDLE: Home(), State.PARKED: Engage(), State.FAULT: Reset()
            }  # fmt: skip
            if state in following:
                self.submit(player, following[state])


@pytest.mark.parametrize("seed", seeds(4))
def test_whatever_they_do_no_motion_outlives_its_holder(seed: int, tmp_path: Path) -> None:
    with lockstep(tmp_path, BRIEF) as world:
        campaign = Campaign(world, seed)
        for _ in range(either(120, 2500)):
            campaign.act()
    counts = campaign.counts
    if LONG:
        print(f"seed {seed}:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    assert min(counts[deed] for deed in ("kill", "hang", "wake", "retry", "run", "take over")) >= 3
    assert counts["cycles held without a holder"] > 50 and counts["cycles down without a holder"] > 10
