"""What the dynamics package raises."""

import kinematics


class DynamicsError(ValueError):
    """An argument or a state the dynamics cannot be evaluated for."""


class SingularityError(DynamicsError, kinematics.SingularityError):
    """A pose at which the leg forces are not determined: H is singular, or a leg lies along its universal axis."""


class NoPathError(DynamicsError):
    """No path keeps to the limits; the message says which the nearest one exceeds, and by how much."""


_LISTED_FAULTS = 30
"""Faults that a message prints; `faults` holds them all."""


class MechanismError(DynamicsError):
    """A mechanism that cannot be used; `faults` lists everything wrong with it, `lines` are those of the message."""

    def __init__(self, source: str, faults: list[str]) -> None:
        """`source` says which mechanism (a file's path, or a name); the message is it and all faults, one a line."""
        self.source = source
        self.faults = faults
        more = len(faults) - _LISTED_FAULTS
        listed = [*faults[:_LISTED_FAULTS], *([f"and {more} more"] if more > 0 else [])]
        one = len(faults) == 1
        self.lines = [f"{source}: {faults[0]}"] if one else [f"{source}:", *(f"  {fault}" for fault in listed)]
        super().__init__("\n".join(self.lines))

    def __reduce__(self) -> tuple[type["MechanismError"], tuple[str, list[str]]]:
        """Pickle by the two arguments, so that it crosses a process boundary whole."""
        return MechanismError, (self.source, self.faults)
