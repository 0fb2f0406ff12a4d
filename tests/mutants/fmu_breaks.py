"""Breaks in the export of co-simulation units, in Python and in their C code."""

from breaks import Break

_BUILD = "rig/fmu/build.py"
_UNIT = "rig/fmu/unit.py"
_MODEL = "rig/fmu/sources/model.c"
_INTERFACE_2 = "rig/fmu/sources/fmi2.c"
_PAYLOAD = "rig/virtual/payload_unit.py"
_TESTS = "rig/test_fmu.py"
_CARRIED = "rig/test_payload_fmu.py"
_FOREIGN = "rig/fmu/foreign.py"
_PROCESS = "rig/fmu/reference.py"
_FOLLOWED = "rig/test_reference_fmu.py"
_COMMAND = "rig/test_cli_export_fmu.py"

FMU_BREAKS = [
    Break(
        "a unit that FMPy finds invalid is written",
        _BUILD,
        "if problems := _problems(whole):",
        "if False:",
        (f"{_COMMAND}::test_a_unit_that_is_invalid_is_not_written",),
    ),
    Break(
        "the longest step of a plant has no margin for other poses",
        _BUILD,
        "mobility = 2.0 * float(",
        "mobility = 0.9 * float(",
        (f"{_TESTS}::test_the_longest_step_is_where_friction_grows",),
    ),
    Break(
        "a step too long for the friction is exported",
        "rig/services/fmu_export.py",
        "if request.step > longest:",
        "if False:",
        (f"{_COMMAND}::test_what_is_refused_is_named",),
    ),
    Break(
        "products of inertia of a unit change places",
        _UNIT,
        "(0, 1), (0, 2), (1, 2))",
        "(0, 2), (0, 1), (1, 2))",
        (f"{_TESTS}::test_another_engine_agrees", f"{_TESTS}::test_an_inverse_model_gives_the_forces_of_the_library"),
    ),
    Break(
        "a unit begins at home, whatever its start pose",
        "rig/services/fmu_export.py",
        "pose = machine.geometry.home if request.pose is None else np.array(request.pose)",
        "pose = machine.geometry.home",
        (f"{_COMMAND}::test_the_start_is_chosen",),
    ),
    Break(
        "a unit takes numbers that are not finite",
        _MODEL,
        "if (!isfinite(values[k]))",
        "if (0)",
        (f"{_TESTS}::test_a_number_that_is_not_finite_is_refused_by_name",),
    ),
    Break(
        "a unit goes on after an error",
        _MODEL,
        "        one->state.mode = FAILED;\n",
        "        ;\n",
        (f"{_TESTS}::test_a_number_that_is_not_finite_is_refused_by_name",),
    ),
    Break(
        "a unit's outputs are those of the inputs before",
        _MODEL,
        "        one->state.values[references[k]] = values[k];\n    one->state.stale = 1;",
        "        one->state.values[references[k]] = values[k];",
        (f"{_TESTS}::test_an_inverse_model_gives_the_forces_of_the_library",),
    ),
    Break(
        "a unit does not look at the norm of a quaternion",
        _MODEL,
        "if (fabs(norm - 1.0) <= UNIT_TOLERANCE)",
        "if (1)",
        (f"{_TESTS}::test_a_start_that_cannot_be_is_refused_by_name",),
    ),
    Break(
        "a unit steps from another time than its own",
        _MODEL,
        "if (!(fabs(now - *time) <= 1e-9 * fmax(1.0, fabs(*time))))",
        "if (0)",
        (f"{_TESTS}::test_steps_are_checked",),
    ),
    Break(
        "the parameters of a unit cannot be changed",
        _MODEL,
        "    memcpy(one->parameters, one->state.values + FIRST_PARAMETER, PARAMETER_COUNT * sizeof(double));\n",
        "",
        (f"{_TESTS}::test_a_payload_is_a_parameter",),
    ),
    Break(
        "a leg that leaves its stroke is told at every step",
        _MODEL,
        "if (beyond && !one->state.beyond[leg])",
        "if (beyond)",
        (f"{_TESTS}::test_a_leg_that_leaves_its_stroke_is_reported_once",),
    ),
    Break(
        "a unit takes the description of another one",
        _MODEL,
        "if (token != NULL && strcmp(token, TOKEN) == 0) {",
        "if (1) {",
        (f"{_TESTS}::test_another_units_description_is_refused",),
    ),
    Break(
        "a question after a status ends a unit's simulation",
        _INTERFACE_2,
        'return report(c, DISCARD, "%s: no step is pending", function);',
        'return report(c, ERROR, "%s: no step is pending", function);',
        (f"{_TESTS}::test_a_status_that_is_not_known_ends_nothing",),
    ),
    Break(
        "a unit takes stored bytes with a mode that there is not",
        _MODEL,
        "sizeof TOKEN) == 0 && (unsigned)state.mode <= FAILED;",
        "sizeof TOKEN) == 0;",
        (f"{_TESTS}::test_bytes_that_are_no_state_are_refused",),
    ),
    Break(
        "a unit logs what its user has switched off",
        _MODEL,
        "    if (!one->silent[category])\n",
        "",
        (f"{_TESTS}::test_what_is_logged_can_be_switched",),
    ),
    Break(
        "the wrench of a payload's FMU does not act",
        "rig/virtual/plant.py",
        "return self.wrench if self.payload is None else self.wrench + self.payload",
        "return self.wrench",
        (f"{_CARRIED}::test_a_spring_acts_as_the_rigs_own_hose",),
    ),
    Break(
        "a payload's FMU begins where the platform is not",
        _PAYLOAD,
        "self._unit.begin(self._motion(plant))",
        "self._unit.begin(self._rest())",
        (f"{_CARRIED}::test_a_spring_acts_as_the_rigs_own_hose",),
    ),
    Break(
        "a payload's FMU steps at the pace of the rig's clock",
        "rig/virtual/virtual_rig.py",
        "            if self._payload is not None and not plant.fault:\n                until",
        "            if False:\n                until",
        (f"{_CARRIED}::test_steps_are_the_units_own_whatever_the_clock_does",),
    ),
    Break(
        "a payload's FMU catches up what the plant skipped",
        "rig/virtual/virtual_rig.py",
        "            self._payload.skip(duration)",
        "            pass",
        (f"{_CARRIED}::test_steps_are_the_units_own_whatever_the_clock_does",),
    ),
    Break(
        "a payload's FMU that is too slow runs in real time",
        _PAYLOAD,
        "if needed > LARGEST_SHARE * step:",
        "if False:",
        (f"{_CARRIED}::test_a_slow_unit_is_refused_for_real_time",),
    ),
    Break(
        "a number of a foreign FMU that is not finite acts on the plant",
        _FOREIGN,
        "if not math.isfinite(results.values.sum()):",
        "if False:",
        (f"{_CARRIED}::test_a_number_that_is_not_finite_is_named",),
    ),
    Break(
        "the virtual rig's process leaves a payload's FMU out",
        "rig/virtual/process.py",
        "        payload = payload_of(config)\n",
        "        payload = None\n",
        (f"{_CARRIED}::test_the_virtual_rigs_process_carries_it",),
    ),
    Break(
        "what a payload's FMU prints is output of the virtual rig's process",
        "rig/virtual/process.py",
        "            os.dup2(2, 1)  # what an FMU prints is no output of this program\n",
        "            pass\n",
        (f"{_CARRIED}::test_the_virtual_rigs_process_carries_it",),
    ),
    Break(
        "the closed loop is simulated without the configured payload's FMU",
        "rig/services/closed_loops.py",
        "if config.virtual is not None and config.virtual.plant.payload_fmu is not None:",
        "if False:",
        (f"{_CARRIED}::test_the_closed_loop_is_not_simulated_without_it_and_a_check_loads_it",),
    ),
    Break(
        "a foreign FMU's degrees are taken for radians",
        _FOREIGN,
        "declared, offset = base.factor, base.offset",
        "declared, offset = 1.0, 0.0",
        (f"{_FOLLOWED}::test_its_outputs_are_a_motion",),
    ),
    Break(
        "a foreign FMU's variable may have any dimension",
        _FOREIGN,
        "if found != _DIMENSIONS[wanted]:",
        "if False:",
        (f"{_FOLLOWED}::test_what_does_not_fit_is_refused_before_it_is_loaded",),
    ),
    Break(
        "an FMU is freed after its fatal error",
        _FOREIGN,
        "            self._fmu = None  # after which none of its functions may be called\n",
        "            pass\n",
        (f"{_FOLLOWED}::test_what_a_step_returns_is_told",),
    ),
    Break(
        "an FMU that asks for the end has failed",
        _FOREIGN,
        "and not self._third and self._has_ended():",
        "and False:",
        (f"{_FOLLOWED}::test_what_a_step_returns_is_told",),
    ),
    Break(
        "what an FMU's dead process left stays",
        _FOREIGN,
        "                    shutil.rmtree(left, ignore_errors=True)\n",
        "                    pass\n",
        (f"{_FOLLOWED}::test_what_dead_processes_left_is_removed",),
    ),
    Break(
        "a followed FMU that is too slow is not refused",
        _PROCESS,
        "if needed > LARGEST_SHARE * step:",
        "if False:",
        (f"{_FOLLOWED}::test_one_that_cannot_be_paced_is_refused_before_the_motion",),
    ),
    Break(
        "a followed FMU may be late for ever",
        _PROCESS,
        "elif now - self._late_since > _LATE_FOR:",
        "elif False:",
        (f"{_FOLLOWED}::test_one_that_slows_down_is_named",),
    ),
    Break(
        "a set-point that is repeated has the velocity of the motion's beginning",
        _PROCESS,
        '        self._sample["velocity"] = self._sample["acceleration"] = 0.0',
        "        pass",
        (f"{_FOLLOWED}::test_a_motion_that_does_not_begin_at_rest_is_not_waited_with",),
    ),
    Break(
        "the crash of a followed FMU goes unseen",
        _PROCESS,
        "        except RigError as error:\n            self._error = error\n\n    def check",
        "        except RigError:\n            pass\n\n    def check",
        (f"{_FOLLOWED}::test_one_that_crashes_or_hangs_ends_with_its_process",),
    ),
    Break(
        "a followed FMU that hangs outlives its owner",
        _PROCESS,
        "        os._exit(1)",
        "        return",
        (f"{_FOLLOWED}::test_a_process_that_hangs_ends_after_its_owner",),
    ),
    Break(
        "a followed FMU does not hear of the platform",
        _PROCESS,
        "            stream.learn(platform_state(new[-1]))",
        "            pass",
        (f"{_FOLLOWED}::test_paced_it_is_ahead_of_the_clock_and_hears_of_the_platform",),
    ),
    Break(
        "the rig is not stopped where the FMU that it follows fails",
        "rig/client/fmu_following.py",
        "            stop(rig, 2)",
        "            pass",
        (f"{_FOLLOWED}::test_one_that_fails_on_the_way_stops_the_rig_by_name",),
    ),
]
