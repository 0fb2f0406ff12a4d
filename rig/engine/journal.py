"""Journal of a recording: commands of clients with their outcome, and injected faults."""

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from rig.config import InjectedFault, RigConfig, VirtualCells, fault_words
from rig.engine.core import Engine
from rig.engine.link import Submission
from rig.engine.messages import Follow, FollowSource, FollowStream, Home, Pace, Reply, Stop
from rig.engine.snapshot import Event
from rig.findings import Code, Finding

_MOST = 50
"""Notes of one second of rig time that are recorded: no client may flood the recording."""
_LONGEST = 400  # characters


class Journal:
    """Takes notes from any thread; the cyclic thread writes them, as events of the recording alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._notes: deque[tuple[float | None, Finding]] = deque(maxlen=10 * _MOST)
        self._reports: deque[Finding] = deque(maxlen=_MOST)
        self._latest = (-math.inf, 0.0)
        """time of the last note with a given time, s of the engine's clock, and of its event"""
        self._second = -1.0
        self._written = self._omitted = 0

    def follow(self, submission: Submission) -> None:
        """Note a command and its outcome once that is known."""
        command, client = submission.command, submission.client
        what: str = command.kind
        if isinstance(command, Follow | FollowStream):
            what = f"{what} {command.name!r}"
        elif isinstance(command, FollowSource):
            what = f"{what} {command.source!r}"
        elif isinstance(command, Home) and command.unproven:
            what = f"{what}, with a wiring that is not proven"
        elif isinstance(command, Pace):
            what = f"{what} {100.0 * command.rate:g} %"
        elif isinstance(command, Stop):
            what = f"{what}, category {command.category}"

        # not the submission, whose reply has this: they would hold each other, and the engine searches for no garbage
        def answered(reply: Future[Reply]) -> None:
            if not reply.cancelled():
                self.command(what, client, reply.result())

        submission.reply.add_done_callback(answered)

    def command(self, what: str, client: str, reply: Reply) -> None:
        """Note a command of a client, "" where it is not known by name, and its outcome."""
        who = repr(client) if client else "a client without the lease"
        given = f"{what}, by {who}"
        refused = reply.finding
        reason = "" if refused is None else (refused.within[0] if refused.code is Code.REFUSED else refused).text
        self.given(given if reply.accepted else f"{given}, refused: {reason}")

    def given(self, text: str) -> None:
        """Note a given command and its outcome."""
        self._note(Finding(Code.COMMAND_GIVEN, details={"text": text[:_LONGEST]}), None)

    def injected(self, action: str, text: str, at: float | None = None) -> None:
        """Note an injection into a virtual rig at `at`, s of the engine's clock, or now."""
        self._note(Finding(Code.INJECTED, details={"action": action, "text": text[:_LONGEST]}), at)

    def tuned(self, text: str, at: float) -> None:
        """Note a change of a washout's tuning at `at`, s of the engine's clock."""
        self._note(Finding(Code.CUE_TUNED, details={"text": text[:_LONGEST]}), at)

    def report(self, finding: Finding) -> None:
        """Report an event of a process beside the engine, which the log shows as well."""
        self._reports.append(finding)

    def _note(self, finding: Finding, at: float | None) -> None:
        self._notes.append((at, finding))

    def write(self) -> None:
        """Write the notes; called by the cyclic thread between two cycles."""
        while self._reports:
            finding = self._reports.popleft()
            self._engine.record(finding.code.severity.value, finding)
        if not (self._notes or self._omitted):
            return
        now = self._engine.tick.t
        if now // 1.0 != self._second:
            omitted, self._second, self._written, self._omitted = self._omitted, now // 1.0, 0, 0
            if omitted:
                more = Finding(Code.COMMAND_GIVEN, details={"text": f"and {omitted} more within a second"})
                self._event(now, more)
        while self._notes:
            at, finding = self._notes.popleft()
            if self._written == _MOST:
                self._omitted += 1
                continue
            self._written += 1
            self._event(now if at is None else self._moment(at, now), finding)

    def _moment(self, at: float, now: float) -> float:
        """Rig time of `at`, s of the engine's clock; monotonic despite the clocks' jitter."""
        latest, its_moment = self._latest
        moment = max(0.0, now - max(0.0, self._engine.clock.now() - at))
        if at >= latest:
            moment = max(moment, its_moment)
            self._latest = (at, moment)
        return moment

    def _event(self, t: float, finding: Finding) -> None:
        self._engine.sink.event(Event(t, "info", finding))


_CELL_FAULTS = (
    ("gain", ""), ("bias", " N"), ("drift", " N/s"), ("gain_warming", " of the gain"), ("curvature", " of the range"),
    ("hysteresis", " of the range"), ("hum", " N"), ("jump", " N"), ("spike", " N"),
)  # fmt: skip
"""Configured faults of load cells that are noted, with their units."""


def note_departures(config: RigConfig, note: Callable[[str, str], None]) -> None:
    """Note configured departures of a virtual rig's plant from its model, and scheduled injections.

    Args:
        config: the rig.
        note: receives the action, "" or "to come", and its text.
    """
    virtual = config.virtual
    if virtual is None:
        return
    plant, cells = virtual.plant, virtual.cells
    if plant.payload is not None:
        place = ", ".join(f"{value:g}" for value in plant.payload.center_of_mass)
        note("", f"a payload of {plant.payload.mass:g} kg at ({place}) m that the model does not know of")
    if plant.payload_fmu is not None:
        note("", f"a payload that {plant.payload_fmu.file} computes, which the model does not know of")
    if any(plant.tilt):
        note("", f"a base tilted by {', '.join(f'{angle:g}' for angle in plant.tilt)} rad against gravity")
    if plant.hose is not None:
        note("", f"a hose of {plant.hose.stiffness:g} N/m between base and platform")
    if plant.friction != type(plant.friction)():
        note("", "friction of the legs that the model does not know of")
    if plant.mass_scale != 1.0:
        note("", f"masses {plant.mass_scale:g} times the model's")
    if plant.as_built is not None:
        note("", f"a plant as built, of seed {plant.as_built}, that the model does not know of")
    if plant.engine != "exact":
        note("", f"a plant that the equations of {plant.engine} move, not the model's")
    if plant.mechanism is not None:
        note("", f"a plant that is {plant.mechanism}, which the model does not know of")
    for name, unit in _CELL_FAULTS:
        values = getattr(cells, name)
        if values != VirtualCells.model_fields[name].default:
            note("", f"{name} of the load cells {', '.join(f'{value:g}' for value in values)}{unit}")
    for fault in virtual.faults:
        note("to come", _described(fault))


def _described(fault: InjectedFault) -> str:
    value = "" if fault.value is None else f", {fault.value:g}"
    duration = "" if fault.duration is None else f", for {fault.duration:g} s"
    return f"{fault_words(fault.fault, fault.leg)}{value}, {fault.at:g} s after the virtual rig's start{duration}"
