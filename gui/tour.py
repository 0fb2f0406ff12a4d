"""Walk through the running app on the virtual rig and photograph every screen: `python -m gui.tour -o FOLDER`.

It presses the operator's buttons. It makes the user guide's pictures, and shows every screen in all sizes and colours.
"""

import argparse
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Container, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from PIL import Image
from pyqtgraph.Qt import QtCore, QtWidgets

from gui.application import app_config, make_window
from gui.dashboard import Side
from gui.live import PlatformView
from gui.models import Action, Phase
from gui.shell import REST, START, MainWindow, Pilot
from gui.widgets import THEMES, tab_name
from rig.client import free_ports
from rig.engine import Home
from rig.states import State

SIZES = ("1280x800", "1920x1080")
"""px, default sizes."""
_OTHER_SIZES = ("1024x700", "2560x1600", "3840x2160")
_POST_MORTEM = 2.0  # s until the drives have been queried after a crash
_SETTLE = 0.4  # s until layouts and curves are stable
_SHOWN = 4.0  # s of curves
_TRIES = 3
"""Attempts to pause a motion, which the engine may have stopped by itself."""
_SIGNALS = (
    [f"{name}.{leg}" for name in ("force_measured", "force_model") for leg in (1, 3, 5)],
    [f"{name}.3" for name in ("term_platform_inertia", "term_gravity", "term_leg_inertia", "term_friction")],
    ["position.z", "position_reference.z"],
)
"""One dashboard plot each."""
_SENSORS = (("imu", "imu", 250.0), ("tracker", "pose", 100.0))
_SENSOR_SIGNALS = (["imu.imu.force.z"], [f"imu.imu.rate.{axis}" for axis in "xyz"], ["pose.tracker.position.z"])
_TOO_FAR = {"type": "minimum-jerk", "start": [0.0] * 6, "end": [0.0, 0.0, 0.15, 0.1, 0.0, 0.0], "duration": 1.0}


_SENDER = """
import math, socket, struct, sys, time
wire, begun, number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic(), 0
while time.monotonic() < begun + 300.0:
    t = number / 200.0
    time.sleep(max(0.0, begun + t - time.monotonic()))
    x, z = 0.004 * math.sin(math.pi * t), 0.005 * (1.0 - math.cos(math.pi * t))
    pose = (x, 0.0, z, 1.0, 0.0, 0.0, 0.0)
    body = struct.pack("<4sBBH3Q21d", b"SRSP", 1, 0, 0, 42, 0, number, time.monotonic(), begun + t, *pose, *[0.0] * 12)
    wire.sendto(body + bytes(16), ("127.0.0.1", int(sys.argv[1])))
    number += 1
"""
"""sends poses about home, see docs/streaming.md"""


