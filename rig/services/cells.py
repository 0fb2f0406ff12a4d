"""Load cells on a bench: gain, offset and polarity of each from readings under known masses."""

from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from calibration import (
    STANDARD_GRAVITY,
    CellMeasurements,
    CellsError,
    Limits,
    LoadCellCalibration,
    Provenance,
    judge,
    read_cell_measurements,
    save_cell_calibration,
)
from calibration import (
    calibrate_cells as fit_cells,
)
from dynamics import machine_size
from rig.config import load_config
from rig.errors import InputError, RefusedError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Contents

_NO_LIMIT = 1e6  # %, a bound that accepts anything
MASSES = (0.0, 5.0, 10.0, 20.0, 10.0, 5.0, 0.0)
"""kg, for each cell in order"""


@request
class CellsRequest:
    """Readings of the six cells under known masses: from a file, or from a rig's cells as they are loaded.

    Raises:
        InputError: neither or both of `config` and `data`, or an invalid number.
    """

    config: str | None = None
    """a configuration's file, or the name of a shipped one: its cells are read now; those of a virtual rig load
    themselves
    """
    data: Path | None = None
    """CSV file of earlier readings, columns cell,mass,reading,phase"""
    output: Path | None = None
    """calibration to write, never overwritten"""
    masses: tuple[float, ...] = MASSES
    """kg, for each cell in order, when a rig is read"""
    load: Literal["compression", "tension"] = "compression"
    """masses placed on the cell, or hung from it"""
    samples: Annotated[int, Field(ge=2, le=1_000_000)] = 200
    """samples averaged per reading, when a rig is read"""
    gravity: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] | None = None
    """m/s²; None: the mechanism's, or 9.80665"""
    drift_limit: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """N, limit of the zero's drift; None: 0.5 N, scaled by the machine's size"""
    nonlinearity_limit: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 0.5
    """% of the force range, limit of the residual beyond the noise"""
    unit: str = "N"
    """unit of the readings in `data`"""
    serials: Annotated[tuple[str, ...], Field(min_length=6, max_length=6)] = ("",) * 6
    """serial numbers of the six cells"""
    day: date | None = None
    """date of the calibration; None: today"""
    operator: str = ""
    """stored in the file, like the following"""
    place: str = ""
    weights: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CellsResult:
    """Result of the service.

    calibration: of the six cells, also if it is refused. measurements: its data. faults: by leg, for
    each cell; empty if there are none. calibration_file: the written file, or None.
    """

    calibration: LoadCellCalibration
    measurements: CellMeasurements
    faults: tuple[tuple[str, ...], ...]
    calibration_file: Path | None

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the faults of the calibration; empty if it is good and was written."""
        return tuple(reason for leg in self.faults for reason in leg)

    @property
    def refusal(self) -> str:
        """Return the faults as a message; empty if there are none."""
        return "\n  ".join(["calibration refused, nothing written", *self.refused]) if self.refused else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object: by leg the parameters, the drift, the readings and the faults."""
        calibration, drift = self.calibration, self.calibration.drift
        assert drift is not None
        gravity = calibration.gravity if calibration.load == "compression" else -calibration.gravity
        return {
            "verdict": "refused" if any(self.faults) else "ok",
            "date": calibration.date.isoformat(),
            "unit": calibration.unit,
            "load": calibration.load,
            "gravity": calibration.gravity,
            "cells": [
                {"leg": index + 1, "serial": calibration.serials[index]}
                | asdict(cell)
                | {
                    "drift_n": float(drift.force[index]),
                    "drift_bound_n": float(drift.bound[index]),
                    "faults": list(self.faults[index]),
                    "readings": [
                        {
                            "force_n": gravity * mass,
                            "residual_n": cell.signed_gain * (reading - cell.offset) - gravity * mass,
                        }
                        for mass, reading in zip(
                            self.measurements.loads[index].masses.tolist(),
                            self.measurements.loads[index].readings.tolist(),
                            strict=True,
                        )
                    ],
                }
                for index, cell in enumerate(calibration.cells)
            ],
            "paths": {"calibration": None if self.calibration_file is None else str(self.calibration_file)},
        }


def calibrate_cells(request: CellsRequest, progress: OnEvent = no_progress) -> CellsResult:
    """Fit gain, offset and polarity of each cell, check them, and write the calibration if it is within its bounds.

    On a real rig the user loads the cells, prompted by events with `waits`.

    Raises:
        InputError: the request, the file or the configuration.
        CalibrationFileError: the file exists already.
        HardwareError, ActuatorError: a device does not answer, or is commanded by an engine.
        RefusedError: readings that cannot be fitted.
    """
    _check_source(request)
    if request.output is not None:
        check_new_file(request.output)
    unit, gravity = request.unit, request.gravity
    if request.data is not None:
        progress(Progress("fitting-cells"))
        measurements, source = read_cell_measurements(request.data), f"file {request.data.name}"
    else:
        from rig.services.live_cells import record

        assert request.config is not None
        measurements, source, gravity = record(
            request.config, request.masses, request.samples, request.load, gravity, progress
        )
        unit = "N"
    drift_limit = request.drift_limit
    if drift_limit is None:
        drift_limit = Limits().drift
        if request.config is not None:
            drift_limit *= machine_size(load_config(request.config).nominal).force
    limits = Limits(drift=drift_limit, nonlinearity=request.nonlinearity_limit)

    def fitted(bounds: Limits) -> LoadCellCalibration:
        return fit_cells(
            measurements,
            date.today() if request.day is None else request.day,
            load=request.load,
            gravity=STANDARD_GRAVITY if gravity is None else gravity,
            limits=bounds,
            unit=unit,
            serials=list(request.serials),
            provenance=Provenance(request.operator, request.place, request.weights, source, request.note),
        )

    bent: tuple[tuple[str, ...], ...] = ((),) * 6
    try:
        calibration = fitted(limits)
    except CellsError as error:
        bent = error.by_leg
        try:
            calibration = fitted(replace(limits, nonlinearity=_NO_LIMIT))  # for display only
        except CellsError as worse:
            raise RefusedError("\n  ".join(["calibration refused, nothing written", *worse.faults])) from None
    faults = tuple((*fitting, *judged) for fitting, judged in zip(bent, judge(calibration, limits), strict=True))
    written = None if any(faults) else request.output
    if written is not None:
        save_cell_calibration(written, calibration)
    return CellsResult(calibration, measurements, faults, written)


def cells_contents(request: CellsRequest, progress: OnEvent = no_progress) -> Contents:
    """Return a description of the file's content, or of the readings to take, without connecting.

    Raises as `calibrate_cells` for faults known without readings.
    """
    _check_source(request)
    if request.config is not None:
        from rig.services.live_cells import describe

        return Contents(describe(request.config, request.masses))
    assert request.data is not None
    progress(Progress("fitting-cells"))
    measurements = read_cell_measurements(request.data)
    least = min(len(each.masses) for each in measurements.loads)
    tares = len(measurements.tare_before), len(measurements.tare_after)
    return Contents(f"{least} readings of each cell at least, {tares[0]} and {tares[1]} unloaded")


def _check_source(request: CellsRequest) -> None:
    if (request.config is None) == (request.data is None):
        raise InputError("give either a rig's configuration, such as virtual, or a file of readings")
