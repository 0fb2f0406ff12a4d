"""A foreign FMU in a process of its own that streams its motion: paced by the machine's clock, or step by step."""

import contextlib
import math
import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from kinematics import Array
from rig.config import PAYLOAD_MOTION, ReferenceFmu
from rig.errors import HardwareError, InputError, RigError
from rig.findings import Finding
from rig.fmu.foreign import FmuEndedError, FmuError, remove_remains, step_time
from rig.fmu.motion import MotionUnit
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess, SharedMemoryError, TelemetryRing
from rig.streaming import END, SampleRing, Samples

LARGEST_SHARE = 0.5
"""Largest part of its step that an FMU may compute."""
_BEGINNING = 30.0  # s for a process to begin, with what an FMU loads and 50 steps that are timed
_ENDING = 2.0  # s for it to end
_LATE_FOR = 0.5  # s
_AT_REST = 1e-3  # m/s and rad/s, of a motion that begins at rest
_GRACE = 0.3  # s that a process has to end once its owner is gone


@dataclass(frozen=True, slots=True)
class Pacing:
    """How an FMU's steps are paced.

    telemetry: name of the ring from which it learns what the platform does; None: its owner reports it, and asks for
    each step. watchdog: s by which its set-points may be late. duration: s of its time after which the stream ends;
    inf: it ends by itself.
    """

    telemetry: str | None
    watchdog: float
    duration: float


@dataclass(frozen=True, slots=True)
class _Begun:
    given: int
    needed: float


@dataclass(frozen=True, slots=True)
class _Failed:
    what: Finding | str
    kind: type[RigError]


@dataclass(frozen=True, slots=True)
class _Go:
    """Let its time pass."""


@dataclass(frozen=True, slots=True)
class _Steps:
    """Push set-points that are meant at these times."""

    meant: tuple[float, ...]
    platform: Array


def platform_state(row: npt.NDArray[np.void] | np.void) -> Array:
    """What an FMU may learn of a telemetry row, (19,) in the order of `REFERENCE_FEEDBACK`; nan where unknown."""
    return np.concatenate([row["pose"], row["twist"], row["force_measured"]])


