"""What the forces at rest after homing tell of the drives' wiring, said or stopped for."""

from typing import TYPE_CHECKING

from rig.safety import ExchangeCheck

if TYPE_CHECKING:
    from rig.engine.core import Engine


def compare_forces(engine: "Engine", exchange: ExchangeCheck) -> None:
    """The forces at rest must have changed, while homing, as for the legs that the drives are configured for."""
    verdict = exchange.judge(engine.tick.t, engine.settled_for())
    if verdict is None:
        return
    if verdict.finding is not None:
        engine.trip(verdict.finding.cause, verdict.finding.category, unhome=verdict.finding.unhome)
    elif verdict.unclear and engine.config.drives.unidentified:
        engine.record("info", f"the forces do not tell whether drives are exchanged: {verdict.unclear}")
