"""The study of a mechanism of one's own on a motion, as the papers study theirs."""

from rig.study.forces import JOINTS, MODELS, TERMS, Ends, ModelError, PathForces, force_terms
from rig.study.measures import Box, Decade, Exceeded, PathMeasures, path_box
from rig.study.page import PAGE, SECTIONS, SUMMARY, as_dict, check_study_folder, write_study
from rig.study.statements import Statement
from rig.study.study import Counts, MachineStudy, study_machine

__all__ = [
    "JOINTS",
    "MODELS",
    "PAGE",
    "SECTIONS",
    "SUMMARY",
    "TERMS",
    "Box",
    "Counts",
    "Decade",
    "Ends",
    "Exceeded",
    "MachineStudy",
    "ModelError",
    "PathForces",
    "PathMeasures",
    "Statement",
    "as_dict",
    "check_study_folder",
    "force_terms",
    "path_box",
    "study_machine",
    "write_study",
]
