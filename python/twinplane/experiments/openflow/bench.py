"""Two namespaces with veths between them: that of a switch which a run starts, and that of the tester."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...errors import TwinplaneError

PROGRAMS = {"ip": "iproute2", "ethtool": "ethtool", "sysctl": "procps"}
"""What it is made with, and the Debian package of each."""
PATIENCE_S = 20.0
CONTROL, DATA = "c0", ("d0", "d1")
"""Interfaces of the switch; those of the tester have a ``t`` in front."""


def check(sut: str, programs: Mapping[str, str]) -> None:
    """Refuse where it can't be made, or a program of the switch is missing."""
    for name, package in {**programs, **PROGRAMS}.items():
        if shutil.which(name) is None:
            raise TwinplaneError(f"openflow: sut={sut}: {name} is missing (package {package})")
    if os.geteuid() != 0:
        raise TwinplaneError(f"openflow: sut={sut}: only root makes network namespaces")


def namespaces() -> tuple[str, str]:
    """Of the switch and of the tester: names that no other process has."""
    return f"tp-of-{os.getpid()}-s", f"tp-of-{os.getpid()}-t"


@dataclass(frozen=True)
class Bench:
    """The namespace of the switch, and a folder; processes that are started end with it."""

    sut: str
    folder: Path
    env: Mapping[str, str]
    stack: ExitStack

    @property
    def inside(self) -> list[str]:
        """Words before those of a command in the namespace of the switch."""
        return ["ip", "netns", "exec", namespaces()[0]]

    def do(self, *words: str) -> None:
        """Run a command to its end; what it says last is why it fails."""
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=self.env)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise self.failed(f"{' '.join(words)}: {said[-1] if said else 'it failed'}")

    def failed(self, why: str) -> TwinplaneError:
        """That the switch can't be had."""
        return TwinplaneError(f"openflow: sut={self.sut}: {why}")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a process in the namespace of the switch. What it says goes to the file `said`."""
        said = self.stack.enter_context((self.folder / "said").open("ab"))
        process = subprocess.Popen([*self.inside, *words], env=self.env, stdout=said, stderr=said)
        self.stack.callback(_end, process)
        return process

    def wait(self, ready: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
        """Until a process is ready, or has ended, or time is over."""
        until = time.monotonic() + PATIENCE_S
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                lines = (self.folder / "said").read_text(errors="replace").strip().splitlines()
                raise self.failed(f"{name} does not come up{': ' if lines else ''}{''.join(lines[-1:])}")
            time.sleep(0.02)

    def link(self, interface: str) -> None:
        """Make a veth between the two namespaces."""
        switch, tester = namespaces()
        far = ("peer", "name", f"t{interface}", "netns", tester)
        self.do("ip", "link", "add", interface, "netns", switch, "type", "veth", *far)
        for netns, name in ((switch, interface), (tester, f"t{interface}")):
            inside = ("ip", "netns", "exec", netns)
            self.do(*inside, "sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
            # Segments that the kernel has not summed up would be malformed on a wire.
            self.do(*inside, "ethtool", "-K", name, "tx", "off", "rx", "off")
            self.do("ip", "-n", netns, "link", "set", name, "up")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def bench(sut: str, address: str, places: Sequence[str] = ()) -> Iterator[Bench]:
    """Both namespaces as long as the block lasts: the switch has `address` at the link of its channel.

    `places` are variables of the environment that programs of the switch take the folder from.
    """
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="tp-of-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = Bench(sut, folder, {**os.environ, **dict.fromkeys(places, str(folder))}, stack)
        for name in namespaces():
            made.do("ip", "netns", "add", name)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False, capture_output=True)
        for interface in (CONTROL, *DATA):
            made.link(interface)
        made.do("ip", "-n", namespaces()[0], "addr", "add", address, "dev", CONTROL)
        yield made
