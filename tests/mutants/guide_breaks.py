"""What guides rely on: control laws and references of one's own, motions by a script, keys by their bounds."""

from breaks import Break

_ADDED = "guides/test_guides.py"


def _added(test: str) -> tuple[str, ...]:
    return (f"{_ADDED}::{test}",)


_LAWS = "rig/test_control_laws.py"

GUIDE_BREAKS = [
    Break(
        "a control law that nobody declares is taken for one",
        "rig/config/rig_config.py",
        "        return find_law(name).name\n",
        "        return name\n",
        (f"{_LAWS}::test_a_declaration_that_is_none_is_refused_when_the_file_is_read",),
    ),
    Break(
        "anything that is declared as a control law is taken for one",
        "rig/engine/laws/__init__.py",
        "    if not (isinstance(declared, type) and issubclass(declared, ControlLaw)):\n",
        "    if False:\n",
        (f"{_LAWS}::test_a_declaration_that_cannot_be_used_is_refused_by_name",),
    ),
    Break(
        "a law's settings are taken as they are",
        "rig/config/control_laws.py",
        "        return model.model_validate(given)\n",
        "        return model.model_construct(**given)  # type: ignore[arg-type]\n",
        (f"{_LAWS}::test_settings_are_judged_where_the_file_has_them",),
    ),
    Break(
        "what a law remembers is not judged",
        "rig/safety/stability.py",
        "            self._matrices[:, 3, -len(C) :] = -C @ A\n",
        "",
        (f"{_LAWS}::test_where_the_judged_loop_becomes_unstable_the_simulated_one_does",),
    ),
    Break(
        "a law of one's own takes no part of the data of its cycle offline",
        "rig/virtual/closed_loop/simulation.py",
        "            data.reference.foresee(self._reference, t)\n",
        "            pass\n",
        (f"{_LAWS}::test_a_law_itself_does_offline_what_its_compiled_branch_does",),
    ),
    Break(
        "a source of references is followed in any state",
        "rig/engine/core.py",
        "            raise RefusedError(Finding(Code.SOURCE_NOT_ENGAGED",
        "            str(Finding(Code.SOURCE_NOT_ENGAGED",
        _added("test_a_source_of_references_needs_an_engaged_platform"),
    ),
    Break(
        "a script's motion of any type is taken for one",
        "rig/client/arguments.py",
        "    if isinstance(motion, Trajectory):\n",
        "    if motion is not False:\n",
        _added("test_what_is_no_motion_is_refused_with_what_would_be_one"),
    ),
    Break(
        "a setting above its range is taken",
        "kinematics/inputs/units.py",
        "        if not self.least <= value <= self.greatest:\n",
        "        if not self.least <= value:\n",
        ("kinematics/test_trajectory_files.py", "rig/test_config.py"),
    ),
    Break(
        "a key without its line in the reference",
        "tests/guides/reference.py",
        '    return _HEAD + "".join(_row(model, name) for name in names or model.model_fields)\n',
        '    return _HEAD + "".join(_row(model, name) for name in list(names or model.model_fields)[1:])\n',
        ("guides/test_reference.py",),
    ),
]
