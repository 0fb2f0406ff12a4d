"""Blocks of shared memory: owned by whoever made them, and every failure said as what it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from rig.runtime.shared_memory import SharedBlock, SharedMemoryError, unlink_shared_memory


def test_who_attaches_sees_what_the_owner_writes_and_the_other_way_round() -> None:
    mine = SharedBlock.create(64)
    other = SharedBlock.attach(mine.name, 64)
    words, bytes_ = mine.view(0, 16, "Q"), other.view(8, 16)
    assert (words.tolist(), bytes_.tolist()) == ([0, 0], [0] * 8)
    words[1] = 7
    bytes_[1] = 1
    assert words[1] == 263 and bytes_[0] == 7
    other.close()
    mine.close()


def test_the_owner_removes_the_block_when_it_closes_and_who_is_attached_keeps_it() -> None:
    mine = SharedBlock.create(8)
    other = SharedBlock.attach(mine.name)
    view = other.view(0, 8)
    SharedBlock.attach(mine.name).close()  # removes nothing
    assert Path("/dev/shm", mine.name).exists()
    mine.close()
    mine.close()
    assert not Path("/dev/shm", mine.name).exists()
    view[0] = 1
    other.close()
    other.close()
    with pytest.raises(ValueError, match="released"):
        view[0] = 2
    for block in (mine, other):
        with pytest.raises(SharedMemoryError, match="is closed"):
            block.view(0, 8)


def test_a_block_that_is_forgotten_is_removed() -> None:
    mine = SharedBlock.create(8)
    name, view = mine.name, mine.view(0, 8)
    del mine
    assert not Path("/dev/shm", name).exists()
    with pytest.raises(ValueError, match="released"):
        view[0] = 1


def test_a_block_whose_name_is_gone_already_closes() -> None:
    mine = SharedBlock.create(8)
    unlink_shared_memory(mine.name)
    unlink_shared_memory(mine.name)
    mine.close()


def test_a_program_that_attached_and_ended_leaves_the_block_alone() -> None:
    mine = SharedBlock.create(8)
    code = f"from rig.runtime import SharedBlock; print(SharedBlock.attach({mine.name!r}).size > 0)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("True\n", "")
    SharedBlock.attach(mine.name).close()
    mine.close()


def test_every_failure_is_of_one_kind_and_says_what_is_wrong() -> None:
    mine = SharedBlock.create(8)
    with pytest.raises(SharedMemoryError, match=f"'{mine.name}' exists already"):
        SharedBlock.create(8, mine.name)
    with pytest.raises(SharedMemoryError, match=f"'{mine.name}': {mine.size} bytes, must be at least {mine.size + 1}"):
        SharedBlock.attach(mine.name, mine.size + 1)
    mine.close()
    with pytest.raises(SharedMemoryError, match=f"no such shared memory: '{mine.name}'"):
        SharedBlock.attach(mine.name)
    with pytest.raises(SharedMemoryError, match="shared memory of 8 bytes"):
        SharedBlock.create(8, "a" * 300)
    unborn = Path("/dev/shm", mine.name)
    unborn.touch()  # its maker died before it had a size
    with pytest.raises(SharedMemoryError, match="0 bytes, must be at least 8"):
        SharedBlock.attach(mine.name, 8)
    unlink_shared_memory(mine.name)
    assert not unborn.exists()
