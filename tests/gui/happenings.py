"""What the rig, its engine and the app do by themselves, and where everything that can be pressed is then."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from live_rows import live_rows
from shell_support import FakeSession, make_event, make_status
from standing import Standing, pressable, standing

from gui.models import Phase, Preview
from gui.models.decimation import Outline
from gui.models.live import COMPARED
from gui.models.rules import Holder
from gui.shell.main_window import MainWindow
from rig.engine import Compiling
from rig.findings import Code, Finding
from rig.states import State, StopSeverity

LONG = (
    "leg 3: measured force is +30.5 N off the model's −412.7 N, bound 25 N; leg 5: following error 2.31 mm, bound "
    "2 mm; leg 1: its drive is at 83 °C, bound 80 °C"
)


def _verdict(verdict: str, count: int = 0, **changes: Any) -> dict[str, Any]:
    criteria = [
        {
            "name": name, "threshold": 0.001, "whose": "rig", "verdict": verdict,
            "why": f"the {name} of leg {leg} is 1.234 mm, of which {count} are beyond the threshold of 1 mm at 95 %",
        }
        for leg, name in enumerate(("position_rms", "residual_rms", "peak_force")[:count], start=1)
    ]  # fmt: skip
    headline = {"residual_n": 1234.5678, "position_m": 0.0123456, "peak_force_n": 412.3, "period_error_s": 123e-6}
    numbers = {
        "verdict": verdict, "criteria": criteria, "headline": headline, "speed": 0.5, "confidence": 0.95, "own": [],
        "cycle": {"overruns": 3, "cycles": 5000}, "dropped": 2,
    }  # fmt: skip
    run = {
        "run": "a.mcap#1", "name": "a motion of a rather long name " * 3, "amplitude": 0.5, "outcome": "finished",
        "cause": "", "finding": "", "reached": 3.0, "verdict": verdict, "numbers": numbers,
    }  # fmt: skip
    return run | changes


def happenings(window: MainWindow, session: FakeSession) -> dict[str, Callable[[], object]]:
    """All that happens without a person's doing, by name, in an order in which it may."""

    def take(state: State, **changes: Any) -> Callable[[], object]:
        return lambda: session.take(make_status(state, **changes))

    def busy(what: str) -> Callable[[], object]:
        def begin() -> None:
            session.busy = what
            session.changed.emit()

        return begin

    def hold(holder: Holder | None) -> Callable[[], object]:
        def found() -> None:
            session.found.holder = holder
            session.changed.emit()

        return found

    def silence() -> None:
        session._take_status(None, None)

    def died() -> None:
        session.death = f"The engine ended by itself in state Running. {LONG}. Next: Restart engine."
        session.enter(Phase.DIED)

    def move_ended() -> None:
        window.jog._mine = True
        window.motion.mover.finished.emit(Finding.of_text(LONG))

    def say(page: str, text: str) -> None:
        if window.complete:
            getattr(window.views, page)._set_message(text)

    def clear_messages() -> None:
        say("runs_page", "")
        say("recordings", "")

    running = {"motion": "demo", "path_time": 5.0, "path_duration": 20.0}
    fault = {"latched": True, "cause": LONG, "cause_t": 12.345}
    card, refused = window.runs.card, session.refused.emit
    return {
        "starting": lambda: session.enter(Phase.STARTING),
        "compiling": lambda: session._take_compiling(Compiling("the model", 23, 61)),
        "off": take(State.OFF),
        "connecting": busy("connect"),
        "connect refused": lambda: session.refuse_connect((1, LONG)),
        "idle": lambda: (busy("")(), take(State.IDLE)()),
        "homing": take(State.HOMING, cause=""),
        "homing refused": lambda: refused("home", LONG),
        "parked": take(State.PARKED),
        "parked away": take(State.PARKED, from_home=0.04),
        "arm refused": take(State.PARKED, rows=0, recording_fault=LONG),
        "engage refused": lambda: refused("engage", f"reset first: {LONG}"),
        "engaging": take(State.ENGAGING),
        "engaged": take(State.ENGAGED),
        "taking rows slowly": take(State.ENGAGED, overruns=123456, slower=0.9, rows=9999999, dropped=1234567),
        "checking": lambda: window.motion.mover.progressed.emit("demo: checking", 0.0),
        "running": take(State.RUNNING, **running),
        "progress": lambda: window.motion.mover.progressed.emit(f"a long name: {5.0:.1f} of 20.0 s, paused", 0.25),
        "paused": take(State.ENGAGED, paused=True, **running),
        "taken over slowly": take(State.RUNNING, pace=0.5, **running | {"path_duration": 4000.0}),
        "following": busy("follow 'demo'"),
        "ended": lambda: (busy("")(), take(State.ENGAGED)(), window.motion.mover.finished.emit(None)),
        "judging": lambda: card.show_judging("a.mcap#1", "demo"),
        "passed": lambda: card.show_run(_verdict("pass")),
        "failed": lambda: card.show_run(_verdict("fail", 3)),
        "judged later": lambda: card.show_judging("a.mcap#2", "demo", f"Will be judged later: {LONG}."),
        "undecided": lambda: card.show_run(_verdict("undecided", 1, cause=LONG)),
        "not judged": lambda: card.show_failure("a.mcap#2", "demo", LONG),
        "not to its end": lambda: window.motion.mover.finished.emit(Finding.of_text(LONG)),
        "warning": take(State.ENGAGED, events=(make_event(Finding(Code.RECORDING_FAILED, details={"text": LONG})),)),
        "remark": lambda: window.banner.notice.remark("Writing what is told to rows.csv"),
        "parking": take(State.PARKING),
        "stopping": take(State.STOPPING, stop=StopSeverity.CATEGORY_1, **fault),
        "fault": take(State.FAULT, **fault),
        "reset refused": lambda: refused("reset", f"disconnect first: {LONG}"),
        "held for a fault": take(State.STOPPING, stop=StopSeverity.CATEGORY_2, **fault),
        "one leg": take(State.SINGLE_LEG),
        "no answer": silence,
        "again": take(State.FAULT, **fault),
        "died": died,
        "ending": lambda: session.enter(Phase.ENDING),
        "down": lambda: session.enter(Phase.DOWN),
        "another engine": hold(Holder(4711, False, make_status(State.ENGAGED, lease="somebody else"))),
        "another that hangs": hold(Holder(4711, False, None)),
        "gone": hold(None),
        "motion refused": lambda: window.motion._display(Preview(fault=LONG)),
        "motion looked at": lambda: window.motion._display(Preview(fault=LONG, pending=True)),
        "motion not opened": lambda: window.motion.document.refused.emit(LONG),
        "move ended": move_ended,
        "sizes looked for": lambda: window.motion.templates._set_message(LONG, "bad"),
        "runs unreadable": lambda: say("runs_page", LONG),
        "recording unreadable": lambda: say("recordings", LONG),
        "all said": clear_messages,
    }


