"""Validation: how well the model predicts the measured forces, with uncertainties and a verdict."""

from rig.report.validation.blocks import BLOCKS, block_numbers
from rig.report.validation.paired import PairedTest
from rig.report.validation.run import validate
from rig.report.validation.verdict import judged

__all__ = ["BLOCKS", "PairedTest", "block_numbers", "judged", "validate"]
