"""Findings of `rig doctor`."""

from dataclasses import dataclass
from typing import Any, Literal

from rig.errors import ConfigFault


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a check. `fix`: remedy if it is not ok; `faults`: those of a configuration."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""
    faults: tuple[ConfigFault, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-able data; `faults` only if there are any."""
        fields: dict[str, Any] = {"name": self.name, "status": self.status, "detail": self.detail, "fix": self.fix}
        return fields | {"faults": [fault.as_dict() for fault in self.faults]} if self.faults else fields
