"""All breaks, by what they break."""

from arm_breaks import ARM_BREAKS
from arm_identify_breaks import ARM_IDENTIFY_BREAKS
from bound_breaks import BOUND_BREAKS
from breaks import Break
from canopen_breaks import CANOPEN_BREAKS
from client_breaks import CLIENT_BREAKS
from command_breaks import COMMAND_BREAKS
from cueing_breaks import CUEING_BREAKS
from drive_breaks import DRIVE_BREAKS
from feedback_breaks import FEEDBACK_BREAKS
from fmu_breaks import FMU_BREAKS
from gains_breaks import GAINS_BREAKS
from geometry_breaks import GEOMETRY_BREAKS
from guard_breaks import GUARD_BREAKS
from guide_breaks import GUIDE_BREAKS
from hold_breaks import HOLD_BREAKS
from iai_breaks import IAI_BREAKS
from identify_breaks import IDENTIFY_BREAKS
from identity_breaks import IDENTITY_BREAKS
from io_breaks import IO_BREAKS
from jrk_breaks import JRK_BREAKS
from line_breaks import LINE_BREAKS
from link_breaks import LINK_BREAKS
from motion_breaks import MOTION_BREAKS
from number_breaks import NUMBER_BREAKS
from orca_breaks import ORCA_BREAKS
from pad_breaks import PAD_BREAKS
from profile_breaks import PROFILE_BREAKS
from receiver_breaks import RECEIVER_BREAKS
from recorder_breaks import RECORDER_BREAKS
from response_breaks import RESPONSE_BREAKS
from sampling_breaks import SAMPLING_BREAKS
from screen_breaks import SCREEN_BREAKS
from sensor_breaks import SENSOR_BREAKS
from service_breaks import SERVICE_BREAKS
from state_breaks import STATE_BREAKS
from stream_breaks import STREAM_BREAKS
from stream_fault_breaks import STREAM_FAULT_BREAKS
from study_breaks import STUDY_BREAKS
from time_breaks import TIME_BREAKS
from torque_breaks import TORQUE_BREAKS
from twin_breaks import TWIN_BREAKS
from uncertainty_breaks import UNCERTAINTY_BREAKS
from verdict_breaks import VERDICT_BREAKS
from weigh_breaks import WEIGH_BREAKS
from word_breaks import WORD_BREAKS

BREAKS: list[Break] = [
    *ARM_BREAKS,
    *ARM_IDENTIFY_BREAKS,
    *FEEDBACK_BREAKS,
    *BOUND_BREAKS,
    *STATE_BREAKS,
    *TIME_BREAKS,
    *TORQUE_BREAKS,
    *TWIN_BREAKS,
    *CANOPEN_BREAKS,
    *CLIENT_BREAKS,
    *COMMAND_BREAKS,
    *CUEING_BREAKS,
    *DRIVE_BREAKS,
    *FMU_BREAKS,
    *GAINS_BREAKS,
    *GEOMETRY_BREAKS,
    *IDENTIFY_BREAKS,
    *IO_BREAKS,
    *GUARD_BREAKS,
    *GUIDE_BREAKS,
    *HOLD_BREAKS,
    *IAI_BREAKS,
    *JRK_BREAKS,
    *IDENTITY_BREAKS,
    *LINE_BREAKS,
    *LINK_BREAKS,
    *MOTION_BREAKS,
    *NUMBER_BREAKS,
    *ORCA_BREAKS,
    *PAD_BREAKS,
    *PROFILE_BREAKS,
    *RECEIVER_BREAKS,
    *SENSOR_BREAKS,
    *RECORDER_BREAKS,
    *RESPONSE_BREAKS,
    *SAMPLING_BREAKS,
    *SCREEN_BREAKS,
    *SERVICE_BREAKS,
    *STREAM_BREAKS,
    *STREAM_FAULT_BREAKS,
    *STUDY_BREAKS,
    *UNCERTAINTY_BREAKS,
    *VERDICT_BREAKS,
    *WEIGH_BREAKS,
    *WORD_BREAKS,
]
