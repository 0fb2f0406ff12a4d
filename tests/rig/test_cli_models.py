"""`rig inverse --model` and `--peaks`, as a user meets them."""

import json
from pathlib import Path

import numpy as np
import pytest

from dynamics import load_mechanism, reaction_peaks
from dynamics.papers import MODELS, variant_forces
from kinematics import load_trajectory
from rig.cli import main
from rig.csvio import MOTION, WRENCH, per_leg, read_table, write_table
from rig.errors import ExitCode


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with half a second of the demo trajectory under a load, motion.csv."""
    monkeypatch.chdir(tmp_path)
    trajectory = load_trajectory("demo", load_mechanism("lab-hexapod").geometry.home)
    times = np.linspace(6.0, 6.5, 26)
    wrenches = np.tile([1.0, -2.0, -30.0, 0.5, 0.0, -0.2], (26, 1))
    table = np.column_stack([times, trajectory.motion(times), wrenches])
    write_table(tmp_path / "motion.csv", ("t", *MOTION, *WRENCH), table)
    return tmp_path


@pytest.mark.parametrize("model", MODELS)
def test_every_model_writes_its_forces(here: Path, model: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inverse", "lab-hexapod", "motion.csv", "--model", model, "-o", "forces.csv"]) == 0
    table = read_table(here / "motion.csv", MOTION, [WRENCH])
    expected = variant_forces(model, load_mechanism("lab-hexapod"), table.columns(MOTION), table.columns(WRENCH))
    forces = read_table(here / "forces.csv", per_leg("f"))
    np.testing.assert_allclose(forces.columns(per_leg("f")), expected, rtol=1e-13, atol=1e-12)  # N
    np.testing.assert_array_equal(forces.times, table.times)
    assert ("no Coulomb friction" in capfd.readouterr().err) == (model != "exact")


def test_exact_is_the_default(here: Path) -> None:
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "default.csv"]) == 0
    assert main(["inverse", "lab-hexapod", "motion.csv", "--model", "exact", "-o", "exact.csv"]) == 0
    assert (here / "default.csv").read_bytes() == (here / "exact.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "newton"], "'newton' must be one of exact, dasgupta-1998, pedrammehr-2012, massless"),
        (["--model", "massless", "--reactions"], "joint reactions are of the exact model only, not of massless"),
        (["--model", "dasgupta-1998", "--peaks"], "joint reactions are of the exact model only, not of dasgupta-1998"),
        (["--json"], "goes with --peaks only"),
    ],
)
def test_what_does_not_go_together_is_refused(
    here: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "forces.csv", *arguments]) == ExitCode.INPUT
    printed = capfd.readouterr()
    assert message in " ".join(printed.err.replace("│", " ").split())
    assert "Traceback" not in printed.err
    assert not (here / "forces.csv").exists()


def test_peaks_as_json_are_those_of_the_library(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["inverse", "lab-hexapod", "motion.csv", "-o", "forces.csv", "--peaks", "--json"]
    assert main(arguments) == 0
    summary = json.loads(capfd.readouterr().out)
    table = read_table(here / "motion.csv", MOTION, [WRENCH])
    peaks = reaction_peaks(
        load_mechanism("lab-hexapod"), table.columns(MOTION), table.columns(WRENCH), times=table.times
    )
    assert summary["mechanism"] == "lab-hexapod"
    assert summary["model"] == "exact"
    assert summary["paths"] == {"motion": "motion.csv", "forces": "forces.csv"}
    assert len(summary["peaks"]) == len(peaks) == 38
    for found, peak in zip(summary["peaks"], peaks, strict=True):
        assert (found["reaction"], found["leg"], found["unit"]) == (peak.reaction, peak.leg, peak.unit)
        assert (found["magnitude"], found["sample"], found["time"]) == (peak.magnitude, peak.sample, peak.time)
        assert tuple(found["components"]) == peak.components
        assert 6.0 <= found["time"] <= 6.5


def test_peaks_are_printed_and_the_csv_stays_as_it_is(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "plain.csv", "--reactions"]) == 0
    assert capfd.readouterr().out == ""
    assert main(["inverse", "lab-hexapod", "motion.csv", "-o", "peaks.csv", "--reactions", "--peaks"]) == 0
    assert (here / "plain.csv").read_bytes() == (here / "peaks.csv").read_bytes()
    printed = capfd.readouterr().out
    assert "…" not in printed, "a column is cut"
    for reaction in ("spherical force, N", "universal moment, N m", "prismatic moment, N m", "base force, N"):
        assert printed.count(reaction) == 1
    table = read_table(here / "motion.csv", MOTION, [WRENCH])
    peak = reaction_peaks(load_mechanism("lab-hexapod"), table.columns(MOTION), table.columns(WRENCH))[0]
    first = next(line for line in printed.splitlines() if "spherical force, N" in line).split()
    assert first[3:5] == ["1", f"{peak.magnitude:.2f}"]
    assert float(first[5]) == table.times[peak.sample]
