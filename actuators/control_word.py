"""Commands to a servo of any profile: wide control word and mode, one exchange after the other."""

from actuators.interface import Command, Mode, Status
from actuators.power import PowerSequence
from actuators.register_map import ACKNOWLEDGE, INPUT, Signals
from actuators.servo_profile import ServoProfile

FAILED_STEP = 0x1_0000
"""Error code of a step to torque that was not confirmed in time; the step's number from 1 on is added."""
_FOLLOWING = (Mode.FORCE, Mode.POSITION)
_WORD = 0xFFFF


class ControlWord:
    """Composes the control of one drive from commands and from the status of its replies; it never waits.

    With `[power]`, torque comes by its steps. The bits of a mode are set as soon as there is torque in that mode, so
    that each has its edge. A set-point is handed over only in a mode that follows one, and with torque. A
    drive without a signal for it is homing from the command on until it reports its reference. It is
    stopped and switched off in the mode in which it moves: the mode may be written before the control word, and another
    one is sent as soon as there is no torque. One that keeps its torque after a quick stop is switched off as it
    reports that it stands still.
    """

    def __init__(self, profile: ServoProfile, signals: Signals) -> None:
        """signals: of the profile."""
        self._signals = signals
        self._modes = {Mode[name.upper()]: code for name, code in profile.modes.given.items()}
        self._has_off = Mode.OFF in self._modes
        self.power = None if profile.power is None else PowerSequence(profile.power.table)
        self._handover = profile.command.handover
        self._stop_keeps_torque = profile.stop_keeps_torque
        flags = (
            (Status[name.upper()], place)
            for name, place in signals.status.items()
            if name != ACKNOWLEDGE and not name.startswith(INPUT)
        )
        self._flags = [(mask, value, flag) for flag, (mask, value) in flags]
        self._says_homing = "homing" in signals.status
        self._decoded: dict[int, Status] = {}
        self.outputs = 0
        """bits of the digital outputs that are on"""
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a connection."""
        self.outputs = 0
        if self.power is not None:
            self.power.forget()
        self._torque = self._stops = self._stopped = False
        self._mode: Mode | None = None
        self._code = 0
        """value of the mode register that was sent last"""
        self._bit = False
        self._acknowledged = False
        self._searching = 0
        """exchanges in which the search of the reference was commanded"""

    def control(self, command: Command, now: float) -> tuple[int, int]:
        """Wide control and value of the mode register for a command at `now`, s."""
        mode, enable = command.mode, command.enable
        if mode is Mode.OFF and not command.quick_stop and not self._has_off:
            enable = False
        self._stops = command.quick_stop and self._stop_keeps_torque
        self._stopped = self._stopped and command.enable
        enable = enable and not self._stopped
        if self.power is not None:
            control = self.power.control(now, enable=enable, quick_stop=command.quick_stop, clear=command.clear)
            torque = self._torque and self.power.enabled
        else:
            masks = self._signals.control
            control = (
                masks["enable"] * enable | masks["quick_stop"] * command.quick_stop | masks["clear"] * command.clear
            )
            torque = self._torque
        moves = torque and enable and not command.quick_stop and mode is self._mode
        code = self._modes.get(mode)
        if moves and code is not None:
            control |= code.control
        control |= self._hand_over(moves and mode in _FOLLOWING)
        self._mode = mode
        self._searching = self._searching + moves if mode is Mode.HOMING else 0
        if not (command.stops and self._torque):
            self._code = 0 if code is None else code.value
        return (control | self.outputs) ^ self._signals.low, self._code

    def _hand_over(self, follows: bool) -> int:
        """Bits of the control that hand over this exchange's set-point, where the drive is to follow it."""
        handover = self._handover
        if handover is None:
            return 0
        if handover.trigger is not None:
            return self._signals.trigger if follows else 0
        if not follows:
            self._bit = False
        elif handover.acknowledge is None or self._acknowledged == self._bit:
            self._bit = not self._bit
        return handover.bit if self._bit else 0

    def status(self, word: int) -> Status:
        """The flags of a wide status, without what was commanded before."""
        status = self._decoded.get(word)
        if status is None:
            status = Status(0)
            for mask, value, flag in self._flags:
                if word & mask == value:
                    status |= flag
            if self.power is not None and (state := self.power.table.state(word & _WORD)) is not None:
                status |= state.flags
            self._decoded[word] = status
        return status

    def observe(self, word: int) -> Status:
        """Take the wide status of the reply to the last control; its flags, with a step that failed as a fault."""
        status = self.status(word)
        if self.power is not None:
            self.power.observe(word & _WORD)
            if self.power.failure is not None:
                status = status & ~Status.READY | Status.FAULT
        self._torque = Status.ENABLED in status
        self._stopped = self._stopped or (self._stops and Status.STANDSTILL in status)
        searches = self._torque and self._mode is Mode.HOMING and not self._says_homing
        if searches and (self._searching <= 1 or Status.HOMED not in status):  # an old reference does not count
            status |= Status.HOMING
        place = self._signals.status.get(ACKNOWLEDGE)
        self._acknowledged = place is not None and word & place[0] == place[1]
        return status

    @property
    def error(self) -> int:
        """Code of a step that failed, 0 while none has."""
        failure = None if self.power is None else self.power.failure
        return 0 if failure is None else FAILED_STEP + failure.step

    def error_text(self, code: int) -> str:
        """Text of such a code, "" for another one."""
        if self.power is None or not FAILED_STEP < code <= FAILED_STEP + len(self.power.table.steps):
            return ""
        failure = self.power.failure
        if failure is not None and failure.step == code - FAILED_STEP:
            return failure.text
        step = self.power.table.steps[code - FAILED_STEP - 1]
        return f"step {code - FAILED_STEP} of its enabling did not lead to state {step.state.name} in time"
