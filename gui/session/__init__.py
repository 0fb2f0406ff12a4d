"""The rig as the app holds it: its processes, its state, what can be done now, and telemetry in memory."""

from gui.session.frame_clock import FrameClock
from gui.session.history import Excerpt, Floats, History, Rows, Stretch, Timeline, largest_amount
from gui.session.job_runner import JobRunner, error_text
from gui.session.log_entries import LogEntry
from gui.session.meter import CycleFigures
from gui.session.mover import Mover
from gui.session.report_maker import ReportMaker
from gui.session.rig_session import RigSession
from gui.session.rules import (
    Action,
    Phase,
    Repair,
    Situation,
    finding_against_heavy_work,
    heavy_work_obstacle,
    is_repaired,
    obstacle,
    repair_of,
)
from gui.session.state_words import STATE_WORDS, state_word
from gui.session.stop_everywhere import StopButton, StopEverywhere
from gui.session.workers import Worker

__all__ = [
    "STATE_WORDS",
    "Action",
    "CycleFigures",
    "Excerpt",
    "Floats",
    "FrameClock",
    "History",
    "JobRunner",
    "LogEntry",
    "Mover",
    "Phase",
    "Repair",
    "ReportMaker",
    "RigSession",
    "Rows",
    "Situation",
    "StopButton",
    "StopEverywhere",
    "Stretch",
    "Timeline",
    "Worker",
    "error_text",
    "errors_and_warnings",
    "finding_against_heavy_work",
    "heavy_work_obstacle",
    "in_a_line",
    "is_repaired",
    "largest_amount",
    "obstacle",
    "repair_of",
    "state_word",
]
