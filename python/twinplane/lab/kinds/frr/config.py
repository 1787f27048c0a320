"""The configuration of a router of FRR, made of what its neighbours expect of it."""

from __future__ import annotations

from collections.abc import Iterator

from ....errors import ConflictError
from ..around import Around, Bfd, BgpPeer, Ospf, Side, VirtualLink, refuse_several

FAMILIES = {
    "ipv4": "ipv4 unicast",
    "ipv6": "ipv6 unicast",
    "ipv4-labelled": "ipv4 labeled-unicast",
    "ipv6-labelled": "ipv6 labeled-unicast",
}
"""Families of BGP, in the words of FRR."""


def text(around: Around) -> str:
    """An integrated configuration, as `frr.conf` has it."""
    blocks = [["frr defaults traditional", f"hostname {around.name}"], _loopback(around)]
    blocks += [_interface(side, around) for side in around.sides]
    blocks += [_ospf(around), _ldp(around), _bgp(around), _bfd(around)]
    blocks.append([f"ip route {prefix} {gateway}" for prefix, gateway in around.routes])
    return "".join("\n".join(block) + "\n!\n" for block in blocks if block)


def _loopback(around: Around) -> list[str]:
    area = around.home()
    announced = [] if area is None else [f" ip ospf area {area}"]
    return ["interface lo", f" ip address {around.router_id}/32", *announced, "exit"]


def _interface(side: Side, around: Around) -> list[str]:
    lines = [f"interface {side.name}", f" description to {side.far}", f" ip address {side.address}"]
    if side.ospf is not None:
        lines += _spoken(side.ospf)
        if side.bfd is not None:
            lines += [" ip ospf bfd", f" ip ospf bfd profile {side.name}"]
    elif (area := around.home()) is not None:
        lines += [f" ip ospf area {area}", " ip ospf passive"]
    return [*lines, "exit"]


def _spoken(ospf: Ospf) -> Iterator[str]:
    yield f" ip ospf area {ospf.area}"
    yield f" ip ospf network {'broadcast' if ospf.broadcast else 'point-to-point'}"
    yield f" ip ospf hello-interval {ospf.hello_s}"
    yield f" ip ospf dead-interval {ospf.dead_s}"
    yield f" ip ospf cost {ospf.cost}"
    yield from _authenticated(ospf, " ip ospf")


def _authenticated(spoken: Ospf | VirtualLink, lead: str) -> Iterator[str]:
    """By lines that begin so."""
    refuse_several(spoken.kind)
    if spoken.kind == "simple":
        yield f"{lead} authentication"
        yield f"{lead} authentication-key {_word(spoken.key)}"
    elif spoken.kind == "md5":
        if spoken.key_id == 0:
            raise ConflictError("its neighbour has an OSPF key of number 0, and FRR counts them from 1 on")
        yield f"{lead} authentication message-digest"
        yield f"{lead} message-digest-key {spoken.key_id} md5 {_word(spoken.key)}"
    elif spoken.kind != "none":
        raise ConflictError(
            f"its neighbour authenticates OSPF by {spoken.kind}, and FRR here by md5 or a simple password"
            " only (kind: bird knows it, or a configuration of its own: config: FILE)"
        )


def _word(password: str) -> str:
    """A password as a line of FRR's has it."""
    if any(letter.isspace() for letter in password):
        raise ConflictError(
            "the password of its neighbour has a space, which FRR takes for its end (kind: bird knows it)"
        )
    return password


def _ospf(around: Around) -> list[str]:
    areas = around.areas()
    if not areas:
        return []
    lines = ["router ospf", f" ospf router-id {around.router_id}"]
    if around.opaque:
        lines.append(" capability opaque")
    lines += [
        f" area {area} {how.kind}{'' if how.summaries else ' no-summary'}"
        for area, how in areas.items()
        if how.kind != "normal"
    ]
    for link in around.virtual_links:
        lead = f" area {link.area} virtual-link {link.router_id}"
        lines.append(f"{lead} hello-interval {link.hello_s} dead-interval {link.dead_s}")
        lines += _authenticated(link, lead)
    return [*lines, "exit"]


def _ldp(around: Around) -> list[str]:
    spoken = [side for side in around.sides if side.ldp is not None]
    if not spoken and not around.targets:
        return []
    timers = [side.ldp for side in spoken if side.ldp is not None]
    lines = ["mpls ldp", f" router-id {around.router_id}"]
    if timers:
        hello, hold = min(one.hello_s for one in timers), min(one.hold_s for one in timers)
        # FRR counts whole seconds; of the time that a neighbour is kept the smaller holds (RFC 5036, 3.5.2).
        lines += [f" discovery hello interval {max(1, int(hello))}", f" discovery hello holdtime {hold}"]
    keys = around.targets | {one.router_id: one.password for one in timers}
    lines += [
        f" neighbor {router} password {_word(password)}"
        for router, password in keys.items()
        if password is not None
    ]
    lines += [" address-family ipv4", f"  discovery transport-address {around.router_id}"]
    lines += [f"  neighbor {router} targeted" for router in around.targets]
    for side in spoken:
        lines += [f"  interface {side.name}", "  exit"]
    return [*lines, " exit-address-family", "exit"]


