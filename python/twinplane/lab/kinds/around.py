"""What a router that is not ours finds around it: what its configuration is made of where none is given."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import ConflictError
from ...units import span_ps

BACKBONE = "0.0.0.0"
"""The area of OSPF that joins all others."""

SEVERAL = ", then "
"""What is between several keys of OSPF, in the words of the core; here it stands for their kind, too."""


@dataclass(frozen=True)
class Ospf:
    """OSPF on a link, as the router at the other end has it."""

    area: str = BACKBONE
    area_kind: str = "normal"
    """What comes into the area from outside: normal, stub or nssa."""
    summaries: bool = True
    """Do networks of other areas come into an area of kind stub or nssa, too?"""
    opaque: bool = False
    """Are there opaque advertisements (RFC 5250), such as those of traffic engineering, to be passed on?"""
    hello_s: int = 10
    dead_s: int = 40
    broadcast: bool = False
    cost: int = 1
    kind: str = "none"
    """How packets are authenticated: none, simple, md5, sha1, sha256, ..., or SEVERAL."""
    key_id: int = 1
    key: str = ""


@dataclass(frozen=True)
class VirtualLink:
    """A virtual link of OSPF (RFC 2328, 15), as the router at the other end has it."""

    area: str
    """The area that it leads through."""
    router_id: str
    """The router at the other end."""
    hello_s: int = 10
    dead_s: int = 40
    kind: str = "none"
    """How packets are authenticated: none, simple, md5, sha1, sha256, ..., or SEVERAL."""
    key_id: int = 1
    key: str = ""


@dataclass(frozen=True)
class Bfd:
    """BFD with a neighbour, as that has it."""

    interval_us: int = 300_000
    receive_us: int = 300_000
    multiplier: int = 3
    kind: str = "none"
    """How packets are authenticated: none, simple, md5, sha1, or one of the latter two meticulous."""
    key_id: int = 1
    key: str = ""


@dataclass(frozen=True)
class Ldp:
    """LDP on a link, as the router at the other end has it."""

    hello_s: float = 5.0
    hold_s: int = 15
    password: str | None = None
    """What packets of its session are signed with."""
    router_id: str = ""
    """The router at the other end."""
    watched: bool = False
    """Does it have this router watched by BFD?"""


@dataclass(frozen=True)
class Side:
    """An interface."""

    name: str
    address: str
    far: str
    ospf: Ospf | None = None
    """None: nothing is spoken there, but its network is announced."""
    ldp: Ldp | None = None
    bfd: Bfd | None = None
    """With which neighbours on it are watched; None: they are not."""
    neighbor: str = ""
    """The neighbour's address, on a link between two."""
    is_transit: bool = True
    """May networks of others be behind it?"""
    ipv6: str | None = None
    """Its IPv6 address, if it has one."""


@dataclass(frozen=True)
class BgpPeer:
    """A router that names this one as its neighbour."""

    name: str
    address: str
    asn: int
    hold_s: int
    far: bool = False
    """Is it met by the addresses on `lo`?"""
    hops: int | None = None
    """Packets have to have come by so many at most (RFC 5082); both ends have to say so."""
    password: str | None = None
    """What packets of the session are signed with (RFC 2385)."""
    bfd: Bfd | None = None
    """None: the session is not watched."""
    families: tuple[str, ...] = ("ipv4",)
    """Of which routes are exchanged: ipv4, ipv6, ipv4-labelled, ipv6-labelled."""


@dataclass(frozen=True)
class Area:
    """An area of OSPF."""

    kind: str
    """What comes in from outside: normal, stub or nssa."""
    summaries: bool
    """Do networks of other areas come into an area of kind stub or nssa, too?"""


