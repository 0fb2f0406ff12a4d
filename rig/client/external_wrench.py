"""The external wrench on a rig's platform, of its telemetry."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from calibration import ReadingsUncertainty, rounding_of_mean
from rig.analysis import (
    ExternalWrench,
    Residuals,
    Smoothing,
    WrenchEstimator,
    learned_noise,
    residuals_of,
    stated_noise,
)
from rig.client.telemetry import Telemetry
from rig.config import RigConfig
from rig.engine import cell_calibration
from rig.errors import InputError


def external_wrench(
    config: RigConfig,
    telemetry: Telemetry,
    *,
    bandwidth: float | None,
    false_alarms: float,
    quiet: Telemetry | None = None,
    model_sigma: float = 0.0,
) -> ExternalWrench:
    """The wrench on the platform over the cycles of `telemetry` since it last was without: `CommandSession.wrench`.

    Raises InputError where none of these cycles has the platform under power, or too few of them for the bandwidth;
    for a bandwidth or a rate of false alarms that cannot be; and for a quiet stretch that noise cannot be learned from.
    """
    smoothing = Smoothing(bandwidth, config.rate)
    drives = {"delay": config.drives.delay, "force_bandwidth": config.drives.force_bandwidth}

    def residuals(rows: npt.NDArray[np.void]) -> Iterator[Residuals]:
        return residuals_of([rows], config.machine, smoothing, config.control.coulomb_speed, drives)

    if quiet is None:
        rounding = rounding_of_mean(config.load_cells.noise, np.array(config.cell_steps)).max()
        noise = stated_noise(config.cell_noise, smoothing, float(np.hypot(model_sigma, rounding)))
    else:
        noise = learned_noise(list(residuals(quiet.rows)))
    unsure = ReadingsUncertainty(
        config.machine, config.parameter_files, config.control.coulomb_speed, cell_calibration(config)
    )
    estimator = WrenchEstimator(config.machine, smoothing, noise, false_alarms, unsure)
    found = [estimator.estimate(one) for one in residuals(telemetry.rows)]
    newest = found[-1] if found else None
    if newest is None or not np.any(newest.t >= telemetry.t[-1] - 2.0 * (smoothing.half + 1) / config.rate):
        least = (2 * smoothing.half + 1) / config.rate
        raise InputError(
            f"external wrench: the platform did not stand under power, its pose known, over the last {least:.3g} s"
        )
    return newest
