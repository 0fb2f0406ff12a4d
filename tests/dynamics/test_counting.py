"""The counting scalar, and the papers' tables of operations beside the counts."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import random_mechanism, random_motions
from test_spherical_ends import symmetric

from dynamics import (
    OK,
    WORK_SIZE,
    Dynamics,
    DynamicsError,
    Friction,
    inverse_kernel,
    load_mechanism,
    with_spherical_ends,
)
from dynamics.papers import (
    counted_order,
    counted_table,
    general_chain,
    newton_euler_saving,
    operation_tables,
    platform_table,
    strobing_costs,
    strobing_effort,
    variant_forces,
)
from dynamics.papers.counting import (
    PLATFORM_PARTS,
    REST,
    Counted,
    Operations,
    count_operations,
    counted,
    interpreted,
    kinematics_operations,
    platform_operations,
    sum_operations,
)
from dynamics.papers.dasgupta_flops import constraints_1998, flops_1998, forces_1998
from dynamics.papers.operation_counts import degree
from dynamics.serial import (
    computed_torque,
    computed_torque_as_printed,
    computed_torque_lagrange,
    lagrange_euler,
    modified_newton_euler,
    newton_euler,
)
from dynamics.serial.as_printed import computed_torque_expanded, newton_euler_as_counted

TABLES = {table.name: table for table in operation_tables()}


def test_what_counts() -> None:
    x, y = Counted(3.0), Counted(4.0)

    def arithmetic() -> None:
        assert float((x * y + x - 2.0) / y) == 3.25
        assert float(1.0 / y - 1.0) == -0.75
        square = x * x + y * y
        assert isinstance(square, Counted) and float(square.sqrt()) == 5.0
        assert float(x.cos() * x.cos() + x.sin() * x.sin()) == pytest.approx(1.0)
        assert float(x.tanh()) == pytest.approx(np.tanh(3.0))
        assert float(np.float64(2.0) * x) == float(x * np.float64(2.0)) == 6.0

    total = sum_operations(count_operations(arithmetic))
    assert total == Operations(multiplications=7, additions=5, divisions=2, functions=6)
    assert total.total == 20


def test_what_is_free() -> None:
    x = Counted(3.0)

    def structure() -> None:
        assert x * 0 == 0
        assert float(1 * x) == float(x + 0) == float(0.0 + x) == float(x / 1) == 3.0
        assert float(0 - x) == float(-1.0 * x) == float(-x) == -3.0
        assert abs(-x) == x
        assert x > 2.0
        assert 2.0 < x <= 3.0
        assert x >= 3.0
        assert x != 4.0

    assert count_operations(structure) == {}
    assert repr(x) == "Counted(3.0)"


def test_one_count_at_a_time() -> None:
    with pytest.raises(DynamicsError, match="running already"):
        count_operations(lambda: count_operations(lambda: None))
    assert count_operations(lambda: None) == {}


def test_operations_belong_to_the_innermost_owner() -> None:
    x = Counted(2.0)

    def inner() -> Counted:
        return x + x

    def outer() -> Counted:
        return inner() + x

    counts = count_operations(lambda: outer() + x, owners=("inner", "outer"))
    assert {owner: total.additions for owner, total in counts.items()} == {"inner": 1, "outer": 1, "rest": 1}


@pytest.mark.parametrize("name", TABLES)
def test_printed_rows_add_up_to_printed_totals(name: str) -> None:
    table = TABLES[name]
    if name == "turney-1980 table 1":
        return
    for kind in range(2):
        rows = [row.published[kind] for row in table.rows[:-1] if row.published]
        total = rows[0]
        for row in rows[1:]:
            total = total + row
        published = table.rows[-1].published
        assert published is not None
        assert [total.at(n) for n in range(1, 9)] == [published[kind].at(n) for n in range(1, 9)]


@pytest.mark.parametrize(
    ("name", "algorithm", "principal"),
    [
        ("turney-1980 table 2", lagrange_euler, False),
        ("turney-1980 table 3 here", newton_euler, False),
        ("turney-1980 table 4", modified_newton_euler, True),
    ],
)
def test_laws_foretell_other_numbers_of_joints(name: str, algorithm: object, principal: bool) -> None:
    multiplications, additions = counted_table(name).rows[-1].counted
    for joints in (1, 8):
        motion = [counted(values) for values in np.random.default_rng(joints).uniform(0.5, 1.0, (3, joints))]
        assert callable(algorithm)
        total = sum_operations(count_operations(algorithm, general_chain(joints, principal), *motion))
        assert (total.multiplications, total.additions) == (multiplications.at(joints), additions.at(joints))
        assert (total.divisions, total.functions) == (0, 2 * joints)


def test_orders() -> None:
    orders = {name: max(law.order for law in table.rows[-1].counted) for name, table in TABLES.items()}
    assert orders["turney-1980 table 2"] == 3
    assert orders["turney-1980 table 3"] == orders["turney-1980 table 4"] == orders["lee-1982 table 2"] == 1
    assert orders["lee-1982 table 1"] == 4
    for table in TABLES.values():
        published = table.rows[-1].published
        if published:
            assert max(law.order for law in published) == max(law.order for law in table.rows[-1].counted)


def test_counts_term_by_term() -> None:
    """The leading terms of 001's Lagrange form as printed, and every explained term with its own law."""
    lagrange = {row.term: row for row in TABLES["turney-1980 table 2"].rows}
    for term in ("T_jⁱ", "∂T₀ⁱ/∂θ_j", "∂²T₀ⁱ/∂θ_j∂θ_k"):
        row = lagrange[term]
        assert row.published is not None
        assert [str(x) for x in row.counted] == [str(x) for x in row.published]
    for table in TABLES.values():
        for row in table.rows:
            same = row.published is not None and all(
                a.at(n) == b.at(n) for a, b in zip(row.published, row.counted, strict=True) for n in range(1, 9)
            )
            assert row.reason or same, (table.name, row.term)
            if same and table.name != "turney-1980 table 5":
                assert row.reason.startswith("the same"), (table.name, row.term)


