"""What random operators have asked for: in which state, under which fault; and what is legal and was never reached."""

from collections import Counter
from collections.abc import Iterable

from rig.engine import (
    STATES_OF,
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
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
)
from rig.states import State
from rig.virtual import FAULTS

KINDS: dict[str, type[RigCommand]] = {
    **{
        kind().kind: kind for kind in (Connect, Disconnect, Home, Engage, Pause, Resume, Abandon, Park, Reset, Shutdown)
    },
    **dict.fromkeys(("stop 0", "stop 1", "stop 2"), Stop),
    "move-leg": MoveLeg,
    "follow": Follow,
    "pace": Pace,
}
"""Commands by the name that they are counted under; stops of the three categories by themselves."""
NO_FAULT = "none"

LEGAL = frozenset((state, name) for name, kind in KINDS.items() for state in STATES_OF[kind])
"""Pairs of a state and a command that it allows."""
LEGAL_TRIPLES = frozenset((state, name, fault) for state, name in LEGAL for fault in FAULTS)
TRIPLES = len(State) * len(KINDS) * len(FAULTS)
"""How many there are, those among them that are to be refused."""


def name_of(command: RigCommand) -> str:
    """The name that a command is counted under."""
    return f"stop {command.category}" if isinstance(command, Stop) else command.kind


class Coverage:
    """Counts what was asked for, and what of it was accepted."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[State, str, str]] = Counter()
        """with each fault that was there, or with `NO_FAULT`"""
        self.accepted: Counter[tuple[State, str]] = Counter()

    def ask(self, state: State, command: RigCommand, faults: Iterable[str]) -> None:
        """Count a command that is asked for in a state while faults are there."""
        for fault in set(faults) or {NO_FAULT}:
            self.asked[state, name_of(command), fault] += 1

    def accept(self, state: State, command: RigCommand) -> None:
        """Count one that was accepted."""
        self.accepted[state, name_of(command)] += 1

    def add(self, other: "Coverage") -> None:
        """Count what another one has counted."""
        self.asked += other.asked
        self.accepted += other.accepted

    @property
    def missing_pairs(self) -> list[tuple[State, str]]:
        """Pairs of state and command that are legal and were never accepted."""
        return sorted(LEGAL - self.accepted.keys())

    @property
    def missing_triples(self) -> list[tuple[State, str, str]]:
        """Those that are legal and were never asked for."""
        return sorted(LEGAL_TRIPLES - self.asked.keys())

    @property
    def share(self) -> float:
        """Of the legal triples that were reached."""
        return 1.0 - len(self.missing_triples) / len(LEGAL_TRIPLES)

    def described(self) -> str:
        """Numbers, and the list of what is legal and was never reached: by state and command, the faults."""
        reached = sum(fault != NO_FAULT for _state, _name, fault in self.asked)
        missing = self.missing_triples
        lines = [
            f"state × command: {len(LEGAL) - len(self.missing_pairs)} of {len(LEGAL)} legal pairs accepted",
            f"state × command × fault: {len(LEGAL_TRIPLES) - len(missing)} of {len(LEGAL_TRIPLES)} legal triples "
            f"({self.share:.1%}); {reached} of all {TRIPLES}, with those that are refused",
        ]
        lines += [f"  never accepted: {state.name} {name}" for state, name in self.missing_pairs]
        for pair in sorted({(state, name) for state, name, _fault in missing}):
            faults = sorted(fault for state, name, fault in missing if (state, name) == pair)
            lines.append(f"  never asked: {pair[0].name} {pair[1]}: {', '.join(faults)}")
        return "\n".join(lines)
