"""Several runs side by side: their curves laid over each other, their numbers, and what differs between them."""

from rig.report.comparison.differences import compared, said_beside
from rig.report.comparison.page import write_beside, write_beside_pdf

__all__ = ["compared", "said_beside", "write_beside", "write_beside_pdf"]
