"""Profiles that the core checks: TOML files of a folder, by name, by file, or as a mapping."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TwinplaneError, one_line, os_reason, suggest


@dataclass(frozen=True)
class Profiles:
    """The profiles of a folder, each of which is a `what`, such as a host profile."""

    folder: Path
    what: str

    def names(self) -> tuple[str, ...]:
        """Those that come with the package."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.toml")))

    def resolve(self, profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
        """A profile by name, by file (``*.toml``), or as a mapping."""
        if isinstance(profile, Mapping):
            return {"name": "own", **profile}
        if isinstance(profile, str) and not profile.endswith(".toml"):
            names = self.names()
            if profile not in names:
                hint = suggest(profile, names) or f" (one of {', '.join(names)}, or a .toml file)"
                raise TwinplaneError(f"profile={profile}: no such {self.what}{hint}")
            return load(self.folder / f"{profile}.toml")
        return load(Path(profile))


def load(path: Path) -> dict[str, Any]:
    """Read a profile file."""
    try:
        fields = tomllib.loads(path.read_text())
    except OSError as error:
        raise TwinplaneError(f"{path}: profile cannot be read: {os_reason(error)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TwinplaneError(f"{path}: not a TOML file: {one_line(error)}") from None
    return {"name": path.stem, **fields}
