"""The move of one leg for commissioning: five drives without torque and with brakes on, one moved and supervised."""

from collections.abc import Generator, Iterator

import numpy as np

from actuators import COMMAND_HOME, COMMAND_OFF, Command, Mode, Status
from kinematics import Array, minimum_jerk
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.drive_group import DriveGroup
from rig.engine.laws.law import ControlLaw, LawFault
from rig.engine.leg_move import (
    LegMove,
    LegPhase,
    LegResult,
    LegTest,
    check_room,
    judge_move,
    judge_speeds,
    move_bounds,
)
from rig.errors import RefusedError
from rig.findings import Code, Finding, Value
from rig.states import StopSeverity

OTHER_MOVED = 0.2e-3
"""m that another leg's encoder may move while one leg is tested."""
_RUNAWAY = 4.0  # times the largest speed of a test, at which a leg is stopped
_STROKE_MARGIN = 5e-3  # m beyond its stroke that a leg may seem to move on its way to the reference
_REST_TIME = 0.2  # s of readings before and after
_SETTLE_TIME = 0.5  # s under torque before the move: a position loop first takes the weight up
_HOLD_TIME = 0.4  # s at the far end and at the end, the last half of it measured
_SILENT = 0.2  # s without a reply, or two exchanges, after which nobody knows of a drive what it does
_STILL = 2e-3  # m/s
_AGAINST = 0.1  # of the way, beyond which a leg that goes the other way is reversed

_OF_A_PROFILE = dict.fromkeys(
    (
        Code.LENGTH_ABSURD, Code.LENGTH_NOT_FINITE, Code.LENGTH_JUMP, Code.LEG_NO_ROOM, Code.LEG_OFF_PATH,
        Code.LEG_REVERSED, Code.LEG_OVERSPEED,
    ),
    Code.LEG_PROFILE_SUSPECT,
) | dict.fromkeys((Code.LEG_HOMED_NOWHERE, Code.LEG_HOMING_OVERDUE), Code.LEG_SEARCH_SUSPECT)  # fmt: skip
"""findings that a wrong entry of a register table explains, with what is to be compared"""
_OF_SLOW_REPLIES = {Code.NO_FEEDBACK, Code.NO_FEEDBACK_AT_ALL}

_ENABLED, _HOMED, _HOMING = Status.ENABLED.value, Status.HOMED.value, Status.HOMING.value


