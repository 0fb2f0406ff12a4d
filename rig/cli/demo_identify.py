"""`rig demo --identify`: demonstration of an identification, from a wrong model to a correct one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rig.client import DemoResult


def print_demo_identify(story: DemoResult, as_json: bool) -> None:
    """Print the results of a demonstration with identification, and how it ended."""
    from rig.cli.identify import print_identified
    from rig.client import describe

    last = story.last
    if as_json:
        typer.echo(json.dumps(_summary(story), indent=2))
    elif story.identified is not None and story.after is not None:
        typer.echo(f"with the model of the drawing\n{describe(story.before)}\n")
        print_identified(story.identified)
        typer.echo(f"parameters {story.parameters}\n\nthe same motion with them\n{describe(last)}")
    elif last.summary:
        typer.echo(describe(last))
    if last.error is not None:
        raise last.error


def _summary(story: DemoResult) -> dict[str, Any]:
    summary = dict(story.last.summary)
    paths = dict(summary.get("paths", {}))
    paths["before"] = str(story.before.recording)
    if story.excited is not None:
        paths["excitation"] = str(story.excited.recording)
    if story.identified is not None:
        paths["parameters"] = str(story.parameters)
        summary["identification"] = story.identified.summary()
        summary["before"] = {"force": story.before.summary["force"]}
    return summary | {"paths": paths}
