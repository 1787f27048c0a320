"""Chains: naive transit routers on both sides of the router under test.

```text
ingress ---- west ---- router under test ---- east ---- egress
```
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import codec as c
from ..bench import Bench
from ..lsr import Lsr
from ..neighbour import Ends, Neighbour
from ..port import Clock, Port, Wire
from ..state import Key
from .registry import scenario

INGRESS, EGRESS = "192.0.2.10", "192.0.2.20"
FIRST, LAST = ("192.0.2.101", "192.0.2.102"), ("192.0.2.201", "192.0.2.202")


class PortClock(Clock):
    """The clock of a port, for wires that hang on it."""

    def __init__(self, port: Port) -> None:
        self.port = port
        super().__init__()

    @property
    def time(self) -> float:
        return self.port.now()

    @time.setter
    def time(self, value: float) -> None:
        """Only the port's network turns its clock."""


@dataclass
class Chain:
    """Bench whose two sides are transit, with one naive router more beyond each."""

    bench: Bench
    ingress: Lsr
    egress: Lsr

    @classmethod
    def build(cls, b: Bench) -> Chain:
        """Hang one more router on each side; the sides become transit."""
        clock = PortClock(b.west_port)
        first, last = Wire(clock, 0.0), Wire(clock, 0.0)
        west_id, east_id = b.west_ends.router_id, b.east_ends.router_id
        outer_west = Neighbour(first.left, Ends(b"\x02" * 6, *FIRST, INGRESS, west_id))
        inner_west = Neighbour(first.right, Ends(b"\x04" * 6, *FIRST[::-1], west_id, INGRESS))
        inner_east = Neighbour(last.left, Ends(b"\x06" * 6, *LAST, east_id, EGRESS))
        outer_east = Neighbour(last.right, Ends(b"\x08" * 6, *LAST[::-1], EGRESS, east_id))
        b.ingress.neighbours.append(inner_west)
        b.egress.neighbours.append(inner_east)
        for lsr, side in ((b.ingress, inner_west), (b.egress, inner_east)):
            side.handlers.append(lsr.handle)
            side.label_handlers.append(lsr.switch)
        b.ingress.routes = {b.west_ends.peer: b.west, FIRST[0]: inner_west}
        b.egress.routes = {b.east_ends.peer: b.east, LAST[1]: inner_east}
        chain = cls(b, Lsr(INGRESS, [outer_west]), Lsr(EGRESS, [outer_east]))
        b.beyond += [chain.ingress.pump, chain.egress.pump]
        return chain

    def signal(self, lsp: int = 1) -> Key:
        """An LSP over all five routers, every hop strict; nobody has a route to its end."""
        b = self.bench
        hops = (FIRST[1], b.west_ends.peer, b.east_ends.address, LAST[1])
        path = c.Message(
            c.Type.PATH,
            [
                c.Session(EGRESS, 1, INGRESS),
                c.RsvpHop(FIRST[0]),
                c.TimeValues(30_000),
                c.ExplicitRoute.strict(*hops),
                c.LabelRequest(),
                c.SessionAttribute(flags=c.SessionAttribute.LABEL_RECORDING | c.SessionAttribute.SE_STYLE),
                c.SenderTemplate(INGRESS, lsp),
                c.SenderTspec(c.Traffic.of_bits(1e8)),
                c.RecordRoute((c.Ipv4Hop(FIRST[0]),)),
            ],
        )
        key = self.ingress.signal(self.ingress.neighbours[0], path)
        b.until(lambda: self.ingress.label(key) is not None)
        b.check(self.ingress.label(key) is not None, "no label at the head of the chain")
        return key


@scenario()
def five_routers(b: Bench) -> None:
    """Neighbours that are transit, ends without a route: ERO alone leads (RFC 3209, 2.2; 4.3)."""
    chain = Chain.build(b)
    key = chain.signal()
    reservation = chain.ingress.resvs.get(key)
    record = reservation.descriptor.record if reservation else None
    if b.check(record, "no RECORD_ROUTE at the head of the chain") and record is not None:
        hops = [hop.address for hop in record.hops if isinstance(hop, c.Ipv4Hop)]
        b.equal(len(hops), 4, f"recorded hops {hops}")
        labels = [hop.label for hop in record.hops if isinstance(hop, c.LabelHop)]
        b.equal(len(labels), 4, f"recorded labels {labels}")
    entry = c.LabelEntry(chain.ingress.label(key) or 0, 64, 3)
    chain.ingress.neighbours[0].send_labelled([entry], b.datagram().encode())
    b.run(0.05)
    out = chain.egress.neighbours[0].labelled
    if b.check(out, "nothing came out at the end of the chain"):
        expected = [c.LabelEntry(chain.egress.egress_labels[key], 61, 3)]
        b.equal(out[0].stack, expected, "stack at the end of the chain")
    chain.ingress.tear(key)
    b.run(0.05)
    b.check(key not in chain.egress.paths, "PathTear did not reach the end of the chain")


@scenario()
def errors_along_the_chain(b: Bench) -> None:
    """PathErr and ResvTear from the far end reach the head (RFC 2205, 3.1.6 and 3.1.7)."""
    chain = Chain.build(b)
    key = chain.signal()
    last = chain.egress.neighbours[0]
    state = chain.egress.paths.get(key)
    if state is None:
        return
    chain.egress.refuse(last, state.message, 24, 9)
    b.until(lambda: chain.ingress.errors)
    found = [(e.need(c.ErrorSpec).code, e.need(c.ErrorSpec).node) for e in chain.ingress.errors]
    b.equal(found, [(24, LAST[1])], "errors at the head of the chain")
    chain.egress.resv_tear(key, last, c.Style(c.Style.SE))
    b.until(lambda: key not in chain.ingress.resvs)
    b.check(key not in chain.ingress.resvs, "ResvTear did not reach the head of the chain")
    chain.ingress.tear(key)
    b.run(0.05)


@scenario()
def make_before_break_along_the_chain(b: Bench) -> None:
    """Two LSPs of one session along the chain; the old one goes (RFC 3209, 2.5)."""
    chain = Chain.build(b)
    old, new = chain.signal(1), chain.signal(2)
    labels = {chain.ingress.label(old), chain.ingress.label(new)}
    b.equal(len(labels), 2, "labels at the head of the chain")
    chain.ingress.tear(old)
    b.run(0.05)
    entry = c.LabelEntry(chain.ingress.label(new) or 0)
    chain.ingress.neighbours[0].send_labelled([entry], b.datagram().encode())
    b.run(0.05)
    b.check(chain.egress.neighbours[0].labelled, "the new LSP does not carry alone")
    chain.ingress.tear(new)
    b.run(0.05)
