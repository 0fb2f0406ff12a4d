"""A configuration for machines that others use too: patient, or on the wall clock."""

from rig.config.rig_config import RigConfig
from rig.config.sections import MOST_STALE_CYCLES, Safety

_PATIENCE = 0.5  # of a drive's watchdog


def relaxed_timing(config: RigConfig) -> RigConfig:
    """The configuration with the patience of half a drive watchdog for late replies and cycles.

    For a demonstration whose six drives are a process on a machine that others use too: a reply that is late there says
    something about the scheduler, nothing about a drive. A rig with real drives keeps its own bounds.
    """
    return config.changed({"safety": relaxed_bounds(config.drives.watchdog, config.rate, config.safety)})


def in_real_time(config: RigConfig) -> RigConfig:
    """The configuration with its virtual rig on the wall clock, as a machine is; one of real hardware as it is."""
    return config if config.virtual is None else config.changed({"virtual": {"real_time": True}})


def relaxed_bounds(watchdog: float, rate: float, own: Safety) -> dict[str, int | float]:
    """The bounds of `relaxed_timing` by their names: none lower than `own`, none that the schema refuses.

    Args:
        watchdog: of the drives, s; not checked yet, like `rate`.
        rate: Hz.
        own: bounds of the configuration.
    """
    cycles = int(max(0.0, min(float(MOST_STALE_CYCLES), _PATIENCE * watchdog * rate)))  # a number also for NaN
    overruns = max(cycles, own.overruns_in_a_row)
    if own.stale_time is not None:
        return {"stale_time": max(_PATIENCE * watchdog, own.stale_time), "overruns_in_a_row": overruns}
    return {"stale_cycles": max(cycles, own.stale_cycles), "overruns_in_a_row": overruns}
