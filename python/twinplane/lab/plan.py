"""What has to be made for a lab: namespaces, links, addresses, processes. Nothing is made here."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import core
from ..errors import TwinplaneError
from ..model import generated as model
from ..model import network_file
from ..model.places import of_link, of_node
from ..network.lowering import Lowered
from ..units import span_ps
from . import kernels, kinds
from .netns import NETNS


@dataclass
class Interface:
    """One end of a link."""

    node: str
    link: int
    name: str
    mac: str
    address: str
    mtu: int
    driver: str
    offload: bool
    ipv6: str | None = None
    slaac: bool = False
    """Does a host make its IPv6 address of what a router advertises?"""
    longer: int = 0
    """Bytes that a frame of the link's medium has more than one of Ethernet."""

    @property
    def interface_mtu(self) -> int:
        """What the kernel has to let through behind 14 bytes: the longest packet in a frame of the medium."""
        return self.mtu + self.longer


@dataclass
class Member:
    """A node, as the lab makes it."""

    name: str
    kind: str
    namespace: str | None
    interfaces: list[Interface] = field(default_factory=list)
    gateway: str | None = None
    gateway6: str | None = None
    exec: list[str] = field(default_factory=list)
    record: str | None = None
    cpu: int | None = None
    busy: bool = False
    ageing_ps: int | None = None
    """Of a bridge: how long it remembers a silent station, if that was said."""
    plane: int | None = None
    """Of a router whose forwarding plane is a switch: the port of TCP where it waits for it."""
    loopback: str = ""
    config: str = ""
    """Of a router of somebody else: the configuration, as it was given or made."""
    config_file: str | None = None
    """The file that it was read from."""
    expected: list[dict[str, str]] = field(default_factory=list)
    """Of such a router: by which `protocol` at which `interface` it should meet whom (`far`)."""


@dataclass
class Plan:
    """A lab."""

    name: str
    description: dict[str, Any]
    members: dict[str, Member]
    links: list[tuple[Interface, Interface]]
    file: str | None
    lowered: Lowered
    warnings: tuple[str, ...] = ()
    """What is surprising though it can be made, with its line in a file."""

    def of_kind(self, *kinds: str) -> list[Member]:
        """The nodes of a kind, or of several."""
        return [member for member in self.members.values() if member.kind in kinds]

    def namespaces(self) -> list[str]:
        """All that are made."""
        return [member.namespace for member in self.members.values() if member.namespace]

    def placement(self, local: list[str], host_namespace: str | None, epoch_ns: int | None) -> dict[str, Any]:
        """Which interfaces the process has that runs these nodes."""
        ports = [
            {
                "node": end.node,
                "link": end.link,
                "interface": other.name if outside else end.name,
                "netns": host_namespace if outside else str(NETNS / str(self.members[end.node].namespace)),
                "driver": end.driver,
                "offload": end.offload,
            }
            for pair in self.links
            for end, other in (pair, pair[::-1])
            if end.node in local
            for outside in [kinds.of(self.members[other.node].kind).outside]
        ]
        member = self.members[local[0]]
        return {
            "local": local,
            "ports": ports,
            "epoch_ns": epoch_ns,
            "incarnation": 0,
            "busy": member.busy,
            "cpu": member.cpu,
        }


def plan(lowered: Lowered, name: str | None = None, measured: frozenset[str] = frozenset()) -> Plan:
    """Plan a lab. The core checks its description and plans its addresses.

    `name` is another one than the file's; `measured` are hosts that are in the measuring process.
    """
    if name is not None:
        lowered = replace(lowered, name=name)
    try:
        planned, found = core.plan(lowered.description)
    except TwinplaneError as error:
        raise lowered.error(error) from None
    explained = (str(lowered.network.explain(warning)) for warning in found)
    warnings = tuple(dict.fromkeys((*lowered.network.draft.asides, *explained)))
    members: dict[str, Member] = {}
    for index, (node, said) in enumerate(lowered.description["nodes"].items()):
        member = _member(lowered, node, said, measured)
        # A segment has no address: it is called by its prefix.
        member.loopback = str(
            said["prefix"] if kinds.of(member.kind).segment else planned["nodes"][index]["loopback"]
        )
        members[member.name] = member
    links: list[tuple[Interface, Interface]] = []
    for index, info in enumerate(planned["links"]):
        pair = [_interface(lowered, index, info, side) for side in (0, 1)]
        for end in pair:
            members[end.node].interfaces.append(end)
        links.append((pair[0], pair[1]))
    for member in members.values():
        kinds.of(member.kind).offload(member, links)
    for pair2 in links:
        for host, router in (pair2, pair2[::-1]):
            if members[host.node].kind == "host":
                far = ipaddress.IPv4Interface(router.address)
                # The end at a segment without routers has the address of the network, which is nobody's.
                members[host.node].gateway = None if far.ip == far.network.network_address else str(far.ip)
                if router.ipv6 is not None and not host.slaac:
                    members[host.node].gateway6 = router.ipv6.partition("/")[0]
    file = None if lowered.source is None else str(lowered.source.path.resolve())
    # What is measured is in the measuring process: routers have nothing to do with it.
    described = {**lowered.description, "flows": [], "tcp": []}
    made = Plan(lowered.name, described, members, links, file, lowered, warnings)
    _check_mtus(made)
    made.warnings += kernels.configure(made, planned["nodes"])
    return made


