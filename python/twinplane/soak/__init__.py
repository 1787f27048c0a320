"""Soak runs: does a network that runs for long keep its state, and its memory?

The same programme runs under both clocks (`virtual`, `real`), interval by interval; `verdict` compares what
is left after each.
"""

from __future__ import annotations

from .programme import Round, soak
from .verdict import Verdict, judge

__all__ = ["Round", "Verdict", "judge", "soak"]
