"""Thresholds as a person types them, and put into the file that they came from."""

import json
from pathlib import Path

import pytest
from recorded_runs import make_runs

from kinematics import Thresholds
from rig.cli import main
from rig.config import (
    Validation,
    load_config,
    own_thresholds,
    parse_thresholds,
    save_own_thresholds,
    save_thresholds,
)
from rig.config.saving import with_thresholds
from rig.errors import ConfigError, ExitCode
from rig.recording import MotionRecord
from rig.recording.motion_record import decode_motion, encode_motion
from rig.runs import Catalogue
from rig.states import MotionKind, MotionOutcome

SHIPPED = load_config("virtual")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(SHIPPED.path.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def test_typed_thresholds() -> None:
    typed = {"residual_rms": "0.8", "bias": "300 mN", "lag": "2 ms", "r_squared": " ", "confidence": "0.99"}
    assert parse_thresholds(typed, Validation) == Validation(residual_rms=0.8, bias=0.3, lag=0.002, confidence=0.99)
    assert parse_thresholds({}, Validation) == Validation()


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_thresholds({"residual_rms": "-1", "bias": "3 mm", "lag": "nan", "other": "1"}, Validation)
    names = [line.split(":")[0].strip() for line in str(caught.value).splitlines()]
    assert names == ["thresholds cannot be used", "residual_rms", "bias", "lag", "other"]
    assert "the thresholds are residual_rms, residual_noise" in str(caught.value)
    assert "-1 N, must be 1e-06 to 100000 N" in str(caught.value)


def test_saved_thresholds_leave_everything_else_as_it_is(config: Path) -> None:
    before = config.read_text(encoding="utf-8")
    wanted = Validation(residual_rms=0.75, inside_band=0.9, confidence=0.99)
    save_thresholds(load_config(config), wanted)
    assert load_config(config).validation == wanted
    after = config.read_text(encoding="utf-8")
    assert with_thresholds(after, SHIPPED.validation) in (before, f"{before}\n[validation]\n")
    assert all(line in after for line in before.splitlines() if "#" in line and "=" in line and "confid" not in line)


def test_what_says_the_same_stays_as_it_is_written() -> None:
    text = '[validation]\nbias = "300 mN"  # as agreed\nresidual_noise = 1.5\n'
    assert with_thresholds(text, Validation(bias=0.3, residual_noise=1.5)) == text
    assert with_thresholds(text, Validation(bias=0.3)) == '[validation]\nbias = "300 mN"  # as agreed\n'


def test_a_shipped_configuration_and_one_that_was_spoiled_are_refused(config: Path) -> None:
    with pytest.raises(ConfigError, match="came with the project"):
        save_thresholds(SHIPPED, Validation())
    loaded = load_config(config)
    config.write_text("rate = ", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"own.toml: not TOML any more"):
        save_thresholds(loaded, Validation(bias=1.0))
    assert config.read_text(encoding="utf-8") == "rate = "


def test_the_command_judges_by_given_thresholds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_runs(tmp_path / "a.mcap", (0.0,))
    assert main(["runs", str(tmp_path), "--judge", "--threshold", "residual_rms=0.1"]) == 0
    assert " fail " in capsys.readouterr().out
    assert main(["runs", str(tmp_path), "--threshold", "residual_rms"]) == ExitCode.INPUT
    assert main(["runs", str(tmp_path), "--threshold", "residual_rms=x"]) == ExitCode.INPUT
    assert "residual_rms" in capsys.readouterr().err


# -- of a motion's own file ------------------------------------------------------------------------------------------

RIGS = Validation(residual_rms=1.0, bias=0.5)
MOTION = """frame = "home"  # as drawn
[[parts]]
type = "hold"
duration = 1
"""


def test_what_a_motion_names_goes_before_what_the_rig_says() -> None:
    own = Thresholds(residual_rms=0.3, confidence=0.99)
    assert RIGS.under(own) == Validation(residual_rms=0.3, bias=0.5, confidence=0.99)
    assert RIGS.under(Thresholds()) == RIGS


def test_a_motions_file_gets_what_differs_from_the_rigs_and_keeps_what_it_names() -> None:
    wanted = Validation(residual_rms=0.3, bias=0.5, lag=0.001)
    assert own_thresholds(wanted, RIGS, Thresholds()) == Thresholds(residual_rms=0.3, lag=0.001)
    assert own_thresholds(wanted, RIGS, Thresholds(bias=0.2)) == Thresholds(residual_rms=0.3, bias=0.5, lag=0.001)
    with pytest.raises(ConfigError, match=r"bias: the rig's configuration sets 0.5 for every motion"):
        own_thresholds(Validation(residual_rms=0.3), RIGS, Thresholds())


def test_a_motions_file_keeps_everything_but_its_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(MOTION, encoding="utf-8")
    save_own_thresholds(path, Thresholds(residual_rms=0.3))
    assert path.read_text(encoding="utf-8") == f"{MOTION}\n[validation]\nresidual_rms = 0.3\n"
    path.write_text(MOTION + "[validation]\nbias = 0.1\nstrange = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="strange"):
        save_own_thresholds(path, Thresholds(residual_rms=0.3))
    path.write_text("frame = ", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"own.toml: not TOML any more"):
        save_own_thresholds(path, Thresholds())
    with pytest.raises(ConfigError, match=r"gone.toml"):
        save_own_thresholds(tmp_path / "gone.toml", Thresholds())


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that passes by the rig's threshold of 1 N, of a motion that wants 0.3 N of a noise of 0.5 N."""
    folder = tmp_path_factory.mktemp("strict")
    make_runs(folder / "a.mcap", (0.0,), own=Thresholds(residual_rms=0.3).text)
    catalogue = Catalogue(folder)
    catalogue.count(catalogue.runs())
    return folder


def test_a_run_fails_by_its_motions_threshold_alone(strict: Path, tmp_path: Path) -> None:
    make_runs(tmp_path / "b.mcap", (0.0,))
    plain = Catalogue(tmp_path)
    plain.count(plain.runs())
    (passed,), (failed,) = plain.runs(), Catalogue(strict).runs()
    assert (passed.verdict, failed.verdict) == ("pass", "fail")
    assert passed.run.thresholds == {} and failed.run.thresholds == {"residual_rms": 0.3}
    assert passed.numbers is not None and failed.numbers is not None
    (before,), (after,) = passed.numbers["criteria"], failed.numbers["criteria"]
    assert (before["threshold"], before["whose"]) == (1.0, "rig")
    assert (after["threshold"], after["whose"]) == (0.3, "motion") and "(the motion's threshold)" in after["why"]
    assert before["value"] == after["value"]


def test_a_motions_threshold_goes_before_that_of_another_configuration_but_not_before_one_typed(
    strict: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_thresholds(load_config(config), Validation(residual_rms=5.0, bias=0.4))

    def told(*options: str) -> list[tuple[str, float, str, str]]:
        assert main(["runs", str(strict), "--json", *options]) == 0
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        return [(one["name"], one["threshold"], one["whose"], one["verdict"]) for one in run["numbers"]["criteria"]]

    assert told() == [("residual_rms", 0.3, "motion", "fail")]
    by_config = [("residual_rms", 0.3, "motion", "fail"), ("bias", 0.4, "rig", "pass")]
    assert told("--thresholds", str(config)) == by_config
    assert told("--threshold", "residual_rms=2") == [("residual_rms", 2.0, "given", "pass")]


def test_a_report_made_later_judges_by_what_the_recording_says(
    strict: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], undrawn_reports: None
) -> None:
    assert main(["report", str(strict / "a.mcap"), "--no-models", "-o", str(tmp_path / "a.html")]) == 0
    assert "verdict    fail: residual rms of leg" in capsys.readouterr().out
    assert '<td>0.3 N</td><td class="text">the motion</td>' in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["{", '{"bias": -1}', '{"of a later version": 1}'])
def test_thresholds_that_this_version_does_not_know_are_none(text: str) -> None:
    record = MotionRecord(1, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 1.0, 1.0, 1.0, "up", 1.0, text)
    assert decode_motion(encode_motion(record)) == record and record.own_thresholds == Thresholds()
