"""A rig that follows set-points streamed in: from the network, or of a foreign FMU."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from rig.config import CueOptions, ReferenceFmu, RigConfig
from rig.errors import FieldError, HardwareError, InterruptedRunError, RefusedError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.running import metadata, report_doubts, reporting, run_config
from rig.streaming import CueStatus, RigSide, StreamReceiver, StreamStatus, TuningFile, is_tuning_file, read_key

if TYPE_CHECKING:
    from rig.client import Interruption, LiveRig, LockstepRig, RunResult, UnitReport
    from rig.cueing import Vehicle

_NAME = "stream"
_SHOWN = 1.0  # s between two looks at what came in
_REST = 0.5  # s at rest before the platform is parked


@request
class FollowRequest:
    """Follow a stream on a rig: home, engage, wait for a sender or start an FMU, follow it to its end, park, report."""

    config: str
    """a configuration's file, or the name of a shipped one; one with a [virtual] table starts its virtual rig"""
    frame: Literal["base", "home", "platform"] | None = None
    """frame of the stream's poses; None: the configuration's"""
    port: int | None = None
    """port to listen on; None: the configuration's"""
    cue: str | None = None
    """the stream is a vehicle's motion, and goes through the washout of this tuning: a file, which is read again when
    it changes, or the name of a shipped one; None: as `[stream.cue]` says"""
    track: Path | None = None
    """a vehicle's motion to be played instead of a sender's, CSV as that of `CueRequest`; needs a washout"""
    fmu: Path | None = None
    """FMU to follow in place of a sender; None: that of `reference`, if the configuration has one"""
    duration: Annotated[float, Field(ge=1e-3, le=86400.0)] | None = None
    """s of the FMU's time after which its stream ends; None: when it ends itself"""
    lockstep: bool = False
    """rig, engine and FMU in step on a manual clock: deterministic; for an FMU or a track"""
    rate: float | None = None
    """cycles per second; None: the configuration's"""
    reset: bool = False
    """reset existing drive faults"""
    real_time: bool = False
    """run the virtual rig in real time"""
    unproven: bool = False
    """home even if a leg's wiring was not tested"""
    operator: str | None = None
    """operator, for the recording"""
    note: str | None = None
    """purpose of the run, for the recording"""
    output: Path | None = None
    """folder of recording and report; None: the configuration's"""

    def __post_init__(self) -> None:
        if self.cue is not None and self.frame not in (None, "base"):
            raise FieldError("frame", f"{self.frame!r} must be 'base' or left out with a washout")
        if self.track is not None and self.port is not None:
            raise FieldError("port", "needs a sender, and a track is played in place of one")
        if self.fmu is not None and self.port is not None:
            raise FieldError("port", "needs a sender, and an FMU is followed in place of one")
        if self.fmu is not None and (self.cue is not None or self.track is not None):
            raise FieldError("fmu", "gives poses: cue and track are for a vehicle's motion")


@dataclass(frozen=True, slots=True)
class StreamDelay:
    """Delay of a followed stream over its cycles: from the time at which a pose is meant to the reference.

    cycles: those in which the stream was followed. stated: s, `stream.delay`. median, p99, largest: s, measured.
    """

    cycles: int
    stated: float
    median: float
    p99: float
    largest: float

    @property
    def text(self) -> str:
        """One line."""
        if not self.cycles:
            return f"stated {1e3 * self.stated:g} ms; nothing was followed"
        median, p99, largest = (f"{1e3 * value:.2f}" for value in (self.median, self.p99, self.largest))
        return (
            f"stated {1e3 * self.stated:g} ms, measured {median} ms (median), {p99} ms (p99), {largest} ms at most, "
            f"over {self.cycles} cycles"
        )


@dataclass(frozen=True, slots=True)
class FollowResult:
    """A followed stream.

    run: its recording and report, and the reason if it did not complete. stream: what came in. delay: None if nothing
    was recorded. address: where the receiver listened. interrupted: whether the user ended it. cueing: what the washout
    did, if there is one. unit: of an FMU; None without one, or where it could not be followed.
    """

    run: "RunResult"
    stream: StreamStatus
    delay: StreamDelay | None
    address: str = ""
    interrupted: bool = False
    cueing: CueStatus | None = None
    unit: "UnitReport | None" = None

    @property
    def summary(self) -> dict[str, Any]:
        """Return the run's numbers, with those of the stream, as a JSON object."""
        stream = {name: _plain(value) for name, value in asdict(self.stream).items()}
        delay = None if self.delay is None else {name: _plain(value) for name, value in asdict(self.delay).items()}
        unit = None if self.unit is None else {name: _plain(value) for name, value in asdict(self.unit).items()}
        if unit is not None:
            unit["path"] = str(unit["path"])
        stream |= {"address": self.address, "delay": delay, "interrupted": self.interrupted, "fmu": unit}
        if self.cueing is not None:
            stream["cueing"] = {**asdict(self.cueing), "tuning": self.cueing.tuning.model_dump()}
        return {**self.run.summary, "stream": stream}


