"""Commanding a rig from outside the engine: the steps of an operation, a whole run, and what became of the drives."""

from rig.client.arguments import ANGLE, ANGULAR_SPEED, AXES, LEGS, LENGTH, SPEED, TIME, Motion, jogged, speeds
from rig.client.client import RigClient
from rig.client.demo import DemoResult, as_built, expecting, identify_on, with_demo_thresholds
from rig.client.device_simulator import serve_twin
from rig.client.events import EventFollower, Listener, RowListener
from rig.client.excitation_file import excitation_for, write_excitation, write_weight_plan
from rig.client.game_pad import GamePad, PadReading
from rig.client.gamepad_mapping import DEAD_ZONE, GamepadMapping, JogRequest
from rig.client.hold_to_run import HoldToRunMotion, follow_hold_to_run, greatest_speed, hold_to_run_motion
from rig.client.identifiability import identifiability_of
from rig.client.interruption import HoldInterrupt, Interruption
from rig.client.lifecycle import (
    bring_to_rest,
    clear,
    connect_and_home,
    connect_for_state,
    has_stopped,
    leave,
    let_pass,
    stop,
)
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.monitor import monitor as monitor_device
from rig.client.motion_runner import Progress, begin, compiling_progress, finish, follow, move_to_start, perform
from rig.client.motions import approach, checked_motion, checked_move, ends, prepare_motion
from rig.client.named_store import NamedStore, text_fault
from rig.client.opening import open_rig
from rig.client.ports import free_ports, on_free_ports, on_ports
from rig.client.positions import Positions, name_fault, positions_path
from rig.client.post_mortem import LegPostMortem, ask_drives, describe_post_mortem, when_silent
from rig.client.reachable_range import FreeRange, free_range, search_limit, size_class, step_refusal
from rig.client.rig import FaultControl, Rig
from rig.client.runs import (
    RunResult,
    conduct,
    demo_trajectory,
    describe,
    execute,
    fitted_demo,
    new_recording,
    remove_empty,
    serve_virtual,
)
from rig.client.sequence import HOLD, MotionSequence, Order, Stage, stages_of_run
from rig.client.streaming import FOXGLOVE_PORT, PLOTJUGGLER_PORT, FoxgloveOutlet, PlotJugglerOutlet, stream
from rig.client.telemetry import Telemetry
from rig.client.template_sizing import fitted, template_motion
from rig.client.templates import TEMPLATES, Template
from rig.client.transitions import transition_durations

__all__ = [
    "ANGLE",
    "ANGULAR_SPEED",
    "AXES",
    "DEAD_ZONE",
    "FOXGLOVE_PORT",
    "HOLD",
    "LEGS",
    "LENGTH",
    "PLOTJUGGLER_PORT",
    "SPEED",
    "TEMPLATES",
    "TIME",
    "DemoResult",
    "EventFollower",
    "FaultControl",
    "FoxgloveOutlet",
    "FreeRange",
    "GamePad",
    "GamepadMapping",
    "HoldInterrupt",
    "HoldToRunMotion",
    "Interruption",
    "JogRequest",
    "LegPostMortem",
    "Listener",
    "LiveRig",
    "LockstepRig",
    "Motion",
    "MotionSequence",
    "NamedStore",
    "Order",
    "PadReading",
    "PlotJugglerOutlet",
    "Positions",
    "Progress",
    "Rig",
    "RigClient",
    "RowListener",
    "RunResult",
    "Stage",
    "Telemetry",
    "Template",
    "approach",
    "as_built",
    "ask_drives",
    "begin",
    "bring_to_rest",
    "checked_motion",
    "checked_move",
    "clear",
    "compiling_progress",
    "conduct",
    "connect_and_home",
    "connect_for_state",
    "demo_trajectory",
    "describe",
    "describe_post_mortem",
    "ends",
    "excitation_for",
    "execute",
    "expecting",
    "finish",
    "fitted",
    "fitted_demo",
    "follow",
    "follow_hold_to_run",
    "free_ports",
    "free_range",
    "greatest_speed",
    "has_stopped",
    "hold_to_run_motion",
    "identifiability_of",
    "identify_on",
    "jogged",
    "leave",
    "let_pass",
    "monitor_device",
    "move_to_start",
    "name_fault",
    "new_recording",
    "on_free_ports",
    "on_ports",
    "open_rig",
    "perform",
    "positions_path",
    "prepare_motion",
    "remove_empty",
    "search_limit",
    "serve_twin",
    "serve_virtual",
    "size_class",
    "speeds",
    "stages_of_run",
    "step_refusal",
    "stop",
    "stream",
    "template_motion",
    "text_fault",
    "transition_durations",
    "when_silent",
    "with_demo_thresholds",
    "write_excitation",
    "write_weight_plan",
]
