"""Mechanism files: what is read, what is refused, and how it is said."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamics import DynamicsError, Mechanism, MechanismError, load_mechanism, mechanism_names, parse_mechanism
from kinematics import leg_lengths

LAB = load_mechanism("lab-hexapod").source
LEGS = LAB[LAB.index("[legs.lower]") :]
HEAD = LAB[: LAB.index("# One [legs] table")]


def six_legs(third: str = LEGS) -> str:
    """The lab hexapod with [[legs]] six times, the third as given."""
    return HEAD + "".join(f"[[legs]]\n{third if index == 2 else LEGS}\n" for index in range(6))


def faults(text: str, *, evaluate_only: bool = False) -> list[str]:
    with pytest.raises(MechanismError) as caught:
        parse_mechanism(text, evaluate_only=evaluate_only)
    return caught.value.faults


def test_shipped_mechanisms() -> None:
    assert mechanism_names() == ("dasgupta-1998", "lab-hexapod", "pedrammehr-2012")
    for name in mechanism_names():
        mechanism = load_mechanism(name, evaluate_only=True)
        assert mechanism.name == name
        assert len(mechanism.legs) == 6
    papers = [load_mechanism(name, evaluate_only=True) for name in ("dasgupta-1998", "pedrammehr-2012")]
    centers = [paper.legs[0].upper.center_of_mass for paper in papers]
    np.testing.assert_array_equal(centers[0], centers[1] * [1.0, 1.0, -1.0])


def test_lab_hexapod_is_what_it_says() -> None:
    mechanism = load_mechanism("lab-hexapod")
    assert mechanism.warnings == ()
    assert mechanism.geometry.home is not None
    np.testing.assert_allclose(leg_lengths(mechanism.geometry, mechanism.geometry.home), 0.494211, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(mechanism.geometry.base_points, axis=1), 0.35, atol=1e-6)
    leg = mechanism.legs[4]
    assert leg.limits is not None
    assert leg.limits.length == (0.40, 0.62)
    assert (leg.load_cell.location, leg.load_cell.mass_beyond) == ("rod_end", 0.12)
    assert leg.friction.coulomb == 4.0
    assert mechanism.limits[4] is leg.limits


def test_the_papers_mechanisms_are_refused_unless_only_evaluated() -> None:
    with pytest.raises(MechanismError) as caught:
        load_mechanism("dasgupta-1998")
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["platform", "legs.lower", "legs.upper"]
    assert "-0.0028" in caught.value.faults[1]
    mechanism = load_mechanism("dasgupta-1998", evaluate_only=True)
    assert list(mechanism.warnings) == caught.value.faults
    allowed = parse_mechanism("allow_unphysical = true\n" + mechanism.source)
    np.testing.assert_array_equal(allowed.array, mechanism.array)
    assert allowed.warnings == mechanism.warnings


def test_one_leg_table_and_six_are_the_same() -> None:
    one, six = parse_mechanism(LAB), parse_mechanism(six_legs())
    np.testing.assert_array_equal(one.array, six.array)
    different = parse_mechanism(six_legs(LEGS.replace("mass = 2.4", "mass = 3.1")))
    assert [leg.lower.mass for leg in different.legs] == [2.4, 2.4, 3.1, 2.4, 2.4, 2.4]


def test_units() -> None:
    text = LAB.replace("mass = 18.0", 'mass = "18000 g"').replace("[0.40, 0.62]", '["400 mm", "62 cm"]')
    text = text.replace("universal_angle = 0.87", 'universal_angle = "49.847328 deg"')
    text = text.replace("[0.342352, -0.072769, 0.0]", '["342.352 mm", -0.072769, 0]')
    changed, plain = parse_mechanism(text), parse_mechanism(LAB)
    np.testing.assert_allclose(changed.array, plain.array, rtol=1e-14)
    assert changed.legs[0].limits is not None
    assert changed.legs[0].limits.universal_angle == pytest.approx(0.87, abs=1e-8)


FAULTS = {
    "unknown key": ("gravity = ", "colour = 3\ngravity = ", "colour: unknown key"),
    "missing key": ("mass = 18.0", "", "platform.mass: missing"),
    "five rows": ("    [0.056940, -0.212504, 0.0],\n", "", "platform.points: 5 entries, must be 6"),
    "row of two": ("[0.342352, -0.072769, 0.0]", "[0.342352, 0.0]", "base.points[0] (leg 1): 2 entries, must be 3"),
    "mass not finite": ("mass = 18.0", "mass = nan", "platform.mass: nan is not finite"),
    "number not finite": (
        "[0.994348, 0.106169, 0.0]",
        "[inf, 0.1, 0]",
        "base.universal_axes[3][0] (leg 4): inf is not finite",
    ),
    "text": ("mass = 18.0", 'mass = "heavy"', "platform.mass: 'heavy' is not a number with a unit"),
    "wrong unit": ("mass = 18.0", 'mass = "18 m"', "platform.mass: '18 m' has the wrong dimension"),
    "boolean": ("mass = 18.0", "mass = true", "platform.mass: True is not a quantity"),
    "no axis": ("[0.589119, 0.808046, 0.0]", "[0, 0, 0]", "base.universal_axes[2] (leg 3): [0.0, 0.0, 0.0] has no"),
    "same point": (
        "[0.342352, 0.072769, 0.0]",
        "[0.342352, -0.072769, 0.0]",
        "base.points: legs 1 and 2 have the same",
    ),
    "negative mass": ("mass = 2.4", "mass = -2.4", "legs.lower.mass: -2.4 kg, must be 0 to 1e+06 kg"),
    "no mass": ("mass = 18.0", "mass = 0", "platform: no real body has this inertia"),
    "asymmetric": ("[0.004, 0.29, 0.003]", "[0.005, 0.29, 0.003]", "platform.inertia: not symmetric: element [0][1]"),
    "triangle": ("[-0.002, 0.003, 0.47]", "[-0.002, 0.003, 0.67]", "platform: no real body has this inertia: princ"),
    "negative friction": ("prismatic = 35.0", "prismatic = -1", "legs.friction.prismatic: -1 N s/m, must be 0 to"),
    "limits reversed": ("[0.40, 0.62]", "[0.62, 0.40]", "legs.limits: length [0.62, 0.4] m must be"),
    "limit of zero": ("force = 400.0", "force = 0", "legs.limits.force: 0 N, must be 0.01 to 1e+07 N"),
    "cell elsewhere": (
        '"rod_end"',
        '"middle"',
        "legs.load_cell.location: 'middle' must be 'actuator', 'rod_end', 'base'",
    ),
    "cell too heavy": ("mass_beyond = 0.12", "mass_beyond = 2", "legs: load_cell.mass_beyond 2 kg is more than"),
    "no table": ("[platform]", "[[platform]]", "platform: must be a table"),
    "no list": ("gravity = [0.0, 0.0, -9.80665]", "gravity = 9.8", "gravity: 9.8 must be a list"),
    "no name": ('name = "lab-hexapod"', 'name = ""', "name: "),
    "no TOML": ("[base]", "[base", "not valid TOML"),
    "key twice": ("mass = 18.0", "mass = 18.0\nmass = 19.0", "not valid TOML"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_one_clear_line(case: str) -> None:
    old, new, message = FAULTS[case]
    assert old in LAB
    found = faults(LAB.replace(old, new))
    assert len(found) == 1, found
    assert found[0].startswith(message)
    assert "\n" not in found[0]


def test_home_outside_the_stroke_is_refused() -> None:
    found = faults(LAB.replace("[0.40, 0.62]", "[0.50, 0.62]"))
    assert len(found) == 6
    assert found[0] == "platform.home: leg 1 is 0.4942 m long there, outside its limits 0.5 to 0.62 m"


def test_all_faults_come_at_once_with_their_path() -> None:
    text = six_legs(LEGS.replace("mass = 2.4", "mass = nan").replace("prismatic = 35.0", "prismatik = 35.0"))
    text = text.replace("    [0.056940, -0.212504, 0.0],\n", "").replace("gravity", "gravty")
    found = faults(text)
    assert {fault.split(":")[0] for fault in found} == {
        "gravity",
        "gravty",
        "platform.points",
        "legs[2].lower.mass (leg 3)",
        "legs[2].friction.prismatik (leg 3)",
    }
    with pytest.raises(MechanismError) as caught:
        parse_mechanism(text, source="mine.toml")
    assert str(caught.value).splitlines()[0] == "mine.toml:"
    assert all(fault in str(caught.value) for fault in found)


def test_evaluating_lets_only_unphysical_bodies_pass() -> None:
    triangle = LAB.replace("[-0.002, 0.003, 0.47]", "[-0.002, 0.003, 0.67]")
    text = triangle.replace("prismatic = 35.0", "prismatic = -1")
    assert len(faults(text)) == 2
    assert faults(text, evaluate_only=True) == ["legs.friction.prismatic: -1 N s/m, must be 0 to 1e+07 N s/m"]
    (warning,) = parse_mechanism(triangle, evaluate_only=True).warnings
    assert warning.startswith("platform: no real body has this inertia")
    assert faults(LAB.replace("mass = 18.0", "mass = 0"), evaluate_only=True) == [
        "platform: mass 0 kg must be at least 1e-06 kg"
    ]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("mass = 18.0", "mass = -18.0", "platform.mass: -18 kg"),
        ("mass = 2.4", 'mass = "-2.4 kg"', "legs.lower.mass: -2.4 kg"),
        ("mass = 1.1", "mass = -1.1", "legs.upper.mass: -1.1 kg"),
    ],
)
def test_a_negative_mass_is_an_error_everywhere(old: str, new: str, place: str) -> None:
    text = LAB.replace(old, new)
    for evaluate_only in (False, True):
        for allowed in (text, "allow_unphysical = true\n" + text):
            (fault,) = faults(allowed, evaluate_only=evaluate_only)
            assert fault == f"{place}, must be 0 to 1e+06 kg"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("velocity = 0.8", "velocity = 1e308", "legs.limits.velocity: 1e+308 m/s, must be 0.0001 to 100 m/s"),
        ("acceleration = 12.0", "acceleration = 1e-9", "legs.limits.acceleration: 1e-09 m/s², must be 0.001 to"),
        ("force = 400.0", "force = 1e300", "legs.limits.force: 1e+300 N, must be 0.01 to 1e+07 N"),
        ("universal_angle = 0.87", "universal_angle = 7", "legs.limits.universal_angle: 7 rad, must be 0.001 to 3.2"),
        ("length = [0.40, 0.62]", "length = [0.40, 1e9]", "legs.limits.length[1]: 1e+09 m, must be -100 to 100 m"),
        ("gravity = [0.0,", "gravity = [1e5,", "gravity[0]: 100000 m/s², must be -100 to 100 m/s²"),
        ("coulomb = 4.0", "coulomb = 1e99", "legs.friction.coulomb: 1e+99 N, must be 0 to 1e+06 N"),
        ("[0.405229, -0.914215, 0.0]", "[1e300, 0, 0]", "base.universal_axes[0][0] (leg 1): 1e+300"),
    ],
)
def test_quantities_that_no_platform_has_are_refused(old: str, new: str, fault: str) -> None:
    assert old in LAB
    (found,) = faults(LAB.replace(old, new, 1))
    assert found.startswith(fault)


def test_wrong_number_of_legs() -> None:
    assert faults(six_legs() + "[[legs]]\n" + LEGS) == ["legs: 7 entries, must be 6"]
    assert faults(HEAD) == ["legs: missing"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match=r"nowhere\.toml: no such file; shipped mechanisms are dasgupta-1998, lab"):
        load_mechanism(tmp_path / "nowhere.toml")
    with pytest.raises(MechanismError, match="cannot be read"):
        load_mechanism(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MechanismError, match="not a text file"):
        load_mechanism(binary)
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * 1_000_001)
    with pytest.raises(MechanismError, match="1000001 bytes, must be at most 1000000"):
        load_mechanism(str(huge))


def test_a_file_is_read_like_its_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(LAB, encoding="utf-8")
    np.testing.assert_array_equal(load_mechanism(path).array, load_mechanism("lab-hexapod").array)


def test_the_error_is_a_dynamics_error_and_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(MechanismError("a.toml", ["x: missing", "y: missing"])))
    assert isinstance(error, MechanismError) and isinstance(error, DynamicsError)
    assert (error.source, error.faults) == ("a.toml", ["x: missing", "y: missing"])
    assert str(error) == "a.toml:\n  x: missing\n  y: missing"


def test_a_mechanism_crosses_processes() -> None:
    mechanism = load_mechanism("lab-hexapod")
    copy = pickle.loads(pickle.dumps(mechanism))
    np.testing.assert_array_equal(copy.array, mechanism.array)
    assert (copy.name, copy.legs[5].limits) == (mechanism.name, mechanism.legs[5].limits)


def test_replace_repacks_and_checks() -> None:
    mechanism = load_mechanism("lab-hexapod")
    heavier = replace(mechanism, mass=20.0)
    assert np.count_nonzero(heavier.array != mechanism.array) == 1
    with pytest.raises(ValueError, match="read-only"):
        heavier.array[0] = 1.0
    with pytest.raises(MechanismError, match=r"platform\.mass: nan is not finite"):
        replace(mechanism, mass=float("nan"))
    with pytest.raises(MechanismError, match=r"gravity: shape \(2,\), must be \(3,\)"):
        replace(mechanism, gravity=np.zeros(2))
    with pytest.raises(MechanismError, match="5 legs, must be 6"):
        replace(mechanism, legs=mechanism.legs[:5])


@settings(max_examples=60)
@given(st.text(max_size=200) | st.integers(0, len(LAB)).map(lambda cut: LAB[:cut]))
def test_any_text_gives_a_mechanism_or_its_faults(text: str) -> None:
    try:
        mechanism = parse_mechanism(text)
    except MechanismError as error:
        assert error.faults
    else:
        assert isinstance(mechanism, Mechanism)
