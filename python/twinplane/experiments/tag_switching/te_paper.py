"""Part `te` on paper: ways, phases, and what follows from them before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...errors import TwinplaneError
from .countries import edge, switch
from .links import TAG, WIRE, AtmLinks, Links, cells_of, encapsulation_of, frame_s, links
from .load import alone_s
from .parameters import TagSwitchingParameters
from .predicted import Prediction

DIRECT, EXPLICIT = "direct", "switzerland"
LINKS_OF = {DIRECT: 1, EXPLICIT: 2}
"""How many links between switches each way has."""
MESSAGE = 240
"""About so many bytes of IP have a Path and a Resv that record four hops (RFC 3209, 4)."""
FILLED = 0.9
"""So much of the direct link both flows take together at most: routers have something to say, too."""
APART_S = 0.004
"""By so much the delays of both ways differ at least, and by two messages of routers: packets hardly wait for
these any longer."""
OTHERS_BPS = 8000.0
"""More than what protocols say over a link, in bits per second on average."""


def ways() -> Mapping[str, Sequence[str]]:
    """Both ways from the edge router in Italy to that in Austria: hops behind the former."""
    last = [switch("austria"), edge("austria")]
    return {
        DIRECT: [switch("italy"), *last],
        EXPLICIT: [switch("italy"), switch("switzerland"), *last],
    }


@dataclass(frozen=True)
class Phase:
    """A part of the run: by which way packets of the filter go."""

    what: str
    way: str
    is_tunnel: bool
    """Do they go by the LSP?"""


def phases(p: TagSwitchingParameters) -> list[Phase]:
    """Routed; by the LSP through Switzerland; moved, so often as is said; routed again."""
    moved = [EXPLICIT if number % 2 else DIRECT for number in range(p.moves)]
    words = {DIRECT: "moved to the direct link", EXPLICIT: "moved to Switzerland"}
    return [
        Phase("before the LSP", DIRECT, False),
        Phase("LSP by Switzerland", EXPLICIT, True),
        *(Phase(words[way], way, True) for way in moved),
        Phase("torn down", DIRECT, False),
    ]


def way_of(p: TagSwitchingParameters, way: str, is_tunnel: bool) -> Links:
    """Links between switches on a way; cells of an LSP of RSVP-TE are not merged with others."""
    if p.medium == "atm" and is_tunnel:
        return AtmLinks(p.cells_per_s, LINKS_OF[way], encapsulation_of(p, True))
    return links(p, LINKS_OF[way], True)


def delay_s(p: TagSwitchingParameters, way: str, is_tunnel: bool) -> float:
    """Of a packet that waits for no other one, from its first bit to its last."""
    return alone_s(p, way_of(p, way, is_tunnel), LINKS_OF[way]) + frame_s(p.packet)


def packet_s(p: TagSwitchingParameters) -> float:
    """How long the direct link is busy with a packet."""
    return links(p, 1, True).packet_s(p.packet)


def link_bytes(p: TagSwitchingParameters) -> int:
    """What a packet with a tag takes on a link between switches, as its port counts."""
    if p.medium == "atm":
        return 53 * cells_of(p.packet, encapsulation_of(p, True))
    # A port counts headers and check sequence, not preamble and gap.
    return p.packet + WIRE - 20 + TAG


def signalled(p: TagSwitchingParameters, way: str) -> Prediction:
    """From the command until packets take the LSP: a Path there, a Resv back.

    On each link a message may wait for a packet of each flow.
    """
    hops = LINKS_OF[way]
    still = 2 * hops * p.delay_ms / 1e3
    message = links(p, 1, False).packet_s(MESSAGE)
    most = still + 2 * hops * 2 * (packet_s(p) + message) + 0.001
    why = "propagation there and back, messages stored and forwarded, and waits behind up to two packets"
    return Prediction(still + 2 * hops * message, still, most, why)


def overtaken(p: TagSwitchingParameters) -> Prediction:
    """Packets that later ones overtake: those still on the longer way when the shorter one is taken."""
    taken = phases(p)
    shorter = 0.0
    for before, behind in pairwise(taken):
        if (before.way, behind.way) == (EXPLICIT, DIRECT):
            gain = delay_s(p, EXPLICIT, True) - delay_s(p, DIRECT, behind.is_tunnel)
            shorter += int(gain * p.packets_per_s)
    moves = sum((a.way, b.way) == (EXPLICIT, DIRECT) for a, b in pairwise(taken))
    return Prediction(
        shorter,
        max(0.0, shorter - moves),
        shorter + moves,
        "difference of both ways times packets per second",
    )


def check(p: TagSwitchingParameters) -> None:
    """Both flows have to fit on the direct link, and each phase has to have time for what it begins with."""
    used = 2 * p.packets_per_s * packet_s(p)
    if used > FILLED:
        most = int(FILLED / (2 * packet_s(p)))
        fewer = f"{most} at most" if most else "a faster link, or shorter packets"
        raise TwinplaneError(
            f"tag-switching: packets_per_s={p.packets_per_s}: two flows of packets of {p.packet} bytes take"
            f" {used:.2f} of the direct link, and routers need a tenth: {fewer}"
        )
    gain = delay_s(p, EXPLICIT, True) - delay_s(p, DIRECT, False)
    needed = max(APART_S, 2 * links(p, 1, False).packet_s(MESSAGE))
    if gain < needed:
        raise TwinplaneError(
            f"tag-switching: delay_ms={p.delay_ms:g}: packets by Switzerland are told by their delay, which"
            f" is {gain * 1e3:.2g} ms more, and {needed * 1e3:.2g} ms are needed: a longer one, or a faster"
            " link"
        )
    least = 2 * signalled(p, EXPLICIT).high + 2 / p.packets_per_s + delay_s(p, EXPLICIT, True)
    count = len(phases(p))
    if p.duration_s / count < least:
        raise TwinplaneError(
            f"tag-switching: duration_s={p.duration_s:g}: each of {count} phases (moves={p.moves}) takes"
            f" {least:.3g} s at least, to set up an LSP and see packets by it: {count * least:.3g} s in all"
        )
