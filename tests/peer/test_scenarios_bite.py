"""Scenarios must fail against routers that are wrong, or they prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from . import codec as c
from . import state
from .lsr import Lsr
from .neighbour import Labelled, Neighbour
from .router import Router
from .scenarios import SCENARIOS
from .stand_in import build


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_silence_is_no_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A router that does nothing at all passes no scenario."""
    scenario = SCENARIOS[name]
    bench, router = build(scenario.options)
    for side in router.neighbours:
        monkeypatch.setattr(side.port, "send", lambda frame: None)
    assert scenario.run(bench) != []


Break = Callable[[Router, pytest.MonkeyPatch], None]


def admits_everything(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router, "reservable", 1e12)


def counts_twice(router: Router, patch: pytest.MonkeyPatch) -> None:
    """Two LSPs of a session do not share."""
    patch.setattr(router, "_in_use", lambda flows: sum(rate for _, rate in flows.values()))


def never_preempts(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router, "_holding", lambda key: 0)


def keeps_ttl(router: Router, patch: pytest.MonkeyPatch) -> None:
    plain = router.switch

    def switch(neighbour: Neighbour, item: Labelled) -> None:
        top = replace(item.stack[0], ttl=min(255, item.stack[0].ttl + 1))
        plain(neighbour, replace(item, stack=[top, *item.stack[1:]]))

    for side in router.neighbours:
        side.label_handlers[:] = [switch]


def loses_traffic_class(router: Router, patch: pytest.MonkeyPatch) -> None:
    plain = router.switch

    def switch(neighbour: Neighbour, item: Labelled) -> None:
        top = replace(item.stack[0], traffic_class=0)
        plain(neighbour, replace(item, stack=[top, *item.stack[1:]]))

    for side in router.neighbours:
        side.label_handlers[:] = [switch]


def keeps_explicit_route(router: Router, patch: pytest.MonkeyPatch) -> None:
    for side in router.neighbours:
        plain = side.send

        def send(message: c.Message, plain: Callable[[c.Message], None] = plain) -> None:
            if message.kind == c.Type.PATH and message.get(c.ExplicitRoute):
                message = message.swapped(c.ExplicitRoute.strict("10.1.0.2", "10.2.0.2"))
            plain(message)

        patch.setattr(side, "send", send)


def no_router_alert(router: Router, patch: pytest.MonkeyPatch) -> None:
    for side in router.neighbours:
        plain = side.envelope

        def envelope(message: c.Message, plain: Callable[[c.Message], c.Ipv4] = plain) -> c.Ipv4:
            return replace(plain(message), options=b"")

        patch.setattr(side, "envelope", envelope)


def wrong_send_ttl(router: Router, patch: pytest.MonkeyPatch) -> None:
    for side in router.neighbours:
        plain = side.envelope

        def envelope(message: c.Message, plain: Callable[[c.Message], c.Ipv4] = plain) -> c.Ipv4:
            return replace(plain(message), ttl=255)

        patch.setattr(side, "envelope", envelope)


def keeps_states_forever(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(state, "MISSED", 10_000)


def forgets_no_reservation(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router, "_remove_resv", lambda key: None)


def takes_old_messages(router: Router, patch: pytest.MonkeyPatch) -> None:
    for side in router.neighbours:
        patch.setattr(router.books.of(side), "newest", _Nothing())


class _Nothing(dict[object, int]):
    """A dictionary that keeps nothing."""

    def __setitem__(self, key: object, value: int) -> None:
        return


def knows_no_replay(router: Router, patch: pytest.MonkeyPatch) -> None:
    for side in router.neighbours:
        patch.setattr(
            type(side), "peer_sequence", property(lambda _: -1, lambda _, value: None), raising=False
        )


def ignores_hello(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(router, "_lost", lambda neighbour: None)


def takes_any_style(router: Router, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Router, "_acceptable", lambda *_: True)


def plain_lsr(router: Router, patch: pytest.MonkeyPatch) -> None:
    """None of the validation that `Router` adds."""
    patch.setattr(Router, "handle", Lsr.handle)
    for side in router.neighbours:
        side.handlers[:] = [lambda n, m: Lsr.handle(router, n, m)]


BITES: list[tuple[Break, str]] = [
    (admits_everything, "sharing.too_much"),
    (admits_everything, "sharing.sessions_do_not_share"),
    (admits_everything, "sharing.fixed_filter_adds_up"),
    (admits_everything, "sharing.equal_priority_holds"),
    (admits_everything, "sharing.preemption"),
    (counts_twice, "sharing.make_before_break"),
    (never_preempts, "sharing.preemption"),
    (keeps_ttl, "data.swaps"),
    (keeps_ttl, "data.ttl_expires"),
    (loses_traffic_class, "data.swaps"),
    (keeps_explicit_route, "setup.through_transit"),
    (no_router_alert, "setup.through_transit"),
    (no_router_alert, "setup.path_tear"),
    (wrong_send_ttl, "setup.through_transit"),
    (keeps_states_forever, "setup.path_times_out"),
    (keeps_states_forever, "setup.resv_times_out"),
    (forgets_no_reservation, "setup.resv_tear"),
    (takes_old_messages, "reliable.out_of_order"),
    (knows_no_replay, "integrity.replay"),
    (ignores_hello, "hello.downstream_restarts"),
    (ignores_hello, "hello.downstream_falls_silent"),
    (takes_any_style, "reservations.unknown_style"),
    (takes_any_style, "reservations.conflicting_style"),
    (plain_lsr, "malformed.unknown_c_type"),
    (plain_lsr, "malformed.missing_objects"),
    (plain_lsr, "malformed.broken_reservations"),
]


@pytest.mark.parametrize(("breaks", "name"), BITES, ids=lambda v: getattr(v, "__name__", v))
def test_notices(breaks: Break, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A router that is wrong in one way fails the scenario about it."""
    scenario = SCENARIOS[name]
    bench, router = build(scenario.options)
    breaks(router, monkeypatch)
    assert scenario.run(bench) != []


def test_both_ends_of_each_break() -> None:
    """Every break that is listed here names a scenario that exists."""
    assert {name for _, name in BITES} <= set(SCENARIOS)
