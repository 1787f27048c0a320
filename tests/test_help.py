"""Pages of help say what was written: nothing in them is markup or an emoji."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner


def pages(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command, with the words that lead to it."""
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from pages(inner, *words, name)


def test_help_says_what_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from twinplane.cli.app import app

    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 400)
    told: list[str] = []
    for words, command in pages(get_command(app)):
        done = CliRunner().invoke(app, [*words, "--help"])
        assert done.exit_code == 0, words
        shown = " ".join(done.stdout.split())
        helps = [command.help, *(one.help for one in command.params)]
        for text in filter(None, helps):
            assert " ".join(text.split()) in shown, (words, text)
            told.append(text)
    assert len(told) > 100
    assert any("a:b:step" in text for text in told)
    assert any("[default: as the network file says]" in text for text in told)


def test_validate_lists_its_groups() -> None:
    from twinplane.cli.app import app
    from twinplane.validation import GROUPS

    groups = list(GROUPS)
    only = next(one for one in get_command(app).commands["validate"].params if one.name == "only")
    assert f"{', '.join(groups[:-1])} or {groups[-1]}" in only.help
