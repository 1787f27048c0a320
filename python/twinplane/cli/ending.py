"""Asked to end, a command ends as after an error: whatever it has made is removed."""

from __future__ import annotations

import signal
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(SystemExit):
    """A signal asked the process to end; the exit code is the one that shells give."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def on_request() -> None:
    """Unwind when a signal asks for the end; one that is ignored (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for again in SIGNALS:  # once is enough: what is being removed shall be removed to the end
        signal.signal(again, signal.SIG_IGN)
    raise Ended(number)
