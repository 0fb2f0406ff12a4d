"""What may be followed, what has come in of a stream, and what is done with it, as captions and texts."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gui.models.rules import Action, Phase, Situation, obstacle
from gui.texts import config_fault_text, finding_text, mark, tr
from rig.client import UnitReport
from rig.config import ExtensionSettings, ReferenceFmu, RigConfig, read_settings
from rig.engine import FollowSource, FollowStream, RigCommand, Snapshot, find_source, source_names
from rig.errors import ConfigError
from rig.findings import Code
from rig.states import State
from rig.streaming import PACKET_SIZE, VEHICLE_SIZE, CueStatus, StreamStatus

Frame = Literal["base", "home", "platform"]
FRAME_TEXTS: dict[Frame, str] = {
    "base": mark("base: absolute"),
    "home": mark("home: about the home pose"),
    "platform": mark("platform: about home, in the platform's axes"),
}
"""what the frames of a stream's poses mean"""
Role = Literal["", "muted", "good", "bad", "warning"]
STREAM = "stream"
"""key of the stream from another program among what may be followed: of poses, or of a vehicle's motion"""
UNIT = "[reference]"
"""key of the FMU"""
_NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a table: a caption, a text, and the role of its colour."""

    caption: str
    text: str
    role: Role = ""


@dataclass(frozen=True, slots=True)
class Followed:
    """Something that may be followed.

    key: `STREAM`, `UNIT`, or the name of a declared reference. caption: for a person. settings: the model of its
    settings; None where it has no form. fault: why it cannot be followed, or empty.
    """

    key: str
    caption: str
    settings: type[ExtensionSettings] | None = None
    fault: str = ""

    def command(self, ring: str, frame: Frame, values: dict[str, Any]) -> RigCommand:
        """The command that follows it. ring, frame: of a stream's samples. values: of its settings."""
        if self.key == STREAM:
            return FollowStream(STREAM, ring, frame)
        return FollowSource(self.key, values)

    def refusal(self, values: dict[str, Any]) -> str:
        """Why it cannot be followed with these settings; empty if it can."""
        if self.fault or self.settings is None:
            return self.fault
        try:
            read_settings(self.settings, values)
        except ConfigError as error:
            return "; ".join(map(config_fault_text, error.found))
        return ""


def what_may_be_followed(config: RigConfig) -> list[Followed]:
    """A stream of poses or of a vehicle, an FMU, and the references of other distributions, also broken ones."""
    stream = tr("Stream of poses from another program")
    if config.stream.cue is not None:
        stream = tr("Vehicle's motion from another program, through the washout")
    found = [Followed(STREAM, stream), Followed(UNIT, tr("FMU, a model of another simulator"))]
    try:
        names = source_names()
    except ConfigError as error:
        return [*found, Followed("", tr("References of other packages"), fault=str(error))]
    for name in names:
        try:
            declared = find_source(name)
            declared.settings().model_dump(mode="json")
        except ConfigError as error:
            found.append(Followed(name, name, fault=str(error)))
        except Exception as error:  # of whatever kind, where the settings are somebody else's
            found.append(Followed(name, name, fault=tr("its settings have no defaults: {error}").format(error=error)))
        else:
            own = None if declared.settings is ExtensionSettings else declared.settings
            found.append(Followed(name, declared.caption, own))
    return found


# -- the receiver ------------------------------------------------------------------------------------------------------


def receiver_facts(config: RigConfig, address: str = "") -> list[Fact]:
    """Where set-points come in, and what of. address: where the receiver listens; empty if it does not."""
    options = config.stream.receiver
    configured = f"{options.transport}://{options.host}:{options.port}"
    key = tr("none: only senders on this machine are accepted") if options.key_file is None else options.key_file
    size = PACKET_SIZE if config.stream.cue is None else VEHICLE_SIZE
    formats = {"udp": tr("UDP packets of {size} bytes").format(size=size), "tcp": tr("lines of JSON or CSV")}
    back = tr("in each cycle, to the sender's address") if options.feedback else tr("none")
    return [
        Fact(tr("Address"), address or tr("{address}, closed").format(address=configured), "" if address else "muted"),
        Fact(tr("Format"), formats[options.transport]),
        Fact(tr("Key"), key),
        Fact(tr("Answers"), back),
    ]


