"""A rig's configuration: one TOML file, validated whole, with the mechanism, drives, cells, control and limits."""

from rig.config.drives import LegDrive, leg_section
from rig.config.files import beside, names_file
from rig.config.load_cells import LoadCells
from rig.config.rig_config import (
    RigConfig,
    cell_options,
    drive_options,
    in_real_time,
    load_config,
    parse_config,
    relaxed_bounds,
    relaxed_timing,
    shipped_configs,
)
from rig.config.sections import (
    Control,
    InjectedFault,
    Realtime,
    Safety,
    Virtual,
    VirtualCells,
    VirtualDrive,
)
from rig.config.validation import Validation

__all__ = [
    "Control",
    "InjectedFault",
    "LegDrive",
    "LoadCells",
    "Realtime",
    "RigConfig",
    "Safety",
    "Validation",
    "Virtual",
    "VirtualCells",
    "VirtualDrive",
    "beside",
    "cell_options",
    "drive_options",
    "in_real_time",
    "leg_section",
    "load_config",
    "names_file",
    "parse_config",
    "relaxed_bounds",
    "relaxed_timing",
    "shipped_configs",
]
