"""The engine: the cyclic part of the rig, its states, its safety checks and the link by which clients command it."""

from rig.engine.checking import motion_verdict
from rig.engine.compiling import Compiling, ProgressCallback, receive_answer, send_compile_progress
from rig.engine.core import Engine
from rig.engine.cycle_data import CycleData, Readings, estimate_kernel
from rig.engine.devices import (
    cell_calibration,
    make_cells,
    make_drive,
    make_drive_group,
    virtual_port,
)
from rig.engine.drive_group import DriveGroup
from rig.engine.drive_lock import claim_addresses, claim_drives
from rig.engine.engine_discovery import EngineAddress, RunningEngine, find_engine, running_engines
from rig.engine.guards import STATES_OF, Obstacle, obstacle
from rig.engine.header import ClockPair, recording_header
from rig.engine.journal import note_departures
from rig.engine.laws import ControlLaw, ForceLaw, LawFault, loop_mode, make_law, needed_modes
from rig.engine.laws.kernels import (
    OBSERVER_ROWS,
    add_estimate_kernel,
    begin_observer_kernel,
    leg_feedback_kernel,
    length_set_points_kernel,
    note_command_kernel,
    observe_disturbance_kernel,
    observer_settings,
    task_motion_kernel,
)
from rig.engine.leg_check import check_move
from rig.engine.leg_move import LegMove, LegPhase, LegResult, LegTest, MoveBounds, move_bounds
from rig.engine.lines import BusVerdict, check_buses, judge_buses
from rig.engine.link import LinkClient, Submission
from rig.engine.loop import owner_gone
from rig.engine.messages import (
    LEAST_PACE,
    Abandon,
    Acquire,
    Connect,
    Disconnect,
    Engage,
    Follow,
    FollowSource,
    FollowStream,
    Home,
    MoveLeg,
    Note,
    NoteTuning,
    Pace,
    Park,
    Pause,
    Release,
    Reply,
    Report,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
)
from rig.engine.operator import Operator
from rig.engine.pacer import pace_path
from rig.engine.point_to_point import approach_move, move_speeds
from rig.engine.process import EngineProcess
from rig.engine.reference import RAMPS, Reference, ReferenceSource, straight_move
from rig.engine.snapshot import (
    DRIVE_STATES,
    REPLY_KINDS,
    CellsReport,
    DriveReport,
    Event,
    IoReport,
    ReplyCounts,
    Snapshot,
    Unproven,
)
from rig.engine.sources import (
    SOURCE_GROUP,
    SourceDeclaration,
    find_source,
    make_source,
    sample_source,
    source_names,
)
from rig.engine.stream import least_delay
from rig.engine.tare import exchanged_cells, reads_reversed
from rig.engine.warmup import kernels_of, rehearsed, warm_up
from rig.engine.wiring import put_on_record, record_path, strike_from_record
from rig.runtime import ControlBlock
from rig.safety import TORQUE_STATES

__all__ = [
    "DRIVE_STATES",
    "LEAST_PACE",
    "OBSERVER_ROWS",
    "RAMPS",
    "REPLY_KINDS",
    "SOURCE_GROUP",
    "STATES_OF",
    "TORQUE_STATES",
    "Abandon",
    "Acquire",
    "BusVerdict",
    "CellsReport",
    "ClockPair",
    "Compiling",
    "Connect",
    "ControlBlock",
    "ControlLaw",
    "CycleData",
    "Disconnect",
    "DriveGroup",
    "DriveReport",
    "Engage",
    "Engine",
    "EngineAddress",
    "EngineProcess",
    "Event",
    "Follow",
    "FollowSource",
    "FollowStream",
    "ForceLaw",
    "Home",
    "IoReport",
    "LawFault",
    "LegMove",
    "LegPhase",
    "LegResult",
    "LegTest",
    "LinkClient",
    "MoveBounds",
    "MoveLeg",
    "Note",
    "NoteTuning",
    "Obstacle",
    "Operator",
    "Pace",
    "Park",
    "Pause",
    "ProgressCallback",
    "Readings",
    "Reference",
    "ReferenceSource",
    "Release",
    "Reply",
    "ReplyCounts",
    "Report",
    "Reset",
    "Resume",
    "RigCommand",
    "RunningEngine",
    "Shutdown",
    "Snapshot",
    "SourceDeclaration",
    "Stop",
    "Submission",
    "Unproven",
    "add_estimate_kernel",
    "approach_move",
    "begin_observer_kernel",
    "cell_calibration",
    "check_buses",
    "check_move",
    "claim_addresses",
    "claim_drives",
    "estimate_kernel",
    "exchanged_cells",
    "find_engine",
    "find_source",
    "judge_buses",
    "kernels_of",
    "least_delay",
    "leg_feedback_kernel",
    "length_set_points_kernel",
    "loop_mode",
    "make_cells",
    "make_drive",
    "make_drive_group",
    "make_law",
    "make_source",
    "motion_verdict",
    "move_bounds",
    "move_speeds",
    "needed_modes",
    "note_command_kernel",
    "note_departures",
    "observe_disturbance_kernel",
    "observer_settings",
    "obstacle",
    "owner_gone",
    "pace_path",
    "put_on_record",
    "reads_reversed",
    "receive_answer",
    "record_path",
    "recording_header",
    "rehearsed",
    "running_engines",
    "sample_source",
    "send_compile_progress",
    "source_names",
    "straight_move",
    "strike_from_record",
    "task_motion_kernel",
    "virtual_port",
    "warm_up",
]
