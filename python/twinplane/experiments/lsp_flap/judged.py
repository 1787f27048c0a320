"""What a system under test failed to do: sentences of a bad verdict."""

from __future__ import annotations

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
    if (excess := m["p"] - 2 * n) > 0:
        found.append(f"{excess:.0f} more PathTear came to the egress than LSPs were torn down")
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
    return found
