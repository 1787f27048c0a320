"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import TwinplaneError, os_reason


def refused(path: Path, error: OSError) -> TwinplaneError:
    """One sentence on why something cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return TwinplaneError(f"{path}: the disk is full; what was finished before is intact")
    return TwinplaneError(f"{path}: cannot be written: {os_reason(error)}")


def write_with(path: Path, write: Callable[[Path], None]) -> Path:
    """Let `write` make a temporary file beside `path`, then move it into place."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        _settle(temporary)
        temporary.replace(path)
    except OSError as error:
        raise refused(path, error) from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return path


def _settle(path: Path) -> None:
    """Bring a file to the disk, with the rights that a file made plainly would have."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
    with path.open("rb") as handle:
        os.fsync(handle.fileno())


def write_bytes(path: Path, data: bytes) -> Path:
    """Write bytes whole or not at all."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(data)

    return write_with(path, write)


def write_text(path: Path, text: str) -> Path:
    """Write text whole or not at all."""
    return write_bytes(path, text.encode())


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> Path:
    """Write JSON whole or not at all."""
    return write_text(path, json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path, what: str) -> Any:
    """Read JSON, or say what is wrong with the file."""
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise TwinplaneError(f"{path}: {what} cannot be read: {os_reason(error)}") from None
    except ValueError:
        raise TwinplaneError(f"{path}: {what} is damaged: it is not JSON") from None
