"""Comparison of several runs: overlaid curves, numbers and significant differences."""

from rig.report.comparison.differences import compared, comparison_text
from rig.report.comparison.page import write_comparison, write_comparison_pdf

__all__ = ["compared", "comparison_text", "write_comparison", "write_comparison_pdf"]
