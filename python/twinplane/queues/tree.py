"""Queue disciplines and conditioners from what a user gives for an end of a link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import TwinplaneError
from ..model.generated import Conditioner, Tree
from ..model.written import Checked


def tree(given: Any, what: str) -> Tree:
    """A tree from a tree, a discipline, or a mapping as in a network file; an error begins with `what`."""
    if isinstance(given, Tree):
        return given
    if isinstance(given, Checked) and given.CHECK == "Queue":
        return Tree(root=given)  # type: ignore[arg-type]
    if isinstance(given, Mapping):
        return Tree.of(given, what)
    raise TwinplaneError(f"{what}: {given!r} is no queue discipline: twinplane.queues has them")


def conditioner(given: Any, what: str) -> Conditioner:
    """A conditioner from a conditioner or a mapping; an error begins with `what`."""
    if isinstance(given, Conditioner):
        return given
    if isinstance(given, Mapping):
        return Conditioner.of(given, what)
    raise TwinplaneError(f"{what}: {given!r} is no conditioner: twinplane.queues.Conditioner is one")
