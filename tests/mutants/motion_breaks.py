"""The records of motions: when they are told, what they say, and what the report takes from them."""

from breaks import Break

_RECORDS = "rig/test_motion_records.py"
_ENDS = "rig/test_motion_ends.py"
_COMMANDS = "integration/test_recorded_commands.py"


def _log(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/motion_log.py", old, new, tests or (_ENDS, _RECORDS))


def _report(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/report/motions.py", old, new, tests or (_ENDS, _RECORDS))


MOTION_BREAKS = [
    Break(
        "the demo's motion may take all of the residual's bound",
        "rig/client/fitting.py",
        '"residual": _RESIDUAL_PART,',
        '"residual": 10.0,',
        ("rig/test_demo.py::test_a_motion_is_as_small_as_a_residual_of_the_drives_own_loops_asks_for",),
    ),
    Break(
        "a motion may be faster than the drives' own ramps",
        "rig/safety/trajectory_check.py",
        "times, speed, self._ramps.speed)",
        "times, 0.0 * speed, self._ramps.speed)",
        ("rig/test_demo.py::test_a_motion_beyond_the_drives_own_ramps_is_refused_before_it_starts",),
    ),
    Break(
        "a drive that brakes for each set-point may trail as far as it likes",
        "rig/safety/trajectory_check.py",
        "0.5 * speed**2 / self._ramps.trailing",
        "0.0 * speed**2 / self._ramps.trailing",
        (
            "integration/test_profiled_drives.py::test_a_motion_beyond_the_ramp_of_one_of_them_is_refused_before_it_starts",
        ),
    ),
    _log("the beginning of a motion is not told", "            self._report(self.latest)\n        if", "        if"),
    _log(
        "a stop that was resumed is the cause of a later one's end",
        "self._paused, self._cause = False, None",
        "self._paused = False",
        f"{_ENDS}::test_what_paused_a_motion_that_is_given_up_is_its_cause_and_none_of_one_that_ends",
    ),
    Break(
        "the end of a motion has no cause",
        "rig/engine/core.py",
        "        self.motions.stopped(self.machine.cause)\n",
        "",
        (f"{_COMMANDS}::test_the_cause_of_an_end_is_that_of_the_stop_that_ended_it_everywhere",),
    ),
    Break(
        "the first fault within a run is its cause",
        "rig/runs/run.py",
        "cause=cause,",
        'cause=next((event.text for event in recording.events if event.code), ""),',
        (f"{_COMMANDS}::test_the_cause_of_an_end_is_that_of_the_stop_that_ended_it_everywhere",),
    ),
    _log("a pause ends a motion", "            if self._paused:\n                return None\n", ""),
    _log("a fault is a stop", "        if machine.latched:\n            return MotionOutcome.FAULT\n", ""),
    _log(
        "a motion that is held has ended",
        "if machine.state is State.STOPPING and machine.stop is StopSeverity.CATEGORY_2:",
        "if False:",
        f"{_RECORDS}::test_a_motion_that_is_held_and_goes_on_is_one",
    ),
    _log(
        "a harder stop does not end a motion",
        "if machine.state is State.STOPPING and machine.stop is StopSeverity.CATEGORY_2:",
        "if machine.state is State.STOPPING:",
        f"{_RECORDS}::test_a_stop_ends_a_motion",
    ),
    _log("what was paused and stopped was stopped", "MotionOutcome.ABANDONED if self._paused else", ""),
    _log(
        "parking never ends",
        "if machine.state is State.PARKED and kind == MotionKind.PARK and self._ended and not self._paused:",
        "if False:",
    ),
    _log("a park that was held and stopped is one that ended", " and self._ended and not self._paused:", ":"),
    _log("a path that was slowed down to a stand has ended", "return not self._slowed or ", "return True or "),
    _log(
        "a leg's test that was stopped has ended",
        "machine.state is not reached or machine.stops != self._stops",
        "False",
    ),
    Break(
        "the place of a motion that fails is that of its braking",
        "rig/engine/reference.py",
        "        return (self._left or self.source).path_time\n",
        "        return self.source.path_time\n",
        (_ENDS,),
    ),
    _report(
        "a motion cut off has reached nothing",
        "            self._follow_to_the_last_row(recording)\n",
        "            pass\n",
    ),
    _log("a motion begun ends none that is paused", "        self.abandon(t)\n", ""),
    _log("motions have one id", "1 if self.latest is None else self.latest.id + 1", "1"),
    _log("rows do not tell their motion", "return self.latest.id if self._under_way", "return 0 if self._under_way"),
    Break(
        "the engine does not follow its motions",
        "rig/engine/core.py",
        "        self.motions.follow(t)\n",
        "",
        (_RECORDS,),
    ),
    Break(
        "an abandoned motion goes on in the records",
        "rig/engine/operator.py",
        "        engine.motions.abandon(engine.tick.t)\n",
        "",
        (f"{_RECORDS}::test_a_paused_motion_that_is_given_up",),
    ),
    Break(
        "motions are lost when a recording is put together",
        "rig/recording/recovery.py",
        "                writer.motion(motion)",
        "                pass",
        (f"{_RECORDS}::test_a_cut_recording_keeps_its_motions_when_it_is_put_together",),
    ),
    Break(
        "records that are gone are not missed",
        "rig/recording/reader.py",
        "            counts.pop()  # made before there were such records",
        "            pass",
        (f"{_RECORDS}::test_a_recording_made_before_opens_and_is_reported_by_rows_and_sentences",),
    ),
    _report("older recordings have no motions", "        if not self.records:\n", "        if False:\n"),
    _report(
        "the headline is of a jog",
        "return motion.kind == MotionKind.RUN or (",
        "return motion.kind != MotionKind.PARK or (",
        "rig/test_report.py::test_the_headline_says_how_the_longest_motion_ended",
    ),
    Break(
        "numbers are of the connection",
        "rig/report/summary.py",
        "                places = np.flatnonzero(ids == number)",
        "                places = np.flatnonzero(ids >= 0)",
        (_RECORDS,),
    ),
    Break(
        "the demo's motion is as large on every machine",
        "rig/client/fitting.py",
        "if taken[worst] <= 1.0:",
        "if True:",
        ("rig/test_demo.py",),
    ),
]
