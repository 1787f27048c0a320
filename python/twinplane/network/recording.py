"""What a router was given in a run, to be given to it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError, os_reason
from ..files import write_text
from ..frames import Columns

if TYPE_CHECKING:
    from .. import _core


class Recording:
    """The inputs of a router with their times, and a digest of its outputs; as JSON in a file."""

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a recording from a file."""
        try:
            return cls(Path(path).read_text())
        except (OSError, UnicodeDecodeError) as error:
            reason = os_reason(error) if isinstance(error, OSError) else "it is not text"
            raise TwinplaneError(f"{path}: recording cannot be read: {reason}") from None

    def save(self, path: str | Path) -> Path:
        """Write the recording to a file."""
        return write_text(Path(path), self.text)

    def __len__(self) -> int:
        """How many inputs there are."""
        return len(json.loads(self.text)["inputs"])


@dataclass(frozen=True)
class Replay:
    """What a router answered to a recording."""

    outputs: int
    """Frames and events."""
    digest: str
    """Of all outputs with their times."""
    same: bool
    """Are they those of the recorded router?"""


class ReplayedRouter:
    """A router in virtual time that was given what another was given in a process of its own."""

    def __init__(self, network: _core.Network, summary: dict[str, Any]) -> None:
        self._network = network
        self._place: int = summary.pop("node")
        self.summary = summary
        """Name, numbers of inputs and outputs, their digest; `same` and `whole`."""
        self.node: str = summary["name"]
        self.inputs: int = summary["inputs"]
        self.outputs: int = summary["outputs"]
        self.same: bool = summary["same"]
        """Are its answers those of the recorded router, as far as the recording tells?"""
        self.whole: bool = summary["whole"]
        """Did the recorded process end by itself? Of one that was killed, the last second has no digest."""

    def table(self, name: str) -> Columns:
        """A table of the router as it is at the end of the recording."""
        with core.translated():
            found: Columns = self._network.table(name, self._place).columns()
            return found


def replay_file(path: str | Path) -> ReplayedRouter:
    """Replay what a router process wrote down (``twinplane-router --record``), in virtual time."""
    with core.translated():
        network, summary = core.load().Network.replay_file(str(path))
        return ReplayedRouter(network, json.loads(summary))
