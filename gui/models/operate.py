"""Operating a rig as view-models: state, steps, refusals with their repair, and cycle statistics.

Each is derived from a `Situation` alone; widgets contain no rules.
"""

import contextlib
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gui.models.colours import AMBER, BROWN, GREY, ORANGE, RED, STATE_COLOURS
from gui.models.rules import STATE_WORDS, Action, Phase, Repair, Situation, is_repaired, obstacle, repair_of
from gui.texts import cause_text, finding_text, mark, sentence, tr, trn
from rig.engine import TORQUE_STATES, Compiling, Snapshot
from rig.findings import Finding
from rig.recording import room_text
from rig.runtime import slowdown_text
from rig.states import State, StopSeverity


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How a state is shown: text, icon and colour."""

    text: str
    icon: str
    """Name of an icon, see `gui.widgets.icon`."""
    background: str
    foreground: str
    hint: str
    """What can be done next."""


_HINTS: dict[State, tuple[str, str]] = {
    State.OFF: ("off", tr("Not connected. Next: Connect.")),
    State.IDLE: ("idle", tr("Connected, torque off, brakes on. Next: Home.")),
    State.HOMING: ("homing", tr("The legs search their references. Keep clear.")),
    State.SINGLE_LEG: ("one leg", tr("One leg moves alone. Keep clear.")),
    State.PARKED: ("parked", tr("Homed, torque off, brakes on. Next: Arm, then Engage.")),
    State.ENGAGING: ("engaging", tr("The drives take the load. Keep clear.")),
    State.ENGAGED: ("engaged", tr("Holding under power. Next: run a motion, jog, or Park.")),
    State.RUNNING: ("running", ""),
    State.PARKING: ("parking", tr("Moving home, then brakes on and torque off.")),
    State.STOPPING: ("stopping", ""),
    State.FAULT: ("fault", ""),
}
"""Icon and hint."""
_STATES = {
    state: StateStyle(STATE_WORDS[state], icon, *STATE_COLOURS[state], hint) for state, (icon, hint) in _HINTS.items()
}

_PHASES = {
    Phase.DOWN: StateStyle(tr("Off"), "off", GREY, "white", tr("The engine is not running. Next: Connect.")),
    Phase.STARTING: StateStyle(
        tr("Starting"), "starting", AMBER, "#10151a", tr("The engine starts; the first time takes a minute.")
    ),
    Phase.ENDING: StateStyle(tr("Ending"), "ending", AMBER, "#10151a", tr("The recording is being closed.")),
    Phase.DIED: StateStyle(tr("Engine died"), "dead", RED, "white", ""),
}

_SILENT = StateStyle(
    tr("No answer"),
    "silent",
    RED,
    "white",
    tr("The engine runs, but does not answer. Press STOP, then look at the machine."),
)

_HELD = StateStyle(tr("In use"), "held", ORANGE, "white", "")

REMEDY_TEXTS = TAKE, RESTART, RESET = tr("Take over"), tr("Restart engine"), tr("Reset fault")
"""Texts of the banner button that remedies a problem."""

_STOPS = {
    StopSeverity.NONE: "",
    StopSeverity.CATEGORY_2: tr("category 2: decelerate and hold"),
    StopSeverity.CATEGORY_1: tr("category 1: decelerate, brakes on, torque off"),
    StopSeverity.QUICK_STOP: tr("the drives' own quick stop"),
    StopSeverity.CATEGORY_0: tr("category 0: torque off at once"),
}


def state_style(now: Situation) -> StateStyle:
    """Return how the situation is shown."""
    if now.holder is not None:
        return _HELD
    if now.phase is not Phase.UP or now.status is None:
        return _PHASES.get(now.phase, _PHASES[Phase.STARTING])
    if now.silent:
        return _SILENT
    if now.status.state is State.PARKED and now.status.away:
        hint = tr("{distance:.0f} mm from home, torque off, brakes on. Next: Arm, then Engage, then Park.").format(
            distance=1e3 * now.status.from_home
        )
        return replace(_STATES[State.PARKED], icon="on brakes", hint=hint)
    if now.status.resumable:
        why, place = cause_text(now.status.paused_for), _place_of(now.status)
        hint = (
            tr("{place}, held under power: {why}. Next: Resume, Abandon, or Park.")
            if why
            else tr("{place}, held under power. Next: Resume, Abandon, or Park.")
        ).format(place=place, why=why)
        return StateStyle(tr("Paused"), "pause", BROWN, "white", hint)
    return _STATES[now.status.state]


def _compiling_text(now: Compiling) -> str:
    if now.finished:
        return tr("Compiled ({total} kernels). The other processes of the rig are waited for.").format(total=now.total)
    text = tr("Compiling: {done} of {total} kernels. Only the first start on this machine does so.")
    return text.format(done=now.done, total=now.total)


def _place_of(status: Snapshot) -> str:
    """The motion and the place on it; of one without an end, for how long it has been followed."""
    whole = tr("{motion!r}, {time:.1f} of {duration:.1f} s")
    place = tr("{motion!r}, {time:.1f} s") if status.path_duration == math.inf else whole
    return place.format(motion=status.motion, time=status.path_time, duration=status.path_duration)


def detail_of(now: Situation) -> str:
    """Return the first cause of a stop or fault as text, or what can be done next."""
    style = state_style(now)
    status = now.status
    if now.holder is not None:
        return now.holder.words + " " + tr("STOP reaches it. Next: Take over, or End the engine.")
    if now.phase is Phase.DIED:
        return now.death
    if now.phase is Phase.STARTING and now.compiling is not None:
        return _compiling_text(now.compiling)
    if now.phase is not Phase.UP or status is None or now.silent:
        return style.hint
    if status.finding is not None:
        kind = f"{_STOPS[status.stop]} — " if status.state is State.STOPPING else ""
        text = tr("{cause}, at {time:.3f} s.").format(cause=f"{kind}{cause_text(status.finding)}", time=status.cause_t)
        text = sentence(text)
        if status.state is State.FAULT:
            return text + " " + tr("Next: fix the cause, then Reset fault.")
        if status.held_for_fault:
            return text + " " + tr("Next: STOP, which takes the torque off, then Reset fault.")
        return text
    if status.recording_fault:
        nothing = (
            tr("Nothing is being recorded: {reason}. Next: Park, Disconnect, Connect.")
            if status.state in TORQUE_STATES
            else tr("Nothing is being recorded: {reason}. Next: Disconnect, Connect.")
        )
        return nothing.format(reason=status.recording_fault)
    if status.state is State.RUNNING:
        return _place_of(status)
    if now.armed and status.state is State.PARKED:
        return tr("Armed. Next: Engage.")
    if now.busy:
        return f"{sentence(tr(now.busy))} …"
    return style.hint


def remedy_of(now: Situation) -> tuple[Action, str] | None:
    """Return the remedy of a problem and its button text; None without a problem or remedy.

    Never one that enables torque.
    """
    if now.holder is not None:
        return Action.CONNECT, TAKE
    if now.phase is Phase.DIED:
        return Action.CONNECT, RESTART
    if now.phase is Phase.UP and now.status is not None and now.status.state is State.FAULT:
        return Action.RESET, RESET
    return None


STATE_TEXTS = tuple(style.text for style in (*_STATES.values(), *_PHASES.values(), _SILENT, _HELD))
"""All possible texts of the state."""


def title_of(now: Situation, name: str) -> str:
    """Return the window's title: state, first cause, whether the rig is virtual, names of the rig and the app."""
    cause = [detail_of(now)] if now.status is not None and now.status.finding is not None else []
    virtual = [tr("VIRTUAL RIG")] if now.virtual else []
    return " – ".join((state_style(now).text, *cause, *virtual, name, "stewart-rig"))


