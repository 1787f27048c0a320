"""The configuration of a router of BIRD 2, made of what its neighbours expect of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..around import Around, BgpPeer, Ospf

ALGORITHMS = {
    "md5": "keyed md5",
    "sha1": "hmac sha1",
    "sha256": "hmac sha256",
    "sha384": "hmac sha384",
    "sha512": "hmac sha512",
}
"""Ways of authentication, in the words of BIRD."""


def text(around: Around) -> str:
    """A configuration, as `bird.conf` has it."""
    blocks = [
        ["log stderr { warning, error, fatal, bug };", f"router id {around.router_id};"],
        ["protocol device { }"],
        ["protocol direct { ipv4; }"],
        [
            "protocol kernel {",
            "  ipv4 { import none; export where source != RTS_DEVICE; };",
            "  merge paths on;",
            "}",
        ],
        list(_static(around)),
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
    for area, stub in areas.items():
        yield f"  area {area} {{"
        if stub:
            yield "    stub yes;"
        if area == home:
            yield f"    stubnet {around.router_id}/32 {{ cost 0; }};"
        for side in around.sides:
            if side.ospf is not None and side.ospf.area == area:
                yield f'    interface "{side.name}" {{ {" ".join(_spoken(side.ospf))} }};'
            elif side.ospf is None and area == home:
                yield f'    interface "{side.name}" {{ stub yes; }};'
        yield "  };"
    yield "}"


def _spoken(ospf: Ospf) -> Iterator[str]:
    yield f"type {'broadcast' if ospf.broadcast else 'ptp'};"
    yield f"hello {ospf.hello_s}; dead {ospf.dead_s}; cost {ospf.cost};"
    if ospf.kind == "simple":
        yield f'authentication simple; password "{ospf.key}";'
    elif ospf.kind != "none":
        how = ALGORITHMS[ospf.kind]
        yield f'authentication cryptographic; password "{ospf.key}" {{ id {ospf.key_id}; algorithm {how}; }};'


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
    yield f"  connect retry time 2; hold time {peer.hold_s};"
    told = "RTS_DEVICE, RTS_STATIC, RTS_BGP"
    hop = " next hop self;" if peer.asn == around.asn else ""
    yield f"  ipv4 {{ import all; export where source ~ [ {told} ];{hop} }};"
    yield "}"