def stream_facts(config: RigConfig) -> list[Fact]:
    """How the configuration has poses followed: the keys of [stream]."""
    stream = config.stream
    modes = {
        "refuse": tr("refuse: it stops on the path"),
        "limit": tr("limit: it follows as closely as it can"),
    }
    ahead = tr("predicted, {time} at most").format(time=_ms(stream.predict))
    return [
        Fact(tr("Delay"), _ms(stream.delay)),
        Fact(tr("Between samples"), tr("interpolated") if stream.resampling == "interpolate" else ahead),
        Fact(tr("Beyond the limits"), modes[stream.mode]),
        Fact(tr("Silence allowed"), _ms(stream.watchdog)),
        Fact(
            tr("Fade in, out"),
            tr("{fade_in:g} s, {fade_out:g} s").format(fade_in=stream.fade_in, fade_out=stream.fade_out),
        ),
        Fact(tr("Stopped after loss"), tr("{time:g} s").format(time=stream.stop_after)),
    ]


_DROPS = {
    "overflow": mark("no room in the queue"),
    "system": mark("no room in the system"),
    "malformed": mark("not readable"),
    "key": mark("wrong key"),
    "challenge": mark("session not opened yet"),
    "other_session": mark("other senders"),
    "ended": mark("after the end"),
    "duplicate": mark("duplicates"),
    "old": mark("too old"),
    "invalid": mark("not valid"),
    "time": mark("impossible time"),
}


def unit_facts(config: RigConfig, reference: ReferenceFmu | None) -> list[Fact]:
    """How an FMU is followed: its part of [reference]."""
    captions = tr("Step"), tr("Done ahead by"), tr("Its time"), tr("Connected"), tr("Delay")
    if reference is None:
        return [Fact(caption, _NOTHING, "muted") for caption in captions]
    waits = tr("stands still until the platform is there")
    count = len(reference.connections)
    texts = (
        _ms(reference.step),
        _ms(reference.lead),
        waits if reference.wait else tr("passes from the beginning"),
        tr("{count} variables").format(count=count) if count else tr("variables of the quantities' names"),
        _ms(config.stream.delay),
    )
    return [Fact(caption, text) for caption, text in zip(captions, texts, strict=True)]


def unit_progress_facts(phase: str, report: UnitReport | None, *, failed: bool = False) -> list[Fact]:
    """How an FMU does. phase, failed: of `UnitFollowing`. report: of the last look."""
    states: dict[str, tuple[str, Role]] = {
        "off": (tr("has failed"), "bad") if failed else (tr("no FMU is followed"), "muted"),
        "starting": (tr("is started, and its steps are timed"), "warning"),
        "followed": (tr("gives set-points"), "good"),
    }
    reached = took = _NOTHING
    if report is not None:
        reached = tr("{time:.2f} s of its own").format(time=report.time)
        took = tr("{needed}, of {step}").format(needed=_ms(report.needed), step=_ms(report.step))
    state = Fact(tr("FMU"), *states[phase])
    return [state, Fact(tr("Time reached"), reached), Fact(tr("A step takes"), took)]


_FLAGS = {
    "input limited": mark("by the input's limits"),
    "tilt limited": mark("by the tilt's limits"),
    "legs limited": mark("by the legs"),
    "braking": mark("braking"),
}


def washout_facts(status: CueStatus | None) -> list[Fact]:
    """What the washout has done so far; None while not listening."""
    captions = tr("Washout"), tr("Held, brought to rest"), tr("Steps limited")
    if status is None:
        return [Fact(caption, _NOTHING, "muted") for caption in captions]
    steps = tr("{steps} steps, tuning {tuning}").format(steps=status.steps, tuning=status.tuning.name)
    held = tr("{held} steps, {rests} times").format(held=status.held, rests=status.rests)
    limits = ", ".join(f"{count} {tr(_FLAGS.get(name, name))}" for name, count in status.flags.items() if count)
    return [
        Fact(captions[0], steps),
        Fact(captions[1], held, "warning" if status.held or status.rests else ""),
        Fact(captions[2], limits or "0"),
    ]


