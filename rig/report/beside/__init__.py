"""Several runs side by side: their curves laid over each other, their numbers, and what differs between them."""

from rig.report.beside.comparison import compared, said_beside
from rig.report.beside.page import write_beside, write_beside_pdf

__all__ = ["compared", "said_beside", "write_beside", "write_beside_pdf"]
