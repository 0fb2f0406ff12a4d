"""The wire to the drives, and the control link to the clients."""

from breaks import Break

_LINK = "rig/test_engine_link.py"
_TROUBLE = "rig/test_engine_trouble.py"
_SERVO = "actuators/test_servo_cycle.py"
_ACCESS = "actuators/test_servo_access.py"
_LINE = "actuators/test_half_duplex.py"
_GROUP = "actuators/test_servo_group.py"
_TWINS = "actuators/test_virtual_servo_group.py"
_CROSS = f"{_SERVO}::test_a_reply_never_satisfies_another_request"


def _control(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/link.py", old, new, tests)


def _wire(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "actuators/bus.py", old, new, tests)


def _line(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "actuators/bus.py", old, new, tests)


def _servo(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "actuators/modbus_servo.py", old, new, tests)


def _lease(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/lease.py", old, new, tests)


def _block(name: str, old: str, new: str) -> Break:
    test = f"{_LINK}::test_only_the_holder_of_the_lease_is_heard"
    return Break(name, "rig/runtime/shared_memory.py", old, new, (test,))


_LEASES = "rig/test_engine_lease.py"
_VARIANTS = "actuators/test_servo_variants.py"

LINK_BREAKS = [
    Break(
        "feedback counts though the command was not taken",
        "actuators/station.py",
        "            if done and answer != 0:",
        "            if False:",
        (_VARIANTS,),
    ),
    Break(
        "another mode is written before the stop",
        "actuators/codec.py",
        "for place in (3, 4, 5, 0, 1, 2)]",
        "for place in (3, 4, 5, 1, 0, 2)]",
        (_VARIANTS, "conformance/test_every_driver.py"),
    ),
    Break(
        "a speed is made of positions that are long ago",
        "actuators/drive.py",
        "not 0.0 < now - before[0] <= _LONG_AGO",
        "not 0.0 < now - before[0]",
        (_VARIANTS,),
    ),
    Break(
        "nobody says that a drive has no watchdog",
        "rig/engine/core.py",
        "if self.drives.unwatched is not None:",
        "if False:",
        ("rig/test_bare_drives.py",),
    ),
    Break(
        "a silent unit keeps its turn",
        "actuators/bus.py",
        "            asker.presence.silent = True",
        "            pass",
        (f"{_LINE}::test_a_unit_that_stays_silent_is_asked_last_and_costs_the_others_nothing",),
    ),
    Break(
        "a silent unit holds the line into the next cycle",
        "actuators/bus.py",
        "if self._asked is exchange and exchange.presence.silent:",
        "if False:",
        (f"{_LINE}::test_the_line_is_free_as_soon_as_nobody_waits_for_a_silent_unit",),
    ),
    Break(
        "a stop waits behind a silent unit",
        "actuators/bus.py",
        "self._asked.transaction < 0 and any(",
        "False and any(",
        (f"{_LINE}::test_a_stop_goes_first_and_does_not_wait_for_whom_nobody_waits_for",),
    ),
    _control(
        "the reply of an engine that ends is not looked for",
        "if (reply := self._received(number, _LAST_REPLY)) is not None:",
        "if (reply := None) is not None:",
        f"{_LINK}::test_an_engine_that_ends_as_it_answers_has_answered",
    ),
    _control("anybody commands", "elif lease is None or envelope.token != lease.token:", "elif lease is None:", _LINK),
    _lease(
        "the lease is taken from its holder",
        "            if self._holder is not None:\n",
        "            if False:\n",
        f"{_LINK}::test_one_client_holds_the_lease_and_the_others_only_stop_and_look",
    ),
    _lease(
        "the control block goes on to name a lease that has ended",
        "                self.block.lease = 0\n",
        "",
        _LEASES,
    ),
    _lease(
        "the end of a lease ends the next one",
        "if lease is not None and lease is self._holder:",
        "if lease is not None and self._holder is not None:",
        _LEASES,
    ),
    _block(
        "anybody's sign of life keeps the lease alive",
        "return int(count) if whose == lease else 0",
        "return int(count)",
    ),
    _block(
        "who has lost the lease goes on to show that he lives",
        "        if self.active:  # a client",
        "        if True:  # a client",
    ),
    Break(
        "the time without anybody who commands never ends",
        "rig/engine/loop.py",
        "if self._lease is not None:  # until now somebody commanded",
        "if True:",
        ("rig/test_engine_watch.py",),
    ),
    Break(
        "a client without a name commands",
        "rig/names.py",
        "    if not text.strip():\n        raise",
        "    if False:\n        raise",
        ("rig/test_names.py", f"{_LINK}::test_a_name_that_is_none_is_refused_without_an_echo"),
    ),
    Break(
        "control characters are a name",
        "rig/names.py",
        "    if found is not None:\n        shown",
        "    if False:\n        shown",
        ("rig/test_names.py", f"{_LINK}::test_a_name_that_is_none_is_refused_without_an_echo"),
    ),
    Break(
        "what a recording is called controls the terminal",
        "rig/cli/application.py",
        "    with printable_streams():\n",
        "    if True:\n",
        ("rig/test_names.py",),
    ),
    Break(
        "a window that hangs commands for ever",
        "rig/client/heartbeat.py",
        "silent <= bound and",
        "True and",
        ("rig/test_heartbeat.py",),
    ),
    Break(
        "a window that is stopped goes on to command",
        "rig/client/heartbeat.py",
        "not (silent > _LATE and is_stopped(window))",
        "True",
        ("rig/test_heartbeat.py",),
    ),
    Break(
        "what another lease began goes on unasked",
        "rig/engine/guards.py",
        "    if not snapshot.begun_by:\n        return None",
        "    return None",
        (_LEASES,),
    ),
    _control(
        "what is checked holds the link up",
        "        if isinstance(command, CHECKED):\n            submission",
        "        if data is not None:\n            submission",
        f"{_LINK}::test_a_stop_overtakes_what_is_checked",
    ),
    Break(
        "a stop before its check does not keep a motion from beginning",
        "rig/engine/operator.py",
        "stops = self._engine.machine.stops if submission.stops is None else submission.stops",
        "stops = self._engine.machine.stops",
        ("rig/test_engine_guards.py::test_a_stop_counts_from_when_a_motion_was_asked_for",),
    ),
    _control(
        "a stop needs the lease",
        "        elif isinstance(request, Stop):\n",
        "        elif isinstance(request, Stop) and lease is not None and envelope.token == lease.token:\n",
        f"{_LINK}::test_one_client_holds_the_lease_and_the_others_only_stop_and_look",
    ),
    _lease(
        "a lease that was dropped is held by its jobs",
        "                lease.active = False",
        "                pass",
        "rig/test_engine_lease.py",
    ),
    _control(
        "bytes that are no rows are taken for a motion",
        "if data is not None and len(data.buffer) % (18 * 8):",
        "if False:",
        f"{_LINK}::test_bytes_that_are_no_rows_are_refused",
    ),
    _control(
        "garbage ends the link",
        "except (ValidationError, IndexError):",
        "except IndexError:",
        f"{_LINK}::test_garbage_is_ignored",
    ),
    _control(
        "an old reply answers a new request",
        'if answered == b"%d" % number:',
        "if True:",
        f"{_LINK}::test_a_late_reply_answers_no_other_request",
    ),
    Break(
        "the milder of two stops counts",
        "rig/runtime/shared_memory.py",
        "return raised[0] if raised else None",
        "return raised[-1] if raised else None",
        (f"{_LINK}::test_the_more_severe_of_two_stop_requests_counts",),
    ),
    _wire(
        "a reply satisfies another request",
        "asking = pending.get(found)",
        "asking = next(iter(pending.values()), None)",
        _CROSS,
    ),
    _wire(
        "what came along with a reply is kept for the next",
        "            if not pending and self._input:  # what came along cannot answer a request that is not sent yet",
        "            if False:",
        _CROSS,
        _SERVO,
    ),
    _wire(
        "a peer that never stops talking holds the cycle",
        'data = wire.receive(deadline) if wire.now() < deadline else b""',
        "data = wire.receive(deadline)",
        f"{_SERVO}::test_a_peer_that_never_stops_talking_does_not_hold_the_cycle",
    ),
    _wire(
        "a frame that is cut is given up",
        "< size + _MBAP_SIZE:\n",
        '< size + _MBAP_SIZE:\n                self._input = b""\n',
        f"{_SERVO}::test_reply_split_within_the_cycle",
    ),
    _wire(
        "the rest of a connection answers on the next",
        'self._input = self._early = b""\n        self._pending',
        'self._early = b""\n        self._pending',
        f"{_SERVO}::test_the_rest_of_a_connection_is_forgotten_with_it",
    ),
    Break(
        "a damaged frame is a reply",
        "actuators/framing.py",
        "return crc16(frame[:-CRC_LENGTH]) == frame[-CRC_LENGTH:]",
        "return True",
        (f"{_LINE}::test_no_damaged_frame_is_a_reply",),
    ),
    _line(
        "what was on the line before the request answers it",
        "if data := wire.receive(-math.inf):\n            self._drop(data, exchange.counters)\n        self._input",
        "self._input",
        f"{_LINE}::test_bytes_from_before_a_request_are_dropped",
    ),
    _line(
        "a late reply answers a question after other registers",
        "if one.head == ours and one.read != range_",
        "if False",
        "actuators/test_late_replies.py::test_a_late_reply_is_never_that_of_other_registers",
    ),
    _line(
        "one late reply counts for all that were given up",
        "                self._missing.remove(late)",
        "                self._missing.clear()",
        "actuators/test_late_replies.py::test_other_registers_wait_for_every_reply_that_was_given_up",
    ),
    _line(
        "a request is given up with the length of the one behind it",
        "head, until = framing.reply_head(self._message, asked.reply_length), now",
        "head, until = framing.reply_head(self._message, asker.reply_length), now",
        "actuators/test_late_replies.py::test_a_request_is_given_up_as_what_it_was_when_its_deadline_passed",
    ),
    _line(
        "a request of the set-up is given up as one of the cycle",
        "self._asked.reply_length, self._asked.acyclic = exchange.reply_length, exchange.acyclic",
        "self._asked.reply_length = exchange.reply_length",
        "actuators/test_late_replies.py::test_what_was_asked_outside_of_the_cycle_does_not_answer_a_cycles_request",
    ),
    _line(
        "no silence between frames",
        "self._until = now + self.turnaround",
        "self._until = now",
        f"{_LINE}::test_each_has_its_turn_and_the_line_is_silent_between",
    ),
    _line(
        "a unit that may still answer is talked over",
        "self._asked.transaction = -1",
        "self._asked = None",
        f"{_LINE}::test_what_the_deadline_finds_waiting_is_not_sent_later",
    ),
    _line(
        "a unit that does not answer keeps the line",
        "if now >= self._until or not wire.connected:",
        "if not wire.connected:",
        f"{_LINE}::test_a_unit_that_is_silent_costs_the_others_its_time_alone",
    ),
    _servo(
        "any drive is taken for the one expected",
        "if expected is not None and identity.serial != expected:",
        "if False:",
        f"{_ACCESS}::test_another_device_is_refused",
    ),
    _servo(
        "a watchdog is not read back",
        "        if found == words:\n            return",
        "        if True:\n            return",
        f"{_ACCESS}::test_watchdog_that_does_not_read_back",
    ),
    _servo(
        "a position that is marked invalid is a number",
        "math.nan if position == no_position else",
        "math.nan if False else",
        f"{_SERVO}::test_invalid_value_reads_as_nan",
    ),
    Break(
        "stale feedback does not age",
        "actuators/drive.py",
        "else self._now - self._since",
        "else 0.0",
        (f"{_SERVO}::test_stale_feedback_keeps_the_last_good_values_and_grows_old",),
    ),
    Break(
        "a command that is no number goes out",
        "actuators/drive.py",
        "-can.force_limit <= command.force <= can.force_limit",
        "not abs(command.force) > can.force_limit",
        (f"{_SERVO}::test_bad_commands_are_refused_and_send_nothing",),
    ),
    Break(
        "a reply to another request is one of the group's",
        "actuators/servo_group.py",
        "plain = replies[i, 0] == transactions[i] >> 8 and replies[i, 1] == transactions[i] & 0xFF",
        "plain = True",
        (f"{_GROUP}::test_a_group_says_and_understands_what_each_drive_by_itself_does",),
    ),
    Break(
        "a reply from another unit is one of the group's",
        "actuators/servo_group.py",
        "plain = plain and replies[i, 2 + k] == head[i, k]",
        "plain = plain and True",
        (f"{_GROUP}::test_a_group_says_and_understands_what_each_drive_by_itself_does",),
    ),
    Break(
        "the group takes a reply that echoes another command",
        "actuators/servo_group.py",
        "if place == _SEQUENCE and value != sequences[i]:",
        "if False:",
        (f"{_GROUP}::test_a_group_says_and_understands_what_each_drive_by_itself_does",),
    ),
    Break(
        "the group sends what no register takes",
        "actuators/servo_group.py",
        "if not (inside or (k == 1 and commands[i, 2] == 0.0 and mode != _POSITION_MODE)):",
        "if False:",
        (f"{_GROUP}::test_what_no_register_takes_is_refused_before_anything_is_sent",),
    ),
    Break(
        "what a drive of the group knows is of long ago",
        "rig/engine/drive_group.py",
        "        self._exchange.sync(leg)\n        return self._members[leg]",
        "        return self._members[leg]",
        ("integration/test_measured_bounds.py",),
    ),
    Break(
        "a virtual servo that is asked alone is asked together with the others, too",
        "actuators/virtual/servo_group.py",
        "plain = bool(servos >> i & 1)",
        "plain = True",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "a drive that was asked for its watchdog is exchanged with alone",
        "actuators/servo_group.py",
        "if not self._plain >> leg & 1 and servo.collect_watchdog():",
        "if False:",
        (f"{_GROUP}::test_a_drive_that_was_asked_for_its_watchdog_remains_one_of_the_group",),
    ),
    Break(
        "one servo answers for another, and the others are asked before",
        "actuators/virtual/servo_group.py",
        "return 0 if exchanged else settled",
        "return settled",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "a fault that begins while the state is read is lost",
        "actuators/virtual/servo_group.py",
        "            self._auxiliary[leg] = servo.auxiliary\n        return",
        "            self._auxiliary[leg] = servo.auxiliary\n            self._changed.discard(drive)\n        return",
        (f"{_TWINS}::test_a_fault_that_begins_while_the_state_is_read_is_seen",),
    ),
    Break(
        "torque that comes on again is not said again",
        "rig/safety/drive_checks.py",
        "return self._unexpected(t, []) if at_rest else None",
        "return None",
        ("integration/test_torque.py::test_torque_that_comes_on_behind_another_fault_is_said_beside_it",),
    ),
    Break(
        "a status is taken in the middle of another thread's cycle",
        "rig/client/lockstep.py",
        "return self.engine.published",
        "return self.engine.snapshot",
        ("rig/test_engine_snapshot.py::test_who_let_time_pass_before_does_not_look_while_another_thread_does",),
    ),
    Break(
        "virtual servos with a fault are armed together",
        "actuators/virtual/servo_group.py",
        "rows[i, ARMED] = 1.0 if rows[i, FAULT] == 0.0 else 0.0",
        "rows[i, ARMED] = 1.0",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "a rising edge of clear is a plain request",
        "actuators/virtual/servo_group.py",
        "if mode < 0 or (control & masks[2] and not int(rows[i, CONTROL]) & masks[2] and rows[i, POWER] != STOPPING):",
        "if mode < 0:",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "no watchdog of a group of virtual servos ends",
        "actuators/virtual/servo_group.py",
        "(silent or homing)",
        "homing",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "a group of virtual servos does not see a fault",
        "actuators/virtual/faults.py",
        "        self.changed.add(self)  # last: another thread may have read the state before the fault\n",
        "",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "virtual servos asked one by one are the same as before",
        "actuators/virtual/faults.py",
        "        self.changed.add(self)\n        if self._silent:",
        "        if self._silent:",
        (f"{_TWINS}::test_a_group_answers_and_commands_as_each_servo_by_itself",),
    ),
    Break(
        "the zero of a cell jumps only where it is read alone",
        "rig/virtual/port.py",
        "(offsets[1, i] + linear[3, i] * samples[i, left[i]])",
        "(linear[3, i] * samples[i, left[i]])",
        ("rig/test_virtual_ports.py",),
    ),
    Break(
        "a leg that homes again is at its mark at once",
        "rig/virtual/drive_kernel.py",
        "            drives[i, HOMING_DONE] = 0.0\n        modes[i] = mode",
        "            pass\n        modes[i] = mode",
        (
            "rig/test_virtual_ports.py",
            "rig/test_engine_resets.py",
        ),
    ),
    Break(
        "a machine that moves stands still while nobody is connected",
        "rig/virtual/virtual_rig.py",
        "if not watched and gap > 0.0 and self.stands(now):",
        "if not watched and gap > 0.0:",
        ("rig/test_virtual_rig.py::test_a_machine_that_stands_is_not_integrated_while_nobody_is_connected",),
    ),
]
