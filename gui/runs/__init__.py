"""Runs in the app: the verdict after each, their list, and comparisons."""

from gui.runs.run_desk import RunDesk
from gui.runs.runs_page import RunsPage
from gui.runs.verdict_card import VerdictCard

__all__ = ["RunDesk", "RunsPage", "VerdictCard"]
