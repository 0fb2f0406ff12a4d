"""Quantities of config files: numbers are SI, strings carry their unit, everything else is refused."""

import math
import subprocess
import sys
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics.inputs import units


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")
    stroke: units.Length
    points: list[units.Length] = []
    period: Annotated[units.Time, Field(gt=0)] = 1.0
    angle: units.Angle | None = None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (units.LENGTH, "300 mm", 0.3),
        (units.LENGTH, "300mm", 0.3),
        (units.LENGTH, " -1.5e2 cm ", -1.5),
        (units.LENGTH, ".5 m", 0.5),
        (units.LENGTH, "10 µm", 1e-5),
        (units.ANGLE, "12 deg", math.radians(12)),
        (units.ANGLE, "12°", math.radians(12)),
        (units.ANGLE, "0.25 turn", math.pi / 2),
        (units.MASS, "250 g", 0.25),
        (units.TIME, "50 ms", 0.05),
        (units.FORCE, "0.4 kN", 400.0),
        (units.TORQUE, "20 N mm", 0.02),
        (units.SPEED, "80 mm/s", 0.08),
        (units.ACCELERATION, "12 m/s²", 12.0),
        (units.ANGULAR_SPEED, "30 deg/s", math.radians(30)),
        (units.ANGULAR_SPEED, "60 rpm", 2 * math.pi),
        (units.ANGULAR_ACCELERATION, "90 deg/s^2", math.pi / 2),
        (units.FREQUENCY, "1.2 kHz", 1200.0),
        (units.FREQUENCY, "5 1/s", 5.0),
        (units.STIFFNESS, "20 N/mm", 20e3),
        (units.DAMPING, "0.9 kN s/m", 900.0),
        (units.DAMPING, "0.9 kN·s/m", 900.0),
        (units.ANGULAR_DAMPING, "0.02 N m s/rad", 0.02),
        (units.ANGULAR_DAMPING, "0.02 N*m*s", 0.02),
        (units.INERTIA, "310 kg cm^2", 0.031),
        (units.FORCE_RATE, "2 N/ms", 2000.0),
    ],
)
def test_text_with_unit_becomes_si(kind: units.Quantity, text: str, value: float) -> None:
    assert kind.parse(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("value", [3, 0, -2.5, np.float64(0.1), np.float32(0.5), np.int64(4)])
def test_a_number_is_si(value: float) -> None:
    assert units.LENGTH.parse(value) == float(value)


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        (units.LENGTH, "3 kg", "wrong dimension"),
        (units.LENGTH, "3 deg", "wrong dimension"),
        (units.ANGLE, "3 mm", "wrong dimension"),
        (units.FREQUENCY, "5 rad/s", "wrong dimension"),
        (units.FREQUENCY, "60 rpm", "wrong dimension"),
        (units.ANGULAR_SPEED, "5 Hz", "wrong dimension"),
        (units.LENGTH, "3 blorb", "unknown unit 'blorb'"),
        (units.LENGTH, "3 m**", "unknown unit"),
        (units.LENGTH, "3", "not a number with a unit"),
        (units.ANGLE, "0.1", "not a number with a unit"),
        (units.LENGTH, "mm", "not a number with a unit"),
        (units.LENGTH, "nan mm", "not a number with a unit"),
        (units.LENGTH, "inf m", "not a number with a unit"),
        (units.LENGTH, "1e999 m", "not finite"),
        (units.LENGTH, "9**9**9**9 m", "not a number with a unit"),
        (units.LENGTH, "3 m" + " " * 200 + "x", "not a number with a unit"),
        (units.LENGTH, "", "not a number with a unit"),
        (units.LENGTH, math.nan, "not finite"),
        (units.LENGTH, -math.inf, "not finite"),
        (units.LENGTH, 10**400, "not finite"),
        (units.LENGTH, True, "not a quantity"),
        (units.LENGTH, None, "not a quantity"),
        (units.LENGTH, [1.0], "not a quantity"),
        (units.LENGTH, 1j, "not a quantity"),
    ],
)
def test_refusals_name_the_value_and_the_unit(kind: units.Quantity, value: object, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        kind.parse(value)
    message = str(caught.value)
    assert reason in message
    assert f"a finite number in {kind.unit}" in message
    assert kind.name in message


def test_inside_pydantic_models() -> None:
    model = Model.model_validate({"stroke": "300 mm", "points": [1, "20 cm"], "period": "5 ms", "angle": "90 deg"})
    assert model.stroke == pytest.approx(0.3)
    assert model.points == pytest.approx([1.0, 0.2])
    assert model.period == pytest.approx(0.005)
    assert model.angle == pytest.approx(math.pi / 2)
    assert Model.model_validate(model.model_dump()) == model
    assert Model.model_validate_json(model.model_dump_json()) == model


def test_all_faults_of_a_model_are_listed_with_their_place() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"stroke": "3 kg", "points": [1.0, True], "period": "-5 ms"})
    assert [fault["loc"] for fault in caught.value.errors()] == [("stroke",), ("points", 1), ("period",)]


