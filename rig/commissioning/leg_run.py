"""The test of one leg, cycle by cycle: five drives held off with their brakes on, one moved and watched."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from actuators import COMMAND_CLEAR, COMMAND_HOME, COMMAND_OFF, COMMAND_STOP, Command, Mode, Status
from kinematics import leg_lengths
from rig.commissioning.leg_move import LegMove, LegProgress, LegResult, judge_move, move_bounds
from rig.config import RigConfig
from rig.engine import DriveBank
from rig.errors import HardwareError, RefusedError, RigError
from rig.safety import unheard

OTHER_MOVED = 0.2e-3
"""m that another leg's encoder may move while one leg is tested."""
_RUNAWAY = 4.0  # times the largest speed of a test, at which a leg is stopped
_STROKE_MARGIN = 5e-3  # m beyond its stroke that a leg may seem to move on its way to the reference
_REST_TIME = 0.2  # s of readings before and after
_CLEAR_CYCLES = 4
_ENABLE_TIME = 2.0  # s for a drive to give torque
_SETTLE_TIME = 0.5  # s under torque before the move: a position loop first takes the weight up
_HOLD_TIME = 0.4  # s at the far end and at the end, the last half of it measured
_OFF_TIME = 0.5  # s for torque to go
_STILL = 2e-3  # m/s
_REPORT_TIME = 0.1  # s between two reports
_LAST_WORDS = 3

_FAULTS = Status.FAULT | Status.WATCHDOG
_FAULT = _FAULTS.value
_ENABLED, _HOMED, _HOMING = Status.ENABLED.value, Status.HOMED.value, Status.HOMING.value


@dataclass(frozen=True, slots=True)
class Halt:
    """Why the test must end now. `asked`: somebody stopped it. `at_once`: torque off without a quick stop."""

    text: str
    asked: bool = False
    at_once: bool = False


class NotHomedError(RefusedError):
    """The leg's drive has no reference, and the test may not look for it."""


class LatchedFaultError(RefusedError):
    """A drive has latched a fault, and the test may not clear it."""


class _HaltError(Exception):
    def __init__(self, halt: Halt) -> None:
        super().__init__(halt.text)
        self.halt = halt


def _fail(text: str, *, at_once: bool = False) -> NoReturn:
    """End the test: by the drive's quick stop, or where the leg does not obey its drive by brake and torque off."""
    raise _HaltError(Halt(text, at_once=at_once))


