"""The recording: what is lost when its writer dies, and what is said of it."""

from breaks import Break

_DURABILITY = "rig/test_recording_durability.py"
_RECORDER = "rig/test_recorder_process.py"
_RECORDING = "rig/test_recording.py"


def _writer(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/recording/writer.py", old, new, tests)


def _recorder(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/recording/recorder.py", old, new, tests)


RECORDER_BREAKS = [
    _writer("nothing is asked onto the disk", "os.fdatasync(self._file.fileno())", "pass", _DURABILITY),
    _writer(
        "what is asked onto the disk is still in the process",
        "        self._file.flush()\n        os.fdatasync",
        "        os.fdatasync",
        _DURABILITY,
    ),
    _writer("chunks are ten times as long", "_CHUNK_TIME = 500_000_000", "_CHUNK_TIME = 5_000_000_000", _DURABILITY),
    _writer("chunks are ten times as large", "_CHUNK_SIZE = 64 * 1024", "_CHUNK_SIZE = 640 * 1024", _DURABILITY),
    _writer(
        "the cause of a fault waits for its chunk",
        "if level >= EventLevel.ERROR:",
        "if False:",
        f"{_RECORDING}::test_the_cause_of_a_fault_does_not_wait_for_its_chunk",
    ),
    _writer(
        "a recording is overwritten",
        '_Counted(self.path, "xb"',
        '_Counted(self.path, "wb"',
        f"{_RECORDING}::test_a_recording_is_never_overwritten",
    ),
    _writer(
        "a time that is no number is recorded",
        "if not (math.isfinite(t) and t >= 0):",
        "if False:",
        f"{_RECORDING}::test_bad_rows_and_events_are_refused",
    ),
    _recorder("the disk is asked ten times less often", "_SYNC = 0.5", "_SYNC = 5.0", _DURABILITY),
    _recorder(
        "rows that are lost are not said",
        "        if dropped:\n",
        "        if False:\n",
        f"{_RECORDER}::test_rows_lost_in_the_ring_are_counted",
    ),
    _recorder(
        "a recorder that hangs is healthy",
        "return status.healthy and silent < _STALL",
        "return status.healthy",
        f"{_RECORDER}::test_a_hanging_recorder_is_noticed_and_killed",
    ),
    _recorder(
        "a recorder that died is healthy",
        "        if not alive and status.phase in",
        "        if False and status.phase in",
        f"{_RECORDER}::test_the_recorder_is_killed",
    ),
    _recorder(
        "the recorder outlives its owner",
        '                self._closing = {"ended": "owner gone"}\n                return',
        "                return",
        f"{_RECORDER}::test_the_owner_dies",
    ),
    _recorder(
        "a file that is lost while it is written is not looked for",
        "                self._writer.verify()\n",
        "",
        f"{_RECORDER}::test_a_file_that_is_lost_while_it_is_written_is_a_fault_that_says_how",
    ),
    _recorder(
        "the room on the disk is not measured",
        "                self._measure_room(synced)\n",
        "",
        f"{_RECORDER}::test_how_long_there_is_room_for_is_measured_by_the_growth",
    ),
    _writer(
        "another file in the place of the recording is taken for it",
        "not os.path.samestat(own, there)",
        "False",
        f"{_RECORDER}::test_a_file_that_is_lost_while_it_is_written_is_a_fault_that_says_how",
    ),
    _writer(
        "a recording that somebody truncated is written on",
        "if own.st_size != written:",
        "if False:",
        f"{_RECORDER}::test_a_file_that_is_lost_while_it_is_written_is_a_fault_that_says_how",
    ),
    _writer(
        "a truncated recording gets a hole in the place of what it lost",
        "flags | os.O_APPEND",
        "flags",
        f"{_RECORDER}::test_a_file_that_is_lost_while_it_is_written_is_a_fault_that_says_how",
    ),
    _writer(
        "a file system that became read-only is not noticed",
        "& os.ST_RDONLY:",
        "& 0:",
        f"{_RECORDER}::test_a_file_system_that_has_become_read_only_is_a_fault",
    ),
    _writer(
        "a recording whose file is gone is closed in silence",
        "        self.sync()\n        self.verify()\n",
        "        self.sync()\n",
        f"{_RECORDER}::test_a_file_that_is_lost_at_the_end_is_not_closed_in_silence",
    ),
    Break(
        "a disk that is almost full is not warned of",
        "rig/engine/supervision.py",
        "        if room != self._room:\n",
        "        if False:\n",
        ("rig/test_engine_guards.py::test_a_disk_that_gets_full_is_warned_of_once_for_each_bound",),
    ),
    Break(
        "rows that are lost are no fault",
        "rig/recording/recorder.py",
        'the recorder does not keep up" if lost else',
        'the recorder does not keep up" if False else',
        (f"{_RECORDER}::test_rows_that_come_faster_than_they_are_written_are_waited_for_or_a_fault",),
    ),
    Break(
        "paced time does not wait for the recorder",
        "rig/recording/recorder.py",
        "if healthy and self._waits and",
        "if False and",
        (f"{_RECORDER}::test_rows_that_come_faster_than_they_are_written_are_waited_for_or_a_fault",),
    ),
]
