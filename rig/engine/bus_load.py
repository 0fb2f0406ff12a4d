"""Whether the lines to drives and cells carry what is said on them in a cycle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from actuators import BusPlan
from rig.config import RigConfig
from rig.engine.devices import make_drive_group


@dataclass(frozen=True, slots=True)
class BusVerdict:
    """The plan of every line beside the time that replies may take.

    budget: s, `drives.reply_deadline` of a period. rate: Hz. carries: Hz, the highest rate at which all lines are done
    by then; infinite where there is none.
    """

    plans: tuple[BusPlan, ...]
    budget: float
    rate: float
    carries: float

    @property
    def passed(self) -> bool:
        """Whether every line carries the rate."""
        return self.rate <= self.carries

    @property
    def message(self) -> str:
        """Why not, which line it is and what it carries; empty if all do."""
        if self.passed:
            return ""
        slowest = max(self.plans, key=lambda plan: plan.time)
        return (
            f"the line {slowest.place} ({', '.join(slowest.devices)}) takes {slowest.time * 1e3:.3g} ms "
            f"for a cycle's {slowest.bytes} bytes and silences; replies have {self.budget * 1e3:.3g} ms at "
            f"{self.rate:g} Hz (drives.reply_deadline): it carries {math.floor(self.carries)} Hz at most"
        )

    @property
    def described(self) -> list[str]:
        """Every line with its share of the time, in words."""
        return [
            f"{plan.place}: {', '.join(plan.devices)}, {plan.bytes} bytes, {plan.time * 1e3:.3g} of "
            f"{self.budget * 1e3:.3g} ms for replies ({100.0 * plan.time / self.budget:.0f} %)"
            for plan in self.plans
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data; s and Hz."""
        return {
            "passed": self.passed,
            "message": self.message,
            "reply_time": self.budget,
            "highest_rate": self.carries if math.isfinite(self.carries) else None,
            "lines": [
                {"place": plan.place, "devices": list(plan.devices), "bytes": plan.bytes, "time": plan.time}
                for plan in self.plans
            ],
        }


def judge_buses(config: RigConfig, plans: Sequence[BusPlan]) -> BusVerdict:
    """Judge the plans of a configuration's lines at its rate."""
    share = config.drives.reply_deadline
    carries = min((share / plan.time for plan in plans if plan.time > 0.0), default=math.inf)
    return BusVerdict(tuple(plans), share * config.period, config.rate, carries)


def check_buses(config: RigConfig) -> BusVerdict:
    """Judge a configuration's lines, without opening any.

    Raises:
        ConfigurationError: a driver or profile does not take what is configured.
        CalibrationError: the load cells' calibration cannot be used.
    """
    return judge_buses(config, make_drive_group(config).plans)
