"""Every program of the kept set shows what is written down of it, or a rename or a mend says why not."""

from __future__ import annotations

import pytest

from . import comparing, explanations, registry

NAMES = registry.names()
KNOWN = explanations.load()
DONE: set[str] = set()


@pytest.mark.parametrize("name", NAMES)
def test_shows_what_is_written_down(name: str) -> None:
    found = comparing.verdict(name, registry.run(name), KNOWN)
    DONE.add(name)
    assert found.trouble is None
    assert not found.differs, "\n".join(str(difference) for difference in found.differs)


def test_every_explanation_explains_something() -> None:
    if set(NAMES) != DONE:
        pytest.skip("only a part of the programs ran")
    assert KNOWN.needless() == []
