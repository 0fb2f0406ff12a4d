"""What of a rig under command is the same whatever it is told: what is known of it, Ctrl-C, and its end."""

import atexit
import contextlib
import sys
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from kinematics import Array
from rig.client import lifecycle, motion_runner
from rig.client.heartbeat import Heartbeat
from rig.client.interruption import HoldInterrupt, Interruption
from rig.client.motion_runner import PATIENCE
from rig.client.rig import FaultControl, Rig
from rig.client.sequence import MotionSequence
from rig.client.telemetry import Telemetry, TelemetryLog
from rig.config import RigConfig
from rig.engine import Event, Snapshot
from rig.errors import HardwareError, InterruptedRunError, RigError
from rig.states import State

if TYPE_CHECKING:
    from rig.analysis import ExternalWrench

_EVENTS = 10_000
KEEP = 60.0
"""s of telemetry that are kept where nothing else is asked for"""


class CommandSession:
    """A rig that is let go of on every path: by `close`, at a `with` block's end, with the last reference, at the exit.

    Args:
        rig: the connection; closed with this object where it is `own`ed.
        interruption: the rig's. Not `own`ed, whoever installed it sees to Ctrl-C.
        own: whether this object sees to the rig's end, and to Ctrl-C.
        end: whether the engine is ended then.
        tidy: called after the rig was closed.
        keep: s of telemetry that are kept in memory.
    """

    def __init__(
        self,
        rig: Rig,
        interruption: Interruption,
        *,
        own: bool = False,
        end: bool = True,
        tidy: Callable[[], object] | None = None,
        keep: float = KEEP,
    ) -> None:
        self.rig = rig
        self._interruption = interruption
        self._own = own
        self._sequence: MotionSequence | None = None
        self._log = TelemetryLog(max(1, round(keep * rig.config.rate)))
        self._happened: deque[Event] = deque(maxlen=_EVENTS)
        self._finalizer = weakref.finalize(self, _end_quietly, rig, end, tidy)
        if own:
            interruption.at_once = None  # a second Ctrl-C gives up waiting for the hold, which is under way
            interruption.at_first = _Flag(rig)
            rig.listen(_Notes(self._happened), self._log.add)
            atexit.register(self._finalizer)  # before multiprocessing waits for the engine
        else:
            self._finalizer.detach()

    # -- what is so --------------------------------------------------------------------------------------------------

    @property
    def config(self) -> RigConfig:
        """The rig's configuration."""
        return self.rig.config

    @property
    def recording(self) -> Path:
        """The file with every cycle, event and command; whole after `close`. `rig report` takes it."""
        return self.rig.recording

    @property
    def status(self) -> Snapshot:
        """State, cause of a stop, motion and place on its path, reference pose, lease and more, as of now."""
        self._check_open()
        return self.rig.status()

    @property
    def state(self) -> State:
        """OFF, IDLE, HOMING, PARKED, ENGAGING, ENGAGED, RUNNING, PARKING, STOPPING or FAULT."""
        return self.status.state

    @property
    def pose(self) -> Array:
        """(7,) m and unit quaternion (scalar first), where the platform is commanded to be, base frame."""
        return np.array(self.status.reference)

    @property
    def events(self) -> list[Event]:
        """What has happened since this object was made, oldest first: transitions, warnings, faults."""
        self._refresh()
        return list(self._happened)

    def telemetry(self, last: float | None = None) -> Telemetry:
        """The cycles of the last so many s, or all that are kept (60 s, or as `rig.open` was told), as arrays."""
        self._refresh()
        return self._log.newest(last)

    def wrench(
        self,
        last: float = 1.0,
        *,
        bandwidth: float | None = 20.0,
        false_alarms: float = 1.0,
        quiet: Telemetry | None = None,
        model_sigma: float = 0.0,
    ) -> "ExternalWrench":
        """The external wrench on the platform over the last so many s, with covariance and contact.

        Args:
            last: s of the newest cycles.
            bandwidth: Hz, of the low-pass on the residuals; None for none. Its newest result is 0.66/bandwidth s old.
            false_alarms: contacts an hour that may be nothing but noise.
            quiet: telemetry from when nothing touched the platform: noise and bias are learned from it. Left out, the
                cells' noise is the configuration's, and the model without a bias.
            model_sigma: N, what the model may be off by at a cell, where the noise is the configuration's.

        Raises InputError where the platform did not stand under power, or an argument cannot be.
        """
        from rig.client.external_wrench import external_wrench  # its statistics take long to load

        return external_wrench(
            self.config,
            self.telemetry(last),
            bandwidth=bandwidth,
            false_alarms=false_alarms,
            quiet=quiet,
            model_sigma=model_sigma,
        )

    @property
    def faults(self) -> FaultControl | None:
        """`inject(name, leg, value, duration)` and `clear(name, leg)` of a virtual rig of one's own; else None."""
        return self.rig.faults

    # -- the end -----------------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the rig was let go of."""
        return self._own and not self._finalizer.alive

    def close(self) -> None:
        """Bring the platform to rest, close the recording and end what was started. May be called again.

        Raises HardwareError where the rig does not come to rest, or does not answer; its processes are ended all the
        same.
        """
        ended = self._finalizer.detach()
        if ended is None:
            return
        atexit.unregister(self._finalizer)
        with contextlib.suppress(HardwareError):
            self.rig.refresh()  # the last rows and events
        with self._heard() as interruption:
            _end(*ended[2])
        if interruption is not None and interruption.count:
            raise KeyboardInterrupt("interrupted while the rig was closed, which it is")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _refresh(self) -> None:
        if not self.closed:
            with contextlib.suppress(HardwareError):  # what is known is given
                self.rig.refresh()

    def _check_open(self) -> None:
        if self.closed:
            raise HardwareError("the rig was closed; `rig.open` opens it again")

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Ctrl-C meanwhile holds the platform."""
        self._check_open()
        with self._heard() as interruption:
            try:
                yield
            except RigError:
                if interruption is None or not interruption.count:
                    raise
            if interruption is not None and interruption.count:
                raise HoldInterrupt(self._held())

    @contextlib.contextmanager
    def _heard(self) -> Iterator[Interruption | None]:
        """Ctrl-C meanwhile is a flag; None where it is another's to hear, as it comes to the main thread alone."""
        if self._own and threading.current_thread() is threading.main_thread():
            self._interruption.forget()
            with self._interruption.installed() as interruption:
                yield interruption
        else:
            yield None

    def _held(self) -> str:
        """Wait until the platform stands; how it does, in words."""
        with contextlib.suppress(InterruptedRunError):
            self._interruption.check()  # once: it was heard
        if self._sequence is not None:
            self._sequence.end("interrupted")
        self.rig.raise_stop_flag(2)  # again: what was being asked for has begun to move after the first one
        try:
            begun = self.rig.status().cycles  # the cycle that is under way may be the last one without the flag

            def holds(seen: Snapshot) -> bool:
                return seen.cycles > begun + 1 and lifecycle.has_stopped(seen, 2)

            status = self.rig.wait(holds, PATIENCE, "the platform to hold")
        except RigError as error:
            return f"interrupted; whether the platform holds is not known: {error}"
        if status.state is not State.ENGAGED:
            return f"interrupted: the rig is in state {status.state.name}. {status.cause_text}".rstrip(" .")
        paused = (
            f", {status.motion!r} paused at {status.path_time:.3f} s: resume(), abandon()," if status.paused else ":"
        )
        return f"interrupted: the platform holds under power{paused} park() or stop()"