def follow_stream(request: FollowRequest, progress: OnEvent = no_progress) -> FollowResult:
    """Follow a stream on a rig until it ends, is lost, or Ctrl-C. In any case, the rig is brought to rest.

    Events: `rig` with its `phase`; `listening` with its address as `place`, once the rig waits for a sender;
    `following`, once a second, with what came in as text `what`; `tuned` with the changes of a washout's tuning as text
    `what`; notices of checks that are off and of the loop.

    Raises:
        RefusedError: the loop is unstable; nothing was started.
        FieldError: a request for an FMU where none is followed, or for a port where one is.
        InputError: an unusable file, folder or key.
        HardwareError: a process could not be started.
    """
    from rig.client import Interruption, check_unit, conduct
    from rig.safety import check_loop

    config = _configured(request)
    track = None if request.track is None else _read_track(config, request.track)
    name = _NAME
    if config.reference is not None:
        name = Path(config.reference.fmu).stem
        check_unit(config, config.reference)  # before anything is started
    elif config.stream.receiver.key_file is not None and track is None:
        read_key(config.folder / config.stream.receiver.key_file)
    report_doubts(config, progress)
    loop = check_loop(config)
    if not loop.passed:
        raise RefusedError(loop.message)
    interruption = Interruption()
    follower = _Follower(config, request, progress, interruption, track)
    run = conduct(
        config, follower.body, name, request.output, interruption, lockstep=request.lockstep, report=reporting(progress)
    )
    delay = _delay_of(config, run.recording)
    return FollowResult(
        run, follower.status, delay, follower.address, follower.interrupted, follower.cueing, follower.unit
    )


def _read_track(config: RigConfig, path: Path) -> "Vehicle":
    from rig.cueing import read_vehicle

    if config.stream.cue is None:
        raise FieldError("track", f"{path}: a vehicle's motion needs a washout: give a tuning by cue or [stream.cue]")
    return read_vehicle(path, config.stream.cue.rate)


def _configured(request: FollowRequest) -> RigConfig:
    changes: dict[str, Any] = {}
    if request.frame is not None:
        changes["frame"] = request.frame
    if request.port is not None:
        changes["receiver"] = {"port": request.port}
    if request.cue is not None:
        changes["cue"] = {"tuning": str(Path(request.cue).absolute()) if is_tuning_file(request.cue) else request.cue}
    config = run_config(request.config, request.rate, lockstep=request.lockstep, real_time=request.real_time)
    config = config.changed({**metadata(request.operator, request.note), **({"stream": changes} if changes else {})})
    if request.fmu is not None:
        config = config.changed({"reference": {"fmu": str(request.fmu.absolute())}})
    if config.reference is not None:
        for field in ("port", "cue", "track"):
            if getattr(request, field) is not None:
                raise FieldError(field, "cannot be used: the FMU of the configuration's [reference] is followed")
    elif request.duration is not None:
        raise FieldError("duration", "needs an FMU, and none is followed")
    elif request.lockstep and request.track is None:
        raise FieldError("lockstep", "needs an FMU or a track: a sender cannot run in step with the rig")
    return config


