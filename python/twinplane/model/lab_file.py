"""What a lab file may say. The schema for editors is derived from these models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema, WithJsonSchema
from pydantic_core import CoreSchema

from ..diffserv import DiffServ, LspDiffServ
from ..queues.base import Spec
from ..queues.conditioners import Conditioner
from ..queues.matching import Behaviours
from ..queues.tree import NamedConditioner, Tree
from .fields import (
    Address,
    Bandwidth,
    Driver,
    Endpoint,
    Interface,
    InterfaceAddress,
    Labels,
    Name,
    Period,
    Prefix,
    Rate,
    Size,
    Strict,
    Time,
)
from .flows import FlowSpec

MTU_DEFAULT, MTU_HOST, MTU_XDP = 9216, 1500, 3498
"""Longest packets between routers, and towards hosts; the last is a veth's limit with an XDP program.

A page less headroom and tail (Linux, drivers/net/veth.c).
"""
_PREFIXES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


class Rsvp(Strict):
    """Signalling of a router; what is not said is as the RFCs recommend."""

    refresh: Period | None = Field(None, description="Refresh period, such as 30 s.")
    hello: Literal["none"] | Period | None = Field(
        "9 s",
        description="Interval of Hellos (RFC 3209, 5), or `none`: by them neighbours see at once that a "
        "router came back without its state.",
    )
    refresh_reduction: bool = Field(False, description="Summary refresh and message ids (RFC 2961).")
    setup_timeout: Period | None = Field(None, description="How long a head end waits for the first Resv.")
    egress_label: Literal["real", "implicit-null", "explicit-null"] | None = Field(
        None, description="Which label it asks for where an LSP ends."
    )
    ttl: Literal["uniform", "pipe", "short-pipe"] | None = Field(None, description="TTL model (RFC 3443).")
    key: str | None = Field(None, description="Secret of INTEGRITY objects (RFC 2747).")
    key_id: int | None = Field(None, ge=0, lt=1 << 48, description="Number of that key.")


def _supported(value: Any) -> Any:
    """``diffserv: true`` is the usual map and model."""
    return {} if value is True else None if value is False else value


def _default_rsvp() -> Rsvp:
    return Rsvp.model_validate({})


class RouterNode(Strict):
    """A Twinplane router: a process in a network namespace whose kernel stays silent."""

    kind: Literal["router"] = Field(description="A Twinplane router.")
    profile: str = Field("ideal", description="Device profile, by name or by file (*.toml).")
    rsvp: Rsvp = Field(default_factory=_default_rsvp, description="Its signalling.")
    diffserv: Annotated[
        DiffServ | None,
        BeforeValidator(_supported),
    ] = Field(None, description="DiffServ over MPLS (RFC 3270): true, or how [default: classes are copied].")
    router_id: Address | None = Field(None, description="Router id [default: given by the lab].")
    driver: Driver | None = Field(None, description="How it opens its interfaces [default: packet].")
    offload: bool | None = Field(
        None,
        description="Take large segments and unfinished checksums of the kernel's [default: with packet].",
    )
    record: str | None = Field(None, description="File to which all of its inputs are recorded.")
    cpu: int | None = Field(None, ge=0, description="Keep the process on this processor.")
    busy: bool = Field(False, description="Poll without sleeping: a processor of its own is used up.")
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


class HostNode(Strict):
    """A network namespace with the kernel's own stack, on one link to a router."""

    kind: Literal["host"] = Field(description="A plain namespace.")
    address: InterfaceAddress = Field(description="Its address with the prefix length, such as 10.1.0.2/24.")
    gateway: Address | None = Field(None, description="The router's address [default: first of the prefix].")
    mtu: int | None = Field(None, ge=68, le=65535, description="Longest packet [default: 1500].")
    exec: list[str] = Field(
        default_factory=list, description="Commands run in it, in order, when the lab is up."
    )
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


class ExternalNode(Strict):
    """Somebody else's router beyond an interface that exists already, or beyond several."""

    kind: Literal["external"] = Field(description="What is beyond an interface that exists already.")
    interface: Interface | None = Field(
        None, description="The interface, used where it is [default: the one that the endpoint names]."
    )
    router_id: Address | None = Field(None, description="Its router id.")
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