def test_laws_in_writing() -> None:
    rows = {row.term: row for row in TABLES["turney-1980 table 2"].rows}
    assert [str(law) for law in rows["∂²T₀ⁱ/∂θ_j∂θ_k"].counted] == ["32/3 n³ − 32/3 n", "8n³ − 8n"]
    assert str(rows["T_{i−1}ⁱ"].counted[1]) == "0"
    assert str(TABLES["turney-1980 table 4"].rows[-1].published[1]) == "88n − 24"  # type: ignore[index]
    record = TABLES["turney-1980 table 3"].records(6)[-1]
    assert record["term"] == "total"
    assert record["published multiplications"] == "108n − 12"
    assert record["published multiplications, n = 6"] == 636
    assert record["counted multiplications"] == "117n − 18"


def test_what_the_modified_form_saves() -> None:
    saving = newton_euler_saving(6)
    assert saving.published == pytest.approx(1.0 - 1017 / 1227)
    assert saving.as_printed == pytest.approx(1.0 - 1014 / 1212)
    assert saving.counted == pytest.approx(1.0 - 1158 / 1302)


def test_table_1_of_000_counts_four_full_products_for_each_trace() -> None:
    for row in TABLES["lee-1982 table 1"].rows[1:-1]:
        assert row.published is not None
        assert [str(law) for law in row.counted] == [str(law) for law in row.published], row.term
    rows = {row.term: row for row in TABLES["lee-1982 table 1"].rows}
    for joints in (2, 6):
        traces = joints * (joints + 1) * (joints + 2) // 6
        multiplications, additions = rows["Tr{∂T₀ᵏ/∂q_j J_k (∂T₀ᵏ/∂q_i)ᵀ}"].counted
        assert (multiplications.at(joints), additions.at(joints)) == (256 * traces, 195 * traces)


def test_table_2_of_000_expands_the_double_vector_product() -> None:
    """With ω×(ω×b) as ω(ω·b) − b(ω·ω) and ω·ω formed once its a_i and ā_i are as printed; the torques are the same."""
    printed = {row.term: row for row in counted_table("lee-1982 table 2").rows}
    here = {row.term: row for row in counted_table("lee-1982 table 2 here").rows}
    for term, counts, one_by_one in (
        ("a_i", ("27n", "22n"), ("27n", "21n")),
        ("ā_i", ("15n", "14n"), ("18n", "15n")),
    ):
        assert tuple(map(str, printed[term].published or ())) == counts
        assert tuple(map(str, printed[term].counted)) == counts
        assert tuple(map(str, here[term].counted)) == one_by_one
    chain = general_chain(5)
    desired = tuple(np.random.default_rng(1).normal(size=(3, 5)).tolist())
    given = (chain, desired, [0.3] * 5, [0.7, -0.2, 0.4, 0.1, 0.9], 100.0, 20.0)
    np.testing.assert_allclose(computed_torque_expanded(*given), computed_torque(*given), rtol=1e-12)


def test_lagrange_costs_far_more() -> None:
    """000: "about 100 times" as printed and counted so; less where nothing is formed twice."""
    lagrange, recursion = (TABLES[f"lee-1982 table {k}"].rows[-1] for k in (1, 2))
    newton = sum(law.at(6) for law in recursion.counted)
    assert 100.0 < sum(law.at(6) for law in lagrange.counted) / newton < 150.0
    here = counted_table("lee-1982 table 1 here").rows[-1]
    assert 15.0 < sum(law.at(6) for law in here.counted) / newton < 25.0


