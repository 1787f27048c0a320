"""Raw ports: frames made by hand against a router, and the codec."""

from __future__ import annotations

from .. import api
from ..registry import program
from ..seen import Seen
from .shapes import arp


def _answers(seen: Seen, name: str, frames: list[tuple[float, bytes]]) -> None:
    """Keep what a peer received: times, bytes, what the codec says of them and makes of that again."""
    seen.table(
        f"received by {name}",
        {
            "time": [at for at, _ in frames],
            "bytes": [frame for _, frame in frames],
            "summary": [api.summary(frame) for _, frame in frames],
            "layers": [api.decode(frame) for _, frame in frames],
            "again": [api.encode(api.decode(frame)) == frame for _, frame in frames],
        },
    )


def _damaged(frame: bytes, place: int) -> bytes:
    """A frame with one byte changed."""
    found = bytearray(frame)
    found[place] ^= 0x55
    return bytes(found)


@program
def peers(seen: Seen) -> None:
    """ARP by hand, then every frame that one peer sent is sent once more, damaged and cut."""
    net = api.network(8)
    router, other = net.router("dut", hello_interval="30 ms"), net.router("other")
    west, east = net.peer("west"), net.peer("east")
    link, far = net.link(west, router), net.link(router, east)
    net.link(router, other)
    lsp = router.lsp("to other", to=other)
    net.record(router)
    seen.tap(net)
    net.run(for_="5 ms")
    for peer, to in ((west, link), (east, far)):
        for operation in (1, 2):
            peer.send(api.encode(arp(to, peer, router, operation)))
    net.run(for_="50 ms")
    frames = west.receive()
    _answers(seen, "west", frames)
    for _, frame in frames:
        west.send(frame)
        west.send(_damaged(frame, len(frame) // 2))
        west.send(frame[: len(frame) * 2 // 3])
        net.run(for_="1 ms")
    net.run(for_="100 ms")
    _answers(seen, "west, later", west.receive())
    _answers(seen, "east", east.receive())
    seen.fact("state", lsp.state)
    seen.content("recording", net.recording(router).text.encode())
    seen.network(net)


ENDS = ("172.16.0.1/30", "172.16.0.2/30")


@program
def foreign_messages(seen: Seen) -> None:
    """A peer plays back what a real head end sent, to a router that it was not meant for."""
    net = api.network(9)
    a, b = net.router("a"), net.router("b")
    net.link(a, b, addresses=ENDS)
    a.lsp("gold", to=b, bandwidth="1 Mbit/s", count=2)
    net.run(until="100 ms")
    fresh = api.network(9)
    peer, dut = fresh.peer("a"), fresh.router("b")
    link = fresh.link(peer, dut, addresses=ENDS)
    lone = api.network(9)
    head, ear = lone.router("a"), lone.peer("b")
    own = lone.link(head, ear, addresses=ENDS)
    head.lsp("gold", to=ear, bandwidth="1 Mbit/s", count=2)
    lone.run(until="1 ms")
    ear.send(api.encode(arp(own, ear, head, 2)))
    lone.run(until="100 ms")
    frames = ear.receive()
    _answers(seen, "ear", frames)
    seen.tap(fresh, "fresh")
    fresh.run(until="1 ms")
    peer.send(api.encode(arp(link, peer, dut, 2)))
    for _, frame in frames:
        for place in (*range(14, len(frame), 7), None):
            peer.send(frame if place is None else _damaged(frame, place))
        fresh.run(for_="2 ms")
    fresh.run(for_="200 ms")
    _answers(seen, "peer", peer.receive())
    seen.network(lone, "lone")
    seen.network(fresh, "fresh")
    seen.network(net, "both")
