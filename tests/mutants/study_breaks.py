"""Breaks in the study of a mechanism, and in the reading of motions."""

from breaks import Break

_FOLDERS = "rig/csvio.py"
_CASES = "rig/test_study.py"
_COMMAND = "rig/test_cli_study.py"
_SOURCE = "rig/motions/motion_source.py"
_READ = "rig/test_motion_source.py"

STUDY_BREAKS = [
    Break(
        "a study replaces a folder that holds something else",
        _FOLDERS,
        "if not (folder / marker).is_file():",
        "if False:",
        (f"{_COMMAND}::test_an_earlier_study_is_replaced_only_by_force",),
    ),
    Break(
        "a study replaces an earlier one unasked",
        _FOLDERS,
        "        if not force:\n            one = ",
        "        if False:\n            one = ",
        (f"{_COMMAND}::test_an_earlier_study_is_replaced_only_by_force",),
    ),
    Break(
        "half a study is left in a temporary folder",
        _FOLDERS,
        "    finally:\n        shutil.rmtree(temporary, ignore_errors=True)",
        "    finally:\n        pass",
        (f"{_COMMAND}::test_nothing_is_left_of_a_study_that_fails",),
    ),
    Break(
        "the force F_0 of a study has the drives' inertia",
        "rig/study/forces.py",
        "replace(leg, drive=Drive()) for leg in mechanism.legs",
        "leg for leg in mechanism.legs",
        (f"{_CASES}::test_drives_count_as_legs_in_the_dynamic_force",),
    ),
    Break(
        "models are studied without the same Coulomb friction",
        "dynamics/papers/variants.py",
        '    if friction == "same":\n        forces',
        "    if False:\n        forces",
        (f"{_CASES}::test_friction_of_the_models_is_chosen",),
    ),
    Break(
        "a box without any pose that is allowed is studied",
        "rig/study/measures.py",
        "    if not allowed.any():",
        "    if False:",
        (f"{_CASES}::test_limits_that_are_exceeded_are_named",),
    ),
    Break(
        "an undefined spin of a leg counts as a singular pose",
        "rig/study/forces.py",
        "if NOT_UNIT in error.statuses or (error.statuses != SINGULAR).any():",
        "if NOT_UNIT in error.statuses:",
        (f"{_CASES}::test_singular_samples_are_omitted_and_reported",),
    ),
    Break(
        "a crossing of infinity counts as a pole of the fraction",
        "rig/study/study.py",
        "                if int(np.searchsorted(times, time)) not in jumps",
        "                if True or jumps",
        (f"{_CASES}::test_a_sign_change_at_a_singularity_is_no_zero_of_a_force",),
    ),
    Break(
        "every pose of each row is taken for one motion",
        _SOURCE,
        'if {"mode", "residual"} <= set(names):',
        "if False:",
        (f"{_READ}::test_a_table_without_a_motion_is_refused",),
    ),
    Break(
        "a table of poses may go back in time",
        _SOURCE,
        "    late = np.flatnonzero(np.diff(times) <= 0.0)",
        "    late = np.flatnonzero(np.diff(times) <= -np.inf)",
        (f"{_READ}::test_a_table_without_a_motion_is_refused",),
    ),
    Break(
        "what a recording commands outside of motions is part of them",
        _SOURCE,
        "chosen = _increasing(rows[moving[0] : moving[-1] + 1][known[moving[0] : moving[-1] + 1]])",
        "chosen = _increasing(rows[known])",
        (f"{_READ}::test_every_table_of_another_command_is_the_same_motion",),
    ),
]
