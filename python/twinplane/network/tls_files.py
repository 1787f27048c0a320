"""Files by which a switch and its controllers know each other over TLS, looked at before anything begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import core
from ..errors import TwinplaneError

SETTINGS = ("private_key", "certificate", "ca_cert")


def looked_at(said: Any, folder: Path) -> Any:
    """The files with whole paths, which other processes find, too; relative ones begin at `folder`.

    An error has the setting at fault as its path. What is no mapping of paths is for the core to refuse.
    """
    if not isinstance(said, Mapping) or not all(isinstance(path, str | Path) for path in said.values()):
        return said
    paths = {key: str((folder / path).absolute()) for key, path in said.items()}
    if set(paths) == set(SETTINGS):
        wrong = core.check_tls(*(paths[key] for key in SETTINGS))
        if wrong is not None:
            setting, words = wrong
            error = TwinplaneError(f"tls: {setting}: {words}")
            error.path = (setting,)
            raise error
    # What is missing or too much the core says.
    return paths
