"""What `rig report` writes and says beside its page: figures, PDF, recordings side by side, provenance, the band."""

import hashlib
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_rows import make_header, make_rows

from calibration import Parameter, ParameterFile, save_parameters
from dynamics import load_mechanism
from rig.cli import main
from rig.errors import ExitCode
from rig.recording import Recording, RecordingWriter
from rig.report import source_of, summarize, validate

RATE = 250.0


def header_of(**validation: float) -> dict[str, Any]:
    text = load_mechanism("lab-hexapod").source
    header = make_header(RATE)
    digest = hashlib.sha256(text.encode()).hexdigest()
    config = header["config"] | {"validation": validation}
    hashed = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    return header | {"mechanism": text, "mechanism_sha256": digest, "config": config, "config_sha256": hashed}


def written(path: Path, *, bias: float = 0.2, **validation: float) -> Path:
    writer = RecordingWriter(path, header_of(**validation))
    writer.write_rows(make_rows(6.0, RATE, bias=bias))
    writer.close({})
    return path


@pytest.mark.usefixtures("undrawn_reports")
def test_recordings_are_set_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(written(tmp_path / "a.mcap")), str(written(tmp_path / "b.mcap", bias=1.0))]
    assert main(["report", *paths, "--json", "--no-models"]) == ExitCode.OK
    result = json.loads(capsys.readouterr().out)
    first, second = result["comparison"]
    assert not first["rms_n"]["differs"] and second["rms_n"]["differs"] and not second["lag_beyond_hold_s"]["differs"]
    assert second["same_mechanism"] and second["same_config"]
    assert len(result["recordings"]) == 2
    assert main(["report", *paths, "--figures", str(tmp_path / "x")]) == ExitCode.INPUT


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize(("wanted", "verdict"), [(2.0, "pass"), (0.2, "fail"), (None, None)])
def test_the_verdict_is_said_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: float | None, verdict: str | None
) -> None:
    path = written(tmp_path / "a.mcap", **({} if wanted is None else {"residual_rms": wanted}))
    main(["report", str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["validation"]["verdict"] == verdict
    main(["report", str(path)])
    said = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("verdict"))
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (verdict or "none") in said and f"Model {verdict or 'none'}" in page


def test_figures_and_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.report.html.figures", lambda *_: {})
    monkeypatch.setattr("rig.report.figures.FIGURES", ("timeline",))
    path = written(tmp_path / "a.mcap")
    wanted = ["--figures", str(tmp_path / "figures"), "--pdf", str(tmp_path / "a.pdf"), "--no-models"]
    main(["report", str(path), *wanted])
    names = sorted(one.name for one in (tmp_path / "figures").iterdir())
    assert names == [f"{name}.{ending}" for name in ("dependence", "spectrum", "timeline") for ending in ("pdf", "svg")]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert not list(tmp_path.glob(".*.part"))


def test_where_a_recording_comes_from(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mcap")
    made = Recording(path, header_of(), make_rows(1.0, RATE), (), dropped=0, complete=True, closing={})
    source = source_of(made)
    assert source["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source["bytes"] == path.stat().st_size
    assert source["recorded"] == "2023-11-14T22:13:20+00:00"
    assert source_of(replace(made, path=Path("gone.mcap")))["sha256"] is None


def test_the_band_has_the_parameters_in_it(tmp_path: Path) -> None:
    """Of a platform's mass that is known to 1 kg: as much as other masses make of the cells' readings."""
    rows = make_rows(6.0, RATE)
    made = Recording(Path("a.mcap"), header_of(), rows, (), dropped=0, complete=True, closing={})
    machine = load_mechanism("lab-hexapod")
    mass = Parameter("platform.mass", "kg", machine.mass, machine.mass, 1.0)
    file = ParameterFile("inertia", date(2026, 1, 2), machine.name, (mass,))
    save_parameters(tmp_path / "p.toml", file)
    summary = summarize(made)
    plain = validate(made, summary)["band"]
    wide = validate(made, summary, parameters=[file])["band"]
    assert plain["inside_band"] < wide["inside_band"]
    assert plain["inside_band"] == pytest.approx(plain["expected_inside"], abs=0.02)
    assert max(plain["parameters_sigma_n"]) == 0.0
    weight = np.linalg.norm(machine.gravity) / 6  # of a kilogram on each of six legs, more as they lean
    assert weight < min(wide["parameters_sigma_n"]) < max(wide["parameters_sigma_n"]) < 3 * weight
    assert main(["report", "gone.mcap", "--parameters", str(tmp_path / "none.toml")]) != ExitCode.OK
