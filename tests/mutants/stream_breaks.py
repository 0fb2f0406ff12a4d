"""A motion that is streamed in: its samples, its faults, and the braking path that is known at every instant."""

from breaks import Break

_SOURCE, _KERNELS, _AHEAD = "rig/engine/stream.py", "rig/engine/stream_kernels.py", "rig/engine/braking_ahead.py"
_TESTS, _RIG, _REST = "rig/test_stream_source.py", "integration/test_stream_rig.py", "rig/test_braking_ahead.py"
_LOST = f"{_TESTS}::test_a_lost_stream_fades_out_comes_back_and_stops_the_rig_in_the_end"
_BAD = f"{_TESTS}::test_samples_that_are_not_finite_or_stale_are_not_used"

STREAM_BREAKS = [
    Break(
        "a state from which no braking path begins is taken",
        _AHEAD,
        "    data.what = NO_PATH\n    return 0.0",
        "    data.what = NO_PATH\n    return data.durations[0]",
        (f"{_REST}::test_a_state_from_which_no_path_stays_within_the_stroke_is_refused",),
    ),
    Break(
        "a bound of a braking path leaves out how the legs' Jacobian changes",
        _AHEAD,
        "of_acceleration = p * t * ta + n * na * per + p * tv * tv + nv * nv * per",
        "of_acceleration = 0.0",
        (f"{_REST}::test_a_bound_is_certain_of_no_path_just_beyond_or_just_within_what_its_evaluation_accepts",),
    ),
    Break(
        "a bound of the forces leaves out the inertia",
        _AHEAD,
        "by_legs = (Q + data.gravity",
        "by_legs = (0.0 * Q + data.gravity",
        (f"{_REST}::test_what_a_bound_is_certain_of_is_so_where_every_place_is_evaluated",),
    ),
    Break(
        "a leg that turns back at once has the friction of its present direction",
        _AHEAD,
        "    if not either_way:\n",
        "    if True:\n",
        (f"{_REST}::test_a_leg_that_turns_back_at_once_has_its_friction_against_it",),
    ),
    Break(
        "a lost stream is never given up",
        _KERNELS,
        "if now - data.silent_since >= data.stop_after:",
        "if False:",
        (_LOST,),
    ),
    Break("a silent sender is not reported", _KERNELS, "if now - data.fresh <= data.watchdog:", "if True:", (_LOST,)),
    Break(
        "stale samples are used",
        _KERNELS,
        "if time < now - data.delay - data.watchdog or time > now + _FUTURE:",
        "if False:",
        (_BAD,),
    ),
    Break(
        "a pose that is not finite is used",
        _KERNELS,
        "        if not math.isfinite(pose[k]):\n            return False",
        "        if not math.isfinite(pose[k]):\n            return True",
        (_BAD,),
    ),
    Break(
        "what lies beyond the limits is not refused",
        _KERNELS,
        "data.stopped, data.events = 1, data.events | REFUSED",
        "data.events |= REFUSED",
        (f"{_TESTS}::test_what_is_refused_is_not_followed_again_though_nobody_stops_the_rig",),
    ),
    Break(
        "a STOP takes its duration whether the braking path is within the limits or not",
        _KERNELS,
        "    if step == _LEAVE:\n        if duration > 0.0:",
        "    if step == _LEAVE:\n        duration = data.tries[0]\n        if duration > 0.0:",
        ("rig/test_stops_in_streams.py",),
    ),
    Break(
        "a stream in a wrong frame is not distinguished from a jump",
        _KERNELS,
        "            data.events |= ELSEWHERE\n",
        "            data.events |= 0\n",
        (f"{_TESTS}::test_a_stream_in_another_frame_is_refused_on_the_way_to_its_first_pose",),
    ),
    Break(
        "a stream never ends",
        _KERNELS,
        "        data.ended = 1\n",
        "        data.ended = 0\n",
        (f"{_TESTS}::test_the_end_is_an_end",),
    ),
    Break(
        "a sample that another overtook is dropped",
        _KERNELS,
        "while row > data.begin and data.history[row - 1, 0] > time:",
        "while False and data.history[row - 1, 0] > time:",
        (f"{_TESTS}::test_reordered_samples_are_put_in_order_and_duplicates_are_not_used",),
    ),
    Break(
        "what the stream asked is not recorded",
        _KERNELS,
        "            asked[k] = motion[k]\n",
        "            asked[k] = 0.0\n",
        (f"{_RIG}::test_what_a_stream_asked_its_delay_and_its_counts_are_recorded",),
    ),
]
