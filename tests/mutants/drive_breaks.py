"""The drives' own inertia and friction: in the model, at the load cells, and what is identified of them."""

from breaks import Break

_MODEL = "dynamics/test_drive_inertia.py"
_RIG = "rig/test_driven_rig.py"

DRIVE_BREAKS = [
    Break(
        "a virtual drive's integral is as fast with a heavy rotor as without",
        "rig/safety/stability.py",
        "    if not any(leg.drive.mass for leg in machine.legs):\n        return _VIRTUAL_INTEGRAL",
        "    if True:\n        return _VIRTUAL_INTEGRAL",
        ("rig/test_driven_rig.py::test_legs_of_heavy_rotors_stand_still_in_their_drives_loops",),
    ),
    Break(
        "legs accelerate as if their rotors had no inertia",
        "dynamics/kernels/forward.py",
        "ss = m_u + work[DRIVE_MASS + i]",
        "ss = m_u",
        (f"{_MODEL}::test_accelerations_are_those_with_armature",),
    ),
    Break(
        "forces of many states leave the rotors out",
        "dynamics/kernels/batch.py",
        "fs + C_p * Ld + m_r * Ldd, Ld",
        "fs + C_p * Ld, Ld",
        (f"{_MODEL}::test_every_form_of_the_equations_has_them",),
    ),
    Break(
        "a cell between drive and rod reads the rotor's inertia",
        "dynamics/kernels/cells.py",
        "cells[i] = work[F + i] - drive_part(work, i) - carried",
        "cells[i] = work[F + i] - carried",
        (f"{_MODEL}::test_cells_and_joints_do_not_feel_the_drive_but_a_motors_current_does",),
    ),
    Break(
        "the guide of a leg bears the force that accelerates the rotor",
        "dynamics/kernels/cells.py",
        "force = work[F + i] - drive",
        "force = work[F + i]",
        (f"{_MODEL}::test_cells_and_joints_do_not_feel_the_drive_but_a_motors_current_does",),
    ),
    Break(
        "what drives hold between cycles reaches a cell before the rod whole",
        "rig/engine/zero_order_hold.py",
        "return leg.drive != Drive()",
        "return False",
        (f"{_RIG}::test_a_rig_that_is_its_model_leaves_noise_at_every_place_of_a_cell",),
    ),
    Break(
        "an identification takes the drives' inertia as known",
        "calibration/inertia/design.py",
        "    for each in priors:\n",
        "    for each in priors[:0]:\n",
        (f"{_RIG}::test_rotors_are_identified_from_the_drives_forces",),
    ),
    Break(
        "sigmas of identified rotors are a tenth",
        "calibration/inertia/parameter_report.py",
        "slopes[row, estimated[drive.name]] = 1.0",
        "slopes[row, estimated[drive.name]] = 0.1",
        (f"{_RIG}::test_rotors_are_identified_from_the_drives_forces",),
    ),
    Break(
        "a machine as built has the rotors of its drawing",
        "rig/virtual/truth.py",
        "drive = leg.drive.with_mass(float(inertia * leg.drive.mass))",
        "drive = leg.drive",
        (f"{_RIG}::test_drives_as_built_are_off_and_nothing_else_is_another",),
    ),
]
