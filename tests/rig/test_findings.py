"""Findings: each code has its text, in any language, and comes back from JSON as it was."""

import ast
import math
import pickle
import re
from pathlib import Path
from string import Formatter

import pytest
from filled_findings import filled
from pydantic import TypeAdapter

from rig.config import load_config
from rig.errors import ConfigError, ConfigFault
from rig.findings import (
    Code,
    Finding,
    Remedy,
    Severity,
    finding_from_json,
    finding_texts,
    finding_to_json,
    render,
    statement,
)
from rig.states import FaultCode


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_text(code: Code) -> None:
    found = filled(code)
    text = found.text
    assert text and not set("{}") & set(text) and "[[" not in text and "]]" not in text
    assert text.endswith(statement(found))
    assert isinstance(code.remedy, Remedy) and isinstance(code.severity, Severity)
    assert isinstance(found.fault, FaultCode)
    shouted = render(found, lambda template: template.replace(" the ", " THE "))
    assert shouted.replace("THE", "the") == text, "the words come from the template alone"


@pytest.mark.parametrize("code", Code)
def test_what_comes_back_from_json_is_the_same(code: Code) -> None:
    found = filled(code)
    assert finding_from_json(finding_to_json(found)) == found
    data = found.as_dict()
    assert data["text"] == found.text and data["remedy"] == found.remedy.value and data["code"] == found.root.code
    assert data["details"] == found.root.details


def test_a_code_of_a_later_version_is_none_and_damage_is_told() -> None:
    assert finding_from_json("") is None
    assert finding_from_json('{"code":"of_a_later_version"}') is None
    assert finding_from_json('{"code":"stream_no_way"}') == Finding(Code.STREAM_NO_BRAKING_PATH)  # of an older one
    assert finding_from_json('{"code":"refused","within":[{"code":"of_a_later_version"}]}') is None


@pytest.mark.parametrize("damaged", ["{", "[]", "{}", '{"code":"refused","within":[3]}', '{"code":["refused"]}'])
def test_damaged_json_is_refused(damaged: str) -> None:
    with pytest.raises(ValueError):
        finding_from_json(damaged)


def test_numbers_that_are_not_finite_come_back_and_are_none_for_others() -> None:
    found = Finding(Code.LENGTH_NOT_FINITE, 2, math.nan)
    again = finding_from_json(finding_to_json(found))
    assert again is not None and math.isnan(again.value or 0.0)
    assert found.as_dict()["value"] is None and found.text == "leg 2: the drive reports a length of nan m"


def test_details_that_are_not_finite_come_back_over_the_link() -> None:
    """They were null, which no client could read: it lost the engine for as long as the event was in its status."""
    adapter = TypeAdapter(Finding)
    found = Finding(
        Code.REALTIME, details={"a": math.inf, "b": -math.inf, "c": [1.0, math.inf], "d": 3, "e": "Infinite"}
    )
    assert adapter.validate_json(adapter.dump_json(found)) == found
    (again,) = adapter.validate_json(
        adapter.dump_json(Finding(Code.REALTIME, details={"a": math.nan}))
    ).details.values()
    assert isinstance(again, float) and math.isnan(again)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Finding(Code.OVERSPEED, 1, 0.5000004, 0.5), "leg 1: measured speed +0.5000004 m/s (bound 0.5 m/s)"),
        (
            Finding(Code.REFERENCE_LENGTH, 4, 1.2, details={"low": 0.5, "high": 1.19999}),
            "reference of leg 4: length 1.2000 m (limits 0.5 to 1.19999 m)",
        ),
        (
            Finding(Code.NO_FEEDBACK, 3, 0.0399, 0.039, {"stated": 0.04, "silence": "reset by peer"}),
            "leg 3: no fresh feedback for 39.9 ms (bound 39 ms, 40 ms less half a cycle): reset by peer",
        ),
        (Finding(Code.NO_FEEDBACK, 3, 0.05, 0.04), "leg 3: no fresh feedback for 50 ms (bound 40 ms)"),
        (Finding(Code.TORQUE_LOST, details={"legs": [1, 6]}), "legs 1, 6: torque lost without a fault of the drive"),
    ],
)
def test_figures_compare_in_the_text_as_the_numbers_do(found: Finding, text: str) -> None:
    assert found.text == text


def test_what_wraps_a_finding_is_what_it_wraps() -> None:
    busy = Finding(Code.HOST_BUSY, details={"cycles": 5, "longest": 0.02}, within=(Finding(Code.DRIVE_WATCHDOG, 2),))
    refused = Finding(Code.REFUSED, details={"command": "home"}, within=(Finding(Code.CONNECT_FIRST),))
    assert busy.fault is FaultCode.DRIVE_WATCHDOG and busy.root.leg == 2
    assert refused.remedy is Remedy.CONNECT and refused.text == "home: connect first"