class ReferenceProcess:
    """Starts the process of an FMU and owns it, with the ring that it fills.

    It repeats the FMU's first set-point until `go`. If it dies, hangs, or the FMU fails, no more samples come, which
    the stream's own watchdog sees; `check` says why.

    Args:
        path: the FMU.
        settings: of it.
        platform: (19,) state of the platform, see `platform_state`.
        pacing: of its steps.
        patience: s without a set-point after which it hangs.
        beginning: s that it may take to begin.

    Raises:
        InputError, FmuError: as `MotionUnit`; or the FMU is too slow to be paced by a clock, or begins in motion where
            its time is to stand still.
        HardwareError: the process cannot be started.
    """

    def __init__(
        self,
        path: Path,
        settings: ReferenceFmu,
        platform: Array,
        pacing: Pacing,
        *,
        patience: float = 1.0,
        beginning: float = _BEGINNING,
    ) -> None:
        self.path, self._settings, self._patience = path, settings, patience
        self._paced = pacing.telemetry is not None
        self.ring = SampleRing.create()
        """the ring of samples; to be read, not written"""
        self._platform = platform
        self._going = self._ended = False
        self._origin: float | None = None
        self._count = 0
        self._moved_at = time.monotonic()
        self._error: RigError | None = None
        self.time = 0.0
        """s of its own time that it has reached"""
        try:
            self._process = ChildProcess("the FMU", _serve, path, settings, self.ring.name, platform, pacing)
        except BaseException:
            self.ring.close()
            raise
        with contextlib.ExitStack() as failed:
            failed.callback(self.close)
            begun = self._receive(beginning, "begin")
            assert isinstance(begun, _Begun)
            self.given, self.needed = begun.given, begun.needed
            self._moved_at = time.monotonic()
            failed.pop_all()

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def go(self) -> None:
        """Let the FMU's time pass from the next set-point on. May be called again."""
        if not self._going:
            self._going = True
            with contextlib.suppress(ChildDiedError):  # which `check` says
                self._process.send(_Go())

    def advance(self, now: float, platform: Array) -> None:
        """Have the set-points made that are due at `now`, s of the stream's clock; waits for them, raises nothing.

        platform: see `platform_state`; numbers that are not known stay as they were.
        """
        if self._error is not None:
            return
        ahead = now + self._settings.lead
        if self._origin is None:
            self._origin = ahead
        first, step = self._count, self._settings.step
        while self._origin + self._count * step <= ahead:
            self._count += 1
        if first == self._count:
            return
        self._platform = _known(platform, self._platform)
        meant = tuple(self._origin + k * step for k in range(first, self._count))
        try:
            self._process.send(_Steps(meant, self._platform))
            self._receive(self._patience, "do its step")
        except RigError as error:
            self._error = error

    def check(self) -> None:
        """Raise FmuError if the FMU has failed, hangs, or its process has died."""
        self._look()
        if self._error is None:
            try:
                if self._paced and self._process.pipe.poll(0):
                    self._receive(0.0, "answer")
                elif self._paced and not self._ended and time.monotonic() - self._moved_at > self._patience:
                    self._error = self._hangs(self._patience)
            except RigError as error:
                self._error = error
        if self._error is not None:
            raise self._error

    def _receive(self, timeout: float, doing: str) -> object:
        try:
            message = self._process.receive(timeout, doing)
        except ChildLateError:
            raise self._hangs(timeout) from None
        except ChildDiedError:
            raise FmuError(f"{self.path}: it crashed {self._how()} {self._where()}") from None
        if isinstance(message, _Failed):
            raise message.kind(message.what)
        return message

    def _how(self) -> str:
        code = self._process.exitcode
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return f"by {signal.Signals(-code).name}"
        return f"with exit code {code}"

    def _hangs(self, waited: float) -> FmuError:
        return FmuError(f"{self.path}: it hangs {self._where()}: no answer for {waited:g} s")

    def _look(self) -> None:
        """Look at what came into the ring."""
        samples = self.ring.take()
        if len(samples):
            self.time, self._moved_at = float(samples["sent"][-1]), time.monotonic()
            self._ended = bool(samples["given"][-1] & END)

    def _where(self) -> str:
        self._look()
        return f"in a step from {self.time:g} s of its time" if self._going else "before its first step"

    def close(self) -> None:
        """End the process, whatever the FMU does, and remove the ring and what was unpacked. May be called again."""
        self._process.end(_ENDING)
        self.ring.close()
        remove_remains()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def _known(platform: Array, before: Array) -> Array:
    return np.where(np.isfinite(platform), platform, before)


