"""Faults of a stream, one for each row of the table of faults: the reaction is taken out, and the row's test fails."""

from breaks import Break

_SOURCE, _KERNELS = "rig/engine/stream.py", "rig/engine/stream_kernels.py"
_PACKETS, _INTAKE, _CLOCK = "rig/streaming/packets.py", "rig/streaming/intake.py", "rig/streaming/sender_clock.py"
_ROWS, _SAMPLES = "rig/test_stream_faults.py", "rig/test_stream_samples.py"
_LOST = f"{_ROWS}::test_lost_packets_are_counted_with_the_next_one_and_interpolated_across"

STREAM_FAULT_BREAKS = [
    Break(
        "the engine does not count what was lost",
        _KERNELS,
        "data.lost += ahead - 1",
        "data.lost += 0",
        (f"{_LOST}[0.01]",),
    ),
    Break(
        "no gap is interpolated across",
        _KERNELS,
        "if step > data.watchdog or not (",
        "if step > 1.5 * data.period or not (",
        (f"{_LOST}[0.1]",),
    ),
    Break(
        "a stream that was silent is never heard again",
        _KERNELS,
        "        data.silent_since = math.nan\n    elif",
        "        pass\n    elif",
        (f"{_ROWS}::test_a_burst_of_200_ms_fades_out_and_in_again",),
    ),
    Break(
        "what was overtaken stays lost in the engine",
        _KERNELS,
        "data.lost -= 1  # it was counted when it was overtaken",
        "data.lost -= 0",
        (f"{_ROWS}::test_overtaken_packets_are_put_in_order",),
    ),
    Break(
        "a duplicate counts as overtaken",
        _INTAKE,
        "        if sequence in self._seen:",
        "        if False:",
        (f"{_ROWS}::test_duplicates_are_dropped",),
    ),
    Break(
        "the reference is sooner than the delay says",
        _KERNELS,
        "origin + (data.front + 1) * data.period - data.delay)",
        "origin + (data.front + 1) * data.period - 0.5 * data.delay)",
        (f"{_ROWS}::test_jitter_of_20_ms_has_no_effect",),
    ),
    Break(
        "a sender that hangs is waited for on the move",
        _KERNELS,
        "if data.phase in (APPROACHING, FADING_IN, FOLLOWING) and not known:",
        "if False:",
        (f"{_ROWS}::test_a_sender_that_hangs_is_waited_for_at_rest_and_followed_again",),
    ),
    Break(
        "a sender that died is waited for for ever",
        _KERNELS,
        "        data.events |= LOST\n",
        "        data.events |= 0\n",
        (f"{_ROWS}::test_a_sender_that_dies_is_given_up_after_two_seconds",),
    ),
    Break(
        "a sender that comes back is timed by its old clock",
        _INTAKE,
        "        self.clock = SenderClock()\n        self._times.clear()",
        "        self._times.clear()",
        (f"{_ROWS}::test_a_sender_that_comes_back_is_followed_anew",),
    ),
    Break(
        "a jump is taken as it comes",
        _KERNELS,
        "    if duration > 0.0:\n        _plan(stream, data.next[:], duration)",
        "    if True:\n        _plan(stream, data.next[:], max(duration, data.period))",
        (f"{_ROWS}::test_a_jump_of_50_mm_is_refused_ahead",),
    ),
    Break(
        "a number that is not finite is a pose",
        _INTAKE,
        "    if not all(map(math.isfinite, (point.sent, point.time, *point.motion))):",
        "    if not all(map(math.isfinite, (point.sent, point.time))):",
        (f"{_ROWS}::test_numbers_that_are_not_finite_are_dropped",),
    ),
    Break(
        "an old packet is taken for one that was overtaken",
        _INTAKE,
        "if gap <= -WINDOW or _ahead(sequence, self._first) < 0:",
        "if _ahead(sequence, self._first) < 0:",
        (f"{_ROWS}::test_old_packets_are_dropped_in_their_cycle",),
    ),
    Break(
        "a packet of another key is one of this",
        _PACKETS,
        "    if not hmac.compare_digest(tag_of(data, key), tag):",
        "    if not hmac.compare_digest(tag_of(data, key)[:0], tag[:0]):",
        (f"{_ROWS}::test_packets_of_another_key_are_dropped_in_their_cycle",),
    ),
    Break(
        "the drift of a sender's clock is not followed",
        _CLOCK,
        "        self._slope = self._line[1] + max(-_SLEW, min(_SLEW, correction))",
        "        self._slope = 0.0 * correction",
        (f"{_ROWS}::test_a_clock_100_ppm_off_is_modelled",),
    ),
    Break(
        "a step of the sender's clock needs ten samples",
        _CLOCK,
        "_AGREEING = 3",
        "_AGREEING = 10",
        (f"{_ROWS}::test_a_clock_stepped_by_an_hour_is_accepted_with_the_third_sample",),
    ),
    Break(
        "a flood is kept whole",
        _KERNELS,
        "(_SPACING if row == data.end else _SAME)",
        "(0.0 if row == data.end else _SAME)",
        (f"{_ROWS}::test_a_flood_of_100_kHz_of_others_and_of_the_sender_itself_is_followed",),
    ),
    Break(
        "a small lag of the rig's clock stays",
        _KERNELS,
        "    data.origin += (data.rate - 1.0) * passed\n",
        "    data.origin += 0.0 * passed\n",
        ("rig/test_stream_source.py::test_a_small_lag_of_the_rig_that_stays_is_made_up_for_smoothly",),
    ),
    Break(
        "a lag is made up for faster than the limits allow",
        _KERNELS,
        "    elif _has_to_spare(stream, ahead):\n",
        "    else:\n        _has_to_spare(stream, ahead)\n    if data.rate != data.wanted_rate:\n",
        ("rig/test_stream_source.py::test_a_stream_at_its_limit_is_not_refused_for_a_lag_that_is_made_up_for",),
    ),
    Break(
        "what a stream asks for next is not looked at while a lag is made up for",
        _KERNELS,
        "    if spare and known:",
        "    if False:",
        ("rig/test_stream_source.py::test_an_acceleration_that_comes_to_its_limit_at_once_is_not_refused_for_a_lag",),
    ),
    Break(
        "what is known of a receiver goes with its process",
        "rig/streaming/receiver.py",
        "            return replace(self._known, active=False)",
        "            return StreamStatus()",
        ("rig/test_stream_receiver.py::test_a_process_receives_and_says_what_came_in",),
    ),
    Break(
        "whatever is in a ring's counter is a count",
        "rig/streaming/samples.py",
        "if not 0 < wanted <= MOST_AT_ONCE:",
        "if not 0 < wanted:",
        (f"{_SAMPLES}::test_a_counter_that_somebody_else_wrote_over_is_no_count",),
    ),
    Break(
        "a sample that another one took the place of is used",
        _KERNELS,
        "whole = numbers[index & (slots.shape[0] - 1)] == np.uint64(2 * index + 2)",
        "whole = True",
        (f"{_SAMPLES}::test_a_sample_whose_number_is_another_is_not_used",),
    ),
    Break(
        "the number of a sample is looked at before it is copied",
        _KERNELS,
        "    sequence, given, time = slot.sequence, slot.given, slot.time\n",
        "    sequence, given, time = slot.sequence, slot.given, slot.time\n"
        "    if numbers[index & (slots.shape[0] - 1)] == np.uint64(2 * index + 2):\n"
        "        for k in range(7):\n            data.pose[k] = slot.pose[k]\n"
        "        for k in range(6):\n"
        "            data.velocity[k], data.acceleration[k] = slot.velocity[k], slot.acceleration[k]\n"
        "        return True, sequence, given, time\n",
        (f"{_SAMPLES}::test_the_compiled_reader_looks_at_a_samples_number_after_its_copy",),
    ),
    Break(
        "a sample taken in Python is whole whatever its number",
        "rig/streaming/samples.py",
        "        whole = self._numbers[index & np.uint64(self.capacity - 1)] == 2 * index + np.uint64(2)",
        "        whole = index == index",
        (f"{_SAMPLES}::test_no_sample_is_used_that_was_overwritten_while_it_was_copied",),
    ),
    Break(
        "a line is as long as it comes",
        _PACKETS,
        "    if len(line) > LONGEST_LINE:",
        "    if False:",
        ("rig/test_stream_packets.py::test_what_is_no_line_is_malformed",),
    ),
    Break(
        "a stream is waited for that is too slow for its delay",
        "rig/client/feeding.py",
        "    if settings.delay < least:",
        "    if False:",
        (
            "integration/test_stream_rig.py::"
            "test_a_rate_that_the_delay_does_not_cover_is_refused_with_the_delay_that_does",
        ),
    ),
]
