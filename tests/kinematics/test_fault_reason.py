"""What is wrong with a key, by the code of pydantic's fault."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kinematics import fault_reason


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: Annotated[float, Field(gt=0.0, le=3.0)] = 1.0
    name: Annotated[str, Field(min_length=1, max_length=4)] = "a"
    kind: Literal["a", "b"] = "a"
    rows: Annotated[list[int], Field(min_length=2, max_length=3)] = []
    on: bool = True
    day: date | None = None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"size": 0.0}, "must be greater than 0"),
        ({"size": 3.5}, "must be at most 3"),
        ({"size": "x"}, "must be a number"),
        ({"name": ""}, "must not be empty"),
        ({"name": "abcde"}, "must have at most 4 characters"),
        ({"name": 1}, "must be text"),
        ({"kind": "c"}, "must be 'a' or 'b'"),
        ({"rows": [1]}, "1 entries, must be at least 2"),
        ({"rows": [1] * 4}, "4 entries, must be at most 3"),
        ({"rows": 1}, "must be a list"),
        ({"rows": [1, 2.5]}, "must be an integer"),
        ({"on": 2.5}, "must be true or false"),
        ({"day": "tomorrow"}, "must be a valid date"),
        ({"colour": 1}, "unknown key"),
    ],
)
def test_the_text_of_a_faulty_key_is_by_its_code(data: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Table.model_validate(data)
    assert [fault_reason(fault) for fault in caught.value.errors()] == [reason]
