"""The use cases: one typed function each, shared by command line, app and scripts.

A service takes a request and returns a result, both objects in SI units. It reports progress by events, never prints
and never asks the user. `start` runs any of them in a separate process. Each name is loaded at its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rig.services.acceptance import AcceptancePlan as AcceptancePlan
    from rig.services.acceptance import AcceptRequest as AcceptRequest
    from rig.services.acceptance import AcceptResult as AcceptResult
    from rig.services.acceptance import accept as accept
    from rig.services.acceptance import acceptance_tests as acceptance_tests
    from rig.services.acceptance import plan_acceptance as plan_acceptance
    from rig.services.arm import ArmCompareRequest as ArmCompareRequest
    from rig.services.arm import ArmCompareResult as ArmCompareResult
    from rig.services.arm import ArmControlRequest as ArmControlRequest
    from rig.services.arm import ArmCountRequest as ArmCountRequest
    from rig.services.arm import ArmCountResult as ArmCountResult
    from rig.services.arm import ArmForwardRequest as ArmForwardRequest
    from rig.services.arm import ArmInverseRequest as ArmInverseRequest
    from rig.services.arm import ArmSimulateRequest as ArmSimulateRequest
    from rig.services.arm import ArmTableResult as ArmTableResult
    from rig.services.arm import FormulationResult as FormulationResult
    from rig.services.arm import JointPeak as JointPeak
    from rig.services.arm import arm_compare as arm_compare
    from rig.services.arm import arm_control as arm_control
    from rig.services.arm import arm_count as arm_count
    from rig.services.arm import arm_forward as arm_forward
    from rig.services.arm import arm_inverse as arm_inverse
    from rig.services.arm import arm_simulate as arm_simulate
    from rig.services.arm import joint_columns as joint_columns
    from rig.services.arm import motion_columns as motion_columns
    from rig.services.arm import refuse_gains as refuse_gains
    from rig.services.arm_identification import ArmIdentifyRequest as ArmIdentifyRequest
    from rig.services.arm_identification import ArmIdentifyResult as ArmIdentifyResult
    from rig.services.arm_identification import arm_identify as arm_identify
    from rig.services.cells import CellsRequest as CellsRequest
    from rig.services.cells import CellsResult as CellsResult
    from rig.services.cells import calibrate_cells as calibrate_cells
    from rig.services.cells import cells_contents as cells_contents
    from rig.services.cells_in_place import CellsInPlaceRequest as CellsInPlaceRequest
    from rig.services.cells_in_place import CellsInPlaceResult as CellsInPlaceResult
    from rig.services.cells_in_place import PlanCellsRequest as PlanCellsRequest
    from rig.services.cells_in_place import PlanCellsResult as PlanCellsResult
    from rig.services.cells_in_place import calibrate_cells_in_place as calibrate_cells_in_place
    from rig.services.cells_in_place import cells_in_place_contents as cells_in_place_contents
    from rig.services.cells_in_place import plan_cells_contents as plan_cells_contents
    from rig.services.cells_in_place import plan_cells_in_place as plan_cells_in_place
    from rig.services.checking import CheckRequest as CheckRequest
    from rig.services.checking import CheckResult as CheckResult
    from rig.services.checking import check as check
    from rig.services.closed_loops import EqualLoop as EqualLoop
    from rig.services.closed_loops import LoopsRequest as LoopsRequest
    from rig.services.closed_loops import LoopsResult as LoopsResult
    from rig.services.closed_loops import compare_loops as compare_loops
    from rig.services.diagnosis import DoctorRequest as DoctorRequest
    from rig.services.diagnosis import DoctorResult as DoctorResult
    from rig.services.diagnosis import doctor as doctor
    from rig.services.driver_package import DriverPackageRequest as DriverPackageRequest
    from rig.services.driver_package import DriverPackageResult as DriverPackageResult
    from rig.services.driver_package import write_driver_package as write_driver_package
    from rig.services.engines import EngineFound as EngineFound
    from rig.services.engines import EngineRequest as EngineRequest
    from rig.services.engines import StopRequest as StopRequest
    from rig.services.engines import end_engine as end_engine
    from rig.services.engines import engine_process as engine_process
    from rig.services.engines import engine_status as engine_status
    from rig.services.engines import found_engine as found_engine
    from rig.services.engines import stop_engine as stop_engine
    from rig.services.excitation import ExciteRequest as ExciteRequest
    from rig.services.excitation import ExciteResult as ExciteResult
    from rig.services.excitation import MultisineRequest as MultisineRequest
    from rig.services.excitation import MultisineResult as MultisineResult
    from rig.services.excitation import excite as excite
    from rig.services.excitation import multisine as multisine
    from rig.services.exporting import ExportRequest as ExportRequest
    from rig.services.exporting import ExportResult as ExportResult
    from rig.services.exporting import export as export
    from rig.services.external_wrenches import WrenchRequest as WrenchRequest
    from rig.services.external_wrenches import WrenchResult as WrenchResult
    from rig.services.external_wrenches import external_wrench as external_wrench
    from rig.services.finding import Finding as Finding
    from rig.services.fmu_export import FmuRequest as FmuRequest
    from rig.services.fmu_export import FmuResult as FmuResult
    from rig.services.fmu_export import export_fmu as export_fmu
    from rig.services.following import FollowRequest as FollowRequest
    from rig.services.following import FollowResult as FollowResult
    from rig.services.following import StreamDelay as StreamDelay
    from rig.services.following import follow_stream as follow_stream
    from rig.services.geometry import GeometryRequest as GeometryRequest
    from rig.services.geometry import GeometryResult as GeometryResult
    from rig.services.geometry import PlanGeometryResult as PlanGeometryResult
    from rig.services.geometry import UnobservableGeometryError as UnobservableGeometryError
    from rig.services.geometry import calibrate_geometry as calibrate_geometry
    from rig.services.geometry import geometry_contents as geometry_contents
    from rig.services.geometry import homing_spread as homing_spread
    from rig.services.geometry import plan_geometry as plan_geometry
    from rig.services.geometry_summary import warning_words as warning_words
    from rig.services.identification import IdentifyRequest as IdentifyRequest
    from rig.services.identification import IdentifyResult as IdentifyResult
    from rig.services.identification import identify as identify
    from rig.services.identification import identify_contents as identify_contents
    from rig.services.job import CancelledError as CancelledError
    from rig.services.job import Event as Event
    from rig.services.job import Job as Job
    from rig.services.job import Notice as Notice
    from rig.services.job import OnEvent as OnEvent
    from rig.services.job import Progress as Progress
    from rig.services.job import no_progress as no_progress
    from rig.services.job import start as start
    from rig.services.log_import import ImportRequest as ImportRequest
    from rig.services.log_import import ImportResult as ImportResult
    from rig.services.log_import import import_log as import_log
    from rig.services.mechanism_study import StudyRequest as StudyRequest
    from rig.services.mechanism_study import StudyResult as StudyResult
    from rig.services.mechanism_study import study as study
    from rig.services.motion_cueing import CueRequest as CueRequest
    from rig.services.motion_cueing import CueResult as CueResult
    from rig.services.motion_cueing import cue as cue
    from rig.services.motion_cueing import save_tuning as save_tuning
    from rig.services.offline import AllPosesRequest as AllPosesRequest
    from rig.services.offline import AllPosesResult as AllPosesResult
    from rig.services.offline import InverseRequest as InverseRequest
    from rig.services.offline import InverseResult as InverseResult
    from rig.services.offline import LegLengthsRequest as LegLengthsRequest
    from rig.services.offline import LegLengthsResult as LegLengthsResult
    from rig.services.offline import PosesRequest as PosesRequest
    from rig.services.offline import PosesResult as PosesResult
    from rig.services.offline import find_all_poses as find_all_poses
    from rig.services.offline import follow_poses as follow_poses
    from rig.services.offline import inverse as inverse
    from rig.services.offline import inverse_kinematics as inverse_kinematics
    from rig.services.outputs import check_made_of as check_made_of
    from rig.services.path_planning import PathRequest as PathRequest
    from rig.services.path_planning import PathResult as PathResult
    from rig.services.path_planning import Pose as Pose
    from rig.services.path_planning import Six as Six
    from rig.services.path_planning import plan_path as plan_path
    from rig.services.payload import WeighRequest as WeighRequest
    from rig.services.payload import WeighResult as WeighResult
    from rig.services.payload import weigh as weigh
    from rig.services.payload import weigh_contents as weigh_contents
    from rig.services.reporting import RecordingReport as RecordingReport
    from rig.services.reporting import ReportRequest as ReportRequest
    from rig.services.reporting import ReportResult as ReportResult
    from rig.services.reporting import report as report
    from rig.services.response import RespondRequest as RespondRequest
    from rig.services.response import RespondResult as RespondResult
    from rig.services.response import respond as respond
    from rig.services.response import respond_contents as respond_contents
    from rig.services.run_lists import NoRunError as NoRunError
    from rig.services.run_lists import RunsRequest as RunsRequest
    from rig.services.run_lists import RunsResult as RunsResult
    from rig.services.run_lists import list_runs as list_runs
    from rig.services.running import DemoRequest as DemoRequest
    from rig.services.running import RunRequest as RunRequest
    from rig.services.running import demo as demo
    from rig.services.running import run as run
    from rig.services.running import run_config as run_config
    from rig.services.scanning import NoAnswerError as NoAnswerError
    from rig.services.scanning import ScanRequest as ScanRequest
    from rig.services.scanning import ScanResult as ScanResult
    from rig.services.scanning import scan as scan
    from rig.services.setting_up import Draft as Draft
    from rig.services.setting_up import LatchedFaultError as LatchedFaultError
    from rig.services.setting_up import LegRequest as LegRequest
    from rig.services.setting_up import LegResult as LegResult
    from rig.services.setting_up import LegTested as LegTested
    from rig.services.setting_up import NotHomedError as NotHomedError
    from rig.services.setting_up import ProbeRequest as ProbeRequest
    from rig.services.setting_up import ProbeResult as ProbeResult
    from rig.services.setting_up import ProofRequest as ProofRequest
    from rig.services.setting_up import SetupRequest as SetupRequest
    from rig.services.setting_up import SetupResult as SetupResult
    from rig.services.setting_up import move_leg as move_leg
    from rig.services.setting_up import probe as probe
    from rig.services.setting_up import record_proof as record_proof
    from rig.services.setting_up import set_up as set_up
    from rig.services.simulation import ForcesRequest as ForcesRequest
    from rig.services.simulation import ForcesResult as ForcesResult
    from rig.services.simulation import simulate_forces as simulate_forces
    from rig.services.sources import Contents as Contents
    from rig.services.stages import stage_name as stage_name
    from rig.services.stages import stage_text as stage_text
    from rig.services.stages import stage_texts as stage_texts
    from rig.services.streams import StreamRequest as StreamRequest
    from rig.services.streams import StreamResult as StreamResult
    from rig.services.streams import stream_telemetry as stream_telemetry
    from rig.services.studies import PaperRequest as PaperRequest
    from rig.services.studies import PaperResult as PaperResult
    from rig.services.studies import paper_studies as paper_studies
    from rig.services.studies import reproduce_papers as reproduce_papers
    from rig.services.templates import MotionRequest as MotionRequest
    from rig.services.templates import MotionResult as MotionResult
    from rig.services.templates import TemplateError as TemplateError
    from rig.services.templates import motion_templates as motion_templates
    from rig.services.templates import write_motion as write_motion
    from rig.services.tracked_poses import GeometryPosesRequest as GeometryPosesRequest
    from rig.services.tracked_poses import GeometryPosesResult as GeometryPosesResult
    from rig.services.tracked_poses import geometry_poses as geometry_poses
    from rig.services.workspaces import WorkspaceRequest as WorkspaceRequest
    from rig.services.workspaces import WorkspaceResult as WorkspaceResult
    from rig.services.workspaces import sweep_workspace as sweep_workspace
    from rig.services.zero import ZeroRequest as ZeroRequest
    from rig.services.zero import ZeroResult as ZeroResult
    from rig.services.zero import zero_cells as zero_cells

_NAMES = {
    "acceptance": (
        "AcceptancePlan",
        "AcceptRequest",
        "AcceptResult",
        "accept",
        "acceptance_tests",
        "plan_acceptance",
    ),
    "arm": (
        "ArmCompareRequest",
        "ArmCompareResult",
        "ArmControlRequest",
        "ArmCountRequest",
        "ArmCountResult",
        "ArmForwardRequest",
        "ArmInverseRequest",
        "ArmSimulateRequest",
        "ArmTableResult",
        "FormulationResult",
        "JointPeak",
        "arm_compare",
        "arm_control",
        "arm_count",
        "arm_forward",
        "arm_inverse",
        "arm_simulate",
        "joint_columns",
        "motion_columns",
        "refuse_gains",
    ),
    "arm_identification": ("ArmIdentifyRequest", "ArmIdentifyResult", "arm_identify"),
    "cells": ("CellsRequest", "CellsResult", "calibrate_cells", "cells_contents"),
    "cells_in_place": (
        "CellsInPlaceRequest",
        "CellsInPlaceResult",
        "PlanCellsRequest",
        "PlanCellsResult",
        "calibrate_cells_in_place",
        "cells_in_place_contents",
        "plan_cells_contents",
        "plan_cells_in_place",
    ),
    "checking": ("CheckRequest", "CheckResult", "check"),
    "closed_loops": ("EqualLoop", "LoopsRequest", "LoopsResult", "compare_loops"),
    "diagnosis": ("DoctorRequest", "DoctorResult", "doctor"),
    "driver_package": ("DriverPackageRequest", "DriverPackageResult", "write_driver_package"),
    "engines": (
        "EngineFound",
        "EngineRequest",
        "StopRequest",
        "end_engine",
        "engine_process",
        "engine_status",
        "found_engine",
        "stop_engine",
    ),
    "excitation": ("ExciteRequest", "ExciteResult", "MultisineRequest", "MultisineResult", "excite", "multisine"),
    "exporting": ("ExportRequest", "ExportResult", "export"),
    "external_wrenches": ("WrenchRequest", "WrenchResult", "external_wrench"),
    "finding": ("Finding",),
    "fmu_export": ("FmuRequest", "FmuResult", "export_fmu"),
    "following": ("FollowRequest", "FollowResult", "StreamDelay", "follow_stream"),
    "geometry": (
        "GeometryRequest",
        "GeometryResult",
        "PlanGeometryResult",
        "UnobservableGeometryError",
        "calibrate_geometry",
        "geometry_contents",
        "homing_spread",
        "plan_geometry",
    ),
    "tracked_poses": ("GeometryPosesRequest", "GeometryPosesResult", "geometry_poses"),
    "geometry_summary": ("warning_words",),
    "identification": ("IdentifyRequest", "IdentifyResult", "identify", "identify_contents"),
    "job": ("CancelledError", "Event", "Job", "Notice", "OnEvent", "Progress", "no_progress", "start"),
    "log_import": ("ImportRequest", "ImportResult", "import_log"),
    "mechanism_study": ("StudyRequest", "StudyResult", "study"),
    "motion_cueing": ("CueRequest", "CueResult", "cue", "save_tuning"),
    "offline": (
        "AllPosesRequest",
        "AllPosesResult",
        "InverseRequest",
        "InverseResult",
        "LegLengthsRequest",
        "LegLengthsResult",
        "PosesRequest",
        "PosesResult",
        "find_all_poses",
        "follow_poses",
        "inverse",
        "inverse_kinematics",
    ),
    "outputs": ("check_made_of",),
    "path_planning": ("PathRequest", "PathResult", "Pose", "Six", "plan_path"),
    "payload": ("WeighRequest", "WeighResult", "weigh", "weigh_contents"),
    "reporting": ("RecordingReport", "ReportRequest", "ReportResult", "report"),
    "response": ("RespondRequest", "RespondResult", "respond", "respond_contents"),
    "run_lists": ("NoRunError", "RunsRequest", "RunsResult", "list_runs"),
    "running": ("DemoRequest", "RunRequest", "demo", "run", "run_config"),
    "scanning": ("NoAnswerError", "ScanRequest", "ScanResult", "scan"),
    "setting_up": (
        "Draft",
        "LatchedFaultError",
        "LegRequest",
        "LegResult",
        "LegTested",
        "NotHomedError",
        "ProbeRequest",
        "ProbeResult",
        "ProofRequest",
        "SetupRequest",
        "SetupResult",
        "move_leg",
        "probe",
        "record_proof",
        "set_up",
    ),
    "simulation": ("ForcesRequest", "ForcesResult", "simulate_forces"),
    "sources": ("Contents",),
    "stages": ("stage_name", "stage_text", "stage_texts"),
    "streams": ("StreamRequest", "StreamResult", "stream_telemetry"),
    "studies": ("PaperRequest", "PaperResult", "paper_studies", "reproduce_papers"),
    "templates": ("MotionRequest", "MotionResult", "TemplateError", "motion_templates", "write_motion"),
    "workspaces": ("WorkspaceRequest", "WorkspaceResult", "sweep_workspace"),
    "zero": ("ZeroRequest", "ZeroResult", "zero_cells"),
}
"""Exported names by module of this package."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(_MODULES)
