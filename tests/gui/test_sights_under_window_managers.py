"""What the app shows and where, to a real mouse under a real window manager: recordings, platform, words, sizes.

Within the one window, in which every window manager has the app do alike: under the first of them, under each in the
long profile.
"""

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all
from live_rows import BEGIN, END, FAULT, MOTION, write_moving

_PANEL = "window.views.recordings.live.pages['Forces'].panels[0]"
_VIEWS = ("Isometric view", "Front view", "Side view", "Top view", "Fit the platform into the picture")
_OUTSIDE = "float(out_of_picture(window.views.platform).max())"
_RESET = "window.operate.buttons[Action.RESET]"

pytestmark = pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)


@pytest.fixture
def whole(desk: Desk) -> Desk:
    """The desk with every view of the app."""
    desk.make_views()
    return desk


@pytest.fixture
def opened(whole: Desk) -> Desk:
    """A recording, opened by mouse."""
    path = write_moving(whole.folder / "run.mcap")
    whole.press("tab(window.tabs, 'Recordings')")
    whole.press("tab(window.views.recordings.tabs, 'Files')")
    whole.wait("window.views.recordings.list.table.rowCount() == 1")
    whole.press("item(window.views.recordings.list.table, window.views.recordings.list.table.item(0, 0))")
    whole.press("window.views.recordings.list.buttons['Open']")
    whole.wait("window.views.recordings.live.isVisible() and window.views.recordings.note.text() == ''")
    path.unlink()
    return whole


def _span(desk: Desk) -> list[float]:
    return [float(t) for t in desk.value(f"{_PANEL}.span")]


def test_a_recording_opens_on_its_motion_and_the_mouse_reaches_all_of_it(opened: Desk) -> None:
    desk = opened
    desk.wait(f"{_PANEL}.present.value() == {MOTION} and {_PANEL}.present.isVisible()")
    t0, t1 = _span(desk)
    assert BEGIN < t0 <= MOTION < t1 < END
    desk.press(f"part({_PANEL}.plot, 0.5, 0.5)", 4, 3)  # the wheel, away from oneself
    desk.wait(f"{_PANEL}.span[1] - {_PANEL}.span[0] < {t1 - t0} - 0.5")
    desk.press(f"part({_PANEL}.plot, 0.5, 0.5)", 5, 30)
    desk.wait(f"{_PANEL}.span == ({BEGIN}, {END})")
    desk.press(f"part({_PANEL}.plot, 0.7, 0.5)", 4, 20)
    desk.wait(f"{_PANEL}.span[1] - {_PANEL}.span[0] < 10.0")
    desk.press("window.views.recordings.live.bar.fit")
    desk.wait(f"{_PANEL}.span == ({BEGIN}, {END})")


def test_an_event_is_gone_to_by_mouse_and_by_enter(opened: Desk) -> None:
    desk = opened
    for row, t in ((1, FAULT), (0, BEGIN)):
        desk.press("tab(window.views.recordings.tabs, 'Events')")
        desk.press(
            f"item(window.views.recordings.events, window.views.recordings.events.item({row}, 3))",
            times=2 if t == FAULT else 1,
        )
        if t != FAULT:
            assert desk.value("window.views.recordings.events.isVisible()")
            desk.key("Return")
        desk.wait(f"window.views.recordings.live.isVisible() and {_PANEL}.present.value() == {t}")
        t0, t1 = _span(desk)
        assert t0 <= t < t1 < t0 + END - BEGIN


def test_every_view_and_fit_have_the_platform_in_the_picture(whole: Desk) -> None:
    desk = whole
    desk.press("tab(window.tabs, '3-D view')")
    for view in _VIEWS:
        desk.press("window.views.platform.picture.view", 4, 15)
        desk.wait(f"{_OUTSIDE} > 0.0")
        desk.press(f"button({view!r})")
        desk.wait(f"{_OUTSIDE} <= 0.0")
    desk.do("session.take(make_status(State.RUNNING))")
    desk.wait("window.views.platform.pose.text().startswith('Pose not known')")
    desk.do("session.enter(Phase.DIED)")
    desk.wait("window.views.platform.pose.text().startswith('The engine died')")


