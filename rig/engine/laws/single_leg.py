"""The move of one leg, as commissioning does it: five drives held off with their brakes on, one moved and watched."""

from collections.abc import Generator, Iterator

import numpy as np

from actuators import COMMAND_HOME, COMMAND_OFF, Command, Mode, Status
from kinematics import Array, figure_and_bound, minimum_jerk
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.engine.drive_group import DriveGroup
from rig.engine.laws.law import ControlLaw, LawFault
from rig.engine.leg_move import LegMove, LegResult, LegTest, check_room, judge_move, move_bounds
from rig.errors import RefusedError
from rig.safety import length_beyond
from rig.states import FaultCode, StopSeverity

OTHER_MOVED = 0.2e-3
"""m that another leg's encoder may move while one leg is tested."""
_RUNAWAY = 4.0  # times the largest speed of a test, at which a leg is stopped
_STROKE_MARGIN = 5e-3  # m beyond its stroke that a leg may seem to move on its way to the reference
_REST_TIME = 0.2  # s of readings before and after
_SETTLE_TIME = 0.5  # s under torque before the move: a position loop first takes the weight up
_HOLD_TIME = 0.4  # s at the far end and at the end, the last half of it measured
_OFF_TIME = 0.5  # s for torque to go
_SILENT = 0.2  # s without a reply, after which nobody knows of a drive what it does
_STILL = 2e-3  # m/s
_AGAINST = 0.1  # of the way, beyond which a leg that goes the other way is reversed

_ENABLED, _HOMED, _HOMING = Status.ENABLED.value, Status.HOMED.value, Status.HOMING.value


