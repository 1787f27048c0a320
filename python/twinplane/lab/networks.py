"""Between networks and labs: `Network.lab()`, and `Network.from_file()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..errors import TwinplaneError
from ..model import network_file
from ..network import lowering
from .lab import Lab
from .plan import plan

if TYPE_CHECKING:
    from ..network import Network

    N = TypeVar("N", bound=Network)


def of_network(network: Network, name: str, driver: str = "packet") -> Lab:
    """A lab like a network: routers become processes, hosts and edges namespaces.

    `driver` is how routers and the tester open their interfaces; with xdp, links have an MTU of 3498 at most.
    """
    if not network_file.is_name(name):
        raise TwinplaneError(f"'{name}' is not a name for a lab: letters, digits, '-', '_' and '.', up to 32")
    if network.flows:
        raise TwinplaneError(
            "flows are measured by the tester: run the network in one process (clock='wall'),"
            " send between hosts, or write it as a file for `twinplane run FILE --lab`"
        )
    for link in network.links:
        for node in (link.a, link.b):
            if node.kind == "external":
                raise TwinplaneError(
                    f"'{node.name}': an external node needs an interface: describe the lab in a file"
                )
    described = network.described()
    for said in described["links"]:
        said["driver"] = driver
        if driver == "xdp" and "mtu" in said:
            said["mtu"] = min(said["mtu"], network_file.MTU_XDP)
    ends = [[lowering.End.of(end) for end in said["endpoints"]] for said in described["links"]]
    extras = lowering.Extras([(a, b) for a, b in ends], [driver] * len(ends))
    return Lab(plan(lowering.Lowered(name, described, extras, network)))
