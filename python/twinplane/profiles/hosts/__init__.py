"""Host profiles: how the TCP of a host behaves. A profile is data, a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import TwinplaneError, one_line, os_reason, suggest

FOLDER = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    """The profiles that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def resolve(profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A host profile by name, by file (``*.toml``), or as a mapping; the core checks what it says."""
    if isinstance(profile, Mapping):
        return {"name": "own", **profile}
    if isinstance(profile, str) and not profile.endswith(".toml"):
        if profile not in names():
            hint = suggest(profile, names()) or f" (one of {', '.join(names())}, or a .toml file)"
            raise TwinplaneError(f"profile={profile}: no such host profile{hint}")
        return load(FOLDER / f"{profile}.toml")
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
