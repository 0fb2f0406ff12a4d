"""Who gives a server of virtual devices its time, where that is not the machine's clock."""

from collections.abc import Mapping
from typing import Protocol


class Settlement(Protocol):
    """A client that gives the time asks to have everything answered that it has sent, and all that is due by a time."""

    @property
    def t(self) -> float:
        """s, on the devices' clock."""

    @property
    def counts(self) -> Mapping[tuple[int, int], int]:
        """Bytes that it has sent in all, by port of the device and port of its own, or as `Terminal.number` says.

        -1: it has opened the wire anew, and nothing that was under way on it before is its own.
        """


class Timekeeper(Protocol):
    """Gives a server its time, where a client of its devices may give it: see `ModbusTcpServer`."""

    @property
    def request(self) -> Settlement | None:
        """What the client asks for, until it is `settled`."""

    @property
    def given(self) -> bool:
        """Whether the time stands until the client gives another."""

    def now(self) -> float:
        """The devices' clock, s; never goes back."""

    def fileno(self) -> int:
        """Readable when there is something to `attend` to."""

    def attend(self) -> None:
        """Hear what the client has said."""

    def reach(self, t: float) -> None:
        """Go on to `t`, s."""

    def settled(self, counts: dict[tuple[int, int], int]) -> None:
        """Tell the client how many bytes it has been sent in all over each connection that it named; -1: closed."""
