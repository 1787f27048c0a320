"""An independent router, freeRtr, beside a lab: its process, its ports, its console.

It runs in a network namespace that is made here and is taken away with everything that lives in it. The
lab's ends of its links are in that namespace, too, so the lab has to be brought up there (:meth:`Peer.here`).
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support.needs import need, peers
from twinplane.lab import Lab, netns, processes
from twinplane.lab.kernel import find_ip

from .support import removed

CONSOLE = 2623
START_S = 90.0
"""How long Java may take to start, on a busy machine."""

WAIT_S = 60.0
"""How long anything may take on a busy machine; nothing waits so long on an idle one."""

NO_TUNNEL = ("int tun1", "tunnel shutdown")

CONFIG = """\
hostname peer
vrf def v1
 rd 1:1
 exit
server telnet tel
 security protocol telnet
 no exec authorization
 no login authentication
 vrf v1
 exit
int lo0
 vrf for v1
 ipv4 addr 9.9.9.1 255.255.255.255
 mpls rsvp4
 exit
"""

PORT = """\
int eth{number}
 vrf for v1
 ipv4 addr {address} 255.255.255.252
 mpls enable
 mpls rsvp4
 exit
"""


OSPF = """\
router ospf4 1
 vrf v1
 router 9.9.9.1
 traffeng 9.9.9.1
 area 0 ena
 area 0 traff
 exit
int lo0
 router ospf4 1 ena
 router ospf4 1 passive
 router ospf4 1 cost 1
 exit
"""
"""OSPF with traffic engineering; ports speak it by :data:`OSPF_PORT`."""

OSPF_PORT = """\
int eth{number}
 router ospf4 1 ena
 router ospf4 1 network point2point
 router ospf4 1 hello-time 1000
 router ospf4 1 dead-time 40000
 router ospf4 1 cost 3
 exit
"""


class Console:
    """A session at its console."""

    def __init__(self, field: str) -> None:
        limit = time.monotonic() + START_S
        while True:
            with netns.inside(field):
                self._talk = socket.create_connection(("127.0.0.1", CONSOLE), timeout=20)
            try:
                # At first it accepts what nobody serves yet.
                self._answer()
                break
            except ConnectionError:
                self._talk.close()
                if time.monotonic() > limit:
                    raise
                time.sleep(0.1)
        self.ask("terminal length 0")

    def ask(self, command: str) -> str:
        """What it answers to a command."""
        self._talk.sendall(command.encode() + b"\r")
        # It draws the line again while it is typed; what comes behind its end is the answer, then a prompt.
        return self._answer(rb"\n(peer(\([^()\n]*\))?#\s*)+$")

    def configure(self, *lines: str) -> None:
        """Change its configuration."""
        for line in ("configure terminal", *lines, "end"):
            self.ask(line)

    def close(self) -> None:
        """End the session."""
        self._talk.close()

    def _answer(self, prompt: bytes = rb"peer#\s*$") -> str:
        got = b""
        while not re.search(prompt, got.replace(b"\r", b"")):
            chunk = self._talk.recv(65536)
            if not chunk:
                raise ConnectionError(f"the console was closed: {got!r}")
            got += chunk
        lines = got.replace(b"\r", b"").decode(errors="replace").split("\n")
        return "\n".join(lines[1:-1])


class Peer:
    """freeRtr with ports `f1`, `f2`, ..., whose other ends `x1`, `x2`, ... are for a lab."""

    def __init__(self, field: str, folder: Path, addresses: list[str], more: str) -> None:
        self.field = field
        self.config = folder / "peer.txt"
        self.ports = [f"f{number}" for number, _ in enumerate(addresses, 1)]
        ports = [PORT.format(number=n, address=address) for n, address in enumerate(addresses, 1)]
        self.config.write_text(CONFIG + "".join(ports) + more)
        self.console: Console | None = None
        self._process: subprocess.Popen[str] | None = None

    def make(self) -> None:
        """The namespace and the links."""
        _ip("netns", "add", self.field)
        netns.silence(self.field)
        _ip("-n", self.field, "link", "set", "lo", "up")
        for number, port in enumerate(self.ports, 1):
            ends = (port, f"x{number}")
            _ip("-n", self.field, "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for end in ends:
                _ip("-n", self.field, "link", "set", end, "arp", "off", "mtu", "1500", "up")

    def start(self) -> None:
        """Start the router, and wait until it answers."""
        ports = [word for port in self.ports for word in ("--port", port)]
        program = [sys.executable, str(peers() / "freertr" / "peer.py"), "run"]
        words = [*program, "--config", str(self.config), "--console", str(CONSOLE), *ports]
        with netns.inside(self.field):
            self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        with ended_after(START_S, self._process):
            said = self._process.stdout.readline()
        assert said == "ready\n", "freertr did not start"
        self.console = Console(self.field)
        # The console is there before the rest of the configuration: what is configured till then may be lost.
        booted = processes.wait_until(lambda: "boot completed" in self.ask("show logging"), START_S, 0.1)
        assert booted, self.ask("show logging")

    def kill(self) -> None:
        """End it as if its power went."""
        if self.console is not None:
            self.console.close()
        self.console = None
        processes.end(self._inside, 0.0)
        if self._process is not None:
            self._process.wait(20)
        self._process = None

    @contextlib.contextmanager
    def changed(self, where: str, do: str, undo: str) -> Iterator[None]:
        """Have a line more in a section of its configuration for some time."""
        assert self.console is not None, "it does not run"
        self.console.configure(where, do)
        try:
            yield
        finally:
            self.console.configure(where, undo)

    @contextlib.contextmanager
    def silent(self, number: int) -> Iterator[None]:
        """Have the link of port `number` lose every frame, while its interfaces stay up at both ends."""
        # Frames longer than the bucket (one byte) are dropped. Not every kernel has netem.
        lossy = ("root", "tbf", "rate", "8bit", "burst", "1", "limit", "1")
        ends = (f"f{number}", f"x{number}")
        for end in ends:
            self._tc("add", end, *lossy)
        try:
            yield
        finally:
            for end in ends:
                self._tc("del", end, "root")

    def remove(self) -> None:
        """Take away all that was made."""
        with contextlib.suppress(FileNotFoundError):
            self.kill()
        netns.forget(self.field)

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Be where its links end."""
        with netns.inside(self.field):
            yield

    def ask(self, command: str) -> str:
        """What it answers to a command."""
        assert self.console is not None, "it does not run"
        try:
            return self.console.ask(command)
        except ConnectionError:
            # It ends a session in which it prints tables while they change.
            self.console.close()
            self.console = Console(self.field)
            return self.console.ask(command)

    def _tc(self, do: str, interface: str, *words: str) -> None:
        _ip("netns", "exec", self.field, "tc", "qdisc", do, "dev", interface, *words)

    def _inside(self) -> set[processes.Process]:
        space = netns.identity(netns.path_of(self.field))
        return set() if space is None else processes.belonging(Path("/nowhere"), [space])