def test_a_hint_that_comes_and_goes_leaves_the_buttons_under_the_mouse(desk: Desk) -> None:
    places = {"Jog": "window.jog.buttons['+x']", "Motion": "window.motion.run"}
    for moves, (page, button) in enumerate(places.items(), start=1):
        desk.do("session.take(make_status(State.PARKED))")
        desk.press(f"tab(window.tabs, {page!r})")
        desk.wait(f"not {button}.isEnabled()")
        desk.settle()
        before, every = desk.where(button)["place"], desk.value("places()")
        desk.do("session.take(make_status(State.ENGAGED, t=20.0))")
        desk.wait(f"{button}.isEnabled()")
        desk.settle()
        assert desk.value("places()") == every
        desk.click(*before)  # where it was while the hint stood there
        desk.wait(f"len(session.sent) == {moves}")
        desk.do("session.take(make_status(State.RUNNING, t=21.0))")
        desk.do("session.take(make_status(State.ENGAGED, t=22.0))")
        desk.wait("not session.moving")


def test_how_a_motion_ended_is_not_said_beside_another(desk: Desk) -> None:
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.press("window.motion.run")
    desk.wait("len(session.sent) == 1")
    desk.do("session.take(make_status(State.RUNNING, t=11.0))")
    desk.do("session.take(make_status(State.ENGAGED, t=12.0))")
    desk.wait("window.motion.phase.text() == 'done' and window.motion.progress.value() == 1000")
    desk.press("button('New motion')")
    desk.wait("window.motion.title == 'Motion: new motion'")
    assert desk.value("window.motion.phase.text()") == "" and desk.value("window.motion.progress.value()") == 0


def test_a_stop_in_mid_air_says_how_far_from_home_it_is_parked(desk: Desk) -> None:
    for far in (0.1, 0.0):
        desk.do("session.take(make_status(State.RUNNING))")
        desk.wait("window.banner.state_text == 'Running'")
        desk.press("window.stop_button")
        assert desk.stopped() == 1
        # the reference stands before the end of its path: nothing says that the motion is paused
        left = "motion='demo', path_time=5.0, path_duration=20.0, paused=True"
        desk.do(f"session.take(make_status(State.PARKED, from_home={far}, {left}))")
        desk.wait("window.banner.state_text == 'Parked'")
        assert "paused" not in desk.value("window.motion.phase.text()")
        assert desk.value("window.motion.transport.left.text()") == ""
        assert ("100 mm from home" in desk.value("window.banner.detail")) == (far > 0.0)


def test_a_reset_that_was_refused_is_not_red_after_a_good_one(desk: Desk) -> None:
    desk.do("session.take(make_status(State.FAULT, latched=True, cause='leg 1: drive fault 4711'))")
    desk.do("setattr(session, 'refuse', 'the cause is still there')")
    desk.press(_RESET)
    desk.wait("window.banner.notice.isVisible() and 'the cause is still there' in window.banner.notice.text()")
    assert desk.value("window.banner.notice._label.objectName()") == "bad"
    desk.do("setattr(session, 'refuse', '')")
    desk.press(_RESET)
    desk.wait("session.commands == ['reset', 'reset'] and not window.banner.notice.isVisible()")
    assert desk.value("window.banner.notice.text()") == ""


def test_parts_that_do_not_meet_are_joined_and_a_step_is_undone(desk: Desk) -> None:
    parts = "[window.motion.editor.parts.item(row).text() for row in range(window.motion.editor.parts.count())]"
    desk.press("button('New motion')")
    desk.press("button('Add part')")
    desk.wait(f"{parts} == ['1  minimum-jerk, 2 s', '2  transition, 0.8 s', '3  blend, 2 s']")
    desk.wait("window.motion.verdict.text().startswith('✓ Within all limits over 4.8 s')")
    desk.enter("window.motion.editor.form(1).fields['duration'].box", "1.5")
    desk.key("ctrl+z")
    desk.wait(f"{parts} == ['1  minimum-jerk, 2 s', '2  transition, 0.8 s', '3  blend, 2 s']")
    desk.key("ctrl+y")
    desk.wait(f"{parts}[-1] == '3  blend, 1.5 s'")


def test_a_window_of_1024_by_700_works(whole: Desk) -> None:
    desk = whole
    desk.hand("windowsize", "--sync", desk.value("int(window.winId())"), 1024, 700)
    desk.wait("(window.width(), window.height()) == (1024, 700)")
    desk.press("window.stop_button")
    assert desk.stopped() == 1
    desk.do("session.take(make_status(State.ENGAGED))")
    acts = {"Faults": ("window.faults.inject", "pages()"), "Jog": ("window.jog.buttons['go']", "window.jog.controls")}
    for page, (act, area) in acts.items():
        desk.press(f"tab(window.tabs, {page!r})")
        desk.scroll_to(act, area)
        desk.press(act)
        desk.scroll_to("window.tabs.tabBar()")
    desk.wait("len(session.injected) == 1 and len(session.sent) == 1")
    desk.press("window.stop_button")
    assert desk.stopped() == 1
