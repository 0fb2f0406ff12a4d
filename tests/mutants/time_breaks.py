"""Paced time: a plant that is lost, and processes that no longer do their part."""

from breaks import Break

_LOST = "rig/test_paced_time.py::test_a_time_that_is_lost_is_said_and_taken_back"

TIME_BREAKS = [
    Break(
        "nobody hears that the plant goes by the wall clock",
        "rig/engine/pacer.py",
        "        if resumed:\n",
        "        if False:\n",
        (_LOST,),
    ),
    Break(
        "a plant that was lost is not taken back",
        "rig/engine/paced_ticker.py",
        "if pacer.recover():",
        "if False:",
        (_LOST,),
    ),
    Break(
        "a thread that computes hides a deadlock",
        "rig/runtime/process_watch.py",
        "computed = _stat(self._whole)[1]",
        "computed = _stat(self._main)[1]",
        ("rig/test_plant_clock.py::test_a_deadlock_is_not_hidden_by_a_thread_that_computes",),
    ),
    Break(
        "an engine that stands still within a cycle takes what follows from that for a fault of a leg",
        "rig/engine/core.py",
        "        supervision.host_suspended(t, exchanges.held)\n",
        "",
        ("integration/test_force_and_host_faults.py",),
    ),
]
