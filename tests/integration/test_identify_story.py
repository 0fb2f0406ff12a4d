"""From a machine as built to a model that explains its forces, by the command line, in lockstep."""

import json
from pathlib import Path

import pytest

from dynamics import LINEAR_NAMES, linear_parameters, load_mechanism
from rig.cli import main
from rig.errors import ExitCode

pytestmark = pytest.mark.usefixtures("undrawn_reports")

CHEAPER = ("--lockstep", "--rate", "320")
"""A run's time costs by the cycle; at a lower rate the demo's loop would be refused."""

BUILT = """
name = "built"
rate = 320
mechanism = "lab-hexapod"
safety = { tare_shift = 15.0, force_residual = 80.0 }
virtual = { seed = 5, plant = { as_built = 21 }, cells = { lag = "1 ms", resolution = 0.05, drift = 0.002 } }

[drives]
driver = "servo"
profile = "generic-servo"
legs = [
    { host = "127.0.0.1", port = 15021 }, { host = "127.0.0.1", port = 15022 }, { host = "127.0.0.1", port = 15023 },
    { host = "127.0.0.1", port = 15024 }, { host = "127.0.0.1", port = 15025 }, { host = "127.0.0.1", port = 15026 },
]
"""

ANOTHER = """
frame = "home"

[[parts]]
type = "harmonic"
duration = "3 s"
fade = 0.5
terms = [
    { dof = "z", amplitude = 0.02, frequency = 0.9 }, { dof = "x", amplitude = 0.015, frequency = 0.7, phase = 1.0 },
    { dof = "ry", amplitude = 0.05, frequency = 0.8, phase = 0.4 }, { dof = "rz", amplitude = 0.05, frequency = 0.6 },
]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration, a designed motion, and its recording with the truth beside it."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "built.toml").write_text(BUILT)
    config, motion = str(folder / "built.toml"), str(folder / "excite.toml")
    assert (
        main(["excite", config, "-o", motion, "--duration", "14", "--candidates", "1", "--steps", "6"]) == ExitCode.OK
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.report.html.figures", lambda *_: {})  # as `undrawn_reports`, for the module
        assert main(["run", config, motion, "--lockstep", "-o", str(folder / "runs")]) == ExitCode.OK
    return folder


def test_parameters_from_a_run_are_true_and_explain_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (recording,) = (folder / "runs").glob("*.mcap")
    capsys.readouterr()
    output = folder / "inertia.toml"
    assert main(["identify", str(recording), "--look", "--json", "-o", str(output)]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["holds"].endswith(" s, lab-hexapod") and not output.exists()
    assert main(["identify", str(recording), "-o", str(output), "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    held = found["holdout"]
    assert held["noise_n"] == pytest.approx(0.5, rel=0.15)
    assert held["residual_after_n"] < 1.2 * 0.5
    assert held["residual_before_n"] > 3.0 * held["noise_n"]
    assert found["consistent"] is True
    truth = dict(
        zip(LINEAR_NAMES, linear_parameters(load_mechanism(recording.with_suffix(".truth.toml"))), strict=True)
    )
    told = [each for each in found["base_parameters"] if each["told"]]
    inside = [
        abs(each["value"] - sum(part * truth[name] for name, part in each["combination"].items())) < 2.0 * each["sigma"]
        for each in told
    ]
    assert len(told) > 40 and sum(inside) > 0.9 * len(told)
    lags = [each["value"] for each in found["parameters"] if each["name"].endswith(".lag")]
    assert lags == pytest.approx([1e-3] * 6, abs=2e-4)
    # a configuration that names the file computes with it, on the same machine
    text = BUILT.replace('mechanism = "lab', 'parameters = ["inertia.toml"]\nmechanism = "lab')
    (folder / "found.toml").write_text(text.replace("tare_shift = 15.0", "tare_shift = 2.0"))
    (folder / "another.toml").write_text(ANOTHER)
    another = ["run", str(folder / "found.toml"), str(folder / "another.toml"), "--lockstep"]
    assert main([*another, "-o", str(folder / "after"), "--json"]) == ExitCode.OK
    legs = json.loads(capsys.readouterr().out)["force"]["legs"]
    assert all(leg["rms_residual_n"] < 0.7 for leg in legs)
    assert main(["identify", str(recording), "-o", str(output)]) == ExitCode.INPUT
    assert "never overwritten" in capsys.readouterr().err


def test_a_run_that_tells_nothing_and_one_of_another_rig_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "still.toml").write_text(
        'frame = "home"\n[[parts]]\ntype = "hold"\nposition = [0, 0, 0, 0, 0, 0]\nduration = "12 s"\n'
    )
    source = load_mechanism("lab-hexapod").source
    (folder / "heavier.toml").write_text(source.replace("mass = 18.0", "mass = 19.0"))
    (folder / "other.toml").write_text(BUILT.replace('"lab-hexapod"', f'"{folder / "heavier.toml"}"'))
    command = ["run", str(folder / "other.toml"), str(folder / "still.toml"), "--lockstep"]
    assert main([*command, "-o", str(folder / "still")]) == ExitCode.OK
    (still,), (moving,) = (folder / "still").glob("*.mcap"), (folder / "runs").glob("*.mcap")
    assert main(["identify", str(still), "-o", str(folder / "none.toml")]) == ExitCode.REFUSED
    assert "`rig excite` designs such a motion" in capsys.readouterr().err
    assert not (folder / "none.toml").exists()
    assert main(["identify", str(moving), str(still)]) == ExitCode.INPUT
    assert "of another mechanism than" in capsys.readouterr().err


def test_the_demo_says_what_identification_would_leave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["demo", *CHEAPER, "--as-built", "4", "--duration", "14", "-o", str(tmp_path), "--json"]
    assert main(command) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    page = Path(found["paths"]["report"]).read_text(encoding="utf-8")
    assert "Expected residual after identification" in page
    assert found["validation"]["verdict"] == "expected"
    outlook = found["identification"]["holdout"]
    assert f"{outlook['residual_before_n']:.3f}" in page and f"{outlook['residual_after_n']:.3f}" in page
    assert 40 < found["identification"]["told"] < found["identification"]["combinations"]
    assert outlook["residual_before_n"] > 3.0 * outlook["noise_n"]
    assert outlook["residual_after_n"] < 1.2 * outlook["noise_n"]
    (truth,) = tmp_path.glob("*.truth.toml")
    assert load_mechanism(truth).mass != 18.0


def test_the_demo_may_be_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *CHEAPER, "--exact", "--duration", "4", "-o", str(tmp_path), "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert "identification" not in found and "would leave" not in Path(found["paths"]["report"]).read_text()
    assert not list(tmp_path.glob("*.truth.toml"))
    assert found["validation"]["verdict"] == "pass"
    assert all(leg["rms_residual_n"] < 0.6 for leg in found["force"]["legs"])
    assert main(["demo", "--exact", "--identify"]) == ExitCode.INPUT


def test_the_whole_story_from_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rig.client.demo.EXCITATION", 14.0)
    monkeypatch.setattr("rig.client.demo._CANDIDATES", 1)
    monkeypatch.setattr("rig.client.demo._STEPS", 6)
    command = ["demo", *CHEAPER, "--as-built", "2", "--identify", "--duration", "6", "-o", str(tmp_path), "--json"]
    assert main(command) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)
    assert found["validation"]["verdict"] == "pass"
    held = found["identification"]["holdout"]
    assert held["residual_before_n"] > 3.0 * held["noise_n"]
    assert held["residual_after_n"] < 1.2 * held["noise_n"]
    before = [leg["rms_residual_n"] for leg in found["before"]["force"]["legs"]]
    after = [leg["rms_residual_n"] for leg in found["force"]["legs"]]
    assert max(after) < 0.75 < 2.0 < min(before)
    assert Path(found["paths"]["parameters"]).exists()
