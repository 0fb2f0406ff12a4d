"""Small controls and styling used by every part of the app."""

from gui.models import AXIS_COLOURS, DASHED, LEG_COLOURS
from gui.widgets.browser import Browser
from gui.widgets.card import Card
from gui.widgets.controls import (
    Choice,
    GuardedButton,
    GuardedCheckBox,
    PressGuard,
    Reason,
    mark_next,
    room_for,
)
from gui.widgets.elided import ElidedLabel
from gui.widgets.file_dialogs import ask_save
from gui.widgets.fixed_size_label import FixedSize, ScrolledPage, TextRoom, fit_text, hold_room
from gui.widgets.flow import FlowLayout
from gui.widgets.fold import Columns, Fold
from gui.widgets.icons import Ground, IconLabel, icon, set_icon
from gui.widgets.incremental_build import IncrementalBuild, run_all
from gui.widgets.number_field import (
    DisplayUnit,
    NumberField,
    NumberList,
    QuantityBox,
    WholeNumber,
    display_unit,
    field_refusal,
    number_fields,
)
from gui.widgets.pages import PageStack, plain_tabs, put_tab, tab_name
from gui.widgets.theme import DARK, DASHES, STYLE_SHEET, THEMES, Theme, palette
from gui.widgets.two_step_button import ArmedPair

__all__ = [
    "AXIS_COLOURS",
    "DARK",
    "DASHED",
    "DASHES",
    "LEG_COLOURS",
    "STYLE_SHEET",
    "THEMES",
    "ArmedPair",
    "Browser",
    "Card",
    "Choice",
    "Columns",
    "DisplayUnit",
    "ElidedLabel",
    "FixedSize",
    "FlowLayout",
    "Fold",
    "Ground",
    "GuardedButton",
    "GuardedCheckBox",
    "IconLabel",
    "IncrementalBuild",
    "NumberField",
    "NumberList",
    "PageStack",
    "PressGuard",
    "QuantityBox",
    "Reason",
    "ScrolledPage",
    "TextRoom",
    "Theme",
    "WholeNumber",
    "ask_save",
    "display_unit",
    "field_refusal",
    "fit_text",
    "hold_room",
    "icon",
    "mark_next",
    "number_fields",
    "palette",
    "plain_tabs",
    "put_tab",
    "room_for",
    "run_all",
    "set_icon",
    "tab_name",
]
