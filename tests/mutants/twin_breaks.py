"""Simulators of drives for masters of any make: what they answer, what they take, and what they keep silent to."""

from breaks import Break

_EVERY = ("conformance/test_every_twin.py",)
_IAI = ("actuators/test_iai.py",)
_TERMINAL = ("actuators/test_virtual_terminal.py",)
_SERVED = (
    "rig/test_device_simulator.py::test_it_waits_on_a_line_before_it_answers",
    "rig/test_device_simulator.py::test_every_driver_and_every_shipped_profile_can_be_served",
    "rig/test_device_simulator.py::test_a_setting_of_its_driver_or_address_is_the_twins",
)
_JRK = ("actuators/test_jrk_frames.py",)


def _device(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/virtual/device.py", old, new, _EVERY)


def _iai(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/iai/twin.py", old, new, _IAI)


def _mapped(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/virtual/mapped_servo.py", old, new, ("actuators/test_foreign_masters.py",))


def _jrk(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/jrk/twin.py", old, new, _JRK)


TWIN_BREAKS = [
    _device(
        "a request with the function of an exception is answered as if by another function",
        '        if function > _LAST_FUNCTION:\n            return b""\n',
        "",
    ),
    _device(
        "a busy device refuses a request with the function of an exception",
        'return b"" if unit != self.unit or function > _LAST_FUNCTION else',
        'return b"" if unit != self.unit else',
    ),
    _device("a broadcast is not carried out", "            if function in _WRITES:\n", "            if False:\n"),
    _device(
        "a broadcast on Modbus TCP is carried out",
        "if unit == BROADCAST and unit == self.framing.everyone:",
        "if unit == BROADCAST:",
    ),
    Break(
        "a broadcast reaches one device of the line",
        "actuators/virtual/server.py",
        "            self._by_number[everyone] = self.devices\n",
        "            pass\n",
        _EVERY,
    ),
    Break(
        "a busy device carries a broadcast out",
        "actuators/virtual/faults.py",
        'if "busy" in wire and (ours or request[0] == framing.everyone):',
        'if "busy" in wire and ours:',
        _EVERY,
    ),
    Break(
        "a pause counts from when bytes arrive, not from when they would have passed",
        "actuators/virtual/server.py",
        "client.line_free = max(client.line_free, now) + len(data) * client.port.byte_time",
        "client.line_free = now",
        _TERMINAL,
    ),
    Break(
        "a simulator that was busy takes its own lateness for a pause",
        "actuators/virtual/server.py",
        "over = self._quiet_at - client.line_free > pause",
        "over = now - client.line_free > pause",
        _TERMINAL,
    ),
    Break(
        "what somebody types is no request",
        "actuators/ascii_cell.py",
        "return math.inf",
        "return 1.0",
        _TERMINAL,
    ),
    Break(
        "a simulator answers as soon as it likes",
        "rig/virtual/virtual_rig.py",
        "            twin.reply_delay = reply_delay\n",
        "            pass\n",
        _SERVED,
    ),
    Break(
        "a simulator of a profile has another's registers",
        "rig/client/device_simulator.py",
        'drives = {"profile": name, "legs": places}',
        'drives = {"legs": places}',
        _SERVED,
    ),
    Break(
        "a simulator's setting is not its own",
        "rig/client/device_simulator.py",
        '        return {"drives": {key: value}}\n',
        "        return {}\n",
        _SERVED,
    ),
    Break(
        "a drive whose parameters have two registers refuses to say both",
        "actuators/virtual/mapped_servo.py",
        "        if functions.pairs:\n",
        "        if False:\n",
        ("actuators/test_foreign_masters.py",),
    ),
    _mapped(
        "a drive that has no halves of parameters reads one",
        'self._whole = functions.pairs == "whole"',
        "self._whole = False",
    ),
    Break(
        "a drive that follows no more goes back to where it was switched on",
        "actuators/virtual/mapped_servo.py",
        "            elif not self._held:\n",
        "            elif False:\n",
        ("actuators/test_mapped_servo.py",),
    ),
    Break(
        "a stopped drive takes a set-point that is not handed over",
        "actuators/virtual/mapped_servo.py",
        "            if not self._stopped:\n                self._taken = command\n",
        "            self._taken = command\n",
        ("actuators/test_mapped_servo.py",),
    ),
    Break(
        "a moving drive hears of another mode before its stop",
        "actuators/control_word.py",
        "        if not (command.stops and self._torque):\n",
        "        if True:\n",
        ("actuators/test_register_map.py",),
    ),
    Break(
        "a moving drive hears of another position before its stop",
        "actuators/modbus_servo.py",
        "        if urgent and not codec.together and self._set_points:\n",
        "        if False:\n",
        ("actuators/test_register_map.py",),
    ),
    _mapped(
        "a mode that its register tells waits for bits of the control word",
        "if len(codes) == 1 and codes[0][0] is not Mode.HOMING:",
        "if False:",
    ),
    _mapped(
        "a CiA 402 drive does not say that it has found its reference",
        "(ATTAINED if self._homed else 0) |",
        "0 |",
    ),
    _mapped("a drive is in position wherever it stands", "abs(length - self._target) <= _WINDOW", "True"),
    _mapped(
        "a drive waits to be switched off before it is switched on for the first time",
        "self._armed = not self.control_masks[0] & self._signals.low",
        "self._armed = False",
    ),
    _mapped(
        "a drive that keeps its torque after a stop loses it",
        "if self.profile.stop_keeps_torque and not (self._fault or self._barred):",
        "if False:",
    ),
    _mapped(
        "a stopped drive takes a set-point",
        " and self._power is Power.ON and not self._stopped:",
        " and self._power is Power.ON:",
    ),
    _mapped("a trigger counts whatever is written", "if triggers and handover is not None", "if handover is not None"),
    Break(
        "a drive that keeps its torque after a stop is left with it",
        "actuators/control_word.py",
        "        enable = enable and not self._stopped\n",
        "",
        ("actuators/test_register_map.py",),
    ),
    Break(
        "half of a parameter of two registers is read",
        "actuators/register_map.py",
        "MAX_READ, pairs=bool(profile.functions.pairs)):",
        "MAX_READ):",
        ("actuators/test_foreign_masters.py",),
    ),
    Break(
        "a Mantracourt module keeps silent to a setting",
        "actuators/mantracourt.py",
        r"([A-Z0-9]+(?:\?|=[^\r]*)?)",
        r"([A-Z0-9]+\?)",
        ("actuators/test_mantracourt.py",),
    ),
    Break(
        "devices whose frames are alike cannot share a virtual line",
        "rig/virtual/virtual_rig.py",
        "group[0].framing != device.framing",
        "group[0].framing is not device.framing",
        ("rig/test_paced_lines.py::test_modules_in_ascii_share_a_line_of_the_virtual_rig",),
    ),
    Break(
        "replies that collide follow one another",
        "actuators/jrk/protocol.py",
        "return bytes([functools.reduce(operator.and_, each) for each in together])",
        'return b"".join(replies)',
        _JRK,
    ),
    _jrk(
        "a Jrk turns faster than at full duty",
        'min(int.from_bytes(self._ram[setting : setting + 2], "little"), FULL_DUTY)',
        'int.from_bytes(self._ram[setting : setting + 2], "little")',
    ),
    _jrk("a Jrk does not take the short form", "message[0] not in (self.unit, EVERYONE)", "message[0] != self.unit"),
    _jrk("a Jrk does not stop by a coarse target of 0", "(code == TARGET_BELOW and data[0])", "code == TARGET_BELOW"),
    _jrk(
        "a Jrk keeps the errors that were read and cleared",
        "                self._occurred = 0\n",
        "                pass\n",
    ),
    _jrk(
        "a Jrk has had power for as long as the clock runs",
        "        if math.isnan(self._booted):\n            self._booted = now\n",
        "        if math.isnan(self._booted):\n            self._booted = 0.0\n",
    ),
    _jrk(
        "a Jrk's settings in RAM have offsets of their own",
        "source[first : first + count]",
        "source[first + 0x50 * (code == GET_RAM_SETTINGS) :][:count]",
    ),
    _jrk(
        "a Jrk's forced duty outlives a target",
        "        self._forced = forced\n",
        "        self._forced = forced or self._forced\n",
    ),
    _iai(
        "a ROBO Cylinder's coils of the status are those of another register",
        "registers = (state.status_1, state.status_2, state.extended,",
        "registers = (state.status_1, state.extended, state.status_2,",
    ),
    _iai(
        "a ROBO Cylinder's coils have the lowest bit first",
        "for place in range(7, -1, -1)])",
        "for place in range(8)])",
    ),
    _iai(
        "a ROBO Cylinder's coil reads as it was before it was written",
        "        self._coils[coil] = on\n",
        "",
    ),
    _iai(
        "a ROBO Cylinder takes a coil that is not simulated",
        "if not inside or any(on and coil not in _COILS for coil, on in written.items()):",
        "if not inside:",
    ),
    _iai(
        "a ROBO Cylinder takes a control bit that is not simulated",
        "if any(on and first + place not in _COILS for place, on in enumerate(bits)):",
        "if False:",
    ),
    Break(
        "a simulated drive follows a set-point faster than its ramp",
        "actuators/virtual/ramp.py",
        "allowed = min(speed, math.sqrt(2.0 * acceleration * abs(ahead)))",
        "allowed = math.sqrt(2.0 * acceleration * abs(ahead))",
        ("actuators/test_register_map.py::test_a_drive_moves_by_its_own_ramp_at_the_speed_that_is_set",),
    ),
    Break(
        "a motion that is faster than a drive's own ramp is taken",
        "actuators/modbus_servo.py",
        "speed_limit=speed,",
        "speed_limit=math.inf,",
        ("actuators/test_register_map.py::test_a_drive_moves_by_its_own_ramp_at_the_speed_that_is_set",),
    ),
]
