"""`rig export-fmu`: what it writes, prints and refuses."""

import json
from pathlib import Path

import pytest
from fmpy import read_model_description
from fmpy.validation import validate_fmu

from rig.cli import main
from rig.errors import ExitCode


def test_the_start_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "unit.fmu"
    pose = "0.01,0,0.46,1,0,0,0"
    assert main(["export-fmu", "lab-hexapod", "-o", str(file), "--pose", pose, "--step", "0.0004", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(file) and found["size"] == file.stat().st_size < 60_000
    assert found["variables"]["input"][:2] == ["force[1]", "force[2]"]
    assert "glibc 2.2.5" in found["needs"]
    description = read_model_description(str(file))
    assert description.fmiVersion == "2.0" and description.defaultExperiment.stepSize == "0.0004"
    start = {each.name: each.start for each in description.modelVariables}
    assert (start["pose.x"], start["pose.z"], start["pose.qw"]) == ("0.01", "0.46", "1.0")


def test_a_published_machine_may_be_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its bodies cannot exist: inverse dynamics yes, with a warning; a plant no."""
    monkeypatch.chdir(tmp_path)
    pose = "0,0.4,0.8,1,0,0,0"
    assert main(["export-fmu", "pedrammehr-2012", "--model", "inverse", "--fmi", "3.0", "--pose", pose]) == 0
    printed = capsys.readouterr()
    assert "pedrammehr_2012_inverse_fmi3.fmu: FMI 3.0" in printed.out and "no real body" in printed.err
    assert validate_fmu("pedrammehr_2012_inverse_fmi3.fmu") == []
    assert main(["export-fmu", "pedrammehr-2012", "--pose", pose]) == ExitCode.INPUT
    assert [path.name for path in tmp_path.iterdir()] == ["pedrammehr_2012_inverse_fmi3.fmu"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--step", "0.01"], ("--step", "at most 0.00132 s")),
        (["--step", "nan"], ("--step", "nan")),
        (["--step", "0"], ("--step", "above 0 s")),
        (["--coulomb-speed", "0"], ("--coulomb-speed", "above 0 m/s for a plant")),
        (["--coulomb-speed", "-1"], ("--coulomb-speed", "0 to 1 m/s")),
        (["--model", "both"], ("--model", "plant or inverse")),
        (["--fmi", "1.0"], ("--fmi", "2.0 or 3.0")),
        (["--pose", "0,0,nan,1,0,0,0"], ("--pose", "not finite")),
        (["-o", "nowhere/unit.fmu"], ("there is no folder nowhere",)),
    ],
    ids=lambda value: "-".join(value),
)
def test_what_is_refused_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export-fmu", "lab-hexapod", *arguments]) == ExitCode.INPUT
    message = capsys.readouterr().err
    assert all(word in message for word in words), message
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_invalid_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier file stays as it is."""
    file = tmp_path / "unit.fmu"
    file.write_bytes(b"earlier")
    monkeypatch.setattr("rig.fmu.unit._UNITS", {"m": {"m": 1}})
    assert main(["export-fmu", "lab-hexapod", "--model", "inverse", "-o", str(file)]) == ExitCode.INTERNAL
    assert 'The unit "kg" of variable "platform.mass"' in capsys.readouterr().err
    assert file.read_bytes() == b"earlier" and list(tmp_path.iterdir()) == [file]
