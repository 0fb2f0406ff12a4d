"""The virtual rig: the plant, its drives' and cells' behaviour and faults, and the process that serves them."""

from rig.virtual.faults import FAULTS, ActiveFault, Faults
from rig.virtual.free_motion import simulate
from rig.virtual.one_device import serve_device
from rig.virtual.plant import Plant
from rig.virtual.port import LegPort
from rig.virtual.process import RigView, VirtualRigProcess, serve_virtual_rig
from rig.virtual.truth import Truth, differs, truth_of, truth_path
from rig.virtual.virtual_rig import VirtualRig

__all__ = [
    "FAULTS",
    "ActiveFault",
    "Faults",
    "LegPort",
    "Plant",
    "RigView",
    "Truth",
    "VirtualRig",
    "VirtualRigProcess",
    "differs",
    "serve_device",
    "serve_virtual_rig",
    "simulate",
    "truth_of",
    "truth_path",
]