def test_counts_beyond_those_that_the_laws_are_fitted_to() -> None:
    assert degree([1, 4, 9, 16, 25]) == 2
    assert degree([5, 5, 5]) == 0
    assert degree([1, 2, 4, 8, 16]) == 4  # on no polynomial that one of them could contradict
    assert counted_order("lee-1982 table 2") == 1
    assert counted_order("turney-1980 table 2") == 3


def test_what_strobing_costs() -> None:
    costs = {cost.key: cost for cost in strobing_costs()}
    assert {key: cost.order for key, cost in costs.items()} == {
        "mass-outward": 2,
        "mass-inward": 2,
        "coriolis-outward": 3,
        "coriolis-all": 3,
        "coriolis-inward": 3,
        "coriolis-apart": 3,
        "step": 2,
        "elimination": 3,
    }
    # 103 and 75 operations per link by table 4
    printed = {key: cost.printed.at(6) for key, cost in costs.items() if cost.printed}
    assert printed == {
        "mass-outward": 103 * 21,
        "mass-inward": 75 * 21,
        "coriolis-outward": 103 * 91,
        "coriolis-inward": 75 * 21,
        "step": 178 * 27,
    }
    assert costs["mass-outward"].counted.at(6) == 105 * 21
    assert costs["coriolis-outward"].counted.at(6) == 105 * 91  # of the printed form, n(n + 1)(2n + 1)/6
    assert costs["coriolis-all"].counted.at(6) == 105 * 6 * 21
    effort = strobing_effort(6)
    assert effort.strobed - effort.strobed_moving == 105 * (6 * 21 - 91)
    assert effort.strobed_moving < effort.lagrange < effort.strobed
    assert costs["coriolis-inward"].counted.at(6) > 4 * printed["coriolis-inward"]


@pytest.mark.parametrize("joints", [1, 4])
def test_what_the_tables_count_gives_the_same_forces(joints: int) -> None:
    chain = general_chain(joints)
    rng = np.random.default_rng(joints)
    q, qd, qdd = rng.normal(size=(3, joints)).tolist()
    assert newton_euler_as_counted(chain, q, qd, qdd) == pytest.approx(newton_euler(chain, q, qd, qdd), rel=1e-11)
    desired = tuple(rng.normal(size=(3, joints)).tolist())
    ours = computed_torque_lagrange(chain, desired, q, qd, 100.0, 20.0)
    assert computed_torque_as_printed(chain, desired, q, qd, 100.0, 20.0) == pytest.approx(ours, rel=1e-11)


def test_control_laws_compute_while_counting() -> None:
    chain = general_chain(3)
    rng = np.random.default_rng(1)
    (r, rd, rdd), (q, qd) = rng.normal(size=(3, 3)).tolist(), rng.normal(size=(2, 3)).tolist()
    plain = computed_torque(chain, (r, rd, rdd), q, qd, 100.0, 20.0)
    desired = counted(r), counted(rd), counted(rdd)
    counting = computed_torque(chain, desired, counted(q), counted(qd), 100.0, 20.0)
    assert [float(x) for x in counting] == pytest.approx(plain)


def test_zeros_of_a_mechanism_save_operations() -> None:
    """Legs whose mass centres lie on their axes and whose tensors are diagonal take fewer, general ones no fewer."""
    motion = random_motions(1, 1)[0]
    for mechanism, saved in ((random_mechanism(1), False), (symmetric(1), True)):
        general, structural = (platform_operations(mechanism, motion, general=kind) for kind in (True, False))
        assert (structural["leg"].total < general["leg"].total) is saved
        assert structural["equations"] == general["equations"]


def test_platform_operations() -> None:
    mechanism = random_mechanism(2)
    motions = random_motions(2, 2)
    first, second = (platform_operations(mechanism, motion) for motion in motions)
    assert first == second
    leg, platform, equations = first["leg"], first["platform"], first["equations"]
    assert first["total"].total == 6 * leg.total + platform.total + equations.total
    assert leg.functions == 2  # length, sine
    smooth = replace(mechanism, legs=tuple(replace(part, friction=Friction()) for part in mechanism.legs))
    assert platform_operations(smooth, motions[0])["leg"].total < leg.total
    assert platform_operations(smooth, motions[0], np.ones(6))["platform"] == platform
    with pytest.raises(DynamicsError, match="not determined"):
        platform_operations(mechanism, np.zeros(19))