class Tour(Pilot):
    """The walk, with pictures.

    Args:
        window: the app, visible.
        only: names of the pictures to take; none for all.
    """

    def __init__(self, window: MainWindow, only: Container[str] = ()) -> None:
        super().__init__(window)
        self._only = only
        self._pictures: dict[str, bytes] = {}
        self._shaded: set[str] = set()
        """Pictures of the machine, where 256 colours would cause banding."""
        self._recording: Path | None = None

    def walk(self) -> None:
        """Take all pictures. Raises TimeoutError if a step is not possible in time."""
        self.wait(lambda: self.window.complete, "the window to be complete")
        self._photograph("start", self.window.motion)
        self._inspect_before_moving()
        self._operate()
        self._follow()
        self._watch()
        self._fault()
        self._death()
        self._review()
        self._identify()
        self._accept()
        self._set_up()

    def _inspect_before_moving(self) -> None:
        motion = self.window.motion
        self.wait(lambda: motion.preview.verdict is not None, "the check of the motion", START)
        self._photograph("motion", motion)
        motion.editor.set_value({"frame": "home", "pivot": [0.0] * 3, "parts": [_TOO_FAR]}, Path())
        self.wait(lambda: motion.preview.verdict is not None, "the check of a motion that goes too far", START)
        self._photograph("motion-refused", motion)
        motion.load_shipped("demo")
        self.wait(lambda: not motion.preview.obstacle, "the check of the motion", START)
        motion.begin_template()
        self.wait(lambda: motion.templates.found, "sizes that pass")
        self._photograph("motion-template", motion)
        motion.templates.leave()

    def _operate(self) -> None:
        self.home()
        self._photograph("parked", self.window.jog)
        self.pass_time(REST)
        self.window.operate.arm.click()
        self._photograph("armed", self.window.jog)
        self.engage()
        self.window.tabs.setCurrentWidget(self.window.jog)
        self.wait(lambda: self.window.jog.finder.complete, "the free ranges to be known")
        self._photograph("jog", self.window.jog)
        self.window.session.send("home", Home())  # which no button allows
        self.wait(self.window.banner.notice.isVisible, "the refusal")
        self._photograph("refused", self.window.jog)
        self.window.banner.notice.clear()
        drag, height = self.window.jog.drag, self.window.jog.to.boxes[2]
        drag.switch.click()
        height.setValue(height.value() + 60.0)  # mm, as a drag would do
        self._photograph("jog-drag", self.window.jog)
        drag.switch.click()

    def _follow(self) -> None:
        """A stream, before and while it is followed."""
        window, panel = self.window, self.window.follow
        panel.list.setCurrentRow(0)
        panel.frame.setCurrentIndex(panel.frame.findData("home"))
        self._photograph("follow", panel)
        panel.listen.click()
        self.wait(lambda: bool(panel.receiving.address), "the receiver to listen", START)
        port = int(panel.receiving.address.rpartition(":")[2])
        with subprocess.Popen([sys.executable, "-c", _SENDER, str(port)]) as sender:
            try:
                self.wait(panel.start.isEnabled, "set-points to come in")
                self.pass_time(_SHOWN)
                self._photograph("follow-arrivals", panel)
                panel.start.click()
                self.wait(lambda: "following" in self._stream_phase(), "the stream to be followed")
                self.pass_time(_SHOWN)
                self._photograph("follow-following", panel)
            finally:
                sender.kill()
        self.pass_time(1.0)
        self._photograph("follow-lost", panel)
        panel.stop.click()
        self.wait(lambda: not self._stream_phase(), "the stream to be left")
        panel.listen.click()
        self.reach(State.ENGAGED)
        window.tabs.setCurrentWidget(window.motion)

    def _stream_phase(self) -> str:
        """Phase of the stream that is followed, or paused; empty without one."""
        status = self.window.session.status
        if status is None or status.stream is None or not (status.state is State.RUNNING or status.resumable):
            return ""
        return status.stream.phase

    def _watch(self) -> None:
        window = self.window
        self.run(repeats=20)
        self._recording = window.session.recording
        self.pass_time(6.0)
        self._photograph("running", window.motion)
        for name, page in window.views.live.pages.items():
            window.views.live.tabs.setCurrentWidget(page)
            self._photograph(f"live-{name.lower().replace(' ', '-')}", window.views.live_page)
        window.views.live.tabs.setCurrentIndex(0)
        window.views.live.bar.window.setCurrentText("2 s")
        for box in window.views.live.chooser.boxes.values():
            box.setChecked(True)
        self.pass_time(2.0)
        self._photograph("live-models", window.views.live_page)
        for box in window.views.live.chooser.boxes.values():
            box.setChecked(not box.isEnabled())
        self._photograph("platform", window.views.platform_page)
        self._put_together()
        motion = window.motion
        for _ in range(_TRIES):
            # without a heartbeat for too long, the engine has ended the motion
            if not (motion.pause.isEnabled() or motion.resume.isEnabled()):
                self.run(repeats=20)
                self.pass_time(_SHOWN)
            motion.pause.click()  # no effect if not possible
            self.pass_time(_SHOWN)
            if motion.resume.isEnabled():
                break
        self.wait(motion.resume.isEnabled, "the motion to be paused")
        self._photograph("paused", motion)
        motion.resume.click()
        self.reach(State.RUNNING)

    def _put_together(self) -> None:
        """Create a dashboard: two plots side by side below a third."""
        window, page = self.window, self.window.views.dashboards.page
        window.tabs.setCurrentWidget(window.views.dashboards_page)
        for signals in _SIGNALS:
            page.add(signals, own=True)
        page.move((2, 0), Side.ABOVE)
        page.tree.search.setText("leg 3 force")
        page.tree.choose(["force_residual.3"])
        self.pass_time(_SHOWN)
        self._photograph("dashboards", window.views.dashboards_page)
        page.choice.new.click()
        for signals in _SENSOR_SIGNALS:
            page.add(signals, own=True)
        page.tree.search.setText("imu")
        self.pass_time(_SHOWN)
        self._photograph("dashboards-sensors", window.views.dashboards_page)
        window.docking.tear_off("Dashboards")
        self._photograph("dashboards-torn-off", window=window.docking.windows["Dashboards"])
        window.docking.dock("Dashboards")
        window.tabs.setCurrentWidget(window.jog)
        if not window.docking.split_obstacle("Event log"):
            window.docking.show_in_split("Event log")
            self._photograph("beside", window.jog)
            window.docking.dock("Event log")

    def _fault(self) -> None:
        faults = self.window.faults
        self.window.tabs.setCurrentWidget(faults)
        faults.choose("drop_all")
        faults.leg.setCurrentIndex(3)
        self.wait(faults.inject.isEnabled, "a fault to be possible")
        faults.inject.click()
        self.reach(State.FAULT)
        self.wait(lambda: faults.active.topLevelItemCount() > 0, "the fault in the list")
        self._photograph("fault", faults)
        faults.clear_all.click()
        self.wait(lambda: not faults.active.topLevelItemCount(), "the faults to end")
        self._photograph("event-log", self.window.views.log)
        self.click(Action.RESET)
        self.reach(State.IDLE)

    def _death(self) -> None:
        session = self.window.session
        self.click(Action.HOME)
        self.reach(State.PARKED)
        self.engage()
        if session.engine_pid is not None:
            os.kill(session.engine_pid, signal.SIGKILL)
        self.wait(lambda: session.phase is Phase.DIED, "the engine's death to be noticed")
        self.pass_time(_POST_MORTEM)
        self._photograph("engine-died", self.window.views.log)
        self.click(Action.CONNECT)
        self.reach(State.FAULT, START)  # the drives report that their watchdogs stopped them
        self.click(Action.RESET)
        self.reach(State.IDLE)

    def _review(self) -> None:
        window, session, view = self.window, self.window.session, self.window.views.recordings
        self.click(Action.DISCONNECT)
        self.wait(lambda: session.phase is Phase.DOWN, "the engine to end")
        self.wait(lambda: not window.runs.judge.busy, "the run to be judged", START)
        if window.runs.card.change.isEnabled():
            window.runs.card.change.click()
            self._photograph("thresholds", window.motion)
            window.runs.card.change.click()
        window.tabs.setCurrentWidget(window.views.recordings_page)
        self.wait(lambda: bool(window.views.runs_page.listed), "the runs to be listed")
        self._photograph("runs", window.views.recordings_page)
        view.tabs.setCurrentWidget(view.list)
        view.list.reload()
        view.list.select(self._recording)
        self._photograph("recordings", window.views.recordings_page)
        view.list.buttons["Open"].click()
        self.wait(lambda: view.replay is not None, "the recording to open")
        if view.replay is not None:
            view.replay.seek(0.5 * (view.replay.begin + view.replay.end))
            view.bar.show_position()
        for index in range(2, view.tabs.count()):
            view.tabs.setCurrentIndex(index)
            self._photograph(f"recording-{tab_name(view.tabs, index).lower()}", window.views.recordings_page)

    def _await_page(self, wizard: QtWidgets.QWizard, page: QtWidgets.QWizardPage) -> None:
        self.wait(lambda: wizard.currentPage() is page, "the wizard's next page")

    def _identify(self) -> None:
        entry = self.window.menus.calibrate.identify
        entry.start(self._recording)
        wizard = entry.wizard
        assert wizard is not None
        following = wizard.button(QtWidgets.QWizard.WizardButton.NextButton)
        for page, name in zip(wizard.pages, ("recordings", "fit", "save"), strict=True):
            self._await_page(wizard, page)
            if page is wizard.compute_page:
                self.wait(wizard.compute_page.begin.isEnabled, "Identify to be possible")
                wizard.compute_page.begin.click()
                self.wait(lambda: not wizard.runner.busy, "the fit to end", START)
            elif page is wizard.request_page:
                self.wait(lambda: not wizard.request_page.missing, "the recording to be looked into")
            self._photograph(f"identify-{name}", window=wizard)
            if page is not wizard.save_page:
                if page is wizard.compute_page and page.missing:
                    break  # the estimator refused
                following.click()
        entry.close()

    def _accept(self) -> None:
        entry = self.window.menus.calibrate.acceptance
        self.wait(lambda: not entry.obstacle, "the acceptance test to be possible")
        entry.start()
        wizard = entry.wizard
        assert wizard is not None
        for axis, box in wizard.choice_page.axes.items():
            box.setChecked(axis == "z")
        following = wizard.button(QtWidgets.QWizard.WizardButton.NextButton)
        self.wait(lambda: not wizard.choice_page.missing, "the sizes of the motions", START)
        self._photograph("accept-tests", window=wizard)
        following.click()
        wizard.run_page.pair.arm.click()
        wizard.run_page.pair.act.click()
        self.wait(lambda: wizard.run_page.bar.value() > 300 or not wizard.runner.busy, "a part of the test", START)
        self._photograph("accept-run", window=wizard)
        self.wait(lambda: not wizard.runner.busy, "the test to end", START)
        following.click()
        self._photograph("accept-result", window=wizard)
        entry.close()

    def _set_up(self) -> None:
        self.window.menus.setup.start()
        wizard = self.window.menus.setup.wizard
        assert wizard is not None
        wizard.start["name"].setText("my-rig")
        wizard.start["virtual"].buttons[True].setChecked(True)
        wizard.legs["home"].setChecked(True)
        following = wizard.button(QtWidgets.QWizard.WizardButton.NextButton)
        for page, name in zip(wizard.pages, ("rig", "drives", "cells", "sensors", "legs", "zero", "save"), strict=True):
            self._await_page(wizard, page)
            if page is wizard.drives:
                self._do(wizard.drives.ask_all)
            elif page is wizard.sensors:
                for kind in ("imu", "pose"):
                    page.add(kind)
            elif page is wizard.legs:
                pair = wizard.legs.pairs[0]
                pair.arm.click()
                self._do(pair.act)
            elif page is wizard.zeroing:
                wizard.zeroing.pair.arm.click()
                self._do(wizard.zeroing.pair.act)
            self._photograph(f"setup-{name}", window=wizard)
            if page is not wizard.saving:
                self.wait(following.isEnabled, "Next to be possible")
                following.click()
        self.window.menus.setup.close()

    def _do(self, button: QtWidgets.QPushButton) -> None:
        """Press a button of the wizard and wait for the result."""
        wizard = self.window.menus.setup.wizard
        assert wizard is not None
        self.wait(button.isEnabled, f"{button.text()} to be possible")
        button.click()
        self.wait(lambda: not wizard.bench.busy, f"{button.text()} to end", START)

    def _photograph(
        self, name: str, panel: QtWidgets.QWidget | None = None, window: QtWidgets.QWidget | None = None
    ) -> None:
        """Photograph the main window with one of its panels in front, or another window."""
        if self._only and name not in self._only:
            return
        if panel is not None:
            self.window.tabs.setCurrentWidget(panel)
        self.pass_time(_SETTLE)
        png = QtCore.QBuffer()
        (window or self.window).grab().save(png, "PNG")
        self._pictures[name] = bytes(png.data())
        if any(view.isVisible() for view in self.window.findChildren(PlatformView)):
            self._shaded.add(name)

    def write(self, folder: Path) -> None:
        """Write the pictures taken so far into a folder; slow."""
        for name, png in self._pictures.items():
            picture: Image.Image = Image.open(io.BytesIO(png)).convert("RGB")
            if name not in self._shaded:
                # a third of the bytes without visible difference
                picture = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            picture.save(folder / f"{name}.png", optimize=True)