class SingleLegLaw(ControlLaw):
    """One test of one leg; each `compute` does one cycle; `ended`: the test is over and the torque off.

    Faults found by the engine stop it by `halt`; faults of the move itself raise `LawFault`.

    Args:
        config: the rig.
        move: already checked, also for the leg's present length if its drive has a reference.
        drives: the six drives and their cells; read, never commanded.
    """

    name = "single-leg"
    own_loops = (True,) * 6
    platform = False
    # five legs are held by their brakes: a drive that pushes on works against them
    following_error_stop = StopSeverity.CATEGORY_0

    def __init__(self, config: RigConfig, move: LegMove, drives: DriveGroup) -> None:
        self._config, self._move, self._drives = config, move, drives
        self._leg = leg = move.leg - 1
        self.held = tuple(index != leg for index in range(6))
        self.commanded, self.homed = np.zeros(6), np.zeros(6)
        self.ended = False
        self._speed_bound = _RUNAWAY * move_bounds(config, move.leg).speed
        self._following_bound = min(config.safety.bound("following_error"), 0.5 * abs(move.travel))
        self._mark = float(config.marks[leg])  # here: it may compile
        self._phase: LegPhase = "at rest"
        self._command = COMMAND_OFF
        self._goal: tuple[float, float] | None = None
        self._base: Array | None = None
        self._others = np.zeros(6)
        self._rests: list[float] = []  # means of the leg's cell, N
        self._forces: list[float] = []
        self._force_before = np.nan
        self._halted: Finding | None = None
        self._asked = False
        self._homed: float | None = None
        self._reached = self._returned = self._following = np.nan
        self._now = 0.0  # s
        self._way: list[tuple[float, float]] = []  # on the way there: s, m/s
        self._result: LegResult | None = None
        self._steps = self._procedure()

    # -- what the engine does with it --------------------------------------------------------------------------------

    def refer(self, cycle: CycleData) -> None:
        """The last commanded length is the present reference."""
        if self._goal is not None:
            cycle.reference.set_leg(self._leg, *self._goal)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`; judges the reply to the command before. Raises LawFault."""
        self._now += cycle.elapsed
        if self._base is not None:
            self._watch()
        if self._phase == "moving there" and self._drives.fresh[self._leg]:
            self._way.append((self._now, float(self._drives.velocity[self._leg])))
        self._command = next(self._steps, COMMAND_OFF)
        position = self._command.mode is Mode.POSITION
        self._goal = (self._command.position, self._command.velocity) if position else None
        if position:
            cycle.set_points.position[self._leg] = self._command.position

    def commands(self, cycle: CycleData) -> list[Command]:
        """The leg's own command; the others have no torque."""
        return [COMMAND_OFF if held else self._command for held in self.held]

    def halt(self, why: Finding, *, asked: bool) -> None:
        """Stop the test for this cause; the first one counts. asked: by an operator."""
        if self._halted is None:
            self._halted, self._asked = why, asked
        self._phase = "torque off"
        self.commanded[:] = 0.0
        self._goal = None

    def finish(self) -> LegResult:
        """Make the result, once the rig is at rest."""
        drives, move = self._drives, self._move
        faults = [] if self._halted is None else [self._halted, *self._hints(self._halted.root)]
        faults += [
            Finding(Code.TORQUE_OFF_UNCONFIRMED, leg + 1)
            for leg in range(6)
            if drives.status[leg] & _ENABLED or drives.age[leg] > max(_SILENT, 2.0 * self._config.exchange_period)
        ]
        if not self._asked:
            faults += self._judged()
        others = {leg + 1: float(self._others[leg]) for leg in range(6) if leg != self._leg}
        after = self._rests[-1] if self.ended else np.nan
        self._result = LegResult(
            move.leg, move.travel, tuple(faults), self._asked, self._homed, float(self._reached),
            float(self._returned), float(self._following), self._force_before, after, others,
            drives.serials[self._leg], move.peak, self._by_speed(),
        )  # fmt: skip
        return self._result

    @property
    def status(self) -> LegTest:
        """The present state of the test."""
        return LegTest(self._move.leg, self._phase, float(self._drives.length[self._leg]), self._result)

    # -- the steps: each yields the leg's next command, and goes on once its reply is there -------------------------

    def _procedure(self) -> Iterator[Command]:
        drives, leg, move = self._drives, self._leg, self._move
        yield from self._rest()
        if not drives.status[leg] & _HOMED:
            yield from self._home()
            yield from self._rest()
        self.homed[leg], self._force_before = 1.0, self._rests[-1]
        assert self._base is not None
        start = float(self._base[leg])
        self._check_room(start)
        self._phase = "torque on"
        while not drives.status[leg] & _ENABLED:  # the engine bears that for as long as it does of any drive
            yield self._at(start)
        self.commanded[leg] = 1.0
        self._following = 0.0
        yield from self._hold(start, _SETTLE_TIME)
        self._phase = "moving there"
        yield from self._walk(start, move.travel)
        self._reached = (yield from self._hold(start + move.travel, _HOLD_TIME)) - start
        if not move.stay:
            self._phase = "moving back"
            yield from self._walk(start + move.travel, -move.travel)
            self._returned = (yield from self._hold(start, _HOLD_TIME)) - start
        self._phase = "torque off"
        self.commanded[leg] = 0.0
        for _ in range(self._count(self._config.torque_off_time)):
            yield COMMAND_OFF
            if drives.fresh.all() and not drives.any(Status.ENABLED):
                break
        yield from self._rest()
        self.ended = True

    def _rest(self) -> Iterator[Command]:
        """Rest, and store the lengths for comparison and the mean of the leg's cell."""
        lengths, forces = [], []
        for _ in range(self._count(_REST_TIME)):
            yield COMMAND_OFF
            lengths.append(self._drives.length.copy())
            forces.append(float(self._drives.force[self._leg]))
        self._base = np.mean(lengths, axis=0)
        self._rests.append(float(np.mean(forces)))

    def _home(self) -> Iterator[Command]:
        """Home this leg alone."""
        self._phase = "looking for the reference"
        drives, leg = self._drives, self._leg
        low, high = self._stroke()
        start = drives.length[leg]
        for _ in range(self._count(self._config.safety.homing_timeout)):
            yield COMMAND_HOME
            bits, length = drives.status[leg], drives.length[leg]
            if bits & _HOMED and not bits & _HOMING and abs(drives.velocity[leg]) < _STILL:
                break
            if not bits & _HOMED and abs(length - start) > high - low + _STROKE_MARGIN:
                raise self._fault(Code.LEG_HOMED_NOWHERE, float(abs(length - start)))
        else:
            raise self._fault(Code.LEG_HOMING_OVERDUE, None, self._config.safety.homing_timeout)
        self._homed = float(drives.length[leg] - self._mark)
        for _ in range(self._count(self._config.torque_off_time)):
            yield COMMAND_OFF
        if not low <= drives.length[leg] <= high:
            raise self._fault(Code.LEG_HOMED_BEYOND, float(drives.length[leg]), details={"low": low, "high": high})

    def _walk(self, start: float, travel: float) -> Iterator[Command]:
        """Move with minimum jerk; the path advances by one period each cycle, so that a late cycle makes no jump."""
        count = self._count(self._move.way_time)
        duration = count * self._config.period
        for step in range(1, count + 1):
            part, rate, _second = minimum_jerk(step / count)
            goal = start + travel * part
            yield self._at(goal, travel * rate / duration)
            if not self._drives.fresh[self._leg]:
                continue  # a slow drive was not asked: it says where the leg was
            length = float(self._drives.length[self._leg])
            error = abs(length - goal)
            self._following = max(float(self._following), error)
            if error > self._following_bound:
                raise self._off_its_path(length - start, goal - start, error)

    def _hold(self, length: float, duration: float) -> Generator[Command, None, float]:
        """Hold a length, m; gives the mean length over the second half."""
        count = self._count(duration)
        found = []
        for step in range(count):
            yield self._at(length)
            measured = float(self._drives.length[self._leg])
            self._forces.append(float(self._drives.force[self._leg]))
            if step >= count // 2:
                found.append(measured)
        return float(np.mean(found))

    @staticmethod
    def _at(length: float, speed: float = 0.0) -> Command:
        return Command(Mode.POSITION, position=length, velocity=speed, enable=True)

    # -- what is wrong -----------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Check the last reply for faults of the move. Raises LawFault."""
        drives, leg = self._drives, self._leg
        assert self._base is not None
        limit = self._config.machine.legs[leg].limits
        homing = self._command.mode is Mode.HOMING and limit is not None and limit.velocity is not None
        bound = limit.velocity if homing and limit is not None and limit.velocity is not None else self._speed_bound
        speed = abs(float(drives.velocity[leg]))
        if drives.fresh[leg] and self._command.enable and speed > bound:
            raise self._fault(Code.LEG_OVERSPEED, speed, bound, severity=StopSeverity.CATEGORY_0)
        if self._phase == "torque off":
            return  # its own torque gone, the others may give
        for other in range(6):
            if other == leg or not drives.fresh[other]:
                continue
            self._others[other] = max(self._others[other], abs(drives.length[other] - self._base[other]))
            if self._others[other] > OTHER_MOVED:
                moved = float(self._others[other])
                found = Finding(Code.OTHER_ENCODER_MOVED, other + 1, moved, details={"tested": leg + 1})
                raise LawFault(found, StopSeverity.QUICK_STOP)

    def _off_its_path(self, moved: float, wanted: float, error: float) -> LawFault:
        """Says which way it went instead."""
        reversed_ = moved * wanted < 0.0 and abs(moved) > _AGAINST * abs(wanted)
        code = Code.LEG_REVERSED if reversed_ else Code.LEG_OFF_PATH
        way: dict[str, Value] = {"moved": moved, "wanted": wanted}
        return self._fault(code, error, self._following_bound, way, severity=StopSeverity.CATEGORY_0)

    def _check_room(self, start: float) -> None:
        try:
            check_room(self._config, self._move, start)
        except RefusedError as error:
            raise LawFault(error.finding, StopSeverity.QUICK_STOP) from None

    def _hints(self, cause: Finding) -> list[Finding]:
        """What to compare first, if this cause has stopped the test of a drive with a register table."""
        leg, settings = self._move.leg, self._config.drives.settings_of(self._leg)
        suspect = _OF_A_PROFILE.get(cause.code)
        if "profile" in settings and cause.leg == leg and suspect is not None:
            return [Finding(suspect, leg, details={"profile": str(settings["profile"])})]
        if "reply_timeout" in settings and cause.code in _OF_SLOW_REPLIES:
            slow: dict[str, Value] = {"timeout": float(settings["reply_timeout"]), "rate": 1.0 / self._config.period}
            return [Finding(Code.LEG_REPLIES_SLOW, cause.leg, details=slow)]
        return []

    def _by_speed(self) -> float:
        """The way there by the speeds that the drive reported, m; NaN if it reports none."""
        if len(self._way) < 2 or not self._drives.velocity_feedback[self._leg] or not np.isfinite(self._reached):
            return np.nan
        t, speed = np.array(self._way).T
        return float(0.5 * np.sum((speed[1:] + speed[:-1]) * np.diff(t)))

    def _judged(self) -> list[Finding]:
        """Findings on the reached lengths, the reference and the cell."""
        leg = self._move.leg
        faults = judge_move(self._move, self._reached, self._returned)
        faults += judge_speeds(self._move, float(self._reached), self._by_speed())
        bound = self._config.safety.homing_tolerance
        if self._homed is not None and abs(self._homed) > bound:
            offset = self._config.drives.legs[self._leg].position_offset
            fits: dict[str, Value] = {"offset": offset, "fits": offset - self._homed}
            faults.append(Finding(Code.LEG_HOMED_OFF, leg, self._homed, bound, fits))
        forces = np.array([*self._rests, *self._forces])
        scale = self._config.load_cells.range
        if not np.isfinite(forces).all():
            faults.append(Finding(Code.LEG_CELL_INVALID, leg))
        elif (np.abs(forces) >= scale).any():
            faults.append(Finding(Code.LEG_CELL_SATURATED, leg, bound=scale))
        elif (
            len(self._forces) > 1
            and np.ptp(self._forces) == 0.0
            and self._config.cell_steps[self._leg] < self._config.load_cells.noise
        ):
            faults.append(Finding(Code.LEG_CELL_FROZEN, leg, self._forces[0]))
        return faults

    def _fault(
        self,
        code: Code,
        value: float | None,
        bound: float | None = None,
        details: dict[str, Value] | None = None,
        *,
        severity: StopSeverity = StopSeverity.QUICK_STOP,
    ) -> LawFault:
        return LawFault(Finding(code, self._move.leg, value, bound, details or {}), severity)

    def _stroke(self) -> tuple[float, float]:
        limits = self._config.machine.legs[self._leg].limits
        assert limits is not None and limits.length is not None  # `load_config` saw to it
        return limits.length

    def _count(self, duration: float) -> int:
        return max(1, round(duration / self._config.period))
