"""Captures of links of a lab.

What one end of a veth sends is what the other end receives, so that a packet socket at either end, taking
what comes in there, sees everything that crosses the link; what a router sends past the kernel's queues is
not seen at its own end. Where the kernel does not see what comes in (AF_XDP) or an end is outside the lab,
the router's own tap writes the file.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .. import core
from ..errors import TwinplaneError, suggest
from . import netns, state
from .asking import ask

if TYPE_CHECKING:
    from .lab import Lab
    from .state import State


def find_link(lab: State, given: str) -> int:
    """A link by its ends (``pe1:p`` or ``pe1-p``) or by one of its interfaces (``pe1:e1``)."""
    found = []
    for index, (a, b) in enumerate(lab.links):
        x, y = a.partition(":")[0], b.partition(":")[0]
        if given in (a, b, f"{a}-{b}", f"{b}-{a}", f"{x}-{y}", f"{y}-{x}", f"{x}:{y}", f"{y}:{x}"):
            found.append(index)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(lab.links[index][0] for index in found)
        raise TwinplaneError(f"link '{given}': there are {len(found)}: name one of its interfaces ({names})")
    known = [f"{a.partition(':')[0]}:{b.partition(':')[0]}" for a, b in lab.links]
    hint = suggest(given, known) or f" (one of {', '.join(known)})"
    raise TwinplaneError(f"lab '{lab.name}': there is no link '{given}'{hint}")


def find_lab(link: str, lab: str | None) -> Lab:
    """The lab with such a link: the one that is named, or the only one."""
    from .lab import Lab

    if lab is not None:
        return Lab.attached(lab)
    having = []
    up = state.up()
    for one in up:
        with contextlib.suppress(TwinplaneError):
            find_link(one, link)
            having.append(one.name)
    if len(having) > 1:
        raise TwinplaneError(
            f"link '{link}' is in {len(having)} labs: say which with --lab ({', '.join(having)})"
        )
    if not having:
        if len(up) == 1:
            find_link(up[0], link)
        raise TwinplaneError(
            f"no lab that is up has a link '{link}'" if up else "no lab is up: `twinplane lab up FILE`"
        )
    return Lab.attached(having[0])


class Capture:
    """A capture of a link; it begins at once, and ends when the context does, or with `stop`."""

    def __init__(
        self, lab: Lab, link: str, *, path: str | Path, at: str | None = None, packets: int | None = None
    ) -> None:
        self.path = Path(path)
        self.index = find_link(lab.state, link)
        ends = lab.state.links[self.index]
        self.name = f"{ends[0]} - {ends[1]}"
        names = [end.partition(":")[0] for end in ends]
        if at is not None and at not in names:
            raise TwinplaneError(f"link {self.name}: '{at}' is not at one of its ends{suggest(at, names)}")
        if not self.path.absolute().parent.is_dir():
            raise TwinplaneError(f"{self.path}: there is no folder {self.path.absolute().parent}")
        kept = [(end, name) for end, name in zip(ends, names, strict=True) if at in (None, name)]
        self.node = at or names[0]
        self._tap: _Kernel | _RouterTap
        if _kernel_sees(lab.state, names):
            self._tap = _Kernel(lab.state, kept, self.path, packets)
        else:
            self._tap = _RouterTap(lab.state, names, at, self.index, self.path, packets)

    @property
    def packets(self) -> int:
        """How many frames there are so far."""
        return self._tap.count()

    def wait(self, seconds: float | None = None, told: Callable[[int], None] = lambda count: None) -> int:
        """Go on until there are as many packets as asked for, for so long, or until Ctrl-C; then end.

        `told` hears again and again how many packets there are.
        """
        limit = None if seconds is None else time.monotonic() + seconds
        try:
            while not self._tap.full() and (limit is None or time.monotonic() < limit):
                time.sleep(0.02)
                told(self.packets)
        except KeyboardInterrupt:
            pass
        return self.stop()

    def stop(self) -> int:
        """End it; how many frames are in the file."""
        return self._tap.stop()

    def __enter__(self) -> Capture:
        """It runs already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.stop()


def _kernel_sees(lab: State, names: list[str]) -> bool:
    """Are both ends inside, with no AF_XDP socket that takes frames before the kernel sees them?"""
    for name in names:
        node = lab.nodes[name]
        if node.namespace is None:
            return False
        if node.kind == "router":
            ports = json.loads(lab.config(name).read_text())["placement"]["ports"]
            if any(port["driver"] == "xdp" for port in ports):
                return False
    return True


class _Kernel:
    """Packet sockets at the ends of a link, and a thread that writes what comes in at them."""

    def __init__(self, lab: State, ends: list[tuple[str, str]], path: Path, limit: int | None) -> None:
        self.seen = 0
        self.error: TwinplaneError | None = None
        self.ending = threading.Event()
        sources = [
            (end.partition(":")[2], str(netns.path_of(str(lab.nodes[name].namespace))), end, True)
            for end, name in ends
        ]
        with core.translated():
            self.tap = core.load().InterfaceCapture(sources, str(path), None, limit)
        self.thread = threading.Thread(target=self._run, name="capture", daemon=True)
        self.thread.start()

    def count(self) -> int:
        return self.seen

    def full(self) -> bool:
        return not self.thread.is_alive()

    def stop(self) -> int:
        self.ending.set()
        self.thread.join()
        if self.error is not None:
            raise self.error
        return self.seen

    def _run(self) -> None:
        try:
            with core.translated():
                over = False
                while not over and not self.ending.is_set():
                    self.seen, over = self.tap.step()
                self.seen = self.tap.finish()[0]  # what had come before the end is taken
        except TwinplaneError as error:
            self.error = error


class _RouterTap:
    """The tap of a router at one end."""

    def __init__(
        self, lab: State, names: list[str], at: str | None, link: int, path: Path, limit: int | None
    ) -> None:
        routers = [name for name in names if lab.nodes[name].kind == "router" and at in (None, name)]
        if not routers:
            raise TwinplaneError(f"'{at}' is no router: only at a router can this link be captured")
        self.lab, self.router = lab, routers[0]
        self.ended: int | None = None
        self.seen = 0
        asked = {"link": link, "path": str(path.absolute())}
        answer = ask(self.lab, self.router, "capture", {**asked, "max_packets": limit} if limit else asked)
        self.number = int(answer["capture"])

    def _progress(self) -> int | None:
        """How many packets, or nothing if it has ended by itself."""
        for one in ask(self.lab, self.router, "status")["captures"]:
            if one["capture"] == self.number:
                self.seen = int(one["packets"] or 0)
                return self.seen
        return None

    def count(self) -> int:
        if self.ended is None:
            self._progress()
        return self.seen if self.ended is None else self.ended

    def full(self) -> bool:
        return self.ended is not None or self._progress() is None

    def stop(self) -> int:
        if self.ended is None:
            last = self.count()
            self.ended = last
            if self._progress() is not None:
                self.ended = int(ask(self.lab, self.router, "capture-stop", self.number)["packets"])
        return self.ended
