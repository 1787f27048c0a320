"""The folder of a run over all cases: each finished case is a line, so that the run can go on later."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import core
from ..errors import TwinplaneError
from ..files import read_json, refused, write_json
from ..results.folder import new_folder, open_folder

MANIFEST, CASES = "failures.json", "cases.jsonl"


def identity(described: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """A digest of a network, of how it is tried and of the program: what differs in it has other results."""
    text = json.dumps([described, settings, core.fingerprint()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """Finished cases, by their keys."""

    def __init__(self, folder: Path | None, key: str, said: Mapping[str, Any]) -> None:
        """Make or open a folder; one that holds something else is refused."""
        self.folder = new_folder("fail") if folder is None else self._open(folder, key)
        self.found: dict[str, dict[str, Any]] = self._read()
        write_json(self.folder / MANIFEST, {"identity": key, **said})

    @staticmethod
    def _open(folder: Path, key: str) -> Path:
        if (folder / MANIFEST).exists():
            if read_json(folder / MANIFEST, "manifest").get("identity") != key:
                raise TwinplaneError(
                    f"{folder}: it holds failures of another network, or with other settings:"
                    " choose another folder"
                )
        elif folder.is_dir() and any(folder.iterdir()):
            raise TwinplaneError(f"{folder}: it holds other files than failures: choose another folder")
        return open_folder(folder)

    def _read(self) -> dict[str, dict[str, Any]]:
        """Whole lines; what was being written when a run was killed is left out, and done again."""
        found = {}
        path = self.folder / CASES
        try:
            lines = path.read_text().splitlines() if path.exists() else []
        except OSError as error:
            raise refused(path, error) from None
        for line in lines:
            try:
                one = json.loads(line)
            except ValueError:
                continue
            if isinstance(one, dict) and "key" in one:
                found[str(one["key"])] = one
        return found

    def keep(self, outcomes: Sequence[bytes]) -> None:
        """Add finished cases: one write each, at the end of the file, behind a line that was not finished."""
        path = self.folder / CASES
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                for line in outcomes:
                    os.write(handle, b"\n" + line + b"\n")
            finally:
                os.close(handle)
        except OSError as error:
            raise refused(path, error) from None
