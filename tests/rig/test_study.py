"""The study of a mechanism: against an independent engine, against the papers' own studies, and what it says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pinocchio_platform import PinocchioPlatform
from studied import MACHINES, PATH_1, PATH_2, PATH_3, along, at_home, shipped, sway, tilted

from dynamics import Body, Drive, Dynamics, Friction, LegLimits, Mechanism, massless_legs, papers
from kinematics import Array, Trajectory, leg_kinematics, leg_matrices
from rig.errors import FieldError, InputError
from rig.motions import SampledMotion, SourceKind, read_motion
from rig.papers import dasgupta_1998, dasgupta_singular, paths, pedrammehr_2012, rms, spherical_ends
from rig.study import TERMS, MachineStudy, Statement, force_terms, study_machine
from rig.study.measures import exceeded_limits
from rig.study.statements import _FORMATTER, _TEXTS, statement

RUNS = {"I": PATH_1, "II": PATH_2, "III": PATH_3}


def study(machine: Mechanism, motion: SampledMotion, **options: Any) -> MachineStudy:
    """A study with few static poses."""
    return study_machine(machine, motion, **({"poses": 200} | options))


def codes(made: MachineStudy) -> set[str]:
    return {one.code for found in made.statements.values() for one in found}


def stated(made: MachineStudy, code: str) -> Statement:
    (found,) = [one for each in made.statements.values() for one in each if one.code == code]
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_forces_and_reactions_are_those_of_an_independent_engine(name: str) -> None:
    """Pinocchio's closed chain, at samples that are not at rest, where Coulomb friction has no sign."""
    machine, motion = MACHINES[name]()
    made = study(machine, motion)
    peer = PinocchioPlatform(machine)
    moving = np.flatnonzero(np.abs(motion.motions[:, 7:13]).max(axis=1) > 1e-3)
    samples = moving[:: max(len(moving) // 8, 1)]
    assert len(samples) >= 8
    for sample in samples:
        wrench = np.zeros(6) if motion.wrenches is None else motion.wrenches[sample]
        forces, tops = peer.inverse(motion.motions[sample], wrench)
        np.testing.assert_allclose(made.forces.exact[sample], forces, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(made.forces.reactions.tops[sample], tops, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MACHINES)
def test_causes_add_up_and_are_the_model_s_own(name: str) -> None:
    machine, motion = MACHINES[name]()
    terms = force_terms(machine, motion.motions, motion.wrenches)
    model = Dynamics(machine)
    scale = np.abs(terms).max()
    for sample in range(0, len(motion.times), 7):
        wrench = None if motion.wrenches is None else motion.wrenches[sample]
        known = model.cell_and_terms(motion.motions[sample], wrench)
        inertia, gravity, leg_inertia, friction, external = known.terms
        found = dict(zip(TERMS, terms[:, sample], strict=True))
        np.testing.assert_allclose(terms[:, sample].sum(axis=0), known.forces, atol=1e-11 * scale)
        np.testing.assert_allclose(found["platform inertia"], inertia, atol=1e-11 * scale)
        np.testing.assert_allclose(found["platform gravity"] + found["legs' gravity"], gravity, atol=1e-11 * scale)
        np.testing.assert_allclose(found["legs' inertia"], leg_inertia, atol=1e-11 * scale)
        np.testing.assert_allclose(found["friction"], friction, atol=1e-11 * scale)
        np.testing.assert_allclose(found["external"], external, atol=1e-11 * scale)


def test_the_platform_s_weight_is_carried_by_its_cause() -> None:
    """H F = −[M g; r×M g], whatever the motion."""
    machine, motion = MACHINES["tilted"]()
    weight = force_terms(machine, motion.motions, None)[0]
    from kinematics import quaternion_to_matrix

    arms = np.einsum("nij,j->ni", quaternion_to_matrix(motion.motions[:, 3:7]), machine.center_of_mass)
    load = machine.mass * machine.gravity
    expected = -np.hstack([np.tile(load, (len(arms), 1)), np.cross(arms, load)])
    carried = np.einsum("nij,nj->ni", leg_matrices(machine.geometry, motion.motions[:, :7]), weight)
    np.testing.assert_allclose(carried, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["I", "II", "III"])
def test_the_machine_of_1998_gives_the_paper_s_study(name: str) -> None:
    run, trajectory = paths.run_path(name), RUNS[name]
    made = study(shipped("dasgupta-1998"), along(trajectory, trajectory.duration / 60), friction="printed")
    np.testing.assert_array_equal(made.motion.times, run.times)
    np.testing.assert_array_equal(made.motion.motions, run.motions)
    np.testing.assert_array_equal(made.forces.exact, run.exact)
    np.testing.assert_array_equal(made.forces.massless, run.massless)
    np.testing.assert_array_equal(made.forces.models["massless"], run.massless)
    np.testing.assert_array_equal(made.forces.models["dasgupta-1998"], run.dasgupta)
    np.testing.assert_array_equal(made.forces.models["pedrammehr-2012"], run.pedrammehr)
    np.testing.assert_array_equal(made.forces.dynamic, run.dynamic)
    np.testing.assert_array_equal(made.forces.fraction, run.fraction)
    np.testing.assert_array_equal(made.measures.condition, run.condition)
    np.testing.assert_array_equal(made.forces.peak, run.peak)
    crossed = [one.time for one in made.measures.singularities if one.crossed]
    np.testing.assert_allclose(crossed, paths.singular_times(name), atol=2e-6)
    errors = {one.model: one for one in made.forces.errors}
    assert (errors["dasgupta-1998"].rms, errors["dasgupta-1998"].peak) == paths.force_error(run.dasgupta, run.exact)
    medians = np.median(np.abs(run.fraction), axis=0)
    assert stated(made, "fraction").values["least"] == pytest.approx(100.0 * medians.min())
    assert stated(made, "fraction").values["greatest"] == pytest.approx(100.0 * medians.max())
    assert stated(made, "crossing").values["legs"] == run.crossing
    same = study(shipped("dasgupta-1998"), along(trajectory, trajectory.duration / 60))
    for model in ("dasgupta-1998", "pedrammehr-2012"):  # no Coulomb friction in this machine
        np.testing.assert_array_equal(same.forces.models[model], made.forces.models[model])
    assert np.abs(same.forces.models["massless"] - run.massless).max() > 0.0


def test_errors_of_the_published_models_are_the_known_ones() -> None:
    one = study(shipped("dasgupta-1998"), along(PATH_1, 0.1))
    two = study(shipped("dasgupta-1998"), along(PATH_2, 0.01))
    found = [(round(error.rms, 2), round(error.peak, 1)) for made in (one, two) for error in made.forces.errors
             if error.model in papers.MODELS[1:3]]  # fmt: skip
    assert found == [(1.92, 27.7), (0.07, 1.2), (5.73, 103.9), (5.62, 118.5)]
    assert {"improved", "improved-peak", "counted-once-little", "mended"} <= codes(one)
    assert {"improved", "improved-peak-not", "counted-once"} <= codes(two)
    assert stated(one, "improved").values["factor"] == pytest.approx(1.92 / 0.07, rel=0.1)
    own = [one.computed for one in pedrammehr_2012._at_rest(paths.run_path("I", "pedrammehr-2012"))]
    assert isinstance(own[0], float) and isinstance(own[1], float)
    rested = study(shipped("pedrammehr-2012"), along(PATH_1, 0.1))
    errors = {error.model: error for error in rested.forces.errors}
    assert errors["pedrammehr-2012"].at_rest == pytest.approx(own[0])
    old = errors["dasgupta-1998"]
    assert old.at_rest / old.rms == pytest.approx(own[1])


def test_the_legs_turn_as_in_the_paper_of_2012() -> None:
    pods = pedrammehr_2012.pods_of(PATH_1)
    made = study(shipped("dasgupta-1998"), along(PATH_1, 0.1)).forces
    np.testing.assert_allclose(made.legs.angular_velocity, pods.velocity, atol=1e-14)
    np.testing.assert_allclose(made.turning, pods.velocity_simple, atol=1e-13)
    np.testing.assert_allclose(made.turning_acceleration, pods.acceleration_simple, atol=1e-12)


def test_the_guide_s_numbers_of_the_demonstration() -> None:
    """docs/researcher.md and record 041."""
    lab = shipped("lab-hexapod")
    made = study(lab, read_motion("demo", lab.geometry))
    errors = {error.model: f"{error.rms:.1f}" for error in made.forces.errors}
    assert f"{stated(made, 'fraction').values['median']:.0f}" == "33"
    assert [errors[model] for model in ("dasgupta-1998", "pedrammehr-2012", "massless")] == ["4.8", "1.8", "28.0"]
    assert pytest.approx(rms(made.forces.terms[4]) / rms(made.forces.exact), rel=0.02) == 1.0 / 7.0


def test_spin_and_moment_each_by_itself() -> None:
    """At rest nothing spins, and what is left of 1998 is its moment; legs without mass bear neither."""
    machine, motion = MACHINES["tilted"]()
    made = study(machine, motion)
    errors = {error.model: error for error in made.forces.errors}
    assert errors["without-spin"].at_rest < 1e-9 < errors["without-spin"].rms
    assert errors["moment-along-leg"].at_rest == pytest.approx(errors["dasgupta-1998-mended"].at_rest)
    assert stated(made, "without-spin").values["spin"] == errors["without-spin"].rms
    assert "without-spin" not in codes(study(massless_legs(machine), motion))


def test_spherical_ends_are_lagrange_s_rods() -> None:
    machine = spherical_ends.symmetric_legs(shipped("dasgupta-1998"))
    motion = along(PATH_2, 0.01)
    made = study(machine, motion)
    assert "at-rest-exact" in codes(made)
    ends = made.forces.ends
    assert ends.faults == ()
    expected = spherical_ends.rod_forces(machine, motion.motions)
    np.testing.assert_allclose(ends.spherical, expected, atol=1e-9 * np.abs(expected).max())
    made = study(shipped("dasgupta-1998"), motion)
    np.testing.assert_allclose(made.forces.ends.spherical, expected, atol=1e-9 * np.abs(expected).max())
    assert "leg 1: lower.center_of_mass" in stated(made, "ends-symmetric").text
    change = np.abs(ends.spherical - ends.universal).max()
    assert stated(made, "ends").values["peak"] == pytest.approx(change)


def test_static_poses_of_the_paper_s_box() -> None:
    low, high = map(np.array, dasgupta_singular._BOXES[dasgupta_singular._NEAR])
    drawn = dasgupta_singular._DRAWN
    box = study(shipped("dasgupta-1998"), along(PATH_3, 0.1), box=(low, high), poses=drawn).box
    expected = dasgupta_singular.random_poses()
    np.testing.assert_allclose(box.condition, expected.condition, rtol=1e-9)
    np.testing.assert_allclose(box.by_1998, expected.peak, rtol=1e-12)
    assert box.decades[2].count == np.count_nonzero((expected.condition >= 1e2) & (expected.condition < 1e3))
    correlation = dasgupta_singular.rank_correlation(box.condition, box.by_1998)
    assert box.correlation == pytest.approx(correlation, abs=0.01)
    assert sum(one.count for one in box.decades) == drawn


def test_operations_are_those_of_the_paper_s_study() -> None:
    made = study(shipped("dasgupta-1998"), along(PATH_1, 0.1), friction="none")
    for ours, theirs in zip(made.counts.rows, dasgupta_1998.operations(), strict=True):
        assert (ours.part, ours.as_printed, ours.counted) == (theirs.part, theirs.as_printed, theirs.counted)
    assert made.counts.structural["total"] < made.counts.rows[3].counted
    assert {"friction-none"} <= codes(made)
    assert not made.forces.terms[4].any()


def test_measures_are_those_of_the_matrix() -> None:
    machine, motion = MACHINES["tilted"]()
    measures = study(machine, motion).measures
    H = leg_matrices(machine.geometry, motion.motions[:, :7])
    np.testing.assert_allclose(measures.condition, np.linalg.cond(H), rtol=1e-9)
    scaled = H / np.repeat([1.0, measures.length], 3)[:, None]
    np.testing.assert_allclose(measures.scaled, np.linalg.cond(scaled), rtol=1e-9)
    np.testing.assert_allclose(measures.determinant, np.linalg.det(H), rtol=1e-9)
    np.testing.assert_allclose(measures.manipulability, np.abs(np.linalg.det(scaled)), rtol=1e-9)
    worst = np.linalg.norm(np.linalg.inv(scaled), ord=2, axis=(1, 2))
    np.testing.assert_allclose(measures.amplification, worst, rtol=1e-9)


def test_singular_samples_are_omitted_and_reported() -> None:
    """A platform whose joints lie as those of the base, turned by 90°, is singular (Fichter)."""
    lab = shipped("lab-hexapod")
    level = along(sway(lab), 0.1)
    poses = level.motions.copy()
    poses[5] = 0.0
    poses[5, [2, 3, 6]] = 0.45, np.sqrt(0.5), np.sqrt(0.5)
    found = study(lab, replace(level, motions=poses, trajectory=None))
    assert found.left_out.tolist() == [level.times[5]]
    assert len(found.motion.times) == len(level.times) - 1
    assert stated(found, "left-out").values == {"count": 1, "time": level.times[5]}
    still = replace(level, motions=np.repeat(poses[5:6], 3, axis=0), times=level.times[:3], trajectory=None)
    with pytest.raises(InputError, match="path: the platform is singular at every sample but 0"):
        study(lab, still)
    along_axis = poses.copy()
    reach = lab.geometry.platform_points[3]
    along_axis[2, :7] = [*(lab.geometry.base_points[3] + 0.5 * lab.geometry.universal_axes[3] - reach), 1, 0, 0, 0]
    with pytest.raises(InputError, match=r"path: t = 0\.2 s: .*\n.*leg 4 .* universal joint"):
        study(lab, replace(level, motions=along_axis, trajectory=None))


def test_a_sign_change_at_a_singularity_is_no_zero_of_a_force() -> None:
    """At the singularity of path III all forces change their sign, and only leg 4's has passed zero."""
    made = study(shipped("dasgupta-1998"), along(PATH_3, 0.01))
    assert stated(made, "crossing").values["legs"] == (1, 2, 3, 4, 5, 6)
    assert [len(times) for times in made.zeros] == [0, 0, 0, 1, 0, 0]
    assert stated(made, "fraction-poles").text == "It has poles where the total force passes zero: in leg 4."


def limited(machine: Mechanism, limits: LegLimits) -> Mechanism:
    return replace(machine, legs=tuple(replace(leg, limits=limits) for leg in machine.legs))


def test_limits_that_are_exceeded_are_named() -> None:
    machine, motion = MACHINES["lab-hexapod"]()
    made = study(machine, motion)
    assert made.exceeded == ()
    lengths = made.forces.legs.length
    bounds = LegLimits((lengths.min() - 0.1, lengths.max() - 1e-3), 1e-3, 1e-3, 1.0, 1e-3, 1e-3)
    narrow = limited(machine, bounds)
    found = {one.limit: one for one in exceeded_limits(narrow, motion, made.forces.exact)}
    assert set(found) == {"velocity", "acceleration", "force", "length", "universal angle", "spherical angle"}
    length = found["length"]
    assert length.leg == int(lengths.max(axis=0).argmax()) + 1
    assert length.time == motion.times[lengths.max(axis=1).argmax()]
    assert (length.value, length.bound) == (lengths.max(), pytest.approx(lengths.max() - 1e-3))
    assert found["force"].value == pytest.approx(np.abs(made.forces.exact).max())
    with pytest.raises(FieldError, match="box: none of 200 poses in it is within the strokes"):
        study(narrow, motion)


def test_one_row_and_decreasing_times_are_refused() -> None:
    machine, motion = MACHINES["tilted"]()
    for rows, fault in (([0], "path: 1 rows, must be at least 2"), ([0, 2, 1], "path: row 3: t = 0.02 s does not")):
        part = replace(motion, times=motion.times[rows], motions=motion.motions[rows], wrenches=None, trajectory=None)
        with pytest.raises(InputError, match=fault):
            study(machine, part)


def test_a_box_of_no_size_is_refused() -> None:
    machine, motion = MACHINES["tilted"]()
    for low, high in ((np.ones(6), np.zeros(6)), (np.zeros(6), np.zeros(6)), (np.zeros(6), np.full(6, np.inf))):
        with pytest.raises(FieldError, match="box: from"):
            study(machine, motion, box=(low, high))


def test_statements_without_motion_leg_mass_or_gravity() -> None:
    lab = shipped("lab-hexapod")
    still = study(lab, at_home(lab))
    assert {"no-turning", "no-crossing", "regular", "pushing"} <= codes(still)
    assert stated(still, "pushing").text == "Pushing throughout: legs 1, 2, 3, 4, 5, 6."
    assert not {"spin", "crossing", "exceeded-force"} & codes(still)
    bare = study(replace(massless_legs(lab), center_of_mass=np.zeros(3)), along(sway(lab), 0.05))
    assert {"machine-massless-legs", "no-friction", "no-error"} <= codes(bare)
    assert "no-dynamic" in codes(bare)
    assert "fraction" not in codes(bare)
    floating = study(replace(lab, gravity=np.zeros(3)), along(sway(lab), 0.05))
    assert "peak-force-weightless" in codes(floating)
    with pytest.raises(InputError, match="path: no leg has any force"):
        study(replace(lab, gravity=np.zeros(3)), at_home(lab))
    hung = replace(lab, gravity=-lab.gravity)
    assert "pulling" in codes(study(hung, at_home(hung)))


def test_long_tables_are_thinned_and_their_kind_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, most = shipped("lab-hexapod"), 50
    monkeypatch.setattr("rig.study.study.MOST_SAMPLES", most)
    motion = along(sway(lab), 3.0 / (2 * most))
    table = replace(motion, kind="recording", trajectory=None)
    made = study(lab, table)
    assert len(made.motion.times) <= most + 1
    assert stated(made, "thinned").values["stride"] == 3
    assert "commanded" in codes(made)
    short = along(sway(lab), 0.05)
    kinds: tuple[tuple[SourceKind, Trajectory | None, str], ...] = (
        ("lengths", short.trajectory, "derived-lengths"),
        ("poses", short.trajectory, "derived-poses"),
        ("poses", None, "derived-accelerations"),
    )
    for kind, trajectory, code in kinds:
        assert code in codes(study(lab, replace(short, kind=kind, trajectory=trajectory)))
    assert "operations-general" in codes(study(*MACHINES["tilted"]()))
    loaded = replace(short, wrenches=np.tile([3.0, 4.0, 0.0, 0.0, 0.0, 2.0], (len(short.times), 1)))
    found = stated(study(lab, loaded), "wrench")
    assert found.text == "An external wrench acts on the platform: up to 5 N and 2 N m."


def test_friction_of_the_models_is_chosen() -> None:
    machine, motion = MACHINES["tilted"]()
    speed = leg_kinematics(machine.geometry, motion.motions).velocity
    coulomb = np.array([leg.friction.coulomb for leg in machine.legs]) * np.sign(speed)
    same, printed, none = (study(machine, motion, friction=kind).forces for kind in ("same", "printed", "none"))
    for model in ("dasgupta-1998", "pedrammehr-2012"):
        np.testing.assert_allclose(same.models[model] - printed.models[model], coulomb, atol=1e-9)
    exact = {error.model: error.peak for error in same.errors}
    assert exact["pedrammehr-2012-mended"] < 1e-9
    assert {error.model: error.peak for error in printed.errors}["pedrammehr-2012-mended"] > 1.0
    np.testing.assert_array_equal(printed.exact, same.exact)
    assert np.abs(none.exact - same.exact).max() > 1.0


def test_drives_count_as_legs_in_the_dynamic_force() -> None:
    """The dynamic force F_d has their inertia and friction, as its parts have; the compared models all have them."""
    machine, motion = MACHINES["tilted"]()
    drives = [Drive(inertia=5e-5, lead=0.005, viscous=20.0, coulomb=3.0 + place) for place in range(6)]
    legs = tuple(replace(leg, drive=drive) for leg, drive in zip(machine.legs, drives, strict=True))
    bare, made = study(machine, motion), study(replace(machine, legs=legs), motion)
    forces, legs_motion = made.forces, leg_kinematics(machine.geometry, motion.motions)
    speed, mass = legs_motion.velocity, 5e-5 * (2.0 * np.pi / 0.005) ** 2
    inertia, coulomb = mass * legs_motion.acceleration, np.arange(3.0, 9.0) * np.sign(speed)
    scale = 1e-11 * np.abs(forces.exact).max()
    np.testing.assert_allclose(forces.terms[3] - bare.forces.terms[3], inertia, atol=scale)
    np.testing.assert_allclose(forces.terms[4] - bare.forces.terms[4], 20.0 * speed + coulomb, atol=scale)
    np.testing.assert_allclose(forces.massless, bare.forces.massless, atol=scale)
    np.testing.assert_allclose(forces.dynamic, forces.terms[2:5].sum(axis=0), atol=scale)
    for model, found in forces.models.items():
        apart = bare.forces.models[model] - bare.forces.exact
        np.testing.assert_allclose(found - forces.exact, apart, atol=scale)
    text = stated(made, "drives").text
    assert text.startswith("Rotors, gears and screws of the drives resist as 78.96 kg at each rod")
    assert {"drives", "drives-same"} <= codes(made) and not {"drives", "drives-same"} & codes(bare)
    unlike = (replace(legs[0], drive=Drive(reflected_mass=1.5)), *legs[1:])
    text = stated(study(replace(machine, legs=unlike), motion), "drives-unlike").text
    assert text.startswith("Rotors, gears and screws of the drives resist as 1.5 kg to 78.96 kg at the rods")


def test_every_statement_gives_its_values_with_units() -> None:
    """Each names its values with units, and none is left in braces."""
    for code, text in _TEXTS.items():
        fields = [(name, unit) for _, name, unit, _ in _FORMATTER.parse(text) if name]
        values = {name: "words" if name in ("name", "source", "first", "second", "reason", "reaction", "unit") else 0.5
                  for name, _ in fields}  # fmt: skip
        made = Statement(code, values).text
        assert made.endswith(".") and "{" not in made and "  " not in made, code
        assert made[0].isupper() or made.startswith("det H"), code
        assert made.count("0.5") >= sum(value == 0.5 for value in values.values()), code


def test_an_infinite_value_is_without_bound_in_text_and_null_in_json() -> None:
    found = statement("amplification", most=float("inf"))
    assert found.text == "A load of 1 N on the platform, at worst, takes leg forces with this norm: without bound."
    assert found.as_dict()["values"] == {"most": None}


def test_a_study_of_a_mechanism_with_a_body_of_no_inertia() -> None:
    """Parts that are points are as good as any: nothing divides by an inertia."""
    lab = shipped("lab-hexapod")
    point = Body(1.0, np.array([0.1, 0.0, 0.0]), np.zeros((3, 3)))
    legs = tuple(replace(leg, lower=point, upper=point, friction=Friction()) for leg in lab.legs)
    made = study(replace(lab, legs=legs), along(sway(lab), 0.05))
    assert made.forces.ends.faults == ()
    forces: Array = made.forces.exact
    assert np.isfinite(forces).all()


def test_the_tilted_machine_is_tilted_and_unlike() -> None:
    """What the comparison with Pinocchio stands on: axes off the base's plane and off its radii, no two legs alike."""
    geometry = tilted().geometry
    axes = geometry.universal_axes / np.linalg.norm(geometry.universal_axes, axis=1, keepdims=True)
    radial = geometry.base_points / np.linalg.norm(geometry.base_points, axis=1, keepdims=True)
    tangent = np.cross([0.0, 0.0, 1.0], radial)
    assert (np.abs(axes[:, 2]) > 0.01).all()
    assert (np.abs(np.einsum("ij,ij->i", axes, radial)) < 0.999).all()
    assert (np.abs(np.einsum("ij,ij->i", axes, tangent)) < 0.9999).all()
    assert len({leg.lower.mass for leg in tilted().legs}) == 6
