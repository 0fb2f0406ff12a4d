"""The virtual rig: plant, drives, load cells, faults, and the process that serves them."""

from rig.virtual.closed_loop import (
    LoopRun,
    LoopStart,
    Merit,
    controllers,
    cycle_times,
    force_bounds,
    merit,
    on_reference,
    run_loop,
)
from rig.virtual.faults import FAULTS, WHOLE_RIG, ActiveFault, Faults, fault_text
from rig.virtual.free_motion import Departure, simulate
from rig.virtual.mujoco_plant import MujocoPlant, mujoco_package
from rig.virtual.payload_unit import PayloadUnit, payload_of
from rig.virtual.plant import Plant, hose_wrenches, plant_mechanism, scaled_mechanism
from rig.virtual.port import LegPort
from rig.virtual.process import (
    LATE_WINDOW,
    RigView,
    TwinLateness,
    VirtualRigProcess,
    serve_virtual_rig,
)
from rig.virtual.truth import Truth, differs, truth_of, truth_path
from rig.virtual.virtual_rig import VirtualRig, kernels_of, serve_device

__all__ = [
    "FAULTS",
    "LATE_WINDOW",
    "WHOLE_RIG",
    "ActiveFault",
    "Departure",
    "Faults",
    "LegPort",
    "LoopRun",
    "LoopStart",
    "Merit",
    "MujocoPlant",
    "PayloadUnit",
    "Plant",
    "RigView",
    "Truth",
    "TwinLateness",
    "VirtualRig",
    "VirtualRigProcess",
    "controllers",
    "cycle_times",
    "differs",
    "fault_text",
    "force_bounds",
    "hose_wrenches",
    "kernels_of",
    "merit",
    "mujoco_package",
    "on_reference",
    "payload_of",
    "plant_mechanism",
    "run_loop",
    "scaled_mechanism",
    "serve_device",
    "serve_virtual_rig",
    "simulate",
    "truth_of",
    "truth_path",
]
