from dataclasses import replace

import numpy as np
import pytest

from dynamics import (
    format_mechanism,
    format_tables,
    load_mechanism,
    mechanism_names,
    mechanism_tables,
    parse_mechanism,
    parse_tables,
)


@pytest.mark.parametrize("name", mechanism_names())
def test_a_mechanism_comes_back_from_its_file_to_the_bit(name: str) -> None:
    machine = load_mechanism(name, evaluate_only=True)
    legs = tuple(replace(leg, length_offset=1e-3 * number) for number, leg in enumerate(machine.legs))
    machine = replace(machine, legs=legs)
    again = parse_mechanism(format_mechanism(machine, "a comment"), evaluate_only=True)
    assert np.array_equal(again.array, machine.array)
    assert again.limits == machine.limits and again.name == machine.name
    assert np.array_equal(again.length_offsets, machine.length_offsets)
    assert (again.geometry.home is None) == (machine.geometry.home is None)


def test_tables_make_the_file_that_they_are_of() -> None:
    tables = mechanism_tables(load_mechanism("lab-hexapod"))
    tables["platform"]["mass"] = 20.5
    assert parse_tables(tables).mass == 20.5
    assert parse_mechanism(format_tables(tables)).mass == 20.5
