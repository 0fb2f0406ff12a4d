"""Small controls and looks that every part of the app uses."""

from gui.widgets.arming import ArmedPair
from gui.widgets.browser import Browser
from gui.widgets.card import Card
from gui.widgets.controls import (
    Choice,
    GuardedButton,
    GuardedCheckBox,
    PressGuard,
    QuantityBox,
    Reason,
    WholeNumber,
    mark_next,
    room_for,
    shown_unit,
)
from gui.widgets.elided import ElidedLabel
from gui.widgets.file_dialogs import ask_save
from gui.widgets.flow import FlowLayout
from gui.widgets.fold import Columns, Fold
from gui.widgets.icons import Ground, IconLabel, give, icon
from gui.widgets.pages import PageStack, plain_tabs, put_tab, tab_name
from gui.widgets.state_colours import AMBER, BLUE, BROWN, GREEN, GREY, ORANGE, RED, STATE_COLOURS
from gui.widgets.still import ScrolledPage, Still, TextRoom
from gui.widgets.theme import AXIS_COLOURS, DARK, DASHED, DASHES, LEG_COLOURS, THEMES, Theme, palette, style_sheet

__all__ = [
    "AMBER",
    "AXIS_COLOURS",
    "BLUE",
    "BROWN",
    "DARK",
    "DASHED",
    "DASHES",
    "GREEN",
    "GREY",
    "LEG_COLOURS",
    "ORANGE",
    "RED",
    "STATE_COLOURS",
    "THEMES",
    "ArmedPair",
    "Browser",
    "Card",
    "Choice",
    "Columns",
    "ElidedLabel",
    "FlowLayout",
    "Fold",
    "Ground",
    "GuardedButton",
    "GuardedCheckBox",
    "IconLabel",
    "PageStack",
    "PressGuard",
    "QuantityBox",
    "Reason",
    "ScrolledPage",
    "Still",
    "TextRoom",
    "Theme",
    "WholeNumber",
    "ask_save",
    "give",
    "icon",
    "mark_next",
    "palette",
    "plain_tabs",
    "put_tab",
    "room_for",
    "shown_unit",
    "style_sheet",
    "tab_name",
]
