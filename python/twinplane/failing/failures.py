"""What everything that can fail does to the flows of a network: results of `fail_everything`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..files import write_text
from ..units import format_time

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Hurt:
    """What one case did to one flow."""

    flow: str
    phb: str
    """Its class."""
    lost: int
    """Packets lost beyond those that it loses anyway, and those that a failed source could not send."""
    outage_s: float | None
    """For how long it lost as much as it sends (RFC 6412, 3.5.3); None if it was not back at the end."""
    lsp_up_s: float | None
    """When its LSP was up again, counted from the failure, as its head end told; None if it was not, or was
    never down."""
    recovered: bool | None
    """Was it whole again at the end? None where it sent too little to tell."""
    reason: str | None
    """Why it was not back at the end: one of `Why`; None if it was."""
    why: str
    """The same in words; of a flow that is back, that queues dropped packets of it, if they did."""

    @property
    def needless(self) -> bool:
        """Did it stay away although both its ends and a way between them were left?"""
        return self.recovered is False and self.reason not in UNAVOIDABLE


@dataclass(frozen=True)
class Outcome:
    """One case: what failed, and whom it hurt, the worst first."""

    name: str
    kind: str
    links: tuple[int, ...]
    nodes: tuple[int, ...]
    watched_s: float
    digest: str
    down: int
    """LSPs that were up before and were not at the end."""
    hurt: tuple[Hurt, ...]

    @property
    def never(self) -> int:
        """Flows that were not back at the end."""
        return sum(one.recovered is False for one in self.hurt)

    @property
    def lost(self) -> int:
        """Packets that all flows together lost beyond what they lose anyway."""
        return sum(one.lost for one in self.hurt)

    @property
    def outage_s(self) -> float | None:
        """The longest outage of a flow that came back; None if none did."""
        return max((one.outage_s for one in self.hurt if one.outage_s is not None), default=None)

    @property
    def reasons(self) -> dict[str, int]:
        """How many flows were not back, by reason, the most frequent first."""
        found: dict[str, int] = {}
        for one in self.hurt:
            if one.reason is not None:
                found[one.reason] = found.get(one.reason, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def needless(self) -> int:
        """Flows that were not back although both ends and a way between them were left."""
        return sum(one.needless for one in self.hurt)

    @property
    def cut_off(self) -> int:
        """Flows that were not back, those left out whose own beginning or end failed."""
        return self.never - self.reasons.get("end failed", 0)

    @property
    def rank(self) -> tuple[Any, ...]:
        """The worst comes first: who cuts off others, then by packets."""
        return (-self.cut_off, -self.lost, -(self.outage_s or 0), self.kind, self.name)


UNAVOIDABLE = frozenset({"end failed", "no route"})
"""Reasons against which no route or reservation would help."""


@dataclass(frozen=True)
class OfClass:
    """What became of a class over all cases."""

    phb: str
    flows: int
    hurt: int
    """Cases that cost it packets."""
    never: int
    """Cases after which a flow of it was not back."""
    lost: int
    outage_s: float | None
    worst: str
    """The case that cost it the most."""


@dataclass
class Failures:
    """Every case of a network, ranked: the worst first."""

    outcomes: list[Outcome]
    flows: list[tuple[str, str]]
    """Names and classes of all flows."""
    topology: dict[str, Any]
    """What is drawn: see `twinplane.network.drawing`."""
    title: str = "network"
    circumstances: dict[str, str] = field(default_factory=dict)
    """Under which everything failed, in words: seed, traffic, times."""
    folder: Path | None = None
    quiet: int = 0
    """Flows that send too little while they are watched to show whether a case hurts them."""

    def __post_init__(self) -> None:
        """Rank them."""
        self.outcomes.sort(key=lambda one: one.rank)

    def __len__(self) -> int:
        """How many cases there are."""
        return len(self.outcomes)

    def __getitem__(self, name: str) -> Outcome:
        """A case by its name."""
        for one in self.outcomes:
            if one.name == name:
                return one
        raise TwinplaneError(f"{name!r}: no case has that name")

    @property
    def harmless(self) -> int:
        """Cases that cost no flow a packet."""
        return sum(not one.hurt for one in self.outcomes)

    @property
    def for_good(self) -> list[Outcome]:
        """Cases after which a flow was not back."""
        return [one for one in self.outcomes if one.never]

    @property
    def needless(self) -> list[Outcome]:
        """Cases after which a flow was not back although a way was left."""
        return [one for one in self.outcomes if one.needless]

    def table(self) -> pl.DataFrame:
        """A row for each flow that a case hurt, in the order of the cases: the worst first."""
        import polars as pl

        rows = [
            (
                *(one.name, one.kind, hurt.flow, hurt.phb, hurt.lost, hurt.outage_s, hurt.lsp_up_s),
                *(hurt.recovered, hurt.reason, hurt.why),
            )
            for one in self.outcomes
            for hurt in one.hurt
        ]
        return pl.DataFrame(rows, schema=_typed(FLOWS), orient="row")

    def cases(self) -> pl.DataFrame:
        """A row for each case, the worst first."""
        import polars as pl

        rows = [
            (
                *(one.name, one.kind, len(one.hurt), one.never, one.needless, one.lost, one.outage_s),
                *(
                    ", ".join(f"{reason}: {count}" for reason, count in one.reasons.items()),
                    one.watched_s,
                    one.down,
                ),
                one.digest,
            )
            for one in self.outcomes
        ]
        return pl.DataFrame(rows, schema=_typed(CASES), orient="row")

    def classes(self) -> list[OfClass]:
        """Totals by class, in the order of the harm."""
        found = []
        for phb in dict.fromkeys(phb for _, phb in self.flows):
            costs = [(sum(h.lost for h in own), one, own) for one in self.outcomes if (own := _of(one, phb))]
            outages = [h.outage_s for _, _, own in costs for h in own if h.outage_s is not None]
            found.append(
                OfClass(
                    phb,
                    sum(other == phb for _, other in self.flows),
                    len(costs),
                    sum(any(h.recovered is False for h in own) for _, _, own in costs),
                    sum(lost for lost, _, _ in costs),
                    max(outages, default=None),
                    max(costs, key=lambda cost: cost[0])[1].name if costs else "",
                )
            )
        return sorted(found, key=lambda one: (-one.never, -one.lost, one.phb))

    def headline(self) -> str:
        """The answer, in one sentence."""
        kinds = listed(
            [counted(sum(one.kind == kind for one in self.outcomes), kind) for kind in self._kinds()]
        )
        if not self.outcomes or not self.outcomes[0].hurt:
            said = f"Of {kinds}, none costs any flow a packet when it fails"
            if self.quiet:
                few = counted_of(self.quiet, len(self.flows), "flow", "sends", "send")
                said += f"; but {few} too little to show it"
            return f"{said}."
        worst, total = self.outcomes[0], len(self.flows)
        said = f"{worst.kind} {worst.name} is the worst of {kinds}:"
        if worst.never:
            reasons = ", ".join(f"{count} for '{reason}'" for reason, count in worst.reasons.items())
            said += f" {counted_of(worst.never, total, 'flow', 'stays', 'stay')} away ({reasons})"
        else:
            lose = "loses" if len(worst.hurt) == 1 else "lose"
            come = "it comes" if len(worst.hurt) == 1 else "all come"
            said += f" {len(worst.hurt)} of {counted(total, 'flow')} {lose} {counted(worst.lost, 'packet')}"
            said += (
                "" if worst.outage_s is None else f" within {format_time(worst.outage_s)}, and {come} back"
            )
        if left := len(self.needless):
            keep = "keeps" if left == 1 else "keep"
            said += f"; {left} of {counted(len(self), 'case')} {keep} a flow away though a way is left"
        elif worst.never:
            said += "; whoever has a way left comes back in every case"
        return f"{said[0].upper()}{said[1:]}."

    def _kinds(self) -> list[str]:
        return list(
            dict.fromkeys(one.kind for one in sorted(self.outcomes, key=lambda one: ORDER.index(one.kind)))
        )

    def save_csv(self, path: str | Path) -> Path:
        """Write `table` as CSV, and beside it `cases` as ``NAME-cases.csv``."""
        path = Path(path)
        write_text(path.with_name(f"{path.stem}-cases.csv"), self.cases().write_csv())
        return write_text(path, self.table().write_csv())

    def __repr__(self) -> str:
        """What it is, for people."""
        return f"<failures of {self.title}: {counted(len(self), 'case')}, {len(self.for_good)} for good>"


ORDER = ("link", "node", "group", "pair")

FLOWS = {
    **{"case": "String", "kind": "String", "flow": "String", "class": "String", "lost": "Int64"},
    **{
        "outage_s": "Float64",
        "lsp_up_s": "Float64",
        "recovered": "Boolean",
        "reason": "String",
        "why": "String",
    },
}
"""Columns of `Failures.table`."""
CASES = {
    **{
        "case": "String",
        "kind": "String",
        "hurt": "Int64",
        "never": "Int64",
        "needless": "Int64",
        "lost": "Int64",
    },
    **{
        "outage_s": "Float64",
        "reasons": "String",
        "watched_s": "Float64",
        "lsps_down": "Int64",
        "digest": "String",
    },
}
"""Columns of `Failures.cases`."""


def _typed(columns: Mapping[str, str]) -> dict[str, Any]:
    import polars as pl

    return {key: getattr(pl, kind) for key, kind in columns.items()}


def _of(one: Outcome, phb: str) -> Sequence[Hurt]:
    return [hurt for hurt in one.hurt if hurt.phb == phb]


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted_of(number: int, total: int, word: str, one: str, more: str) -> str:
    """``1 of 3 links is``, ``2 of 3 links are``: how many of all, with the verb that goes with them."""
    return f"{number:,} of {counted(total, word)} {one if number == 1 else more}"


def counted(number: int, word: str) -> str:
    """``1 link``, ``3 links``."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