@contextlib.contextmanager
def running(field: str, folder: Path, addresses: list[str], more: str) -> Iterator[Peer]:
    """The router, which writes down the messages of RSVP that it gets and sends."""
    need("labs", "freertr")
    made = Peer(field, folder, addresses, more)
    try:
        made.make()
        made.start()
        made.ask("debug proto rsvp traffic")
        yield made
    finally:
        made.remove()


def lab_beside(peer: Peer, folder: Path, name: str, network: str) -> Iterator[Lab]:
    """A lab of this network around it, of that name; its own tunnel is taken away afterwards."""
    path = folder / "network.yaml"
    path.write_text(network.replace("{name}", name))
    try:
        with peer.here():
            made = Lab(path).up()
        peer.ask("clear logging")
        yield made
    finally:
        try:
            if peer.console is not None:
                peer.ask("show clock")
                peer.console.configure(*NO_TUNNEL)
        finally:
            removed(name)


def wait(
    true: Callable[[], object], what: Callable[[], object] = lambda: "it did not happen in time"
) -> None:
    """Wait until something is so; else say `what` there was instead."""
    assert processes.wait_until(lambda: bool(true()), WAIT_S, 0.02), what()


def rows(lab: Lab, node: str, table: str, **match: object) -> list[dict[str, Any]]:
    """The rows of a table of a router whose columns have these values."""
    found = lab.node(node).table(table).to_dicts()
    return [row for row in found if all(row[key] == value for key, value in match.items())]


def ping(lab: Lab, host: str, to: str, count: int = 20) -> int:
    """How many of the packets came back."""
    done = lab.exec(host, "ping", "-c", str(count), "-i", "0.02", "-W", "2", to, check=False, timeout=60)
    return int(re.findall(r"(\d+) received", done.stdout)[0])


def ping_from(peer: Peer, to: str, count: int = 20) -> int:
    """The same, by the other router."""
    said = peer.ask(f"ping {to} vrf v1 source lo0 repeat {count} timeout 2000")
    return int(re.findall(r"err=(\d+)/", said)[0])


def labels_of(peer: Peer) -> dict[int, str]:
    """Its label table: the label that goes out by each label that comes in."""
    found = re.findall(r"^(\d+) +v1:4 +(\S+) +(\S+) +(\S+)", peer.ask("show mpls forwarding"), re.MULTILINE)
    return {int(label): out for label, _, _, out in found}


def faultless(lab: Lab, nodes: str) -> None:
    """None of these routers met what must never happen, or bytes that it could not read."""
    for node in nodes:
        assert rows(lab, node, "rsvp_faults") == []
        assert rows(lab, node, "rsvp_unreadable") == []


@contextlib.contextmanager
def ended_after(seconds: float, process: subprocess.Popen[str]) -> Iterator[None]:
    """End a process that takes longer: whoever reads what it says then sees its end."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _ip(*words: str) -> None:
    subprocess.run([find_ip(), *words], check=True, capture_output=True, text=True, timeout=30)
