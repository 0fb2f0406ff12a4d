"""Numbers typed with real keys and clicked upon at once: what moves is what is shown, or nothing.

Within the one window: under the first window manager, under each in the long profile.
"""

import pytest
from desk import MANAGERS, Desk
from exploration import first_or_all

_X = "window.jog.to.boxes[0]"
_GO = "window.jog.to.go"


@pytest.mark.parametrize("manager", first_or_all(*MANAGERS), indirect=True)
@pytest.mark.parametrize("locale", first_or_all("de_DE", "C"))
def test_go_goes_to_what_is_typed_and_nowhere_else(desk: Desk, locale: str) -> None:
    desk.do(f"QtCore.QLocale.setDefault(QtCore.QLocale({locale!r})) or window.setLocale(QtCore.QLocale({locale!r}))")
    desk.do("session.take(make_status(State.ENGAGED))")
    desk.press("tab(window.tabs, 'Jog')")
    desk.scroll_to(_GO, "window.jog.controls")
    for moves, text, millimetres in ((1, "3,5", 3.5), (2, "0.004 m", 4.0), (3, "1,0", 1.0)):
        desk.enter(_X, text)  # neither Tab nor Return
        assert desk.where(_GO)["text"] == f"Go: x +{millimetres:g} mm"
        desk.press(_GO)
        desk.wait(f"len(session.sent) == {moves}")
        assert desk.value("float(session.sent[-1][2][-1, 0])") == pytest.approx(1e-3 * millimetres)
        assert desk.where(_X)["text"] == f"x {millimetres:.3f} mm"
        desk.do(f"session.take(make_status(State.RUNNING, t=10.0 + {moves}))")
        desk.do(f"session.take(make_status(State.ENGAGED, t=10.5 + {moves}))")
        desk.wait(f"{_GO}.isEnabled()")
    for text in ("1.000,5", "1,000.5", "1e9", "nan", "-"):
        desk.enter(_X, text)
        assert not desk.where(_GO)["enabled"] and desk.value(f"{_X}._bubble.isVisible()")
        desk.click(*desk.where(_GO)["place"])
        desk.settle()
        assert desk.value("len(session.sent)") == 3 and desk.where(_X)["text"].startswith(f"x {text}")
    desk.enter(_X, "2")
    assert desk.where(_GO)["enabled"] and not desk.value(f"{_X}.reason")
    desk.do("QtCore.QLocale.setDefault(QtCore.QLocale('C')) or window.setLocale(QtCore.QLocale('C'))")
