"""The page of a network at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..charts.table import Table
from ..frames import frame
from ..network.drawing import topology
from ..network.history import up_over_time
from ..units import format_time
from . import (
    checks,
    course,
    databases,
    demands,
    flows,
    happened,
    losses,
    lsps,
    maps,
    ospf,
    outages,
    paths,
    queues,
    sessions,
)
from .headline import headline
from .page import Page, Section, render
from .story import Story, of_network

if TYPE_CHECKING:
    from ..network import Network


def page(network: Network, title: str | None) -> str:
    """What failed and whom it hurt, flows, LSPs, both planes and the map."""
    network.sampling.look()
    story = of_network(network)
    drawn = topology(network)
    courses = flows.courses(network, story.groups)
    stats = {flow: network.flows[flow].stats() for flow in _most_hurt(story)}
    up = up_over_time(network.tables)
    chart = course.chart(
        "planes",
        story,
        messages=network.table("messages"),
        up=None if up is None else frame(up),
        series=network.table("series"),
        courses=courses,
    )
    spread = course.distribution(story)
    sections = [
        *outages.sections(story, course.close_up(story)),
        *happened.section(story),
        maps.section(drawn, story),
        *paths.section(drawn, story),
        *outages.lsp_section(story),
        *losses.of_network(network),
        Section("Delays", charts=[spread] if spread else [], tables=[flows.table(network, stats, courses)])
        if stats
        else None,
        *demands.of_network(network),
        Section("LSPs", tables=[lsps.table(network)]) if network.lsps else None,
        *sessions.section(story),
        *databases.section(story),
        *ospf.of_network(network),
        *checks.of_network(network),
        *queues.of_network(network),
        Section(
            "Error bounds",
            points=[
                "Virtual time is counted in picoseconds: counts are exact, delays are exact to 1 ps for the"
                " stated profiles; quantiles come from histograms and are within 1 %.",
                f"Delay is measured {network.convention} bit (RFC 1242).",
            ],
        ),
        _repeat(network),
    ]
    told = headline(story)
    question = (
        "What failed, and whom did it hurt?" if told else "What happened on both planes of this network?"
    )
    answer = told or _answer(network, story)
    name = title or "Network"
    shown = [section for section in sections if section]
    return render(Page(name, question, answer, shown, chart, f"seed {network.seed}", network.warnings))


def _most_hurt(story: Story) -> list[int]:
    """Flows that lost most, so many as a table has rows."""
    singles = [place for place, flow in enumerate(story.flows) if not flow.is_demand]
    order = sorted(singles, key=lambda flow: (-story.flows[flow].lost, flow))
    return order[: flows.ROWS_MAX]


def _answer(network: Network, story: Story) -> str:
    """What there is of LSPs and flows, in one sentence."""
    total = outages.total(story)
    up, count = sum(lsp.up_count for lsp in network.lsps), sum(lsp.count for lsp in network.lsps)
    said = [f"{up} of {count} LSPs are up"] if count else []
    if story.flows or not said:
        said.append(f"of {total.sent} packets sent {total.received} arrived and {total.lost} were lost")
    return f"After {format_time(network.now)} of {network.clock} time, {'; '.join(said)}."


def _repeat(network: Network) -> Section:
    from ..results.manifest import machine, versions

    host = machine()
    rows = [
        ["seed", str(network.seed)],
        ["clock", network.clock],
        ["digest", network.digest()],
        *([f"version of {name}", version] for name, version in versions().items()),
        ["machine", f"{host['processor']}, {host['cpus']} CPUs, {host['system']} {host['release']}"],
    ]
    return Section(
        "Where it comes from", tables=[Table("Seed, versions, machine", ["what", "value"], rows, 2)]
    )
