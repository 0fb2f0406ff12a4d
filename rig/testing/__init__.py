"""What a control law or a reference of another distribution must do: conformance suites for its tests."""

from rig.testing.failure import Failure
from rig.testing.laws import LAW_CHECKS, check_law
from rig.testing.references import SOURCE_CHECKS, check_source

__all__ = ["LAW_CHECKS", "SOURCE_CHECKS", "Failure", "check_law", "check_source"]
