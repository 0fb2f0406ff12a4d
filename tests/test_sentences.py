"""No code takes a message apart: buttons, tables and exit codes go by codes and fields, see `rig.findings`."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TAKING = {
    "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "rfind", "rpartition", "split",
    "splitlines", "startswith",
}  # fmt: skip
SEARCHING = {"findall", "finditer", "fullmatch", "match", "search", "sub"}
MESSAGES = {"cause", "fault", "message", "obstacle", "reason", "refusal", "said", "words"}
"""What a message is called; `.text` of an object is one, too."""
LEFT = {
    "actuators/codec.py": "bytes of a wire",
    "actuators/searching.py": "what the operating system says of a port",
    "gui/motion/document.py": "a file's name, which is said beside it",
    "gui/shell/sounds.py": "what the operating system says of sounds",
    "gui/wizard/results.py": "lines of a list",
    "gui/wizard/service_runner.py": "a file's name, which is said beside it",
    "kinematics/inputs/files.py": "what the operating system and the TOML reader say",
    "kinematics/trajectories/files.py": "what pydantic says",
    "rig/client/identifiability.py": "a recording's name, which is said beside it",
    "rig/config/virtual_rig.py": "the field of a template",
    "rig/papers/operation_claims.py": "numbers of papers in a reason",
    "rig/recording/schema.py": "events of recordings made before they had codes",
    "rig/report/motions.py": "events of recordings made before they had codes",
    "rig/report/pdf.py": "what the renderer says",
}
"""Files that still do, and what they take apart. It only gets shorter."""


def is_message(node: ast.expr) -> bool:
    """Whether an expression is a message, by what it is called."""
    if isinstance(node, ast.Attribute):
        return node.attr in MESSAGES or (node.attr == "text" and not isinstance(node.value, ast.Attribute))
    if isinstance(node, ast.Name):
        return node.id in MESSAGES
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "str"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in {"error", "exception", "failure", "fault"}
    )


def taken_apart(tree: ast.AST) -> Iterator[int]:
    """Lines in which a message is searched, split or compared by a part of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if (name in TAKING and is_message(node.func.value)) or (
                name in SEARCHING and any(map(is_message, node.args))
            ):
                yield node.lineno
        elif isinstance(node, ast.Compare) and any(isinstance(each, ast.In | ast.NotIn) for each in node.ops):
            sought = isinstance(node.left, ast.JoinedStr) or (
                isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
            )
            if sought and any(map(is_message, node.comparators)):
                yield node.lineno


def test_no_message_is_taken_apart_but_where_it_is_said() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("actuators", "calibration", "dynamics", "gui", "kinematics", "rig")
        for path in (ROOT / package).rglob("*.py")
        if any(taken_apart(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == set(LEFT)


def test_what_takes_a_message_apart_is_seen() -> None:
    for code in (
        "'reset first' in reason",
        "error.text.startswith('leg ')",
        "str(error).splitlines()",
        "re.search('leg', entry.text)",
        "_LEG.fullmatch(message)",
        "f'{name}: ' in found.refusal",
    ):
        assert list(taken_apart(ast.parse(code))), code
    for code in ("word in text.split()", "reason == ''", "name in reasons", "found.code is Code.RESET"):
        assert not list(taken_apart(ast.parse(code))), code
