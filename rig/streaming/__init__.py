"""A motion that is streamed in: its samples, and the ring that they come in by."""

from rig.streaming.samples import ACCELERATION, END, SAMPLE, VELOCITY, SampleRing, SampleRingError, Samples, new_samples

__all__ = [
    "ACCELERATION",
    "END",
    "SAMPLE",
    "VELOCITY",
    "SampleRing",
    "SampleRingError",
    "Samples",
    "new_samples",
]
