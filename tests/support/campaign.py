"""How long random campaigns are, and which are drawn: by the variables that the tests in Rust read too."""

from __future__ import annotations

import math
import os

CAMPAIGN, SEED = "TWINPLANE_CAMPAIGN", "TWINPLANE_SEED"
LONG = 20.0
"""How many times as long as in `make test` `long` is."""


def factor(text: str) -> float:
    """``ci`` or nothing, ``long``, or a number above 0 such as 0.2 or 50."""
    words = {"": 1.0, "ci": 1.0, "long": LONG}
    try:
        found = words[text] if text in words else float(text)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found > 0):
        raise ValueError(f"{CAMPAIGN}={text}: 'ci', 'long' or a factor above 0 is needed")
    return found


def scaled(count: int) -> int:
    """How many runs a campaign has that has `count` in `make test`; at least one."""
    return max(1, math.ceil(count * factor(os.environ.get(CAMPAIGN, ""))))


def seed() -> int | None:
    """The seed that is given; None draws the same examples every time."""
    text = os.environ.get(SEED)
    try:
        return None if text is None else int(text)
    except ValueError:
        raise ValueError(f"{SEED}={text}: a whole number is needed") from None