def test_long_texts_are_elided_wherever_they_are() -> None:
    inner = Finding(Code.DRIVE_FAILS, 1, details={"text": "x" * 10_000})
    outer = Finding(Code.DEVICES_UNUSABLE, details={"count": 1}, within=(inner,)).elided(100)
    assert len(outer.text) < 300 and "left out" in outer.text


def test_a_state_is_translated_by_its_name() -> None:
    found = Finding(Code.STATE_CHANGED, details={"before": "RUNNING", "after": "OF_A_LATER_VERSION"})
    assert found.text == "RUNNING → OF_A_LATER_VERSION"
    assert render(found, lambda text: text.replace("RUNNING", "Läuft")) == "Läuft → OF_A_LATER_VERSION"
    assert "RUNNING" in finding_texts()


def test_the_texts_to_translate_are_those_of_all_codes() -> None:
    texts = finding_texts()
    assert len(texts) == len(set(texts)) and {"leg {leg}", " or of "} <= set(texts)
    assert Code.DRIVE_WATCHDOG.text in texts and Code.MESSAGE.text not in texts


def test_a_finding_that_lacks_what_its_text_names_is_told_by_its_numbers() -> None:
    lacking = Finding(Code.OVERSPEED, 3, 0.7)
    assert lacking.text == 'overspeed: {"code":"overspeed","leg":3,"value":0.7}'
    assert Finding(Code.DISTURBED, details={"sent": 5}).text.startswith("disturbed: ")


def required(code: Code) -> set[str]:
    """What the text of a code names, but for what it may leave out."""
    text = re.sub(r"\[\[.*?\]\]", "", code.text, flags=re.DOTALL)
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_whoever_makes_a_finding_gives_what_its_text_names() -> None:
    """Where the details stand in the call; those that are made before it are for the tests of who makes them."""
    root = Path(__file__).parent.parent.parent
    calls = 0
    for path in (*(root / "rig").rglob("*.py"), *(root / "gui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "Finding" and node.args):
                continue
            if not isinstance(node.args[0], ast.Attribute):
                continue  # a code that is chosen between some
            calls += 1
            given = dict(zip(("leg", "value", "bound", "details", "within"), node.args[1:], strict=False))
            given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            details = given.pop("details", ast.Dict([], []))
            if isinstance(details, ast.Dict):
                named = {ast.literal_eval(key) for key in details.keys if key is not None}
                code = Code[node.args[0].attr]
                assert required(code) <= named | set(given), f"{path}:{node.lineno}: {code}"
    assert calls > 150


def test_a_fault_of_a_configuration_has_its_key_and_its_numbers() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config().changed(
            {"rate": 5000, "bogus": 1, "drives": {"legs": [{"serial": 3}] * 6}, "motion": {"approach_speed": "9 m/s"}}
        )
    error = caught.value
    found = {fault.key: fault for fault in error.found}
    rate, serial = found["rate",], found["drives", "legs", 1, "serial"]
    assert (rate.finding.code, rate.finding.value, rate.finding.bound) == (Code.OUT_OF_RANGE, 5000.0, 2000.0)
    assert (rate.finding.unit, rate.leg, rate.text) == ("Hz", 0, "rate: 5000 Hz, must be 5 to 2000 Hz")
    assert (serial.finding.code, serial.leg) == (Code.NOT_TEXT, 2)
    assert serial.as_dict()["key"] == ["drives", "legs", 1, "serial"] and serial.as_dict()["leg"] == 2
    assert found["bogus",].finding.code is Code.KEY_UNKNOWN
    assert error.faults == tuple(fault.text for fault in error.found)
    assert str(error).splitlines()[1:] == [f"  {fault}" for fault in error.faults]
    again = pickle.loads(pickle.dumps(error))
    assert again.found == error.found and str(again) == str(error)


def test_what_a_configuration_asks_of_its_machine_has_value_bound_and_unit() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config().changed({"motion": {"approach_speed": "2 m/s"}, "safety": {"following_error": "0.1 m"}})
    found = {fault.key: fault.finding for fault in caught.value.found}
    speed, error = found["motion", "approach_speed"], found["safety", "following_error"]
    assert speed.code is Code.MOVE_FASTER_THAN_LEGS and error.code is Code.BEYOND_STROKE
    assert speed.value == 2.0 and speed.bound is not None and speed.bound < 2.0 and speed.unit == "m/s"
    assert error.value == 0.1 and error.bound is not None and error.bound < 0.1 and error.unit == "m"


def test_many_faults_are_listed_up_to_a_bound() -> None:
    faults = [ConfigFault(("drives", "legs", leg), Finding(Code.KEY_MISSING)) for leg in range(40)]
    error = ConfigError(Finding(Code.CONFIG_UNUSABLE, details={"path": "rig.toml"}), faults)
    assert len(error.found) == 40 and str(error).splitlines()[-1] == "  and 10 more"
    assert render(error.finding, lambda text: text.replace("missing", "fehlt")).count("fehlt") == 30
