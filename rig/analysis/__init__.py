"""What is found out from a rig's telemetry beyond its report: external wrench, payload, frequency response."""

from rig.analysis.bode import draw_bode
from rig.analysis.excitation import multisine
from rig.analysis.false_alarms import alarm_threshold, crossing_probability
from rig.analysis.frequency_responses import RecordedResponse, recorded_response
from rig.analysis.identification import TERM_NAMES, Identified, identify_recordings
from rig.analysis.noise import ResidualNoise, learned_noise, stated_noise
from rig.analysis.recorded import RecordedRig, recorded_calibration, recorded_parameters, recorded_residuals, rig_of
from rig.analysis.residuals import Residuals, residuals_of
from rig.analysis.response import Distortion, Grid, Response, frequency_response, steady_stretches, well_excited
from rig.analysis.response_fit import (
    Candidate,
    CommandHold,
    Note,
    Nuisance,
    ResponseFit,
    Structure,
    Verdict,
    fit_response,
)
from rig.analysis.response_words import described, notes_of
from rig.analysis.rest_detection import STILL, RecordedRests, recorded_rests, runs_of
from rig.analysis.segments import REPEATED, SHORTEST, ForceRecords, force_records, split
from rig.analysis.smoothing import NARROWEST, Smoothing
from rig.analysis.weighing import Stretch, Weighing, weighing_of
from rig.analysis.wrench import BANDWIDTH, PER_HOUR, Contact, ContactLog, ExternalWrench, WrenchEstimator
from rig.analysis.zero_order_hold import drive_forces

__all__ = [
    "BANDWIDTH",
    "NARROWEST",
    "PER_HOUR",
    "REPEATED",
    "SHORTEST",
    "STILL",
    "TERM_NAMES",
    "Candidate",
    "CommandHold",
    "Contact",
    "ContactLog",
    "Distortion",
    "ExternalWrench",
    "ForceRecords",
    "Grid",
    "Identified",
    "Note",
    "Nuisance",
    "RecordedResponse",
    "RecordedRests",
    "RecordedRig",
    "ResidualNoise",
    "Residuals",
    "Response",
    "ResponseFit",
    "Smoothing",
    "Stretch",
    "Structure",
    "Verdict",
    "Weighing",
    "WrenchEstimator",
    "alarm_threshold",
    "crossing_probability",
    "described",
    "draw_bode",
    "drive_forces",
    "fit_response",
    "force_records",
    "frequency_response",
    "identify_recordings",
    "learned_noise",
    "multisine",
    "notes_of",
    "recorded_calibration",
    "recorded_parameters",
    "recorded_residuals",
    "recorded_response",
    "recorded_rests",
    "residuals_of",
    "rig_of",
    "runs_of",
    "split",
    "stated_noise",
    "steady_stretches",
    "weighing_of",
    "well_excited",
]
