"""What passes an interface of this machine, as a file for Wireshark."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from .. import core, units
from ..errors import TwinplaneError
from ..units import Quantity
from .attachments import NAMESPACES


@dataclass(frozen=True)
class Tapped:
    """What became of a capture."""

    path: Path
    packets: int
    missed: int
    """Frames that passed while there was no room to keep them."""
    gone: bool
    """Was the interface taken away in the meantime?"""


def capture_interface(
    interface: str,
    path: str | Path,
    *,
    netns: str | None = None,
    packets: int | None = None,
    for_: Quantity | None = None,
    label: str | None = None,
    snap: int | None = None,
    undone: bool = False,
) -> Tapped:
    """Capture both directions of an interface to a pcapng file: so many `packets`, or `for_` a time.

    Times are the kernel's. Super-frames and partial checksums, which a kernel leaves to its interfaces, are
    written as they would look on a wire, unless `undone` asks for what was really there.
    """
    if packets is None and for_ is None:
        raise TwinplaneError('say how much to capture: packets=1000 or for_="10 s"')
    end = None if for_ is None else time.monotonic() + units.span_ps(for_, "for_") / 1e12
    space = None if netns is None else str(NAMESPACES / netns)
    with core.translated():
        source = (interface, space, label, False)
        tap = core.load().InterfaceCapture([source], str(path), snap, packets, undone)
        while not tap.step()[1] and (end is None or time.monotonic() < end):
            pass
        count, missed, gone, _ = tap.finish()
    return Tapped(Path(path), count, missed, gone)