class _Follower:
    """Operates the rig for a stream, and keeps what came in."""

    def __init__(
        self,
        config: RigConfig,
        request: FollowRequest,
        progress: OnEvent,
        interruption: "Interruption",
        track: "Vehicle | None",
    ) -> None:
        self._track = track
        cue = config.stream.cue
        self._tuning = None if cue is None else TuningFile(cue.tuning, config.folder)
        self.cueing: CueStatus | None = None
        self._config, self._request, self._progress = config, request, progress
        self._interruption = interruption
        self._shown_at = -math.inf
        self.status = StreamStatus()
        self.address = ""
        self.interrupted = False
        self.unit: UnitReport | None = None

    def body(self, rig: "LockstepRig | LiveRig") -> None:
        """Do the whole, from OFF to OFF."""
        from rig.client import LiveRig, leave, let_pass, park
        from rig.client import Progress as RunProgress

        report, cue = reporting(self._progress), self._config.stream.cue
        if self._config.reference is not None:
            self._engage(rig)
            self._follow_unit(rig, self._config.reference)
        elif self._track is not None and cue is not None:
            self._engage(rig)
            self._play(rig, self._track, cue)
        else:
            assert isinstance(rig, LiveRig)
            self._receive(rig)
        let_pass(rig, _REST)
        report(RunProgress("parking", 1.0))
        park(rig)
        leave(rig)

    def _engage(self, rig: "LockstepRig | LiveRig") -> None:
        from rig.client import Progress as RunProgress
        from rig.client import connect_and_home, engage

        request, report = self._request, reporting(self._progress)
        connect_and_home(rig, report, reset=request.reset, unproven=request.unproven)
        report(RunProgress("engaging", 0.0))
        engage(rig)

    def _receive(self, rig: "LiveRig") -> None:
        from rig.client import cue_setup

        config = self._config
        side = RigSide(rig.engine.address.ring, config.machine.geometry, config.period)
        cue, file = config.stream.cue, self._tuning
        setup = None if cue is None or file is None else cue_setup(config, cue, file.tuning)
        with StreamReceiver(config.stream.receiver, config.folder, side, cue=setup) as receiver:
            self.address = receiver.address
            try:
                self._engage(rig)
                self._follow(rig, receiver)
            finally:
                if setup is not None:
                    with suppress(HardwareError):
                        self.cueing = receiver.cueing()
                receiver.close()
                self.status = receiver.status()

    @contextmanager
    def _holding(self, rig: "LockstepRig | LiveRig") -> Iterator[None]:
        """Within the block, Ctrl-C brings the platform to rest, where it holds."""
        from rig.client import stop

        try:
            yield
        except InterruptedRunError:
            self._interruption.forget()  # the next one is the first again: it stops what is left
            self.interrupted = True
            stop(rig, 2)

    def _follow_unit(self, rig: "LockstepRig | LiveRig", reference: ReferenceFmu) -> None:
        """Follow an FMU to its end."""
        from rig.client import follow_unit

        def report(unit: "UnitReport") -> None:
            self.unit = unit
            self._show(lambda: unit.text)

        with self._holding(rig):
            self.unit = follow_unit(rig, reference, Path(reference.fmu).stem, self._request.duration, report)

    def _play(self, rig: "LockstepRig | LiveRig", track: "Vehicle", cue: CueOptions) -> None:
        """Play a vehicle's motion to its end."""
        from rig.client import follow_stream

        self._progress(Progress("following", values={"what": f"{track.source}, {track.times[-1]:.1f} s"}))
        with self._holding(rig):
            self.cueing = follow_stream(rig, track.samples, _NAME, cue.rate, None, cue, self._tell)

    def _tell(self, text: str) -> None:
        self._progress(Progress("tuned", values={"what": text}))

    def _follow(self, rig: "LiveRig", receiver: StreamReceiver) -> None:
        """Wait for a sender, and follow it to its end."""
        from rig.client import TuningWatch, finish, refuse_fault
        from rig.engine import FollowStream, Snapshot

        def came(status: Snapshot) -> bool:
            refuse_fault(status)
            return self._looked(receiver).taken > 0

        file, tell = self._tuning, self._tell
        watch = None if file is None else TuningWatch(file, receiver.tune, rig.note_tuning, tell)

        def look(_progress: object = None) -> None:
            if watch is not None:
                watch.look(time.monotonic())
            self._show(lambda: self._came_in(receiver))

        self._progress(Progress("listening", values={"place": self.address}))
        with self._holding(rig):
            rig.wait(came, math.inf, "a sender")
            rig.request(FollowStream(_NAME, receiver.ring.name))
            finish(rig, look)

    def _looked(self, receiver: StreamReceiver) -> StreamStatus:
        self.status = receiver.status()
        return self.status

    def _came_in(self, receiver: StreamReceiver) -> str:
        what = self._looked(receiver).text
        if self._tuning is None:
            return what
        self.cueing = receiver.cueing()
        return f"{what}; {self.cueing.text}"

    def _show(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if now - self._shown_at >= _SHOWN:
            self._shown_at = now
            self._progress(Progress("following", values={"what": text()}))


def _delay_of(config: RigConfig, recording: Path) -> StreamDelay | None:
    """Delay of the recorded cycles; None without a recording."""
    from rig.recording import RecordingFile

    if not recording.exists():
        return None
    found = [np.zeros(0)]
    for rows in RecordingFile(recording).blocks():
        found.append(rows["stream_delay"][np.isfinite(rows["stream_asked"][:, 0])])
    delays = np.concatenate(found)
    if not len(delays):
        return StreamDelay(0, config.stream.delay, math.nan, math.nan, math.nan)
    median, p99 = np.percentile(delays, (50.0, 99.0))
    return StreamDelay(len(delays), config.stream.delay, float(median), float(p99), float(delays.max()))


def _plain(value: Any) -> Any:
    """Return JSON-able data, with None where a number is not finite."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
