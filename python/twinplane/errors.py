"""The exceptions that users meet, by kind, and the words that Python itself uses."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, Self

HOME = f"{Path(__file__).parent}/"
"""Where this package is."""


class TwinplaneError(Exception):
    """Something cannot be done as asked. The text is one clear sentence.

    Of an error in a description, `path` says where in it (keys and positions from the top, nodes by name),
    and `on_key` that the key at its end is wrong and not the value. `code` says which problem it is,
    `arguments` are the figures and names in it, and `words` is the sentence without the place in front of it.
    """

    path: tuple[str | int, ...] = ()
    on_key: bool = False
    code: str | None = None
    arguments: Mapping[str, Any] = MappingProxyType({})
    words: str = ""

    def told(self, text: str) -> Self:
        """The same error with another text, which says more of its place."""
        made = type(self)(text)
        made.path, made.on_key, made.code = self.path, self.on_key, self.code
        made.arguments, made.words = self.arguments, self.words
        return made


class UnknownNameError(TwinplaneError, LookupError):
    """A name that nothing has: of a node, a field, a choice."""


class OutOfRangeError(TwinplaneError, ValueError):
    """A value of the right type that is too small, too large, or not allowed here."""


class WrongTypeError(TwinplaneError, TypeError):
    """A value of another type or form than is needed, or none where one is needed."""


class TooLateError(TwinplaneError, RuntimeError):
    """Right in itself, but the run has gone beyond the point where it could be said."""


class ConflictError(TwinplaneError, ValueError):
    """Two things that are said contradict each other, or the same thing is said twice."""


class FailedError(TwinplaneError, RuntimeError):
    """What is asked is right, and something below failed: a file, an interface, the engine."""


KINDS: Mapping[str, type[TwinplaneError]] = MappingProxyType(
    {
        "unknown-name": UnknownNameError,
        "out-of-range": OutOfRangeError,
        "wrong-type": WrongTypeError,
        "too-late": TooLateError,
        "conflict": ConflictError,
        "failed": FailedError,
    }
)
"""Exceptions by the kinds of the core's diagnostics."""


@contextmanager
def below(what: str) -> Iterator[None]:
    """Say of errors what they belong to: their sentence begins with it, their data stay."""
    try:
        yield
    except TwinplaneError as error:
        raise error.told(f"{what}: {error}") from None


class TwinplaneWarning(UserWarning):
    """Something is odd, though it can be done as asked. The text is one clear sentence."""


class MachineWarning(TwinplaneWarning):
    """Something is odd about the machine, and not about what runs on it: no result tells of it."""


def _caller() -> tuple[FrameType, int]:
    """The frame that called this package, and which one it is, counted from the function that asks."""
    caller, level = sys._getframe(2), 2
    while caller.f_back is not None and caller.f_code.co_filename.startswith(HOME):
        caller, level = caller.f_back, level + 1
    return caller, level


def warn(text: str, kind: type[TwinplaneWarning] = TwinplaneWarning) -> None:
    """Warn of something, at the line of the user's program that led to it; Python tells each line once."""
    _, level = _caller()
    warnings.warn(text, kind, stacklevel=level)


def line_of_caller() -> str | None:
    """``FILE:LINE`` of the user's Python file that called this package; None where no file did."""
    caller, _ = _caller()
    file = caller.f_code.co_filename
    return f"{file}:{caller.f_lineno}" if file.endswith(".py") and not file.startswith(HOME) else None


def suggest(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for the known name nearest to `name`, or nothing."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{found[0]}'?)" if found else ""


def one_line(text: object) -> str:
    """A message of some other library on one line, without its final stop."""
    return " ".join(str(text).split()).rstrip(".")


def os_reason(error: OSError) -> str:
    """What the operating system says, in lower case and without its number."""
    reason = error.strerror or one_line(error)
    return reason[:1].lower() + reason[1:]
