"""The gains of computed torque: their conditions, the couplings in the law, and what is said of the loop."""

from breaks import Break

_GAINS = "rig/test_task_gains.py"
_REFUSED = f"{_GAINS}::test_gains_are_refused_by_key_value_and_bound"
_MARGIN = f"{_GAINS}::test_the_margin_of_a_matrix_is_where_the_compiled_loop_becomes_unstable"
_DECAY = f"{_GAINS}::test_the_error_of_the_exact_plant_decays_as_its_linear_equation"


def _condition(name: str, old: str, new: str) -> Break:
    return Break(name, "dynamics/serial/torque_control.py", old, new, (_REFUSED,))


def _law(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/engine/laws/kernels.py", old, new, tests)


def _margin(name: str, old: str, new: str, *tests: str) -> Break:
    return Break(name, "rig/safety/stability.py", old, new, tests)


GAINS_BREAKS = [
    Break("gains are not checked", "rig/config/conflicts.py", "*gain_faults(config), ", "", (_REFUSED,)),
    _condition("gains need not be symmetric", "if apart[row, column] > _ROUNDING * size:", "if False:"),
    _condition(
        "gains of no stiffness pass",
        'lacking = least <= _ROUNDING * size if gain == "K_p" else',
        'lacking = least < 0.0 if gain == "K_p" else',
    ),
    _condition("gains that do not damp pass", "if rank < len(position):", "if False:"),
    Break(
        "gains are taken from either of two ways",
        "rig/config/task_gains.py",
        "if given and others:",
        "if False:",
        (_REFUSED,),
    ),
    Break(
        "half a pair of gains is taken",
        "rig/config/task_gains.py",
        "if len(given) == 1:",
        "if False:",
        (_REFUSED,),
    ),
    Break(
        "the usual gains have no margin",
        "rig/config/task_gains.py",
        "return min(USUAL_BANDWIDTH, ratio * x * cosine / (math.pi * late * math.sin(x)))",
        "return USUAL_BANDWIDTH",
        (f"{_GAINS}::test_the_bandwidth_that_is_not_given_has_its_margin",),
    ),
    _law(
        "gains that couple are taken by their diagonal",
        "total += damping[i, k] * (now[7 + k] - twist[k])",
        "total += (damping[i, k] if i == k else 0.0) * (now[7 + k] - twist[k])",
        _DECAY,
    ),
    _law(
        "gains of a rotation's error are those of another",
        "total += stiffness[i, 4] * factor * y",
        "total += stiffness[i, 5] * factor * y",
        _DECAY,
    ),
    _margin("gains that couple have the margin of numbers", "if matrices is None:", "if True:", _MARGIN),
    _margin(
        "gains that couple leave the sag of the softest alone",
        "np.linalg.solve(feedback.gains.stiffness, moved)",
        "np.linalg.solve(np.diag(np.diag(feedback.gains.stiffness)), moved)",
        f"{_GAINS}::test_the_sag_under_a_matrix_is_that_of_the_compiled_loop",
    ),
    _margin(
        "gains of one bandwidth have other damping ratios",
        "damping * math.sqrt(wanted / stiffness)",
        "damping * wanted / stiffness",
        f"{_GAINS}::test_a_common_bandwidth_is_that_of_the_fastest_direction_with_the_same_damping_ratios",
    ),
    Break(
        "gains that couple feed held forces back without coupling",
        "rig/engine/zero_order_hold.py",
        "stiffness, damping = inertia.T @ task.stiffness @ errors, inertia.T @ task.damping @ errors",
        "stiffness, damping = task.stiffness[0, 0] * inertia.T @ errors, task.damping[0, 0] * inertia.T @ errors",
        (f"{_GAINS}::test_held_forces_are_fed_back_by_the_inertia_times_the_gains",),
    ),
]
