"""Commissioning: a configuration drafted and written, drives asked, legs moved one at a time, load cells zeroed."""

from rig.commissioning.cycle_jitter import Steadiness, measure
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
from rig.commissioning.draft_drive import drafted_drive
from rig.commissioning.driver_settings import (
    OwnSetting,
    has_profile,
    own_settings,
    setting_value,
    speaks_modbus,
    usual_unit,
)
from rig.commissioning.found_drives import with_found
from rig.commissioning.leg_test import LatchedFaultError, NotHomedError, leg_recording, move_leg, run_leg_test
from rig.commissioning.naming import check_naming, name_calibration
from rig.commissioning.probe import DriveKind, LegProbe, Probe, compare, probe_drive, probe_drives, probe_rig
from rig.commissioning.serving import served
from rig.commissioning.zero import Zero, ZeroOptions, check_zero, measure_zero, zero_rig
from rig.engine import (
    LegMove,
    LegResult,
    LegTest,
    MoveBounds,
    check_move,
    move_bounds,
    put_on_record,
    record_path,
    strike_from_record,
)

__all__ = [
    "CellAmplifier",
    "Draft",
    "DriveAddress",
    "DriveKind",
    "LatchedFaultError",
    "LegMove",
    "LegProbe",
    "LegResult",
    "LegTest",
    "MoveBounds",
    "NotHomedError",
    "OwnSetting",
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
    "drafted_drive",
    "free_calibration_path",
    "has_profile",
    "leg_recording",
    "measure",
    "measure_zero",
    "move_bounds",
    "move_leg",
    "name_calibration",
    "own_settings",
    "placed_mechanism",
    "placed_profile",
    "probe_drive",
    "probe_drives",
    "probe_rig",
    "put_on_record",
    "record_path",
    "run_leg_test",
    "save_draft",
    "save_rig",
    "served",
    "setting_value",
    "speaks_modbus",
    "strike_from_record",
    "usual_unit",
    "with_found",
    "with_serials",
    "zero_rig",
]
