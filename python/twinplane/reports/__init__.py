"""Reports: one self-contained page from results alone, or from a network at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..files import write_text

if TYPE_CHECKING:
    from ..failing.failures import Failures
    from ..network import Network
    from ..results.folder import Results


def of_results(found: Results) -> Path:
    """Write ``report.html`` into a results folder."""
    from .from_results import page

    return write_text(found.folder / "report.html", page(found))


def report(network: Network | Failures, path: str | Path, title: str | None = None) -> Path:
    """Write a page about a network as it is now: planes over time, flows, LSPs, topology.

    Or about what `fail_everything` found.
    """
    from ..failing.failures import Failures

    if isinstance(network, Failures):
        from . import failing

        return write_text(Path(path), failing.page(network))
    from .from_network import page

    return write_text(Path(path), page(network, title))


__all__ = ["of_results", "report"]
