"""Commissioning: a configuration drafted and written, drives asked, legs moved one at a time, load cells zeroed."""

from rig.commissioning.devices import check_devices
from rig.commissioning.draft import (
    CellAmplifier,
    Draft,
    DriveAddress,
    draft_config,
    draft_faults,
    draft_text,
    free_calibration_path,
    placed_mechanism,
    placed_profile,
    save_draft,
    save_rig,
    with_serials,
)
from rig.commissioning.leg_move import LegMove, LegProgress, LegResult, MoveBounds, check_move, move_bounds
from rig.commissioning.leg_process import LegTest, run_leg_test
from rig.commissioning.leg_run import LatchedFaultError, NotHomedError
from rig.commissioning.naming import check_naming, name_calibration
from rig.commissioning.probe import DriveKind, LegProbe, Probe, compare, probe_drive, probe_drives, probe_rig
from rig.commissioning.serving import served
from rig.commissioning.steadiness import Steadiness, measure
from rig.commissioning.zero import Zero, ZeroOptions, check_zero, measure_zero, zero_rig

__all__ = [
    "CellAmplifier",
    "Draft",
    "DriveAddress",
    "DriveKind",
    "LatchedFaultError",
    "LegMove",
    "LegProbe",
    "LegProgress",
    "LegResult",
    "LegTest",
    "MoveBounds",
    "NotHomedError",
    "Probe",
    "Steadiness",
    "Zero",
    "ZeroOptions",
    "check_devices",
    "check_move",
    "check_naming",
    "check_zero",
    "compare",
    "draft_config",
    "draft_faults",
    "draft_text",
    "free_calibration_path",
    "measure",
    "measure_zero",
    "move_bounds",
    "name_calibration",
    "placed_mechanism",
    "placed_profile",
    "probe_drive",
    "probe_drives",
    "probe_rig",
    "run_leg_test",
    "save_draft",
    "save_rig",
    "served",
    "with_serials",
    "zero_rig",
]