def test_counting_leaves_the_answer() -> None:
    """The kernels' Python on `Counted` gives the forces of the compiled kernels."""
    mechanism = random_mechanism(4)
    motion = random_motions(4, 1)[0]
    forces: list[object] = [0.0] * 6
    statuses = []

    def run() -> None:
        arguments = mechanism.array.tolist(), counted(motion), counted(np.zeros(6)), [0.0] * WORK_SIZE, forces
        statuses.append(interpreted(inverse_kernel)(*arguments))

    counts = count_operations(run, owners=[name for names in PLATFORM_PARTS.values() for name in names])
    assert statuses == [OK]
    assert REST not in counts  # every operation belongs to one of the three parts
    np.testing.assert_allclose([float(x) for x in forces], Dynamics(mechanism).forces(motion), rtol=1e-12)  # type: ignore[arg-type]


def test_what_is_counted_of_1998_computes_its_forces() -> None:
    """The scalar equations are those of the variant, wrench and friction included."""
    mechanism = random_mechanism(6)
    motion, wrench = random_motions(6, 1)[0], np.arange(1.0, 7.0)
    expected = variant_forces("dasgupta-1998", mechanism, motion, wrench)[0]
    np.testing.assert_allclose(forces_1998(mechanism, motion, wrench), expected, rtol=1e-10)
    counts = flops_1998(mechanism, motion, wrench)
    smooth = replace(mechanism, legs=tuple(replace(leg, friction=Friction()) for leg in mechanism.legs))
    assert counts["leg"].total - flops_1998(smooth, motion, wrench)["leg"].total == 3 + 3 + 3 + 3 + 3 + 1 + 1
    assert counts["total"].total == 6 * counts["leg"].total + counts["platform"].total + counts["equations"].total


def test_what_is_counted_of_its_constraint_forces_computes_them() -> None:
    """Upper parts without mass: eq. 16 moves nothing, and with symmetric legs the equations are those of spherical
    ends."""
    whole, motion = symmetric(4), random_motions(4, 1)[0]
    legs = tuple(
        replace(leg, upper=replace(leg.upper, mass=0.0), load_cell=replace(leg.load_cell, mass_beyond=0.0))
        for leg in whole.legs
    )
    mechanism = replace(whole, legs=legs)
    base, guide, moment = constraints_1998(mechanism, motion)
    expected = Dynamics(with_spherical_ends(mechanism)).inverse(motion)
    for found, known in (
        (base, expected.base_forces),
        (guide, expected.guide_forces),
        (moment, expected.prismatic_moments),
    ):
        np.testing.assert_allclose(found, known.reshape(6, 3), rtol=1e-9, atol=1e-9)
    assert np.abs(moment).max() > 0.1


def test_against_the_4889_operations_of_1998() -> None:
    mechanism = load_mechanism("dasgupta-1998", evaluate_only=True)
    mechanism = replace(mechanism, legs=tuple(replace(leg, friction=Friction()) for leg in mechanism.legs))
    motion = np.zeros(19)
    motion[[0, 2, 3]] = 0.1, 0.4, 1.0
    rows = platform_table(mechanism, motion)
    assert 6 * rows[0].published + rows[1].published + rows[2].published == rows[3].published == 4889
    assert [row.as_printed for row in rows[:3]] == [656, 273, 352]
    assert 6 * rows[0].as_printed + rows[1].as_printed + rows[2].as_printed == rows[3].as_printed
    assert rows[3].as_printed / rows[4].as_printed == pytest.approx(3.36, abs=0.005)
    assert 6 * rows[0].counted + rows[1].counted + rows[2].counted == rows[3].counted < 4889
    # the claim of 3.36 times a serial arm of six joints
    assert rows[3].published / rows[4].published == pytest.approx(3.36, abs=0.005)
    assert 2.0 < rows[3].counted / rows[4].counted < 3.36
    assert all(row.reason for row in rows)


def test_both_directions_of_the_kinematics_are_counted() -> None:
    geometry = random_mechanism(3).geometry
    motions = random_motions(3, 2)
    near, far = (kinematics_operations(geometry, motions[0], guess[:7]) for guess in motions)
    assert near["inverse"] == far["inverse"]
    assert near["inverse"].functions == 12  # length and sine of each leg
    assert near["forward"].total < far["forward"].total  # more Newton steps from farther away
    unreachable = motions[0].copy()
    unreachable[2] = 1e6
    with pytest.raises(DynamicsError, match="no kinematics there"):
        kinematics_operations(geometry, unreachable, motions[0, :7])


def test_powers_are_products() -> None:
    x = Counted(3.0)
    assert float(x**1) == 3.0
    assert float(x**3) == 27.0
    assert count_operations(lambda: x**3)[REST] == Operations(multiplications=2)
