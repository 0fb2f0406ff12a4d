"""Where the serial-arm papers' equations are wrong as printed: Pinocchio has the mended ones, and not the printed."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from serial_chains import PinocchioChain, random_chain

from dynamics.serial import (
    Link,
    SerialChain,
    lagrange_coefficients,
    lagrange_euler,
    modified_newton_euler,
    newton_euler,
    newton_euler_in_base_axes,
    strobed_coriolis,
)
from dynamics.serial.chain import Matrix, Scalar, Vector, displacement, rotation
from kinematics import Array

NO_WRENCH = np.zeros(6)


def module(name: str) -> ModuleType:
    """The module of that name."""
    return importlib.import_module(f"dynamics.serial.{name}")


def case(seed: int = 1, revolute: bool = True) -> tuple[SerialChain, tuple[Array, Array, Array], Array]:
    """A random chain, a motion, and Pinocchio's joint forces."""
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 4, revolute=revolute)
    q, qd, qdd = rng.normal(size=(3, 4))
    return chain, (q, qd, qdd), PinocchioChain(chain).inverse(q, qd, qdd, NO_WRENCH)


def wrong(ours: list[float], expected: Array) -> bool:
    """Whether joint forces are off by more than 1e-4 of the largest."""
    return bool(np.abs(np.array(ours) - expected).max() > 1e-4 * np.abs(expected).max())


def right(ours: list[float], expected: Array) -> bool:
    """Whether they agree to 1e-11."""
    return bool(np.abs(np.array(ours) - expected).max() < 1e-11 * np.abs(expected).max())


