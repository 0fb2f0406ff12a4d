"""Exceptions of the dynamics package."""

import kinematics


class DynamicsError(ValueError):
    """The dynamics cannot be evaluated for an argument or a state."""


class SingularityError(DynamicsError, kinematics.SingularityError):
    """The leg forces are not determined at a pose: H is singular, or a leg is parallel to its universal axis."""


class NoPathError(DynamicsError):
    """No path satisfies the limits; the message gives the limits that the nearest one exceeds, and by how much."""


_LISTED_FAULTS = 30
"""Faults printed in a message; `faults` holds all of them."""


class MechanismError(DynamicsError):
    """A mechanism cannot be used; `faults` lists all reasons, `lines` are those of the message."""

    def __init__(self, source: str, faults: list[str]) -> None:
        """`source` names the mechanism (a file path or a name); the message is `source` and one fault per line."""
        self.source = source
        self.faults = faults
        more = len(faults) - _LISTED_FAULTS
        listed = [*faults[:_LISTED_FAULTS], *([f"and {more} more"] if more > 0 else [])]
        one = len(faults) == 1
        self.lines = [f"{source}: {faults[0]}"] if one else [f"{source}:", *(f"  {fault}" for fault in listed)]
        super().__init__("\n".join(self.lines))

    def __reduce__(self) -> tuple[type["MechanismError"], tuple[str, list[str]]]:
        """Pickle the two arguments, so that the error crosses a process boundary with all its data."""
        return type(self), (self.source, self.faults)


class ArmError(MechanismError):
    """An arm cannot be used, or its file not be read; `faults` lists all reasons."""