def past_of(phase: Phase) -> str:
    """Why the machine's picture is not live; empty while there is an engine."""
    if phase in (Phase.DOWN, Phase.ENDING):
        return tr("Not connected")
    return tr("The engine died") if phase is Phase.DIED else ""


# -- the steps from connecting to parking ------------------------------------------------------------------------------

CONNECT_TEXTS = CONNECT, *_ = tr("Connect"), RESTART, TAKE
DISCONNECT_TEXTS = DISCONNECT, END = tr("Disconnect"), tr("End the engine")
"""Possible texts of the first and the last step."""
_REFUSED = tr("refused")
ARMED_TIME = 5000
"""ms within which the second step must follow the first."""
_STEPS = (Action.CONNECT, Action.HOME, Action.ENGAGE, Action.PARK, Action.DISCONNECT, Action.RESET)
_NEXT = {State.OFF: Action.CONNECT, State.IDLE: Action.HOME, State.PARKED: Action.ENGAGE, State.FAULT: Action.RESET}
"""Next step by state."""


def arm_first(act: str) -> str:
    """Why the second of two steps cannot be taken before the first."""
    return tr("press Arm, then {act} within {time}\u00a0s").format(act=act, time=ARMED_TIME // 1000)


@dataclass(frozen=True, slots=True)
class Steps:
    """State of the step buttons."""

    obstacles: Mapping[Action, str]
    """Why each cannot be taken now, empty if it can; for Engage regardless of arming."""
    following: Action | None
    """The next step."""
    reason: str
    """Why it cannot be taken now, with its name; empty if it can."""
    connect: str
    disconnect: str
    """Texts of the first and the last step, see `CONNECT_TEXTS` and `DISCONNECT_TEXTS`."""
    unconnected: bool
    """Whether no drive is connected."""


def steps_of(now: Situation) -> Steps:
    """Return the steps in a situation."""
    obstacles = {action: obstacle(action, now) for action in _STEPS}
    status = now.status if now.phase is Phase.UP else None
    following = Action.CONNECT if status is None else _NEXT.get(status.state)
    against = "" if following is None else obstacles[following]
    if following is Action.ENGAGE and not now.armed:
        against = against or arm_first(tr("Engage"))
    named = "" if following is None else tr("{step}: {reason}").format(step=tr(following.value), reason=against)
    in_use, died = now.holder is not None, now.phase is Phase.DIED
    return Steps(
        obstacles,
        following,
        named if against else "",
        TAKE if in_use else RESTART if died else CONNECT,
        END if in_use else DISCONNECT,
        unconnected=status is None or status.state is State.OFF,
    )


# -- refusals ----------------------------------------------------------------------------------------------------------


class Message:
    """The last refusal while it is valid, with its repair; or a remark, which is no refusal."""

    def __init__(self) -> None:
        self.repair: Repair | None = None
        self.clear()

    def refuse(self, what: str, reason: Finding | str) -> None:
        """Show that `what` was refused; a finding with its remedy."""
        self.clear()
        self.repair = repair_of(reason) if isinstance(reason, Finding) else None
        text = finding_text(reason) if isinstance(reason, Finding) else reason
        self.role, self.text = "bad", f"{tr(what)}: {text or _REFUSED}"

    def remark(self, text: str) -> None:
        """Show a remark."""
        self.clear()
        self.text = text

    def clear(self) -> None:
        """Clear the message."""
        self.text, self.role = "", "muted"
        self.repair = None
        self.obstacle = ""
        """Why the repair cannot be done now."""
        self._open = False
        """Whether the repair was still needed at the last update."""

    def follow(self, now: Situation) -> bool:
        """Update for the rig's state; return whether the message was cleared because its repair was done."""
        if self.repair is None:
            return False
        done = is_repaired(self.repair, now)
        if done and self._open:
            self.clear()
            return True
        self._open = not done
        self.obstacle = "" if self.repair.action is None else obstacle(self.repair.action, now)
        return False


# -- cycle statistics --------------------------------------------------------------------------------------------------

_WINDOW = 2.0  # s


@dataclass(frozen=True, slots=True)
class CycleFigures:
    """Achieved rate and regularity of the cycles."""

    rate: float
    """Hz, completed cycles per second."""
    spread: float
    """s, maximum deviation of 99 % of the periods from the configured one."""


class CycleMeter:
    """Collects cycle times of the last two seconds; `period` s is the configured one."""

    def __init__(self, period: float) -> None:
        self._period = period
        self._parts: deque[npt.NDArray[np.float64]] = deque()

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Add telemetry rows (n,) of dtype ROW."""
        if not len(rows):
            return
        self._parts.append(np.stack([rows["t"], rows["period"]]))
        latest = float(rows["t"][-1])
        while len(self._parts) > 1 and self._parts[0][0, -1] < latest - _WINDOW:
            self._parts.popleft()

    def clear(self) -> None:
        """Discard everything."""
        self._parts.clear()

    def figures(self) -> CycleFigures | None:
        """Return the statistics, None for fewer than two cycles."""
        if sum(part.shape[1] for part in self._parts) < 2:
            return None
        times, periods = np.hstack(list(self._parts))
        span = float(times[-1] - times[0])
        if span <= 0.0:
            return None
        return CycleFigures(
            rate=(len(times) - 1) / span, spread=float(np.quantile(np.abs(periods[1:] - self._period), 0.99))
        )


_NEAR = 6 * 3600.0
"""s of remaining disk space, below which it is shown in place of the file's size."""
FIGURES = {
    mark("Rate"): tr("cycles carried out a second, over the last two seconds"),
    mark("Overruns"): tr(
        "cycles skipped since the engine started, and how much slower than real time a busy computer was"
    ),
    mark("Jitter"): tr("99 % of the cycles came within this of their period, over the last two seconds"),
    mark("Recorded"): tr("rows of telemetry in the recording"),
    mark("Size, left"): tr(
        "size of the recording's file, or, once that is near, the time until the disk is full as fast as it grows now"
    ),
    mark("Dropped"): tr("rows missing from the recording"),
}
"""Figures of the banner and their tooltips."""


def status_figures(status: Snapshot | None, *, silent: bool) -> dict[str, str]:
    """Return the engine's own figures by name, a dash if unknown; `silent`: it does not answer."""
    return {
        "Overruns": "–" if status is None or silent else _lateness(status),
        "Recorded": "–" if status is None else rows_text(status.rows),
        "Dropped": "–" if status is None else rows_text(status.dropped),
    }


def cycle_figures(now: Situation, figures: CycleFigures | None) -> tuple[dict[str, str], str]:
    """Return the measured cycle figures by name, and the full text about the disk."""
    size, room, up = None, math.inf, now.phase is Phase.UP
    if now.recording and now.status is not None:
        with contextlib.suppress(OSError):
            size, room = Path(now.recording).stat().st_size, now.status.recording_room if up else math.inf
    if not up or now.silent:
        figures = None
    file, left = ("–" if size is None else _size(size)), room_text(room)
    near = size is not None and room < _NEAR
    shown = {
        "Rate": "–" if figures is None else f"{figures.rate:.1f} Hz",
        "Jitter": "–" if figures is None else f"± {figures.spread * 1e6:.0f} µs",
        "Size, left": tr("{time} left").format(time=left) if near else file,
    }
    return shown, ", ".join(filter(None, [file, left]))


def rows_text(count: int) -> str:
    """Return a number of telemetry rows as text."""
    return trn("{count} row", "{count} rows", count).format(count=count)


def _size(size: int) -> str:
    value, unit = (size / 1e6, "MB") if size < 999.5e6 else (size / 1e9, "GB")
    return f"{value:.{1 if value < 9.95 else 0}f} {unit}"


def _lateness(status: Snapshot) -> str:
    if not slowdown_text(status.slower):
        return str(status.overruns)
    return _slower(status.overruns, status.slower)


def _slower(count: int, share: float) -> str:
    return tr("{count}, {share:.0f} % slower").format(count=count, share=100.0 * share)
