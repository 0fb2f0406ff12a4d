"""How well the model predicts what the cells measured, how sure that is, and whether it is good enough."""

from rig.report.validation.blocks import BLOCKS, block_numbers
from rig.report.validation.paired import PairedTest
from rig.report.validation.run import validate
from rig.report.validation.verdict import judged

__all__ = ["BLOCKS", "PairedTest", "block_numbers", "judged", "validate"]
