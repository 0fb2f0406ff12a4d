"""Calibration: data in, versioned parameters out.

Load cells: `tare`, `drift` and `fit_cell` are the pure steps, `calibrate_cells` does them for six cells and `judge`
says whether the result may be used; `shift_offsets` gives cells under a known load a new zero.
`LoadCellCalibration.apply` turns raw readings into forces, N, compression positive; `load_cell_calibration` and
`save_cell_calibration` keep it in a dated file that is never overwritten.
"""

from calibration.cells import (
    CellLoads,
    CellMeasurements,
    Limits,
    LoadCellCalibration,
    Provenance,
    calibrate_cells,
    identity,
    judge,
)
from calibration.errors import CalibrationError, CalibrationFileError
from calibration.file import (
    calibration_file_name,
    format_cell_calibration,
    load_cell_calibration,
    parse_cell_calibration,
    save_cell_calibration,
)
from calibration.fit import STANDARD_GRAVITY, CellCalibration, Load, fit_cell
from calibration.measurements import read_cell_measurements
from calibration.parameters import (
    Parameter,
    ParameterFile,
    format_parameters,
    load_parameters,
    overlaid,
    parse_parameters,
    save_parameters,
)
from calibration.payload import (
    CellZero,
    PayloadEstimate,
    PayloadSamples,
    fit_payload,
    loaded_platform,
    nominal_platform,
    payload_names,
    payload_sigma,
    payload_values,
)
from calibration.recording import CellBench, record_measurements
from calibration.taring import CELLS, Drift, Tare, drift, tare
from calibration.zero import shift_offsets

__all__ = [
    "CELLS",
    "STANDARD_GRAVITY",
    "CalibrationError",
    "CalibrationFileError",
    "CellBench",
    "CellCalibration",
    "CellLoads",
    "CellMeasurements",
    "CellZero",
    "Drift",
    "Limits",
    "Load",
    "LoadCellCalibration",
    "Parameter",
    "ParameterFile",
    "PayloadEstimate",
    "PayloadSamples",
    "Provenance",
    "Tare",
    "calibrate_cells",
    "calibration_file_name",
    "drift",
    "fit_cell",
    "fit_payload",
    "format_cell_calibration",
    "format_parameters",
    "identity",
    "judge",
    "load_cell_calibration",
    "load_parameters",
    "loaded_platform",
    "nominal_platform",
    "overlaid",
    "parse_cell_calibration",
    "parse_parameters",
    "payload_names",
    "payload_sigma",
    "payload_values",
    "read_cell_measurements",
    "record_measurements",
    "save_cell_calibration",
    "save_parameters",
    "shift_offsets",
    "tare",
]
