"""The one exception that users meet, and the words it uses."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

HOME = f"{Path(__file__).parent}/"
"""Where this package is."""


class TwinplaneError(Exception):
    """Something cannot be done as asked. The text is one clear sentence."""


class TwinplaneWarning(UserWarning):
    """Something is odd, though it can be done as asked. The text is one clear sentence."""


def warn(text: str) -> None:
    """Warn of something, at the line of the user's program that led to it; Python tells each line once."""
    caller, level = sys._getframe(1), 2
    while caller.f_back is not None and caller.f_code.co_filename.startswith(HOME):
        caller, level = caller.f_back, level + 1
    warnings.warn(text, TwinplaneWarning, stacklevel=level)


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
