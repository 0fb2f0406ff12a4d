"""ROBO Cylinders: what they are told, and in which order."""

from breaks import Break

_TESTS = ("actuators/test_iai.py",)


def _drive(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/iai/drive.py", old, new, _TESTS)


IAI_BREAKS = [
    _drive(
        "a ROBO Cylinder is told to move before it has found its reference",
        'return move_request(self._unit, self._target(command, speed)) if self._homed else b""',
        "return move_request(self._unit, self._target(command, speed))",
    ),
    _drive(
        "a ROBO Cylinder's search is begun again and again",
        "            self._begun = Mode.HOMING\n",
        "",
    ),
    _drive(
        "a ROBO Cylinder loses its torque as it is told to stop",
        "if begun or (moves and self._now - self._stopped_at < _STOPPING):",
        "if False:",
    ),
    _drive(
        "a ROBO Cylinder that does not come to rest keeps its torque",
        "if begun or (moves and self._now - self._stopped_at < _STOPPING):",
        "if begun or moves:",
    ),
    _drive(
        "a ROBO Cylinder's stop is never taken back",
        "        if wanted and math.isfinite(self._stopped_at):\n            return self._step([(Coil.STOP, False)])\n",
        "",
    ),
    _drive(
        "a ROBO Cylinder with an alarm is given power again",
        "self._armed = self._armed and not _alarm(state)",
        "pass",
    ),
    _drive(
        "a ROBO Cylinder is told a coil once, heard or not",
        "        if reply != self._request[:COIL_REPLY_LENGTH]:\n",
        "        if False:\n",
    ),
    _drive(
        "a ROBO Cylinder that listens to its inputs is not noticed",
        "if not self._read(timeout).extended & MODBUS_COMMANDS:",
        "if False:",
    ),
    _drive(
        "a ROBO Cylinder forgets its command within a long cycle",
        "_LONG_AGO = 0.5",
        "_LONG_AGO = 0.1",
    ),
    _drive(
        "a ROBO Cylinder is taken to go on as it was read",
        "self._present(self._state, before_speed)",
        "self._present(self._state, self._state.speed * METRE)",
    ),
    _drive(
        "a ROBO Cylinder stands between two targets",
        "            end += self._speed * self._options.lookahead\n",
        "            pass\n",
    ),
    Break(
        "torque that stayed on after a lost connection is blamed on another master",
        "rig/engine/drive_group.py",
        "ours = self.status[leg - 1] & _ENABLED",
        "ours = 0",
        ("integration/test_iai_rig.py",),
    ),
]
