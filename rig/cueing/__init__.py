"""Motion cueing of a vehicle's motion on a machine: the motion, what is sensed, the fidelity, and a page of it."""

from rig.cueing.cueing import Cueing, Vehicle, cue, named_vehicle, read_vehicle
from rig.cueing.manoeuvres import MANOEUVRES
from rig.cueing.omct import FREQUENCIES, TESTS, Fidelity, ObjectiveTest, RigResponse, objective_test, read_response
from rig.cueing.page import MOTION_FILE, PAGE, SUMMARY, as_dict, check_cueing_folder, write_cueing

__all__ = [
    "FREQUENCIES",
    "MANOEUVRES",
    "MOTION_FILE",
    "PAGE",
    "SUMMARY",
    "TESTS",
    "Cueing",
    "Fidelity",
    "ObjectiveTest",
    "RigResponse",
    "Vehicle",
    "as_dict",
    "check_cueing_folder",
    "cue",
    "named_vehicle",
    "objective_test",
    "read_response",
    "read_vehicle",
    "write_cueing",
]
