"""What a capture says while it waits for packets: that it waits, for what, and how many there are so far."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import typer

SILENCE_S = 2.0
"""So long without a packet is said where there is no terminal: an idle link sends little."""


class Waiting:
    """A line on standard error: a running count in a terminal, else two sentences at most."""

    def __init__(
        self, what: str, *, packets: int | None = None, seconds: float | None = None, quiet: bool = False
    ) -> None:
        self.what, self.quiet = what, quiet
        ends = [f"{packets} packets"] if packets is not None else []
        ends += [f"{seconds:g} s"] if seconds is not None else []
        self.until = f"until {' or '.join(ends)}, or Ctrl-C" if ends else "until Ctrl-C"
        self.begin = time.monotonic()
        self.status: Any = None
        self.said = False

    def __enter__(self) -> Waiting:
        """Say what is captured, and what ends it."""
        if self.quiet:
            return self
        if sys.stderr.isatty():
            from rich.console import Console

            self.status = Console(stderr=True, highlight=False).status(self._line(0))
            self.status.start()
        else:
            typer.echo(f"capturing {self.what} {self.until}", err=True)
        return self

    def tick(self, count: int) -> None:
        """So many packets have come."""
        if self.status is not None:
            self.status.update(self._line(count))
        elif not (self.quiet or self.said or count) and time.monotonic() - self.begin > SILENCE_S:
            self.said = True
            typer.echo(f"no packet yet of {self.what}: it waits", err=True)

    def _line(self, count: int) -> str:
        waits = "" if count or time.monotonic() - self.begin < SILENCE_S else " (the link is idle: it waits)"
        return f"capturing {self.what} {self.until}: {count} packets{waits}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        if self.status is not None:
            self.status.stop()
