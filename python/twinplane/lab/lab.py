"""A lab from Python: up, looked into, commanded, captured, down."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import declared, frames
from ..errors import TwinplaneError, suggest, warn
from ..network import lowering
from . import kinds, making, netns, processes, removing, state
from .asking import ask
from .making import TIMEOUT_S, Report
from .plan import Plan, plan
from .processes import Process
from .starting import Starting, bury
from .state import NodeState, State

if TYPE_CHECKING:
    import polars as pl

    from ..network import Network
    from .capturing import Capture


def left_of(known: list[Process]) -> set[Process]:
    """Those processes that have not ended."""
    bury()
    return {process for process in known if process.alive()}


def _planned(file: Path, measured: Sequence[str]) -> Plan:
    lowered = lowering.lower(file)
    hosts = [name for name, node in lowered.description["nodes"].items() if node["kind"] == "host"]
    for name in measured:
        if name not in hosts:
            raise TwinplaneError(f"measured: '{name}': no host has that name{suggest(name, hosts)}")
    return plan(lowered, measured=frozenset(measured))


class LabNode:
    """A node of a lab that is up."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name = lab, name
        self.state = lab.state.node(name)

    @property
    def kind(self) -> str:
        """router, host, external, tester or station."""
        return self.state.kind

    @property
    def address(self) -> str:
        """A host's address, a router's loopback."""
        return self.state.address

    @property
    def namespace(self) -> str | None:
        """The network namespace."""
        return self.state.namespace

    def ask(self, request: str, argument: Any = None, *, wait_s: float = 0.0) -> Any:
        """Ask a router at its control socket."""
        if not kinds.of(self.kind).answers:
            words = "only routers and switches have a control socket"
            raise TwinplaneError(f"'{self.name}' is of kind {self.kind}: {words}")
        return ask(self.lab.state, self.name, request, argument, wait_s=wait_s)

    def columns(self, table: str) -> frames.Columns:
        """A table as the router gives it."""
        found: frames.Columns = self.ask("table", table)
        return found

    def table(self, table: str) -> pl.DataFrame:
        """A table as a data frame, times in seconds; its schema is that of the same table in virtual time."""
        return frames.typed(self.columns(table), declared.of_router(table))

    def command(self, lsp: str, do: str, routes: Sequence[Sequence[str]] | None = None) -> None:
        """Tell the head end of an LSP to signal, tear, reoptimise or route it."""
        given: dict[str, Any] = {"lsp": lsp, "do": do}
        if routes is not None:
            given["routes"] = [list(route) for route in routes]
        self.ask("command", given)

    def status(self) -> dict[str, Any]:
        """What a router says about itself."""
        found: dict[str, Any] = self.ask("status")
        return found

    def exec(self, *command: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command here; see `Lab.exec`."""
        return self.lab.exec(self.name, *command, check=check, **options)

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<{self.kind} {self.name} of lab {self.lab.name}>"


class Lab:
    """A lab, from a file or from a network; as a context it is up inside and down behind.

    .. code-block:: python

        with Lab("two-sites.yaml") as lab:
            print(lab.exec("left", "ping", "-c", "1", "10.2.0.2").stdout)
            print(lab.node("p").table("ilm"))
    """

    def __init__(self, what: str | Path | Plan, measured: Sequence[str] = ()) -> None:
        """From a file, whose hosts `measured` are to be in this process (`Lab.network`); or from a plan."""
        self.plan = what if isinstance(what, Plan) else _planned(Path(what), measured)
        self.name = self.plan.name
        for text in self.plan.warnings:
            warn(text)
        self._state: State | None = None

    @classmethod
    def attached(cls, name: str) -> Lab:
        """A lab that is up already, made by whomever. It can't be brought up again through this object."""
        found = cls.__new__(cls)
        found.name = name
        found._state = state.running(name)
        if found._state.phase != "up":
            raise TwinplaneError(f"lab '{name}' is half made: `twinplane lab down {name}`")
        return found

    @property
    def state(self) -> State:
        """What is kept about it while it is up."""
        if self._state is None:
            raise TwinplaneError(f"lab '{self.name}' is not up")
        return self._state

    def up(self, timeout_s: float = TIMEOUT_S, report: Report | None = None) -> Lab:
        """Make it, and wait until routers are ready and LSPs are up; or leave nothing behind."""
        self._state = making.up(self.plan, timeout_s, report)
        return self

    def down(self) -> None:
        """Remove all of it; fine twice."""
        removing.down(self.name)
        self._state = None

    def node(self, name: str) -> LabNode:
        """A node by name."""
        return LabNode(self, name)

    def network(self) -> Network:
        """The network of the lab by the clock, with its testers and `measured` hosts in this process.

        Flows and programs at these nodes meet what the others are in the lab: a flow by `Network.tcp` between
        a host here and another one, say, whose kernel listens or connects.
        """
        from .testing import tester_placement

        if self.plan.file is None:
            raise TwinplaneError(f"lab '{self.name}': it has no file to read its network from")
        placement = tester_placement(self)
        found = lowering.lower(Path(self.plan.file)).network
        found.go_live(placement)
        return found

    def words(self, node: str, command: Sequence[str]) -> list[str]:
        """The command that runs another one in a node's namespace."""
        from .kernel import find_ip

        namespace = self.state.node(node).namespace
        if namespace is None:
            raise TwinplaneError(f"'{node}' is outside the lab: run the command as it is")
        if netns.identity(netns.path_of(namespace)) is None:
            raise TwinplaneError(
                f"'{node}': its namespace {namespace} is gone: `twinplane lab down {self.name}`"
            )
        return [find_ip(), "netns", "exec", namespace, *command]

    def environment(self, node: str) -> dict[str, str]:
        """For whatever is started in a node: so that it is found when the lab goes down."""
        own = kinds.of(self.state.node(node).kind).environment(self.state, node)
        return {**os.environ, **own, processes.MARK: str(self.state.folder)}

    def exec(
        self, node: str, *command: str, check: bool = True, timeout: float | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a node and wait for it; a code that is not 0 is an error if `check`."""
        options = {"capture_output": True, "text": True, **options}
        words = self.words(node, command)
        done = subprocess.run(words, env=self.environment(node), timeout=timeout, check=False, **options)
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout or "").strip().splitlines()
            why = f": {said[-1].strip()}" if said else ""
            raise TwinplaneError(f"'{' '.join(command)}' in '{node}' ended with {done.returncode}{why}")
        return done

    def start(self, node: str, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a node, and go on; it ends with the lab at the latest."""
        options = {"text": True, "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen(self.words(node, command), env=self.environment(node), **options)

    def restart(self, node: str, timeout_s: float = TIMEOUT_S, only: str | None = None) -> None:
        """Start a router again, whether it runs or was killed; it has forgotten everything.

        `only` is one of its processes: `router`, or a daemon, such as `ovs-vswitchd` of one whose forwarding
        plane is Open vSwitch; the others go on.
        """
        with state.locked(self.name):
            found = state.running(self.name)
            self._state = found
            member = found.node(node)
            kind = kinds.of(member.kind)
            if not kind.runs:
                raise TwinplaneError(f"'{node}' is of kind {member.kind}: only routers are restarted")
            known = self._named(member, node, only)
            processes.end(lambda: left_of(known))
            member.incarnation += 1
            starting = Starting(found)
            kind.restart(starting, node, only)
            found.save()
            starting.ready(time.monotonic() + timeout_s)
            found.save()

    def _named(self, member: NodeState, node: str, only: str | None) -> list[Process]:
        """The processes of a node, or one of them."""
        if only is None:
            return member.processes()
        own = {} if member.process is None else {"router": member.process}
        named = own | member.daemons
        if only not in named:
            raise TwinplaneError(f"'{node}' has no process '{only}'{suggest(only, list(named))}")
        return [named[only]]

    def kill(self, node: str, only: str | None = None) -> None:
        """Kill a router as if its power went, with SIGKILL; or `only` one of its processes."""
        known = self._named(self.state.node(node), node, only)
        running = left_of(known)
        if not running:
            raise TwinplaneError(f"router '{node}' is not running")
        for process in running:
            processes.send(process, signal.SIGKILL)
        processes.wait_until(lambda: not left_of(known), 5.0)

    def capture(self, link: str, **options: Any) -> Capture:
        """Capture a link; see `twinplane.lab.capturing.Capture`."""
        from .capturing import Capture

        return Capture(self, link, **options)

    def __enter__(self) -> Lab:
        """Up."""
        return self.up()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Down."""
        self.down()

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<lab {self.name}, {'not up' if self._state is None else 'up'}>"
