"""What clients do to each other: they die, hang, wake, knock and take over. Told once, for every kind of rig.

Each story is told of a `World`: players who command one engine, and the rig time that passes. Whoever tells it asserts
what must be so; the bounds are the configuration's.
"""

from collections.abc import Callable
from typing import Protocol

from rig.engine import Abandon, Connect, Disconnect, Engage, Home, Park, Pause, Resume, RigCommand, Stop
from rig.states import State

AT_COMMAND = frozenset({State.HOMING, State.ENGAGING, State.RUNNING, State.PARKING})
"""States in which the platform moves, or takes torque, at somebody's command."""
EVERY = 0.1
"""s between two knocks"""


class Player(Protocol):
    """A client in a process of its own, or as if it were."""

    @property
    def holds_lease(self) -> bool:
        """Whether it knows that it holds the command lease."""

    def takes(self) -> bool:
        """Ask once for the lease; whether it is granted."""

    def knocks(self) -> None:
        """Ask for the lease every 0.1 s from now on, until it is granted."""

    def runs(self, *, held: bool = False) -> None:
        """Take the lease and bring the rig into a motion of many s; `held`: one that goes on only as it is held."""

    def asks(self, command: RigCommand) -> bool:
        """Send a command, after taking the lease where it can be had; whether it was accepted."""

    def gives_up(self) -> None:
        """Give the lease back."""

    def lets_go(self) -> None:
        """Let go of a motion that is held."""

    def dies(self) -> None:
        """SIGKILL."""

    def hangs(self) -> None:
        """SIGSTOP."""

    def wakes(self) -> None:
        """SIGCONT."""


class World(Protocol):
    """One engine and its rig; time is the rig's, s."""

    heartbeat: float
    hold: float
    """`safety.unattended_hold`"""
    renewal: float
    """`safety.hold_renewal`"""

    def player(self, name: str) -> Player:
        """One more client, which has asked for nothing yet."""

    @property
    def now(self) -> float:
        """Rig time."""

    @property
    def state(self) -> State:
        """The engine's."""

    @property
    def holder(self) -> str:
        """Who holds the lease."""

    @property
    def torque(self) -> bool:
        """Whether some drive has torque."""

    def passes(self, duration: float) -> None:
        """Let time pass."""

    def until(self, wanted: Callable[[], bool], within: float, since: float | None = None) -> None:
        """Let time pass until it is so, which must be within so many s of `since`, or of now."""


def _held(world: World, since: float, within: float | None = None) -> None:
    """Nothing moves at anybody's command, within the heartbeat of `since`, and goes on not to."""
    world.until(
        lambda: world.state not in AT_COMMAND, within=world.heartbeat if within is None else within, since=since
    )


def _down(world: World, since: float) -> None:
    """No torque, within the time of the unattended, of `since`."""
    world.until(lambda: not world.torque, within=world.hold, since=since)


def the_holder_is_killed(world: World) -> None:
    a = world.player("a")
    a.runs()
    a.dies()
    died = world.now
    _held(world, died)
    assert world.holder == ""
    _down(world, died)


