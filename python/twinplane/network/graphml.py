"""Networks from Topology Zoo files (GraphML).

The node id is the key, since names repeat and are missing; parallel edges stay apart. A file that lacks
something gets a stated default:

- rate: ``LinkSpeedRaw`` where given, else 1 Gbit/s;
- propagation: 5 us for each kilometre of great circle between the ends (light in fibre at two thirds of
  its speed in vacuum), at least 1 us; 1 ms where an end has no coordinates.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import units
from ..errors import TwinplaneError, UnknownNameError, one_line, os_reason, suggest
from ..units import Quantity
from .trees import is_description

if TYPE_CHECKING:
    from .describing import Describing
    from .draft import Draft

DEFAULT_RATE = "1 Gbit/s"
DEFAULT_DELAY = "1 ms"
US_PER_KM = 5.0
LEAST_DELAY_US = 1.0
EARTH_RADIUS_KM = 6371.0


@dataclass(frozen=True)
class Place:
    """A node of a file."""

    key: str
    label: str
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True)
class Edge:
    """An edge of a file: indices of its ends, and the rate if one is given."""

    a: int
    b: int
    rate_bps: int | None = None


@dataclass
class Topology:
    """What a file says."""

    name: str
    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def distance_km(self, edge: Edge) -> float | None:
        """Great-circle distance between the ends of an edge, if both have coordinates."""
        return great_circle_km(self.places[edge.a], self.places[edge.b])


def great_circle_km(a: Place, b: Place) -> float | None:
    """Distance on a sphere (haversine); None without coordinates."""
    if a.latitude is None or a.longitude is None or b.latitude is None or b.longitude is None:
        return None
    phi, psi = math.radians(a.latitude), math.radians(b.latitude)
    half = math.sin((psi - phi) / 2) ** 2
    turn = math.sin(math.radians(b.longitude - a.longitude) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(half + math.cos(phi) * math.cos(psi) * turn)))


def delay_us(distance_km: float) -> float:
    """Propagation over a distance."""
    return max(LEAST_DELAY_US, US_PER_KM * distance_km)


LARGEST = "largest"
"""The component with the most nodes; among equals, that whose first node comes first in the file."""


def read(path: Path, component: str | None = None) -> Topology:
    """Read a file; one clear sentence if it is not a connected GraphML graph.

    Of a graph that is not connected, ``component`` says which part is meant: `LARGEST`, or that of a node, by
    its id or its name. The others are left out.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise TwinplaneError(f"{path}: cannot be read: {os_reason(error)}") from None
    if b"<!ENTITY" in text:
        raise TwinplaneError(f"{path}: not read: it declares XML entities, which no topology needs")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise TwinplaneError(f"{path}: not well-formed XML: {one_line(error)}") from None
    topology = _graph(path, root)
    parts = components(topology)
    if component is not None:
        return _part(path, topology, parts, component)
    if len(parts) > 1:
        count = len(topology.places)
        apart = count - len(parts[0])
        raise TwinplaneError(
            f"{path}: the topology is disconnected: {apart} of {count} nodes cannot be reached from node"
            f" {topology.places[0].key!r}, node {topology.places[parts[1][0]].key!r} for one; component"
            f" {LARGEST!r} takes the largest of its {len(parts)} parts, the name of a node that node's"
        )
    return topology


def _part(path: Path, topology: Topology, parts: list[list[int]], component: str) -> Topology:
    """One of the parts of a topology."""
    if component == LARGEST:
        part = max(parts, key=len)
    else:
        names = node_names(topology.places)
        named = [n for n, place in enumerate(topology.places) if component in (place.key, names[n])]
        if not named:
            raise TwinplaneError(
                f"{path}: component: there is no node {component!r}; {LARGEST!r}, a node's id or its name is"
                " meant"
            )
        part = next(part for part in parts if named[0] in part)
    if len(part) < 2:
        raise TwinplaneError(f"{path}: component {component!r}: it has one node, and a topology at least two")
    place = {old: new for new, old in enumerate(part)}
    edges = [Edge(place[e.a], place[e.b], e.rate_bps) for e in topology.edges if e.a in place]
    return Topology(topology.name, [topology.places[n] for n in part], edges)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _children(element: ET.Element, tag: str) -> list[ET.Element]:
    return [child for child in element if _local(child.tag) == tag]


