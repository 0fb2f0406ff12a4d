"""What is said of figures, starts, recordings and runs."""

from breaks import Break

_UNITS = "kinematics/test_units.py"

WORD_BREAKS = [
    Break(
        "a translation may need a field that a finding lacks",
        "gui/texts/catalogue.py",
        " and _fields(_always(translation)) <= _fields(_always(text))",
        "",
        ("gui/test_texts.py::test_a_field_that_a_finding_may_lack_stays_optional",),
    ),
    Break(
        "a figure beyond its bound may read as below it",
        "kinematics/inputs/units.py",
        "== (abs(value) > abs(bound), abs(value) < abs(bound)):",
        "is not None:",
        (f"{_UNITS}::test_a_figure_and_its_bound_read_as_they_compare",),
    ),
    Break(
        "a drive's silence is held against a bound that does not act",
        "rig/safety/trip.py",
        "if age >= bound:",
        "if True:",
        ("rig/test_engine_parts.py::test_what_the_drives_say_of_themselves",),
    ),
    Break(
        "a start that is compiled is a full bar while others are waited for",
        "rig/engine/compiling.py",
        "return self.done >= self.total",
        "return False",
        ("rig/test_compiling.py", "gui/test_banner.py::test_a_start_that_compiles_says_how_far_it_is"),
    ),
    Break(
        "a kernel that takes long to compile is not told of before it is there",
        "kinematics/compiled/compiler.py",
        """    def on_start(self, _event: event.Event) -> None:
        \"\"\"See numba's Listener.\"\"\"
        self._count()""",
        """    def on_start(self, _event: event.Event) -> None:
        \"\"\"See numba's Listener.\"\"\"""",
        ("kinematics/test_compile_progress.py",),
    ),
    Break(
        "a run begins by the rig time that has passed",
        "rig/runs/run.py",
        "begun_ns = motion.begun_ns or",
        "begun_ns =",
        ("rig/test_runs.py::test_a_run_begins_by_the_wall_clock_of_its_first_cycle",),
    ),
    Break(
        "a motion that ends is recorded to have begun then",
        "rig/recording/recorder.py",
        "if motion.id != self._begun[0]:",
        "if True:",
        ("rig/test_recorder_process.py::test_a_motion_is_recorded_with_the_wall_clock_of_its_beginning",),
    ),
    Break(
        "a recording that goes on counts as cut off",
        "rig/recording/reader.py",
        "self.underway = written and not self.complete",
        "self.underway = False",
        ("rig/test_runs_cut_off.py",),
    ),
    Break(
        "who looks at a recording keeps its recorder from it",
        "rig/recording/writer.py",
        "_PATIENCE = 1.0",
        "_PATIENCE = 0.0",
        ("rig/test_runs_cut_off.py::test_who_looks_whether_a_recording_is_written_keeps_no_recorder_from_it",),
    ),
    Break(
        "other ports of a virtual rig are another machine",
        "rig/report/provenance.py",
        """if digest is None or config is None or not header.get("virtual"):""",
        "if True:",
        ("rig/test_runs.py::test_the_places_of_a_virtual_rig_are_no_difference_between_runs",),
    ),
    Break(
        "drives at another place are the same machine",
        "rig/report/provenance.py",
        """if digest is None or config is None or not header.get("virtual"):""",
        "if digest is None or config is None:",
        ("rig/test_runs.py::test_the_places_of_a_virtual_rig_are_no_difference_between_runs",),
    ),
    Break(
        "a fault of the whole rig is injected at a leg",
        "gui/operate/faults_panel.py",
        "            self.leg.setCurrentIndex(0)\n",
        "            pass\n",
        ("gui/test_faults_and_log.py::test_a_fault_of_the_whole_rig_is_of_no_leg",),
    ),
    Break(
        "runs of another folder stay while one is read",
        "gui/runs/runs_page.py",
        "self.folder, self.listed = folder, []",
        "self.folder = folder",
        ("gui/test_runs_page.py::test_while_a_folder_is_read_nothing_is_said_of_its_runs",),
    ),
    Break(
        "a simulator that is told to end leaves its terminal",
        "rig/client/device_simulator.py",
        "interruption.installed(signal.SIGTERM)",
        "interruption.installed()",
        ("rig/test_device_simulator.py::test_simulators_that_are_told_to_end_leave_no_terminal",),
    ),
    Break(
        "a pipe that falls silent is waited for without end",
        "kinematics/inputs/files.py",
        "poller.poll(PIPE_PATIENCE * 1e3)",
        "poller.poll()",
        ("rig/test_input_files.py::test_a_pipe_without_end_and_one_that_falls_silent_are_given_up",),
    ),
    Break(
        "a pipe may have any length",
        "kinematics/inputs/files.py",
        "if count > most:",
        "if False:",
        ("rig/test_input_files.py::test_a_pipe_without_end_and_one_that_falls_silent_are_given_up",),
    ),
    Break(
        "scripts share the ports of the shipped virtual rig",
        "rig/client/opening.py",
        "settings = on_free_ports(settings)",
        "pass",
        ("integration/test_two_virtual_rigs.py",),
    ),
    Break(
        "system libraries that are missing are not named",
        "rig/runtime/system_packages.py",
        "if not _loads(library)]",
        "if False]",
        ("gui/test_shell_command.py::test_a_system_library_that_is_missing_is_said_by_its_package",),
    ),
    Break(
        "pages that nobody looks at keep the rows of the recording before",
        "gui/live/live_view.py",
        "                plots.clear()\n",
        "                pass\n",
        ("gui/test_recordings_view.py::test_rows_of_a_recording_go_with_it",),
    ),
    Break(
        "the end of a run is told without the kind of its cause",
        "rig/client/motion_runner.py",
        "ended in a fault at {status.cause_t:.3f} s: {status.cause_text}",
        "ended in a fault at {status.cause_t:.3f} s: {status.cause}",
        ("rig/test_cli_report.py::test_a_run_ends_with_the_same_cause_in_command_report_and_list",),
    ),
    Break(
        "the console tells a cause without its kind",
        "rig/cli/console_commands.py",
        "{now.cause_text}",
        "{now.cause}",
        ("rig/test_operate.py::test_a_fault_is_injected_cleared_and_reset",),
    ),
    Break(
        "a start that compiles for long is given up",
        "rig/engine/compiling.py",
        "if answer.done > done:",
        "if False:",
        ("rig/test_compiling.py::test_one_that_compiles_on_may_take_longer_and_one_that_stands_still_may_not",),
    ),
    Break(
        "a recording that is lost is no news for the list of runs",
        "gui/runs/runs_page.py",
        "if self._lost != (lost := self.not_recorded()):",
        "if False:",
        ("gui/test_runs_page.py::test_a_lost_recording_is_shown_where_its_runs_would_be",),
    ),
]
