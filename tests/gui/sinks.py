"""Where the app gives texts to be read: what stands there untranslated."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ALL = None
SINKS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(("QLabel", "QPushButton", "QToolButton", "QCheckBox", "QRadioButton", "QAction"), (0,)),
    **dict.fromkeys(("setText", "setPlainText", "setToolTip", "setStatusTip", "setAccessibleName"), (0,)),
    **dict.fromkeys(("setAccessibleDescription", "setWindowTitle", "setPlaceholderText", "setLabelText"), (0,)),
    **dict.fromkeys(("setTitle", "setSubTitle", "setInformativeText", "setButtonText", "setFormat"), ALL),
    **dict.fromkeys(("setHeaderLabels", "setHorizontalHeaderLabels", "addItems"), (0,)),
    **dict.fromkeys(("addMenu", "addAction", "addItem", "addButton", "setPrefix", "setSuffix"), (0,)),
    **dict.fromkeys(("addRow",), (0,)),
    **dict.fromkeys(("addTab", "insertTab"), ALL),
    **dict.fromkeys(("getOpenFileName", "getSaveFileName", "getExistingDirectory", "question", "warning"), ALL),
    **dict.fromkeys(("GuardedButton", "push_button", "GuardedCheckBox", "Fold", "Card", "ArmedPair"), ALL),
    **dict.fromkeys(("QuantityBox", "WholeNumber", "Choice", "set_obstacle", "show_reason", "plain_plot"), (0,)),
    **dict.fromkeys(("plain_tabs", "plain_table", "browse_button", "put_tab", "remark", "set_message"), ALL),
    "line_edit": (0, 2),
    "set_role": (2,),
    "ask_save": (1, 3),
    "log": (2,),
}
"""Functions and methods by name, and which of their arguments a person reads; all of them where there are none."""
_UNITS = frozenset(("mm", "mm/s", "rad", "rad/s", "Hz", "kg", "ms", "µs", "µm", "µrad", "px", "MB", "GB", "PNG", "CSV"))
_WORD = re.compile(r"[^\W\d_²]{2,}(?:/\w+)?")
_MARKUP = re.compile(r"<[^>]*>|&\w+;")
_TRANSLATORS = ("tr", "trc", "trn", "mark")


def bare_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Literals of a module with words in them that go to one of `SINKS` without `tr`: line and text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and (name := _name(node.func)) in SINKS:
            places = SINKS[name]
            given = node.args if places is None else [node.args[place] for place in places if place < len(node.args)]
            for argument in given:
                yield from _bare(argument)


def hidden_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Texts that a catalogue cannot have: what is given to `tr` is no literal but an f-string, or within one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and _name(each.func) in _TRANSLATORS]
            yield from ((each.lineno, ast.unparse(each)) for each in calls if isinstance(each.args[0], ast.Constant))
        elif isinstance(node, ast.Call) and _name(node.func) in _TRANSLATORS:
            yield from ((node.lineno, ast.unparse(each)) for each in node.args if isinstance(each, ast.JoinedStr))


def _bare(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Down to what is a literal, through what chooses one or puts some together; a call answers for itself."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and words_of(node.value):
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
        if words_of(text):
            yield node.lineno, text
    elif isinstance(node, ast.IfExp):
        yield from (*_bare(node.body), *_bare(node.orelse))
    elif isinstance(node, (ast.BoolOp, ast.List, ast.Tuple)):
        for each in node.values if isinstance(node, ast.BoolOp) else node.elts:
            yield from _bare(each)
    elif isinstance(node, ast.BinOp):
        yield from (*_bare(node.left), *_bare(node.right))


def words_of(text: str) -> list[str]:
    """Words of two letters or more, but for units; markup is none."""
    return [word for word in _WORD.findall(_MARKUP.sub(" ", text)) if word not in _UNITS]


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
