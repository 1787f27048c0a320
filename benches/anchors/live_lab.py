"""A lab of Twinplane routers for a measurement: brought up by the command line, and down whatever happens."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anchorlib import FailedError, MissingError
from live_bed import Namespace, run

COMMAND = Path(__file__).resolve().parents[2] / ".venv/bin/twinplane"
UP_LIMIT_S = 120.0


def check_lab() -> None:
    """Raise `MissingError` unless the command line is installed with its router."""
    for program in (COMMAND, COMMAND.with_name("twinplane-router")):
        if not program.exists():
            raise MissingError(f"{program.name} is not installed (make setup).")


@dataclass(frozen=True)
class Lab:
    """A lab that is up."""

    name: str

    def ask(self, *words: str) -> Any:
        """What the command line prints as JSON."""
        return json.loads(run([str(COMMAND), *words, "--json"]))

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Nodes by name, with process, namespace and interfaces."""
        return {node["node"]: node for node in self.ask("lab", "status", self.name)["nodes"]}

    def namespace(self, node: str) -> Namespace:
        """Where a node lives."""
        return Namespace(f"tp-{self.name}-{node}")

    def show(self, table: str, node: str) -> list[dict[str, Any]]:
        """Rows of a table of a router."""
        found: list[dict[str, Any]] = self.ask("node", "show", table, node, "--lab", self.name)
        return found

    def wait_for_lsps(self, node: str, count: int, limit_s: float = 60.0) -> None:
        """Wait until so many labels are bound in a transit router."""
        deadline = time.monotonic() + limit_s
        while len(found := self.show("ilm", node)) < count:
            if time.monotonic() > deadline:
                raise FailedError(f"Only {len(found)} of {count} LSPs came up within {limit_s:.0f} s.")
            time.sleep(0.2)

    def kill(self, node: str) -> None:
        """End a router so that nobody learns of it."""
        with suppress(ProcessLookupError):
            os.kill(self.nodes()[node]["pid"], signal.SIGKILL)


@contextmanager
def lab(text: str) -> Iterator[Lab]:
    """Bring up the lab that `text` (YAML without a name) describes."""
    name = f"bench-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="twinplane-lab-") as folder:
        file = Path(folder) / "lab.yaml"
        file.write_text(f"name: {name}\n{text}")
        try:
            run([str(COMMAND), "lab", "up", str(file), "--timeout", str(UP_LIMIT_S)], 2 * UP_LIMIT_S)
            yield Lab(name)
        finally:
            try:
                run([str(COMMAND), "lab", "down", name], UP_LIMIT_S)
            except FailedError as error:
                print(error, file=sys.stderr)
