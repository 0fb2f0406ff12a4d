"""What `rig doctor` finds."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `fix` says what to do where it is not ok."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""
