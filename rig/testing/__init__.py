"""What a law, a reference or a reader of another distribution must do: conformance suites for its tests."""

from rig.testing.failure import Failure
from rig.testing.laws import LAW_CHECKS, check_law
from rig.testing.references import SOURCE_CHECKS, check_source
from rig.testing.sensors import SENSOR_CHECKS, check_sensor

__all__ = [
    "LAW_CHECKS",
    "SENSOR_CHECKS",
    "SOURCE_CHECKS",
    "Failure",
    "check_law",
    "check_sensor",
    "check_source",
]