def _graph(path: Path, root: ET.Element) -> Topology:
    graphs = _children(root, "graph")
    if _local(root.tag) != "graphml" or not graphs:
        raise TwinplaneError(f"{path}: not GraphML: a <graphml> element with a <graph> in it is needed")
    keys = {key.get("id", ""): key.get("attr.name", "") for key in _children(root, "key")}

    def data(element: ET.Element) -> dict[str, str]:
        return {keys.get(item.get("key", ""), ""): item.text or "" for item in _children(element, "data")}

    graph = graphs[0]
    topology = Topology(data(graph).get("Network") or path.stem)
    index: dict[str, int] = {}
    for element in _children(graph, "node"):
        key = element.get("id")
        if key is None:
            raise TwinplaneError(f"{path}: malformed: a node has no id")
        if key in index:
            raise TwinplaneError(f"{path}: malformed: the node id {key!r} occurs twice")
        fields = data(element)
        index[key] = len(topology.places)
        topology.places.append(
            Place(
                key,
                fields.get("label", ""),
                _coordinate(path, key, fields.get("Latitude"), 90),
                _coordinate(path, key, fields.get("Longitude"), 180),
            )
        )
    if len(topology.places) < 2:
        raise TwinplaneError(f"{path}: it has {len(topology.places)} nodes: a topology needs at least two")
    for element in _children(graph, "edge"):
        ends = []
        for side in ("source", "target"):
            key = element.get(side)
            if key is None or key not in index:
                raise TwinplaneError(f"{path}: malformed: an edge's {side} {key!r} is not the id of a node")
            ends.append(index[key])
        if ends[0] != ends[1]:
            topology.edges.append(Edge(ends[0], ends[1], _speed(path, data(element).get("LinkSpeedRaw"))))
    return topology


def _number(text: str | None) -> float | None:
    """Nothing where nothing is said; no number (NaN) where what is said is none."""
    if text is None or not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return math.nan


def _coordinate(path: Path, node: str, text: str | None, limit: float) -> float | None:
    value = _number(text)
    if value is None:
        return None
    if not abs(value) <= limit:
        raise TwinplaneError(f"{path}: malformed: node {node!r} has the coordinate {text!r}")
    return value


def _speed(path: Path, text: str | None) -> int | None:
    value = _number(text)
    if value is None:
        return None
    if not math.isfinite(value) or value < 0:
        raise TwinplaneError(f"{path}: malformed: an edge has the LinkSpeedRaw {text!r}")
    return round(value) or None


def components(topology: Topology) -> list[list[int]]:
    """The connected parts, each with its nodes in the order of the file, that of the first node first."""
    around: list[list[int]] = [[] for _ in topology.places]
    for edge in topology.edges:
        around[edge.a].append(edge.b)
        around[edge.b].append(edge.a)
    parts: list[list[int]] = []
    seen: set[int] = set()
    for start in range(len(topology.places)):
        if start in seen:
            continue
        part, waiting = {start}, [start]
        while waiting:
            for other in around[waiting.pop()]:
                if other not in part:
                    part.add(other)
                    waiting.append(other)
        seen |= part
        parts.append(sorted(part))
    return parts


def node_names(places: Sequence[Place]) -> list[str]:
    """Names by id: the label where it is given and unique, with the id otherwise."""
    times: dict[str, int] = {}
    for place in places:
        times[place.label] = times.get(place.label, 0) + 1
    taken: set[str] = set()
    names = []
    for place in places:
        name = place.label.strip()
        if not name or times[place.label] > 1 or name in taken:
            name = f"{name}#{place.key}" if name else f"#{place.key}"
        taken.add(name)
        names.append(name)
    return names


