"""Handling of Ctrl-C in operations."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Self

from rig.errors import InterruptedRunError


class Interruption:
    """Ctrl-C as a flag for waiting loops; the second one, and any while nothing can move, interrupts.

    Once installed, only the installing thread gets it, independent of what others wait for.
    """

    def __init__(self) -> None:
        self.count = 0
        self.at_once: Callable[[], None] | None = None
        """called on the second Ctrl-C, from the signal handler"""
        self.at_first: Callable[[], None] | None = None
        """called on the first one, from the signal handler, once something can move"""
        self._at_rest = False
        self._noticed = False
        self._thread: int | None = None

    def check(self) -> None:
        """Raise InterruptedRunError once after the first Ctrl-C."""
        if self.count and not self._noticed and self._thread in (None, threading.get_ident()):
            self._noticed = True
            raise InterruptedRunError("interrupted; the rig was stopped")

    def forget(self) -> None:
        """Reset: the next Ctrl-C is the first one again."""
        self.count = 0
        self._noticed = False

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1 and not self._at_rest:
            if self.at_first is not None:
                self.at_first()
            return
        self._noticed = True
        if self.at_once is not None:
            self.at_once()
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def nothing_moving(self) -> Iterator[None]:
        """A `with` block in which nothing can move, so that no controlled stop is needed.

        Raises KeyboardInterrupt in the installing thread at every Ctrl-C, and at the block's begin or end for an
        earlier or lost one: a library that catches every exception can swallow it.
        """
        self._at_rest = True
        self._interrupt_if_pending()
        yield
        self._interrupt_if_pending()
        self._at_rest = False

    def at_rest(self, *, reported: bool) -> None:
        """Nothing moves any more: the first Ctrl-C interrupts from now on, an earlier unreported one at once."""
        self._at_rest = True
        if not reported:
            self._interrupt_if_pending()

    def _interrupt_if_pending(self) -> None:
        if self.count and self._thread == threading.get_ident():
            self._noticed = True
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def installed(self, *others: signal.Signals) -> Iterator[Self]:
        """Handle Ctrl-C, and given other signals alike, within a `with` block."""
        with contextlib.ExitStack() as before:
            for one in (signal.SIGINT, *others):
                before.callback(signal.signal, one, signal.signal(one, self._handle))
            self._thread = threading.get_ident()
            yield self


class HoldInterrupt(KeyboardInterrupt):
    """Ctrl-C during a script's or a notebook's request: the platform was commanded to hold; the text has its state.

    It is no subclass of Exception, so that `except Exception` does not hide it.
    """
