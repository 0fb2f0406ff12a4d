"""What an identification says of its own uncertainty and of its fit."""

from breaks import Break

_TESTS = "calibration/test_identify.py"
_EXCITATION = "calibration/test_excitation.py"
_ESTIMATE = "calibration/inertia/estimate.py"
_NUMBERS = "calibration/test_identify_numbers.py"
_SIGMAS = f"{_TESTS}::test_errors_are_as_large_as_their_sigmas_say"
_PRESLIDING = f"{_TESTS}::test_presliding_of_most_of_a_millimetre_is_not_taken_for_mass"
_ESTIMATED = "x, before = fit.estimate[fit.active], problem.before[fit.active]"

IDENTIFY_BREAKS = [
    Break(
        "identified parameters' sigmas are 20 % too small",
        _ESTIMATE,
        _ESTIMATED,
        f"{_ESTIMATED}\n    covariance *= 0.64",
        (_SIGMAS,),
    ),
    Break(
        "identified parameters' sigmas are 25 % too large",
        _ESTIMATE,
        _ESTIMATED,
        f"{_ESTIMATED}\n    covariance *= 1.5625",
        (_SIGMAS,),
    ),
    Break(
        "presliding is looked for up to 0.2 mm only",
        "calibration/inertia/departures.py",
        "_PRESLIDING = (2e-6, 1e-5, 5e-5, 2e-4, 8e-4, 3.2e-3)",
        "_PRESLIDING = (2e-6, 1e-5, 5e-5, 2e-4)",
        (_PRESLIDING,),
    ),
    Break(
        "drives count as noisy whatever they leave",
        _ESTIMATE,
        "least[6:] *= _LEAST_DRIVE**2",
        "pass",
        (f"{_TESTS}::test_drives_that_keep_to_their_commands_tell_friction_better",),
    ),
    Break(
        "what the data contradict keeps its sigma",
        _ESTIMATE,
        "        problem.widen(groups)\n",
        "",
        (f"{_TESTS}::test_what_is_further_off_than_was_stated_is_named_and_makes_nothing_sure",),
    ),
    Break(
        "a base counts as level",
        "calibration/inertia/design.py",
        "_TILT, _TILT_STEP = 1e-3, 1e-3",
        "_TILT, _TILT_STEP = 1e-9, 1e-3",
        (f"{_TESTS}::test_a_base_that_is_not_level_is_named_and_makes_nothing_sure",),
    ),
    Break(
        "friction by a selected law counts as exact",
        "calibration/inertia/prior.py",
        "LAW_SHARE = 0.08",
        "LAW_SHARE = 0.0",
        (_PRESLIDING,),
    ),
    Break(
        "drives of a small machine are taken to be as noisy as those of a large one",
        _ESTIMATE,
        "unit = machine_size(nominal).force",
        "unit = 1.0",
        ("calibration/test_machine_sizes.py::test_small_and_large_machines_are_told_within_what_is_said",),
    ),
    Break(
        "what is stated of a machine has no size",
        "calibration/inertia/prior.py",
        "getattr(STATED, name) * factor for name",
        "getattr(STATED, name) for name",
        ("calibration/test_machine_sizes.py::test_what_is_stated_has_the_size_of_the_machine",),
    ),
    Break(
        "gains of the cells are taken as known",
        "calibration/inertia/design.py",
        'columns.add(Unknown(name, "", sigma), {leg: forces[:, other]})',
        'columns.add(Unknown(name, "", sigma), {leg: 0.0 * forces[:, other]})',
        (_SIGMAS,),
    ),
    Break(
        "no candidate is ever taken",
        _ESTIMATE,
        "            if best is None:\n",
        "            if True:\n",
        (f"{_TESTS}::test_what_cells_show_beyond_the_model_is_named",),
    ),
    Break(
        "a lack of fit is called none",
        "calibration/inertia/holdout.py",
        'verdict: Verdict = "lack_of_fit" if misfits else',
        'verdict: Verdict = "pass" if misfits else',
        (f"{_TESTS}::test_a_right_model_fits_and_what_no_term_explains_is_a_lack_of_fit",),
    ),
    Break(
        "spikes are fitted",
        "calibration/inertia/samples.py",
        "return np.where(far, medians, cells), np.count_nonzero(far, axis=0)",
        "return cells, np.count_nonzero(far, axis=0)",
        (f"{_TESTS}::test_spikes_are_left_out_and_counted",),
    ),
    Break(
        "a designed excitation is a tenth beyond the limits",
        "calibration/inertia/excitation.py",
        "return float(np.abs(parts).max()) <= self._margin",
        "return float(np.abs(parts).max()) <= 1.1 * self._margin",
        (f"{_EXCITATION}::test_it_keeps_every_limit_by_its_margin",),
    ),
    Break(
        "a designed excitation need not pass the check of motions",
        "calibration/inertia/excitation.py",
        "if self._permits(_trajectory(terms, self._duration, self._home)):",
        "if True:",
        (f"{_EXCITATION}::test_what_another_check_refuses_is_made_smaller",),
    ),
    Break(
        "an excitation's information takes gains, lags and zeros of cells as known",
        "calibration/inertia/excitation.py",
        "whole += columns.T @ (weight[:, np.newaxis] * (columns - others @ fitted))",
        "whole += columns.T @ (weight[:, np.newaxis] * columns)",
        (f"{_EXCITATION}::test_its_information_is_that_of_the_whole_motion",),
    ),
    Break(
        "the gradient of an excitation's information leaves out the forces that gains are of",
        "calibration/inertia/excitation.py",
        "across = -slope @ fitted.T",
        "across = 0.0 * slope @ fitted.T",
        (f"{_EXCITATION}::test_derivatives_of_the_information_are_those_of_differences",),
    ),
    Break(
        "friction is low-passed to another cutoff than the forces",
        "calibration/inertia/samples.py",
        "half = np.fft.irfft(_response(np.fft.rfftfreq(size, 1.0 / rate), cutoff, rate), size)",
        "half = np.fft.irfft(_response(np.fft.rfftfreq(size, 1.0 / rate), 0.8 * cutoff, rate), size)",
        (f"{_NUMBERS}::test_rows_that_are_kept_are_those_of_the_low_pass",),
    ),
    Break(
        "what is of one leg only is taken as known",
        "calibration/inertia/least_squares.py",
        "            rest -= through @ each.T\n",
        "            rest -= 0.0 * through @ each.T\n",
        (f"{_NUMBERS}::test_elimination_leg_by_leg_inverts_the_whole_matrix",),
    ),
]