def the_holder_is_killed_while_another_knocks(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    b.knocks()
    world.passes(3 * EVERY)
    assert world.holder == "a" and world.state is State.RUNNING
    a.dies()
    died = world.now
    _held(world, died)
    world.until(lambda: world.holder == "b", within=world.heartbeat + 3 * EVERY, since=died)
    world.passes(world.hold + 0.5)
    assert world.state is State.ENGAGED  # it is attended again


def two_others_knock(world: World) -> None:
    a, b, c = (world.player(name) for name in "abc")
    a.runs()
    b.knocks()
    c.knocks()
    world.passes(2 * EVERY)
    a.dies()
    died = world.now
    _held(world, died)
    world.until(lambda: world.holder in ("b", "c"), within=world.heartbeat + 3 * EVERY, since=died)
    assert not (b.holds_lease and c.holds_lease)


def those_who_knock_are_killed_with_the_holder(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    b.knocks()
    world.passes(5 * EVERY)
    a.dies()
    died = world.now
    b.dies()
    _held(world, died)
    _down(world, died)
    assert world.holder == ""


def the_holder_hangs_for_good(world: World) -> None:
    a = world.player("a")
    a.runs()
    a.hangs()
    hung = world.now
    _held(world, hung)
    _down(world, hung)
    a.wakes()
    world.passes(0.2)
    assert world.holder == "" and not a.holds_lease


def a_hang_within_the_heartbeat_is_borne(world: World) -> None:
    a = world.player("a")
    a.runs()
    a.hangs()
    world.passes(0.4 * world.heartbeat)
    a.wakes()
    world.passes(2.0 * world.heartbeat)
    assert world.state is State.RUNNING and world.holder == "a" and a.holds_lease


def who_wakes_alone_has_lost_the_lease_and_prolongs_nothing(world: World) -> None:
    a = world.player("a")
    a.runs()
    a.hangs()
    hung = world.now
    _held(world, hung)
    a.wakes()
    world.passes(0.2)
    assert not a.holds_lease and world.holder == ""
    _down(world, hung)


def who_wakes_beats_for_nobody_else(world: World) -> None:
    """The notebook: suspended, it loses the lease; another runs, it wakes and idles, the other is killed."""
    notebook, a = world.player("notebook"), world.player("a")
    assert notebook.takes()
    notebook.hangs()
    world.until(lambda: world.holder == "", within=world.heartbeat)
    a.runs()
    notebook.wakes()
    world.passes(0.3)
    assert world.state is State.RUNNING and world.holder == "a" and not notebook.holds_lease
    a.dies()
    died = world.now
    _held(world, died)
    _down(world, died)


def who_wakes_commands_nothing(world: World) -> None:
    notebook, a = world.player("notebook"), world.player("a")
    notebook.runs()
    notebook.hangs()
    world.until(lambda: world.holder == "", within=world.heartbeat)
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert a.takes() and a.asks(Abandon())
    a.runs()
    notebook.wakes()
    assert not notebook.asks(Pause()) and not notebook.asks(Park())
    world.passes(0.1)
    assert world.state is State.RUNNING and world.holder == "a"


def who_wakes_may_stop(world: World) -> None:
    notebook, a = world.player("notebook"), world.player("a")
    assert notebook.takes()
    notebook.hangs()
    world.until(lambda: world.holder == "", within=world.heartbeat)
    a.runs()
    notebook.wakes()
    assert notebook.asks(Stop(2))
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert world.holder == "a"


def who_woke_gets_in_once_the_other_is_dead(world: World) -> None:
    notebook, a = world.player("notebook"), world.player("a")
    assert notebook.takes()
    notebook.hangs()
    world.until(lambda: world.holder == "", within=world.heartbeat)
    a.runs()
    notebook.wakes()
    notebook.knocks()
    world.passes(3 * EVERY)
    assert world.holder == "a" and world.state is State.RUNNING
    a.dies()
    died = world.now
    _held(world, died)
    world.until(lambda: world.holder == "notebook", within=world.heartbeat + 3 * EVERY, since=died)


def three_die_one_after_the_other(world: World) -> None:
    players = [world.player(name) for name in "abc"]
    for player in players:
        player.runs()
        player.dies()
        died = world.now
        _held(world, died)
        world.until(lambda: world.holder == "", within=world.heartbeat, since=died)
        world.until(lambda: world.state is State.ENGAGED, within=2.0)
    _down(world, died)


def two_of_the_same_name_are_two(world: World) -> None:
    first, second = world.player("same"), world.player("same")
    first.runs()
    second.knocks()
    world.passes(3 * EVERY)
    assert first.holds_lease and not second.holds_lease
    first.dies()
    _held(world, world.now)
    world.until(lambda: second.holds_lease, within=world.heartbeat + 3 * EVERY)
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert not second.asks(Resume())
    assert second.asks(Resume(take_over=True))


def a_motion_of_the_dead_goes_on_only_in_so_many_words(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    a.dies()
    _held(world, world.now)
    world.until(lambda: world.holder == "" and world.state is State.ENGAGED, within=2.0)
    assert not b.asks(Resume()) and world.state is State.ENGAGED
    assert b.asks(Resume(take_over=True))
    world.passes(2.0 * world.heartbeat)
    assert world.state is State.RUNNING and b.holds_lease


def a_stop_does_not_hand_the_motion_over(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    assert b.asks(Stop(2))
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert not b.asks(Resume(take_over=True))  # it is a's, who commands
    a.dies()
    world.until(lambda: world.holder == "", within=world.heartbeat)
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert not b.asks(Resume())
    assert b.asks(Abandon()) and b.asks(Park())


def its_own_pause_goes_on_without_a_word(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    b.knocks()
    assert b.asks(Stop(2))
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert a.asks(Resume())
    world.passes(0.1)
    assert world.state is State.RUNNING


def the_lease_is_given_up_in_motion(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    b.knocks()
    a.gives_up()
    _held(world, world.now, 0.1)
    world.until(lambda: world.holder == "b", within=3 * EVERY)
    assert not a.holds_lease


def who_gets_in_and_dies_is_missed_as_well(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    b.knocks()
    a.dies()
    world.until(lambda: world.holder == "b", within=world.heartbeat + 3 * EVERY)
    b.dies()
    died = world.now
    world.until(lambda: world.holder == "", within=world.heartbeat, since=died)
    _down(world, died)


def the_holder_is_killed_while_the_legs_home(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    assert a.asks(Stop(1))
    world.until(lambda: not world.torque, within=3.0)
    _rest(world, a)
    b.knocks()
    a.dies()
    _held(world, world.now)
    world.until(lambda: not world.torque, within=world.hold)


def _rest(world: World, player: Player) -> None:
    """From parked, away from home, into homing again."""
    assert player.asks(Disconnect()) and player.asks(Connect())
    assert player.asks(Home())
    world.until(lambda: world.state is State.HOMING, within=1.0)


def the_holder_is_killed_while_the_drives_take_torque(world: World) -> None:
    a = world.player("a")
    a.runs()
    assert a.asks(Stop(1))
    world.until(lambda: world.state is State.PARKED, within=3.0)
    world.passes(0.4)
    assert a.asks(Engage())
    a.dies()
    died = world.now
    _held(world, died)
    _down(world, died)


def the_holder_is_killed_on_the_way_home(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    world.passes(0.3)
    assert a.asks(Stop(2))
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert a.asks(Park())
    b.knocks()
    a.dies()
    died = world.now
    _held(world, died)
    world.until(lambda: world.holder == "b", within=world.heartbeat + 3 * EVERY, since=died)


def without_torque_the_next_one_just_gets_in(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs()
    assert a.asks(Stop(1))
    world.until(lambda: world.state is State.PARKED, within=3.0)
    a.dies()
    died = world.now
    b.knocks()
    world.until(lambda: world.holder == "b", within=world.heartbeat + 3 * EVERY, since=died)
    world.passes(world.hold + 0.5)
    assert world.state is State.PARKED


def a_hold_dies_with_its_holder(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs(held=True)
    b.knocks()
    world.passes(2 * EVERY)
    assert world.state is State.RUNNING
    a.dies()
    died = world.now
    _held(world, died, max(world.heartbeat, world.renewal + 1.0))
    world.until(lambda: world.holder == "b", within=world.heartbeat + 3 * EVERY, since=died)
    world.until(lambda: world.state is State.ENGAGED, within=2.0)
    assert not b.asks(Resume(take_over=True))  # nothing of it is left


def who_wakes_neither_renews_nor_ends_another_ones_hold(world: World) -> None:
    a, b = world.player("a"), world.player("b")
    a.runs(held=True)
    a.hangs()
    world.until(lambda: world.holder == "" and world.state is State.ENGAGED, within=3.0)
    b.runs(held=True)
    a.wakes()  # and goes on to show that it holds
    world.passes(2.0 * world.renewal)
    a.lets_go()
    world.passes(2.0 * world.renewal)
    assert world.state is State.RUNNING and world.holder == "b"
    b.lets_go()
    world.until(lambda: world.state is State.ENGAGED, within=2.0)


STORIES: list[Callable[[World], None]] = [
    the_holder_is_killed,
    the_holder_is_killed_while_another_knocks,
    two_others_knock,
    those_who_knock_are_killed_with_the_holder,
    the_holder_hangs_for_good,
    a_hang_within_the_heartbeat_is_borne,
    who_wakes_alone_has_lost_the_lease_and_prolongs_nothing,
    who_wakes_beats_for_nobody_else,
    who_wakes_commands_nothing,
    who_wakes_may_stop,
    who_woke_gets_in_once_the_other_is_dead,
    three_die_one_after_the_other,
    two_of_the_same_name_are_two,
    a_motion_of_the_dead_goes_on_only_in_so_many_words,
    a_stop_does_not_hand_the_motion_over,
    its_own_pause_goes_on_without_a_word,
    the_lease_is_given_up_in_motion,
    who_gets_in_and_dies_is_missed_as_well,
    the_holder_is_killed_while_the_legs_home,
    the_holder_is_killed_while_the_drives_take_torque,
    the_holder_is_killed_on_the_way_home,
    without_torque_the_next_one_just_gets_in,
    a_hold_dies_with_its_holder,
    who_wakes_neither_renews_nor_ends_another_ones_hold,
]