class TesterNode(Strict):
    """A namespace with a bare interface for the measuring process, on one link."""

    kind: Literal["tester"] = Field(description="An emulated edge router of the tester.")
    rsvp: Rsvp = Field(default_factory=_default_rsvp, description="Its signalling.")
    router_id: Address | None = Field(None, description="Router id [default: given by the lab].")
    driver: Driver | None = Field(None, description="How the tester opens the interface [default: packet].")
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


class StationNode(Strict):
    """A namespace with bare interfaces for the measuring process, a host with several links."""

    kind: Literal["station"] = Field(
        description="A host of the measuring process, with a link to each end of what is measured."
    )
    driver: Driver | None = Field(None, description="How it opens its interfaces [default: packet].")
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


AnyNode = Annotated[
    RouterNode | HostNode | ExternalNode | TesterNode | StationNode, Field(discriminator="kind")
]
KINDS = ("router", "host", "external", "tester", "station")


def _form(value: Any) -> str:
    if isinstance(value, str):
        return "name"
    inline = isinstance(value, Spec) or not isinstance(value, Mapping)
    return "inline" if inline or {"discipline", "root", "rules"} & set(value) else "ends"


NamedTree: TypeAlias = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Tree, Tag("inline")], Discriminator(_form)
]
EndQueues: TypeAlias = Annotated[
    Annotated[Name, Tag("name")]
    | Annotated[Tree, Tag("inline")]
    | Annotated[dict[Name, NamedTree], Tag("ends")],
    Discriminator(_form),
]
"""A tree by name or itself, at both ends of a link or by end."""
EndConditioners: TypeAlias = Annotated[
    Annotated[Name, Tag("name")]
    | Annotated[Conditioner, Tag("inline")]
    | Annotated[dict[Name, NamedConditioner], Tag("ends")],
    Discriminator(_form),
]


class LinkSettings(Strict):
    """What a link is like."""

    rate: Rate = Field("none", description="Rate of both ports, or none: as fast as the interfaces are.")
    delay: Time = Field(0, description="Propagation delay.")
    mtu: int | None = Field(
        None,
        ge=68,
        le=65535,
        description="Longest packet, labels included [default: 9216; with xdp 3498; of a host's link 1500].",
    )
    buffer: Size | None = Field(None, description="Buffer of both ports.")
    metric: int = Field(1, ge=1, le=1 << 32, description="Cost for shortest paths.")
    reservable: Bandwidth | None = Field(
        None, description="Bandwidth that LSPs may reserve [default: the rate; without one, 10 Gbit/s]."
    )
    driver: Driver | None = Field(None, description="How routers open it [default: as the router says].")
    addresses: tuple[InterfaceAddress, InterfaceAddress] | None = Field(
        None, description="Of both ends [default: given by the lab]."
    )
    queue: EndQueues | None = Field(
        None,
        description="What waits in front of it: a tree under `queues` by its name, or one itself, at both"
        " ends or by end, as in `{pe1: gold}` [default: one queue of the port's buffer].",
    )
    ingress: EndConditioners | None = Field(
        None, description="Meters and markers for what arrives by it: under `conditioners`, in the same way."
    )
    labels: Labels = Field(default_factory=dict, description="For people and other tools; not used.")


