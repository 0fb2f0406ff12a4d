"""Real-time settings of the operating system for a steady cycle, used if permitted and else reported; and memory."""

import ctypes
import gc
import os
import sys
from collections.abc import Callable

_MCL_CURRENT_AND_FUTURE = 3
_MCL_ONFAULT = 4  # a page is locked once it was used: most of the compiler's never is
_PR_SET_TIMERSLACK = 29
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGE = 1 << 20
_SWITCH_INTERVAL = 2e-4  # s; a client's request must not hold the interpreter for longer than a part of a cycle


def prepare_process(cpu: int | None, priority: int | None, *, lock: bool = True) -> tuple[str, ...]:
    """Set up the calling thread for cyclic work, after everything is loaded; one line for each thing granted or not.

    Garbage collection is frozen and switched off, memory locked, timers sharpened, the thread pinned and given
    SCHED_FIFO if requested.

    Args:
        cpu: processor to stay on.
        priority: 1 to 99.
        lock: whether to lock the memory.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    notes = [*([_lock_memory()] if lock else []), _sharpen_timers()]
    if cpu is not None:
        notes.append(_attempt(f"pinned to processor {cpu}", _pin, cpu))
    if priority is not None:
        notes.append(_attempt(f"SCHED_FIFO {priority}", _prioritise, priority))
    return tuple(notes)


def give_back_memory() -> None:
    """Return freed memory to the system, if the C library can."""
    _libc_call("malloc_trim", 0)


def return_large_blocks() -> None:
    """Have the C library return freed blocks of `_LARGE` bytes and more to the system at once, if it can.

    By itself it keeps ever larger ones, up to 32 MB, between others that are in use.
    """
    for parameter in (_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD):
        _libc_call("mallopt", parameter, _LARGE)


def _pin(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})


def _prioritise(priority: int) -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def _attempt(what: str, action: Callable[[int], None], value: int) -> str:
    try:
        action(value)
    except (OSError, AttributeError) as error:
        return f"not {what}: {error}"
    return what


def _lock_memory() -> str:
    used_or_all = (_MCL_CURRENT_AND_FUTURE | _MCL_ONFAULT, _MCL_CURRENT_AND_FUTURE)  # the first: Linux 4.4 and newer
    if any(_libc_call("mlockall", pages) for pages in used_or_all):
        return "memory locked"
    return "memory not locked: not permitted"


def _sharpen_timers() -> str:
    if _libc_call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0):
        return "timer slack 1 ns"
    return "timer slack unchanged: not permitted"


def _libc_call(name: str, *arguments: int) -> bool:
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return False
    return int(function(*(ctypes.c_long(argument) for argument in arguments))) == 0
