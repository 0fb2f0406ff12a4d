"""Dynamics of a 6-UPS Stewart platform with the exact inertia of its legs.

Newton–Euler after Dasgupta & Mruthyunjaya (1998), its universal joints' spin and reaction in full. Frames and arrays
are those of `kinematics`; a wrench is [force; moment] at the platform origin in platform axes; leg forces push.

For other kernels (no allocation; each returns a status, OK or what went wrong, and writes its outputs only with OK),
all arrays contiguous float64. `parameters` is `Dynamics.parameters` (or `Mechanism.array`), `work` is
np.zeros(WORK_SIZE), owned by one thread:

    inverse_kernel(parameters, motion (19,), wrench (6,), work, forces (6,)) -> status
    cells_kernel(parameters, motion (19,), wrench (6,), work, forces (6,), cells (6,)) -> status
    acceleration_kernel(parameters, state (13,), forces (6,), wrench (6,), work, acceleration (6,)) -> status
    rk4_kernel(parameters, state (13,) in and out, forces (6,), forces_end (6,), wrench (6,), dt, work) -> status

A status 1…6 is the leg whose universal joint is singular; SINGULAR and NOT_FINITE are the others.
"""

from dynamics.errors import DynamicsError, MechanismError, SingularityError
from dynamics.kernels.cells import cells_kernel
from dynamics.kernels.forward import acceleration_kernel, rk4_kernel
from dynamics.kernels.inverse import inverse_kernel
from dynamics.kernels.layout import NOT_FINITE, OK, SINGULAR, WORK_SIZE
from dynamics.loading import load_mechanism, mechanism_names, parse_mechanism
from dynamics.mechanism import Body, Friction, Leg, LegLimits, LoadCell, Mechanism
from dynamics.model import TERMS, CycleForces, Dynamics, InverseResult

__all__ = [
    "NOT_FINITE",
    "OK",
    "SINGULAR",
    "TERMS",
    "WORK_SIZE",
    "Body",
    "CycleForces",
    "Dynamics",
    "DynamicsError",
    "Friction",
    "InverseResult",
    "Leg",
    "LegLimits",
    "LoadCell",
    "Mechanism",
    "MechanismError",
    "SingularityError",
    "acceleration_kernel",
    "cells_kernel",
    "inverse_kernel",
    "load_mechanism",
    "mechanism_names",
    "parse_mechanism",
    "rk4_kernel",
]
