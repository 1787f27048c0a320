"""What `lab status` says of next hops that nothing leads to."""

from __future__ import annotations

from twinplane.lab.looking import not_reached


def test_a_next_hop_that_no_route_leads_to_is_named() -> None:
    def route(next_hop: str | None, is_reached: bool) -> dict[str, object]:
        return {"prefix": "10.9.0.0/16", "next_hop": next_hop, "is_reached": is_reached}

    told = [route("10.0.0.9", False), route("10.0.0.9", False), route("10.0.0.2", True), route(None, False)]
    assert not_reached("pe1", [*told, route("10.0.0.7", False)]) == [
        "router pe1 has no route to 10.0.0.7, next hop of BGP: the route with it is not used",
        "router pe1 has no route to 10.0.0.9, next hop of BGP: the 2 routes with it are not used",
    ]
    assert not_reached("pe1", told[2:]) == []
