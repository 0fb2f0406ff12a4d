"""Ctrl-C as operations hear it."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Self

from rig.errors import InterruptedRunError


class Interruption:
    """Ctrl-C as a flag that waits look at; from the second one on, and while nothing can move yet, it interrupts.

    Once it is installed, only the thread that did so hears it: Ctrl-C is that one's, whatever others wait for.
    """

    def __init__(self) -> None:
        self.count = 0
        self.at_once: Callable[[], None] | None = None
        """called on the second Ctrl-C, from the signal handler"""
        self.at_first: Callable[[], None] | None = None
        """called on the first one, from the signal handler, once something can move"""
        self._still = False
        self._noticed = False
        self._thread: int | None = None

    def check(self) -> None:
        """Raise InterruptedRunError once after the first Ctrl-C."""
        if self.count and not self._noticed and self._thread in (None, threading.get_ident()):
            self._noticed = True
            raise InterruptedRunError("interrupted; the rig was stopped")

    def forget(self) -> None:
        """The next Ctrl-C is the first one again."""
        self.count = 0
        self._noticed = False

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1 and not self._still:
            if self.at_first is not None:
                self.at_first()
            return
        self._noticed = True
        if self.at_once is not None:
            self.at_once()
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def nothing_moving(self) -> Iterator[None]:
        """Within a `with` block nothing can move yet: there is nothing to be stopped in a controlled way.

        Raises KeyboardInterrupt in the thread that installed this, at every Ctrl-C, and at the block's begin or end for
        one that was heard before or went by: an exception in the middle of any library is lost where that catches all.
        """
        self._still = True
        self._interrupt_if_heard()
        yield
        self._interrupt_if_heard()
        self._still = False

    def at_rest(self, *, told: bool) -> None:
        """Nothing moves any more: the first Ctrl-C interrupts from now on, at once one that came and was not `told`."""
        self._still = True
        if not told:
            self._interrupt_if_heard()

    def _interrupt_if_heard(self) -> None:
        if self.count and self._thread == threading.get_ident():
            self._noticed = True
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def installed(self, *others: signal.Signals) -> Iterator[Self]:
        """Take Ctrl-C over for the time of a `with` block, and other signals that are to mean the same."""
        with contextlib.ExitStack() as before:
            for one in (signal.SIGINT, *others):
                before.callback(signal.signal, one, signal.signal(one, self._handle))
            self._thread = threading.get_ident()
            yield self


class HoldInterrupt(KeyboardInterrupt):
    """Ctrl-C during a script's or a notebook's request: the platform was told to hold, and the text says how it stands.

    No `except Exception` goes on as if nothing had happened.
    """
