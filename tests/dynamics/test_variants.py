"""The published models: the errors they are known by, and that these are all that parts them from the exact model."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    Body,
    Dynamics,
    DynamicsError,
    Mechanism,
    SingularityError,
    load_mechanism,
    with_spherical_ends,
)
from dynamics.papers import MODELS, variant_forces
from kinematics import Array, Blend, leg_kinematics, leg_matrix, quaternion_to_matrix

PUBLISHED = MODELS[1:]
ROOT = Path(__file__).parents[2]


def path_motions(factor: float) -> Array:
    """Path I of the 1998 paper (factor 1) or II (10) at its 61 samples, on edges the value from between the blends."""
    path = Blend(
        [0.1, 0.0, 0.4, 0.0, 0.0, -0.2], [0.3, 0.0, 0.6, 0.0, 0.0, 0.2], 6.0 / factor, 0.08 * factor, 0.08 * factor
    )
    times = np.linspace(0.0, 6.0 / factor, 61)
    edges = [times[10], times[50]]
    assert np.abs(np.subtract(edges, [path.breakpoints[0], path.breakpoints[-1]])).max() < 1e-12
    times[10] += 1e-10
    times[50] -= 1e-10
    return path.motion(times)


@pytest.mark.parametrize(
    ("manipulator", "factor", "model", "relative", "peak"),
    [
        ("dasgupta-1998", 1.0, "dasgupta-1998", "1.92", "27.7"),
        ("dasgupta-1998", 1.0, "pedrammehr-2012", "0.07", "1.2"),
        ("dasgupta-1998", 10.0, "dasgupta-1998", "5.73", "103.9"),
        ("dasgupta-1998", 10.0, "pedrammehr-2012", "5.62", "118.5"),
        ("pedrammehr-2012", 1.0, "dasgupta-1998", "2.32", "34.3"),
        ("pedrammehr-2012", 1.0, "pedrammehr-2012", "0.08", "1.2"),
        ("pedrammehr-2012", 10.0, "dasgupta-1998", "5.78", "104.8"),
        ("pedrammehr-2012", 10.0, "pedrammehr-2012", "5.70", "120.7"),
    ],
)
def test_error_on_the_published_paths(manipulator: str, factor: float, model: str, relative: str, peak: str) -> None:
    mechanism = load_mechanism(manipulator, evaluate_only=True)
    motions = path_motions(factor)
    exact = variant_forces("exact", mechanism, motions)
    error = variant_forces(model, mechanism, motions) - exact
    assert f"{100.0 * np.sqrt(np.mean(error**2) / np.mean(exact**2)):.2f}" == relative
    assert f"{np.abs(error).max():.1f}" == peak


def test_dynamic_fraction_on_path_i() -> None:
    """F_d/F of 1998, section 5.1: 14 to 29 % by leg, median over the path."""
    mechanism = load_mechanism("dasgupta-1998", evaluate_only=True)
    motions = path_motions(1.0)
    exact = variant_forces("exact", mechanism, motions)
    fraction = np.abs((exact - variant_forces("massless", mechanism, motions)) / exact)
    medians = np.median(fraction, axis=0)
    assert f"{100.0 * medians.min():.0f} {100.0 * medians.max():.0f}" == "14 29"


def moved(mass: float, place: Array) -> Array:
    return mass * (place @ place * np.eye(3) - np.outer(place, place))


def changed_legs(mechanism: Mechanism, lower: list[Array], upper: list[Array]) -> Mechanism:
    """The mechanism with other inertias of its legs' parts."""
    legs = tuple(
        replace(
            leg,
            lower=Body(leg.lower.mass, leg.lower.center_of_mass, low),
            upper=Body(leg.upper.mass, leg.upper.center_of_mass, up),
        )
        for leg, low, up in zip(mechanism.legs, lower, upper, strict=True)
    )
    return replace(mechanism, legs=legs)


@pytest.mark.parametrize("seed", range(6))
def test_pedrammehr_is_exact_but_for_its_inertias(seed: int) -> None:
    """Inertias that the parallel-axis terms of eqs. 32, 33 and 50 bring back to what they were give exact forces."""
    mechanism = random_mechanism(seed)
    motion = random_motions(seed + 20, 1)[0]
    wrench = np.random.default_rng(seed).normal(scale=30.0, size=6)
    rotation = quaternion_to_matrix(motion[3:7])
    geometry = mechanism.geometry
    legs = leg_kinematics(geometry, motion)
    lower, upper = [], []
    for index, leg in enumerate(mechanism.legs):
        s = legs.direction[index]
        v = np.cross(geometry.universal_axes[index], s)
        v /= np.linalg.norm(v)
        axes = np.column_stack([s, v, np.cross(s, v)])
        lower.append(leg.lower.inertia - moved(leg.lower.mass, axes @ leg.lower.center_of_mass))
        place = axes @ leg.upper.center_of_mass + legs.length[index] * s
        upper.append(leg.upper.inertia - moved(leg.upper.mass, place))
    mended = changed_legs(mechanism, lower, upper)
    inertia = mechanism.inertia - moved(mechanism.mass, rotation @ mechanism.center_of_mass)
    mended = replace(mended, inertia=inertia)
    expected = Dynamics(mechanism).forces(motion, wrench)
    actual = variant_forces("pedrammehr-2012", mended, motion, wrench)[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-9)
    as_printed = variant_forces("pedrammehr-2012", mechanism, motion, wrench)[0]
    assert np.abs(as_printed - expected).max() > 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(6))
