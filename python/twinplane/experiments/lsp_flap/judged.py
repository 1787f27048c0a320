"""What a system under test failed to do: sentences of a bad verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...results.points import Point


def of_system(point: Point) -> list[str]:
    """LSPs that are not up, packets that were lost, state that stayed: a sentence each."""
    m, n = point.metrics, point.parameters["n"]
    found = []
    if lost := m["lost_prior"] + m["lost_during"]:
        found.append(f"{lost:,.0f} of {m['sent']:,.0f} packets over LSPs that did not flap were lost")
    if m["duplicated"]:
        found.append(f"{m['duplicated']:,.0f} packets came more than once")
    if m["reordered"]:
        found.append(f"{m['reordered']:,.0f} packets came after later ones")
    if m["tc_changed"]:
        found.append(f"{m['tc_changed']:,.0f} packets had another TC (EXP) in their label than was sent")
    if m["k_up"] < n:
        found.append(f"{n - m['k_up']:.0f} of {n} LSPs were not back up at the second event")
    if m["failed"]:
        found.append(f"{m['failed']:.0f} LSPs were not up at the end")
    found += _unexplained(point)
    if (excess := m["p"] - 2 * n) > 0:
        found.append(f"{excess:.0f} more PathTear came to the egress than LSPs were torn down")
    if m.get("wrong_routes"):
        found.append(
            f"the recorded routes of {m['wrong_routes']:.0f} LSPs do not lead from edge to edge: RECORD_ROUTE"
            " was changed on the way"
        )
    limit = point.parameters["setup_timeout_s"]
    if (slowest := m.get("slowest_resv_s") or 0) > limit:
        found.append(f"a Resv came {slowest:.2f} s after its Path: the ingress waits {limit:g} s")
    if m.get("expired"):
        found.append(f"{m['expired']:.0f} LSPs timed out at the egress: Path was not refreshed")
    if m.get("standing"):
        found.append(
            f"{m['standing']:.0f} LSPs were still at the egress {m['tear_down_s']:.1f} s after all had been"
            " torn down: PathTear was not passed on"
        )
    if m.get("leftovers"):
        found.append(
            f"{m['leftovers']:.0f} LSPs at the egress are of an earlier run: the system kept their state, and"
            " what it does with it may be in these figures"
        )
    return found + _unusable(m, bool(found))


def _unexplained(point: Point) -> list[str]:
    """A system that does not set an LSP up has to say so (RFC 2205, 3.1.7 and 3.1.8)."""
    m = point.metrics
    missing = max(point.parameters["n"] - m["k_up"], m["failed"])
    late = (m.get("slowest_resv_s") or 0) > point.parameters["setup_timeout_s"]
    said = any(m.get(f"{way}_{place}") for way in ("refused", "told") for _, place in PLACES)
    if not missing or late or said or _unusable(m, False):
        return []
    return [f"of {missing:.0f} LSPs that did not come up, neither PathErr nor ResvErr said why"]


UNUSABLE = {
    "malformed": "could not be read",
    "unknown-object": "have objects that have to be refused (RFC 2205, 3.10)",
    "not-an-lsp-tunnel": "are about no LSP tunnel",
    "wrong-hop": "came from another neighbour than their state did",
}
"""Why a tester discards what no right system sends, and in words."""
NO_STATE = {"no-state": "are about LSPs that are not there"}
"""Right systems send that, too, when messages cross. As errors do, it explains what else is wrong."""
PLACES = (("ingress", "head"), ("egress", "tail"))


def _unusable(metrics: Mapping[str, Any], is_bad: bool) -> list[str]:
    words = {**UNUSABLE, **(NO_STATE if is_bad else {})}
    found = [
        f"{count} messages to the {edge} {words[reason]}"
        for edge, place in PLACES
        for reason, count in metrics.get(f"discarded_{place}", {}).items()
        if reason in words
    ]
    for edge, place in PLACES if is_bad else ():
        refused, told = (metrics.get(f"{way}_{place}", {}) for way in ("refused", "told"))
        found += [f"the {edge} refused {count} messages: {why}" for why, count in refused.items()]
        found += [f"the {edge} was told {count} times: {why}" for why, count in told.items()]
    return found
