"""Device profiles: how long a device takes for what it does. A profile is data, a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import TwinplaneError, one_line, suggest
from .named import Profiles
from .named import load as read

DEVICES = Profiles(Path(__file__).parent, "profile")
names = cache(DEVICES.names)


def resolve(profile: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A profile by name, by file (``*.toml``), or as a mapping, checked."""
    if isinstance(profile, Mapping):
        return validated(dict(profile), f"profile '{profile.get('name', '')}'")
    if isinstance(profile, str) and not profile.endswith(".toml"):
        return dict(_shipped(profile))
    return load(Path(profile))


@cache
def _shipped(name: str) -> dict[str, Any]:
    return validated(DEVICES.resolve(name), f"profile '{name}'")


def load(path: Path) -> dict[str, Any]:
    """Read and check a profile file."""
    return validated(read(path), str(path))


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
