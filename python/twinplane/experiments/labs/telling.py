"""Events of a run on a lab: routers are told of them by their control sockets, with the time of each."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from ...errors import TwinplaneError

if TYPE_CHECKING:
    from ...lab import Lab
    from ...network import Network

LONGEST_S = 3600.0
"""So far ahead routers are told of events, where the end of the run is not known."""


class Telling:
    """Requests to the routers of a lab, sent beside the run that has just begun."""

    def __init__(self, lab: Lab, network: Network, end_s: float | None) -> None:
        self.lab = lab
        until_ps = round((LONGEST_S if end_s is None else end_s) * 1e12)
        self._asked = json.loads(network.draft.core.agenda(until_ps))
        # The clock of the run begins here; that of the routers began with the lab.
        network.run(until=0)
        epoch_ns = network.running().epoch_ns() or 0
        self._ahead_ps = (epoch_ns - (lab.state.epoch_ns or 0)) * 1000
        self._error: TwinplaneError | None = None
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        routers = {name for name, node in self.lab.state.nodes.items() if node.kind == "router"}
        try:
            for one in self._asked:
                argument = {**one["argument"], "at": one["at_ps"] + self._ahead_ps}
                for name in dict.fromkeys(one["nodes"]):
                    if name in routers:
                        self.lab.node(name).ask(one["request"], argument)
        except TwinplaneError as error:
            self._error = error

    def finish(self) -> None:
        """All has been told; what a router refused is an error."""
        self._thread.join()
        if self._error is not None:
            raise self._error
