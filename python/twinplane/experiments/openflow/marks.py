"""Of what kind a figure is, by its name: what follows from it, and what it contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...errors import TwinplaneError
from ..scores import Kind
from .parameters import OpenFlowParameters
from .profile import Profile
from .rows import Row, published, rows


def delay_of(row: Row) -> str:
    """The name of a row's delay, in lists of figures."""
    return f"{row.name}: delay"


def share_of(row: Row) -> str:
    """The name of the share that a row's test received."""
    return f"{row.name}: received"


def resets_at(rate: float) -> str:
    """The name of what is said in words of resets at a rate."""
    return f"packet-out: resets at {rate:g} Mbit/s"


NO_RESETS = "packet-out: no resets"
"""The name of what follows from rows that are given: nothing is said of resets in them."""


def contradictory(device: str) -> dict[str, str]:
    """Figures that contradict others, or arithmetic, and why."""
    return {
        figure: said["why"]
        for said in published()["contradictory"]
        for figure in said["figures"]
        if said["device"] == device
    }


def readings(device: str) -> dict[str, str]:
    """Figures that decided among readings of the study, and for which."""
    found: dict[str, list[str]] = {}
    for said in published()["reading"]:
        for figure in said["figures"] if said["device"] == device else ():
            found.setdefault(figure, []).append(said["says"])
    return {figure: "; ".join(says) for figure, says in found.items()}


def fitted(profile: Profile, device: str) -> dict[str, str]:
    """Figures that values of a profile or readings follow from, and which."""
    found = {figure: "" for figures in profile.rows.values() for figure in figures}
    for figure in found:
        found[figure] = f"{', '.join(profile.follows(figure))} of the profile"
    for figure, says in readings(device).items():
        found[figure] = f"{found[figure]}; {says}" if figure in found else says
    return found


def kind(profile: Profile, row: Row, figure: str) -> tuple[Kind, str]:
    """What a published figure says about a profile, and why."""
    if reason := contradictory(row.device).get(figure):
        return Kind.CONTRADICTORY, reason
    follows = fitted(profile, row.device)
    if figure in follows:
        return Kind.FITTED, follows[figure]
    return (Kind.INSIDE if _is_within(row, tuple(follows)) else Kind.OUTSIDE), ""


def _place(row: Row) -> tuple[float, ...]:
    """Where a row is among those of its kind: by entries, or by rate and size."""
    return (row.flows,) if row.part.startswith("flow") else (row.rate, row.size)


def _is_within(row: Row, follows: tuple[str, ...]) -> bool:
    """Lies a row between those of its kind that something follows from?"""
    near = [
        _place(one)
        for one in _given(row.device)
        if _alike(one, row) and not {delay_of(one), share_of(one)}.isdisjoint(follows)
    ]
    along = zip(*near, strict=True)
    return bool(near) and all(min(of) <= at <= max(of) for of, at in zip(along, _place(row), strict=True))


def _alike(one: Row, other: Row) -> bool:
    return one.part == other.part or (one.part.startswith("flow") and other.part.startswith("flow"))


@cache
def _given(device: str) -> tuple[Row, ...]:
    every = rows(OpenFlowParameters.model_validate({"conditions": device}))
    return tuple(row for row in every if row.published is not None)


def figures(device: str) -> Iterator[str]:
    """The names of all figures that something may follow from."""
    for row in _given(device):
        yield delay_of(row)
        if row.published is not None and row.published.share is not None and row.part != "control":
            yield share_of(row)
    yield NO_RESETS
    yield from (resets_at(said["rate"]) for said in published()["words"] if said["device"] == device)


def check(profile: Profile) -> None:
    """Refuse figures that there are not, and those that contradict others."""
    if profile.device is None:
        return
    known, never = set(figures(profile.device)), contradictory(profile.device)
    for value, names in profile.rows.items():
        for name in names:
            if name not in known:
                raise TwinplaneError(f"profile: fit: {value}: the study has no figure '{name}'")
            if name in never:
                raise TwinplaneError(f"profile: fit: {value}: '{name}' contradicts others: {never[name]}")
