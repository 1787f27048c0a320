"""Lets the tests import the anchors' library, which is found by the scripts beside it."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "anchors"))


def pytest_configure() -> None:
    """Let signals end the programs that tests start, whatever this process inherited (as under nohup)."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
