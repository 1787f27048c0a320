"""What a program of the kept set shows: facts and tables, taken from networks, captures and folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import api
from .canonical import bytes_digest

FACTS = "(facts)"
"""The table of single values: digests, hashes of captures, figures."""

NODE = "(node)"
"""In a table that is asked of each node: whose rows these are."""

PACKETS = 400
"""Frames kept of each link that is captured."""

MANIFEST_VARIES = (
    *("versions", "revision", "machine", "invoked", "finished_unix_s", "wall_s", "jobs", "threads"),
    "command",
)
"""Entries of manifest.json that differ between machines, builds and folders: that they are there is kept."""

METRICS_VARY = ("run_s",)
"""Metrics that are times on the wall: only that they are there is kept."""


class Seen:
    """Facts and tables of one program, under the names of the tree that ran it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """A folder for files of the program's own."""
        self.facts: dict[str, Any] = {}
        self.tables: dict[str, dict[str, list[Any]]] = {}
        self._taps: list[tuple[str, Any]] = []

    def fact(self, name: str, value: Any) -> None:
        """Keep a single value."""
        if name in self.facts:
            raise ValueError(f"fact {name!r} is there twice")
        self.facts[name] = value

    def table(self, name: str, columns: Mapping[str, Iterable[Any]]) -> None:
        """Keep a table: columns of equal length by name."""
        if name in self.tables:
            raise ValueError(f"table {name!r} is there twice")
        self.tables[name] = {key: list(values) for key, values in columns.items()}

    def content(self, name: str, content: bytes) -> None:
        """Keep the hash of bytes."""
        self.fact(name, bytes_digest(content))

    def tap(self, net: Any, part: str = "", packets: int = PACKETS) -> Any:
        """Capture the first frames of every link; `network` takes the captures. Returns the network."""
        for link in net.links:
            self._taps.append((part, net.capture(link, packets=packets)))
        return net

    def finish(self) -> None:
        """Let go of the networks; what is left can go from one process to another."""
        if self._taps:
            raise ValueError(f"captures of a network that was not handed over: {self._taps[0][0]!r}")

    def network(self, net: Any, part: str = "", tables: Iterable[str] = api.NETWORK_TABLES) -> None:
        """Keep all that a network that has run shows: digest, captures, tables, addresses, history, flows."""
        begin = f"{part}/" if part else ""
        self.fact(f"{begin}digest", net.digest())
        self.fact(f"{begin}now", net.now)
        self.fact(f"{begin}events done", net.events_done)
        self.fact(f"{begin}addresses", api.places(net))
        for owner, tap in self._taps:
            if owner == part:
                name = f"{tap.link.index:02d} {tap.link.a.name} - {tap.link.b.name}"
                self.content(f"{begin}capture {name}", tap.bytes())
        self._taps = [item for item in self._taps if item[0] != part]
        for name in tables:
            if name not in api.ONLY_OF_A_NODE:
                found = api.columns(net, name)
                if found is not None and not (name == "queue_series" and not found):
                    self.table(f"{begin}{name}", found)
            if name in api.OF_A_NODE:
                stacked = name if name in api.ONLY_OF_A_NODE else f"{name} of nodes"
                self.stack(
                    f"{begin}{stacked}", ((node.name, api.columns(net, name, node)) for node in net.nodes)
                )
        self.stack(f"{begin}Lsp.history", ((lsp.name, api.frame(lsp.history)) for lsp in net.lsps))
        self.stack(f"{begin}Flow.stats", ((flow.name, api.frame(flow.stats())) for flow in net.flows))

    def stack(self, name: str, parts: Iterable[tuple[str, Mapping[str, list[Any]] | None]]) -> None:
        """Keep tables of several owners as one, with a column that says whose a row is."""
        whole: dict[str, list[Any]] = {}
        height = 0
        for owner, columns in parts:
            if columns is None:
                continue
            rows = len(next(iter(columns.values()), []))
            for key in (NODE, *columns):
                whole.setdefault(key, [None] * height)
            for key, values in whole.items():
                values.extend([owner] * rows if key == NODE else columns.get(key, [None] * rows))
            height += rows
        if whole:
            self.table(name, whole)

    def experiment(self, name: str, seed: int = 1, **settings: Any) -> None:
        """Run one point of an experiment in this process, and keep its networks and its outcome."""
        with api.quiet() as said:
            parts, joined = api.experiment(name, settings, seed, self._begun)
            for part, net in parts:
                self.network(net, part)
            metrics, tables, topology = joined()
        for key, value in metrics.items():
            self.fact(f"metric {key}", True if key in METRICS_VARY else value)
        for key, columns in tables.items():
            self.table(f"outcome {key}", columns)
        self.fact("topology", topology)
        self.fact("warnings", sorted(set(said)))

    def _begun(self, part: str, net: Any) -> None:
        self.tap(net, part)

    def command(self, *words: str, code: int = 0) -> Path:
        """Run ``twinplane run`` with a results folder, and keep what the folder holds."""
        out = self.folder / "results"
        done = api.command(*words, "--out", str(out))
        if done.returncode != code:
            raise RuntimeError(f"twinplane {' '.join(words)}: exit code {done.returncode}: {done.stderr}")
        self.results(out)
        return out

    def results(self, out: Path) -> None:
        """Keep the deterministic part of a results folder."""
        for name in ("manifest", "summary"):
            found = json.loads((out / f"{name}.json").read_text())
            for key, value in found.items():
                if name == "manifest" and key in MANIFEST_VARIES:
                    self.fact(f"manifest has {key}", True)
                else:
                    self._tree(f"{name} {key}", _without_paths(value, self.folder))
        for path in sorted((out / "tables").glob("*.parquet")):
            self.table(f"parquet {path.stem}", api.parquet(path))
        for path in sorted(out.rglob("*.pcapng")):
            self.content(f"capture {path.relative_to(out)}", path.read_bytes())
        files = (path.relative_to(out) for path in out.rglob("*") if path.is_file())
        self.fact("files", sorted(str(path) for path in files if path.parts[0] != "points"))

    def _tree(self, name: str, value: Any) -> None:
        """Keep every leaf of a tree of mappings; of lists only those of mappings are followed."""
        if isinstance(value, dict) and value:
            for key, item in value.items():
                self._tree(f"{name}.{key}", True if key in METRICS_VARY else item)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for place, item in enumerate(value):
                self._tree(f"{name}[{place}]", item)
        else:
            self.fact(name, value)


def _without_paths(value: Any, folder: Path) -> Any:
    """A value in whose texts the program's own folder and the repository's have no names."""
    root = Path(__file__).resolve().parents[2]
    if isinstance(value, str):
        return value.replace(str(folder), "FOLDER").replace(str(root), "ROOT")
    if isinstance(value, list):
        return [_without_paths(item, folder) for item in value]
    if isinstance(value, dict):
        return {key: _without_paths(item, folder) for key, item in value.items()}
    return value
