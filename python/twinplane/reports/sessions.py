"""Sessions of routing protocols on the page: a strip for each over time, and which were away or never up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ..charts import Band, Chart, Curve
from ..charts.table import Table
from ..network.sessions import PROTOCOLS
from ..units import format_time
from .course import by_state, marks
from .harm import cuts
from .page import Section
from .seen import Session, Span
from .story import Story

STRIPS_MAX = 40
"""So many sessions have a strip of their own."""
QUIET_MAX = 8
"""So many of them if they never went down, where there are more than have a strip."""
ROWS_MAX = 50
NEVER_MAX = 10
"""So many that were never up are named."""

ONE = {"OSPF": "adjacency", "BFD": "session", "LDP": "session", "BGP": "session"}
MANY = {"OSPF": "adjacencies", "BFD": "sessions", "LDP": "sessions", "BGP": "sessions"}


def counted(protocol: str, count: int) -> str:
    """So many sessions of a protocol, as people call them there."""
    return f"{count:,} {protocol} {ONE[protocol] if count == 1 else MANY[protocol]}"


def section(story: Story) -> list[Section]:
    """A section if a router speaks a protocol with sessions."""
    if not story.sessions:
        return []
    away = [one for one in story.sessions if one.downs or one.up_first is None]
    tables = [_table(story.sessions), *([_away(away)] if away else [])]
    return [Section("Sessions over time", charts=[_chart(story)], tables=tables, points=_points(story))]


def _chart(story: Story) -> Chart:
    strips = _strips(story.sessions)
    curves: list[Curve] = []
    by_state([(one.name, _drawn(one)) for one in strips], 0, curves)
    counts = ((name, sum(one.protocol == name for one in story.sessions)) for name in PROTOCOLS)
    said = ", ".join(counted(name, count) for name, count in counts if count)
    left = len(story.sessions) - len(strips)
    more = f"; {left:,} more have no strip, since less happened to them" if left else ""
    return Chart(
        "sessions",
        "Sessions over time",
        f"Strips are thick while a session is up at both ends: {said}{more}.",
        "time (s)",
        [""],
        curves,
        marks(story),
        bands=[Band(begin, end) for _, begin, end in cuts(story)],
        ticks={0: [one.name for one in strips]},
        x_range=(0.0, story.end) if story.end else None,
    )


def _strips(sessions: Sequence[Session]) -> list[Session]:
    """Sessions with a strip: those never up and those longest away first, then some that never were."""
    if len(sessions) <= STRIPS_MAX:
        return list(sessions)
    chosen = sorted((one for one in sessions if one.up_first is None or one.downs), key=_harm)[:STRIPS_MAX]
    quiet = [one for one in sessions if one.up_first is not None and not one.downs]
    by_protocol = [[one for one in quiet if one.protocol == protocol] for protocol in PROTOCOLS]
    # One of each protocol in turn, so that all of them are seen.
    mixed = [one for several in zip_longest(*by_protocol) for one in several if one is not None]
    chosen += mixed[: min(QUIET_MAX, STRIPS_MAX - len(chosen))]
    return [one for one in sessions if any(one is kept for kept in chosen)]


def _harm(session: Session) -> tuple[bool, float]:
    return session.up_first is not None, -_away_s(session)


def _away_s(session: Session) -> float:
    return sum(span.end - span.begin for span in session.downs)


def _drawn(session: Session) -> list[Span]:
    """Its stretches; of one that never comes up they are called so."""
    if session.up_first is not None:
        return session.spans
    return [Span(one.lsp, one.begin, one.end, "never up", why=one.why) for one in session.spans]


def _table(sessions: Sequence[Session]) -> Table:
    rows = []
    for protocol in PROTOCOLS:
        own = [one for one in sessions if one.protocol == protocol]
        if not own:
            continue
        ups = [one.up_first for one in own if one.up_first is not None]
        rows.append(
            [
                f"{protocol} {MANY[protocol]}",
                f"{len(own):,}",
                f"{sum(one.is_up for one in own):,}",
                f"{len(own) - len(ups):,}",
                f"{sum(bool(one.downs) for one in own):,}",
                f"{sum(len(one.downs) for one in own):,}",
                format_time(min(ups), 6) if ups else "-",
                format_time(max(ups), 6) if ups else "-",
            ]
        )
    titles = ["what", "how many", "up at the end", "never up", "went down", "times", "first up", "last up"]
    return Table("Sessions by protocol", titles, rows)


def _away(away: Sequence[Session]) -> Table:
    """Sessions that went down or were never up, the longest away first."""
    worst = sorted(away, key=_harm)
    rows = []
    for one in worst[:ROWS_MAX]:
        longest = max(one.downs, key=lambda span: span.end - span.begin, default=None)
        whole = longest or one.spans[0]
        rows.append(
            [
                one.name,
                next((span.why for span in (whole, *one.downs) if span.why), "-"),
                "never up" if longest is None else f"{len(one.downs):,}",
                "-" if longest is None else format_time(longest.begin, 6),
                format_time(whole.end - whole.begin, 4),
                "up" if one.is_up else "not up",
            ]
        )
    more = f"The longest away {ROWS_MAX} of {len(worst):,}" if len(worst) > ROWS_MAX else ""
    titles = ["session", "why", "went down", "at", "longest away", "at the end"]
    return Table("Sessions that went down or were never up", titles, rows, 2, note=more)


def _points(story: Story) -> list[str]:
    never = [one for one in story.sessions if one.up_first is None]
    said = [
        f"{one.name} was never up{f': {one.spans[-1].why}' if one.spans[-1].why else ''}." for one in never
    ]
    if len(said) > NEVER_MAX:
        said = [*said[:NEVER_MAX], f"And {len(never) - NEVER_MAX:,} more were never up."]
    if not never:
        said.append("Every session that routers know of came up.")
    return said