def view_happenings(window: MainWindow, session: FakeSession) -> dict[str, Callable[[], object]]:
    """What happens by itself on the pages of curves, of the machine and of recordings, once all are built."""
    shown = (window.views.live, window.views.dashboards.view, window.views.platform)
    recordings, runs = window.views.recordings, window.views.runs_page

    def arrive(begin: int, **changes: Any) -> Callable[[], object]:
        def rows() -> None:
            made = live_rows(500, begin)
            for name, value in changes.items():
                made[name] = value
            window.views.history.append(made)
            window.views.clock.slow.emit(made[-1])
            for _ in range(12):  # each of them does something else now and then
                for view in shown:
                    if view.isVisible():
                        view.refresh(window.views.history)

        return rows

    def say(*said: Callable[[str], object]) -> Callable[[], object]:
        return lambda: [one(LONG) for one in said]

    def unsay(*said: Callable[[str], object]) -> Callable[[], object]:
        return lambda: [one("") for one in said]

    def files(count: int) -> Callable[[], object]:
        def found() -> None:
            for number in range(count):
                (session.folder / f"a recording with a rather long name {number}.mcap").write_bytes(b"nothing")
            recordings.list.reload()

        return found

    empty = tuple(Outline(np.empty(0), np.empty((0, len(panel.series[0].columns)))) for panel in COMPARED)
    told: tuple[Callable[[str], object], ...] = (
        window.views.live.bar.set_message,
        window.views.live.chooser.set_message,
        window.views.dashboards.view.bar.set_message,
        recordings._set_message,
    )
    told += (
        recordings.live.bar.set_message,
        recordings.live.chooser.set_message,
        recordings.compare.set_message,
        runs._set_message,
    )
    return {
        "first rows": arrive(0),
        "larger values": arrive(500, force_measured=-123456.789, force_residual=98765.4321, pose=-9.87654321),
        "told": say(*told),
        "told no more": unsay(*told),
        "no engine": lambda: session.enter(Phase.DOWN),
        "engine died": lambda: session.enter(Phase.DIED),
        "connected": lambda: session.take(make_status(State.RUNNING, path_duration=20.0)),
        "values that are no numbers": arrive(1000, force_measured=math.nan, pose=math.nan, length=math.nan),
        "one file": files(1),
        "many files": files(40),
        "the folder is gone": lambda: recordings.list.set_folder(session.folder / "gone"),
        "the folder is back": lambda: recordings.list.set_folder(session.folder),
        "compared": lambda: recordings.compare.show_recordings(["a" * 40, "b" * 40], [empty, empty], [0.0, 0.0]),
        "nothing compared": lambda: recordings.compare.show_recordings([], [], []),
    }


class StandingStill:
    """Lets things happen to a window, one after the other, and says what each has moved.

    Args:
        window: in view, on a session without processes.
        session: that session.
    """

    def __init__(self, window: MainWindow, session: FakeSession) -> None:
        self.window = window
        self.events = happenings(window, session)
        self.happened = ""
        self._before = Standing({}, {})

    def look(self) -> None:
        """Compare with the present from here on."""
        self._before = standing(pressable())

    def let(self, name: str) -> None:
        """Let something happen."""
        self.events[name]()
        self.happened = name

    def moved(self, name: str) -> list[str]:
        """That it has happened, and what has moved since; nothing where it has not happened yet."""
        if self.happened != name:
            return []
        now = standing(pressable())
        found, self._before = now.moved_since(self._before), now
        return [name, *found]
