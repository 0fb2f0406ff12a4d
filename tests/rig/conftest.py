"""Fixtures of the commands' tests."""

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of the test's own, in which it runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