def _member(lowered: Lowered, name: str, node: dict[str, Any], measured: frozenset[str]) -> Member:
    if not network_file.is_name(name):
        words = "in a lab a name has up to 32 letters, digits, '-', '_' and '.'"
        raise lowered.error(of_node(name, words))
    given = lowered.extras.nodes.get(name)
    if not kinds.is_made(node["kind"]):
        words = f"a lab has no node of kind '{node['kind']}': run it in virtual time or in one process"
        raise lowered.error(of_node(name, words))
    kind = kinds.MADE_AS.get(node["kind"], node["kind"])
    if kind == "host" and (node.get("address") is None or name in measured):
        kind = "station"
    member = Member(name, kind, None if kinds.of(kind).outside else f"tp-{lowered.name}-{name}")
    if isinstance(given, model.HostSpec) and kind == "host":
        member.exec = list(given.exec)
    if kind == "bridge" and node.get("ageing") is not None:
        member.ageing_ps = span_ps(node["ageing"])
    member.plane = _plane(node.get("table_driver"))
    if isinstance(given, model.RouterSpec):
        member.cpu, member.busy = given.cpu, given.busy
        if given.record is not None:
            base = Path.cwd() if lowered.source is None else lowered.source.path.resolve().parent
            member.record = str(base / given.record)
            if not Path(member.record).parent.is_dir():
                words = f"record: there is no folder {Path(member.record).parent}"
                raise lowered.error(of_node(name, words))
    return member


def _plane(driver: str | dict[str, Any] | None) -> int | None:
    """Where a driver of tables waits for a switch, if it is one that does."""
    if driver == "openflow":
        driver = {"openflow": {}}
    if isinstance(driver, dict) and "openflow" in driver:
        return int((driver["openflow"] or {}).get("listen", model.OpenFlowSpec.listen))
    return None


def _interface(lowered: Lowered, index: int, info: dict[str, Any], side: int) -> Interface:
    end = lowered.extras.ends[index][side]
    given = lowered.extras.nodes.get(end.node)
    driver = lowered.extras.drivers[index]
    offload: bool | None = None
    if isinstance(given, model.RouterSpec | model.EdgeSpec | model.StationSpec):
        driver = driver or given.driver
    if isinstance(given, model.RouterSpec):
        offload = given.offload
    driver = driver or "packet"
    if offload and driver == "xdp":
        words = "offload: frames that AF_XDP gives have no such marks: driver packet has"
        raise lowered.error(of_node(end.node, words))
    return Interface(
        end.node,
        index,
        end.interface,
        str(info["macs"][side]),
        str(info["addresses"][side]),
        int(info["mtu"]),
        driver,
        driver == "packet" if offload is None else offload,
        None if info["ipv6"] is None else str(info["ipv6"][side]),
        slaac=_is_advertised(lowered.description["links"][index], info["ipv6"]),
        longer=int(info["longer"]),
    )


def _is_advertised(link: dict[str, Any], ipv6: list[str] | None) -> bool:
    """May hosts make addresses of the link's prefix? They do of 64 bits (RFC 4862, 5.5.3; RFC 2464, 4)."""
    said = link.get("advertise")
    return said is not None and said.get("autonomous", True) and ipv6 is not None and ipv6[0].endswith("/64")


def _check_mtus(made: Plan) -> None:
    """Packets that hosts send have to fit with the label that an LSP gives them."""
    longest: dict[ipaddress.IPv4Network, tuple[str, int]] = {}
    for member in made.of_kind("host"):
        end = member.interfaces[0]
        longest[ipaddress.IPv4Interface(end.address).network] = (member.name, end.mtu)
    for pair in made.links:
        ends = (pair[0].node, pair[1].node)
        for end in pair:
            if (
                end.driver == "xdp"
                and not kinds.of(made.members[end.node].kind).outside
                and end.mtu > network_file.MTU_XDP
            ):
                words = f"mtu={end.mtu}: with driver xdp a packet has at most {network_file.MTU_XDP} bytes"
                raise made.lowered.error(of_link(end.link, ends, words))
        if any(made.members[end.node].kind == "host" for end in pair):
            continue
        routers = [end for end in pair if made.members[end.node].kind == "router"]
        if len(routers) == 2 and longest:
            host, most = max(longest.values(), key=lambda found: found[1])
            if _carries(made) and pair[0].mtu < most + 4:
                words = (
                    f"mtu={pair[0].mtu} is too small: packets of '{host}' have up to {most} bytes,"
                    f" and a label needs 4 more ({most + 4}, or a smaller mtu of the host)"
                )
                raise made.lowered.error(of_link(pair[0].link, ends, words))


def _carries(made: Plan) -> bool:
    return any(lsp.get("carries") or lsp.get("filters") for lsp in made.description["lsps"])
