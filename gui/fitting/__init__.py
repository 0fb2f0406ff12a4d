"""What wizards over a service of the rig are made of.

`FitWizard` has three steps: an `AskPage`, what came of it in a `ResultView`, and the file to be saved. The service runs
in a process of its own, and so does what looks into the files before.
"""

from gui.fitting.ask_page import AskPage, ProbedPage, ProbeFunction
from gui.fitting.configuring import cells_use, parameters_use
from gui.fitting.fields import FieldGrid, FileField, permit
from gui.fitting.job_request import JobRequest, Outcome, unless, values_of
from gui.fitting.parameter_view import CHANGES, ParameterTable, change
from gui.fitting.pictures import LEGS, BarPicture, PointPicture, Points
from gui.fitting.recordings_page import RecordingsPage, Role
from gui.fitting.result_view import EitherView, NumberTable, ResultView, outcome_text
from gui.fitting.store_page import Use
from gui.fitting.wizard import FitWizard

__all__ = [
    "CHANGES",
    "LEGS",
    "AskPage",
    "BarPicture",
    "EitherView",
    "FieldGrid",
    "FileField",
    "FitWizard",
    "JobRequest",
    "NumberTable",
    "Outcome",
    "ParameterTable",
    "PointPicture",
    "Points",
    "ProbeFunction",
    "ProbedPage",
    "RecordingsPage",
    "ResultView",
    "Role",
    "Use",
    "cells_use",
    "change",
    "outcome_text",
    "parameters_use",
    "permit",
    "unless",
    "values_of",
]
