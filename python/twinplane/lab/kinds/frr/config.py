"""The configuration of a router of FRR, made of what its neighbours expect of it."""

from __future__ import annotations

from collections.abc import Iterator

from ....errors import ConflictError
from ..around import Around, Bfd, BgpPeer, Ospf, Side


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
    if ospf.kind == "simple":
        yield " ip ospf authentication"
        yield f" ip ospf authentication-key {ospf.key}"
    elif ospf.kind == "md5":
        yield " ip ospf authentication message-digest"
        yield f" ip ospf message-digest-key {ospf.key_id} md5 {ospf.key}"
    elif ospf.kind != "none":
        raise ConflictError(
            f"its neighbour authenticates OSPF by {ospf.kind}, and FRR here by md5 or a simple password only"
            " (kind: bird knows it, or a configuration of its own: config: FILE)"
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
    stubs = [f" area {area} stub" for area, stub in areas.items() if stub]
    return ["router ospf", f" ospf router-id {around.router_id}", *stubs, "exit"]


def _ldp(around: Around) -> list[str]:
    spoken = [side for side in around.sides if side.ldp is not None]
    if not spoken:
        return []
    timers = [side.ldp for side in spoken if side.ldp is not None]
    hello, hold = min(one.hello_s for one in timers), min(one.hold_s for one in timers)
    lines = ["mpls ldp", f" router-id {around.router_id}"]
    # FRR counts whole seconds; of the time that a neighbour is kept the smaller holds (RFC 5036, 3.5.2).
    lines += [f" discovery hello interval {max(1, int(hello))}", f" discovery hello holdtime {hold}"]
    keys = {one.router_id: one.password for one in timers if one.password is not None}
    lines += [f" neighbor {router} password {_word(password)}" for router, password in keys.items()]
    lines += [" address-family ipv4", f"  discovery transport-address {around.router_id}"]
    for side in spoken:
        lines += [f"  interface {side.name}", "  exit"]
    return [*lines, " exit-address-family", "exit"]


def _bgp(around: Around) -> list[str]:
    if around.asn is None:
        return []
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
    lines += [" address-family ipv4 unicast", "  redistribute connected"]
    lines += [f"  neighbor {peer.address} next-hop-self" for peer in around.peers if peer.asn == around.asn]
    return [*lines, " exit-address-family", "exit"]


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
