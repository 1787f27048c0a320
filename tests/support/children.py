"""Programs that tests start and send signals to.

A process inherits which signals are ignored and blocked. Under ``nohup`` SIGHUP is ignored, in the background
of a script SIGINT is, and so they would be in what a test starts: its signal would do nothing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_LAUNCH = """
import os, signal, sys
ordinary = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM
for number in ordinary:
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, ordinary)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Runs in the new process, which then becomes the program: `preexec_fn` is not safe beside threads."""


def launched(words: Sequence[str | Path]) -> list[str]:
    """The command line that runs this one with every signal as a login shell would have it."""
    return [sys.executable, "-I", "-S", "-c", _LAUNCH, *map(str, words)]


def start(words: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a program that signals will be sent to, with options of Popen; `pid` is the program's own."""
    return subprocess.Popen(launched(words), **options)


def twinplane(*words: str | Path, **options: Any) -> subprocess.Popen[Any]:
    """Start the command line, as :func:`start` does."""
    return start([sys.executable, "-m", "twinplane", *words], **options)
