"""The acceptance test of a motion base: its motions, numbers, verdicts and page."""

from rig.acceptance.measures import Curves, Measurer
from rig.acceptance.numbers import (
    SOURCES,
    AcceptanceTest,
    At,
    Basis,
    Condition,
    NotMeasurableError,
    Number,
    Quantity,
    Source,
    Verdict,
    overall,
)
from rig.acceptance.page import displayed, summary_of, write_acceptance
from rig.acceptance.performing import Acceptance, TestStoppedError, completed, evaluate, perform
from rig.acceptance.plan import Kind, Trial, acceptance_texts, planned
from rig.acceptance.sensors import Accelerometer, Alignment, Channel, Tracker
from rig.acceptance.signals import Sensors, signals_of

__all__ = [
    "SOURCES",
    "Accelerometer",
    "Acceptance",
    "AcceptanceTest",
    "Alignment",
    "At",
    "Basis",
    "Channel",
    "Condition",
    "Curves",
    "Kind",
    "Measurer",
    "NotMeasurableError",
    "Number",
    "Quantity",
    "Sensors",
    "Source",
    "TestStoppedError",
    "Tracker",
    "Trial",
    "Verdict",
    "acceptance_texts",
    "completed",
    "displayed",
    "evaluate",
    "overall",
    "perform",
    "planned",
    "signals_of",
    "summary_of",
    "write_acceptance",
]
