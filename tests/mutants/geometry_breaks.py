"""What a calibration of the geometry says of its own uncertainty, and what it asks of the poses."""

from breaks import Break

_TESTS = "calibration/test_calibrate_geometry.py"
_COMMAND = "calibration/test_cli_geometry.py"
_TOLD, _FIT = "calibration/geometry/observability.py", "calibration/geometry/calibrate.py"
_GEOMETRY = f"{_TESTS}::test_errors_of_the_geometry_are_as_large_as_the_covariance_says"
_POSES = f"{_TESTS}::test_errors_of_poses_are_as_large_as_their_sigmas_say"
_SCALE = f"{_TESTS}::test_a_tracker_s_scale_is_told_and_does_not_bias_the_geometry"
_COVARIANCE = "covariance=0.5 * (covariance + covariance.T)"

GEOMETRY_BREAKS = [
    Break("the geometry's sigmas are 20 % too small", _TOLD, _COVARIANCE, "covariance=0.64 * covariance", (_GEOMETRY,)),
    Break(
        "the geometry's sigmas are 25 % too large", _TOLD, _COVARIANCE, "covariance=1.5625 * covariance", (_GEOMETRY,)
    ),
    Break(
        "a pose's sigmas are 20 % too small",
        _TOLD,
        "sigma = np.sqrt(np.maximum(variance, 0.0))",
        "sigma = 0.8 * np.sqrt(np.maximum(variance, 0.0))",
        (_POSES,),
    ),
    Break(
        "a pose's sigmas are 25 % too large",
        _TOLD,
        "sigma = np.sqrt(np.maximum(variance, 0.0))",
        "sigma = 1.25 * np.sqrt(np.maximum(variance, 0.0))",
        (_POSES,),
    ),
    Break(
        "the scale's sigma is 20 % too small",
        _TOLD,
        "scale_sigma=float(np.sqrt(variance))",
        "scale_sigma=0.8 * float(np.sqrt(variance))",
        (f"{_TESTS}::test_the_scale_s_sigma_is_where_the_cost_is_one_more",),
    ),
    Break(
        "the tracker's scale is not taken off",
        "calibration/geometry/model.py",
        " + scale * readings.arms",
        "",
        (_SCALE,),
    ),
    Break("no scale is too far off", _FIT, "abs(off) > _OUTSIDE", "False", (_SCALE,)),
    Break(
        "a scale that the readings contradict pulls",
        _FIT,
        "tolerances, scales = tolerances * departed, likely",
        "tolerances, scales = tolerances * departed, 1.0",
        (_SCALE,),
    ),
    Break(
        "tolerances that are too small stay",
        _FIT,
        "tolerances, scales = tolerances * departed, likely",
        "tolerances, scales = 1.0, likely",
        (f"{_TESTS}::test_a_drawing_that_is_farther_off_than_its_tolerances_is_told",),
    ),
    Break(
        "the drawing counts for nothing",
        _TOLD,
        "covariance = inside @ np.linalg.inv(about + before) @ inside.T",
        "covariance = inside @ np.linalg.inv(about + 1e-6 * before) @ inside.T",
        (f"{_TESTS}::test_what_few_poses_do_not_tell_is_the_drawing_s",),
    ),
    Break(
        "poses may be as uncertain as they like",
        _FIT,
        "if value > most]",
        "if False]",
        (f"{_TESTS}::test_one_orientation_is_refused_with_its_directions",),
    ),
    Break(
        "the workspace is where it was measured",
        "rig/services/geometry_tables.py",
        "workspace_poses(nominal.geometry, reach) if bounded else None",
        "None",
        (f"{_COMMAND}::test_what_poses_leave_open_is_told_with_the_refusal",),
    ),
    Break(
        "what parameters have in common is lost",
        "calibration/parameters.py",
        "whole[np.ix_(here, here)] = own[np.ix_(rows, rows)]",
        "whole[here, here] = own[rows, rows]",
        (f"{_TESTS}::test_the_file_carries_the_covariance_and_gives_it_back",),
    ),
]
