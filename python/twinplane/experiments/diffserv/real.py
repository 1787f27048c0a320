"""`diffserv` in real time: in one process, or on a lab with a process for each router."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...measure.bounds import by_chance
from ...measure.metrics import flat
from ...network import Network
from ...results.real import Real
from ..labs import Ground, Here, InLab, require_namespaces
from .build import HOST, build, edges, lsps, topology
from .parameters import DiffservParameters

if TYPE_CHECKING:
    from ...lab import Lab

NAME = "diffserv"


def check(where: Real) -> None:
    """Refuse, before anything is made, what would fail at once."""
    if where.rate_auto:
        raise TwinplaneError(f"{NAME}: --rate auto: the rates of its flows are parameters")
    if where.lab is not None:
        raise TwinplaneError(
            f"{NAME}: {where.lab}: its testbed is built in: twinplane run diffserv --lab makes a lab of it"
        )
    if where.place == "lab":
        require_namespaces(NAME)


def ground(p: DiffservParameters, seed: int, where: Real) -> Ground:
    """What a scenario runs on: the host with both interfaces is always in this process."""

    def made(parameters: DiffservParameters) -> Network:
        return build(parameters, seed)

    def lab() -> Lab:
        from ...lab import of_network

        return of_network(routed(p, seed), f"{NAME}-{os.getpid()}", where.driver)

    if where.place == "process":
        return Ground(NAME, made, Here())
    return OnLab(seed, made, InLab(NAME, lab, where))


class OnLab(Ground):
    """The scenario's routers are processes."""

    def __init__(self, seed: int, made: Callable[[DiffservParameters], Network], place: InLab) -> None:
        super().__init__(NAME, made, place)
        self.seed = seed

    def probes(self, parameters: DiffservParameters) -> tuple[Network, float]:
        """Probes of the class EF."""
        return probed(routed(parameters, self.seed), parameters)


PROBE_S, PROBES_PER_S = 3.0, 60.0
"""For how long probes are sent, and how many: so few that no queue builds up."""


def routed(p: DiffservParameters, seed: int) -> Network:
    """Everything but the flows."""
    network = topology(p, seed)
    lsps(network, p)
    return network


def probed(network: Network, p: DiffservParameters) -> tuple[Network, float]:
    """The network with probes of the class EF, and by when they have arrived."""
    first, last = edges(network)
    host = network.node(HOST)
    least_bps = min(p.ef_rate_mbps, p.total_mbps) * 1e6
    rate = min(PROBES_PER_S, least_bps / 2 / (8 * p.counted_bytes))
    end = p.begin_s + PROBE_S
    network.flow(
        *(host, host),
        rate=rate * 8 * p.ip_bytes,
        rate_counts="ip",
        size=p.frame_bytes,
        arrivals="constant",
        dscp="EF",
        start=p.begin_s,
        stop=end,
        name="probe",
        from_link=first,
        to_link=last,
        log=True,
    )
    return network, end + p.drain_s


def count_bounds(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Of what queues dropped and policers dropped, by flow and together."""
    found = {}
    for name, value in flat(metrics).items():
        lead, _, key = name.rpartition(".")
        if key in ("dropped", "policed"):
            sent = flat(metrics)[f"{lead}.sent"]
            found[name] = by_chance(value, sent)
    return found


def check_up(network: Network, p: DiffservParameters) -> None:
    """Traffic would go another way than the scenario says if an LSP were not up when it begins."""
    if network.placement is not None and network.placement["local"] is not None:
        return  # the routers are elsewhere
    down = [lsp.name for lsp in network.lsps if not lsp.up]
    if down:
        raise TwinplaneError(
            f"diffserv: {p.scenario}: LSP '{down[0]}' is not up {p.begin_s:g} s after it was signalled:"
            " begin_s gives it more time"
        )
