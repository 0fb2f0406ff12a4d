"""All wizards of the menu: loaded when the first of them is opened."""

from gui.calibrate.bench_wizard import BenchWizard
from gui.calibrate.closed_loop import ClosedLoopWizard
from gui.calibrate.design_wizards import ExciteWizard, MultisineWizard
from gui.calibrate.geometry_wizard import GeometryWizard
from gui.calibrate.in_place_wizard import InPlaceWizard
from gui.calibrate.respond_wizard import RespondWizard
from gui.calibrate.weigh_wizard import WeighWizard
from gui.identify import IdentifyWizard

__all__ = [
    "BenchWizard",
    "ClosedLoopWizard",
    "ExciteWizard",
    "GeometryWizard",
    "IdentifyWizard",
    "InPlaceWizard",
    "MultisineWizard",
    "RespondWizard",
    "WeighWizard",
]
