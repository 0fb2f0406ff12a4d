"""Reports on recordings: the numbers as one JSON object, the plots as one HTML file."""

from rig.report.html import write_report
from rig.report.summary import summarize

__all__ = ["summarize", "write_report"]
