"""The rig as the app holds it: its processes, its state, what can be done now, and telemetry in memory."""

from gui.models import Phase, heavy_work_obstacle
from gui.session.frame_clock import FrameClock
from gui.session.history import Excerpt, Floats, History, Rows, Stretch, Timeline, largest_amount
from gui.session.job_runner import JobRunner, ReportMaker, error_text
from gui.session.mover import Mover
from gui.session.rig_session import RigSession
from gui.session.session_state import LogEntry
from gui.session.stop_everywhere import StopButton, StopEverywhere
from gui.session.workers import Worker

__all__ = [
    "Excerpt",
    "Floats",
    "FrameClock",
    "History",
    "JobRunner",
    "LogEntry",
    "Mover",
    "Phase",
    "ReportMaker",
    "RigSession",
    "Rows",
    "StopButton",
    "StopEverywhere",
    "Stretch",
    "Timeline",
    "Worker",
    "error_text",
    "heavy_work_obstacle",
    "largest_amount",
]
