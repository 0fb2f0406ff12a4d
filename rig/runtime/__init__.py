"""Runtime of a rig's processes: folders, shared memory, clocks, and real-time scheduling."""

from rig.runtime import pace_messages
from rig.runtime.calls import CallProcess
from rig.runtime.process_watch import ProcessWatch, is_stopped
from rig.runtime.realtime import give_back_memory, prepare_process, return_large_blocks
from rig.runtime.ring import RingReader, TelemetryRing
from rig.runtime.runtime_folder import RuntimeFolder, folders, runtime_root, wait_until
from rig.runtime.sent_errors import describe_error, rebuild_error
from rig.runtime.shared_memory import ControlBlock, LeaseSign, SharedBlock, SharedMemoryError, StopRequest
from rig.runtime.spawning import (
    ChildDiedError,
    ChildLateError,
    ChildProcess,
    begin_server,
    check_open_files,
    start_shielded,
)
from rig.runtime.system_packages import NEEDED, missing_packages, needed_packages
from rig.runtime.ticker import (
    Cadence,
    Clock,
    MachineTicker,
    ManualClock,
    ManualTicker,
    MonotonicClock,
    Tick,
    Ticker,
    slowdown_text,
)

__all__ = [
    "NEEDED",
    "Cadence",
    "CallProcess",
    "ChildDiedError",
    "ChildLateError",
    "ChildProcess",
    "Clock",
    "ControlBlock",
    "LeaseSign",
    "MachineTicker",
    "ManualClock",
    "ManualTicker",
    "MonotonicClock",
    "ProcessWatch",
    "RingReader",
    "RuntimeFolder",
    "SharedBlock",
    "SharedMemoryError",
    "StopRequest",
    "TelemetryRing",
    "Tick",
    "Ticker",
    "begin_server",
    "check_open_files",
    "describe_error",
    "folders",
    "give_back_memory",
    "is_stopped",
    "missing_packages",
    "needed_packages",
    "pace_messages",
    "prepare_process",
    "rebuild_error",
    "return_large_blocks",
    "runtime_root",
    "slowdown_text",
    "start_shielded",
    "wait_until",
]
