"""``twinplane lab events``: a lab that is up does what the events of its file say."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import units
from ..errors import TwinplaneError
from .faults import WORDS

if TYPE_CHECKING:
    from ..lab import Lab
    from ..network import Network

AHEAD_S = 0.3
"""So long before its time routers are told of an event: it happens at its time all the same."""
LONGEST = "1 h"
"""So far events go that never end, where nothing else is said."""
OF_NODES = {"node-down": "fail", "node-up": "heal", "heal-all": "heal all"}


@dataclass(frozen=True)
class Due:
    """Something that routers are told."""

    at_s: float
    nodes: tuple[str, ...]
    request: str
    argument: dict[str, Any]


def waiting(count: int, name: str) -> str:
    """What `lab up` says of events that it does not carry out."""
    what, verb = ("its event", "waits") if count == 1 else (f"its {count} events", "wait")
    return f"events  {what} {verb}: twinplane lab events {name}"


def carry_out(lab: Lab, file: Path, beside: Path | None, until: str | None) -> None:
    """Tell routers of each event shortly before its time, and say what happens, until the last or Ctrl-C."""
    until_ps = units.span_ps(LONGEST if until is None else until, "until")
    network = _network(lab, file, beside)
    routers = {name for name, node in lab.state.nodes.items() if node.kind == "router"}
    due = [
        Due(one["at_ps"] / 1e12, tuple(node for node in one["nodes"] if node in routers), *_asked(one))
        for one in json.loads(network.draft.core.agenda(until_ps))
    ]
    if not due:
        shown = units.format_time(until_ps / 1e12)
        raise TwinplaneError(f"{file}: no event of a link, a router or an LSP happens within {shown}")
    begin_s = time.monotonic() + AHEAD_S
    epoch_s = (lab.state.epoch_ns or 0) / 1e9
    told: deque[Due] = deque()
    for one in due:
        # What has been told happens before the next one is to be told of.
        while told and told[0].at_s <= one.at_s - AHEAD_S:
            _show(network, told.popleft(), begin_s)
        _sleep_until(begin_s + one.at_s - AHEAD_S)
        _tell(lab, one, begin_s - epoch_s)
        told.append(one)
    for one in told:
        _show(network, one, begin_s)


def _asked(one: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return one["request"], one["argument"]


def _tell(lab: Lab, one: Due, ahead_s: float) -> None:
    argument = {**one.argument, "at": round((one.at_s + ahead_s) * 1e12)}
    for node in one.nodes:
        lab.node(node).ask(one.request, argument)


def _show(network: Network, one: Due, begin_s: float) -> None:
    _sleep_until(begin_s + one.at_s)
    typer.echo(f"{units.format_time(one.at_s):>10}  {_words(network, one)}")


def _sleep_until(moment_s: float) -> None:
    time.sleep(max(0.0, moment_s - time.monotonic()))


def _network(lab: Lab, file: Path, beside: Path | None) -> Network:
    """The file of the lab with its events, checked against the lab."""
    from ..experiments.events import add
    from ..network import Network

    network = Network.from_file(file)
    ends = [[link.a.name, link.b.name] for link in network.links]
    if ends != [[end.partition(":")[0] for end in link] for link in lab.state.links]:
        raise TwinplaneError(f"{file}: it has other links than lab '{lab.name}': take it down and up again")
    add(network, beside)
    if not network.draft.core.event_count:
        raise TwinplaneError(f"{file}: it has no events: 'events: [{{at: 5 s, fail: [a, b]}}]', or --events")
    return network


def _words(network: Network, one: Due) -> str:
    """What is done, as a file says it."""
    said = one.argument
    if one.request == "command":
        return f"{said['do']} {said['lsp']}"
    kind = said["fault"]
    names = {fault: word for word, fault in WORDS.items()} | OF_NODES
    what = names.get(kind, kind)
    if (link := said.get("link")) is not None:
        what += " {0.a.name}-{0.b.name}".format(network.links[link])
    elif (node := said.get("node")) is not None:
        what += f" {network.nodes[node].name}"
    return f"{what} is over" if said.get("end") else what
