"""The PUMA 560, the arm of the PUMA 600 series whose parameters are published.

Links, centres of mass and inertias: B. Armstrong, O. Khatib & J. Burdick, "The explicit dynamic model and inertial
parameters of the PUMA 560 arm", Proc. IEEE Int. Conf. Robotics and Automation, 1986, pp. 510–518, measured on the
dismantled arm. In standard Denavit–Hartenberg axes, with gear ratios, rotors and friction, as collected by P. Corke &
B. Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560 robot", Proc. IEEE
Int. Conf. Robotics and Automation, 1994, pp. 1608–1613.

The mass of link 1 was not measured and has no effect: it turns about a vertical axis, and its 0.35 kg m² about it is
known. Lee, Chung, Mudge & Turney (1982) print no parameters of their PUMA 600.
"""

import math

from dynamics.serial.chain import Link, SerialChain

_RIGHT = 0.5 * math.pi

# a m, alpha rad, d m, mass kg, centre m, principal inertias kg m²
_LINKS = (
    (0.0, _RIGHT, 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (0.4318, 0.0, 0.0, 17.40, (-0.3638, 0.006, 0.2275), (0.130, 0.524, 0.539)),
    (0.0203, -_RIGHT, 0.15005, 4.80, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.0, _RIGHT, 0.4318, 0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.0, -_RIGHT, 0.0, 0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.0, 0.0, 0.0, 0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# gear ratio, rotor kg m², viscous N m s/rad and Coulomb N m friction at the motor (mean of both directions)
_DRIVES = (
    (62.6111, 200e-6, 1.48e-3, 0.415),
    (107.815, 200e-6, 0.817e-3, 0.0985),
    (53.7063, 200e-6, 1.38e-3, 0.1185),
    (76.0364, 33e-6, 71.2e-6, 0.01405),
    (71.923, 33e-6, 82.6e-6, 0.01188),
    (76.686, 33e-6, 36.7e-6, 0.00723),
)


def puma(*, rotors: bool = True, friction: bool = False, payload: float = 0.0, gravity: float = 9.8) -> SerialChain:
    """The six-joint PUMA 560, base axes with z up, angles as in standard Denavit–Hartenberg form.

    `rotors` and `friction` include what the drives add at the joints; `payload` is a point mass, kg, at the centre of
    mass of link 6; `gravity` is |g|, m/s² (000 has 9.8).
    """
    links = []
    for index, ((a, alpha, d, mass, center, inertias), drive) in enumerate(zip(_LINKS, _DRIVES, strict=True)):
        ratio, rotor, viscous, coulomb = drive
        xx, yy, zz = inertias
        links.append(
            Link(
                a=a,
                alpha=alpha,
                d=d,
                mass=mass + (payload if index == len(_LINKS) - 1 else 0.0),
                center=center,
                inertia=((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz)),
                motor_inertia=ratio**2 * rotor if rotors else 0.0,
                viscous=ratio**2 * viscous if friction else 0.0,
                coulomb=ratio * coulomb if friction else 0.0,
            )
        )
    return SerialChain(tuple(links), (0.0, 0.0, -gravity))
