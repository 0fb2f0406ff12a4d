"""Recordings whose rows have the layout of a version before this one."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from synthetic_rows import make_header, make_rows

from rig.recording import EventLevel, RecordingError, RecordingFile, RecordingWriter, open_recording
from rig.recording.schema import cycle_definition
from rig.telemetry import ABSENT, ROW


def _before_modes_by_leg() -> np.dtype[np.void]:
    """Rows as they were before each leg's own mode and set-point were in them."""
    fields = [(name, ROW[name].base, ROW[name].shape) for name in ROW.names or () if name not in ABSENT]
    return np.dtype([(name, kind, () if name == "mode" else shape) for name, kind, shape in fields], align=True)


def _old_recording(path: Path, monkeypatch: pytest.MonkeyPatch) -> npt.NDArray[np.void]:
    """A recording as it was written with such rows, of rows that are given back."""
    old = _before_modes_by_leg()
    assert old.itemsize == 1080 and old.fields is not None
    rows = np.frombuffer(np.random.default_rng(5).bytes(30 * old.itemsize), old).copy()
    rows["t"], rows["cycle"] = np.arange(30) * 2e-3, np.arange(30)
    packed_size = max(offset + kind.itemsize for kind, offset in (field[:2] for field in old.fields.values()))
    lines = [
        f"{kind.base.name}{f'[{np.prod(kind.shape):d}]' if kind.shape else ''} {name}  # meaning"
        for name, (kind, *_) in old.fields.items()
    ]
    with monkeypatch.context() as patch:
        patch.setattr("rig.recording.writer.cycle_definition", lambda: "\n".join(lines) + "\n")
        patch.setattr("rig.recording.writer.ROW", old)
        patch.setattr("rig.recording.writer.PACKED_SIZE", packed_size)
        with RecordingWriter(path, make_header(500.0)) as writer:
            writer.write_rows(rows[:12])
            writer.event(0.1, EventLevel.INFO, 0, "between them")
            writer.write_rows(rows[12:])
    return rows


def test_recordings_without_each_legs_mode_and_set_point_still_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _old_recording(tmp_path / "old.mcap", monkeypatch)
    recording = open_recording(tmp_path / "old.mcap")
    assert recording.complete and recording.rows.dtype == ROW and len(recording.events) == 1
    assert recording.header == make_header(500.0)
    for name in old.dtype.names or ():
        expected = old[name][:, np.newaxis] if name == "mode" else old[name]
        np.testing.assert_array_equal(recording.rows[name], np.broadcast_to(expected, recording.rows[name].shape))
    assert np.isnan(recording.rows["position_command"]).all() and not recording.rows["motion"].any()
    taken = RecordingFile(tmp_path / "old.mcap").take([0, 11, 12, 29])
    np.testing.assert_array_equal(taken["cycle"], [0, 11, 12, 29])


@pytest.mark.parametrize(
    "definition",
    [
        "float64 t\nuint8 other\n",
        "float64 t\n",
        cycle_definition().replace("float64[6] pose", "float64[5] pose").replace("float64[7] pose", "float64[5] pose"),
        cycle_definition().replace("float64[19] reference", "float32[19] reference"),
        cycle_definition().replace("uint64 cycle", "uint32 cycle"),
        cycle_definition() + "uint8 more\n",
    ],
)
def test_layouts_that_no_version_wrote_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, definition: str
) -> None:
    monkeypatch.setattr("rig.recording.writer.cycle_definition", lambda: definition)
    path = tmp_path / "old.mcap"
    with RecordingWriter(path, {}) as writer:
        writer.write_rows(make_rows(duration=0.1, rate=100.0)[:3])
    with pytest.raises(RecordingError, match="another layout"):
        open_recording(path)
