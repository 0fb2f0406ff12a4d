"""The session with one rig: its processes, state, commands and jobs."""

from gui.models import Phase, heavy_work_obstacle
from gui.session.frame_clock import FrameClock
from gui.session.job_runner import JobRunner, ReportMaker, error_text
from gui.session.mover import Mover
from gui.session.rig_session import RigSession
from gui.session.session_state import LogEntry
from gui.session.stop_everywhere import StopButton, StopEverywhere
from gui.session.stream_receiving import StreamReceiving
from gui.session.unit_following import UnitFollowing, named_unit
from gui.session.workers import Worker

__all__ = [
    "FrameClock",
    "JobRunner",
    "LogEntry",
    "Mover",
    "Phase",
    "ReportMaker",
    "RigSession",
    "StopButton",
    "StopEverywhere",
    "StreamReceiving",
    "UnitFollowing",
    "Worker",
    "error_text",
    "heavy_work_obstacle",
    "named_unit",
]
