"""The acceptance test of a motion base: its motions, numbers, verdicts and page."""

from rig.acceptance.measures import Curves, Measurer
from rig.acceptance.numbers import SOURCES, AcceptanceTest, Basis, Number, Source, Verdict, overall
from rig.acceptance.page import summary_of, write_acceptance
from rig.acceptance.performing import Acceptance, evaluate, perform
from rig.acceptance.plan import Kind, Trial, planned
from rig.acceptance.sensors import Accelerometer, Alignment, Tracker
from rig.acceptance.signals import Sensors, signals_of

__all__ = [
    "SOURCES",
    "Accelerometer",
    "Acceptance",
    "AcceptanceTest",
    "Alignment",
    "Basis",
    "Curves",
    "Kind",
    "Measurer",
    "Number",
    "Sensors",
    "Source",
    "Tracker",
    "Trial",
    "Verdict",
    "evaluate",
    "overall",
    "perform",
    "planned",
    "signals_of",
    "summary_of",
    "write_acceptance",
]
