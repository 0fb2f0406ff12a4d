"""A serial arm: its drives, its files, its limits, and the conditions on its controller's gains."""

from breaks import Break

_ARM, _FILE, _KERNEL = "dynamics/serial/arm.py", "dynamics/serial/arm_file.py", "dynamics/kernels/arm.py"
_SERVICE, _CONTROL, _URDF = "rig/services/arm.py", "dynamics/serial/arm_control.py", "dynamics/serial/urdf.py"
_DYNAMICS, _COMMAND, _BAD = "dynamics/test_arm.py", "rig/test_cli_arm.py", "dynamics/test_arm_file.py"
_READ = "dynamics/test_urdf.py"
_POWER = f"{_DYNAMICS}::test_friction_of_coupled_motors_takes_their_power"
_PINOCCHIO = f"{_DYNAMICS}::test_inverse_forward_and_mass_matrix_are_pinocchios"
_CONDITIONS = f"{_COMMAND}::test_each_condition_of_the_paper_is_refused_when_it_is_broken"
_WRONG = f"{_COMMAND}::test_wrong_tables_are_refused_by_column_and_line"

ARM_BREAKS = [
    Break(
        "a motor that two joints turn weighs on the wrong one",
        _ARM,
        "added = added + G.T @ (self.rotor_inertia[:, np.newaxis] * G)",
        "added = added + G @ (self.rotor_inertia[:, np.newaxis] * G.T)",
        (f"{_DYNAMICS}::test_the_motor_of_the_tx40s_sixth_joint_turns_with_the_fifth",),
    ),
    Break(
        "a coupled motor's friction goes by other joints than turn it",
        _KERNEL,
        "speed += parameters[row + k] * qd[k]",
        "speed += parameters[ratios + k * n + i] * qd[k]",
        (_POWER,),
    ),
    Break(
        "half of Coriolis' term of a sliding joint", _KERNEL, "ax += 2.0 * oy * rate", "ax += oy * rate", (_PINOCCHIO,)
    ),
    Break(
        "a wrench on the tip has no arm",
        "dynamics/serial/arm_dynamics.py",
        "R @ given[3:] + np.cross(p, force)",
        "R @ given[3:]",
        (_PINOCCHIO,),
    ),
    Break(
        "a standard row's body stays in the joint's frame",
        _FILE,
        "joint.mass, beyond + behind @ center,",
        "joint.mass, center,",
        (f"{_DYNAMICS}::test_the_shipped_puma_is_the_chain_of_the_studies",),
    ),
    Break(
        "a body that cannot exist is taken",
        _FILE,
        "if unreal and not (evaluate_only or table.allow_unphysical):",
        "if False:",
        (f"{_BAD}::test_faults_are_named_with_key_value_and_bound",),
    ),
    Break(
        "keys of another convention are taken",
        _FILE,
        "if getattr(joint, key) is not None",
        "if False",
        (f"{_BAD}::test_faults_are_named_with_key_value_and_bound",),
    ),
    Break("gains are taken that break a condition", _SERVICE, "    refuse_gains(kp, kv)\n", "", (_CONDITIONS,)),
    Break(
        "the controller looks at the sample before",
        _CONTROL,
        "np.diff(qd_d, axis=0) / period, qdd_d[-1:]",
        "qdd_d[:1], np.diff(qd_d, axis=0) / period",
        (f"{_COMMAND}::test_computed_torque_repeats_the_papers_study",),
    ),
    Break(
        "limits are not looked at",
        _ARM,
        "if beyond[worst] > 1e-9",
        "if False and beyond[worst] > 1e-9",
        (f"{_COMMAND}::test_limits_that_a_motion_exceeds_are_named",),
    ),
    Break("rows that are not even are simulated", _SERVICE, "    if uneven.any():", "    if False:", (_WRONG,)),
    Break(
        "a joint that mimics another moves by itself",
        _URDF,
        "if joint.mimic is not None:",
        "if False:",
        (f"{_READ}::test_faults_are_named",),
    ),
    Break(
        "what is fixed to a body weighs nothing",
        _URDF,
        "self.bodies[body].add(mass, p + R @ center,",
        "self.bodies[body].add(mass * (p == 0.0).all(), p + R @ center,",
        (f"{_READ}::test_forces_accelerations_and_mass_matrix_are_pinocchios",),
    ),
]