class SingleLegLaw(ControlLaw):
    """One test of one leg; each `compute` does a cycle of it, and `over` says that the torque is off and it is done.

    What the engine finds wrong stops it from outside (`halt`), what only the move itself shows raises `LawFault`.

    Args:
        config: the rig.
        move: what to do, checked already; the leg stands where it may be made if its drive has a reference.
        bank: the six drives and their cells; read, never commanded.
    """

    name = "single-leg"
    own_loops = (True,) * 6
    platform = False
    # five legs are held by their brakes: a drive that pushes on works against them
    following_error_stop = StopSeverity.CATEGORY_0

    def __init__(self, config: RigConfig, move: LegMove, bank: DriveGroup) -> None:
        self._config, self._move, self._bank = config, move, bank
        self._leg = leg = move.leg - 1
        self.held = tuple(index != leg for index in range(6))
        self.commanded, self.homed = np.zeros(6), np.zeros(6)
        self.over = False
        self._speed_bound = _RUNAWAY * move_bounds(config, move.leg).speed
        self._following_bound = min(config.safety.bound("following_error"), 0.5 * abs(move.travel))
        self._mark = float(config.marks[leg])  # here: it may compile
        self._phase = "at rest"
        self._command = COMMAND_OFF
        self._goal: tuple[float, float] | None = None
        self._base: Array | None = None
        self._others = np.zeros(6)
        self._rests: list[float] = []  # means of the leg's cell, N
        self._forces: list[float] = []
        self._force_before = np.nan
        self._halted: str | None = None
        self._asked = False
        self._homed: float | None = None
        self._reached = self._returned = self._following = np.nan
        self._result: LegResult | None = None
        self._steps = self._procedure()

    # -- what the engine does with it --------------------------------------------------------------------------------

    def refer(self, frame: CycleData) -> None:
        """What the leg was told last is its reference of now."""
        if self._goal is not None:
            frame.refer_leg(self._leg, *self._goal)

    def compute(self, frame: CycleData) -> None:
        """See `ControlLaw.compute`; judges the reply to the command before. Raises LawFault."""
        if self._base is not None:
            self._watch()
        self._command = next(self._steps, COMMAND_OFF)
        position = self._command.mode is Mode.POSITION
        self._goal = (self._command.position, self._command.velocity) if position else None
        if position:
            frame.fields["position_command"][self._leg] = self._command.position

    def commands(self, frame: CycleData) -> list[Command]:
        """The leg's own command; the others have no torque."""
        return [COMMAND_OFF if held else self._command for held in self.held]

    def halt(self, why: str, *, asked: bool) -> None:
        """The engine stops the test for this cause; the first one counts. asked: somebody wanted it."""
        if self._halted is None:
            self._halted, self._asked = why, asked
        self._phase = "torque off"
        self.commanded[:] = 0.0
        self._goal = None

    def finish(self) -> LegResult:
        """Sum up, once the rig is at rest again."""
        bank, move = self._bank, self._move
        faults = [] if self._halted is None else [self._halted]
        faults += [
            f"leg {leg + 1}: the drive does not confirm that its torque is off"
            for leg in range(6)
            if bank.status[leg] & _ENABLED or bank.age[leg] > _SILENT
        ]
        if not self._asked:
            faults += self._judged()
        others = {leg + 1: float(self._others[leg]) for leg in range(6) if leg != self._leg}
        after = self._rests[-1] if self.over else np.nan
        self._result = LegResult(
            move.leg, move.travel, tuple(faults), self._asked, self._homed, float(self._reached),
            float(self._returned), float(self._following), self._force_before, after, others,
            bank.serials[self._leg],
        )  # fmt: skip
        return self._result

    @property
    def told(self) -> LegTest:
        """Where it is."""
        return LegTest(self._move.leg, self._phase, float(self._bank.length[self._leg]), self._result)

    # -- the steps: each yields the leg's next command, and goes on once its reply is there -------------------------

    def _procedure(self) -> Iterator[Command]:
        bank, leg, move = self._bank, self._leg, self._move
        yield from self._rest()
        if not bank.status[leg] & _HOMED:
            yield from self._home()
            yield from self._rest()
        self.homed[leg], self._force_before = 1.0, self._rests[-1]
        assert self._base is not None
        start = float(self._base[leg])
        self._check_room(start)
        self._phase = "torque on"
        while not bank.status[leg] & _ENABLED:  # the engine bears that for as long as it does of any drive
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
        for _ in range(self._count(_OFF_TIME)):
            yield COMMAND_OFF
            if bank.fresh.all() and not bank.any(Status.ENABLED):
                break
        yield from self._rest()
        self.over = True

    def _rest(self) -> Iterator[Command]:
        """Stand still and take the lengths as those to compare with, and the mean of the leg's cell."""
        lengths, forces = [], []
        for _ in range(self._count(_REST_TIME)):
            yield COMMAND_OFF
            lengths.append(self._bank.length.copy())
            forces.append(float(self._bank.force[self._leg]))
        self._base = np.mean(lengths, axis=0)
        self._rests.append(float(np.mean(forces)))

    def _home(self) -> Iterator[Command]:
        """Let this leg look for its reference, alone."""
        self._phase = "looking for the reference"
        bank, leg, name = self._bank, self._leg, f"leg {self._move.leg}"
        low, high = self._stroke()
        start = bank.length[leg]
        for _ in range(self._count(self._config.safety.homing_timeout)):
            yield COMMAND_HOME
            bits, length = bank.status[leg], bank.length[leg]
            if bits & _HOMED and not bits & _HOMING and abs(bank.velocity[leg]) < _STILL:
                break
            if not bits & _HOMED and abs(length - start) > high - low + _STROKE_MARGIN:
                way = abs(length - start) * 1e3
                raise self._fault(FaultCode.HOMING_FAILED, f"moved {way:.1f} mm without finding its reference")
        else:
            timeout = self._config.safety.homing_timeout
            raise self._fault(FaultCode.HOMING_FAILED, f"did not find its reference within {timeout:g} s")
        self._homed = float(bank.length[leg] - self._mark)
        for _ in range(self._count(_OFF_TIME)):
            yield COMMAND_OFF
        if not low <= bank.length[leg] <= high:
            says = f"says that it has {length_beyond(bank.length[leg], low, high)}"
            raise LawFault(FaultCode.HOMING_FAILED, f"{name} {says}", StopSeverity.QUICK_STOP, self._move.leg)

    def _walk(self, start: float, travel: float) -> Iterator[Command]:
        """Move with minimum jerk; the path advances by a cycle each cycle, so that a late one makes no jump."""
        count = self._count(self._move.way_time)
        duration = count * self._config.period
        for step in range(1, count + 1):
            part, rate, _second = minimum_jerk(step / count)
            goal = start + travel * part
            yield self._at(goal, travel * rate / duration)
            if not self._bank.fresh[self._leg]:
                continue  # a slow drive was not asked: it says where the leg was
            length = float(self._bank.length[self._leg])
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
            measured = float(self._bank.length[self._leg])
            self._forces.append(float(self._bank.force[self._leg]))
            if step >= count // 2:
                found.append(measured)
        return float(np.mean(found))

    @staticmethod
    def _at(length: float, speed: float = 0.0) -> Command:
        return Command(Mode.POSITION, position=length, velocity=speed, enable=True)

    # -- what is wrong -----------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """What only this move can know of the last reply. Raises LawFault."""
        bank, leg = self._bank, self._leg
        assert self._base is not None
        limit = self._config.machine.legs[leg].limits
        homing = self._command.mode is Mode.HOMING and limit is not None and limit.velocity is not None
        bound = limit.velocity if homing and limit is not None and limit.velocity is not None else self._speed_bound
        speed = abs(float(bank.velocity[leg]))
        if bank.fresh[leg] and self._command.enable and speed > bound:
            fast, most = figure_and_bound(speed * 1e3, bound * 1e3, ".0f")
            text = f"moves at {fast} mm/s (bound {most} mm/s)"
            raise self._fault(FaultCode.OVERSPEED, text, StopSeverity.CATEGORY_0)
        if self._phase == "torque off":
            return  # its own torque gone, the others may give
        for other in range(6):
            if other == leg or not bank.fresh[other]:
                continue
            self._others[other] = max(self._others[other], abs(bank.length[other] - self._base[other]))
            if self._others[other] > OTHER_MOVED:
                text = (
                    f"leg {other + 1}: its encoder moved {self._others[other] * 1e3:.2f} mm while leg {leg + 1} was "
                    "moved: are encoder cables crossed, or does a brake slip?"
                )
                raise LawFault(FaultCode.WIRING, text, StopSeverity.QUICK_STOP, other + 1)

    def _off_its_path(self, moved: float, wanted: float, error: float) -> LawFault:
        """Says which way it went instead."""
        off, most = figure_and_bound(error * 1e3, self._following_bound * 1e3, ".2f")
        text = f"is {off} mm off its path (bound {most} mm)"
        if moved * wanted < 0.0 and abs(moved) > _AGAINST * abs(wanted):
            text += f": it moves against its command ({moved * 1e3:+.2f} mm), a direction is reversed"
            return self._fault(FaultCode.RUNAWAY, text, StopSeverity.CATEGORY_0)
        text += f": it moved {moved * 1e3:+.2f} mm of {wanted * 1e3:+.2f} mm"
        return self._fault(FaultCode.FOLLOWING_ERROR, text, StopSeverity.CATEGORY_0)

    def _check_room(self, start: float) -> None:
        try:
            check_room(self._config, self._move, start)
        except RefusedError as error:
            raise LawFault(FaultCode.LENGTH_LIMIT, str(error), StopSeverity.QUICK_STOP, self._move.leg) from None

    def _judged(self) -> list[str]:
        """What is wrong with where the leg got to, where it was homed, and with its cell."""
        name = f"leg {self._move.leg}"
        faults = [f"{name}: {text}" for text in judge_move(self._move, self._reached, self._returned)]
        bound = self._config.safety.homing_tolerance
        if self._homed is not None and abs(self._homed) > bound:
            off, most = figure_and_bound(self._homed * 1e3, bound * 1e3, "+.2f")
            faults.append(
                f"{name}: homed {off} mm from its length at home (bound {most} mm): correct its position_offset, or "
                "the mechanism"
            )
        forces = np.array([*self._rests, *self._forces])
        scale = self._config.load_cells.range
        if not np.isfinite(forces).all():
            faults.append(f"{name}: its load cell has no valid reading")
        elif (np.abs(forces) >= scale).any():
            faults.append(f"{name}: its load cell is at or beyond its end of scale {scale:g} N")
        elif (
            len(self._forces) > 1
            and np.ptp(self._forces) == 0.0
            and self._config.cell_steps[self._leg] < self._config.load_cells.noise
        ):
            faults.append(f"{name}: its load cell repeats itself: {self._forces[0]:g} N in every reading")
        return faults

    def _fault(self, code: FaultCode, text: str, severity: StopSeverity = StopSeverity.QUICK_STOP) -> LawFault:
        return LawFault(code, f"leg {self._move.leg} {text}", severity, self._move.leg)

    def _stroke(self) -> tuple[float, float]:
        limits = self._config.machine.legs[self._leg].limits
        assert limits is not None and limits.length is not None  # `load_config` saw to it
        return limits.length

    def _count(self, duration: float) -> int:
        return max(1, round(duration / self._config.period))
