"""What the anchors that stand on DPDK share: its options, their source and drain, and testpmd's prompt."""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from anchorlib import (
    FailedError,
    end,
    hugepages,
    positive,
    require_programs,
    require_root,
    two_processors,
    write_mpls_pcap,
)

EAL = ("--in-memory", "--no-pci", "--no-telemetry")
"""Options of every DPDK program here: no files left, no card of the machine touched, no socket."""
DRAIN = "net_null0,copy=1"
HUGEPAGES_MB = 1024
START_LIMIT_S = 30.0
LABELS_MAX = 20_000
PROMPT = "testpmd> "
TX_PPS = re.compile(r"Tx-pps:\s+(\d+)")


def check_dpdk(what: str, programs: dict[str, str]) -> None:
    """Raise `MissingError` in one sentence unless `programs` are here, with root and two processors."""
    require_programs({**programs, "unshare": "util-linux", "setpriv": "util-linux"})
    require_root(what)
    two_processors()


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """Hugepages and a temporary folder, both given back whatever happens."""
    with hugepages(HUGEPAGES_MB), tempfile.TemporaryDirectory(prefix=f"twinplane-{name}-") as folder:
        yield Path(folder)


def label_source(folder: Path, labels: int) -> str:
    """Write the frames into `folder` and return the device that gives them without end."""
    frames = folder / "frames.pcap"
    write_mpls_pcap(frames, labels)
    return f"net_pcap0,rx_pcap={frames},infinite_rx=1"


def add_labels(options: argparse.ArgumentParser, what: str) -> None:
    """The option of those who read the label source."""
    options.add_argument("--labels", type=positive, default=1000, help=what)


def check_labels(options: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """Refuse more frames than the memory that is reserved holds."""
    if chosen.labels > LABELS_MAX:
        options.error(f"--labels must be {LABELS_MAX} or less (each takes a packet buffer)")


class Testpmd:
    """A running testpmd and its prompt."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        """Take over a started process whose output arrives at `terminal`."""
        self.process = process
        self._terminal = terminal

    def read_to_prompt(self, limit_s: float) -> str:
        """Everything printed until the prompt is back."""
        text = ""
        deadline = time.monotonic() + limit_s
        while not text.endswith(PROMPT):
            left = deadline - time.monotonic()
            if left <= 0:
                raise FailedError(f"testpmd did not answer within {limit_s:.0f} s.")
            if not select.select([self._terminal], [], [], left)[0]:
                continue
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:
                chunk = b""  # the far side of the terminal is closed
            if not chunk:
                lines = [line for line in text.splitlines() if line.strip()] or ["no output"]
                raise FailedError(f"testpmd ended early: {lines[-1].strip()}")
            text += chunk.decode(errors="replace")
        return text

    def command(self, line: str, limit_s: float = 15.0) -> str:
        """Give one command and return what it printed."""
        if self.process.stdin is None:
            raise FailedError("testpmd has no input.")
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise FailedError("testpmd ended early.") from error
        return self.read_to_prompt(limit_s)

    def sent_mpps(self, port: int) -> float:
        """Rate out of a port since the last time this was asked (testpmd's own clock)."""
        found = TX_PPS.search(self.command(f"show port stats {port}"))
        if found is None:
            raise FailedError("testpmd printed no transmit rate.")
        return int(found[1]) / 1e6


@contextmanager
def testpmd(command: Sequence[str], folder: Path) -> Iterator[Testpmd]:
    """Start an interactive testpmd that keeps its files in `folder`; end it whatever happens."""
    ours, theirs = pty.openpty()  # a terminal, so that the prompt is not held in a buffer
    process = None
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
        )
        os.close(theirs)
        started = Testpmd(process, ours)
        started.read_to_prompt(START_LIMIT_S)
        yield started
    finally:
        if process is not None:
            if process.stdin is not None:
                with suppress(BrokenPipeError):
                    process.stdin.close()
            end(process)
        os.close(ours)
