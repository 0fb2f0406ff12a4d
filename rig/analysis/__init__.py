"""What is found out from a rig's telemetry beyond its report: external wrench, payload, frequency response."""

from rig.analysis.false_alarms import alarm_threshold, crossing_probability
from rig.analysis.noise import ResidualNoise, learned_noise, stated_noise
from rig.analysis.recorded import RecordedRig, recorded_residuals, rig_of
from rig.analysis.residuals import Residuals, residuals_of
from rig.analysis.smoothing import Smoothing
from rig.analysis.weighing import Weighing, weighing_of, zero_of
from rig.analysis.wrench import BANDWIDTH, PER_HOUR, Contact, ContactLog, ExternalWrench, WrenchEstimator

__all__ = [
    "BANDWIDTH",
    "PER_HOUR",
    "Contact",
    "ContactLog",
    "ExternalWrench",
    "RecordedRig",
    "ResidualNoise",
    "Residuals",
    "Smoothing",
    "Weighing",
    "WrenchEstimator",
    "alarm_threshold",
    "crossing_probability",
    "learned_noise",
    "recorded_residuals",
    "residuals_of",
    "rig_of",
    "stated_noise",
    "weighing_of",
    "zero_of",
]
