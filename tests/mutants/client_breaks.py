"""What a client does by itself: a stop that reaches the engine, calls that end as they were told, the console."""

from breaks import Break

_OPEN = "rig/test_open.py"
_THREADS = "integration/test_scripting_threads.py"

CLIENT_BREAKS = [
    Break(
        "a client's stop needs the lease, and waits behind its other requests",
        "rig/client/live.py",
        "if isinstance(command, Stop):",
        "if False:",
        (f"{_OPEN}::test_a_stop_needs_no_lease_and_waits_behind_nobody",),
    ),
    Break(
        "a client's stop is asked for before its flag is raised",
        "rig/client/client.py",
        "        self.rig.raise_stop_flag(category)  # before all that may wait\n",
        "",
        (f"{_OPEN}::test_a_stop_raises_the_flag_before_it_asks",),
    ),
    Break(
        "a motion that is abandoned counts as followed",
        "rig/client/client.py",
        "            sequence.doubt(False)  # whoever runs it may see the engine forget it before the answer is here\n",
        "",
        (f"{_THREADS}::test_a_run_that_another_thread_abandons_has_not_come_to_its_end",),
    ),
    Break(
        "an interrupt ends what another thread waits for",
        "rig/client/interruption.py",
        "self._thread in (None, threading.get_ident())",
        "True",
        (f"{_THREADS}::test_an_interrupt_is_heard_by_the_main_thread_alone",),
    ),
    Break(
        "a Ctrl-C that a library caught is lost",
        "rig/client/interruption.py",
        "        yield\n        self._interrupt_if_pending()\n",
        "        yield\n",
        ("rig/test_interruption.py::test_one_that_a_library_caught_interrupts_all_the_same",),
    ),
    Break(
        "the console sends what is not possible now",
        "rig/cli/console_rig.py",
        "if found is not None and not found.passing:",
        "if False:",
        ("rig/test_console_and_engine.py",),
    ),
]
