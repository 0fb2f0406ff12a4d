"""Calibrated parameters in a dated file, whatever was calibrated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import tomlkit

from calibration.errors import CalibrationFileError
from kinematics import Array, add_toml_entry

FILE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """One estimate: its name, a path in the mechanism's file; its nominal and estimated value and one σ, in `unit`."""

    name: str
    unit: str
    nominal: float
    value: float
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class ParameterFile:
    """What a calibration found, as a file of a given date holds it.

    kind: of calibration, such as "inertia" or "geometry". mechanism: name of the one that was calibrated.
    parameters: what was estimated; covariance: of the parameters, (n, n), or None where they are told one by one.
    nuisance: what was estimated beside them and is told only.
    provenance: who, from what, by which software; texts by name. findings: numbers of the result by name.
    """

    kind: str
    date: date
    mechanism: str
    parameters: tuple[Parameter, ...]
    nuisance: tuple[Parameter, ...] = ()
    covariance: Array | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    findings: Mapping[str, float | bool] = field(default_factory=dict)


def save_parameters(path: str | Path, file: ParameterFile) -> None:
    """Write a new parameter file; CalibrationFileError where it exists or cannot be written."""
    document = tomlkit.document()
    heading = {"version": FILE_VERSION, "kind": file.kind, "date": file.date, "mechanism": file.mechanism}
    for key, value in heading.items():
        add_toml_entry(document, key, value)
    for name, values in (("provenance", file.provenance), ("findings", file.findings)):
        table = tomlkit.table()
        for key, entry in values.items():
            add_toml_entry(table, key, entry)
        document.add(name, table)
    rows = tomlkit.aot()
    for each in file.parameters:
        row = tomlkit.table()
        for key in ("name", "unit", "nominal", "value", "sigma"):
            add_toml_entry(row, key, getattr(each, key))
        rows.append(row)
    document.add("parameters", rows)
    try:
        with open(path, "x", encoding="utf-8") as target:
            target.write(tomlkit.dumps(document))
    except OSError as error:
        raise CalibrationFileError(str(path), f"cannot be written: {error.strerror}") from None
