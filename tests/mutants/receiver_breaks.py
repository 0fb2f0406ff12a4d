"""Set-points of a stream from the network: keys, sessions, sequence, floods, the sender's clock."""

from breaks import Break

_PACKETS, _INTAKE = "rig/streaming/packets.py", "rig/streaming/intake.py"
_CLOCK, _RECEIVER = "rig/streaming/sender_clock.py", "rig/streaming/receiver.py"
_WIRE, _FAULTS = "rig/test_stream_packets.py", "rig/test_stream_intake.py"
_MODEL, _SOCKETS = "rig/test_sender_clock.py", "rig/test_stream_receiver.py"

RECEIVER_BREAKS = [
    Break(
        "a set-point of any key is accepted",
        _PACKETS,
        "if not hmac.compare_digest(tag_of(data, key), tag):",
        "if False:",
        (f"{_WIRE}::test_another_key_none_and_one_too_many_are_refused",),
    ),
    Break(
        "anybody may read the key of a stream",
        _PACKETS,
        "if mode & (stat.S_IRWXG | stat.S_IRWXO):",
        "if False:",
        (f"{_WIRE}::test_a_key_is_read_from_a_file_of_its_owner_alone",),
    ),
    Break(
        "other machines are heard without a key",
        "rig/config/sections.py",
        "if self.key_file is None and not self.is_local:",
        "if False:",
        (f"{_SOCKETS}::test_other_machines_are_heard_with_a_key_only",),
    ),
    Break(
        "a recorded stream is followed again",
        _INTAKE,
        "if self._key is not None and point.challenge != self._challenge:",
        "if False:",
        (f"{_FAULTS}::test_a_recorded_stream_opens_nothing_with_a_key",),
    ),
    Break(
        "a second sender takes a stream over",
        _INTAKE,
        "        if self._active(received):\n            raise",
        "        if False:\n            raise",
        (f"{_FAULTS}::test_an_earlier_session_of_the_same_sender_is_not_followed_meanwhile",),
    ),
    Break(
        "a set-point is taken twice",
        _INTAKE,
        "        if gap > 0:",
        "        if True:",
        (f"{_FAULTS}::test_duplicates",),
    ),
    Break(
        "what was overtaken stays missing",
        _INTAKE,
        "        self.missing -= 1\n",
        "",
        (f"{_FAULTS}::test_what_is_overtaken_goes_on_and_is_not_missing",),
    ),
    Break(
        "what the sender skipped is not counted",
        _INTAKE,
        "            self.missing += gap - 1\n",
        "",
        (f"{_FAULTS}::test_loss", f"{_FAULTS}::test_a_burst_of_loss"),
    ),
    Break(
        "numbers that are not finite are passed on",
        _INTAKE,
        "    if not all(map(math.isfinite, (point.sent, point.time, *point.motion))):",
        "    if False:",
        (f"{_FAULTS}::test_numbers_that_are_not_finite_and_no_rotation",),
    ),
    Break(
        "a stream goes on after its end",
        _INTAKE,
        "        elif self._ended:\n",
        "        elif False:\n",
        (f"{_FAULTS}::test_a_sender_that_hangs_for_a_while_goes_on",),
    ),
    Break(
        "a flood of others fills the queue",
        _INTAKE,
        "if origin != self.origin and self._active(received):",
        "if False:",
        (f"{_FAULTS}::test_a_flood_of_others_does_not_touch_the_stream",),
    ),
    Break(
        "the sender that is followed has no socket of its own",
        _RECEIVER,
        "        if not active or origin == self._origin:\n            return",
        "        return",
        (f"{_SOCKETS}::test_a_flood_from_elsewhere_takes_neither_room_nor_turns",),
    ),
    Break(
        "packets without room are not counted",
        _RECEIVER,
        'return int.from_bytes(words[4 * _DROPS : 4 * _DROPS + 4], "little")',
        "return 0",
        (f"{_SOCKETS}::test_a_flood_from_elsewhere_takes_neither_room_nor_turns",),
    ),
    Break(
        "half a line goes back to a slow sender",
        _RECEIVER,
        "            self._unsent = self._unsent[self.socket.send(self._unsent) :]",
        "            self._unsent = self._unsent[self.socket.send(self._unsent) :][:0]",
        (f"{_SOCKETS}::test_a_sender_that_does_not_read_holds_nobody_up",),
    ),
    Break(
        "a sender's clock is taken to be as fast as this one",
        _CLOCK,
        "        self._slope = self._line[1] + max(-_SLEW, min(_SLEW, correction))",
        "        self._slope = 0.0",
        (f"{_MODEL}::test_a_drift_that_is_not_modelled_would_be_seen",),
    ),
    Break(
        "a step of the sender's clock is never accepted",
        _CLOCK,
        "        if len(self._doubtful) < _AGREEING:",
        "        if True:",
        (f"{_MODEL}::test_a_step_is_followed_once_three_packets_agree",),
    ),
    Break(
        "one wrong stamp moves the clock",
        _CLOCK,
        "_AGREEING = 3",
        "_AGREEING = 1",
        (f"{_MODEL}::test_single_stamps_that_are_wrong_are_not_taken",),
    ),
    Break(
        "packets that are held up tilt the line",
        _CLOCK,
        "before, used = used, np.abs(residual) <= _OUTLIER * scale",
        "before, used = used, np.abs(residual) <= math.inf",
        (f"{_MODEL}::test_packets_that_are_held_up_do_not_move_the_clock",),
    ),
    Break(
        "the offset's uncertainty is the line's alone",
        _CLOCK,
        "+ self._scatter)",
        "+ 0.0)",
        (f"{_MODEL}::test_offset_and_drift_are_found_within_their_uncertainty",),
    ),
    Break(
        "the sender hears another wrench than the cells show",
        _RECEIVER,
        'wrench(pose, row["force_residual"].tolist())',
        'wrench(pose, row["force_measured"].tolist())',
        (f"{_SOCKETS}::test_the_sender_hears_of_every_cycle_what_the_rig_did",),
    ),
]
