"""What fails in turn: links, nodes, shared-risk link groups, and pairs of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from ..errors import TwinplaneError, suggest

if TYPE_CHECKING:
    from ..network import Network

KINDS = ("links", "nodes", "groups")
"""What `only` may name."""

ENDS = frozenset({"host", "station", "edge", "peer", "external"})
"""Kinds of nodes that are ends of traffic and carry none for others: they do not fail by themselves."""


class NothingToTryError(TwinplaneError):
    """The network has nothing that could fail, or nobody who would notice."""


@dataclass(frozen=True)
class Case:
    """Links and nodes, by their places, that fail together; the links of a node go with it."""

    name: str
    kind: str
    """``link``, ``node``, ``group`` or ``pair``."""
    links: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What no other case has that does something else; names are for people."""
        return f"{self.kind}:{','.join(map(str, self.links))}:{','.join(map(str, self.nodes))}"

    def dead_links(self, ends: Sequence[tuple[int, int]]) -> list[int]:
        """All links that cannot be used, those of its nodes included; `ends` are those of every link."""
        nodes = set(self.nodes)
        own = set(self.links)
        return [link for link, pair in enumerate(ends) if link in own or not nodes.isdisjoint(pair)]


def link_names(network: Network) -> list[str]:
    """``a-b`` of every link, ``a:e0-b:e1`` of one that is not the only one between its ends."""
    pairs = [frozenset((link.a.name, link.b.name)) for link in network.links]
    times = Counter(pairs)
    return [
        f"{link.a.name}-{link.b.name}" if times[pair] == 1 else "-".join(network.draft.core.ends(link.index))
        for link, pair in zip(network.links, pairs, strict=True)
    ]


def already_down(network: Network) -> tuple[frozenset[int], frozenset[int]]:
    """Links and nodes that are down now, by their places."""
    links, nodes = network.running().down()
    return frozenset(links), frozenset(nodes)


def groups(network: Network) -> dict[str, list[int]]:
    """The shared-risk link groups that links name (`srlg`), with the places of their links."""
    found: dict[str, list[int]] = {}
    for link in network.links:
        said = network.draft.element("links", link.index).get("srlg") or ()
        for name in (said,) if isinstance(said, str) else said:
            found.setdefault(name, []).append(link.index)
    return found


def cases_of(network: Network, only: Sequence[str] | None = None, pairs: bool = False) -> list[Case]:
    """Every case: links, nodes and groups in their order, or those kinds only; then pairs of these."""
    for kind in only or ():
        if kind not in KINDS:
            raise TwinplaneError(f"only: {kind!r}: {', '.join(KINDS)}{suggest(kind, KINDS)}")
    asked = tuple(only or KINDS)
    found: list[Case] = []
    if "links" in asked:
        found += [Case(name, "link", (place,)) for place, name in enumerate(link_names(network))]
    if "nodes" in asked:
        found += [Case(one.name, "node", (), (one.index,)) for one in network.nodes if one.kind not in ENDS]
    if "groups" in asked:
        found += [Case(name, "group", tuple(links)) for name, links in groups(network).items()]
    if not found:
        raise NothingToTryError(_nothing(asked))
    found = _distinct(found, _doubtful(found), network)
    ends = [(link.a.index, link.b.index) for link in network.links]
    return _numbered([*found, *_pairs(found, ends)] if pairs else found)


def some_cases(network: Network, only: str, count: int) -> list[Case]:
    """Links and nodes (``all``), or one of the two: every one, or so many that are drawn with the seed."""
    cases = cases_of(network, ["links", "nodes"] if only == "all" else [only])
    if not count or count >= len(cases):
        return cases
    places = random.Random(f"cases {network.seed}").sample(range(len(cases)), count)
    return [cases[place] for place in sorted(places)]


def _doubtful(cases: Sequence[Case]) -> set[str]:
    """Names that more than one case has."""
    return {name for name, times in Counter(case.name for case in cases).items() if times > 1}


def _distinct(cases: Sequence[Case], doubtful: Collection[str], network: Network) -> list[Case]:
    """Cases whose names tell them apart: links of one name by their interfaces, others by their kinds."""
    found = list(cases)
    for place, case in enumerate(cases):
        if case.name not in doubtful:
            continue
        if case.kind == "link":
            found[place] = replace(case, name="-".join(network.draft.core.ends(case.links[0])))
        else:
            found[place] = replace(case, name=f"{case.kind} {case.name}")
    return found


def _numbered(cases: list[Case]) -> list[Case]:
    """Cases of which each has a name of its own: those of one name that are left get numbers."""
    if not _doubtful(cases):
        return cases
    seen: set[str] = set()
    found = []
    for case in cases:
        name, number = case.name, 1
        while name in seen:
            number += 1
            name = f"{case.name} #{number}"
        seen.add(name)
        found.append(replace(case, name=name))
    return found


def _nothing(asked: Sequence[str]) -> str:
    """What there is none of, and where it would be said."""
    if tuple(asked) == ("groups",):
        return "there is no group that could fail: links name those that they share a risk with as srlg"
    return f"there is nothing that could fail: no {', no '.join(asked)}"


def _pairs(singles: Sequence[Case], ends: Sequence[tuple[int, int]]) -> Iterator[Case]:
    """Two at a time, but for those of which one takes the other with it, such as a node and a link of it."""
    for one, other in combinations(singles, 2):
        links = tuple(sorted({*one.links, *other.links}))
        both = Case(f"{one.name} + {other.name}", "pair", links, (*one.nodes, *other.nodes))
        dead = both.dead_links(ends)
        if all(part.nodes != both.nodes or part.dead_links(ends) != dead for part in (one, other)):
            yield both