@dataclass(frozen=True)
class Around:
    """A router that is not ours, and what is around it."""

    name: str
    router_id: str
    sides: list[Side]
    routes: list[tuple[str, str]]
    """Prefix and gateway."""
    asn: int | None = None
    peers: list[BgpPeer] = field(default_factory=list)
    virtual_links: list[VirtualLink] = field(default_factory=list)
    targets: dict[str, str | None] = field(default_factory=dict)
    """Routers further away that want a session of LDP with it, and what its packets are signed with."""

    def areas(self) -> dict[str, Area]:
        """The areas of OSPF that it is in; neighbours that do not agree on one are refused."""
        found: dict[str, Area] = {}
        first: dict[str, str] = {}
        for side in self.sides:
            if (ospf := side.ospf) is None:
                continue
            known = found.get(ospf.area, Area(ospf.area_kind, True))
            if known.kind != ospf.area_kind:
                raise ConflictError(
                    f"area {ospf.area} of OSPF is {known.kind} at '{first[ospf.area]}' and"
                    f" {ospf.area_kind} at '{side.far}'"
                )
            first.setdefault(ospf.area, side.far)
            found[ospf.area] = Area(known.kind, known.summaries and ospf.summaries)
        for link in self.virtual_links:
            if link.area not in found:
                raise ConflictError(
                    f"a virtual link of OSPF with {link.router_id} leads through area {link.area},"
                    " and none of its links is in it"
                )
        return found

    def towards(self, neighbor: str) -> str:
        """Its own address on the link that a neighbour's address is on."""
        side = self.side_of(neighbor)
        return self.router_id if side is None else str(ipaddress.ip_interface(side.address).ip)

    def side_of(self, neighbor: str) -> Side | None:
        """The interface on whose link a neighbour's address is; nothing if that is further away."""
        there = ipaddress.ip_address(neighbor)
        ends = ((side, ipaddress.ip_interface(side.address).network) for side in self.sides)
        return next((side for side, network in ends if there in network), None)

    @property
    def opaque(self) -> bool:
        """Does a neighbour tell opaque advertisements by OSPF?"""
        return any(side.ospf is not None and side.ospf.opaque for side in self.sides)

    def home(self) -> str | None:
        """The area that its own address and networks without neighbours are announced in."""
        areas = list(self.areas())
        return BACKBONE if BACKBONE in areas else areas[0] if areas else None


def ospf_of(agreed: Mapping[str, str], cost: int | None, said: Iterable[Mapping[str, Any]]) -> Ospf:
    """From what both ends have to agree on, in the words of the core.

    `said` is what those at the other end say of OSPF.
    """
    way = agreed.get("authentication", "none")
    kind, _, rest = (SEVERAL, "", "") if SEVERAL in way else way.partition(" with key ")
    neighbors, area = list(said), agreed["area"]
    return Ospf(
        area=area,
        area_kind=agreed.get("kind of area", "normal"),
        summaries=all(
            one.get("summaries", True)
            for neighbor in neighbors
            for one in neighbor.get("areas", [])
            if area_of(one["area"]) == area
        ),
        opaque=any(neighbor.get("te") for neighbor in neighbors),
        hello_s=_seconds(agreed["hello interval"]),
        dead_s=_seconds(agreed["dead interval"]),
        broadcast=agreed["kind of network"] == "broadcast",
        cost=1 if cost is None else cost,
        kind=kind,
        key_id=int(rest) if rest else 1,
        key=agreed.get("secret of the key", ""),
    )


def _only_key(auth: Mapping[str, Any]) -> Mapping[str, Any]:
    """Authentication as if there were no lists of keys: that of several is of kind SEVERAL."""
    keys: list[Mapping[str, Any]] = auth.get("keys") or []
    if len(keys) > 1:
        return {"kind": SEVERAL}
    return keys[0] if keys else auth


def refuse_several(kind: str) -> None:
    """Authentication that no configuration is made for: its keys change at times of the lab."""
    if kind == SEVERAL:
        raise ConflictError(
            "its neighbour has several OSPF keys (keys), and a configuration that is made here has one:"
            " give one key there, or a configuration of its own (config: FILE)"
        )


def area_of(said: Any) -> str:
    """The number of an area, which a description may give as a whole number, as an address."""
    return str(ipaddress.IPv4Address(int(said) if str(said).isdigit() else str(said)))


def virtual_links_of(
    name: str, own: str, nodes: Mapping[str, Any], ids: Mapping[str, str]
) -> list[VirtualLink]:
    """The virtual links that routers want with one of this name and router id.

    `ids` are the addresses of all nodes, which are their router ids if they say no other.
    """
    found = []
    for other, said in nodes.items():
        ospf = said.get("ospf") or {}
        for link in ospf.get("virtual_links", []):
            if link["router"] not in (name, own):
                continue
            auth = _only_key(link.get("authentication") or {})
            hello = round(seconds(link.get("hello_interval") or "10 s"))
            dead = link.get("dead_interval")
            found.append(
                VirtualLink(
                    area_of(link["area"]),
                    str(ospf.get("router_id") or ids[other]),
                    hello,
                    4 * hello if dead is None else round(seconds(dead)),
                    str(auth.get("kind", "none")),
                    int(auth.get("key_id", 1)),
                    str(auth.get("key") or ""),
                )
            )
    return found


