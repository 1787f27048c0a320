"""A network that a Python file makes, in the place of a network file."""

from __future__ import annotations

import contextlib
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError, os_reason

if TYPE_CHECKING:
    from ..network import Network

NAME = "twinplane_file"
"""What the file finds as its `__name__`: what is meant for a run of its own is behind ``if __name__ ==``."""

NEEDED = "'net = tp.Network(...)', or a function 'build()' that returns a network"


def network_of(file: Path) -> Network:
    """Run the file, and take its `net`, or what its `build()` returns.

    What it prints goes to standard error.
    """
    from ..network import Network

    try:
        text = file.read_bytes()
    except OSError as error:
        raise TwinplaneError(f"{file}: it cannot be read: {os_reason(error)}") from None
    module = ModuleType(NAME)
    module.__file__ = str(file)
    sys.modules[NAME] = module
    sys.path.insert(0, str(file.parent.resolve()))
    with contextlib.redirect_stdout(sys.stderr):
        code = _compiled(file, text)
        _guarded(file, lambda: exec(code, module.__dict__))
        found: Any = getattr(module, "net", None)
        what = "net"
        if found is None and (build := getattr(module, "build", None)) is not None:
            found, what = _guarded(file, lambda: _built(file, build)), "build()"
    if isinstance(found, Network):
        return found
    if found is None and what == "net":
        raise TwinplaneError(f"{file}: it has no network: {NEEDED}")
    is_what = "returns" if what == "build()" else "is"
    raise TwinplaneError(f"{file}: {what} {is_what} {_shown(found)}, and no network: {NEEDED}")


def _compiled(file: Path, text: bytes) -> Any:
    try:
        return compile(text, str(file), "exec")
    except SyntaxError as error:
        place = f"{file}:{error.lineno}:{error.offset}" if error.lineno else f"{file}"
        raise TwinplaneError(f"{place}: this is no Python: {error.msg}") from None
    except ValueError as error:
        raise TwinplaneError(f"{file}: this is no Python: {error}") from None


def _built(file: Path, build: Any) -> Any:
    if not callable(build):
        raise TwinplaneError(f"{file}: build is {_shown(build)}, and no function that returns a network")
    try:
        inspect.signature(build).bind()
    except TypeError:
        raise TwinplaneError(f"{file}: build() is called without arguments, and needs some") from None
    return build()


def _shown(what: Any) -> str:
    kind = type(what).__name__
    return "nothing" if what is None else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def _guarded(file: Path, run: Any) -> Any:
    """Do it; what goes wrong in the file is one sentence with its line."""
    try:
        return run()
    except TwinplaneError as error:
        text = str(error)
        if not text.startswith(f"{file}:"):
            text = f"{_place(file, error)}: {text}"
        raise TwinplaneError(text) from None
    except SystemExit as error:
        place = _place(file, error)
        raise TwinplaneError(f"{place}: the program ends here, before it has made a network") from None
    except Exception as error:
        text = " ".join(str(error).split())
        said = f"{type(error).__name__}: {text}" if text else type(error).__name__
        raise TwinplaneError(f"{_place(file, error)}: {said}") from None


def _place(file: Path, error: BaseException) -> str:
    """The file, and the line in it that was reached last."""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
    ]
    return f"{file}:{lines[-1]}" if lines else f"{file}"
