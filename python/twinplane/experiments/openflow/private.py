"""A userspace Open vSwitch of its own in a network namespace, with veths to another: that of the tester."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ...errors import TwinplaneError

PROGRAMS = {
    "ovsdb-server": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "ovs-vsctl": "openvswitch-switch",
    "ovsdb-tool": "openvswitch-switch",
    "ip": "iproute2",
    "ethtool": "ethtool",
    "sysctl": "procps",
}
"""What it is made with, and the Debian package of each."""
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
PATIENCE_S = 20.0
CONTROL, DATA = "c0", ("d0", "d1")
"""Interfaces of the switch; those of the tester have a ``t`` in front."""


def check() -> None:
    """Refuse where it can't be made."""
    for name, package in PROGRAMS.items():
        if shutil.which(name) is None:
            raise TwinplaneError(f"openflow: sut=ovs: {name} is missing (package {package})")
    if not SCHEMA.exists():
        raise TwinplaneError(f"openflow: sut=ovs: {SCHEMA} is missing (package openvswitch-switch)")
    if os.geteuid() != 0:
        raise TwinplaneError("openflow: sut=ovs: only root makes network namespaces")


def namespaces() -> tuple[str, str]:
    """Of the switch and of the tester: names that no other process has."""
    return f"tp-of-{os.getpid()}-s", f"tp-of-{os.getpid()}-t"


def _do(*words: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise TwinplaneError(f"openflow: sut=ovs: {' '.join(words)}: {said[-1] if said else 'it failed'}")


def _link(switch: str, tester: str, name: str) -> None:
    _do(
        "ip",
        "link",
        "add",
        name,
        "netns",
        switch,
        "type",
        "veth",
        "peer",
        "name",
        f"t{name}",
        "netns",
        tester,
    )
    for netns, interface in ((switch, name), (tester, f"t{name}")):
        inside = ("ip", "netns", "exec", netns)
        _do(*inside, "sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1")
        # Segments that the kernel has not summed up would be malformed on a wire.
        _do(*inside, "ethtool", "-K", interface, "tx", "off", "rx", "off")
        _do("ip", "-n", netns, "link", "set", interface, "up")


@contextmanager
def open_vswitch(controller: str, address: str) -> Iterator[None]:
    """Runs one as long as the block lasts: version 1.0, ports 1 and 2, and its controller out of band."""
    switch, tester = namespaces()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="tp-of-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name in (switch, tester):
            _do("ip", "netns", "add", name)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False, capture_output=True)
        for interface in (CONTROL, *DATA):
            _link(switch, tester, interface)
        _do("ip", "-n", switch, "addr", "add", address, "dev", CONTROL)
        places = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")
        env = {**os.environ, **dict.fromkeys(places, str(folder))}
        inside = ("ip", "netns", "exec", switch)
        base, socket = folder / "conf.db", folder / "db.sock"
        _do("ovsdb-tool", "create", str(base), str(SCHEMA), env=env)
        server = ("ovsdb-server", str(base), f"--remote=punix:{socket}", f"--unixctl={folder}/db.ctl")
        _start(stack, [*inside, *server], env, folder)
        until = time.monotonic() + PATIENCE_S
        while not socket.exists():
            if time.monotonic() > until:
                raise TwinplaneError("openflow: sut=ovs: ovsdb-server does not come up")
            time.sleep(0.02)
        _start(stack, [*inside, "ovs-vswitchd", f"unix:{socket}", f"--unixctl={folder}/v.ctl"], env, folder)
        control = [*inside, "ovs-vsctl", f"--db=unix:{socket}", f"--timeout={PATIENCE_S:.0f}"]
        _do(*control, "--no-wait", "init", env=env)
        bridge = ["datapath_type=netdev", "protocols=OpenFlow10", "fail_mode=secure"]
        words = ["add-br", "br0", "--", "set", "bridge", "br0", *bridge]
        for number, port in enumerate(DATA, 1):
            words += [
                "--",
                "add-port",
                "br0",
                port,
                "--",
                "set",
                "interface",
                port,
                f"ofport_request={number}",
            ]
        words += ["--", "set-controller", "br0", controller, "--", "set", "controller", "br0"]
        words += ["connection_mode=out-of-band", "max_backoff=1000"]
        _do(*control, *words, env=env)
        yield


def _start(stack: ExitStack, words: list[str], env: dict[str, str], folder: Path) -> None:
    said = stack.enter_context((folder / "said").open("a"))
    process = subprocess.Popen(words, env=env, stdout=said, stderr=said)
    stack.callback(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
