"""What a user asks of an experiment, before anything of it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..charts.static import KINDS
from ..results.manifest import PCAP_PACKETS

if TYPE_CHECKING:
    from ..results.real import Real


@dataclass(frozen=True)
class Request:
    """An experiment by its name, and the options of a run."""

    experiment: str
    settings: tuple[str, ...] = ()
    """``key=value`` texts."""
    seed: int = 1
    repeat: int = 1
    out: Path | None = None
    """The results folder [default: the next free one in ``runs``]."""
    pcap: bool = False
    pcap_packets: int = PCAP_PACKETS
    campaign: bool = False
    jobs: int | None = None
    """Runs at a time [default: one for each core]."""
    scheduler: str | None = None
    """Address of a Dask cluster."""
    real: Real | None = None
    """Where it runs in real time; None for virtual time."""
    signals: bool = False
    file: Path | None = None
    """Of a network of the user's own."""
    events: Path | None = None
    """A file with events, beside those that the network has."""
    figures: tuple[str, ...] = KINDS
    """Files that are made of each chart, beside those of the report."""
