"""All that the kept set knows of Twinplane's Python interface.

Programs are written with the names of revision e97eafa, for good. Where a name of the interface changes, it
is entered here once (`ATTRIBUTES`, `KEYWORDS`, `WORDS`), and every program goes on. At that revision itself,
where the goldens were made, all three tables are empty.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import twinplane
from twinplane import Network, TwinplaneError, traffic, wire
from twinplane.experiments import load as _experiment

ATTRIBUTES: dict[str, str] = {}
"""Methods and properties of networks and their handles: what programs say, and what it is called today."""

KEYWORDS: dict[str, str] = {"exp_map": "tc_map", "exp": "tc"}
"""Keyword arguments, and keys of mappings that describe queues, filters and DiffServ."""

WORDS: dict[str, str] = {"remark AF12 as EXP 3 below labels": "remark AF12 as TC 3 below labels"}
"""Texts among arguments, such as the name of a discipline."""

NETWORK_TABLES = (
    *("bandwidth", "conditioners", "counters", "delays", "drops", "events", "fib", "flow_series", "flows"),
    *("ftn", "ilm", "interfaces", "lateness", "lsp_log", "lsps", "messages", "neighbors", "packets", "ports"),
    *("processors", "queue_series", "queues", "routes", "series", "signals", "state", "steps", "streams"),
    "tunnels",
)
"""The core's tables; those that want a node are asked of every node that has them."""

OF_A_NODE = (
    *("bandwidth", "counters", "fib", "ftn", "ilm", "lsps", "neighbors", "tunnels"),
    *("drops", "queues", "conditioners", "signals"),
)
"""Tables that can be asked of one node."""

ONLY_OF_A_NODE = ("bandwidth", "counters", "fib", "ftn", "ilm", "neighbors", "tunnels")
"""Tables that have to be."""


class Proxy:
    """A network or one of its handles under the names that programs use."""

    def __init__(self, inner: Any) -> None:
        object.__setattr__(self, "_inner", inner)

    def __getattr__(self, name: str) -> Any:
        return _outward(getattr(self._inner, ATTRIBUTES.get(name, name)))

    def __len__(self) -> int:
        return len(self._inner)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Proxy) and self._inner is other._inner

    def __hash__(self) -> int:
        return id(self._inner)


def _outward(value: Any) -> Any:
    if callable(value):

        def call(*args: Any, **named: Any) -> Any:
            return _outward(value(*_inward(args), **_inward(named)))

        return call
    if isinstance(value, list):
        return [_outward(item) for item in value]
    ours = type(value).__module__.partition(".")[0] == "twinplane"
    return Proxy(value) if ours else value


def _inward(value: Any) -> Any:
    if isinstance(value, Proxy):
        return value._inner
    if isinstance(value, str):
        return WORDS.get(value, value)
    if isinstance(value, Mapping):
        return {
            KEYWORDS.get(key, key) if isinstance(key, str) else key: _inward(item)
            for key, item in value.items()
        }
    if isinstance(value, tuple | list):
        return type(value)(_inward(item) for item in value)
    return value


def network(seed: int = 1, **options: Any) -> Any:
    """An empty network."""
    return Proxy(Network(seed=seed, **_inward(options)))


def from_file(path: Path, seed: int | None = None, **options: Any) -> Any:
    """The network of a YAML file."""
    return Proxy(Network.from_file(path, seed, **_inward(options)))


def from_graphml(path: Path, seed: int = 1, **options: Any) -> Any:
    """The network of a GraphML file."""
    return Proxy(Network.from_graphml(path, seed=seed, **_inward(options)))


def source(name: str, /, *args: Any, **named: Any) -> Any:
    """An arrival process or a distribution of sizes by its class name, such as ``OnOff``."""
    return getattr(traffic, name)(*args, **_inward(named))


def recording(text: str) -> Any:
    """A recording from its text."""
    return Proxy(twinplane.Recording(text))


def decode(frame: bytes) -> Any:
    """The layers of a frame."""
    return wire.decode(frame)


def encode(layers: Any) -> bytes:
    """The bytes of layers."""
    return wire.encode(layers)


def summary(frame: bytes) -> str:
    """A line on a frame."""
    return wire.summary(frame)


def columns(net: Any, table: str, node: Any = None) -> dict[str, list[Any]] | None:
    """A table of the core: columns of equal length by name; None if this node has no such table."""
    try:
        found = net._inner.columns(table, None if node is None else node._inner)
    except TwinplaneError as error:
        if node is not None and "is no router" in str(error):
            return None
        raise
    return {name: list(values) for name, values in found.items()}


def frame(made: Any) -> dict[str, list[Any]]:
    """The columns of a data frame."""
    return {name: made[name].to_list() for name in made.columns}


def described(net: Any) -> Any:
    """The description that the core is given."""
    return net._inner.described()


def places(net: Any) -> list[Any]:
    """Addresses and ports of every node, addresses of every link."""
    inner = net._inner
    return [
        *(inner.node_info(node.index) for node in inner.nodes),
        *(inner.link_info(link.index) for link in inner.links),
    ]


def experiment(
    name: str, settings: Mapping[str, Any], seed: int, begun: Callable[[str, Any], None]
) -> tuple[Iterator[tuple[str, Any]], Callable[[], tuple[dict[str, Any], dict[str, Any], Any]]]:
    """The parts of one point as networks that have run, and what gives metrics, tables and topology."""
    found = _experiment(name)
    parameters = found.parameters.model_validate(dict(settings))
    outcomes: dict[str, Any] = {}

    def parts() -> Iterator[tuple[str, Any]]:
        for part, own in found.parts(parameters).items():
            net = found.build(own, seed)
            begun(part, Proxy(net))
            found.run(net, own)
            outcomes[part] = found.summarise(net, own)
            yield part, Proxy(net)

    def joined() -> tuple[dict[str, Any], dict[str, Any], Any]:
        outcome = found.joined(parameters, outcomes)
        return outcome.metrics, outcome.tables, outcome.topology

    return parts(), joined


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """A command of the command line, which makes all files that it can."""
    environment = {**os.environ, "TWINPLANE_FIGURES": "png,svg"}
    return subprocess.run(
        [sys.executable, "-m", "twinplane", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def parquet(path: Path) -> dict[str, list[Any]]:
    """The columns of a Parquet file."""
    import polars as pl

    return frame(pl.read_parquet(path))


@contextlib.contextmanager
def quiet() -> Iterator[list[str]]:
    """Collect warnings, as their sentences, in place of printing them."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    said.extend(str(one.message) for one in caught)