class Link(LinkSettings):
    """A link: ``[a, b, {rate: 1 Gbit/s}]``, or ``{endpoints: ["a:eth1", "b:eth1"], mtu: 1500}``."""

    endpoints: tuple[Endpoint, Endpoint] = Field(description="The two ends.")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        if not isinstance(given, list):
            return given
        ends = [item for item in given if not isinstance(item, dict)]
        settings = given[2] if len(given) == 3 and isinstance(given[2], dict) else {}
        if (
            len(ends) != 2
            or len(given) not in (2, 3)
            or isinstance(given[0], dict)
            or isinstance(given[1], dict)
        ):
            raise ValueError("a link is [a, b] or [a, b, {rate: 1 Gbit/s}]")
        if "endpoints" in settings:
            raise ValueError("its two ends are given already")
        return {"endpoints": ends, **settings}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Both forms."""
        long = handler.resolve_ref_schema(handler(core_schema))
        endpoint = {"type": "string", "description": "NODE, or NODE:INTERFACE."}
        settings = {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: value for key, value in long["properties"].items() if key != "endpoints"},
        }
        short = {
            "type": "array",
            "items": [endpoint, endpoint, settings],
            "additionalItems": False,
            "minItems": 2,
            "maxItems": 3,
        }
        return {"anyOf": [short, dict(long)]}


class Filter(Strict):
    """Packets, by the fields of their headers; what is not said may be anything."""

    src: Prefix | None = Field(None, description="Source addresses.")
    dst: Prefix | None = Field(None, description="Destination addresses.")
    protocol: int | str | None = Field(None, description="tcp, udp, icmp and so on, or a number.")
    src_ports: int | str | tuple[int, int] | None = Field(None, description="Source port, or first-last.")
    dst_ports: int | str | tuple[int, int] | None = Field(
        None, description="Destination port, or first-last."
    )
    dscp: str | int | None = Field(None, description="Code point, by name or number.")


class LspSpec(Strict):
    """A label-switched path from one router to another."""

    name: Name = Field(description="Its name.")
    head: Name = Field(alias="from", description="Where it begins.")
    tail: Name = Field(alias="to", description="Where it ends.")
    route: list[Endpoint] = Field(
        default_factory=list,
        description="Routers after the first, NODE:INTERFACE if links are parallel [default: shortest path].",
    )
    fallback: list[Endpoint] = Field(
        default_factory=list, description="Route that is tried when the other fails."
    )
    loose: bool = Field(False, description="Other routers may be between those of the route.")
    bandwidth: Bandwidth = Field(0, description="Bandwidth to reserve.")
    count: int = Field(1, ge=1, le=1_000_000, description="So many alike.")
    carries: Annotated[list[Prefix], BeforeValidator(_one_or_more), WithJsonSchema(_PREFIXES)] = Field(
        default_factory=list, description="Destinations whose packets take it, one prefix or several."
    )
    filters: list[Filter] = Field(default_factory=list, description="Packets that take it wherever they go.")
    diffserv: LspDiffServ | None = Field(
        None, description="`e-lsp`, `l-lsp AF1`, or more of it (RFC 3270) [default: neither]."
    )
    classes: Behaviours | None = Field(
        None, description="PHBs whose packets take it on their way to `carries` [default: all]."
    )
    setup_priority: int = Field(7, ge=0, le=7, description="0 is the highest.")
    holding_priority: int | None = Field(
        None, ge=0, le=7, description="0 is the highest [default: the other one]."
    )
    style: Literal["shared-explicit", "fixed-filter"] = Field(
        "shared-explicit", description="Reservation style."
    )
    record_route: bool = Field(True, description="Record the route.")
    record_labels: bool = Field(False, description="Record the labels, too.")
    signal: bool = Field(True, description="Signal it at once.")


class Topology(Strict):
    """Nodes and links, where containerlab has them."""

    nodes: dict[Name, AnyNode] = Field(default_factory=dict, description="By name.")
    links: list[Link] = Field(default_factory=list, description="All links.")


class LabFile(Strict):
    """A lab."""

    model_config = ConfigDict(title="Twinplane lab", populate_by_name=True)

    name: Name = Field(description="Its namespaces are called tp-NAME-NODE.")
    seed: int = Field(1, ge=0, lt=1 << 63, description="Of the random streams of the routers.")
    nodes: dict[Name, AnyNode] = Field(default_factory=dict, description="By name.")
    links: list[Link] = Field(default_factory=list, description="All links.")
    lsps: list[LspSpec] = Field(default_factory=list, description="Signalled when the lab comes up.")
    flows: list[FlowSpec] = Field(
        default_factory=list,
        description="Measured traffic, for `twinplane run FILE`; a lab that is up has none.",
    )
    queues: dict[Name, Tree] = Field(
        default_factory=dict, description="Trees of queue disciplines, by name, for `queue` of links."
    )
    conditioners: dict[Name, Conditioner] = Field(
        default_factory=dict, description="Meters and markers, by name, for `ingress` of links and for trees."
    )
    topology: SkipJsonSchema[None] | Topology = Field(
        None, description="Nodes and links, as containerlab has them, instead of those above."
    )
