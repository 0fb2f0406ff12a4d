"""Serial lines: the time that bytes take, whose turn it is, and what the engine makes of it."""

from breaks import Break

_CELL = "actuators/test_loadstar.py"
_STREAM = "actuators/test_loadstar_stream.py"
_DEVICES = "actuators/test_device_line.py"
_TERMINAL = "actuators/test_virtual_terminal.py"
_ADDRESS = "actuators/test_modbus_address.py"
_PLAN = "actuators/test_line_plan.py"
_PACED = "rig/test_paced_lines.py"
_TIMES = "rig/test_sample_times.py"


def _frame(name: str, old: str, new: str) -> Break:
    return Break(name, "rig/engine/cycle_data.py", old, new, (_TIMES,))


def _device(name: str, old: str, new: str, test: str = _DEVICES) -> Break:
    return Break(name, "actuators/virtual/server.py", old, new, (test,))


LINE_BREAKS = [
    _device(
        "a virtual line carries a request out before it has come",
        "self._requests.append((self._free, frame))",
        "self._requests.append((self._now, frame))",
    ),
    _device(
        "a virtual line's replies take no time",
        "self._free = max(self._free, at) + len(data) * self._byte_time",
        "self._free = max(self._free, at)",
    ),
    _device(
        "whoever is first on a virtual line answers",
        "return self._by_number.get(message[0] if message else -1) or self.devices[:1]",
        "return self.devices[:1]",
    ),
    _device(
        "what a virtual device says by itself is there all at once",
        "passed = 0 if whole else",
        "passed = 0 if True else",
    ),
    _frame(
        "a cycle without a model is one of the stored ones",
        "        if status != 0:\n            self._no_model()\n",
        "        if status != 0:\n            history.stored(t)\n            self._no_model()\n",
    ),
    _frame(
        "a reading from before its cycle is compared with the model of now",
        "cells_offset < -_SAME_TIME",
        "cells_offset < -1.0",
    ),
    Break(
        "a sensor that reads in another unit is taken",
        "actuators/loadstar.py",
        'if series == "iload" and factor not in (None, _POUND):',
        "if False:",
        (_CELL,),
    ),
    Break(
        "an interface of an unknown unit is taken to read in thousandths of a pound",
        "actuators/loadstar.py",
        'if series == "di-1000" and factor is None:',
        "if False:",
        (_CELL,),
    ),
    Break(
        "an interface's unit is not converted",
        "actuators/loadstar.py",
        "self._take_series(series, factor, unit)",
        "self._take_series(series, _POUND, unit)",
        (_CELL,),
    ),
    Break(
        "a sensor of another series is taken",
        "actuators/loadstar.py",
        "if self._own.series not in (None, series):",
        "if False:",
        (_CELL,),
    ),
    Break(
        "a sensor with another identity is taken",
        "actuators/loadstar.py",
        "self._own.serial is not None and",
        "False and",
        (_CELL,),
    ),
    Break(
        "a line of a stream is a reading in every cycle",
        "actuators/loadstar.py",
        "        self._last = DeviceReading((self._new,), True, 0.0, offset=offset)\n        self._new = math.nan",
        "        self._last = DeviceReading((self._new,), True, 0.0, offset=offset)",
        (_STREAM,),
    ),
    Break(
        "what came in a pause is a reading",
        "actuators/loadstar.py",
        "if now - self._cycle_read > _SILENT:",
        "if False:",
        (_STREAM,),
    ),
    Break(
        "what is left of an earlier stream is a reading",
        "actuators/loadstar.py",
        "        while line not in (None, _ACKNOWLEDGED):",
        "        while line is None:",
        (_STREAM,),
    ),
    Break(
        "a line end that was cut stays before the next line",
        "actuators/loadstar.py",
        'return line.removeprefix(b"\\n")',
        "return line",
        (_STREAM,),
    ),
    Break(
        "a virtual device takes a request with a wrong checksum",
        "actuators/virtual/device.py",
        'return data if len(data) >= 2 and crc16(data) == checksum else b""',
        "return data",
        (_DEVICES,),
    ),
    Break(
        "the end of a request is kept for the next who opens a line",
        "actuators/virtual/server.py",
        "            if count < 0 and name in self._clients:",
        "            if False:",
        (_PACED,),
    ),
    Break(
        "a frame on a line is continued after any silence",
        "actuators/virtual/server.py",
        "self._quiet_at - client.line_free > client.port.pause",
        "False",
        (_TERMINAL,),
    ),
    Break(
        "the plant goes on past a reply that is due",
        "actuators/virtual/server.py",
        "t = min(event, request.t) if event > t else request.t",
        "t = request.t",
        (_PACED,),
    ),
    Break(
        "a virtual rig takes the ports of another that is served",
        "actuators/virtual/server.py",
        "            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "            pass",
        (_TERMINAL,),
    ),
    Break(
        "a reply that will not come any more is an event for ever",
        "actuators/virtual/faults.py",
        "        if self._silent:\n            return math.inf\n",
        "",
        (_TERMINAL,),
    ),
    Break(
        "bytes on a virtual line wait for the next tick",
        "actuators/virtual/server.py",
        "[port for port in self._ports if port.device.next_event <= now] if self._terminals else []",
        "[]",
        (_TERMINAL,),
    ),
    Break(
        "bytes on a virtual line pass without those who are to act on them",
        "actuators/virtual/server.py",
        " or now >= self._next_action",
        "",
        (_DEVICES,),
    ),
    Break(
        "a request on a virtual line came when its devices were looked at last",
        "actuators/virtual/server.py",
        "        self._now = max(self._now, now)\n",
        "",
        (_DEVICES,),
    ),
    Break(
        "an access that is lost on a line is not tried again",
        "actuators/station.py",
        "            if not (self.connected and self.bus.now() < deadline):",
        "            if True:",
        (_TERMINAL,),
    ),
    Break(
        "a line is open to others",
        "actuators/wire.py",
        "exclusive=True",
        "exclusive=False",
        (_TERMINAL, _PACED),
    ),
    Break(
        "a unit that no line can have is taken",
        "actuators/addresses.py",
        "if self.rtu and not 1 <= self.unit <= LAST_RTU_UNIT:",
        "if False:",
        (_ADDRESS,),
    ),
    Break(
        "a line with two bauds",
        "rig/config/conflicts.py",
        "        if other != endpoint:",
        "        if False:",
        ("rig/test_config.py", "rig/test_bus_load.py"),
    ),
    Break(
        "when a drive was asked is not known",
        "actuators/modbus_servo.py",
        "return feedback._replace(offset=offset) if offset else feedback",
        "return feedback",
        (_PACED,),
    ),
    Break(
        "load cells on a line of their own have no turn",
        "actuators/cells.py",
        "self.lines = [device.line for device in self._devices if device.line is not None]",
        "self.lines = []",
        (_PACED,),
    ),
    Break(
        "a plan leaves out the load cells",
        "rig/engine/drive_group.py",
        "bus_plans([*self._drives, *self._cells.members, ",
        "bus_plans([*self._drives, ",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a plan forgets the silences of a line",
        "actuators/bus.py",
        "return size * self.byte_time + sum(delays) + (len(delays) - 1) * self.turnaround",
        "return size * self.byte_time + sum(delays)",
        ("rig/test_bus_load.py", _PLAN),
    ),
    Break(
        "a plan forgets that devices take time to answer",
        "actuators/bus.py",
        "return size * self.byte_time + sum(delays) + (",
        "return size * self.byte_time + (",
        ("rig/test_bus_load.py", _PLAN),
    ),
    Break(
        "a plan forgets the latency of an adapter",
        "actuators/exchange.py",
        "delay = line.turnaround + line.latency if given is None else given",
        "delay = line.turnaround if given is None else given",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a plan ignores the reply delay that was measured",
        "actuators/exchange.py",
        "delay = line.turnaround + line.latency if given is None else given",
        "delay = line.turnaround + line.latency",
        ("rig/test_bus_load.py", _PLAN),
    ),
    Break(
        "a reply's bytes count as delay of the device",
        "actuators/bus.py",
        "taken = now - exchange.carried - (len(exchange.reply) + self.framing.overhead) * self.byte_time",
        "taken = now - exchange.carried",
        (_PLAN,),
    ),
    Break(
        "a twin answers before its delay has passed",
        "actuators/virtual/server.py",
        "self._queue(at + called[0].reply_delay, reply, whole=True)",
        "self._queue(at, reply, whole=True)",
        (_PLAN,),
    ),
    Break(
        "only the first line that is too slow is named",
        "rig/engine/lines.py",
        "tuple(self._slow(plan) for plan in self.plans if plan.time > self.budget)",
        "tuple(self._slow(plan) for plan in self.plans if plan.time > self.budget)[:1]",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a rate is suggested that is refused elsewhere",
        "rig/engine/lines.py",
        "        refused = tuple(_rate_refusals(self.config, highest))",
        "        refused = ()",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a baud is suggested that does not carry the rate",
        "rig/engine/lines.py",
        "fitting = plan.time_at(present, baud, lines) <= self.budget",
        "fitting = True",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a port is not opened with low latency",
        "actuators/wire.py",
        "port.set_low_latency_mode(True)",
        "pass",
        ("actuators/test_wire.py",),
    ),
    Break(
        "a drive that answers too late for its line passes the set-up",
        "rig/commissioning/probe.py",
        "elif not kind.virtual and probe.reply_delay is not None and probe.reply_delay >= (awaited := _awaited(kind)):",
        "elif probe.reply_delay is not None and probe.reply_delay >= (awaited := _awaited(kind)) + 1.0:",
        ("rig/test_measured_delays.py",),
    ),
    Break(
        "a reply delay beyond the time that is waited",
        "rig/config/conflicts.py",
        "    if delay is not None and timeout is not None and delay >= timeout:",
        "    if False:",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "a run begins at a rate that a line does not carry",
        "rig/client/runs.py",
        "    if not buses.passed:",
        "    if False:",
        ("rig/test_bus_load.py",),
    ),
    Break(
        "the engine engages at a rate that a line does not carry",
        "rig/engine/operator.py",
        "buses.message or (",
        "(",
        ("rig/test_bus_load.py",),
    ),
    _frame(
        "legs are compared with where they should be at another time",
        "lengths[i] = length + later[i] * (speed + 0.5 * later[i] * acceleration)",
        "lengths[i] = length",
    ),
    _frame(
        "the pose is made of lengths of several times",
        "lengths[i] = length[i] - offset[i] * velocity[i]",
        "lengths[i] = length[i]",
    ),
    _frame(
        "forces are compared with those of another time",
        "for legs, motion in reference.by_time(cells_offset, 0.0):",
        "for legs, motion in ():",
    ),
    _frame(
        "forces are commanded for another time",
        "for some, moment in reference.by_time(measurement.offset, by):",
        "for some, moment in ():",
    ),
    Break(
        "lengths are commanded for another time",
        "rig/engine/laws/position.py",
        "np.subtract(cycle.measurement.offset, self._earlier, out=self._later)",
        "self._later[:] = -self._earlier",
        (_TIMES,),
    ),
    Break(
        "a late reply to a write passes for one to a write elsewhere",
        "actuators/framing.py",
        "good = message[:4] if function in _ECHOED else message[:2]",
        "good = message[:2]",
        ("actuators/test_late_replies.py::test_a_late_reply_to_a_write_is_no_reply_to_a_write_elsewhere",),
    ),
    Break(
        "a drive that does not say its speed is one with a dead encoder",
        "actuators/modbus_servo.py",
        "return feedback._replace(velocity=0.0) if self._no_velocity else feedback",
        "return feedback",
        ("conformance/test_commissioning.py",),
    ),
]
