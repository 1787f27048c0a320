"""What a router was given in a run, to be given to it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .errors import TwinplaneError, os_reason
from .files import write_text


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
