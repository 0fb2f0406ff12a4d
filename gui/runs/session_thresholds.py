"""By what runs are judged in this session, where that is not what was recorded with them."""

from dataclasses import dataclass
from pathlib import Path

from rig.config import Validation
from rig.runs import Listed


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """Thresholds in place of those recorded: of a configuration, or typed, which leave every other out.

    Without `thresholds`: as recorded.
    """

    thresholds: Validation | None = None
    config: Path | None = None
    """whose they are; None: typed"""

    @property
    def typed(self) -> bool:
        """Whether somebody typed them."""
        return self.thresholds is not None and self.config is None

    @property
    def options(self) -> list[str]:
        """The same as `rig runs` and `rig report` take it."""
        if self.thresholds is None:
            return []
        if self.config is not None:
            return ["--thresholds", str(self.config)]
        named = self.thresholds.named
        return [part for name, value in named.items() for part in ("--threshold", f"{name}={value!r}")]

    def verdict_on(self, listed: Listed) -> Listed:
        """A run with its verdict by these."""
        return listed if self.thresholds is None else listed.judged_by(self.thresholds, alone=self.typed)
