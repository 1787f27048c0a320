"""Device profiles: how long a device takes for what it does. A profile is data, a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import TwinplaneError, one_line, os_reason, suggest

FOLDER = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    """The profiles that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def resolve(profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A profile by name, by file (``*.toml``), or as a mapping, checked."""
    if isinstance(profile, Mapping):
        return validated(dict(profile), f"profile '{profile.get('name', '')}'")
    if isinstance(profile, str) and not profile.endswith(".toml"):
        if profile not in names():
            hint = suggest(profile, names()) or f" (one of {', '.join(names())}, or a .toml file)"
            raise TwinplaneError(f"profile={profile}: no such profile{hint}")
        return dict(_shipped(profile))
    return load(Path(profile))


@cache
def _shipped(name: str) -> dict[str, Any]:
    return load(FOLDER / f"{name}.toml")


def load(path: Path) -> dict[str, Any]:
    """Read and check a profile file."""
    try:
        fields = tomllib.loads(path.read_text())
    except OSError as error:
        raise TwinplaneError(f"{path}: profile cannot be read: {os_reason(error)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TwinplaneError(f"{path}: not a TOML file: {one_line(error)}") from None
    fields.setdefault("name", path.stem)
    return validated(fields, str(path))


def validated(fields: dict[str, Any], what: str) -> dict[str, Any]:
    """The same with every field checked and every default filled in."""
    from pydantic import ValidationError

    from .model import DeviceProfile

    fields = {key: value for key, value in fields.items() if key != "fit"}
    try:
        profile = DeviceProfile.model_validate(fields).model_dump()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        hint = ""
        if first["type"] == "extra_forbidden":
            hint = suggest(str(first["loc"][-1]), DeviceProfile.every_field())
            raise TwinplaneError(f"{what}: unknown field '{where}'{hint}") from None
        reason = one_line(first["msg"])
        raise TwinplaneError(f"{what}: {where}: {reason[:1].lower()}{reason[1:]}") from None
    if not profile["control"]["costs"]:
        del profile["control"]["costs"]
    return profile
