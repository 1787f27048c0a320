"""A userspace Open vSwitch of its own in a network namespace, beside that of the tester."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import TwinplaneError
from . import bench
from .bench import DATA, PATIENCE_S, Bench

PACKAGE = "openvswitch-switch"
PROGRAMS = dict.fromkeys(("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool"), PACKAGE)
"""What it is made of, and the Debian package of each."""
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
PLACES = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")


def check() -> None:
    """Refuse where it can't be made."""
    bench.check("ovs", PROGRAMS)
    if not SCHEMA.exists():
        raise TwinplaneError(f"openflow: sut=ovs: {SCHEMA} is missing (package {PACKAGE})")


@contextmanager
def open_vswitch(controllers: Sequence[str], address: str, version: str = "OpenFlow10") -> Iterator[Bench]:
    """Runs one as long as the block lasts: ports 1 and 2, and its controllers out of band."""
    with bench.bench("ovs", address, PLACES) as made:
        base, socket = made.folder / "conf.db", made.folder / "db.sock"
        made.do("ovsdb-tool", "create", str(base), str(SCHEMA))
        server = (str(base), f"--remote=punix:{socket}", f"--unixctl={made.folder}/db.ctl")
        made.wait(socket.exists, made.start("ovsdb-server", *server), "ovsdb-server")
        made.start("ovs-vswitchd", f"unix:{socket}", f"--unixctl={made.folder}/v.ctl")
        control = [*made.inside, "ovs-vsctl", f"--db=unix:{socket}", f"--timeout={PATIENCE_S:.0f}"]
        made.do(*control, "--no-wait", "init")
        bridge = ["datapath_type=netdev", f"protocols={version}", "fail_mode=secure"]
        words = ["add-br", "br0", "--", "set", "bridge", "br0", *bridge]
        for number, port in enumerate(DATA, 1):
            asked = ["--", "set", "interface", port, f"ofport_request={number}"]
            words += ["--", "add-port", "br0", port, *asked]
        for place, controller in enumerate(controllers):
            settings = [f'target="{controller}"', "connection_mode=out-of-band", "max_backoff=1000"]
            words += ["--", f"--id=@c{place}", "create", "controller", *settings]
        known = ",".join(f"@c{place}" for place in range(len(controllers)))
        made.do(*control, *words, "--", "set", "bridge", "br0", f"controller=[{known}]")
        yield made
