"""Where in a network something is: errors that say it as data, and their places in files.

An error has the path of what it is about in a description: keys and positions from the top, nodes by name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from .. import core
from ..errors import TwinplaneError
from .source import Source

E = TypeVar("E", bound=TwinplaneError)

OF_END = ("queue", "ingress")
"""What a link says for each of its ends."""


def about(path: tuple[str | int, ...], lead: str, words: str) -> TwinplaneError:
    """An error at a place; `lead` says which place it is, as ``node 'pe1': ``."""
    error = TwinplaneError(f"{lead}{words}")
    error.path, error.words = path, words
    return error


def of_node(name: str, words: str) -> TwinplaneError:
    """An error of a node."""
    return about(("nodes", name), f"node '{name}': ", words)


def of_link(index: int, ends: tuple[str, str], words: str) -> TwinplaneError:
    """An error of a link, by its place and the names of its ends."""
    return about(("links", index), f"link {ends[0]} - {ends[1]}: ", words)


def of_lsp(index: int, name: str, words: str) -> TwinplaneError:
    """An error of a group of LSPs."""
    return about(("lsps", index), f"lsp '{name}': ", words)


def of_flow(index: int, name: str, words: str) -> TwinplaneError:
    """An error of a flow."""
    return about(("flows", index), f"flow '{name}': ", words)


def of_tcp(index: int, name: str, words: str) -> TwinplaneError:
    """An error of a flow over TCP."""
    return about(("tcp", index), f"tcp flow '{name}': ", words)


def in_file(error: E, found: Source) -> E:
    """The same error with the line and column at which the file says what it is about."""
    if found.matrix is not None and (told := found.matrix.explained(error)) is not None:
        return told
    place, on_key, lead = core.written(found.data, error.path, error.on_key)
    line, column = found.mark(place, on_key)
    text = f"{lead}{error.words}" if error.words else str(error)
    return error.told(f"{found.path}:{line}:{column}: {text}")


def together(
    found: Iterable[TwinplaneError], explain: Callable[[TwinplaneError], TwinplaneError]
) -> list[str]:
    """Sentences of warnings; the same said of several ends of links is said once, of the first."""
    said: dict[Hashable, list[str]] = {}
    for warning in found:
        text = str(explain(warning))
        of_end = len(warning.path) > 3 and warning.path[0] == "links" and warning.path[2] in OF_END
        same = said.setdefault((warning.path[4:], warning.words) if of_end else text, [])
        if text not in same:
            same.append(text)
    return [
        texts[0] if len(texts) == 1 else f"{texts[0]} (and so at {len(texts) - 1} more)"
        for texts in said.values()
    ]