def targets_of(own: str, nodes: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, str | None]:
    """The routers that want a session of LDP with this one from further away, and their passwords."""
    spoken = {other: said["ldp"] for other, said in nodes.items() if said.get("ldp")}
    return {
        ids[other]: ldp.get("password")
        for other, ldp in spoken.items()
        if own in map(str, ldp.get("targets", []))
    }


def _seconds(words: str) -> int:
    return int(words.removesuffix(" s"))


def ldp_of(said: Mapping[str, Any] | None, router_id: str = "") -> Ldp:
    """From what the description says of LDP at the other end."""
    if said is None:
        return Ldp()
    hello, hold = seconds(said["hello_interval"]), round(seconds(said["hold_time"]))
    return Ldp(hello, hold, said.get("password"), router_id, bool(said.get("bfd")))


def wishes(node: Mapping[str, Any], name: str) -> list[Any]:
    """How closely OSPF and LDP of a router have the node of this name watched, as far as they do."""
    ospf, ldp = (node.get(protocol) or {} for protocol in ("ospf", "ldp"))
    own = (ospf.get("interfaces") or {}).get(name, {}).get("bfd")
    return [one for one in (ospf.get("bfd") if own is None else own, ldp.get("bfd")) if one]


def bfd_of(node: Mapping[str, Any], wished: Iterable[Any]) -> Bfd | None:
    """From what a router says of BFD, and how closely its protocols want a neighbour watched."""
    said = node.get("bfd") or {}
    usual, multiplier = said.get("interval", "300 ms"), int(said.get("multiplier", 3))
    auth = said.get("authentication") or {}
    found = []
    for wish in wished:
        pace = wish if isinstance(wish, Mapping) else {}
        interval = pace.get("interval")
        send = microseconds(usual if interval is None else interval)
        receive = said.get("receive_interval") if interval is None else None
        often = pace.get("multiplier")
        found.append(
            Bfd(
                send,
                send if receive is None else microseconds(receive),
                multiplier if often is None else int(often),
                str(auth.get("kind", "none")),
                int(auth.get("key_id", 1)),
                str(auth.get("key") or ""),
            )
        )
    return min(found, key=lambda one: one.interval_us * one.multiplier, default=None)


def microseconds(span: Any) -> int:
    """A time of a description."""
    return span_ps(span) // 10**6


def seconds(span: Any) -> float:
    """A time of a description."""
    return span_ps(span) / 1e12


def bgp_of(
    name: str,
    ends: list[tuple[str, str, str]],
    own: Collection[str],
    nodes: Mapping[str, Any],
    ids: Mapping[str, str],
) -> tuple[int | None, list[BgpPeer]]:
    """The AS that neighbours expect a router in, and who they are.

    `ends` are the router's address, the other end and its address, for each link; `own` are its IPv6
    addresses, and `ids` are the addresses of all nodes on `lo`.
    """
    numbers: dict[int, str] = {}
    peers = []
    for other, said in nodes.items():
        bgp = said.get("bgp")
        for named, neighbor in (bgp or {}).get("neighbors", {}).items():
            if any(_address(named) == _address(one) for one in own):
                raise ConflictError(
                    f"'{other}' has it as a neighbour of BGP by {named}, and it is set up to meet neighbours"
                    " by IPv4 alone: name it there, or give a configuration of its own (config: FILE)"
                )
            links = [
                address
                for mine, far, address in ends
                if far == other and (named == name or ipaddress.ip_address(mine) == _address(named))
            ]
            is_far = _address(named) == ipaddress.ip_address(ids[name])
            if not links and not is_far:
                continue
            numbers.setdefault(int(neighbor["asn"]), other)
            hold = round(seconds(bgp["hold_time"]))
            address, hops = ids[other] if is_far else links[0], neighbor.get("ttl_security")
            wished = [neighbor["bfd"]] if neighbor.get("bfd") else []
            password, bfd = neighbor.get("password"), bfd_of(said, wished)
            families = tuple(neighbor.get("families") or ("ipv4",))
            peers.append(
                BgpPeer(other, address, int(bgp["asn"]), hold, is_far, hops, password, bfd, families)
            )
    if len(numbers) > 1:
        (one, first), (two, second) = list(numbers.items())[:2]
        raise ConflictError(
            f"'{first}' expects it in AS {one} and '{second}' in AS {two}: a configuration of its own could"
            " be both (config: FILE)"
        )
    return next(iter(numbers), None), peers


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
