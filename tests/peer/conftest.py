"""Settings of all tests with naive peers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import harness


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Time passes in hundreds of thousands of steps, and each would ask the machine for its processors."""
    with harness.one_thread():
        yield