def arrival_facts(status: StreamStatus | None) -> list[Fact]:
    """What has come in so far; None while not listening."""
    captions = (
        tr("Sender"),
        tr("Sending rate"),
        tr("Newest"),
        tr("Taken"),
        tr("Missing"),
        tr("Not taken"),
        tr("Sender's clock"),
    )
    jitter = tr("Jitter, 99 %")
    if status is None or not status.received:
        return [Fact(caption, _NOTHING, "muted") for caption in (*captions, jitter)]
    live: Role = "good" if status.active else "warning"
    ended = tr("{sender}, has ended its stream") if status.ended else tr("{sender}, silent")
    sender = (tr("{sender}, sending") if status.active else ended).format(sender=status.origin or _NOTHING)
    dropped = [f"{count} {tr(_DROPS.get(name, name))}" for name, count in status.dropped.items() if count]
    clock = status.clock
    offset = drift = _NOTHING
    if math.isfinite(clock.offset):
        behind = tr("{offset} behind this one") if clock.offset >= 0.0 else tr("{offset} ahead of this one")
        offset = behind.format(offset=_ms(abs(clock.offset)))
    if math.isfinite(clock.drift):
        drift = f"{1e6 * clock.drift:+.1f} ± {2e6 * clock.drift_sigma:.1f} ppm"
    missing = [f"{status.missing}"]
    if status.reordered:
        missing.append(tr("{count} overtaken").format(count=status.reordered))
    texts: tuple[tuple[str, Role], ...] = (
        (sender, live),
        (tr("{rate:.4g} Hz").format(rate=status.rate) if math.isfinite(status.rate) else _NOTHING, ""),
        (tr("number {sequence}, {age} ago").format(sequence=status.sequence, age=_ms(status.silence)), ""),
        (f"{status.taken}", ""),
        (", ".join(missing), "warning" if status.missing else ""),
        (", ".join(dropped) or "0", "warning" if dropped else ""),
        (offset if drift == _NOTHING else f"{offset}, {drift}", ""),
    )
    facts = [Fact(caption, text, role) for caption, (text, role) in zip(captions, texts, strict=True)]
    return [*facts, Fact(jitter, _ms(clock.jitter))]


# -- what the platform does --------------------------------------------------------------------------------------------

_PHASES = {
    "waiting": mark("waiting for samples"),
    "approaching": mark("going to the first pose"),
    "fading in": mark("fading in"),
    "following": mark("following"),
    "fading out": mark("coming to rest"),
}


def follows(now: Situation) -> bool:
    """Whether the platform follows a stream or a reference without an end, or comes to rest from it."""
    status = now.status
    if now.phase is not Phase.UP or status is None or status.state not in (State.RUNNING, State.STOPPING):
        return False
    return status.stream is not None or status.path_duration == math.inf


def following_facts(config: RigConfig, status: Snapshot | None) -> list[Fact]:
    """What the platform does with the stream or reference that it follows."""
    captions = tr("State"), tr("Delay"), tr("Samples"), tr("Limited"), tr("Last limit")
    if status is None or not (status.state in (State.RUNNING, State.STOPPING) or status.resumable):
        return [Fact(captions[0], tr("nothing is followed"), "muted"), *(Fact(one, _NOTHING) for one in captions[1:])]
    stream = status.stream
    if stream is None:
        moves = tr("paused") if status.resumable else tr("following")
        what = tr("{motion}: {state}, {time:.1f} s").format(motion=status.motion, state=moves, time=status.path_time)
        return [Fact(captions[0], what), *(Fact(one, _NOTHING) for one in captions[1:])]
    held = tr("holding, can be resumed") if status.resumable else ""
    stopping = tr("coming to rest") if status.state is State.STOPPING else ""
    state = held or stopping or tr(_PHASES[stream.phase])
    good: Role = "good" if state == tr(_PHASES["following"]) else "warning"
    counts = tr("{used} used, {lost} lost, {late} late, {unusable} not usable").format(
        used=stream.used, lost=stream.lost, late=stream.late, unusable=stream.unusable
    )
    lost = stream.lost + stream.late + stream.unusable
    delay = tr("{measured}, stated {stated}").format(measured=_ms(stream.delay), stated=_ms(config.stream.delay))
    limited = tr("{count} cycles").format(count=stream.limited)
    return [
        Fact(captions[0], state, good),
        Fact(captions[1], delay),
        Fact(captions[2], counts, "warning" if lost else ""),
        Fact(captions[3], limited, "warning" if stream.limited else ""),
        Fact(captions[4], _NOTHING if stream.limit is None else finding_text(stream.limit)),
    ]


