r"""A Twinplane router as head end of protected LSPs through a naive router (RFC 4090, 5 and 6.5.2).

```text
        near            near is naive; head, mid and tail are Twinplane routers
       /    \
   head      tail
       \    /
        mid
```
"""

from __future__ import annotations

from typing import Any

import pytest

from . import codec as c
from . import wide_bench
from .bench import Bench
from .lsr import Lsr
from .repairing import ASKS
from .state import key_of

tp: Any = pytest.importorskip("twinplane")

RATE = 10e6 / 8


class Head:
    """The network of this page; near is known by OSPF, and no shorter than mid."""

    def __init__(self, **head_has: Any) -> None:
        routers = {"head": head_has, "mid": {}, "tail": {}}
        links = [("near", "head"), ("near2", "tail"), ("head", "mid"), ("mid", "tail")]
        self.bench = wide_bench.build(
            tp, routers, links, {"near2": "near"}, area=0, te=True, hello_interval=1
        )
        self.near, self.near2 = self.bench.sides["near"], self.bench.sides["near2"]
        self.bench.routed(self.bench.te_link("near"), self.bench.te_link("near2"))
        self.lsr = Lsr(self.near.ends.router_id, [self.near, self.near2])
        self.lsr.routes = {side.ends.peer: side for side in self.lsr.neighbours}
        self.bench.pumps.append(self.lsr.pump)

    def signals(self, **protection: Any) -> c.Message:
        """The first Path of an LSP with 10 Mbit/s that asks for this."""
        self.lsp = self.bench.routers["head"].lsp(
            "gold", to="tail", bandwidth="10 Mbit/s", protection=protection, retry_first="1 s"
        )
        self.bench.until(lambda: Bench.came(self.near, c.Type.PATH))
        return Bench.came(self.near, c.Type.PATH)[0]


@pytest.mark.parametrize(
    ("protection", "flags", "method"),
    [
        ({}, 0, c.FastReroute.FACILITY),
        ({"node": True}, c.Asked.NODE, c.FastReroute.FACILITY),
        ({"bandwidth": True}, c.Asked.BANDWIDTH, c.FastReroute.FACILITY),
        ({"method": "one-to-one"}, 0, c.FastReroute.ONE_TO_ONE),
    ],
    ids=["link", "node", "bandwidth", "one-to-one"],
)
def test_a_head_end_asks(protection: dict[str, Any], flags: int, method: int) -> None:
    """Flags, recorded labels, and FAST_REROUTE in every refresh (RFC 4090, 4.1, 4.3, 5)."""
    h = Head(refresh="1 s")
    path = h.signals(**protection)
    assert path.need(c.SessionAttribute).flags == ASKS | flags
    assert path.get(c.RecordRoute) is not None
    fast = path.get(c.FastReroute)
    # RFC 4090, 5: who desires a method should send the object; without, it is as the router likes.
    assert fast is not None or method == c.FastReroute.FACILITY
    if fast is not None:
        assert fast.flags == method
        assert fast.bandwidth == (RATE if protection.get("bandwidth") else fast.bandwidth)
    h.bench.run(5.0, 0.01)
    again = Bench.came(h.near, c.Type.PATH, key_of(path))
    assert len(again) > 3 and {message.get(c.FastReroute) for message in again} == {fast}
    assert h.lsp.up


def test_a_head_end_that_is_told_of_a_repair_moves_its_lsp() -> None:
    """Global reversion: another LSP first, then the old one goes; no haste (RFC 4090, 6.5.1, 6.5.2)."""
    h = Head()
    path = h.signals()
    h.bench.until(lambda: h.lsp.up)
    (before,) = h.bench.routers["head"].tunnels().to_dicts()
    h.bench.forget()
    h.lsr.refuse(h.near, path, 25, 3)
    h.bench.run(0.01)
    assert h.lsp.up and not Bench.came(h.near, c.Type.PATH_TEAR)

    def active() -> Any:
        (row,) = h.bench.routers["head"].tunnels().to_dicts()
        assert row["active"] is not None
        return row["active"]

    h.bench.until(lambda: active() != before["active"], 10.0, 0.01)
    h.bench.until(lambda: Bench.came(h.near, c.Type.PATH_TEAR, key_of(path)), 5.0, 0.01)
    assert h.lsp.up
    h.bench.assert_sound()
