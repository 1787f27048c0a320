"""Labs of tests: each has a name of its own, and is gone afterwards whatever happens."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.needs import need

from .support import TWO_SITES, removed

COUNT = itertools.count()

NetworkFile = Callable[..., Path]


@pytest.fixture
def needs_labs() -> None:
    need("labs")


@pytest.fixture
def network_file(tmp_path: Path, needs_labs: None) -> Iterator[NetworkFile]:
    """Writes a network file; `text` has a `{name}` to be filled in."""
    made: list[str] = []

    def write(text: str = TWO_SITES) -> Path:
        name = f"t{os.getpid()}-{next(COUNT)}"
        made.append(name)
        path = tmp_path / f"{name}.yaml"
        path.write_text(text.replace("{name}", name))
        return path

    yield write
    for name in made:
        removed(name)
