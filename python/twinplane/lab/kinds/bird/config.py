"""The configuration of a router of BIRD 2, made of what its neighbours expect of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ....errors import ConflictError
from ..around import Around, Bfd, BgpPeer, Ospf, Side, refuse_several

ALGORITHMS = {
    "md5": "keyed md5",
    "sha1": "hmac sha1",
    "sha256": "hmac sha256",
    "sha384": "hmac sha384",
    "sha512": "hmac sha512",
}
"""Ways of authentication, in the words of BIRD."""


CHANNELS = {
    "ipv4": "ipv4",
    "ipv6": "ipv6",
    "ipv4-labelled": "ipv4 mpls",
    "ipv6-labelled": "ipv6 mpls",
}
"""Families of BGP, in the words of BIRD."""


WATCHED = {
    "simple": "simple",
    "md5": "keyed md5",
    "meticulous-md5": "meticulous keyed md5",
    "sha1": "keyed sha1",
    "meticulous-sha1": "meticulous keyed sha1",
}
"""Ways of authentication of BFD, in the words of BIRD."""


def text(around: Around) -> str:
    """A configuration, as `bird.conf` has it."""
    speaks_six = any(family.startswith("ipv6") for peer in around.peers for family in peer.families)
    families = ["ipv4", *(["ipv6"] if speaks_six else [])]
    blocks = [
        ["log stderr { warning, error, fatal, bug };", f"router id {around.router_id};"],
        ["protocol device { }"],
        [f"protocol direct {{ {' '.join(f'{family};' for family in families)} }}"],
        *(
            [
                "protocol kernel {",
                f"  {family} {{ import none; export where source != RTS_DEVICE; }};",
                "  merge paths on;",
                "}",
            ]
            for family in families
        ),
        list(_static(around)),
        list(_bfd(around)),
        list(_ospf(around)),
    ]
    blocks += [list(_bgp(around, peer, number)) for number, peer in enumerate(around.peers)]
    return "".join("\n".join(block) + "\n\n" for block in blocks if block)


def _static(around: Around) -> Iterator[str]:
    if around.routes:
        yield "protocol static {"
        yield "  ipv4;"
        for prefix, gateway in around.routes:
            yield f"  route {prefix} via {gateway};"
        yield "}"


def _ospf(around: Around) -> Iterator[str]:
    areas, home = around.areas(), around.home()
    if home is None:
        return
    yield "protocol ospf v2 ospf4 {"
    yield "  ipv4 { import all; export none; };"
    if around.virtual_links:
        raise ConflictError(
            "a router has a virtual link of OSPF with it, which is not set up in BIRD (kind: frr can do it,"
            " or a configuration of its own: config: FILE)"
        )
    for area, how in areas.items():
        yield f"  area {area} {{"
        if how.kind != "normal":
            yield f"    {how.kind}; summary {'yes' if how.summaries else 'no'};"
        if area == home:
            yield f"    stubnet {around.router_id}/32 {{ cost 0; }};"
        for side in around.sides:
            if side.ospf is not None and side.ospf.area == area:
                watched = "" if side.bfd is None else " bfd yes;"
                yield f'    interface "{side.name}" {{ {" ".join(_spoken(side.ospf))}{watched} }};'
            elif side.ospf is None and area == home:
                yield f'    interface "{side.name}" {{ stub yes; }};'
        yield "  };"
    yield "}"


def _bfd(around: Around) -> Iterator[str]:
    """Settings by interface, and for all that are met by the addresses on `lo` together."""
    near: dict[str, Bfd] = {side.name: side.bfd for side in around.sides if side.bfd is not None}
    for peer in around.peers:
        if peer.bfd is not None and not peer.far:
            ours = [side.name for side in around.sides if _is_at(side, peer)]
            for name in ours:
                # One session watches the neighbour for all that want it: the closest wish counts.
                wishes = [peer.bfd, *([near[name]] if name in near else [])]
                near[name] = min(wishes, key=lambda bfd: bfd.interval_us * bfd.multiplier)
    far = [peer.bfd for peer in around.peers if peer.bfd is not None and peer.far]
    if not near and not far:
        return
    yield "protocol bfd {"
    for name, bfd in near.items():
        yield f'  interface "{name}" {{ {_pace(bfd)} }};'
    if far:
        closest = min(far, key=lambda bfd: bfd.interval_us * bfd.multiplier)
        yield f"  multihop {{ {_pace(closest)} }};"
    yield "}"


def _quoted(secret: str) -> str:
    if any(letter in '"\n\r' for letter in secret):
        raise ConflictError(
            "a password of its neighbour has a quotation mark or a line break: BIRD cannot read it"
        )
    return f'"{secret}"'


def _is_at(side: Side, peer: BgpPeer) -> bool:
    return ipaddress.ip_address(peer.address) in ipaddress.ip_interface(side.address).network


def _pace(bfd: Bfd) -> str:
    said = f"min tx interval {bfd.interval_us} us; min rx interval {bfd.receive_us} us;"
    said += f" multiplier {bfd.multiplier};"
    if bfd.kind != "none":
        said += f" authentication {WATCHED[bfd.kind]}; password {_quoted(bfd.key)} {{ id {bfd.key_id}; }};"
    return said


def _spoken(ospf: Ospf) -> Iterator[str]:
    yield f"type {'broadcast' if ospf.broadcast else 'ptp'};"
    yield f"hello {ospf.hello_s}; dead {ospf.dead_s}; cost {ospf.cost};"
    yield from _authenticated(ospf)


def _authenticated(spoken: Ospf) -> Iterator[str]:
    refuse_several(spoken.kind)
    if spoken.kind == "simple":
        yield f"authentication simple; password {_quoted(spoken.key)};"
    elif spoken.kind != "none":
        how = ALGORITHMS[spoken.kind]
        secret = _quoted(spoken.key)
        yield f"authentication cryptographic; password {secret} {{ id {spoken.key_id}; algorithm {how}; }};"


def _bgp(around: Around, peer: BgpPeer, number: int) -> Iterator[str]:
    yield f"protocol bgp bgp{number} {{"
    yield f'  description "{peer.name}";'
    source = f"  source address {around.router_id};" if peer.far else ""
    yield f"  local as {around.asn};{source}"
    yield f"  neighbor {peer.address} as {peer.asn};"
    if peer.hops is not None:
        yield f"  {'' if peer.hops == 1 else f'multihop {peer.hops}; '}ttl security on;"
    elif peer.far:
        yield "  multihop;"
    # Without a word BIRD waits a minute after a session that ended by an error, such as BFD's.
    yield f"  connect retry time 2; error wait time 2, 10; hold time {peer.hold_s};"
    if peer.password is not None:
        yield f"  password {_quoted(peer.password)};"
    if peer.bfd is not None:
        yield "  bfd on;"
    told = "RTS_DEVICE, RTS_STATIC, RTS_BGP"
    hop = " next hop self;" if peer.asn == around.asn else ""
    for family in peer.families:
        channel, six = CHANNELS[family], " extended next hop on;" if family == "ipv6-labelled" else ""
        yield f"  {channel} {{ import all; export where source ~ [ {told} ];{hop}{six} }};"
    yield "}"
