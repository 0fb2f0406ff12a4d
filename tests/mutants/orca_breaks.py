"""ORCA motors: how they are given power and lose it, and what is believed of them."""

from breaks import Break

_DRIVE = "actuators/test_orca.py"


def _drive(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/orca/drive.py", old, new, (_DRIVE,))


def _twin(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/orca/twin.py", old, new, (_DRIVE,))


ORCA_BREAKS = [
    _drive(
        "an ORCA motor is given power before its set-points are there",
        "        if self._streamed != self._wanted:\n            return Access.SET_POINTS\n",
        "        self._streamed = self._wanted\n",
    ),
    _drive(
        "an ORCA motor's mode is believed to be what was commanded",
        "self._mode, self._motor_status, self._status_at = words[0], words[-1], self._now",
        "self._mode, self._motor_status, self._status_at = self._wanted, words[-1], self._now",
    ),
    _drive(
        "an ORCA motor's mode is commanded once",
        "return Access.STATUS if self._mode_commanded else Access.MODE",
        "return Access.STATUS",
    ),
    _drive(
        "an ORCA motor's mode is never looked at again",
        "return Access.STATUS if self._now - self._status_at >= _STATUS_PERIOD else None",
        "return None",
    ),
    _drive(
        "an ORCA motor's mode is believed however old it is",
        "if position is None or self._now - self._status_at > max(_STATUS_AGE, 4.0 * self.sample_period):",
        "if position is None:",
    ),
    _drive(
        "an ORCA motor that has been silent is put to sleep before it is asked why",
        "if self._wanted == _SLEEP and self._now - self._replied_at > 0.5 * self._watchdog:",
        "if False:",
    ),
    _drive(
        "an ORCA motor's error is forgotten as the motor forgets it",
        "self._error |= errors",
        "self._error = errors",
    ),
    _drive(
        "an ORCA motor with an error is given power again",
        "elif self._armed and not self._error:",
        "elif self._armed or self._error:",
    ),
    _drive(
        "an ORCA motor's stop waits behind a question",
        "(access is Access.STATUS or (stop and access is Access.MODE))",
        "False",
    ),
    _drive(
        "an ORCA motor is commanded while it zeroes itself",
        "        elif self._streamed == _ZERO:\n            message, length = read_request",
        "        elif self._streamed == -1:\n            message, length = read_request",
    ),
    _drive(
        "the zero of an ORCA motor's position moves before that is said",
        "return previous if self._status_at == self._now else None",
        "return position",
    ),
    Break(
        "an ORCA motor's watchdog is not read back",
        "actuators/orca/drive.py",
        "if tuple(found) == words:",
        "if True:",
        (_DRIVE,),
    ),
    _twin("a virtual ORCA motor has no watchdog", "if timeout and now - self._fed > timeout:", "if False:"),
    _twin(
        "a virtual ORCA motor has a force in sleep",
        "0.0 if self._shown_mode == MotorMode.SLEEP else self.plant.motor / NEWTON",
        "self.plant.motor / NEWTON",
    ),
    _twin(
        "a virtual ORCA motor has a load cell",
        "else self.plant.motor / NEWTON",
        "else self.plant.cell / NEWTON",
    ),
    _twin(
        "a virtual ORCA motor takes positions from another zero than it counts from",
        "* METRE + self._zero",
        "* METRE + self._offset",
    ),
    Break(
        "a drive that reads no load cell is taken for one",
        "rig/engine/drive_group.py",
        "elif cells and isinstance(self._cells, DriveCells) and not drive.capabilities.force_feedback:",
        "elif False:",
        ("integration/test_orca_rig.py::test_a_rig_whose_cells_are_the_motors_is_refused",),
    ),
    _twin(
        "a virtual ORCA motor takes a force in position mode",
        "if self._mode is owner and not self.hung:",
        "if not self.hung:",
    ),
    Break(
        "a leg that has found its reference must keep its torque",
        "rig/safety/drive_checks.py",
        "ended = searching[leg] and",
        "ended = False and",
        ("integration/test_orca_rig.py",),
    ),
    Break(
        "a leg may lose its torque as it searches its reference",
        "rig/safety/drive_checks.py",
        "self._ends_off[leg] and status[leg] & (_HOMED | _HOMING) == _HOMED",
        "self._ends_off[leg]",
        ("integration/test_orca_rig.py", "integration/test_torque_returns.py"),
    ),
    Break(
        "two motors may be on a port that bears one",
        "rig/config/conflicts.py",
        "owners = {address.place: key for key, address in reversed(devices) if address.alone}",
        "owners: dict[str, KeyPath] = {}",
        ("rig/test_config_drivers.py",),
    ),
]
