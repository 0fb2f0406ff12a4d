"""The control laws by name, and what each declares, for everything that is not the law itself."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import FieldSerializationInfo, PlainSerializer, PlainValidator, TypeAdapter

from actuators import Declarations
from kinematics import Array
from rig.config.declarations import ExtensionSettings
from rig.config.sections import refused
from rig.config.task_gains import TaskGains
from rig.errors import ConfigError, ConfigFault
from rig.findings import Code, Finding

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig

LAW_GROUP = "stewart_rig.control_laws"
"""Entry-point group: name of a control law → its `LawDeclaration`."""
_FORMER_LAW_GROUP = "stewart_rig.laws"
"""The group as it was called before. In both an entry may name a class derived from `rig.engine.ControlLaw` instead,
which then has the defaults of `LawDeclaration`. This is the only place that knows of the former name."""


MOST_REMEMBERED = 8
"""numbers that a law may remember of each leg"""
_NEAR = 1e-9  # from 1, where a pole is looked for
_SLOWEST = 1e-5  # of the stiffness, which an integral must add in an exchange: it is there within 10⁵ of them


@dataclass(frozen=True, slots=True)
class LegFeedback:
    """Linear feedback at each leg: F = K_p e + K_d ė + C z, where z ← A z + B [e, ė] in each exchange, before F.

    stiffness: K_p, N/m. damping: K_d, N s/m. A (n, n), B (n, 2), C (n,): what the law remembers, by m and m/s, n at
    most `MOST_REMEMBERED`; none with n = 0. observer_bandwidth: Hz, of a disturbance observer on the model in
    addition; None for none.
    """

    stiffness: float
    damping: float
    A: Array = field(default_factory=lambda: np.zeros((0, 0)))
    B: Array = field(default_factory=lambda: np.zeros((0, 2)))
    C: Array = field(default_factory=lambda: np.zeros(0))
    observer_bandwidth: float | None = None

    def __post_init__(self) -> None:
        count = len(self.C)
        if (self.A.shape, self.B.shape, self.C.shape) != ((count, count), (count, 2), (count,)):
            shapes = f"A {self.A.shape}, B {self.B.shape}, C {self.C.shape}"
            raise ValueError(f"LegFeedback: shapes {shapes}, must be (n, n), (n, 2), (n,)")
        if count > MOST_REMEMBERED:
            raise ValueError(f"LegFeedback: {count} numbers are remembered of each leg, at most {MOST_REMEMBERED}")
        numbers = [self.stiffness, self.damping, *self.A.flat, *self.B.flat, *self.C]
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"LegFeedback: not all of its numbers are finite: {numbers}")

    @property
    def holds_weight(self) -> bool:
        """Whether it holds an unknown force at rest without an error, by observing it or integrating the error."""
        return self.observer_bandwidth is not None or (bool(len(self.C)) and self._integrates)

    @property
    def _integrates(self) -> bool:
        """Whether z has a pole at 1 that the error drives and the force has, and not too slow a one."""
        near = (1.0 + _NEAR) * np.eye(len(self.C)) - self.A
        gain = _NEAR * float(self.C @ np.linalg.solve(near, self.B[:, 0]))  # N/m, added in each exchange
        return gain > _SLOWEST * max(self.stiffness, 1.0)


@dataclass(frozen=True, slots=True)
class TaskFeedback:
    """Acceleration K_v ė + K_p e of the platform, by the inverse dynamics; bandwidth: Hz, if it gives the gains."""

    gains: TaskGains
    bandwidth: float | None = None


def leg_gains(config: RigConfig) -> LegFeedback:
    """The feedback of a law that has the stiffness and damping of [control] at each leg, and nothing else."""
    return LegFeedback(config.control.stiffness, config.control.damping)


def _no_faults(config: RigConfig) -> Iterator[ConfigFault]:
    yield from ()


@dataclass(frozen=True, slots=True)
class LawDeclaration:
    """What a control law declares.

    name: `mode` in a configuration. caption: its name for a person. law: its class, derived from
    `rig.engine.ControlLaw`, or "module:class", which is imported when a law is made. drives: what it commands, forces
    or lengths. feedback: of a configuration, the linear feedback by which stability, bandwidth and sag at home are
    judged; not asked where the drives close the loop. mixed: whether drives of some legs may close their own loops.
    settings: its own, the keys of [laws.NAME]. scaled: of these settings, the changes that give a bandwidth higher by a
    factor. conflicts: faults of a configuration with this law. compiled: its branch of the compiled closed loop
    (`rig/virtual/closed_loop`); "": offline the law itself computes, cycle by cycle.
    """

    name: str
    caption: str
    law: Any
    drives: Literal["force", "position"] = "force"
    feedback: Callable[[RigConfig], LegFeedback | TaskFeedback] = leg_gains
    mixed: bool = False
    settings: type[ExtensionSettings] = ExtensionSettings
    scaled: Callable[[Any, float], Mapping[str, Any]] = lambda _settings, _factor: {}
    conflicts: Callable[[RigConfig], Iterator[ConfigFault]] = _no_faults
    compiled: str = ""

    @property
    def own_loops(self) -> bool:
        """Whether the drives close their own position loops under it."""
        return self.drives == "position"

    def feedback_of(self, config: RigConfig) -> LegFeedback | TaskFeedback:
        """The declared feedback of a configuration.

        Raises:
            ConfigError: the declaration fails, or gives something else.
        """
        try:
            found = self.feedback(config)
        except Exception as error:  # of whatever kind, where it is somebody else's
            raise ConfigError(f"control law {self.name!r}: its feedback cannot be computed: {error}") from error
        if not isinstance(found, LegFeedback | TaskFeedback):
            raise ConfigError(f"control law {self.name!r}: its feedback is {found!r}, no LegFeedback or TaskFeedback")
        return found


# -- the laws of this program ------------------------------------------------------------------------------------------


def _task_feedback(config: RigConfig) -> TaskFeedback:
    gains = config.task_gains
    given = config.control.task_stiffness is None
    return TaskFeedback(gains, math.sqrt(float(gains.stiffness[0, 0])) / (2.0 * math.pi) if given else None)


def _observer_feedback(config: RigConfig) -> LegFeedback:
    control = config.control
    return LegFeedback(control.stiffness, control.damping, observer_bandwidth=control.observer_bandwidth)


def _observer_conflicts(config: RigConfig) -> Iterator[ConfigFault]:
    period = config.period
    if config.exchange_period > period:
        rate = int(1.0 / config.exchange_period * (1.0 + 1e-9))
        found = Finding(Code.OBSERVER_SLOW_DRIVES, 0, config.exchange_period, period, {"rate": rate})
        yield ConfigFault(("mode",), found)
    if config.drives.delay > period:
        yield ConfigFault(("mode",), Finding(Code.OBSERVER_DELAY, value=config.drives.delay, bound=period))


_PLACE = "rig.engine.laws"
_BUILT_IN = {
    law.name: law
    for law in (
        LawDeclaration(
            "force", "Force, with the exact feedforward", f"{_PLACE}.force:ForceLaw", mixed=True, compiled="force"
        ),
        LawDeclaration(
            "computed-torque", "Computed torque", f"{_PLACE}.computed_torque:ComputedTorqueLaw",
            feedback=_task_feedback, compiled="computed-torque",
        ),
        LawDeclaration(
            "observer", "Force, with a disturbance observer", f"{_PLACE}.observer:ObserverLaw",
            feedback=_observer_feedback, conflicts=_observer_conflicts, compiled="observer",
        ),
        LawDeclaration(
            "position", "Position, loop closed by the drives", f"{_PLACE}.position:PositionLaw", drives="position",
            compiled="position",
        ),
    )
}  # fmt: skip


# -- by name -----------------------------------------------------------------------------------------------------------

_LAWS = Declarations(
    "control law",
    LawDeclaration,
    LAW_GROUP,
    _FORMER_LAW_GROUP,
    built_in=tuple(EntryPoint(law.name, law.law, LAW_GROUP) for law in _BUILT_IN.values()),
    error=ConfigError,
    adapt=lambda name, found: LawDeclaration(name, name, found) if isinstance(found, type) else found,
)


def law_names() -> tuple[str, ...]:
    """Names of all control laws, those of this program first. Raises ConfigError if two share one."""
    return _LAWS.names()


def find_law(name: str) -> LawDeclaration:
    """The declaration of the control law called `name`.

    Raises:
        ConfigError: no such law, with the known names; its declaration cannot be loaded, or is none.
    """
    return _BUILT_IN.get(name) or _LAWS.find(name)


def usable_laws() -> tuple[LawDeclaration, ...]:
    """All control laws whose declarations can be loaded; the others are refused by `find_law` where they are named."""
    found = []
    for name in law_names():
        with contextlib.suppress(ConfigError):
            found.append(find_law(name))
    return tuple(found)


class LawTables(Mapping[str, ExtensionSettings]):
    """Settings by the name of the law; with a hash, as a configuration has one."""

    def __init__(self, tables: Mapping[str, ExtensionSettings]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> ExtensionSettings:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __hash__(self) -> int:
        return hash(frozenset(self._tables.items()))


def read_law_settings(data: object) -> LawTables:
    """Validate `data`, settings by the name of a law. Raises ValidationError."""
    if not isinstance(data, Mapping):
        raise refused("laws", "", data, "must be a table of tables")
    found: dict[str, ExtensionSettings] = {}
    for name, given in data.items():
        try:
            model = find_law(str(name)).settings
        except ConfigError as error:
            raise refused("laws", str(name), given, str(error)) from error
        if model is ExtensionSettings and given:
            raise refused("laws", str(name), given, f"control law {name!r} has no settings of its own")
        one = TypeAdapter(dict[str, model])  # type: ignore[valid-type]  # whose faults have the name in their place
        found |= one.validate_python({str(name): given})
    return LawTables(found)


def _written(tables: Mapping[str, ExtensionSettings], info: FieldSerializationInfo) -> dict[str, Any]:
    return {name: settings.model_dump(mode=info.mode) for name, settings in tables.items()}


AnyLaws = Annotated[Mapping[str, ExtensionSettings], PlainValidator(read_law_settings), PlainSerializer(_written)]
"""Settings by the name of the law, each validated by the model that the law declares."""
