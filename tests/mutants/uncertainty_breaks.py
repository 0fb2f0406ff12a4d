"""How sure calibrations of cells, the lag, the external wrench and the report's band are, and what goes on from one to
the next: a σ that is 20 % too small or 25 % too large is a wrong answer.
"""

from breaks import Break

_FIT = "calibration/cells.py"
_ERRORS = "calibration/test_fit_cell.py::test_errors_of_gain_and_offset_are_those_stated"
_IN_PLACE = "calibration/in_place/estimate.py"
_RESTS = "calibration/test_cells_in_place.py"
_CONTACTS = "rig/test_contact_statistics.py"
_BAND = "rig/test_report_files.py"
_EFFECTS = "calibration/effects.py"
_IDENTIFY = "calibration/test_identify.py"


def _scaled(what: str, path: str, old: str, new: str, *tests: str) -> list[Break]:
    """The break of a σ by both factors; `new` has {} where the factor goes, {2} where its square does."""
    return [
        Break(f"{what} {name}", path, old, new.replace("{}", f"{factor:g}").replace("{2}", f"{factor**2:g}"), tests)
        for name, factor in (("20 % too small", 0.8), ("25 % too large", 1.25))
    ]


UNCERTAINTY_BREAKS = [
    *_scaled(
        "sigmas of the cells' gains are",
        _FIT,
        "gain_standard_error=gain**2 * sensitivity_error,",
        "gain_standard_error={} * gain**2 * sensitivity_error,",
        _ERRORS,
    ),
    *_scaled(
        "sigmas of cells in place are",
        _IN_PLACE,
        "covariance=read_only(scale[:, np.newaxis] * covariance * scale),",
        "covariance=read_only({2} * scale[:, np.newaxis] * covariance * scale),",
        f"{_RESTS}::test_gains_to_a_thousandth_offsets_to_the_noise_of_the_mean_and_reversed_cells_found",
    ),
    Break(
        "the legs' weights count as exact where the platform's own tells the gains",
        _IN_PLACE,
        "by_mass, by_center = (self.leg_mass * mass, self.leg_center) if number else (self.mass, self.center)",
        "by_mass, by_center = (0.0, 0.0) if number else (self.mass, self.center)",
        (f"{_RESTS}::test_legs_that_weigh_more_than_their_drawing_says_are_in_the_sigmas",),
    ),
    *_scaled(
        "the lag's sigma is",
        "rig/report/validation/lag.py",
        "sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))",
        "sigma = {} * np.sqrt(np.maximum(np.diag(covariance), 0.0))",
        "rig/test_report_lag.py::test_errors_are_as_large_as_their_sigma_says",
    ),
    *_scaled(
        "the external wrench's sigma is",
        "rig/analysis/wrench.py",
        "covariance = matrices @ whole @ matrices.transpose(0, 2, 1)",
        "covariance = {2} * matrices @ whole @ matrices.transpose(0, 2, 1)",
        f"{_CONTACTS}::test_a_push_is_found_within_its_uncertainty_while_the_platform_moves",
    ),
    *_scaled(
        "the noise of the external wrench is",
        "rig/analysis/wrench.py",
        "covariance = np.cov(everything, rowvar=False)",
        "covariance = {2} * np.cov(everything, rowvar=False)",
        f"{_CONTACTS}::test_noise_and_bias_are_learned_from_a_quiet_stretch",
    ),
    *_scaled(
        "the band about the model is",
        "rig/report/validation/band.py",
        "return np.sqrt(self.cell**2 + self.pose**2 + self.parameters**2)",
        "return {} * np.sqrt(self.cell**2 + self.pose**2 + self.parameters**2)",
        _BAND,
    ),
    Break(
        "a joint that is elsewhere leaves the pose where it was",
        _EFFECTS,
        "moved = moved_motions(motions, -_LENGTH_STEP * stretches[:, [index]] * inverses[:, :, leg])",
        "moved = motions.copy()",
        (f"{_CONTACTS}::test_a_joint_that_its_length_offset_makes_up_for_is_no_uncertainty",),
    ),
    Break(
        "cells that the weight told count as if the model were another",
        _EFFECTS,
        "gains = None if calibration is None or calibration.in_place else calibration.gain_covariance",
        "gains = None if calibration is None else calibration.gain_covariance",
        (f"{_CONTACTS}::test_gains_that_a_bench_told_count_and_those_of_the_weight_itself_do_not",),
    ),
    Break(
        "what gains have in common is not known before",
        "calibration/inertia/estimate.py",
        "whole[np.ix_(here, here)] = settings.gains + _MOUNTED**2 * np.eye(6)",
        "whole[here, here] = np.diag(settings.gains) + _MOUNTED**2",
        (f"{_IDENTIFY}::test_gains_that_are_wrong_together_leave_the_mass_as_unsure",),
    ),
    Break(
        "a payload is weighed by gains that count as exact",
        "calibration/payload.py",
        "self.scales = _root(self.covariance[cells, cells])",
        "self.scales = 1e-3 * _root(self.covariance[cells, cells])",
        ("calibration/test_chain.py::test_each_step_is_as_sure_as_it_says",),
    ),
    Break(
        "a second file of the cells forgets what the first corrected",
        "calibration/parameters.py",
        "return CellErrors(first.zeros + first.matrix @ self.zeros, first.matrix @ self.matrix)",
        "return CellErrors(self.zeros, self.matrix)",
        (f"{_IDENTIFY}::test_errors_of_the_cells_go_on_those_that_were_corrected_before",),
    ),
    Break(
        "gains and cross-talk of a parameter file are not taken off",
        "calibration/parameters.py",
        "        if self.inverse is None:\n            return forces\n",
        "        if True:\n            return forces\n",
        ("rig/test_calibrated_rig.py::test_a_calibrated_rig_goes_where_it_is_told",),
    ),
    Break(
        "computed torque is expected to take friction at the reference's speed",
        "rig/engine/zero_order_hold.py",
        "timing[_FRICTION_MEASURED] = 1.0",
        "timing[_FRICTION_MEASURED] = 0.0",
        ("rig/test_zero_order_hold.py",),
    ),
    Break(
        "what held commands do is that at home wherever the platform is",
        "rig/engine/zero_order_hold.py",
        "if (count - 1) % every == 0 and frozen_kernel(",
        "if False and frozen_kernel(",
        ("rig/test_zero_order_hold.py::test_what_held_commands_do_is_known_to_less_than_noise",),
    ),
    Break(
        "the model's force is straight from cycle to cycle",
        "rig/engine/zero_order_hold.py",
        "if max(back, fore) < min(count, len(commands)):",
        "if False:",
        ("rig/test_zero_order_hold.py::test_what_held_commands_do_is_known_to_less_than_noise",),
    ),
    Break(
        "a command within a step of the plant counts as its middle",
        "rig/virtual/plant_kernel.py",
        "scratch[_MOTOR + 1, leg] = drive[GAIN] * middle_force_kernel(begin, drive[IMPULSE], drive[MOTOR], h)",
        "scratch[_MOTOR + 1, leg] = 0.5 * drive[GAIN] * (begin + drive[MOTOR])",
        ("rig/test_zero_order_hold.py::test_what_held_commands_do_is_known_to_less_than_noise",),
    ),
    Break(
        "a law of friction that one leg shows is left out at the others",
        "calibration/inertia/estimate.py",
        "        if alike:",
        "        if False:",
        (f"{_IDENTIFY}::test_a_law_of_friction_that_one_leg_shows_is_estimated_for_all",),
    ),
]