def test_dasgupta_is_exact_but_for_its_inertia_and_spin(seed: int) -> None:
    """From rest, with u across the leg, there is no spin and the joint's moment is along the leg, as in the paper."""
    mechanism = random_mechanism(seed)
    motion = random_motions(seed + 30, 1)[0]
    motion[7:13] = 0.0
    legs = leg_kinematics(mechanism.geometry, motion)
    axes = np.cross(mechanism.geometry.universal_axes, legs.direction)
    mechanism = replace(mechanism, geometry=replace(mechanism.geometry, universal_axes=axes))
    upper = [
        leg.upper.inertia - leg.upper.mass * length**2 * np.diag([0.0, 1.0, 1.0])
        for leg, length in zip(mechanism.legs, legs.length, strict=True)
    ]
    mended = changed_legs(mechanism, [leg.lower.inertia for leg in mechanism.legs], upper)
    wrench = np.random.default_rng(seed).normal(scale=30.0, size=6)
    expected = Dynamics(mechanism).forces(motion, wrench)
    np.testing.assert_allclose(
        variant_forces("dasgupta-1998", mended, motion, wrench)[0], expected, rtol=1e-11, atol=1e-9
    )
    as_printed = variant_forces("dasgupta-1998", mechanism, motion, wrench)[0]
    assert np.abs(as_printed - expected).max() > 1e-3 * np.abs(expected).max()


def test_massless_is_exact_without_legs() -> None:
    mechanism = random_mechanism(3, friction=False)
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    bare = replace(mechanism, legs=tuple(replace(leg, lower=nothing, upper=nothing) for leg in mechanism.legs))
    motions = random_motions(3, 5)
    wrenches = np.random.default_rng(3).normal(scale=30.0, size=(5, 6))
    np.testing.assert_allclose(
        variant_forces("massless", mechanism, motions, wrenches),
        Dynamics(bare).inverse(motions, wrenches).forces,
        rtol=1e-11,
        atol=1e-9,
    )


