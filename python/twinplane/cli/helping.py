"""Help texts as they were written: Rich takes ``[default: 1]`` for markup and ``a:b:step`` for an emoji."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperGroup

TAG = re.compile(r"(\\*)(\[[a-z#/@][^\[]*?\])")
"""What would be a tag, with the backslashes before it (see `rich.markup.escape`)."""

EMOJI = re.compile(r":(?=[^\s:]*:)")
"""Where the name of an emoji would begin."""


class Group(TyperGroup):
    """A group of commands whose help texts are no markup."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Its page."""
        literally(self)
        super().format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command of it."""
        found = super().get_command(ctx, cmd_name)
        if found is not None:
            literally(found)
        return found


class Literal(str):
    """A text that is escaped already."""

    __slots__ = ()


def literally(command: Any) -> None:
    """Let the help of a command and of its options be shown as it is."""
    for one in (command, *command.params):
        told = getattr(one, "help", None)
        if told and not isinstance(told, Literal):
            one.help = Literal(escaped(told))


def escaped(text: str) -> str:
    """A text in which nothing is markup."""
    return EMOJI.sub(":[none][/none]", TAG.sub(r"\1\1\\\2", text))
