"""The page of everything that failed in turn: the worst cases, the map, classes, and who stays away."""

from __future__ import annotations

from ..charts import Chart, Curve
from ..charts.table import Table
from ..failing.failures import Failures, OfClass, Outcome, counted
from ..units import format_time
from .failing_map import svg
from .page import Drawing, Page, Section, render

CASES_MAX = 100
"""So many cases stand on the page; the CSV file has all."""
AWAY_MAX = 100
"""So many flows that stay away."""

TITLES = (
    "case",
    "why",
    "kind",
    "flows hurt",
    "stay away",
    "with a way left",
    "packets lost",
    "longest outage",
)
CLASS_TITLES = (
    "class",
    "flows",
    "cases that hurt",
    "cases for good",
    "packets lost",
    "longest outage",
    "worst",
)

REASONS = (
    "end failed: the node where the flow begins or ends has failed",
    "no route: the network has fallen apart, and no way is left between its ends",
    "no fallback: its LSP has one route, which leads over what failed",
    "fallback hit: every route of its LSP leads over what failed, though another way is left",
    "no bandwidth: a router on a route that is left refuses the reservation",
    "static route: a router goes on to send it over what failed, since nothing tells it another way",
    "congestion: queues overflow on the way that it takes now",
    "other: none of these; the text says what is known",
)
"""What each reason means."""

DASH = "\u2013"


def page(found: Failures, command: str | None = None) -> str:
    """All of it."""
    sections = [
        Section("By class", tables=[_classes(found)]),
        Section("On the map", drawings=[Drawing(*svg(found))]),
        Section("The worst cases", tables=[_cases(found)]),
        *_away(found),
        Section("What the reasons mean", points=list(REASONS)),
        Section("How it was tried", tables=[_circumstances(found)], paragraphs=[METHOD], command=command),
    ]
    question = "Whom does each failure hurt, how much and for how long, and who does not come back?"
    return render(Page(f"Failures of {found.title}", question, found.headline(), sections, _ranked(found)))


METHOD = (
    "The network is run until it has settled. Each case begins there: something fails, and all flows are"
    " watched until whoever can come back is back, or the time is over. A flow without a way is counted as"
    " losing everything to the end of that time. Packets that would have been lost without the failure do not"
    " count. An outage is the packets lost, divided by the packets per second (RFC 6412, 3.5.3)."
)


def cells(one: Outcome) -> list[str]:
    """A case as a row of `TITLES`."""
    return [
        one.name,
        ", ".join(f"{reason} ({count})" for reason, count in one.reasons.items()) or DASH,
        one.kind,
        *(f"{number:,}" for number in (len(one.hurt), one.never, one.needless, one.lost)),
        outage(one.outage_s),
    ]


def class_cells(one: OfClass) -> list[str]:
    """A class as a row of `CLASS_TITLES`."""
    numbers = (one.flows, one.hurt, one.never, one.lost)
    return [one.phb, *(f"{number:,}" for number in numbers), outage(one.outage_s), one.worst or DASH]


def outage(seconds: float | None) -> str:
    """How long, or that there is none."""
    return DASH if seconds is None else format_time(seconds)


def _cases(found: Failures) -> Table:
    shown = [one for one in found.outcomes if one.hurt][:CASES_MAX]
    caption = f"{counted(len(shown), 'case')} of {len(found)}, the worst first"
    if found.harmless:
        caption += f"; {counted(found.harmless, 'case')} cost nobody a packet"
    return Table(caption, TITLES, [cells(one) for one in shown], 2)


def _classes(found: Failures) -> Table:
    return Table("All cases together", CLASS_TITLES, [class_cells(one) for one in found.classes()])


def _away(found: Failures) -> list[Section]:
    """Flows that stay away although a way is left, the worst cases first."""
    rows = [
        [one.name, hurt.flow, hurt.phb, hurt.reason or "", hurt.why]
        for one in found.outcomes
        for hurt in one.hurt
        if hurt.needless
    ]
    if not rows:
        return []
    shown = rows[:AWAY_MAX]
    caption = f"{counted(len(shown), 'flow')} of {len(rows)}, in the order of their cases"
    table = Table(caption, ["case", "flow", "class", "reason", "why"], shown, 5)
    return [Section("Who stays away though a way is left", tables=[table])]


def _circumstances(found: Failures) -> Table:
    rows = [["cases", f"{len(found):,}"], *([key, value] for key, value in found.circumstances.items())]
    return Table("Traffic, seed, times", ["what", "value"], rows, 2)


def _ranked(found: Failures) -> Chart | None:
    """How the harm is spread over the cases."""
    hurt = [one for one in found.outcomes if one.hurt]
    if len(hurt) < 2:
        return None
    by_hurt = sorted((len(one.hurt) for one in found.outcomes), reverse=True)
    by_never = sorted((one.never for one in found.outcomes), reverse=True)
    ranks = list(range(1, len(found) + 1))
    away = sum(count > 0 for count in by_never)
    alt = (
        f"Cases are in order of the flows that they hurt. The worst hurts {by_hurt[0]} of"
        f" {counted(len(found.flows), 'flow')}; after {away} of {counted(len(found), 'case')} flows stay"
        f" away, {by_never[0]} at most."
    )
    curves = [
        Curve("flows that lose packets", ranks, by_hurt, style=0, shape="steps"),
        Curve("flows that stay away", ranks, by_never, style=1, shape="steps"),
    ]
    return Chart("harm", "Harm by case", alt, "cases, the worst first", ["flows"], curves)
