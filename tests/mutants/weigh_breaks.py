"""How sure a payload's weighing is: what must be in its uncertainty, and what must be refused."""

from breaks import Break

_TESTS = "calibration/test_payload.py"
_STATED = f"{_TESTS}::test_the_stated_uncertainty_is_that_of_the_error"
_MISFIT = f"{_TESTS}::test_what_no_model_explains_is_refused_and_a_little_of_it_widens_the_uncertainty"
_SIGMA = "return np.sqrt(np.diag(_carried(payload_values, estimate.theta, estimate.covariance)))"
_PAYLOAD = "calibration/payload.py"
_NUISANCE = "calibration/payload.py"

WEIGH_BREAKS = [
    Break(
        "a payload's uncertainty is 20 % small",
        _PAYLOAD,
        _SIGMA,
        _SIGMA.replace("np.sqrt", "0.8 * np.sqrt"),
        (_STATED,),
    ),
    Break(
        "a payload's uncertainty is 25 % large",
        _PAYLOAD,
        _SIGMA,
        _SIGMA.replace("np.sqrt", "1.25 * np.sqrt"),
        (_STATED,),
    ),
    Break(
        "a payload is weighed with a rig that does not fit",
        _PAYLOAD,
        "if fit.chi_square > bound:",
        "if False:",
        (_MISFIT,),
    ),
    Break(
        "a worse fit does not widen a payload's uncertainty",
        _PAYLOAD,
        "scales = np.array([max(1.0, fit.chi_square) for fit in fits])",
        "scales = np.ones(2)",
        (_MISFIT,),
    ),
    Break(
        "what is slower than noise counts as noise",
        _PAYLOAD,
        "found = max(found, slow)",
        "pass",
        (f"{_TESTS}::test_what_is_left_more_slowly_than_noise_widens_the_uncertainty",),
    ),
    Break(
        "a weighed rig counts as its model",
        _NUISANCE,
        "accuracy.mass * body.mass,",
        "1e-9 * body.mass,",
        (f"{_TESTS}::test_a_rig_that_is_not_identified_is_told_by_samples_without_the_payload",),
    ),
    Break(
        "what parameters of a file have in common is left out of a weighing",
        "calibration/parameters.py",
        "own[np.ix_(rows, rows)]",
        "np.diag(np.diag(own)[rows])",
        (_STATED,),
    ),
    Break(
        "the gains' calibration does not count in a weighing",
        _NUISANCE,
        "before[_GAINS, _GAINS] = gains",
        "before[_GAINS, _GAINS] = 1e-12 * gains",
        (f"{_TESTS}::test_the_cells_own_calibration_counts",),
    ),
    Break(
        "a zero that may change between recordings does not count",
        _PAYLOAD,
        "if zero_change and number",
        "if False and number",
        (f"{_TESTS}::test_a_zero_that_changes_between_recordings_is_in_the_uncertainty",),
    ),
]
