"""Routers made of a kernel and somebody else's daemons: configurations, and labels that would be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConflictError
from ..model.places import of_node
from . import kinds
from .kinds import around as surroundings
from .kinds.around import Around, Bfd, Side
from .kinds.kernel_router import KernelRouter, read

if TYPE_CHECKING:
    from .plan import Interface, Member, Plan

MPLS = Path("/proc/sys/net/mpls")
"""There if the kernel forwards by labels."""


def configure(plan: Plan, planned: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Give each such router its configuration; what its kernel could not do is a warning.

    `planned` is what the core has planned for each node.
    """
    warnings: list[str] = []
    ids = {str(one["name"]): str(one["loopback"]) for one in planned}
    for member, found in zip(plan.members.values(), planned, strict=True):
        kind = kinds.of(member.kind)
        if not isinstance(kind, KernelRouter):
            continue
        given = plan.lowered.extras.nodes.get(member.name)
        member.config_file = getattr(given, "config", None)
        about = around(plan, member, found["kernel"], planned)
        try:
            made = kind.made(about) if member.config_file is None else read(plan, member, member.config_file)
        except ConflictError as error:
            raise plan.lowered.error(of_node(member.name, str(error))) from None
        member.config = made
        member.expected = [
            {"protocol": protocol, "interface": side.name, "far": side.far}
            for side in about.sides
            for protocol, spoken in (("OSPF", side.ospf), ("LDP", side.ldp))
            if spoken is not None and kind.speaks_protocol(protocol, made)
        ]
        speakers = [side.far for side in about.sides if side.ldp is not None]
        speakers += [name for name, one in ids.items() if one in about.targets]
        is_made = member.config_file is None
        if is_made and speakers and not kind.speaks_protocol("LDP", made):
            who = " and ".join(map(repr, dict.fromkeys(speakers)))
            words = f"{who} would speak LDP with it, and it does not: they exchange no labels"
            warnings.append(str(plan.lowered.error(of_node(member.name, words))))
        if not MPLS.exists():
            lost = lost_labels(about, kind, made)
            warnings += [str(plan.lowered.error(of_node(member.name, words))) for words in lost]
    return tuple(warnings)


def lost_labels(about: Around, kind: KernelRouter, config: str) -> list[str]:
    """Where a kernel without MPLS would have to forward labels, a sentence each."""
    without = f"and this kernel forwards none (no {MPLS}: modprobe mpls_router)"
    said = []
    if kind.speaks_protocol("LDP", config):
        speakers = [side.far for side in about.sides if side.ldp is not None]
        beyond = [side.far for side in about.sides if side.is_transit]
        if speakers and len(beyond) > 1:
            others = [far for far in beyond if far != speakers[0]]
            said.append(
                f"packets from '{speakers[0]}' to what is behind {' and '.join(map(repr, others))} come with"
                f" labels of LDP, {without}: they are lost; leave ldp out at its neighbours"
            )
        if kind.asks_for_explicit_null(config):
            said.append(
                f"its LDP asks for the label explicit null, {without}: leave implicit null, the usual"
            )
    labelled = [peer.name for peer in about.peers if any("labelled" in one for one in peer.families)]
    if labelled:
        said.append(
            f"packets to what is behind {' and '.join(map(repr, labelled))} may need labels of BGP,"
            f" {without}: they are lost; give `families` without labels there"
        )
    return said


def around(
    plan: Plan, member: Member, kernel: Mapping[str, Any], planned: Sequence[Mapping[str, Any]]
) -> Around:
    """What a router finds around it."""
    nodes = plan.description["nodes"]
    expected = {(one["link"], one["protocol"]): one for one in kernel["expected"]}
    led = any(said.get("ospf") is not None for said in nodes.values())
    ids = {str(one["name"]): str(one["loopback"]) for one in planned}
    sides, ends = [], []
    for end in member.interfaces:
        far = other(plan, end)
        ospf = ldp = None
        if (one := expected.get((end.link, "ospf"))) is not None:
            met = (nodes.get(one_beyond.node, {}).get("ospf") for one_beyond in beyond(plan, far))
            ospf = surroundings.ospf_of(one["agreed"], one["cost"], [said for said in met if said])
        elif led and isinstance(kinds.of(plan.members[far.node].kind), KernelRouter):
            # Nobody of ours says how; two of their kind take what is usual.
            ospf = surroundings.Ospf(cost=int(plan.description["links"][end.link].get("metric") or 1))
        if (end.link, "ldp") in expected:
            ldp = surroundings.ldp_of(nodes.get(far.node, {}).get("ldp"), ids.get(far.node, ""))
        is_transit = plan.members[far.node].kind not in ("host", "station", "edge")
        bfd = watched(plan, member, end, far)
        sides.append(Side(end.name, end.address, far.node, ospf, ldp, bfd, plain(far), is_transit, end.ipv6))
        ends += [(plain(end), one.node, plain(one)) for one in beyond(plan, far)]
    try:
        own = [end.ipv6.partition("/")[0] for end in member.interfaces if end.ipv6 is not None]
        asn, peers = surroundings.bgp_of(member.name, ends, own, nodes, ids)
    except ConflictError as error:
        if member.config_file is None:
            raise plan.lowered.error(of_node(member.name, str(error))) from None
        asn, peers = None, []
    routes = [(str(prefix), str(gateway)) for prefix, gateway in kernel["routes"]]
    links = surroundings.virtual_links_of(member.name, member.loopback, nodes, ids)
    targets = surroundings.targets_of(member.loopback, nodes, ids)
    return Around(member.name, member.loopback, sides, routes, asn, peers, links, targets)


def watched(plan: Plan, member: Member, end: Interface, far: Interface) -> Bfd | None:
    """How those at the other end of a link have this router watched: of several the closest counts."""
    nodes = plan.description["nodes"]
    found = []
    for one in beyond(plan, far):
        said = nodes.get(one.node, {})
        # Settings of single links go by the node at the other end: on a segment that is the segment.
        towards = member.name if one is far else far.node
        if (bfd := surroundings.bfd_of(said, surroundings.wishes(said, towards))) is not None:
            found.append(bfd)
    if len({(bfd.kind, bfd.key_id, bfd.key) for bfd in found}) > 1 and member.config_file is None:
        words = f"its neighbours on {far.node} authenticate BFD in different ways (config: FILE)"
        raise plan.lowered.error(of_node(member.name, words))
    return min(found, key=lambda bfd: bfd.interval_us * bfd.multiplier, default=None)


def other(plan: Plan, end: Interface) -> Interface:
    """The other end of a link."""
    return next(one for one in plan.links[end.link] if one is not end)


def beyond(plan: Plan, far: Interface) -> list[Interface]:
    """Who is met at the other end of a link: at a segment all of its members, behind other switches, too."""
    found, seen, ahead = [], {far.node}, [far]
    while ahead:
        end = ahead.pop()
        if not kinds.of(plan.members[end.node].kind).segment:
            found.append(end)
            continue
        others = [other(plan, own) for own in plan.members[end.node].interfaces]
        ahead += [one for one in reversed(others) if one.node not in seen]
        seen |= {one.node for one in others if kinds.of(plan.members[one.node].kind).segment}
    return found


def plain(end: Interface) -> str:
    """An address without the length of its prefix."""
    return end.address.partition("/")[0]
