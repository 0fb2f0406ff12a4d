"""Digital inputs and outputs: what an open circuit stops, contradictions, silence, and when an output is on."""

from breaks import Break

_IO = "integration/test_digital_io.py"
_SUITE = "conformance/test_every_io_driver.py"
_POINTS = "integration/test_io_at_drives.py"


def _checks(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/safety/input_checks.py", old, new, (f"{_IO}::{test}",))


def _outputs(name: str, old: str, new: str, test: str) -> Break:
    return Break(name, "rig/engine/digital_io.py", old, new, (f"{_IO}::{test}",))


def _block(name: str, old: str, new: str) -> Break:
    return Break(name, "actuators/modbus_io.py", old, new, (_SUITE,))


def _drive(name: str, package: str, old: str, new: str, test: str = "conformance/test_every_driver.py") -> Break:
    return Break(name, f"actuators/{package}/drive.py", old, new, (test,))


IO_BREAKS = [
    _checks(
        "an emergency stop is no fault at rest",
        "in TORQUE_STATES or (name == _CHAIN and known):",
        "in TORQUE_STATES:",
        "test_an_emergency_stop_is_the_fault_and_takes_the_torque_off_at_once",
    ),
    _checks(
        "an emergency stop decelerates",
        "Cause(found, t), StopSeverity.CATEGORY_0, partial(_still_open",
        "Cause(found, t), StopSeverity.CATEGORY_1, partial(_still_open",
        "test_an_emergency_stop_is_the_fault_and_takes_the_torque_off_at_once",
    ),
    _checks(
        "torque behind an open circuit of safe torque off is not named",
        "        if new:\n",
        "        if False:\n",
        "test_feedback_that_reads_open_while_drives_have_torque_is_named",
    ),
    _checks(
        "torque lost behind a closed circuit is not named",
        "self._lost = t, [int(leg) for leg in legs]",
        "pass",
        "test_feedback_that_reads_closed_while_torque_is_lost_is_named",
    ),
    _checks(
        "a silent block of inputs is no fault",
        "if silent and not before_silent:",
        "if False:",
        "test_a_block_that_is_silent_or_refuses_is_a_fault_after_so_many_cycles",
    ),
    _checks(
        "a silent block of inputs is a fault at once",
        "silent, before_silent = io.stale >= self._fewest and io.age >= self._old, self._silent",
        "silent, before_silent = io.stale > 0, self._silent",
        "test_a_reply_of_the_block_that_is_lost_stops_nothing",
    ),
    Break(
        "the inputs are judged after the drives",
        "rig/engine/core.py",
        "            supervision.inputs(t)  # first: an open chain explains the torque that it takes\n"
        "        supervision.feedback(t, exchanges.between)\n",
        "            supervision.feedback(t, exchanges.between)\n"
        "            supervision.inputs(t)\n        else:\n            supervision.feedback(t, exchanges.between)\n",
        (f"{_IO}::test_an_emergency_stop_is_the_fault_and_takes_the_torque_off_at_once",),
    ),
    Break(
        "an input that opens after another fault is not recorded",
        "rig/engine/supervision.py",
        "            if isinstance(found, Trip):\n                self._even_after_fault(found)\n            else:",
        "            if isinstance(found, Trip):\n                self._act(found)\n            else:",
        (f"{_IO}::test_a_reset_of_another_fault_is_refused_too_while_the_chain_is_open",),
    ),
    _outputs(
        "a reset is made with an open chain of emergency stops",
        'if self.inputs.get("emergency_stop") is False else []',
        "if False else []",
        "test_a_reset_is_refused_with_a_chain_that_was_open_before_connecting",
    ),
    _checks(
        "a reset is made while the block is silent",
        "return Finding(Code.IO_UNKNOWN) if io.stale else None",
        "return None",
        "test_no_torque_while_the_block_is_silent",
    ),
    _outputs(
        "a brake is released before its drive has torque",
        "carried = [wanted and bool(bits & _ENABLED) for",
        "carried = [wanted for",
        "test_the_brake_of_a_drive_that_takes_no_torque_stays_closed",
    ),
    _outputs(
        "brakes stay open until torque is off",
        "release = allowed and not machine.closing",
        "release = allowed",
        "test_a_brake_is_released_with_torque_alone_and_closes_before_it_goes",
    ),
    _outputs(
        "the enable output stays on",
        'outputs["enable"] = allowed',
        'outputs["enable"] = True',
        "test_outputs_follow_the_state",
    ),
    _outputs(
        "outputs stay on when the rig is disconnected",
        "                self.device.switch_off()\n",
        "                pass\n",
        "test_outputs_are_switched_off_when_the_rig_is_disconnected",
    ),
    _outputs(
        "another master's outputs are switched off",
        "        if self._ours and self.device.connected:",
        "        if self.device.connected:",
        "test_a_connection_that_is_refused_leaves_the_outputs_as_they_are",
    ),
    _outputs(
        "a slow block counts as silent",
        "self.stale = 0 if fresh or not self.device.overdue else",
        "self.stale = 0 if fresh else",
        "test_a_block_slower_than_the_cycle",
    ),
    Break(
        "a requested stop leaves the outputs for a cycle",
        "rig/engine/core.py",
        "not even the one computed\n            self._switch_outputs()\n",
        "not even the one computed\n",
        (f"{_IO}::test_a_stop_switches_everything_off",),
    ),
    Break(
        "torque goes before the brakes have closed",
        "rig/safety/machine.py",
        "return t - self._closing_since >= self.deadlines.brake",
        "return True",
        (f"{_IO}::test_a_brake_is_released_with_torque_alone_and_closes_before_it_goes",),
    ),
    Break(
        "a block of outputs without a watchdog is not mentioned",
        "rig/engine/core.py",
        'self.record("warning", self.drives.io.unwatched)',
        "pass",
        (f"{_IO}::test_a_block_without_a_watchdog_is_an_event",),
    ),
    _block("a lost write of outputs is not repeated", "due = not self._confirmed or now", "due = now"),
    _block("an output that changes waits for its turn", "self._wrote = changed or not", "self._wrote = not"),
    _block(
        "a block's outputs stay as they were found",
        "        self.switch_off()\n        register, counts",
        "        register, counts",
    ),
    _block(
        "a block's watchdog is not served",
        "else min(_REFRESH, options.watchdog / _REFRESHES)",
        "else 2.0 * options.watchdog",
    ),
    Break(
        "outputs that are confirmed hide inputs that are not read",
        "actuators/modbus_io.py",
        "if not self._unread:",
        "if True:",
        ("actuators/test_modbus_io.py",),
    ),
    _block(
        "any reply of a block is taken for its inputs",
        "if len(reply) != 3 + self._size or reply[:3] != request[:2] + bytes((self._size,)):",
        "if False:",
    ),
    Break(
        "a drive's output is not switched",
        "actuators/control_word.py",
        "return (control | self.outputs) ^ self._signals.low,",
        "return control ^ self._signals.low,",
        ("conformance/test_every_driver.py",),
    ),
    Break(
        "a drive's inputs are those of before its connection",
        "actuators/modbus_servo.py",
        "if not (self._inputs and self._answered):",
        "if not (self._inputs and self._raw):",
        ("conformance/test_every_driver.py",),
    ),
    _drive(
        "outputs on CANopen are as before the connection",
        "canopen",
        "            self._write(OUTPUTS, 0, timeout)\n",
        "            pass\n",
        "actuators/test_canopen.py",
    ),
    _drive(
        "outputs on CANopen are not left to the bus", "canopen", "found.append((OUTPUTS_MASK,", "found.append((OUTPUTS,"
    ),
    _drive(
        "outputs on CANopen go out with the mode alone",
        "canopen",
        "        if self._outputs:\n            message +=",
        "        if message and self._outputs:\n            message +=",
    ),
    _drive("a reply on CANopen is whole without its inputs", "canopen", "3 if self._inputs else 2)", "2)"),
    _drive(
        "inputs on CANopen are those of before the connection",
        "canopen",
        "        self._input_word: int | None = None\n",
        '        self._input_word: int | None = getattr(self, "_input_word", None)\n',
    ),
    _drive(
        "inputs of a ROBO Cylinder are its outputs",
        "iai",
        "bool(state.inputs >> bit & 1)",
        "bool(state.outputs >> bit & 1)",
    ),
    _drive(
        "a ROBO Cylinder's emergency stop is not read",
        "iai",
        "bool(state.status_1 & Status1.EMERGENCY_STOP)}",
        "False}",
    ),
    _drive(
        "pins of a Jrk are those of before the connection",
        "jrk",
        "        self._pins: int | None = None\n",
        '        self._pins: int | None = getattr(self, "_pins", None)\n',
    ),
    Break(
        "pins of a Jrk count by one reading",
        "actuators/jrk/drive.py",
        "pins[:1] == pins[1:]",
        "True",
        (_POINTS,),
    ),
    Break(
        "replies of a block are not counted within a second",
        "rig/engine/core.py",
        "(0, 0.0) if io.device is None else self._supervision",
        "(0, 0.0) if True else self._supervision",
        (f"{_IO}::test_noise_between_the_replies_of_a_block_is_counted_for_it_alone",),
    ),
    Break(
        "rejected replies of a block are not in the report",
        "rig/report/summary.py",
        'closing.get("io_rejected", 0)',
        "0",
        (f"{_IO}::test_noise_between_the_replies_of_a_block_is_counted_for_it_alone",),
    ),
    Break(
        "a late reply of another length is an invalid one",
        "actuators/bus.py",
        "            if asking is None and found in self._given_up:\n",
        "            if False:\n",
        ("actuators/test_modbus_io.py",),
    ),
    Break(
        "a late reply between two transactions is an invalid one",
        "actuators/bus.py",
        "        if self._is_late(data):\n",
        "        if False:\n",
        ("actuators/test_modbus_io.py",),
    ),
    Break(
        "a flashing lamp is reported as changes",
        "rig/report/digital_io.py",
        "        changed[flashing] &=",
        "        changed[flashing[:0]] &=",
        ("rig/test_report_io.py",),
    ),
    Break(
        "a change at the first row of a block is not reported",
        "rig/report/digital_io.py",
        "np.concatenate(([self._last[0]], flags[:-1]))",
        "np.concatenate((flags[:1], flags[:-1]))",
        ("rig/test_report_io.py",),
    ),
    Break(
        "an input is reported to have made the fault of another",
        "rig/report/digital_io.py",
        "made = not on and name in _FAULTS and began == _FAULTS[name]",
        "made = not on and name in _FAULTS and began != FaultCode.NONE",
        ("integration/test_digital_io.py::test_the_report_says_which_input_made_the_fault",),
    ),
    Break(
        "one bit of a drive is two points",
        "actuators/driver.py",
        "if place in taken:",
        "if False:",
        (_POINTS,),
    ),
    Break(
        "a confirmation of other outputs is taken for that of a write",
        "actuators/station.py",
        "        if written(request, reply) != 0:\n            self._check_refusal(reply, what)\n            raise",
        "        if exception_of(reply) is not None:\n            self._check_refusal(reply, what)\n            raise",
        ("actuators/test_modbus_io.py",),
    ),
    Break(
        "outputs at drives stay on when the engine ends",
        "rig/engine/drive_group.py",
        "if self.io is not None and self.io.on_at_drives:",
        "if False:",
        (_POINTS,),
    ),
    Break(
        "outputs of a slow drive wait for its time",
        "actuators/drive.py",
        "command.quick_stop, command.clear, self._outputs_on",
        "command.quick_stop, command.clear, frozenset()",
        ("actuators/test_canopen.py",),
    ),
]
