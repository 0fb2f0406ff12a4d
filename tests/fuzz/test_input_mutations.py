"""Mutated files of every kind: no traceback, bounded time and memory, nonsense refused by name.

A few hundred of each here; a long exploration does twenty thousand, each kind in a process of its own whose memory is
bounded and measured.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from campaign import LARGEST, SLOWEST, Result, campaign
from exploration import LONG, either, seeds
from mutations import Mutator, dump_toml
from readers import KINDS

from kinematics import parse_toml

FIRST = 1_000_000 * seeds(1)[0]
COUNTS = {"config": 40, "mechanism": 300, "profile": 300, "calibration": 300, "trajectory": 200,
          "arm": 150, "joint trajectory": 150}  # fmt: skip
_PATIENCE = 3 * 3600.0  # s


def explore(kind: str) -> Result:
    """A long campaign in a process of its own."""
    script = Path(__file__).with_name("campaign.py")
    arguments = [sys.executable, str(script), kind, str(either(0, 20_000)), str(FIRST)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return Result(**json.loads(done.stdout))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutated_file_is_read_or_refused_by_name(kind: str, tmp_path: Path) -> None:
    result = explore(kind) if LONG else campaign(kind, COUNTS[kind], FIRST, tmp_path)
    print(
        f"{kind}: seeds {result.first} to {result.first + result.count - 1}, {result.accepted} accepted, "
        f"{result.refused} refused, slowest {result.slowest:.2f} s (seed {result.slowest_seed}), "
        f"peak {result.peak_mb:.0f} MB"
    )
    assert not result.failures, "\n".join(f"seed {seed}: {text}" for seed, text in [*result.failures.items()][:5])
    assert result.slowest <= SLOWEST, f"seed {result.slowest_seed}"
    assert not LONG or result.peak_mb <= LARGEST
    assert result.accepted > 0 and result.refused > result.count // 2


def test_the_files_that_are_mutated_are_good_ones(tmp_path: Path) -> None:
    for kind, make in KINDS.items():
        chosen = make()
        for text in chosen.mutator.texts:
            path = tmp_path / f"{kind}.toml"
            path.write_text(text, encoding="utf-8")
            chosen.hold(chosen.read(path))


def test_one_number_gives_one_mutant() -> None:
    text = 'name = "x"\nvalues = [1, 2.5, "3 mm"]\n[table]\nkey = { deep = true }\n'
    one, other = Mutator([text]), Mutator([text])
    mutants = [one.mutant(seed) for seed in range(300)]
    assert mutants == [other.mutant(seed) for seed in range(300)]
    assert len(set(mutants)) > 200
    assert parse_toml(dump_toml(parse_toml(text))) == parse_toml(text)