def test_unit_is_found_in_the_field() -> None:
    assert units.LENGTH in Model.model_fields["stroke"].metadata


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=30), st.from_regex(r"[0-9.]{1,3} ?[a-zA-Z0-9*/^.() -]{0,12}", fullmatch=True)))
def test_any_text_gives_a_finite_float_or_a_clear_refusal(text: str) -> None:
    try:
        value = units.LENGTH.parse(text)
    except ValueError as error:
        assert "length" in str(error)
    else:
        assert math.isfinite(value)


@pytest.mark.parametrize(("si_unit", "unit"), [(si, unit) for si, of in units._COMMON.items() for unit in of])
def test_what_is_known_without_pint_is_what_pint_says(si_unit: str, unit: str) -> None:
    assert units._factor(unit, (si_unit,)) == units._registered_factor(unit, (si_unit,))


def test_pint_is_imported_only_for_units_that_few_files_have() -> None:
    code = """
import sys
from kinematics.inputs import units
from rig.config import load_config

units.LENGTH.parse(1.0)
load_config("virtual")
assert "pint" not in sys.modules
units.LENGTH.parse("1 dm")
assert "pint" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


_SIZES = st.floats(1e-6, 1e6)


@given(
    _SIZES,
    st.one_of(_SIZES.map(lambda size: size), st.sampled_from([0.0, 1e-15, 1e-9, 1e-6, 1e-3])),
    st.sampled_from([-1.0, 1.0]),
    st.sampled_from([".4g", "+.1f", ".3g", "+.2f", ".0f"]),
)
def test_a_figure_and_its_bound_read_as_they_compare(bound: float, apart: float, side: float, spec: str) -> None:
    """Also where they differ by less than is shown: 5.994 is not "5.99" against 6, nor 30.0004 "30.0" against 30."""
    value = bound * (1.0 + side * apart) if apart < 1e-2 else apart
    figure, limit = (abs(float(text)) for text in units.figure_and_bound(value, bound, spec))
    assert (figure > limit, figure < limit) == (value > bound, value < bound)
    assert units.figure_and_bound(-value, bound, spec)[0].lstrip("-") == units.figure_and_bound(value, bound, spec)[
        0
    ].lstrip("+")


@pytest.mark.parametrize(
    ("value", "bound", "spec", "texts"),
    [
        (5.994, 6.0, ".3g", ("5.99", "6")),
        (6.0004, 6.0, ".3g", ("6.0004", "6")),
        (30.04, 30.0, "+.1f", ("+30.04", "30")),
        (-30.04, 30.0, "+.1f", ("-30.04", "30")),
        (79.96, 80.0, ".1f", ("79.96", "80")),
        (2.0, 2.0, ".4g", ("2", "2")),
        (400.4, 400.0, ".0f", ("400.4", "400")),
        (1000.0, 900.0, ".3g", ("1000", "900")),
        (12345.6, 900.0, ".3g", ("12346", "900")),
        (1.2345678e9, 900.0, ".3g", ("1.23e+09", "900")),
    ],
)
def test_more_digits_only_where_they_are_needed(value: float, bound: float, spec: str, texts: tuple[str, str]) -> None:
    assert units.figure_and_bound(value, bound, spec) == texts
    assert units.in_words_with_bound(0.41333, 0.4, "m") == ("413.3 mm", "400 mm")
    assert units.in_words_with_bound(0.400004, 0.4, "m") == ("400.004 mm", "400 mm")
    with pytest.raises(ValueError, match="format"):
        units.figure_and_bound(value, bound, "e")
