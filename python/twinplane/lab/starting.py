"""Starts the processes of a lab, and waits until they are ready."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import TwinplaneError
from . import netns, processes
from .programs import router_program
from .state import NodeState, State

CHILDREN: list[subprocess.Popen[bytes]] = []
"""Those that this process started and has to bury, once they are dead."""


def bury() -> None:
    """Take note of children that ended, so that they are gone from the list of processes."""
    CHILDREN[:] = [child for child in CHILDREN if child.poll() is None]


class Starting:
    """Router processes that have been started and are not known to be ready."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.waiting: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}
        self.rest: list[Callable[[float], None]] = []

    def later(self, what: Callable[[float], None]) -> None:
        """Have something done, with the time limit, when all that has been started is waited for."""
        self.rest.append(what)

    def router(self, name: str, placement: dict[str, Any], description: dict[str, Any]) -> None:
        """Start a router in its namespace."""
        node = self.state.nodes[name]
        with contextlib.ExitStack() as stack:
            read, write = os.pipe2(os.O_CLOEXEC)
            stack.callback(os.close, write)
            passed = [write]
            placement, outside = with_outside(placement)
            if outside is not None:
                stack.callback(os.close, outside)
                passed.append(outside)
            config = self.state.config(name)
            config.write_text(json.dumps({"description": description, "placement": placement}))
            words = [router_program(), "--node", name, "--config", str(config)]
            words += ["--socket", str(self.state.socket(name)), "--ready-fd", str(write)]
            if node.record is not None:
                words += ["--record", recorded_to(node)]
            log = stack.enter_context(self.state.log(name).open("ab"))
            child = spawn(words, node, self.state, log, passed)
        self.waiting[read] = (name, child)
        node.process = processes.of(child.pid)

    def ready(self, limit: float) -> None:
        """Wait until all are; `limit` is in monotonic time."""
        try:
            while self.waiting:
                left = limit - time.monotonic()
                if left <= 0:
                    names = ", ".join(f"'{name}'" for name, _ in self.waiting.values())
                    raise TwinplaneError(f"lab '{self.state.name}': not ready in time: {names}")
                for descriptor in select.select(list(self.waiting), [], [], left)[0]:
                    name, child = self.waiting[descriptor]
                    if not os.read(descriptor, 4096):
                        raise TwinplaneError(self.why(name, child))
                    del self.waiting[descriptor]
                    os.close(descriptor)
        finally:
            for descriptor in self.waiting:
                os.close(descriptor)
            self.waiting.clear()
        for what in self.rest:
            what(limit)
        self.rest.clear()

    def why(self, name: str, child: subprocess.Popen[bytes]) -> str:
        """What a router said that ended before it was ready."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(2)
        said = last_line(self.state.log(name)).removeprefix("twinplane-router: ")
        said = said.removeprefix(f"{name}: ") or f"it ended with code {child.returncode}"
        return f"lab '{self.state.name}': router '{name}': {said}"


def with_outside(placement: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Interfaces outside the lab are reached by an inherited descriptor of the present namespace."""
    if all(port["netns"] is not None for port in placement["ports"]):
        return placement, None
    outside = os.open(netns.OWN, os.O_RDONLY | os.O_CLOEXEC)
    path = f"/proc/self/fd/{outside}"
    ports = [{**port, "netns": port["netns"] or path} for port in placement["ports"]]
    return {**placement, "ports": ports}, outside


def recorded_to(node: NodeState) -> str:
    """The file of a recording; each life of a router has its own."""
    path = Path(str(node.record))
    return str(
        path if node.incarnation == 0 else path.with_name(f"{path.stem}-{node.incarnation}{path.suffix}")
    )


def spawn(
    words: list[str], node: NodeState, state: State, log: BinaryIO, passed: list[int] | None = None
) -> subprocess.Popen[bytes]:
    """Start a process in a node's namespace; it outlives this one."""
    environment = {**os.environ, processes.MARK: str(state.folder)}
    with netns.inside(str(node.namespace)):
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            pass_fds=passed or [],
            start_new_session=True,
            cwd="/",
        )
    CHILDREN.append(child)
    return child


def run_commands(state: State, name: str, commands: list[str], limit: float) -> None:
    """A host's own commands, one after another."""
    for command in commands:
        with state.log(name).open("ab") as log:
            child = spawn(["/bin/sh", "-c", command], state.nodes[name], state, log)
        try:
            code = child.wait(max(limit - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise TwinplaneError(
                f"host '{name}': exec '{command}' does not end: put ' &' behind what is to go on running"
            ) from None
        if code != 0:
            said = last_line(state.log(name))
            raise TwinplaneError(
                f"host '{name}': exec '{command}' ended with {code}{': ' if said else ''}{said}"
            )


def last_line(path: Path) -> str:
    """The last thing that a process said."""
    try:
        lines = path.read_bytes()[-4096:].decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
