"""`network` in real time: in one process, or on a lab with a process for each router."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import TwinplaneError
from ...model.places import about, of_flow, of_tcp
from ...network import Network
from ...network.offered import offered
from ...results.real import Real
from ..labs import Ground, Here, InLab, require_namespaces
from .build import build
from .parameters import NetworkParameters

if TYPE_CHECKING:
    from ...lab import Lab
    from ...lab.plan import Plan

NO_RATE = "--rate auto: the rates of flows are in the file"


def check(p: NetworkParameters, where: Real) -> None:
    """Refuse, before anything is made, what would fail at once."""
    if where.rate_auto:
        raise TwinplaneError(f"{p.file}: {NO_RATE}")
    if where.place == "lab":
        require_namespaces(p.file)
        planned(p)


def planned(p: NetworkParameters) -> Plan:
    """The lab: hosts at which flows begin or end are in the measuring process."""
    from ...lab.plan import plan
    from ...network import lowering

    lowered = lowering.lower(Path(p.file))
    network = lowered.network
    if network.draft.demands is not None:
        words = "demands: a lab sends flows only; one process has demands, too (--real process)"
        raise network.explain(about(("demands",), "", words))
    if network.tcp_flows:
        first = network.tcp_flows[0]
        words = "programs talk over TCP in virtual time only: on a lab, hosts have the kernel's own TCP"
        raise network.explain(of_tcp(first.index, first.name, words))
    flows = enumerate(network.described()["flows"])
    ends = {flow[key]: index for index, flow in flows for key in ("from", "to")}
    for name, index in ends.items():
        kind = network.node(name).kind
        if kind not in ("host", "edge"):
            words = f"'{name}' is of kind {kind}: on a lab flows begin and end at hosts, stations and testers"
            raise network.explain(of_flow(index, network.flows[index].name, words))
    named = f"{lowered.name[:20]}-{os.getpid()}"
    return plan(lowered, name=named, measured=frozenset(ends))


PROBED_MAX = 8
"""Of more flows than this the first are probed."""
# So few that no queue builds up.
PROBES_PER_S, PROBE_BEGIN_S, PROBE_END_S, PROBE_DRAIN_S = 60.0, 0.5, 3.0, 0.5


def probed(network: Network) -> tuple[Network, float]:
    """The network with a few probes in the place of its flows, and by when they have arrived."""
    draft = network.draft
    draft.core.set_demands()
    draft.demands = None
    draft.keep_flows(PROBED_MAX)
    draft.core.clear_events()
    for place, flow in enumerate(draft.flows):
        size = round(offered(draft.element("flows", place))[1])
        said = {
            "arrivals": "constant",
            "size": size,
            "rate": max(1, round(PROBES_PER_S / len(draft.flows) * 8 * size)),
            "rate_counts": "frame",
            "log": True,
            "start": PROBE_BEGIN_S + place / PROBES_PER_S,
            "stop": PROBE_END_S,
        }
        draft.change_flow(flow, said)
    return network, PROBE_END_S + PROBE_DRAIN_S


class OnLab(Ground):
    """The file's routers are processes; hosts and testers are here, and flows begin when the network does."""

    def probes(self, parameters: NetworkParameters) -> tuple[Network, float]:
        """Through the routers of this lab, where the flows go."""
        return probed(self.build(parameters))


def ground(p: NetworkParameters, seed: int, where: Real) -> Ground:
    """What a run needs around it."""

    def made(parameters: NetworkParameters) -> Network:
        return build(parameters, seed)

    def lab() -> Lab:
        from ...lab import Lab

        return Lab(planned(p))

    if where.place == "process":
        return Ground("network", made, Here())
    return OnLab(p.file, made, InLab(p.file, lab, where))
