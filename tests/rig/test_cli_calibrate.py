"""`rig calibrate cells`: from data to a dated file, and every refusal with its exit code and nothing written."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from bench_readings import BIAS, GAIN, MASSES, SIGN, write_table
from typer.testing import CliRunner, Result

from calibration import load_cell_calibration
from rig.cli.calibrate import app
from rig.errors import RefusedError


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["cells", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_data_becomes_a_dated_file(folder: Path) -> None:
    write_table(folder / "data.csv")
    result = run(
        "--data", "data.csv", "--date", "2026-11-21", "--operator", "A. Nother", "--place", "lab", "--weights", "M1",
        "--serials", "a,b,c,d,e,f", "--note", "first",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert 'calibration = "cells-2026-11-21.toml"' in result.output
    assert result.output.count("ok") == 6
    calibration = load_cell_calibration(folder / "cells-2026-11-21.toml")
    assert calibration.date == date(2026, 11, 21)
    errors = np.array([[cell.gain_standard_error, cell.offset_standard_error] for cell in calibration.cells])
    assert (np.abs(calibration.gain - SIGN * GAIN) < 4.0 * errors[:, 0]).all()
    assert (np.abs(calibration.offset - BIAS) < 4.0 * errors[:, 1]).all()
    assert calibration.serials == ("a", "b", "c", "d", "e", "f")
    assert calibration.provenance.operator == "A. Nother"
    assert calibration.provenance.source == "file data.csv"
    assert sorted(entry.name for entry in folder.iterdir()) == ["cells-2026-11-21.toml", "data.csv"]


def test_hung_masses_turn_the_polarity(folder: Path) -> None:
    write_table(folder / "data.csv", load=-1.0)
    assert run("--data", "data.csv", "--load", "tension", "-o", "right.toml").exit_code == 0
    assert [cell.polarity for cell in load_cell_calibration("right.toml").cells] == SIGN.tolist()
    assert run("--data", "data.csv", "-o", "wrong.toml").exit_code == 0
    assert [cell.polarity for cell in load_cell_calibration("wrong.toml").cells] == (-SIGN).tolist()


def test_json_has_the_same_numbers(folder: Path) -> None:
    write_table(folder / "data.csv")
    result = run("--data", "data.csv", "-o", "cells.toml", "--json", "--date", "2026-01-02")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["verdict"] == "ok"
    assert answer["date"] == "2026-01-02"
    assert answer["paths"] == {"calibration": "cells.toml"}
    calibration = load_cell_calibration(folder / "cells.toml")
    assert calibration.drift is not None
    for leg, cell in enumerate(answer["cells"]):
        assert cell["leg"] == leg + 1
        assert cell["gain"] * cell["polarity"] == calibration.gain[leg]
        assert cell["offset"] == calibration.offset[leg]
        assert cell["drift_n"] == calibration.drift.force[leg]
        assert cell["faults"] == []
        assert [each["force_n"] for each in cell["readings"]] == pytest.approx([9.80665 * mass for mass in MASSES])
        assert max(abs(each["residual_n"]) for each in cell["readings"]) == pytest.approx(cell["residual_max"])


def test_readings_are_looked_into_and_nothing_is_computed(folder: Path) -> None:
    write_table(folder / "data.csv", drift=1.5)  # refused only where it is calibrated
    looked = run("--data", "data.csv", "--look", "--json")
    assert looked.exit_code == 0, looked.output
    assert json.loads(looked.stdout) == {"holds": f"{len(MASSES)} readings of each cell at least, 50 and 50 unloaded"}
    (folder / "data.csv").write_text("cell,mass\n")
    assert run("--data", "data.csv", "--look").exit_code != 0
    assert [entry.name for entry in folder.iterdir()] == ["data.csv"]


def test_drifted_zero_is_shown_and_refused(folder: Path) -> None:
    write_table(folder / "data.csv", drift=1.5)
    result = run("--data", "data.csv", "-o", "cells.toml")
    assert isinstance(result.exception, RefusedError)
    assert "cell 3: the zero drifted by +1.6" in str(result.exception)
    assert "nothing written" in str(result.exception)
    assert result.output.count("refused") == 1
    assert not (folder / "cells.toml").exists()

    answer = json.loads(run("--data", "data.csv", "-o", "cells.toml", "--json").stdout)
    assert answer["verdict"] == "refused"
    assert answer["paths"] == {"calibration": None}
    assert "drifted" in answer["cells"][2]["faults"][0]

    assert run("--data", "data.csv", "-o", "cells.toml", "--drift-limit", "2").exit_code == 0


def test_bent_cell_is_refused(folder: Path) -> None:
    write_table(folder / "data.csv", bend=4.0)
    result = run("--data", "data.csv", "-o", "cells.toml")
    assert isinstance(result.exception, RefusedError)
    assert "cell 2: not linear" in str(result.exception)
    assert not (folder / "cells.toml").exists()


def test_existing_file_is_kept(folder: Path) -> None:
    write_table(folder / "data.csv")
    (folder / "cells.toml").write_text("precious")
    result = run("--data", "data.csv", "-o", "cells.toml")
    assert "never overwritten" in str(result.exception)
    assert (folder / "cells.toml").read_text() == "precious"
    assert "there is no folder none" in str(run("--data", "data.csv", "-o", "none/cells.toml").exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "configuration"),
        (["virtual", "--data", "data.csv"], "configuration"),
        (["--data", "data.csv", "--load", "sideways"], "sideways"),
        (["--data", "data.csv", "--serials", "a,b"], "must be six"),
        (["--data", "data.csv", "--date", "yesterday"], "yesterday"),
        (["--data", "data.csv", "--gravity", "nan"], "'--gravity': nan is not finite"),
        (["--data", "data.csv", "--drift-limit", "-1"], "--drift-limit must be finite"),
        (["--data", "data.csv", "--nonlinearity-limit", "inf"], "'--nonlinearity-limit': inf is not finite"),
        (["virtual", "--masses", "0,five"], "list of numbers"),
        (["virtual", "--samples", "1"], "--samples"),
    ],
)
def test_usage_errors(folder: Path, arguments: list[str], message: str) -> None:
    write_table(folder / "data.csv")
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert [entry.name for entry in folder.iterdir()] == ["data.csv"]