_ADVICE = {
    Code.STREAM_REFUSED: mark("Make the sender's motion smaller or slower, or set stream.mode to limit. Then Resume."),
    Code.STREAM_ELSEWHERE: mark("Choose the frame that the sender means, or bring its first pose nearer."),
    Code.STREAM_SILENT: mark("See that the sender runs. The platform fades in again when samples come back."),
    Code.STREAM_LOST: mark("Start the sender again, then Resume; or Abandon."),
    Code.STREAM_STARVED: mark("Raise stream.delay by the jitter, or send at a higher rate."),
    Code.STREAM_UNUSABLE: mark("The sender must send finite numbers and quaternions of norm 1."),
    Code.STREAM_STALE: mark("Compare the sender's time stamps with the times at which it sends."),
    Code.STREAM_LIMITED: mark("Make the sender's motion smaller or slower."),
    Code.STREAM_SLIPPED: mark("The computer was busy. Close other programs if this goes on."),
    Code.STREAM_DELAY: mark("Raise stream.delay in the configuration."),
    Code.STREAM_UNREADABLE: mark("Stop listening, and listen again."),
    Code.SOURCE_REFUSED: mark("Change its settings, or ask the author of its package."),
    Code.SOURCE_FAILED: mark("Ask the author of its package."),
    Code.SOURCE_LATE: mark("Ask the author of its package."),
    Code.SOURCE_NOT_AT_REST: mark("Ask the author of its package."),
    Code.REFERENCE_FMU_FAILED: mark("Try the FMU alone, as in FMPy. Abandon the motion before you start it again."),
    Code.STREAM_FOLLOWED: "",
    Code.STREAM_ENDED: "",
}


def concerns_following(code: Code) -> bool:
    """Whether findings of a code are about a stream or a reference of another package."""
    return code in _ADVICE


def advice(code: Code) -> str:
    """What the operator can do about a finding on what is followed; empty where there is nothing to do."""
    return tr(_ADVICE[code]) if _ADVICE.get(code) else ""


def against_unit(config: RigConfig, reference: ReferenceFmu | None, phase: str) -> str:
    """Why an FMU cannot be started; empty if it can. phase: of `UnitFollowing`."""
    if phase == "starting":
        return tr("the FMU is being started")
    if reference is None:
        return tr("choose the FMU's file")
    path = config.folder / Path(reference.fmu)
    return "" if path.is_file() else tr("there is no file {path}").format(path=path)


def against_following(
    what: Followed, values: dict[str, Any], wrong: str, now: Situation, stream: StreamStatus | None
) -> str:
    """Why following cannot begin now; empty if it can.

    values: of its settings. wrong: fault of a field, or of an FMU. stream: what came in; None while not listening.
    """
    if found := obstacle(Action.FOLLOW, now):
        return found
    if now.moving:
        return tr("a motion is under way")
    if what.key != STREAM:
        return wrong or what.refusal(values)
    if stream is None:
        return tr("not listening: press Listen")
    return "" if stream.active else tr("no set-points come in: start the sender")


def _ms(time: float) -> str:
    """A time, s, as text in ms, or s from 10 s on."""
    if not math.isfinite(time):
        return _NOTHING
    return f"{time:.0f} s" if time >= 10.0 else f"{1e3 * time:.3g} ms" if time < 1.0 else f"{time:.2f} s"
