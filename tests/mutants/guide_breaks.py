"""What guides rely on: control laws and references of one's own, motions by a script, keys by their bounds."""

from breaks import Break

_ADDED = "guides/test_guides.py"


def _added(test: str) -> tuple[str, ...]:
    return (f"{_ADDED}::{test}",)


_LAWS = "rig/test_control_laws.py"
_OWN = "integration/test_own_laws_and_references.py"

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
        "        found |= one.validate_python({str(name): given})\n",
        "        found[str(name)] = model.model_construct(**given)\n",
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
        "a reference of somebody else is followed wherever it begins",
        "rig/engine/sources.py",
        "        if not away.max() <= START_DISTANCE:\n",
        "        if False:\n",
        (f"{_OWN}::test_what_cannot_be_followed_is_refused_by_name",),
    ),
    Break(
        "what a reference raises goes on into the cycle",
        "rig/engine/sources.py",
        "        except Exception as error:  # of whatever kind\n",
        "        except ImportError as error:  # of whatever kind\n",
        (f"{_OWN}::test_a_reference_that_fails_is_left_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a reference's numbers are taken as they are",
        "rig/engine/sources.py",
        "        elif not np.isfinite(motion).all():\n",
        "        elif False:\n",
        (f"{_OWN}::test_a_reference_that_fails_is_left_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a reference's quaternion is taken for one",
        "rig/engine/sources.py",
        "        elif abs(float(np.linalg.norm(motion[3:7])) - 1.0) > _UNIT_NORM:\n",
        "        elif False:\n",
        (f"{_OWN}::test_a_reference_that_fails_is_left_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a reference may take its time to come to rest",
        "rig/engine/sources.py",
        "            if self.moving and self._slowed > self._rest_within * (1.0 + _REST_MARGIN):\n",
        "            if False:\n",
        (f"{_OWN}::test_a_reference_that_does_not_come_to_rest_is_braked",),
    ),
    Break(
        "a reference may take its time for a value",
        "rig/engine/sources.py",
        "        if self._average > self._bound:\n",
        "        if False:\n",
        (f"{_OWN}::test_values_that_take_too_long",),
    ),
    Break(
        "a reference is given the engine's own array",
        "rig/engine/sources.py",
        "            own = self._motion  # an array that it may keep is none of the engine's\n",
        "            own = self._motion = motion\n",
        (f"{_OWN}::test_what_it_keeps_of_the_engine_it_cannot_change",),
    ),
    Break(
        "a reference's own fault is not told",
        "rig/engine/supervision.py",
        "    return cause if fault is None else Cause(fault, cause.t)\n",
        "    return cause\n",
        (f"{_OWN}::test_a_reference_that_fails_is_left_and_the_platform_comes_to_rest",),
    ),
    Break(
        "a law that raises ends the engine",
        "rig/engine/command_arbiter.py",
        "            self._act(law_failed(t, law.name, error))\n            return None\n",
        "            raise\n",
        (f"{_OWN}::test_a_law_that_raises_stops_the_rig",),
    ),
    Break(
        "a law commands what was not checked",
        "rig/engine/laws/__init__.py",
        "        if not (declared.compiled or mixed):\n",
        "        if False:\n",
        (f"{_OWN}::test_a_law_that_raises_stops_the_rig",),
    ),
    Break(
        "what a law remembers is not foreseen",
        "rig/engine/zero_order_hold.py",
        "            if data.remembered > 0 and legs[_HOSTED, i] != 0.0:\n",
        "            if data.remembered < 0:\n",
        ("rig/test_zero_order_hold.py::test_what_a_law_remembers_is_foreseen_too",),
    ),
    Break(
        "a source of references is followed in any state",
        "rig/engine/guards.py",
        "    FollowSource: frozenset({State.ENGAGED}),\n",
        "    FollowSource: frozenset(State),\n",
        (f"{_OWN}::test_a_reference_needs_an_engaged_platform",),
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