def _serve(path: Path, settings: ReferenceFmu, ring: str, platform: Array, pacing: Pacing, owner: Connection) -> None:
    """Main function of the process: streams until its owner closes the pipe or has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what an FMU prints is no output of this program
    try:
        with contextlib.ExitStack() as resources:
            samples = resources.enter_context(SampleRing.attach(ring))
            needed = math.nan
            if pacing.telemetry is not None:
                with MotionUnit(path, settings) as tried:
                    _die_with(owner, tried.folder)
                    needed = step_time(tried, tried.inputs_of(platform))
                _refuse_slow(path, settings.step, needed)
            unit = resources.enter_context(MotionUnit(path, settings))
            _die_with(owner, unit.folder)
            stream = _UnitStream(unit, samples, settings, pacing, platform)
            if pacing.telemetry is None:
                owner.send(_Begun(unit.given, needed))
                _step_by_step(stream, owner)
            else:
                telemetry = resources.enter_context(TelemetryRing.attach(pacing.telemetry))
                reader = telemetry.reader()
                owner.send(_Begun(unit.given, needed))
                _pace(stream, owner, settings, lambda: reader.read_new()[0])
    except (InputError, HardwareError, SharedMemoryError) as error:
        failed = _Failed(str(error), InputError) if isinstance(error, InputError) else _Failed(error.finding, FmuError)
        with contextlib.suppress(OSError):
            owner.send(failed)
    except (EOFError, OSError):  # the owner is gone
        pass


def _refuse_slow(path: Path, step: float, needed: float) -> None:
    if needed > LARGEST_SHARE * step:
        raise InputError(
            f"{path}: a step of {step:g} s takes {needed:.3g} s on this machine, must take at most "
            f"{LARGEST_SHARE * step:g} s: a longer step, or lockstep"
        )


def _refuse_motion(unit: MotionUnit, velocity: Array) -> None:
    place = int(np.abs(velocity).argmax())
    if abs(velocity[place]) > _AT_REST:
        raise InputError(
            f"{unit.path}: it begins in motion, {PAYLOAD_MOTION[7 + place]} is {velocity[place]:.3g} at 0 s of its "
            f"time, must be at most {_AT_REST:g}; with reference.wait = false the platform fades into it"
        )


class _UnitStream:
    """Puts the set-points of an FMU into a ring."""

    def __init__(
        self, unit: MotionUnit, ring: SampleRing, settings: ReferenceFmu, pacing: Pacing, platform: Array
    ) -> None:
        self._unit, self._ring, self._pacing = unit, ring, pacing
        self._platform = platform
        self._last = max(1, round(pacing.duration / settings.step)) if math.isfinite(pacing.duration) else None
        self._sample: Samples = unit.sample_of(unit.begin(unit.inputs_of(platform)))
        _refuse_motion(unit, self._sample["velocity"][0] if settings.wait else np.zeros(6))
        self._sample["velocity"] = self._sample["acceleration"] = 0.0  # as long as it is repeated
        self._pushed = self._steps = 0
        self._late_since: float | None = None
        self.going = self.ended = False

    def learn(self, platform: Array) -> None:
        """Take the platform's state; what is not known stays as it was."""
        self._platform = _known(platform, self._platform)

    def push(self, meant: float, clock: Callable[[], float] | None = None) -> None:
        """Push the set-point that is meant at `meant`, s. Raises FmuError: it fails, or is late by `clock`."""
        if self.ended:
            return
        if self.going and self._pushed:
            try:
                self._sample = self._unit.sample_of(self._unit.step(self._unit.inputs_of(self._platform)))
                self._steps += 1
            except FmuEndedError:
                self.ended = True
            if self._steps == self._last:
                self.ended = True
        sample = self._sample
        if self.ended:
            sample["given"] |= END
        if not self.ended or self._steps == self._last:
            sample["time"] = meant  # else it is the last one again: the stream ends with it
        now = meant if clock is None else clock()
        sample["sequence"], sample["received"] = self._pushed, now
        self._ring.push(sample)
        self._pushed += 1
        self._judge(now - meant, now)

    def _judge(self, late: float, now: float) -> None:
        if late <= self._pacing.watchdog:
            self._late_since = None
        elif self._late_since is None:
            self._late_since = now
        elif now - self._late_since > _LATE_FOR:
            raise FmuError(
                f"{self._unit.path}: it is too slow, or the computer too busy: its set-point of {self._unit.time:g} s "
                f"of its time came {late:.3g} s late, and for {_LATE_FOR:g} s none was less than "
                f"{self._pacing.watchdog:g} s late"
            )


def _step_by_step(stream: _UnitStream, owner: Connection) -> None:
    while True:
        message = owner.recv()
        if isinstance(message, _Steps):
            stream.learn(message.platform)
            for meant in message.meant:
                stream.push(meant)
            owner.send(message.meant[-1])
        else:
            stream.going = True


def _pace(
    stream: _UnitStream,
    owner: Connection,
    settings: ReferenceFmu,
    rows: Callable[[], npt.NDArray[np.void]],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    begun, count = clock(), 0
    while True:
        due = begun + count * settings.step
        while owner.poll(max(0.0, due - clock())):
            owner.recv()
            stream.going = True
        new = rows()
        if len(new):
            stream.learn(platform_state(new[-1]))
        stream.push(due + settings.lead, clock)
        count += 1


def _die_with(owner: Connection, folder: Path) -> None:
    """End this process if its owner ends while the FMU does not return from a call."""

    def wait() -> None:
        hung_up = select.poll()
        hung_up.register(file, 0)  # only that
        hung_up.poll()
        time.sleep(_GRACE)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    file = os.dup(owner.fileno())
    threading.Thread(target=wait, name="owner", daemon=True).start()
