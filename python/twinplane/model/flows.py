"""Flows in a lab file: what `Network.flow` takes, in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag
from pydantic.json_schema import WithJsonSchema

from .. import units
from ..errors import TwinplaneError, suggest
from . import arrivals as sources
from .arrivals import FRAME_MIN, FRAME_USUAL
from .fields import Bandwidth, Endpoint, Name, Period, Size, Strict, Time
from .source import listed

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


def _kind(words: Mapping[type, str]) -> Discriminator:
    """Which of several forms a value has: a plain value, or a mapping that says its kind."""

    def form(value: Any) -> str | None:
        if isinstance(value, BaseModel):
            return str(getattr(value, "kind", "period"))
        if isinstance(value, Mapping):
            return words[dict] if dict in words else str(value.get("kind"))
        return words[str]

    return Discriminator(form)


def _dscp(value: Any) -> Any:
    try:
        units.dscp(value)
    except TwinplaneError as error:
        raise ValueError(str(error).removeprefix("dscp ")) from None
    return value


def _port(value: Any) -> Any:
    try:
        return sources.udp_port(value, "it")
    except TwinplaneError as error:
        raise ValueError(str(error).removeprefix("it=")) from None


UdpPort: TypeAlias = Annotated[
    Any,
    AfterValidator(_port),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 65535}),
]


class PeriodSpec(Strict):
    """How long a source is on or off."""

    mean: Period = Field(description="Mean length.")
    kind: Literal["exponential", "pareto", "constant"] = Field("exponential", description="Distribution.")
    shape: float = Field(1.5, gt=1, description="Of a Pareto distribution; above 1.")

    def made(self) -> sources.Period:
        """As the Python interface has it."""
        return sources.Period(self.mean, self.kind, self.shape)


Half: TypeAlias = Annotated[
    Annotated[Period, Tag("time")] | Annotated[PeriodSpec, Tag("period")],
    _kind({str: "time", dict: "period"}),
]


class OnOffSpec(Strict):
    """A source that is on and off in turn, at constant rate while it is on."""

    kind: Literal["on-off"] = Field(description="On and off in turn, at constant rate while on.")
    on: Half = Field(description="How long it is on: a mean, or `{mean: 300 ms, kind: pareto, shape: 1.5}`.")
    off: Half = Field(description="How long it is off, in the same way.")
    rate_is_mean: bool = Field(
        False, description="`rate` is the mean over both [default: it is that while on]."
    )

    def made(self, folder: Path) -> sources.OnOff:
        """As the Python interface has it."""
        on, off = (half.made() if isinstance(half, PeriodSpec) else half for half in (self.on, self.off))
        return sources.OnOff(on, off, rate_is_mean=self.rate_is_mean)


class TraceSpec(Strict):
    """Packets one by one."""

    kind: Literal["trace"] = Field(description="Packets one by one, listed or from a capture.")
    gaps: list[Time] = Field(
        default_factory=list, description="Times from the packet before (of the first: from the start)."
    )
    sizes: list[Size] = Field(
        default_factory=list, description="Bytes of each frame [default: `size` of the flow]."
    )
    pcap: str | None = Field(
        None, description="Capture (pcap, pcapng) that gives gaps and sizes, beside this file."
    )
    limit: int | None = Field(None, ge=1, description="Take so many frames of the capture at most.")
    repeat: bool = Field(False, description="Begin again after the last.")

    def made(self, folder: Path) -> sources.Trace:
        """As the Python interface has it."""
        if self.pcap is None:
            if self.limit is not None:
                raise TwinplaneError("limit: it is for a capture: pcap is missing")
            return sources.Trace(tuple(self.gaps), tuple(self.sizes), self.repeat)
        if self.gaps or self.sizes:
            raise TwinplaneError("pcap gives gaps and sizes: either it or them")
        return sources.Trace.from_pcap(folder / self.pcap, repeat=self.repeat, limit=self.limit)


class UniformSpec(Strict):
    """Sizes between two bounds."""

    kind: Literal["uniform"] = Field(description="From `min` to `max`, each equally often.")
    min: Size = Field(description="Least.")
    max: Size = Field(description="Greatest.")

    def made(self) -> sources.Uniform:
        """As the Python interface has it."""
        return sources.Uniform(self.min, self.max)


class EmpiricalSpec(Strict):
    """Some sizes, by weight."""

    kind: Literal["empirical"] = Field(description="Some sizes, each as often as its weight says.")
    sizes: list[Size] = Field(description="The sizes.")
    weights: list[float] = Field(default_factory=list, description="Their weights [default: all the same].")

    def made(self) -> sources.Empirical:
        """As the Python interface has it."""
        return sources.Empirical(tuple(self.sizes), tuple(self.weights))


class ExponentialSpec(Strict):
    """Exponential sizes."""

    kind: Literal["exponential"] = Field(description="Exponential, cut at both ends.")
    mean: Size = Field(description="Mean before the cut.")
    min: Size = Field(FRAME_MIN, description="What is shorter becomes that.")
    max: Size = Field(FRAME_USUAL, description="What is longer becomes that.")

    def made(self) -> sources.Exponential:
        """As the Python interface has it."""
        return sources.Exponential(self.mean, self.min, self.max)


ARRIVALS = "constant, poisson, or a mapping of kind on-off or trace"
SIZES = "bytes, imix, or a mapping of kind uniform, empirical or exponential"


def _word(value: Any) -> Any:
    if value not in sources.WORDS:
        raise ValueError(f"{value!r}: {ARRIVALS}{suggest(str(value), sources.WORDS)}")
    return value


ArrivalsField: TypeAlias = Annotated[
    Annotated[Any, AfterValidator(_word), WithJsonSchema({"enum": list(sources.WORDS)}), Tag("word")]
    | Annotated[OnOffSpec, Tag("on-off")]
    | Annotated[TraceSpec, Tag("trace")],
    _kind({str: "word"}),
]


def _size_or_word(value: Any) -> Any:
    if value == "imix":
        return value
    try:
        sources.size_spec(value, "it")
    except TwinplaneError as error:
        text = str(error).removeprefix("it: size").removeprefix("=")
        raise ValueError(f"{text} (or {SIZES.partition(', ')[2]})" if "number" in text else text) from None
    return value


SizeField: TypeAlias = Annotated[
    Annotated[
        Any,
        AfterValidator(_size_or_word),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]}),
        Tag("plain"),
    ]
    | Annotated[UniformSpec, Tag("uniform")]
    | Annotated[EmpiricalSpec, Tag("empirical")]
    | Annotated[ExponentialSpec, Tag("exponential")],
    _kind({str: "plain"}),
]

SIZE_KINDS = (UniformSpec, EmpiricalSpec, ExponentialSpec)
KINDS: dict[str, dict[str, type[BaseModel]]] = {
    "arrivals": {"on-off": OnOffSpec, "trace": TraceSpec},
    "size": {"uniform": UniformSpec, "empirical": EmpiricalSpec, "exponential": ExponentialSpec},
}
"""The mappings that fields of a flow may be."""


class FlowSpec(Strict):
    """Measured traffic from one node to another."""

    name: Name | None = Field(None, description="Its name, of which there is one only [default: FROM-TO].")
    source: Name = Field(alias="from", description="Where it begins: a host, a station, a tester, a router.")
    sink: Name = Field(alias="to", description="Where it ends.")
    over: Name | None = Field(
        None, description="LSP that it takes from where it begins [default: routers decide]."
    )
    rate: Bandwidth = Field("1 Mbit/s", description="Rate of all its packets; on-off: while it is on.")
    rate_counts: Literal["frame", "ip"] = Field(
        "frame", description="Bytes that the rate counts: of Ethernet frames, or of the IP packets in them."
    )
    size: SizeField = Field(
        512, description=f"Frame with header and frame check sequence, in bytes: {SIZES}."
    )
    arrivals: ArrivalsField = Field("constant", description=f"When packets are due: {ARRIVALS}.")
    dscp: Annotated[str | int, AfterValidator(_dscp)] = Field(0, description="Code point, by name or number.")
    src_port: UdpPort | None = Field(
        None,
        description="UDP port that its packets come from [default: one from 49152 on, its own].",
    )
    dst_port: UdpPort | None = Field(None, description="UDP port that they go to [default: 61614].")
    start: Time = Field(0, description="When it starts.")
    stop: Period | None = Field(None, description="When it stops [default: with the run].")
    trace: bool = Field(False, description="Packets write down the links that they cross.")
    log: bool = Field(False, description="Keep every packet: table `packets`.")
    from_link: Endpoint | None = Field(
        None,
        description="Link by which it leaves a node with several: the neighbour, or NODE:INTERFACE"
        " of either end [default: on the shortest path].",
    )
    to_link: Endpoint | None = Field(None, description="Link at whose address it ends, in the same way.")


def called(kind: str, item: Any) -> str | None:
    """What an LSP or a flow is called: a flow after its ends if it has no name."""
    if not isinstance(item, Mapping):
        return None
    name, ends = item.get("name"), (item.get("from"), item.get("to"))
    if kind == "flow" and name is None and None not in ends:
        return "-".join(map(str, ends))
    return name if isinstance(name, str) else None


def of_flow(place: tuple[str | int, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Of a place in a flow: the fields on the way to it, and the fields that are known there."""
    steps = [str(step) for step in place]
    words: list[str] = []
    known: type[BaseModel] = FlowSpec
    while steps:
        step = steps.pop(0)
        words.append(step)
        if step in KINDS and steps:
            known = KINDS[step].get(steps.pop(0), FlowSpec)
        elif step in ("on", "off") and steps and steps.pop(0) == "period":
            known = PeriodSpec
    return words, tuple(info.alias or name for name, info in known.model_fields.items())


def kinds_sentence(error: ErrorDetails) -> str | None:
    """What a mapping of an unknown kind could have been."""
    if error["type"] != "union_tag_invalid":
        return None
    field, given = str(error["loc"][-1]), error.get("input")
    name = given.get("kind") if isinstance(given, Mapping) else None
    known = tuple(KINDS.get(field, ()))
    if name is None:
        return f"kind is missing: {listed(known)}"
    return f"kind: '{name}' is none of {listed(known)}{suggest(str(name), known)}"