@dataclass(frozen=True)
class Zoo:
    """A file, and what `Network.from_graphml` takes beside the options of `Network`.

    `queue` and `ingress` are those of `Network.link` for every link at both ends; a mapping gives them by
    node (at all of its links) or by pair of nodes, ``(node, neighbour)``, where the pair is what counts.
    `component` is that of `read`. `ospf`, `ldp` and `bgp` are those of `Network.router`, for all routers:
    ``ospf=True, ldp=True, bgp={"asn": 65001, "mesh": True}``.
    """

    path: Path
    profile: Any = "ideal"
    default_rate: Quantity = DEFAULT_RATE
    default_delay: Quantity = DEFAULT_DELAY
    reservable: Quantity | None = None
    buffer: Quantity | None = None
    mtu: int = 9216
    rsvp: dict[str, Any] | None = None
    ospf: Any = None
    ldp: Any = None
    bgp: Any = None
    queue: Any = None
    ingress: Any = None
    diffserv: Any = None
    component: str | None = None

    @classmethod
    def of(
        cls, path: Path, options: Mapping[str, Any], of_network: Iterable[str]
    ) -> tuple[Zoo, dict[str, Any]]:
        """Part its options from those of `Network`; what is neither is refused."""
        own = [one.name for one in fields(cls) if one.name != "path"]
        known = [*own, *of_network]
        for key in options:
            if key not in known:
                hint = suggest(key, known) or f" (one of {', '.join(known)})"
                raise UnknownNameError(f"from_graphml: unknown option {key!r}{hint}")
        mine = {key: value for key, value in options.items() if key in own}
        return cls(path, **mine), {key: value for key, value in options.items() if key not in own}

    def describe(self, draft: Draft, describing: Describing) -> None:
        """Routers, one for each node of the file, and their links."""
        topology = read(self.path, self.component)
        names = node_names(topology.places)
        draft.any_name = True
        spoken = {"ospf": self.ospf, "ldp": self.ldp, "bgp": self.bgp}
        options = {**(self.rsvp or {}), **spoken}
        nodes = [describing.router(name, self.profile, self.diffserv, dict(options)) for name in names]
        for name, place in zip(names, topology.places, strict=True):
            if place.latitude is not None and place.longitude is not None:
                draft.positions[name] = (place.longitude, place.latitude)
        fallback_bps = units.rate_bps(self.default_rate, "default_rate")
        for edge in topology.edges:
            distance = topology.distance_km(edge)
            describing.link(
                nodes[edge.a],
                nodes[edge.b],
                None,
                None,
                rate=edge.rate_bps or fallback_bps,
                delay=self.default_delay if distance is None else f"{delay_us(distance):.6f} us",
                reservable=self.reservable,
                buffer=self.buffer,
                mtu=self.mtu,
            )
        for key, given in (("queue", self.queue), ("ingress", self.ingress)):
            if given is not None:
                _place(draft, describing, key, given, str(self.path))


def _place(draft: Draft, describing: Describing, key: str, given: Any, what: str) -> None:
    """Put a tree or a conditioner at the ends of links: at all, or as a mapping says."""
    if not isinstance(given, Mapping) or is_description(given):
        given = {node: given for node in draft.nodes}
    ends = {}
    for whose, one in given.items():
        node, other = whose if isinstance(whose, tuple) else (whose, None)
        here = draft.node(node, f"{what}: {key}:")
        there = None if other is None else draft.node(other, f"{what}: {key}:")
        links = [link for link in draft.links if here in (link.a, link.b)]
        links = [link for link in links if there is None or link.other(here) is there]
        if there is not None and not links:
            raise TwinplaneError(f"{what}: {key}: there is no link between {here.name} and {there.name}")
        for link in links:
            if there is not None or (link.index, here.index) not in ends:
                ends[link.index, here.index] = one
    for (link_index, node_index), one in ends.items():
        if one is not None:
            at = draft.nodes[node_index]
            describing.place(at, draft.links[link_index], **{key: one})
