"""Theory against model: what queues, meters and schedulers do, beside what they should do in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ..errors import TwinplaneError, suggest
from .verdict import FAMILY, Compared, Measured, Row, judge

__all__ = ["FAMILY", "GROUPS", "Compared", "Measured", "Row", "checks", "judge", "validate"]

Check = Callable[[int], list[Measured]]
"""From a seed to what was measured."""


def _queueing() -> list[Check]:
    from . import queueing

    return [
        *(partial(queueing.md1, load=load) for load in (0.5, 0.8, 0.9)),
        *(partial(queueing.mm1, load=load) for load in (0.5, 0.8)),
        *(partial(queueing.mm1k, load=load, places=places) for load, places in ((0.8, 5), (1.2, 10))),
        *(partial(queueing.md1k, load=load, places=places) for load, places in ((0.8, 5), (1.1, 10))),
    ]


def _priority() -> list[Check]:
    from . import queueing

    return [queueing.priority]


def _meters() -> list[Check]:
    from . import policing

    return [policing.meters]


def _early() -> list[Check]:
    from . import early

    return [
        *(partial(early.still, case=case) for case in early.stills()),
        *(partial(early.moving, overload=overload) for overload in early.OVERLOADS),
    ]


def _shares() -> list[Check]:
    from . import shares

    return [shares.drr, shares.htb, shares.cbq]


def _little() -> list[Check]:
    from . import little

    return [little.all_disciplines]


GROUPS: dict[str, Callable[[], list[Check]]] = {
    "queueing": _queueing,
    "priority": _priority,
    "meters": _meters,
    "red": _early,
    "shares": _shares,
    "little": _little,
}
"""Groups of rows, by the name that `--only` takes."""


def checks(only: Sequence[str] = ()) -> list[tuple[str, Check]]:
    """The checks of the groups that are named, or all."""
    for name in only:
        if name not in GROUPS:
            known = f"one of {', '.join(GROUPS)}"
            raise TwinplaneError(f"only={name}: there is no such group: {known}{suggest(name, GROUPS)}")
    return [(name, check) for name in GROUPS if not only or name in only for check in GROUPS[name]()]


def validate(
    seeds: Sequence[int] = (1, 2, 3), only: Sequence[str] = (), tick: Callable[[], None] | None = None
) -> list[Row]:
    """Every row for every seed, judged together: `FAMILY` is the confidence of the whole family."""
    return judge(list(_measure(seeds, checks(only), tick)))


def _measure(
    seeds: Sequence[int], found: Sequence[tuple[str, Check]], tick: Callable[[], None] | None
) -> Iterator[tuple[int, Measured]]:
    for group, check in found:
        for seed in seeds:
            for measured in check(seed):
                yield seed, replace(measured, group=group)
            if tick is not None:
                tick()
