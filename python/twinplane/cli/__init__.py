"""The command line: ``twinplane``."""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


SAID: set[str] = set()
"""Warnings so far: each is given once."""


def main() -> None:
    """Entry point: one sentence for every error, 130 after Ctrl-C."""
    import typer
    from typer.exceptions import TyperException

    from ..errors import TwinplaneError
    from . import ending
    from .app import app

    ending.on_request()
    atexit.register(gc.freeze)  # or a third of a second is spent, at the end, on looking for cycles
    warnings.showwarning = _warn
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # Typer makes an exit code of Ctrl-C
            _say("interrupted")
    except TwinplaneError as error:
        _say(str(error))
        code = 2
    except typer.Exit as error:
        code = error.exit_code
    except TyperException as error:
        # Without any argument the help has been printed, and there is nothing to be said.
        if text := error.format_message().rstrip("."):
            _say(text)
        code = 2
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted")
        code = INTERRUPTED
    except ending.Ended as error:
        _say(f"ended by {error.name}")
        raise
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing is left to be flushed at exit.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        from ..errors import os_reason

        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{os_reason(error)}")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """One sentence for every warning of ours, without the line of the program that it came from."""
    from ..errors import TwinplaneWarning

    if str(message) in SAID:
        return
    SAID.add(str(message))
    lead = "warning: " if issubclass(category, TwinplaneWarning) else f"{category.__name__}: "
    _say(f"{lead}{message}")


def _say(text: str) -> None:
    print(f"twinplane: {text}", file=sys.stderr)