@pytest.mark.parametrize("model", PUBLISHED)
def test_at_rest_with_parts_on_the_leg_axes_all_models_agree(model: str) -> None:
    mechanism = random_mechanism(4)
    on_axis = [
        replace(
            leg,
            lower=Body(leg.lower.mass, np.array([0.2, 0.0, 0.0]), leg.lower.inertia),
            upper=Body(leg.upper.mass, np.array([-0.2, 0.0, 0.0]), leg.upper.inertia),
        )
        for leg in mechanism.legs
    ]
    mechanism = replace(
        mechanism, legs=tuple(on_axis), gravity=np.zeros(3) if model == "massless" else np.array([0.5, -1.0, -9.0])
    )
    motions = random_motions(4, 5)
    motions[:, 7:] = 0.0
    wrench = [10.0, -20.0, 30.0, 1.0, -2.0, 3.0]
    exact = variant_forces("exact", mechanism, motions, wrench)
    np.testing.assert_allclose(variant_forces(model, mechanism, motions, wrench), exact, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_a_wrench_is_in_platform_axes(model: str) -> None:
    mechanism = random_mechanism(1)
    motion = random_motions(1, 1)[0]
    wrench = np.array([3.0, -20.0, 11.0, 1.0, 4.0, -7.0])
    change = (variant_forces(model, mechanism, motion, wrench) - variant_forces(model, mechanism, motion))[0]
    rotation = quaternion_to_matrix(motion[3:7])
    base = np.concatenate([rotation @ wrench[:3], rotation @ wrench[3:]])
    np.testing.assert_allclose(leg_matrix(mechanism.geometry, motion[:7]) @ change, -base, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_a_long_path_is_its_samples(model: str) -> None:
    mechanism = random_mechanism(2)
    motions = random_motions(2, 10_000)
    forces = variant_forces(model, mechanism, motions)
    assert forces.shape == (10_000, 6)
    for sample in (0, 2047, 2048, 9999):
        np.testing.assert_allclose(forces[sample], variant_forces(model, mechanism, motions[sample])[0], rtol=1e-11)


def test_no_published_model_has_coulomb_friction() -> None:
    motions = random_motions(5, 4)
    for model in PUBLISHED:
        np.testing.assert_array_equal(
            variant_forces(model, random_mechanism(5, coulomb=True), motions),
            variant_forces(model, without_coulomb(random_mechanism(5, coulomb=True)), motions),
        )


def without_coulomb(mechanism: Mechanism) -> Mechanism:
    legs = tuple(replace(leg, friction=replace(leg.friction, coulomb=0.0)) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


@pytest.mark.parametrize("model", MODELS)
def test_what_cannot_be_computed_is_refused(model: str) -> None:
    mechanism = random_mechanism(0)
    geometry = mechanism.geometry
    motions = random_motions(0, 3)
    reach = quaternion_to_matrix(motions[2, 3:7]) @ geometry.platform_points[3]
    motions[2, :3] = geometry.base_points[3] + 0.6 * geometry.universal_axes[3] - reach
    with pytest.raises(SingularityError, match=r"sample 2: leg 4 .*universal"):
        variant_forces(model, mechanism, motions)
    with pytest.raises(DynamicsError, match=r"motions: .*shape"):
        variant_forces(model, mechanism, np.zeros((2, 18)))
    with pytest.raises(DynamicsError, match="wrenches: 2 samples"):
        variant_forces(model, mechanism, random_motions(0, 3), np.zeros((2, 6)))
    flat = replace(mechanism, geometry=replace(geometry, platform_points=geometry.base_points * 0.6, home=None))
    level = random_motions(0, 1)
    level[0, :7] = [0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SingularityError, match="sample 0: the platform is singular"):
        variant_forces(model, flat, level)


def test_an_unknown_model_is_named_with_the_known_ones() -> None:
    with pytest.raises(DynamicsError, match=r"'newton'.*exact, dasgupta-1998, pedrammehr-2012, massless"):
        variant_forces("newton", random_mechanism(0), random_motions(0, 1))


def test_no_variant_gets_near_control() -> None:
    """Engine, virtual rig and calibration name neither the function nor the package of the variants."""
    folders = [ROOT / "rig" / "engine", ROOT / "rig" / "virtual", ROOT / "calibration", ROOT / "actuators"]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert files
    for path in files:
        names = {
            node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.alias)
        }
        assert not names & {"variant_cells", "variant_forces", "MODELS", "papers", "dynamics.papers"}, path


@pytest.mark.parametrize("seed", range(3))
def test_mended_2012_is_the_exact_model(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    motions, wrench = random_motions(seed + 40, 4), np.random.default_rng(seed).normal(scale=30.0, size=6)
    exact = Dynamics(mechanism).inverse(motions, wrench).forces
    mended = variant_forces("pedrammehr-2012-mended", mechanism, motions, wrench, friction="same")
    np.testing.assert_allclose(mended, exact, rtol=1e-11, atol=1e-9)


def test_mended_1998_lacks_the_spin_and_the_joint_s_moment_only() -> None:
    """Of legs that a spherical joint at the base would serve as well, it is exact for those."""
    machine = with_spherical_ends(symmetric(random_mechanism(7)))
    motions = random_motions(7, 6, speed=2.0)
    exact = Dynamics(machine).inverse(motions).forces
    np.testing.assert_allclose(variant_forces("dasgupta-1998-mended", machine, motions), exact, rtol=1e-11, atol=1e-9)
    printed = variant_forces("dasgupta-1998", machine, motions)
    assert np.abs(printed - exact).max() > 1e-2 * np.abs(exact).max()


def symmetric(mechanism: Mechanism) -> Mechanism:
    def body(one: Body) -> Body:
        across = one.inertia[1, 1]
        return Body(one.mass, one.center_of_mass * [1.0, 0.0, 0.0], np.diag([one.inertia[0, 0], across, across]))

    legs = tuple(
        replace(
            leg,
            lower=body(leg.lower),
            upper=body(leg.upper),
            friction=replace(leg.friction, universal=0.0, spherical=0.0),
            load_cell=replace(leg.load_cell, mass_beyond=0.0),
        )
        for leg in mechanism.legs
    )
    return replace(mechanism, legs=legs)


@pytest.mark.parametrize("model", PUBLISHED)
def test_friction_is_the_same_in_every_model(model: str) -> None:
    """What the friction of the prismatic joints adds is the same force in every model; none of it is left with none."""
    mechanism = random_mechanism(6, coulomb=True)
    legs = tuple(replace(leg, friction=replace(leg.friction, universal=0.0, spherical=0.0)) for leg in mechanism.legs)
    mechanism = replace(mechanism, legs=legs)
    motions = random_motions(6, 5)
    speed = leg_kinematics(mechanism.geometry, motions).velocity
    expected = [leg.friction.prismatic for leg in legs] * speed + [leg.friction.coulomb for leg in legs] * np.sign(
        speed
    )
    same, none = (variant_forces(model, mechanism, motions, friction=kind) for kind in ("same", "none"))
    np.testing.assert_allclose(same - none, expected, atol=1e-9)
    exact = variant_forces("exact", mechanism, motions, friction="same")
    np.testing.assert_array_equal(exact, variant_forces("exact", mechanism, motions))
    with pytest.raises(DynamicsError, match=r"friction: 'half', must be one of printed, same, none"):
        variant_forces(model, mechanism, motions, friction="half")  # type: ignore[arg-type]
