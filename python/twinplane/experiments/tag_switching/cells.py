"""The core on ATM: switches, edge routers and what joins them, with tags that are channels and without.

With tags switches are ATM-LSRs and edge routers signal: LDP gives VCs on demand (RFC 3035). Without, or where
one stands for these, a circuit between edge routers is configured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...network import Network
from .countries import edge, switch
from .links import BUFFER_PACKETS, MTU, cells_of, encapsulation_of
from .parameters import STM1_CELLS, TagSwitchingParameters

LONGEST = cells_of(MTU, "llc-snap")
"""Cells of the longest packet."""
ROOM = BUFFER_PACKETS * LONGEST
"""Cells that wait at most in front of the link between two switches."""
LABELS = {"vc-mux": "bare", "shim": "shim"}
"""What stands in front of packets, as channels that are labels know it."""
NEAR: Mapping[str, Any] = {"rate": f"{STM1_CELLS} cells/s", "delay": "1 us"}
"""Between a router and its switch."""


def routing(**ldp: Any) -> dict[str, Any]:
    """Protocols of switches and edge routers that give channels as labels."""
    # With a look at the time to live (RFC 6720), which is younger than the study, a session would wait until
    # its link is the shortest way.
    return {"ospf": {"area": 0}, "ldp": {"gtsm": False, **ldp}}


def lsr(net: Network, p: TagSwitchingParameters, country: str, **said: Any) -> None:
    """A switch whose channels are labels. It begins no packet when the buffer is full (EPD), and has room for
    what has begun.
    """
    net.atm_lsr(switch(country), merge=p.merges, ubr_cells=ROOM + 8 * LONGEST, epd_cells=ROOM, **said)


def label_link(net: Network, p: TagSwitchingParameters, a: str, b: str, **said: Any) -> None:
    """A link on which labels are channels. Of the two nodes a router has room for as much as a switch."""
    labels = {"encapsulation": LABELS[p.tag_encapsulation]}
    net.link(a, b, medium="atm", lc_atm=labels, **said)


def plain_switch(net: Network, name: str) -> None:
    """A switch of a circuit that is shaped, where packets are lost as a whole at its end."""
    net.atm_switch(name, ubr_cells=ROOM)


def lossy_switch(net: Network, name: str) -> None:
    """One where packets of several circuits are lost: it begins none when the buffer is full, as `lsr`."""
    net.atm_switch(name, ubr_cells=ROOM + 8 * LONGEST, epd_cells=ROOM)


def interface(country: str) -> str:
    """The ATM interface of its edge router, which makes cells of packets."""
    return f"{country}-interface"


def access(net: Network, countries: Iterable[str], **said: Any) -> None:
    """Edge routers with their ATM interfaces, for circuits."""
    for country in countries:
        net.router(edge(country), **said)
        plain_switch(net, interface(country))
        net.link(interface(country), switch(country), medium="atm", **NEAR)


def pvc(net: Network, p: TagSwitchingParameters, path: Sequence[str], **said: Any) -> None:
    """A circuit between the edge routers of the first and the last country of a path."""
    a, b = path[0], path[-1]
    net.pvc(
        edge(a),
        edge(b),
        through=[interface(a), *(switch(country) for country in path), interface(b)],
        encapsulation=encapsulation_of(p, p.tags == "with"),
        **said,
    )


def core(p: TagSwitchingParameters) -> Mapping[str, Any]:
    """The rate of links between switches."""
    return {"rate": f"{p.cells_per_s:g} cells/s"}