def _bgp(around: Around) -> list[str]:
    if around.asn is None:
        return []
    for peer in around.peers:
        side = None if peer.far else around.side_of(peer.address)
        if "ipv6-labelled" in peer.families and side is not None and side.ipv6 is not None:
            raise ConflictError(
                f"'{peer.name}' has family ipv6-labelled of BGP, and on a link with IPv6 addresses FRR tells"
                " such routes by an IPv6 next hop, where an IPv4 one is needed (RFC 4798): leave `ipv6` of"
                " the link out (kind: bird can do it, or a configuration of its own: config: FILE)"
            )
    lines = [f"router bgp {around.asn}", f" bgp router-id {around.router_id}", " no bgp ebgp-requires-policy"]
    for peer in around.peers:
        lines += [f" neighbor {peer.address} remote-as {peer.asn}"]
        lines += [f" neighbor {peer.address} description {peer.name}"]
        lines += [f" neighbor {peer.address} timers connect 2"]
        if peer.hold_s >= 3:
            lines += [f" neighbor {peer.address} timers {peer.hold_s // 3} {peer.hold_s}"]
        if peer.far:
            lines += [f" neighbor {peer.address} update-source lo"]
            if peer.asn != around.asn and peer.hops is None:
                lines += [f" neighbor {peer.address} ebgp-multihop"]
        if peer.hops is not None:
            lines += [f" neighbor {peer.address} ttl-security hops {peer.hops}"]
        if peer.password is not None:
            lines += [f" neighbor {peer.address} password {_word(peer.password)}"]
        if peer.bfd is not None:
            lines += [
                f" neighbor {peer.address} bfd",
                f" neighbor {peer.address} bfd profile {_of_peer(peer)}",
            ]
    # Labelled routes are told from the same tables as others.
    told = {"ipv4", *(family.removesuffix("-labelled") for peer in around.peers for family in peer.families)}
    is_labelled = any("ipv4-labelled" in peer.families for peer in around.peers)
    for family, words in FAMILIES.items():
        takers = [peer for peer in around.peers if family in peer.families]
        if family not in told and not takers:
            continue
        lines.append(f" address-family {words}")
        if family in told:
            lines.append("  redistribute connected")
        for peer in around.peers:
            if peer not in takers:
                lines += [f"  no neighbor {peer.address} activate"] if family == "ipv4" else []
                continue
            if family != "ipv4":
                lines.append(f"  neighbor {peer.address} activate")
            if peer.asn == around.asn:
                lines.append(f"  neighbor {peer.address} next-hop-self")
            if family == "ipv4" and is_labelled:
                lines.append(f"  neighbor {peer.address} route-map to-{peer.address} out")
        lines.append(" exit-address-family")
    lines.append("exit")
    # What came with labels FRR tells without a next hop to who takes none, if nobody sets one.
    for peer in around.peers:
        if is_labelled and "ipv4" in peer.families:
            own = around.router_id if peer.far else around.towards(peer.address)
            lines += [f"route-map to-{peer.address} permit 1", f" set ip next-hop {own}", "exit"]
    return lines


def _of_peer(peer: BgpPeer) -> str:
    return f"bgp-{peer.address}"


def _bfd(around: Around) -> list[str]:
    """A profile for each interface and each peer of BGP; for LDP, which asks for none here, a peer."""
    named = [(side.name, side.bfd) for side in around.sides if side.bfd is not None]
    named += [(_of_peer(peer), peer.bfd) for peer in around.peers if peer.bfd is not None]
    if not named:
        return []
    lines = ["bfd"]
    for name, bfd in named:
        lines += [f" profile {name}", *_pace(bfd), " exit"]
    for side in around.sides:
        if side.bfd is not None and side.ospf is None and side.ldp is not None and side.ldp.watched:
            lines += [f" peer {side.neighbor} interface {side.name}", f"  profile {side.name}", " exit"]
    return [*lines, "exit"]


def _pace(bfd: Bfd) -> list[str]:
    if bfd.kind != "none":
        raise ConflictError(
            f"its neighbour authenticates BFD by {bfd.kind}, which FRR does not know (kind: bird knows it)"
        )
    # FRR counts milliseconds, and sends no more often than every ten.
    send, receive = (max(10, -(-value // 1000)) for value in (bfd.interval_us, bfd.receive_us))
    return [
        f"  detect-multiplier {max(2, bfd.multiplier)}",
        f"  transmit-interval {send}",
        f"  receive-interval {receive}",
    ]
