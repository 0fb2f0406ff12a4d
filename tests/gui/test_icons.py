"""Icons: every meaning has one, in the theme's colours, as fine as the screen, and never in place of a name."""

import subprocess
import sys

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.shell import MainWindow
from gui.widgets import DARK, THEMES, Ground, GuardedButton, IconLabel, icon, mark_next, palette, set_icon
from gui.widgets.icons import GLYPHS

_NORMAL, _DISABLED = QtGui.QIcon.Mode.Normal, QtGui.QIcon.Mode.Disabled
_ON, _OFF = QtGui.QIcon.State.On, QtGui.QIcon.State.Off


_ALIKE = {frozenset({"play", "run", "running"})}


def _colours(picture: QtGui.QPixmap) -> set[str]:
    """What is drawn without the edges, which are half transparent."""
    image = picture.toImage()
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.fixture(params=THEMES)
def theme(request, qapp):
    before = qapp.palette()
    qapp.setPalette(palette(THEMES[request.param]))
    yield THEMES[request.param]
    qapp.setPalette(before)


def test_every_meaning_has_a_picture_of_its_own_or_shares_it_on_purpose(qapp) -> None:
    drawn = {meaning: icon(meaning).pixmap(64, 64).toImage() for meaning in GLYPHS}
    alike: dict[bytes, set[str]] = {}
    for meaning, image in drawn.items():
        alike.setdefault(image.constBits().asstring(image.sizeInBytes()), set()).add(meaning)
    assert {frozenset(group) for group in alike.values() if len(group) > 1} == _ALIKE
    with pytest.raises(KeyError):
        icon("no such meaning")


def test_colours_are_the_theme_s_and_follow_it(theme) -> None:
    button, tab = icon("stopping"), icon("stopping", Ground.TAB)
    side = QtCore.QSize(48, 48)
    assert _colours(button.pixmap(side, _NORMAL, _OFF)) == {theme.text.lower()}
    assert _colours(button.pixmap(side, _DISABLED, _OFF)) == {theme.muted.lower()}
    assert _colours(button.pixmap(side, _NORMAL, _ON)) == {theme.surface.lower()}
    assert _colours(tab.pixmap(side, _NORMAL, _OFF)) == {theme.muted.lower()}
    assert _colours(icon("stopping", colour="#123456").pixmap(side)) == {"#123456"}


def test_one_that_was_made_takes_another_theme(qapp) -> None:
    before = qapp.palette()
    made = icon("stopping")
    shown = []
    for theme in THEMES.values():
        qapp.setPalette(palette(theme))
        shown.append(_colours(made.pixmap(32, 32)))
    qapp.setPalette(before)
    assert shown == [{theme.text.lower()} for theme in THEMES.values()]


def test_the_next_step_s_is_in_the_colour_of_its_text(qapp) -> None:
    before = qapp.palette()
    qapp.setPalette(palette(DARK))
    button = set_icon(GuardedButton("Connect"), "stopping")
    found = []
    for following in (True, False):
        mark_next(button, following)
        found.append(_colours(button.icon().pixmap(32, 32)))
    qapp.setPalette(before)
    assert found == [{DARK.surface.lower()}, {DARK.text.lower()}]


@pytest.mark.parametrize("scale", [1, 2, 3])
def test_it_is_drawn_in_the_screen_s_own_pixels(qapp, scale: int) -> None:
    label = IconLabel(20)
    label.show_icon("stopping", "#ff0000")
    picture = QtGui.QPixmap(20 * scale, 20 * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(QtCore.Qt.GlobalColor.white)
    label.render(picture, flags=QtWidgets.QWidget.RenderFlag.DrawChildren)
    image = picture.toImage()
    pure = sum(
        image.pixelColor(x, y).name() in ("#ff0000", "#ffffff")
        for x in range(image.width())
        for y in range(image.height())
    )
    whole = image.width() * image.height()
    assert whole - pure < 0.35 / scale * whole  # edges are a line of pixels, however many there are


def test_nothing_is_an_icon_alone(window: MainWindow) -> None:
    told = [button for button in window.findChildren(QtWidgets.QAbstractButton) if button.property("meaning")]
    assert len(told) > 30
    alone = [button for button in told if not button.text()]
    assert len(alone) > 1
    for button in alone:
        assert button.accessibleName() and button.toolTip(), button.property("meaning")


def test_no_font_is_loaded_before_it_is_needed() -> None:
    program = "import sys, gui.shell; sys.exit('qtawesome' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60.0)
