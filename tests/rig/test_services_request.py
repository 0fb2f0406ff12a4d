"""Requests of services: checked when they are made, frozen, and fit to be sent."""

import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from pydantic import Field

from kinematics import Array
from rig.errors import InputError
from rig.services.request import request


@request
class Turn:
    """Of a platform."""

    file: Path
    angle: Annotated[float, Field(gt=0.0, le=3.0, allow_inf_nan=False)]
    """rad"""
    axis: Array | None = None
    tags: tuple[str, ...] = ()


def test_it_is_frozen_and_can_be_sent() -> None:
    made = Turn(Path("a.toml"), 1.0, axis=np.array([0.0, 0.0, 1.0]), tags=("x",))
    sent = pickle.loads(pickle.dumps(made))
    assert (sent.file, sent.angle, sent.tags) == (Path("a.toml"), 1.0, ("x",)) and sent.axis.tolist() == [0, 0, 1]
    with pytest.raises(FrozenInstanceError):
        made.angle = 2.0  # type: ignore[misc]


def test_a_value_out_of_its_bounds_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Turn(Path("a.toml"), 4.0, tags=(1,))  # type: ignore[arg-type]
    assert caught.value.faults == (
        "angle: 4.0: must be at most 3",
        "tags.0: 1: must be text",
    )
    with pytest.raises(InputError, match="Turn: cannot be used"):
        Turn(Path("a.toml"), float("nan"))