def _settings(scratch: str) -> dict[str, Any]:
    """Changes of the configuration: a folder of recordings, and simulated external sensors."""
    return {
        "recording": {"directory": f"{scratch}/recordings"},
        "sensors": [
            {"name": name, "kind": kind, "source": f"udp://127.0.0.1:{port}", "rate": rate}
            for port, (name, kind, rate) in zip(free_ports(len(_SENSORS)), _SENSORS, strict=True)
        ],
        "virtual": {"sensors": [{"name": name} for name, *_others in _SENSORS]},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Photograph the app; returns the exit code."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, prog="python -m gui.tour", description="Photograph every screen of the app."
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where the pictures go")
    parser.add_argument(
        "--size", choices=[*SIZES, *_OTHER_SIZES], action="append", help=f"px; left out: {' and '.join(SIZES)}"
    )
    parser.add_argument("--scale", type=int, choices=[1, 2, 3], default=1, help="px of the screen for one of the app")
    parser.add_argument("--theme", choices=list(THEMES), action="append", help="left out: all of them")
    parser.add_argument("--only", action="append", metavar="NAME", default=[], help="this picture; left out: all")
    given = parser.parse_args(arguments)
    os.environ["QT_SCALE_FACTOR"] = str(given.scale)  # Qt reads it when the application is created
    variants = list(product(given.size or SIZES, given.theme or THEMES))
    application = QtWidgets.QApplication.instance() or QtWidgets.QApplication([sys.argv[0]])
    for size, theme in variants:
        folder = given.output if len(variants) == 1 else given.output / f"{size}-{theme}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            settings = QtCore.QSettings(f"{scratch}/gui.ini", QtCore.QSettings.Format.IniFormat)
            settings.setValue("theme", theme)
            config = app_config("virtual").changed(_settings(scratch))
            window = make_window(config, settings)
            window.resize(*(int(each) // given.scale for each in size.split("x")))
            window.show()
            tour = Tour(window, given.only)
            try:
                tour.walk()
            finally:
                window.close_now()
                window.deleteLater()
                application.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
                tour.write(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
