"""Newton–Euler recursion in base axes, as printed (Turney, Mudge & Lee 1980 = 001, eqs. 3.3–3.13), revolute joints.

The set that 001 turns into the links' axes, eqs. 3.15–3.21; two of those are misprinted, none of these is.
"""

from dynamics.serial.chain import SerialChain, displacement, joint_load, rotation, scalars
from dynamics.serial.recursion import (
    center_acceleration,
    gyroscopic_moment,
    inertial_force,
    inertial_moment,
    moment_of_force_above,
    moment_of_inertial_force,
    turning_acceleration,
)
from dynamics.serial.vectors import Scalar, Values, Vector, add, apply, cross, dot, multiply, scale, transpose


def newton_euler_in_base_axes(chain: SerialChain, q: Values, qd: Values, qdd: Values) -> list[Scalar]:
    """Joint forces τ (n,), N m, of a motion q, qd, qdd (n,) of a chain of revolute joints; rotors and friction added.

    Raises DynamicsError for wrong lengths or numbers that are not finite. Source: 001 eqs. 3.3–3.13.
    """
    n = len(chain)
    positions, rates, accelerations = scalars("q", q, n), scalars("qd", qd, n), scalars("qdd", qdd, n)
    scalar = type(positions[0])
    omega: Vector = [scalar(0.0)] * 3
    alpha = f = moment = omega
    a: Vector = [scalar(-g) for g in chain.gravity]  # the base falling upwards
    turned = [[scalar(float(r == c)) for c in range(3)] for r in range(3)]
    outward = []
    for link, x, xd, xdd in zip(chain.links, positions, rates, accelerations, strict=True):
        z = transpose(turned)[2]
        turned = multiply(turned, rotation(link, x))
        r, center = apply(turned, displacement(link, x)), apply(turned, link.center)
        inertia = multiply(multiply(turned, link.inertia), transpose(turned))
        alpha = add(alpha, cross(omega, scale(xd, z)), scale(xdd, z))  # 3.4
        omega = add(omega, scale(xd, z))  # 3.3
        a = add(turning_acceleration(omega, alpha, r), a)  # 3.7
        force = inertial_force(link.mass, center_acceleration(a, omega, alpha, center))  # 3.8, 3.9
        own = add(inertial_moment(inertia, alpha), gyroscopic_moment(inertia, omega))  # 3.10
        outward.append((z, r, center, force, own))
    tau: list[Scalar] = [None] * n
    for i in reversed(range(n)):
        z, r, center, force, own = outward[i]
        moment = add(own, moment_of_inertial_force(center, r, force), moment_of_force_above(r, f), moment)  # 3.12
        f = add(force, f)  # 3.9
        tau[i] = dot(z, moment) + joint_load(chain.links[i], rates[i], accelerations[i])  # 3.13
    return tau
