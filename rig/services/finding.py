"""What `rig doctor` finds."""

from dataclasses import dataclass
from typing import Any, Literal

from rig.errors import ConfigFault


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `fix` says what to do where it is not ok, `faults` what of a configuration is not."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""
    faults: tuple[ConfigFault, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able data; `faults` only where there are any."""
        told: dict[str, Any] = {"name": self.name, "status": self.status, "detail": self.detail, "fix": self.fix}
        return told | {"faults": [fault.as_dict() for fault in self.faults]} if self.faults else told
