"""A rig's configuration: one TOML file, validated whole, with the mechanism, drives, cells, control and limits."""

from rig.config.drives import LegDrive, leg_section
from rig.config.files import names_file, resolve_name
from rig.config.load_cells import LoadCells
from rig.config.relaxed import in_real_time, relaxed_bounds, relaxed_timing
from rig.config.rig_config import (
    LAW_GROUP,
    LAWS,
    RigConfig,
    cell_options,
    declared_laws,
    drive_options,
    load_config,
    parse_config,
    shipped_configs,
)
from rig.config.saving import save_own_thresholds, save_thresholds
from rig.config.sections import (
    Control,
    Line,
    Realtime,
    Safety,
)
from rig.config.shapes import MOST_TRIANGLES, Picture, Shape, read_shape
from rig.config.validation import (
    GIVEN,
    MOTION,
    PROPOSED,
    RIG,
    Validation,
    checked_thresholds,
    own_thresholds,
    parse_thresholds,
)
from rig.config.virtual_rig import (
    AT_PLATFORM,
    FAULT_WORDS,
    Hose,
    InjectedFault,
    PlantFriction,
    Tolerance,
    Virtual,
    VirtualCells,
    VirtualDrive,
    VirtualPlant,
    fault_words,
)

__all__ = [
    "AT_PLATFORM",
    "FAULT_WORDS",
    "GIVEN",
    "LAWS",
    "LAW_GROUP",
    "MOST_TRIANGLES",
    "MOTION",
    "PROPOSED",
    "RIG",
    "Control",
    "Hose",
    "InjectedFault",
    "LegDrive",
    "Line",
    "LoadCells",
    "Picture",
    "PlantFriction",
    "Realtime",
    "RigConfig",
    "Safety",
    "Shape",
    "Tolerance",
    "Validation",
    "Virtual",
    "VirtualCells",
    "VirtualDrive",
    "VirtualPlant",
    "cell_options",
    "checked_thresholds",
    "declared_laws",
    "drive_options",
    "fault_words",
    "in_real_time",
    "leg_section",
    "load_config",
    "names_file",
    "own_thresholds",
    "parse_config",
    "parse_thresholds",
    "read_shape",
    "relaxed_bounds",
    "relaxed_timing",
    "resolve_name",
    "save_own_thresholds",
    "save_thresholds",
    "shipped_configs",
]