def test_001_eq_3_16_has_the_angular_velocity_of_the_wrong_link(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, motion, expected = case()
    assert right(newton_euler(chain, *motion), expected)
    recursion = module("recursions")
    mended = recursion.angular_acceleration

    def printed(R: Matrix, alpha: Vector, omega: Vector, qd: Scalar, qdd: Scalar) -> list[Scalar]:
        turned: list[Scalar] = mended(R, alpha, recursion.angular_velocity(R, omega, qd), qd, qdd)
        return turned

    monkeypatch.setattr(recursion, "angular_acceleration", printed)
    assert wrong(newton_euler(chain, *motion), expected)


def test_001_eqs_3_3_to_3_13_are_right_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, motion, expected = case()
    assert right(newton_euler_in_base_axes(chain, *motion), expected)
    monkeypatch.setattr(module("recursions"), "gyroscopic_moment", lambda _inertia, omega: [0.0 * x for x in omega])
    assert wrong(newton_euler_in_base_axes(chain, *motion), expected)


def test_001_eq_4_9_turns_gravity_the_wrong_way() -> None:
    chain, (q, _, _), _ = case()
    turned, felt = np.eye(3), np.array([0.0, 0.0, 9.8])  # R₀ⁱ, and the base's acceleration g z₀ in axes of link i
    base = felt
    for link, x in zip(chain.links, q.tolist(), strict=True):
        R: Array = np.array(rotation(link, x))
        turned, felt = turned @ R, R.T @ felt  # eq. 3.17 at rest
    np.testing.assert_allclose(turned.T @ base, felt, atol=1e-12)
    assert np.abs(turned @ base - felt).max() > 0.1


def test_001_eq_3_18_has_the_wrong_point(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, motion, expected = case()
    recursion = module("recursions")
    mended, seen = recursion.origin_acceleration, []

    def remember(R: Matrix, a: Vector, omega: Vector, alpha: Vector, r: Vector) -> list[Scalar]:
        seen.append(r)
        origin: list[Scalar] = mended(R, a, omega, alpha, r)
        return origin

    def printed(a: Vector, omega: Vector, alpha: Vector, _center: Vector) -> list[Scalar]:
        return [x + y for x, y in zip(recursion.turning_acceleration(omega, alpha, seen[-1]), a, strict=True)]

    monkeypatch.setattr(recursion, "origin_acceleration", remember)
    assert right(newton_euler(chain, *motion), expected)
    monkeypatch.setattr(recursion, "center_acceleration", printed)
    assert wrong(newton_euler(chain, *motion), expected)


def _matrix_as_printed(mended: Callable[..., list[list[Scalar]]]) -> Callable[..., list[list[Scalar]]]:
    def printed(omega: Vector, alpha: Vector) -> list[list[Scalar]]:
        A = mended(omega, alpha)
        A[2][1] = omega[2] * omega[1] + alpha[2]
        return A

    return printed


def _moment_as_printed(mended: Callable[..., list[Scalar]]) -> Callable[..., list[Scalar]]:
    return lambda A, K: [-x for x in mended(A, K)]


@pytest.mark.parametrize(
    ("name", "as_printed"),
    [("turning_matrix", _matrix_as_printed), ("inertial_moment_of_matrix", _moment_as_printed)],
)
def test_001_section_5(name: str, as_printed: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    chain, motion, expected = case()
    recursion = module("recursions")
    assert right(modified_newton_euler(chain, *motion), expected)
    monkeypatch.setattr(recursion, name, as_printed(getattr(recursion, name)))
    assert wrong(modified_newton_euler(chain, *motion), expected)


def test_003_needs_the_moments_of_prismatic_links_too(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, motion, _ = case(revolute=False)
    short = SerialChain((replace(chain.links[0], joint="revolute"), replace(chain.links[1], joint="prismatic")))
    q, qd, qdd = (values[:2] for values in motion)
    expected = PinocchioChain(short).inverse(q, qd, qdd, NO_WRENCH)
    assert right(newton_euler(short, q, qd, qdd), expected)
    monkeypatch.setattr(module("recursions"), "moment_from_above", lambda _R, _n: [0.0, 0.0, 0.0])
    assert wrong(newton_euler(short, q, qd, qdd), expected)


def test_000_eq_3_10_has_the_wrong_sign() -> None:
    chain, (q, _, _), _ = case(revolute=False)
    down = np.array(chain.gravity)
    at_rest = PinocchioChain(chain).inverse(q, np.zeros(4), np.zeros(4), NO_WRENCH)
    gravity = lagrange_coefficients(chain, q).G
    assert right(gravity, at_rest)
    # as printed: + Σ m_j g ∂T₀ʲ/∂q_i r̄_j
    printed = [-x for x in lagrange_coefficients(chain, q, down).G]
    assert wrong(printed, at_rest)
    # the same sum with g upwards, as after eq. 4.32
    assert right([-x for x in lagrange_coefficients(chain, q, -down).G], at_rest)


def test_001_eq_1_26_holds_in_principal_axes_only() -> None:
    chain, motion, expected = case()
    assert right(lagrange_euler(chain, *motion), expected)

    def principal(link: Link) -> Link:
        return replace(link, inertia=np.diag(np.diag(np.array(link.inertia))).tolist())

    printed = SerialChain(tuple(principal(link) for link in chain.links), chain.gravity)
    assert wrong(lagrange_euler(printed, *motion), expected)


def test_001_strobing_with_two_rates_does_not_give_one_coefficient() -> None:
    chain, (q, _, _), _ = case(revolute=False)
    smooth = SerialChain(tuple(replace(link, viscous=0.0, coulomb=0.0) for link in chain.links), (0.0, 0.0, 0.0))
    both = np.array([1.0, 0.0, 1.0, 0.0])
    strobed = PinocchioChain(smooth).inverse(q, both, np.zeros(4), NO_WRENCH)
    C: Array = np.array(strobed_coriolis(chain, q))
    assert right((C[:, 0, 0] + C[:, 2, 2] + 2.0 * C[:, 0, 2]).tolist(), strobed)
    assert wrong(C[:, 0, 2].tolist(), strobed)


def _place(chain: SerialChain, q: Array) -> tuple[Array, list[tuple[Array, Array]]]:
    """p₀ⁿ, and of each link A_0^i and A_0^i r_i (000 eq. 2.12)."""
    turned, steps = np.eye(3), []
    for link, x in zip(chain.links, q.tolist(), strict=True):
        turned = turned @ np.array(rotation(link, x))
        steps.append((turned, turned @ np.array(displacement(link, x))))
    return np.sum([step for _, step in steps], axis=0), steps


def test_000_eqs_2_13_and_2_14_sum_from_the_joint_on() -> None:
    chain, (q, _, _), _ = case()
    _, steps = _place(chain, q)
    axes = [np.array([0.0, 0.0, 1.0]), *(turned[:, 2] for turned, _ in steps)]
    step = 1e-4 * np.eye(4)
    j, k = 1, 2  # joints 2 and 3
    rate = (_place(chain, q + step[j])[0] - _place(chain, q - step[j])[0]) / 2e-4
    corners = [_place(chain, q + a * step[j] + b * step[k])[0] * a * b for a in (1.0, -1.0) for b in (1.0, -1.0)]
    second = np.sum(corners, axis=0) / 4e-8

    def first_sum(start: int) -> Array:
        return np.asarray(np.cross(axes[j], np.sum([part for _, part in steps[start:]], axis=0)))

    def second_sum(start: int) -> Array:
        whole = np.sum([part for _, part in steps[start:]], axis=0)
        return np.asarray(np.cross(axes[j], np.cross(axes[k], whole)))

    np.testing.assert_allclose(first_sum(j), rate, atol=1e-7)
    np.testing.assert_allclose(second_sum(k), second, atol=1e-6)
    # as printed: from link 1 on
    assert np.abs(first_sum(0) - rate).max() > 0.01
    assert np.abs(second_sum(0) - second).max() > 0.01


def test_000_eq_2_21_lacks_the_mass() -> None:
    chain, _, _ = case()
    for link in chain.links:
        J: Array = np.array(link.pseudo_inertia)[:3, :3]
        square = np.outer(link.center, link.center)
        mended, printed = (np.trace(part) * np.eye(3) - part for part in (J - link.mass * square, J - square))
        np.testing.assert_allclose(mended, link.inertia, atol=1e-12)
        assert np.abs(printed - np.array(link.inertia)).max() > 1e-4


def test_000_eq_3_6_has_rates_for_accelerations() -> None:
    chain, (q, qd, qdd), _ = case(revolute=False)
    smooth = replace(chain, links=tuple(replace(link, viscous=0.0, coulomb=0.0) for link in chain.links))
    expected = PinocchioChain(smooth).inverse(q, qd, qdd, NO_WRENCH)
    D, H, G = (np.array(part) for part in lagrange_coefficients(smooth, q))
    assert right((D @ qdd + H @ qd @ qd + G).tolist(), expected)
    assert wrong((D @ qd + H @ qd @ qd + G).tolist(), expected)


def test_001_eq_2_6_has_lost_its_rates() -> None:
    chain, (q, qd, _), _ = case(revolute=False)
    peer = PinocchioChain(chain)
    kinetic = peer.energy(q, qd) - peer.energy(q, np.zeros(4))
    D: Array = np.array(lagrange_coefficients(chain, q).D)
    assert 0.5 * qd @ D @ qd == pytest.approx(kinetic, rel=1e-11)
    assert abs(0.5 * D.sum() - kinetic) > 0.01 * kinetic


def test_001_eqs_2_1_and_2_7_have_two_wrong_signs() -> None:
    """P.E. = −Σ g z₀ᵀ T m r̄ is the opposite of the energy, and τ takes + ∂V/∂θ of it."""
    chain, (q, _, _), _ = case(revolute=False)
    peer, still = PinocchioChain(chain), np.zeros(4)
    slope = np.array([peer.energy(q + e, still) - peer.energy(q - e, still) for e in 1e-5 * np.eye(4)]) / 2e-5
    gravity = np.array(lagrange_coefficients(chain, q).G)
    np.testing.assert_allclose(gravity, slope, atol=1e-7 * np.abs(slope).max())
    # of the true energy 2.7 would have the opposite
    assert wrong((-slope).tolist(), gravity)


def test_a_link_of_001_eqs_4_11_and_4_17_and_000_eqs_4_15_and_4_21_has_its_mass_once() -> None:
    """The moment of one link about its joint (001 eq. 4.10): with J for I, and with gravity apart."""
    rng = np.random.default_rng(7)
    link = case()[0].links[0]
    m, center, inertia = link.mass, np.array(link.center), np.array(link.inertia)
    r, omega, alpha, origin, up = rng.normal(size=(5, 3))  # r_i, ω_i, α_i, a_i without gravity, R_i⁰ g z_0
    J: Array = inertia * -1.0 + 0.5 * np.trace(inertia) * np.eye(3) + m * np.outer(center, center)
    whole = np.trace(J) * np.eye(3) - J

    def swing(place: Array) -> Array:
        return np.asarray(np.cross(alpha, place) + np.cross(omega, np.cross(omega, place)))

    def turning(tensor: Array) -> Array:
        return np.asarray(tensor @ alpha + np.cross(omega, tensor @ omega))

    a_center = origin + swing(center) + up
    lever = m * np.cross(center + r, a_center)
    expected = turning(inertia) + lever
    # 4.11, and 000 4.15: − r̄×(α×r̄) − r̄×(ω×(ω×r̄)), without m_i as printed
    taken_off = np.cross(center, swing(center))
    np.testing.assert_allclose(turning(whole) - m * taken_off + lever, expected, atol=1e-12)
    assert np.abs(turning(whole) - taken_off + lever - expected).max() > 0.01
    # 4.17, and 000 4.21: what is left beside J; gravity with m_i twice as printed, and r_i for r̄_i in 4.17
    split = m * np.cross(center + r, origin) + m * np.cross(r, swing(center))
    weight = m * np.cross(center + r, up)
    np.testing.assert_allclose(turning(whole) + split + weight, expected, atol=1e-12)
    assert np.abs(turning(whole) + split + m * weight - expected).max() > 0.01
    # r_i for r̄_i there, and in 000 4.26
    printed = m * np.cross(center + r, origin) + m * np.cross(r, swing(r))
    assert np.abs(turning(whole) + printed + weight - expected).max() > 0.01
    # 001 4.22 to 4.24: of the lever r̄_i + r_i its part r̄_i for r_i
    parts = m * np.cross(center, origin), m * np.cross(r, origin + swing(center))
    np.testing.assert_allclose(turning(whole) + sum(parts) + weight, expected, atol=1e-12)
    printed = m * np.cross(center, origin + swing(center))
    assert np.abs(turning(whole) + parts[0] + printed + weight - expected).max() > 0.01


def test_the_force_of_the_link_above_in_001_eq_4_30_and_000_eq_4_37_has_its_mass() -> None:
    """Tr{f (Q r_1)ᵗ} of a mass at the origin of frame 1, which the second link carries."""
    first, second = case()[0].links[:2]
    carried, carrier = Link(mass=second.mass), Link(a=first.a, alpha=first.alpha, d=first.d)
    chain = SerialChain((carrier, carried), (0.0, 0.0, -9.8))
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 2))
    expected = PinocchioChain(chain).inverse(q, qd, qdd, NO_WRENCH)[0]
    r: Array = np.array(rotation(chain.links[0], q[0])) @ np.array(displacement(chain.links[0], q[0]))
    z = np.array([0.0, 0.0, 1.0])
    turned = np.cross(z, r)
    a = qdd[0] * turned + qd[0] ** 2 * np.cross(z, turned)
    weight = carried.mass * 9.8 * z
    assert (carried.mass * a + weight) @ turned == pytest.approx(expected, rel=1e-11)
    assert abs((a + weight) @ turned - expected) > 0.01 * abs(expected)


def test_000_eqs_2_6_and_2_9_and_001_eqs_1_11_and_1_12_turn_at_the_joint() -> None:
    chain, (q, _, _), _ = case()
    step = np.array([0.0, 1e-5, 0.0, 0.0])  # joint 2, the third link's rotation

    def turns(place: Array) -> list[Array]:
        return [np.array(rotation(link, x)) for link, x in zip(chain.links[:3], place, strict=False)]

    def product(place: Array) -> Array:
        return np.asarray(np.linalg.multi_dot(turns(place)))

    rate = (product(q + step) - product(q - step)) / 2e-5
    Q = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    one, two, three = turns(q)
    np.testing.assert_allclose(one @ Q @ two @ three, rate, atol=1e-8)
    # as printed: R_0² in front, for R_0¹
    assert np.abs(one @ two @ Q @ two @ three - rate).max() > 0.01
