"""Identification of an arm: its regressor, covariance, hold-out, data and gains."""

from breaks import Break

_MODEL, _SAMPLES = "calibration/arm/torque_model.py", "calibration/arm/samples.py"
_ESTIMATE, _JUDGE, _RESULT = (
    "calibration/arm/estimate.py",
    "calibration/arm/judgement.py",
    "calibration/arm/identify.py",
)
_DATA, _FILE = "rig/analysis/arm_data.py", "rig/analysis/arm_identification.py"
_REGRESSOR, _TESTS = "dynamics/test_arm_regressor.py", "calibration/test_arm_identification.py"
_COMMAND = "rig/test_arm_identify.py"
_PINOCCHIO = f"{_REGRESSOR}::test_the_bodies_regressor_is_pinocchios"
_COVERED = f"{_TESTS}::test_stated_sigmas_cover_the_truth_under_coloured_noise"

ARM_IDENTIFY_BREAKS = [
    Break(
        "half of Coriolis' term of a sliding joint in an arm's regressor",
        _MODEL,
        "2.0 * np.cross(spin, speed)",
        "np.cross(spin, speed)",
        (_PINOCCHIO,),
    ),
    Break(
        "a coupled motor's friction acts on the joint of its number alone",
        _MODEL,
        "alone = {int(np.flatnonzero(row)[0]) for row in ratios if np.count_nonzero(row) == 1}",
        "alone = set(range(n))",
        (f"{_REGRESSOR}::test_the_tx40s_sixth_motor_acts_on_both_wrist_joints",),
    ),
    Break(
        "an arm's positions are filtered with phase",
        _SAMPLES,
        "sosfiltfilt(butter(FILTER_ORDER",
        "__import__('scipy.signal').signal.sosfilt(butter(FILTER_ORDER",
        (f"{_TESTS}::test_filtering_has_no_phase_and_the_cut_off_follows_the_motion",),
    ),
    Break(
        "an arm's deviations take its residual as white",
        _ESTIMATE,
        "    kernel = np.maximum(0.0, 1.0 - np.arange(lags + 1) / (lags + 1.0))",
        "    kernel = np.zeros(lags + 1)\n    kernel[0] = 1.0",
        (_COVERED,),
    ),
    Break(
        "what of an arm is held out was fitted too",
        _JUDGE,
        "fit = problem.fit(split.fitted)",
        "fit = problem.fit()",
        (f"{_TESTS}::test_held_out_rows_are_not_fitted",),
    ),
    Break(
        "the smaller of two covariances is stated",
        _RESULT,
        "np.sqrt(np.maximum(values, 1.0))",
        "np.sqrt(np.minimum(values, 1.0))",
        (f"{_TESTS}::test_the_larger_of_two_covariances_is_at_least_both",),
    ),
    Break(
        "a run with the only known load is held out where gains are unknown",
        _JUDGE,
        "if not (with_load and loaded == [number])",
        "if number >= 0",
        (f"{_TESTS}::test_the_only_run_with_a_load_is_not_held_out_where_gains_are_unknown",),
    ),
    Break(
        "motors are joints where a file says motors",
        _DATA,
        "positions = positions @ np.linalg.inv(np.asarray(arm.motor_ratios)).T",
        "positions = positions / np.diag(np.asarray(arm.motor_ratios))",
        (f"{_COMMAND}::test_an_arm_is_identified_from_its_motors",),
    ),
    Break(
        "uneven rows are taken as even",
        _DATA,
        "np.column_stack([np.interp(even, t, column) for column in values.T])",
        "values",
        (f"{_COMMAND}::test_rows_of_uneven_times_are_interpolated_and_gaps_refused",),
    ),
    Break(
        "a load stands on the last joint's frame, not on the tip",
        _DATA,
        "np.asarray(arm.tip_position) + turn @ np.array(self.center)",
        "turn @ np.array(self.center)",
        (f"{_COMMAND}::test_a_load_is_transformed_from_the_tip_to_the_last_joint",),
    ),
    Break(
        "an identified arm's file loses its couplings",
        _FILE,
        "if k != j]",
        "if k == -1]",
        (f"{_COMMAND}::test_a_written_arm_file_has_the_same_dynamics",),
    ),
]
