"""Findings as JSON, for recordings."""

import json
from typing import Any

from rig.findings.codes import Code
from rig.findings.finding import Finding

_CODES = {code.value: code for code in Code}


def finding_to_json(finding: Finding) -> str:
    """A finding as JSON, everything of it; numbers that are not finite are NaN and Infinity, as Python writes them."""
    return json.dumps(_packed(finding), separators=(",", ":"))


def finding_from_json(text: str) -> Finding | None:
    """The finding of its JSON; None for "", and for one of a code that this version does not have.

    Raises:
        ValueError: it is no JSON of a finding.
    """
    if not text:
        return None
    try:
        return _unpacked(json.loads(text))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no finding: {error}") from error


def _packed(finding: Finding) -> dict[str, Any]:
    packed: dict[str, Any] = {"code": finding.code.value}
    if finding.leg:
        packed["leg"] = finding.leg
    for name in ("value", "bound"):
        if getattr(finding, name) is not None:
            packed[name] = getattr(finding, name)
    if finding.details:
        packed["details"] = finding.details
    if finding.within:
        packed["within"] = [_packed(part) for part in finding.within]
    return packed


def _unpacked(packed: dict[str, Any]) -> Finding | None:
    if packed["code"] not in _CODES:
        return None
    within = [_unpacked(part) for part in packed.get("within", ())]
    if None in within:
        return None
    return Finding(
        _CODES[packed["code"]],
        int(packed.get("leg", 0)),
        packed.get("value"),
        packed.get("bound"),
        dict(packed.get("details", {})),
        tuple(part for part in within if part is not None),
    )
