"""Origin of a recording: its own metadata, and the file's hash."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calibration import CalibrationError, parse_cell_calibration, parse_parameters
from rig.recording import IMPORTED, Recorded

_PIECE = 1 << 20
_WITH_PLACES = ("drives", "load_cells")
_PLACE = ("host", "port", "device")


def source_of(recording: Recorded) -> dict[str, Any]:
    """Return `file`, `sha256` and `bytes` of the recording, `software`, `virtual`, `recorded` (UTC or null).

    `imported`: for another program's log, how `rig import` interpreted it, else null; `config_sha256` with
    `machine_sha256` (see there), `mechanism` with `mechanism_sha256`, `drives` (serial numbers, legs 1 to 6),
    `calibration` (of the cells: date and other origin data of its file) and `parameter_files` (kind, date,
    provenance); null or empty where not recorded. Hash and size are null without such a file.
    """
    header = recording.header
    config = header.get("config", {})
    wall = header.get("clock", {}).get("wall_ns", 0)
    legs = config.get("drives", {}).get("legs", [])
    return {
        "file": recording.path.name,
        **_hashed(recording.path),
        "complete": recording.complete,
        "imported": header.get(IMPORTED),
        "software": header.get("software"),
        "virtual": bool(header.get("virtual")),
        "recorded": datetime.fromtimestamp(wall / 1e9, UTC).isoformat(timespec="seconds") if wall else None,
        "config": config.get("name"),
        "config_sha256": header.get("config_sha256"),
        "machine_sha256": machine_sha256(header),
        "mechanism": config.get("mechanism"),
        "mechanism_sha256": header.get("mechanism_sha256"),
        "drives": [leg.get("serial") for leg in legs],
        "calibration": _calibration(header.get("calibration")),
        "parameter_files": [_parameters(name, text) for name, text in (header.get("parameters") or {}).items()],
        "operator": header.get("operator"),
        "note": header.get("note"),
    }


def machine_sha256(header: Mapping[str, Any]) -> str | None:
    """Return the configuration hash by which recordings are compared; None without a configuration.

    It leaves out the virtual rig's device addresses, which are free ones each time.
    """
    digest, config = header.get("config_sha256"), header.get("config")
    if digest is None or config is None or not header.get("virtual"):
        return digest
    public = {**config, **{name: _without_places(config.get(name)) for name in _WITH_PLACES}}
    return hashlib.sha256(json.dumps(public, sort_keys=True).encode(errors="surrogatepass")).hexdigest()


def _without_places(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_places(inner) for name, inner in value.items() if name not in _PLACE}
    return [_without_places(inner) for inner in value] if isinstance(value, list) else value


def _hashed(path: Path) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    try:
        with open(path, "rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
                size += len(piece)
    except OSError:
        return {"sha256": None, "bytes": None}
    return {"sha256": digest.hexdigest(), "bytes": size}


def _calibration(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    try:
        made = parse_cell_calibration(text)
    except CalibrationError:
        return {"sha256": sha256}
    origin = made.provenance
    names = getattr(origin, "__slots__", ())
    return {"sha256": sha256} | {str(name): str(getattr(origin, name)) for name in names}


def _parameters(name: str, text: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"file": name, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    try:
        file = parse_parameters(text, name)
    except CalibrationError:
        return entry
    origin: Mapping[str, str] = file.provenance
    return entry | {"kind": file.kind, "date": file.date.isoformat(), "provenance": dict(origin)}