class _Flag:
    """Raises the stop flag of category 2, from the signal handler."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig

    def __call__(self) -> None:
        self._rig.raise_stop_flag(2)


class _Notes:
    """Keeps events; holds no client, which else would never be forgotten."""

    def __init__(self, events: deque[Event]) -> None:
        self._events = events

    def __call__(self, news: Event | str) -> None:
        if isinstance(news, Event):
            self._events.append(news)


def _end(rig: Rig, end: bool, tidy: Callable[[], object] | None) -> None:
    with contextlib.ExitStack() as resources:
        if tidy is not None:
            resources.callback(tidy)
        resources.callback(rig.close)
        rig.listen(None)
        if end:
            if rig.status().state not in motion_runner.AT_REST:
                lifecycle.stop(rig)
            lifecycle.leave(rig)


def _end_quietly(rig: Rig, end: bool, tidy: Callable[[], object] | None) -> None:
    """Where nobody is left to catch an error: a line of what is known to go wrong, all of what is not."""
    if isinstance(threading.current_thread(), Heartbeat):  # it holds what the end would wait for, and is to be ended
        threading.Thread(target=_end_quietly, args=(rig, end, tidy), name="end of the rig").start()
        return
    try:
        _end(rig, end, tidy)
    except RigError as error:
        sys.stderr.write(f"the rig could not be parked and closed: {error}\n")
    except Exception:
        traceback.print_exc()
