"""``lab up``: everything is made and waited for, or nothing is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from .. import core
from ..errors import TwinplaneError
from ..network.history import error_words
from . import kernel, kinds, looking, netns, processes, removing, state
from .asking import ask
from .plan import Member, Plan
from .programs import router_program
from .starting import Starting, last_line, run_commands
from .state import NodeState, State

TIMEOUT_S = 30.0

Report = Callable[[str, int, int], None]
"""Is told what is waited for, how many of how many."""


def up(plan: Plan, timeout_s: float = TIMEOUT_S, report: Report | None = None) -> State:
    """Make a lab, and wait until its routers are ready and its LSPs are up."""
    if not netns.may_make():
        raise TwinplaneError(
            f"lab '{plan.name}': making network namespaces needs root"
            " (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo"
        )
    if any(kinds.of(member.kind).answers for member in plan.members.values()):
        router_program()
    limit = time.monotonic() + timeout_s
    with state.locked(plan.name):
        _refuse_second(plan.name)
        kernel.check(plan)
        made = _first_state(plan)
        try:
            (made.folder / "nodes").mkdir(parents=True, mode=0o700)
            made.folder.chmod(0o700)
            made.save()
            kernel.make(plan, made.folder)
            _start(plan, made, limit, report or (lambda *_: None))
            made.phase, made.since = "up", time.time()
            made.save()
        except BaseException:
            removing.remove(plan.name)
            raise
    return made


def _refuse_second(name: str) -> None:
    if not state.folder(name).exists():
        return
    found = state.load(name)
    if found is not None and found.phase == "up":
        raise TwinplaneError(f"lab '{name}' is up already: `twinplane lab down {name}` first")
    raise TwinplaneError(
        f"lab '{name}' is half made, by a command that was killed: `twinplane lab down {name}` first"
    )


def _first_state(plan: Plan) -> State:
    nodes = {name: _node(member) for name, member in plan.members.items()}
    links = [[f"{a.node}:{a.name}", f"{b.node}:{b.name}"] for a, b in plan.links]
    maker = processes.of(os.getpid())
    return State(plan.name, plan.file, maker, nodes, links, epoch_ns=time.monotonic_ns())


def _node(member: Member) -> NodeState:
    address = member.interfaces[0].address if member.kind == "host" else member.loopback
    names = [end.name for end in member.interfaces]
    return NodeState(member.kind, member.namespace, address, names, record=member.record)


def _start(plan: Plan, made: State, limit: float, report: Report) -> None:
    starting = Starting(made)
    description = core.for_processes(plan.description)
    for member in plan.members.values():
        kinds.of(member.kind).start(starting, plan, member, description)
    made.save()
    starting.ready(limit)
    started = [member for member in plan.members.values() if kinds.of(member.kind).runs]
    report("routers", len(started), len(started))
    wait_for_addresses(plan, made, limit)
    for member in plan.of_kind("host"):
        run_commands(made, member.name, member.exec, limit)
    wait_for_lsps(plan, made, limit, report)


def wait_for_addresses(plan: Plan, made: State, limit: float) -> None:
    """Wait until the hosts have the IPv6 addresses that they make of what routers advertise."""
    for member in plan.of_kind("host"):
        for end in member.interfaces:
            if end.slaac and end.ipv6 is not None:
                with netns.inside(str(member.namespace)):
                    left = limit - time.monotonic()
                    there = processes.wait_until(partial(netns.may_use, end.name, end.ipv6), left)
                if not there:
                    raise TwinplaneError(
                        f"lab '{made.name}': host '{member.name}' has no IPv6 address {end.ipv6} in time:"
                        " no router advertises its prefix, or somebody else has it"
                    )


def wait_for_lsps(plan: Plan, made: State, limit: float, report: Report) -> None:
    """Wait until every LSP that is signalled at once is up."""
    due: dict[str, int] = {}
    for lsp in plan.description["lsps"]:
        head = lsp["from"]
        if lsp["signal"] and plan.members[head].kind == "router":
            due[head] = due.get(head, 0) + int(lsp["count"])
    step = 0.002
    while due:
        up = {name: _tunnels_up(made, name) for name in due}
        report("LSPs", sum(min(up[name], due[name]) for name in due), sum(due.values()))
        if all(up[name] >= due[name] for name in due):
            return
        if time.monotonic() > limit:
            raise TwinplaneError(f"lab '{made.name}': {_missing(plan, made)}")
        time.sleep(step)
        step = min(step * 1.3, 0.1)


def _tunnels_up(made: State, name: str) -> int:
    node = made.nodes[name]
    if node.process is not None and not node.process.alive():
        said = last_line(made.log(name)).removeprefix("twinplane-router: ")
        raise TwinplaneError(f"lab '{made.name}': router '{name}' ended{f': {said}' if said else ''}")
    return int(ask(made, name, "status")["tunnels"]["up"])


def _missing(plan: Plan, made: State) -> str:
    for lsp in plan.description["lsps"]:
        head = lsp["from"]
        if not lsp["signal"] or plan.members[head].kind != "router":
            continue
        for row in looking.heads(made, head):
            if row["state"] != "up" and str(row["lsp"]).startswith(str(lsp["name"])):
                how = "nobody answered"
                if row["failures"]:
                    times = f"{row['failures']} time{'' if row['failures'] == 1 else 's'}"
                    how = f"it was refused {times}{_why(made, head, row['tunnel'])}"
                return f"lsp '{row['lsp']}' from '{head}' is not up in time: {how}"
    return "not every LSP is up in time"


def _why(made: State, head: str, tunnel: int) -> str:
    """What the last error of a tunnel was, and who found it."""
    for event in reversed(ask(made, head, "table", "events")["event"]):
        if event.get("event") == "lsp-error" and event.get("tunnel", {}).get("id") == tunnel:
            words = error_words(event.get("code"), event.get("value"))
            where = looking.owner(made, str(event.get("node")))
            return f", by '{where}': {words}" if words else ""
    return ""