class LegRun:
    """One test of one leg on a connected bank.

    Args:
        config: the rig.
        move: what to do, checked already.
        bank: the six drives and their cells, connected.
        wait: returns when the next cycle is due.
        watch: looked at in every cycle: why to stop, from outside, or None.
        report: told the progress now and then; must not wait.
    """

    def __init__(
        self,
        config: RigConfig,
        move: LegMove,
        bank: DriveBank,
        wait: Callable[[], None],
        watch: Callable[[], Halt | None],
        report: Callable[[LegProgress], None],
    ) -> None:
        self._config, self._move, self._bank = config, move, bank
        self._wait, self._watch, self._report = wait, watch, report
        self._leg = move.leg - 1
        self._reply_time = config.drives.reply_deadline * config.period
        self._speed_bound = _RUNAWAY * move_bounds(config, move.leg).speed
        self._following_bound = min(config.safety.bound("following_error"), 0.5 * abs(move.travel))
        geometry = config.machine.geometry
        self._home_length = float(leg_lengths(geometry, geometry.home_pose)[self._leg])  # here: it may compile
        self._phase = ""
        self._cycles = 0
        self._base = np.zeros(6)
        self._others = np.zeros(6)
        self._homed: float | None = None
        self._reached = self._returned = self._following = np.nan

    def run(self) -> LegResult:
        """Do the test; when this returns or raises, the drives have been told to take the torque off.

        Raises:
            NotHomedError, LatchedFaultError: the leg is not homed, or a fault is latched; nothing allows more.
            RefusedError: the leg stands where the move would leave its limits.
            HardwareError: a drive does not answer.
        """
        halt: Halt | None = None
        rests: list[float] = []  # means of the leg's cell, N
        try:
            self._make_ready()
            rests.append(self._rest())
            if not self._bank.status[self._leg] & _HOMED:
                self._home()
                rests.append(self._rest())
            self._there_and_back()
        except _HaltError as halted:
            halt = halted.halt
        except RigError:
            self._torque_off(None)
            raise
        except BaseException:
            for _ in range(_LAST_WORDS):
                self._send(COMMAND_STOP)
            raise
        overdue = self._torque_off(halt)
        after = self._mean_force()
        faults = [] if halt is None else [halt.text]
        faults += overdue
        if halt is None or not halt.asked:
            faults += self._judged(rests if halt is not None else [*rests, after])
        others = {leg + 1: float(self._others[leg]) for leg in range(6) if leg != self._leg}
        move = self._move
        return LegResult(
            move.leg,
            move.travel,
            tuple(faults),
            halt is not None and halt.asked,
            self._homed,
            float(self._reached),
            float(self._returned),
            float(self._following),
            rests[-1] if rests else np.nan,
            after,
            others,
        )

    # -- the steps ---------------------------------------------------------------------------------------------------

    def _make_ready(self) -> None:
        """See that no drive has a latched fault, clearing it where that is allowed."""
        self._phase = "looking at the drives"
        for _ in range(_CLEAR_CYCLES):
            self._cycle(COMMAND_OFF, judge=False)
        if not self._bank.any(_FAULTS):
            return
        troubles = "; ".join(self._bank.troubles())
        if not self._move.clear:
            raise LatchedFaultError(f"{troubles}: a latched fault; look at the cause, then allow it to be cleared")
        for _ in range(_CLEAR_CYCLES):
            self._send_all([COMMAND_CLEAR] * 6)
        for _ in range(_CLEAR_CYCLES):
            self._cycle(COMMAND_OFF, judge=False)
        if self._bank.any(_FAULTS):
            raise HardwareError(f"the fault is still there: {'; '.join(self._bank.troubles())}")

    def _rest(self) -> float:
        """Stand still and take the lengths as those to compare with; the mean of the leg's cell, N."""
        lengths = []
        forces = []
        for _ in range(self._count(_REST_TIME)):
            self._cycle(COMMAND_OFF, others=False)
            lengths.append(self._bank.length.copy())
            forces.append(self._bank.force[self._leg])
        self._base = np.mean(lengths, axis=0)
        return float(np.mean(forces))

    def _home(self) -> None:
        """Let this leg look for its reference, alone."""
        name = f"leg {self._move.leg}"
        if not self._move.home:
            raise NotHomedError(
                f"{name}: the drive has no reference yet, a position means nothing to it: let this leg be homed first"
            )
        self._phase = "looking for the reference"
        limits = self._config.machine.legs[self._leg].limits
        assert limits is not None and limits.length is not None and limits.velocity is not None
        low, high = limits.length
        start = self._bank.length[self._leg]
        for _ in range(self._count(self._config.safety.homing_timeout)):
            self._cycle(COMMAND_HOME)
            bits, length = self._bank.status[self._leg], self._bank.length[self._leg]
            self._check_speed(limits.velocity)
            if bits & _HOMED and not bits & _HOMING and abs(self._bank.velocity[self._leg]) < _STILL:
                break
            if not bits & _HOMED and abs(length - start) > high - low + _STROKE_MARGIN:
                _fail(f"{name} moved {abs(length - start) * 1e3:.1f} mm without finding its reference")
        else:
            timeout = self._config.safety.homing_timeout
            _fail(f"{name} did not find its reference within {timeout:g} s")
        self._homed = float(length - self._home_length)
        for _ in range(self._count(_OFF_TIME)):
            self._cycle(COMMAND_OFF)
        if not low <= length <= high:
            _fail(f"{name} says it is {length:.4f} m long, outside its limits {low:g} to {high:g} m")

    def _there_and_back(self) -> None:
        """Torque on, settle, move out, hold, move back, hold."""
        move, name = self._move, f"leg {self._move.leg}"
        start = float(self._base[self._leg])
        limits = self._config.machine.legs[self._leg].limits
        assert limits is not None and limits.length is not None
        if not limits.length[0] <= start + move.travel <= limits.length[1]:
            raise RefusedError(
                f"{name} stands at {start:.4f} m: {move.travel * 1e3:+g} mm from there is outside its limits "
                f"{limits.length[0]:g} to {limits.length[1]:g} m"
            )
        self._phase = "torque on"
        for _ in range(self._count(_ENABLE_TIME)):
            self._follow(start, 0.0)
            if self._bank.status[self._leg] & _ENABLED:
                break
        else:
            _fail(f"{name}: the drive gave no torque within {_ENABLE_TIME:g} s")
        self._following = 0.0
        self._hold(start, _SETTLE_TIME)
        self._phase = "moving there"
        self._walk(start, move.travel)
        self._reached = self._hold(start + move.travel, _HOLD_TIME) - start
        self._phase = "moving back"
        self._walk(start + move.travel, -move.travel)
        self._returned = self._hold(start, _HOLD_TIME) - start

    def _walk(self, start: float, travel: float) -> None:
        """Move with minimum jerk; the path advances by a cycle each cycle, so that a late one makes no jump."""
        count = self._count(self._move.way_time)
        duration = count * self._config.period
        for step in range(1, count + 1):
            x = step / count
            goal = start + travel * x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)
            self._follow(goal, 30.0 * travel * x * x * (1.0 - x) * (1.0 - x) / duration)
            error = abs(self._bank.length[self._leg] - goal)
            self._following = max(float(self._following), error)
            if error > self._following_bound:
                _fail(
                    f"leg {self._move.leg} is {error * 1e3:.2f} mm off its path (bound "
                    f"{self._following_bound * 1e3:g} mm){self._against(start, goal)}",
                    at_once=True,
                )

    def _against(self, start: float, goal: float) -> str:
        """Which way it went instead, in words."""
        moved, wanted = self._bank.length[self._leg] - start, goal - start
        if moved * wanted < 0.0 and abs(moved) > 0.1 * abs(wanted):
            return f": it moves against its command ({moved * 1e3:+.2f} mm), a direction is reversed"
        return f": it moved {moved * 1e3:+.2f} mm of {wanted * 1e3:+.2f} mm"

    def _hold(self, length: float, duration: float) -> float:
        """Hold a length, m; gives the mean length over the second half."""
        count = self._count(duration)
        found = []
        bound = self._config.safety.bound("following_error")
        for step in range(count):
            self._follow(length, 0.0)
            measured = self._bank.length[self._leg]
            if abs(measured - length) > bound:
                text = f"leg {self._move.leg} stands {abs(measured - length) * 1e3:.2f} mm off where it is held"
                _fail(f"{text} (bound {bound * 1e3:g} mm)", at_once=True)
            if step >= count // 2:
                found.append(measured)
        return float(np.mean(found))

    def _torque_off(self, halt: Halt | None) -> list[str]:
        """Stop the leg, take the torque off, see that it is off; what is wrong with that, in words."""
        self._phase = "torque off"
        if halt is not None and not halt.at_once:
            for _ in range(self._count(self._config.safety.stop_time)):
                self._send(COMMAND_STOP)
                if self._bank.fresh[self._leg] and not self._bank.status[self._leg] & _ENABLED:
                    break
                more = self._watch()
                if more is not None and more.at_once:
                    break
        for _ in range(self._count(_OFF_TIME)):
            self._send(COMMAND_OFF)
            if self._bank.fresh.all() and not self._bank.any(Status.ENABLED):
                return []
        left = [leg + 1 for leg in range(6) if self._bank.status[leg] & _ENABLED or not self._bank.fresh[leg]]
        return [f"leg {leg}: the drive does not confirm that its torque is off" for leg in left]

    # -- the cycle ---------------------------------------------------------------------------------------------------

    def _follow(self, length: float, speed: float) -> None:
        self._cycle(Command(Mode.POSITION, position=length, velocity=speed, enable=True))
        self._check_speed(self._speed_bound)

    def _check_speed(self, bound: float) -> None:
        """Stop a leg that is faster than anything it was told, m/s."""
        speed = abs(self._bank.velocity[self._leg])
        if speed > bound:
            _fail(f"leg {self._move.leg} moves at {speed * 1e3:.0f} mm/s (bound {bound * 1e3:g} mm/s)", at_once=True)

    def _cycle(self, command: Command, *, judge: bool = True, others: bool = True) -> None:
        """One exchange with everything that may stop the test looked at."""
        self._send(command)
        halt = self._watch()
        if halt is not None:
            raise _HaltError(halt)
        self._judge(judge, others)

    def _judge(self, judge: bool, others: bool) -> None:
        bank = self._bank
        bound = self._config.stale_time - 0.5 * self._config.period
        for leg in range(6):
            name = f"leg {leg + 1}"
            if bank.stale[leg] * self._config.period >= bound:
                _fail(f"{name}: {unheard(bank.stale[leg] * self._config.period, self._config.stale_time)}")
            if not bank.fresh[leg]:
                continue
            if judge and bank.status[leg] & _FAULT:
                _fail(f"{name}: drive fault {bank.error[leg]}, {bank.error_text(leg)}", at_once=True)
            if not np.isfinite([bank.length[leg], bank.velocity[leg]]).all():
                _fail(f"{name}: the encoder has no valid value ({bank.length[leg]} m)")
            if leg == self._leg:
                continue
            if bank.status[leg] & _ENABLED:
                text = f"{name}: its drive has torque, though only leg {self._move.leg} was given any"
                _fail(f"{text}: are cables or unit ids crossed?", at_once=True)
            if judge and others:
                self._others[leg] = max(self._others[leg], abs(bank.length[leg] - self._base[leg]))
                if self._others[leg] > OTHER_MOVED:
                    moved = f"{name}: its encoder moved {self._others[leg] * 1e3:.2f} mm"
                    text = f"{moved} while leg {self._move.leg} was moved"
                    _fail(f"{text}: are encoder cables crossed, or does a brake slip?")

    def _send(self, command: Command) -> None:
        commands = [COMMAND_OFF] * 6
        commands[self._leg] = command
        self._send_all(commands)

    def _send_all(self, commands: list[Command]) -> None:
        self._wait()
        self._bank.exchange(commands, time.monotonic(), self._reply_time)
        self._cycles += 1
        if self._cycles % self._count(_REPORT_TIME) == 0:
            self._report(LegProgress(self._phase, float(self._bank.length[self._leg])))

    # -- the result --------------------------------------------------------------------------------------------------

    def _mean_force(self) -> float:
        """Mean of the leg's cell at rest again, N; NaN where it does not answer."""
        forces = []
        for _ in range(self._count(_REST_TIME)):
            self._send(COMMAND_OFF)
            if self._bank.cells_fresh:
                forces.append(self._bank.force[self._leg])
        return float(np.mean(forces)) if forces else np.nan

    def _judged(self, forces: Sequence[float]) -> list[str]:
        """What is wrong with where the leg got to, and with its cell's mean `forces` (N) of the completed rests."""
        faults = [f"leg {self._move.leg}: {text}" for text in judge_move(self._move, self._reached, self._returned)]
        bound = self._config.safety.homing_tolerance
        if self._homed is not None and abs(self._homed) > bound:
            faults.append(
                f"leg {self._move.leg}: homed {self._homed * 1e3:+.2f} mm from its length at home "
                f"(bound {bound * 1e3:g} mm): correct its position_offset, or the mechanism"
            )
        if not np.isfinite(forces).all():
            faults.append(f"leg {self._move.leg}: its load cell has no valid reading")
        return faults

    def _count(self, duration: float) -> int:
        return max(1, round(duration / self._config.period))
