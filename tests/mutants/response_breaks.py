"""Frequency responses: uncertainties of another size, bounds and refusals that are not kept."""

from breaks import Break

_TESTS = "rig/test_frequency_response.py"
_SIZE = f"{_TESTS}::test_the_stated_uncertainty_is_what_errors_are"
_RESPONSE, _FIT = "rig/analysis/response.py", "rig/analysis/response_fit.py"

RESPONSE_BREAKS = [
    Break(
        "a response's parameters are told 20 % too well",
        _FIT,
        "covariance = covariance * enlarged + biased @ biased.T",
        "covariance = (covariance * enlarged + biased @ biased.T) * 0.64",
        (_SIZE,),
    ),
    Break(
        "a response's parameters are told 25 % too ill",
        _FIT,
        "covariance = covariance * enlarged + biased @ biased.T",
        "covariance = (covariance * enlarged + biased @ biased.T) * 1.5625",
        (_SIZE,),
    ),
    Break(
        "a response's lines are told 20 % too well",
        _RESPONSE,
        "sigma=np.sqrt(variance / count) / size",
        "sigma=0.8 * np.sqrt(variance / count) / size",
        (_SIZE,),
    ),
    Break(
        "stochastic distortion is no uncertainty",
        _RESPONSE,
        "variance = np.maximum(variance, noise)",
        "variance = noise",
        (_SIZE,),
    ),
    Break(
        "what friction adds to a gain is no uncertainty",
        _FIT,
        "covariance * enlarged + biased @ biased.T",
        "covariance * enlarged",
        (f"{_TESTS}::test_friction_s_bias_is_in_the_uncertainty_of_a_position_drive",),
    ),
    Break(
        "a model that does not fit is told",
        _FIT,
        "one.candidate.probability >= LEAST_PROBABILITY and",
        "",
        (f"{_TESTS}::test_no_model_is_reported_where_none_fits",),
    ),
    Break(
        "a dead time may be below nothing",
        _FIT,
        "lower = np.array([-np.inf] + [0.0] * (count - 1))",
        "lower = np.full(count, -np.inf)",
        (f"{_TESTS}::test_a_dead_time_is_not_negative_and_its_bound_is_a_note",),
    ),
    Break(
        "even distortion is odd",
        _RESPONSE,
        "even = numbers % 2 == 0",
        "even = numbers % 2 == 1",
        (f"{_TESTS}::test_detection_lines_separate_distortion_from_noise",),
    ),
]
