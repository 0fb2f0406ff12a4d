"""A motion that is streamed in: its samples, the ring that they come in by, and their way in from the network."""

from rig.streaming.intake import Intake, StreamStatus
from rig.streaming.packets import (
    FEEDBACK_SIZE,
    PACKET_SIZE,
    Drop,
    Feedback,
    PacketError,
    SetPoint,
    decode_feedback,
    decode_line,
    decode_set_point,
    encode_csv,
    encode_feedback,
    encode_json,
    encode_set_point,
    feedback_line,
    read_key,
)
from rig.streaming.receiver import ReceiverLoop, RigSide, StreamReceiver, open_endpoint, open_intake
from rig.streaming.samples import ACCELERATION, END, SAMPLE, VELOCITY, SampleRing, SampleRingError, Samples, new_samples
from rig.streaming.sender_clock import ClockEstimate, SenderClock

__all__ = [
    "ACCELERATION",
    "END",
    "FEEDBACK_SIZE",
    "PACKET_SIZE",
    "SAMPLE",
    "VELOCITY",
    "ClockEstimate",
    "Drop",
    "Feedback",
    "Intake",
    "PacketError",
    "ReceiverLoop",
    "RigSide",
    "SampleRing",
    "SampleRingError",
    "Samples",
    "SenderClock",
    "SetPoint",
    "StreamReceiver",
    "StreamStatus",
    "decode_feedback",
    "decode_line",
    "decode_set_point",
    "encode_csv",
    "encode_feedback",
    "encode_json",
    "encode_set_point",
    "feedback_line",
    "new_samples",
    "open_endpoint",
    "open_intake",
    "read_key",
]
