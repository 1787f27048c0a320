"""What is said of runs that were repeated: their seeds, and what the figures of several of them are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def seeds(seed: int, repeat: int) -> str:
    """``seed 1``, or ``seeds 1 to 3``."""
    return f"seed {seed}" if repeat == 1 else f"seeds {seed} to {seed + repeat - 1}"


def told(repeat: int, extremes: bool = False) -> str:
    """What a table of several runs holds, also if `extremes` of runs are in it; nothing of one run."""
    if repeat == 1:
        return ""
    more = f"; a max or min is the mean of the {repeat} runs' own" if extremes else ""
    return f"means of {repeat} seeds ± half of their 95 % interval{more}"


def first(seed: int, repeat: int) -> str:
    """Of what is kept of the first run only: which it is; nothing if there is no other."""
    return "" if repeat == 1 else f"seed {seed} alone"


def plus_minus(form: Callable[[Any], str], value: Any, half: float) -> str:
    """A figure and half of its interval (none: the figure alone), their unit once if they share it."""
    if not half:
        return form(value)
    figure, around = form(value), form(half)
    number, _, unit = figure.rpartition(" ")
    if number and around.rpartition(" ")[2] == unit:
        return f"{number} ± {around}"
    return f"{figure} ± {around}"
