"""An Open vSwitch of a lab's node: database, daemon and one bridge with the userspace datapath."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from . import daemons
from .apart import Problem

if TYPE_CHECKING:
    from .apart import View
    from .plan import Interface, Member, Plan
    from .starting import Starting
    from .state import State

PACKAGE = "openvswitch-switch"
PROGRAMS = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
BRIDGE = "br0"
DATABASE, DAEMON = "ovsdb-server", "ovs-vswitchd"
"""The names of its processes among the daemons of a node."""


@dataclass(frozen=True)
class Bridge:
    """What its bridge is."""

    ports: list[str]
    """Interfaces; the first has the number 1."""
    controllers: list[str]
    protocols: list[str]
    fail_mode: str = "secure"
    datapath_id: int | None = None
    tls: dict[str, str] | None = None
    """Files: `private_key`, `certificate` and `ca_cert`."""

    def words(self) -> list[str]:
        """The commands of ovs-vsctl that make it."""
        words = [] if self.tls is None else ["set-ssl", *(self.tls[key] for key in TLS), "--"]
        words += ["add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev"]
        words += [f"protocols={','.join(self.protocols)}", f"fail_mode={self.fail_mode}"]
        # What the kernel's address in the namespace is reached by is none of its ports.
        words.append("other_config:disable-in-band=true")
        if self.datapath_id is not None:
            words.append(f"other_config:datapath-id={self.datapath_id:016x}")
        for number, port in enumerate(self.ports, 1):
            words += ["--", "add-port", BRIDGE, port]
            words += ["--", "set", "interface", port, f"ofport_request={number}"]
        for place, controller in enumerate(self.controllers):
            settings = [f'target="{controller}"', "connection_mode=out-of-band", "max_backoff=1000"]
            words += ["--", f"--id=@c{place}", "create", "controller", *settings]
        known = ",".join(f"@c{place}" for place in range(len(self.controllers)))
        return [*words, "--", "set", "bridge", BRIDGE, f"controller=[{known}]"]


def finished(member: Member, links: list[tuple[Interface, Interface]]) -> None:
    """Have frames on the links of a node finished by who sends them: actions change what they hold."""
    for own in member.interfaces:
        for end in links[own.link]:
            end.offload = False


TLS = ("private_key", "certificate", "ca_cert")


def check(plan: Plan, member: Member) -> None:
    """Refuse a node for which its programs are missing here."""
    daemons.require(plan, member, list(PROGRAMS), "root", PACKAGE)
    if not SCHEMA.exists():
        where = f"lab '{plan.name}': node '{member.name}'"
        raise TwinplaneError(f"{where}: {SCHEMA} is missing: apt install {PACKAGE}")


def keep(state: State, node: str, bridge: Bridge) -> None:
    """Write down what it is, for later lives."""
    daemons.write(_kept(state, node), _json(bridge), "root")


def has(state: State, node: str) -> bool:
    """Does a node have one?"""
    return _kept(state, node).exists()


def begin(starting: Starting, node: str) -> None:
    """Start it with an empty database and no entry; it finds its controllers when it is ready."""
    state = starting.state
    bridge = _read(_kept(state, node))
    folder = daemons.make_folder(state, node, "root")
    base, socket = folder / "conf.db", folder / "db.sock"
    done = daemons.ask([_program("ovsdb-tool"), "create", str(base), str(SCHEMA)])
    if done.returncode != 0:
        raise TwinplaneError(f"lab '{state.name}': node '{node}': ovsdb-tool: {_last(done.stderr)}")
    server = [str(base), f"--remote=punix:{socket}", f"--unixctl={folder}/db.ctl"]
    database = daemons.run(state, node, DATABASE, [*_inside(folder), _program(DATABASE), *server, *QUIET])

    def rest(limit: float) -> None:
        daemons.wait(state, node, DATABASE, database, limit, socket.exists)
        _tell(state, node, ["--no-wait", "init"])
        _daemon(state, node, limit)
        _tell(state, node, bridge.words())

    starting.later(rest)


def begin_daemon(starting: Starting, node: str) -> None:
    """Start the daemon alone: its database has its bridge, and the entries are lost."""

    state = starting.state
    management = state.runtime(node) / f"{BRIDGE}.mgmt"

    def rest(limit: float) -> None:
        management.unlink(missing_ok=True)  # of the one that was killed
        child = _daemon(state, node, limit)
        daemons.wait(state, node, DAEMON, child, limit, management.exists)

    starting.later(rest)


def environment(state: State, node: str) -> dict[str, str]:
    """Where its tools find it."""
    folder = str(state.runtime(node))
    return {name: folder for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")}


def look(lab: View, node: str, entry: dict[str, Any]) -> list[Problem]:
    """Its daemons, and controllers that it does not reach."""
    known = lab.state.node(node).daemons
    entry["daemons"] = [
        {"daemon": name, "pid": process.pid if process.alive() else None} for name, process in known.items()
    ]
    if entry["state"] != "up":
        return []
    lost = unreached(lab.state, node)
    return [Problem(f"{entry['kind']} {node} has no controller at {target}", why) for target, why in lost]


def unreached(state: State, node: str) -> list[tuple[str, str]]:
    """Controllers that it connects to and is not connected to, and what it says of them."""
    socket = state.runtime(node) / "db.sock"
    asked = ["--format=json", "--columns=target,is_connected,status", "list", "controller"]
    done = daemons.ask([_program("ovs-vsctl"), f"--db=unix:{socket}", "--timeout=5", *asked])
    if done.returncode != 0:
        return [("any address", _last(done.stderr))]
    found = []
    for target, is_connected, status in json.loads(done.stdout)["data"]:
        told = dict(status[1])
        if not is_connected and not target.startswith(("ptcp:", "pssl:")):
            found.append((target, told.get("last_error", "") or f"it is {told.get('state', 'idle').lower()}"))
    return found


QUIET = ["-vconsole:warn", "-vsyslog:off", "-vfile:off"]


def _daemon(state: State, node: str, limit: float) -> subprocess.Popen[bytes]:
    folder = state.runtime(node)
    # ovs-appctl finds it by the file of its number.
    words = [_program(DAEMON), f"unix:{folder}/db.sock", f"--pidfile={folder}/{DAEMON}.pid", *QUIET]
    child = daemons.run(state, node, DAEMON, [*_inside(folder), *words])
    control = folder / f"{DAEMON}.{child.pid}.ctl"
    daemons.wait(state, node, DAEMON, child, limit, control.exists)
    return child


def _tell(state: State, node: str, words: list[str]) -> None:
    socket = state.runtime(node) / "db.sock"
    done = daemons.ask([_program("ovs-vsctl"), f"--db=unix:{socket}", "--timeout=20", *words], 30.0)
    if done.returncode != 0:
        raise TwinplaneError(f"lab '{state.name}': node '{node}': ovs-vsctl: {_last(done.stderr)}")


def _inside(folder: Path) -> list[str]:
    """The environment of a daemon, whose sockets have names of their own there."""
    return ["env", *(f"{name}={folder}" for name in ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR"))]


def _program(name: str) -> str:
    return daemons.find(name) or name


def _kept(state: State, node: str) -> Path:
    return state.folder / "nodes" / f"{node}.ovs.json"


def _json(bridge: Bridge) -> str:
    return json.dumps(asdict(bridge))


def _read(path: Path) -> Bridge:
    found: dict[str, Any] = json.loads(path.read_text())
    return Bridge(**found)


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it failed"
