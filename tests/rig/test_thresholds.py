"""Thresholds as a person types them, and put into the file that they came from."""

from pathlib import Path

import pytest
from recorded_runs import make_runs

from rig.cli import main
from rig.config import Validation, load_config, parse_thresholds, save_thresholds
from rig.config.saving import with_thresholds
from rig.errors import ConfigError, ExitCode

SHIPPED = load_config("virtual")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(SHIPPED.path.read_text(encoding="utf-8"), encoding="utf-8")
    return path


def test_typed_thresholds() -> None:
    typed = {"residual_rms": "0.8", "bias": "300 mN", "lag": "2 ms", "r_squared": " ", "confidence": "0.99"}
    assert parse_thresholds(typed) == Validation(residual_rms=0.8, bias=0.3, lag=0.002, confidence=0.99)
    assert parse_thresholds({}) == Validation()


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_thresholds({"residual_rms": "-1", "bias": "3 mm", "lag": "nan", "other": "1"})
    names = [line.split(":")[0].strip() for line in str(caught.value).splitlines()]
    assert names == ["thresholds cannot be used", "residual_rms", "bias", "lag", "other"]
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
