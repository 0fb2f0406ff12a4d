"""What guides rely on: control laws and references of one's own, motions by a script, keys by their bounds."""

from breaks import Break

_ADDED = "guides/test_guides.py"


def _added(test: str) -> tuple[str, ...]:
    return (f"{_ADDED}::{test}",)


_WRONG_LAW = _added("test_a_law_that_cannot_be_used_is_refused")

GUIDE_BREAKS = [
    Break(
        "a control law that nobody declares is taken for one",
        "rig/config/rig_config.py",
        "    if name not in LAWS and name not in declared_laws():\n",
        "    if False:\n",
        _WRONG_LAW,
    ),
    Break(
        "anything that is declared as a control law is taken for one",
        "rig/engine/laws/__init__.py",
        "    if not (isinstance(law, type) and issubclass(law, ControlLaw)):\n",
        "    if False:\n",
        _WRONG_LAW,
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
