"""Twinplane: an open testbed and measuring instrument for label-switched networks.

.. code-block:: python

    import twinplane as tp

    net = tp.Network(seed=7)
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate="1 Gbit/s", delay="50 us")

Names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import queues, wire
    from .errors import TwinplaneError, TwinplaneWarning
    from .failing import fail_everything
    from .failing.failures import Failures
    from .lab import Lab
    from .model.generated import Bfd, Bgp, Cbt, Igmp, Ldp, LspPing, Mld, Ospf, Pim, Probing, Tdp
    from .network import Network
    from .network.handles import Capture, Flow, Link, Lsp, P2mp, TcpFlow
    from .network.nodes import AtmLsr, AtmSwitch, Bridge, Edge, External, Host, Peer, Router, Switch
    from .network.recording import Recording
    from .network.tapping import capture_interface
    from .reports import report
    from .results.folder import load as load_results

__all__ = [
    "AtmLsr",
    "AtmSwitch",
    "Bfd",
    "Bgp",
    "Bridge",
    "Capture",
    "Cbt",
    "Edge",
    "External",
    "Failures",
    "Flow",
    "Host",
    "Igmp",
    "Lab",
    "Ldp",
    "Link",
    "Lsp",
    "LspPing",
    "Mld",
    "Network",
    "Ospf",
    "P2mp",
    "Peer",
    "Pim",
    "Probing",
    "Recording",
    "Router",
    "Switch",
    "TcpFlow",
    "Tdp",
    "TwinplaneError",
    "TwinplaneWarning",
    "capture_interface",
    "fail_everything",
    "load_results",
    "queues",
    "report",
    "wire",
]

_HOMES = {
    "AtmLsr": "network.nodes",
    "AtmSwitch": "network.nodes",
    "Bfd": "model.generated",
    "Bgp": "model.generated",
    "Bridge": "network.nodes",
    "Capture": "network.handles",
    "Cbt": "model.generated",
    "Edge": "network.nodes",
    "External": "network.nodes",
    "Failures": "failing.failures",
    "Flow": "network.handles",
    "Host": "network.nodes",
    "Igmp": "model.generated",
    "Lab": "lab",
    "Ldp": "model.generated",
    "Link": "network.handles",
    "Lsp": "network.handles",
    "P2mp": "network.handles",
    "LspPing": "model.generated",
    "Mld": "model.generated",
    "Network": "network",
    "Ospf": "model.generated",
    "Peer": "network.nodes",
    "Pim": "model.generated",
    "Probing": "model.generated",
    "Recording": "network.recording",
    "Router": "network.nodes",
    "Switch": "network.nodes",
    "TcpFlow": "network.handles",
    "Tdp": "model.generated",
    "TwinplaneError": "errors",
    "TwinplaneWarning": "errors",
    "capture_interface": "network.tapping",
    "fail_everything": "failing",
    "report": "reports",
}


def __getattr__(name: str) -> Any:
    if name in ("queues", "traffic", "wire"):
        return importlib.import_module(f".{name}", __name__)
    if name == "load_results":
        return importlib.import_module(".results", __name__).load
    if name == "__version__":
        from .version import version

        return version()
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
