"""What the study says in words, or of many rows at once: where nothing is lost, and where connections end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...results.points import Point
from ..scores import Comparison, Kind
from . import marks
from .profile import Profile
from .rows import Row


@dataclass(frozen=True)
class Verdict:
    """A comparison, and the test that it is about."""

    part: str
    row: str | None
    """None: it is about many rows."""
    comparison: Comparison


def loses_nothing(row: Row) -> bool:
    """Is all published as received, but for the packet that is under way when the test ends?"""
    figure = row.published
    if row.part == "control" or figure is None or figure.share is None or figure.packets is None:
        return False
    if marks.share_of(row) in marks.contradictory(row.device):
        return False
    return round(figure.packets * (1 - figure.share)) <= 1


def claims(lead: str, profile: Profile, point: Point, own: Sequence[Row]) -> list[Verdict]:
    """Each can fail: of all rows together, the worst counts."""
    found = [
        _nothing_lost(lead, part, point, rows)
        for part in dict.fromkeys(row.part for row in own)
        if (rows := [row for row in own if row.part == part and loses_nothing(row)])
    ]
    given = [row for row in own if row.part == "packet-out" and row.published is not None]
    if given:
        found.append(_resets(lead, profile, marks.NO_RESETS, 0, point, given))
    for rate in dict.fromkeys(row.rate for row in own if row.in_words):
        rows = [row for row in own if row.in_words and row.rate == rate]
        found.append(_resets(lead, profile, marks.resets_at(rate), len(rows), point, rows))
    return found


def _nothing_lost(lead: str, part: str, point: Point, rows: Sequence[Row]) -> Verdict:
    lost = [point.metrics[f"{row.name}_sent"] - point.metrics[f"{row.name}_received"] for row in rows]
    claim = f"nothing is lost in {_rows(rows)}"
    because = "the packet that is under way at the end: 12/13 is 13/13 here, if the last comes in time"
    made = Comparison(
        f"{lead}{part}: nothing lost", "packets", Kind.INSIDE, None, max(lost), 0, 1, because, claim=claim
    )
    return Verdict(part, None, made)


def _resets(
    lead: str, profile: Profile, figure: str, expected: int, point: Point, rows: Sequence[Row]
) -> Verdict:
    """How many of some rows end by a reset."""
    kind, reason = marks.kind(profile, rows[0], figure)
    resets = sum(point.metrics[f"{row.name}_resets"] for row in rows)
    sizes = f"{rows[0].size} bytes" if len(rows) == 1 else f"{rows[0].size} to {rows[-1].size} bytes"
    claim = f"the connection is reset in {_rows(rows)}, {sizes}" if expected else f"no reset in {_rows(rows)}"
    because = "each of them" if expected else "nothing is said of resets there"
    made = Comparison(
        f"{lead}{figure}",
        "resets",
        kind,
        None,
        resets,
        expected,
        expected,
        because,
        claim=claim,
        reason=reason,
    )
    return Verdict("packet-out", None, made)


def _rows(rows: Sequence[Row]) -> str:
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}"
