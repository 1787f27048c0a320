"""A naive router in the place of the router under test, so that scenarios can be tried out."""

from __future__ import annotations

from . import codec as c
from .bench import Bench, HeadEnd, Options
from .neighbour import Ends, Neighbour
from .port import Clock, Wire
from .router import Router

WEST, DUT, EAST = "10.255.0.1", "10.255.0.2", "10.255.0.3"


def mac(last: int) -> bytes:
    """A locally administered address."""
    return bytes([2, 0, 0, 0, 0, last])


def build(options: Options | None = None) -> tuple[Bench, Router]:
    """West and east over two wires, and the naive router between them."""
    options = options or Options()
    clock = Clock()
    west_wire, east_wire = Wire(clock), Wire(clock)
    near_west = Neighbour(west_wire.right, Ends(mac(2), "10.1.0.2", "10.1.0.1", DUT, WEST))
    near_east = Neighbour(east_wire.left, Ends(mac(3), "10.2.0.1", "10.2.0.2", DUT, EAST))
    for side in (near_west, near_east):
        side.key, side.key_id = options.key, options.key_id
        side.refresh_reduction = options.refresh_reduction
    routes = {a: near_west for a in (WEST, "10.1.0.1")} | {a: near_east for a in (EAST, "10.2.0.2")}
    router = Router(DUT, [near_west, near_east], routes, hello_interval=options.hello_interval_s)
    router.reliable = options.refresh_reduction
    clock.ticks.append(router.pump)

    def originate(name: str, bandwidth: float) -> HeadEnd:
        path = c.Message(
            c.Type.PATH,
            [
                c.Session(EAST, 1, DUT),
                c.RsvpHop("10.2.0.1"),
                c.TimeValues(30_000),
                c.LabelRequest(),
                c.SessionAttribute(name=name),
                c.SenderTemplate(DUT, 1),
                c.SenderTspec(c.Traffic.of_bits(bandwidth)),
            ],
        )
        key = router.signal(near_east, path)
        return HeadEnd(up=lambda: router.label(key) is not None, tear=lambda: router.tear(key))

    bench = Bench(
        west_wire.left,
        east_wire.right,
        Ends(mac(1), "10.1.0.1", "10.1.0.2", WEST, DUT),
        Ends(mac(4), "10.2.0.2", "10.2.0.1", EAST, DUT),
        options,
        originate,
        leftovers=lambda: [*map(str, router.paths), *map(str, router.ilm)],
    )
    return bench, router
