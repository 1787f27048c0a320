"""Client of a router's control socket: a line of JSON there, a line of JSON back.

What can be asked is in docs/reference/control-socket.md.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import TwinplaneError, os_reason, suggest
from ..frames import Columns

LABS = Path("/run/twinplane/labs")
"""Where labs that are up keep their files: the sockets of a lab are in its folder, or in `nodes` below."""

PATIENCE_S = 10.0
"""How long a router may take for an answer that needs no other router."""


class NotThere(TwinplaneError):
    """Nobody answers at the socket."""


class Control:
    """A connection to a router, as long as it is needed."""

    def __init__(self, path: Path, who: str = "", patience_s: float = PATIENCE_S) -> None:
        self.path = path
        self.who = f"router '{who or path.stem}'"
        self.patience_s = patience_s
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._link.settimeout(patience_s)
        try:
            self._link.connect(str(path))
        except BaseException as error:
            self._link.close()
            if isinstance(error, OSError):
                raise self._not_there(error) from None
            raise
        self._answers = self._link.makefile("rb")

    def __enter__(self) -> Control:
        """It is open already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the router alone."""
        self.close()

    def close(self) -> None:
        """Leave the router alone."""
        self._answers.close()
        self._link.close()

    def ask(self, request: str, argument: Any = None, *, wait_s: float = 0.0) -> Any:
        """Ask for something that may take so much longer; what the router refuses is an error."""
        try:
            self._link.settimeout(self.patience_s + wait_s)
            self._link.sendall(json.dumps({request: argument}).encode() + b"\n")
            line = self._answers.readline()
        except OSError as error:
            raise self._not_there(error) from None
        if not line.endswith(b"\n"):
            raise NotThere(f"{self.who}: it ended before it answered")
        answer = json.loads(line)
        if "error" in answer:
            raise TwinplaneError(f"{self.who}: {answer['error']}")
        return answer.get("ok")

    def table(self, name: str) -> Columns:
        """A table of the router: columns of equal length by name."""
        found: Columns = self.ask("table", name)
        return found

    def status(self) -> dict[str, Any]:
        """What the process is, and how it fares."""
        found: dict[str, Any] = self.ask("status")
        return found

    def _not_there(self, error: OSError) -> NotThere:
        if isinstance(error, TimeoutError):
            return NotThere(f"{self.who}: it does not answer within {self.patience_s:g} s")
        if isinstance(error, FileNotFoundError):
            return NotThere(f"{self.who}: it is not running: there is no socket {self.path}")
        if isinstance(error, ConnectionRefusedError):
            return NotThere(f"{self.who}: it is not running: nobody answers at {self.path}")
        if isinstance(error, PermissionError):
            return NotThere(f"{self.who}: {self.path}: permission denied: only its owner may ask")
        if isinstance(error, BrokenPipeError | ConnectionResetError):
            return NotThere(f"{self.who}: it ended, or has too many clients")
        return NotThere(f"{self.who}: {self.path}: {os_reason(error)}")


def sockets(lab: str | None = None, labs: Path | None = None) -> dict[tuple[str, str], Path]:
    """The control sockets of labs that are up, by lab and router."""
    top = LABS if labs is None else labs
    found: dict[tuple[str, str], Path] = {}
    try:
        folders = sorted(path for path in top.iterdir() if path.is_dir())
        for folder in folders:
            if lab is None or folder.name == lab:
                for path in sorted([*folder.glob("*.sock"), *folder.glob("nodes/*.sock")]):
                    found[folder.name, path.stem] = path
    except FileNotFoundError:
        pass
    except PermissionError as error:
        raise TwinplaneError(f"{error.filename}: permission denied: labs are root's") from None
    if lab is not None and not found:
        known = sorted({name for name, _ in sockets(None, top)})
        hint = suggest(lab, known) or (f" (up: {', '.join(known)})" if known else " (no lab is)")
        raise TwinplaneError(f"lab '{lab}' is not up{hint}")
    return found


def find_socket(lab: str | None, node: str | None, labs: Path | None = None) -> Path:
    """The control socket of a router; lab and router may be left out where there is no other."""
    known = sockets(lab, labs)
    if not known:
        raise TwinplaneError("no lab is up: `twinplane lab up FILE` brings one up")
    if node is not None:
        having = {name: path for (name, router), path in known.items() if router == node}
        if not having:
            hint = suggest(node, [router for _, router in known])
            where = f"lab '{lab}'" if lab else "no lab that is up"
            verb = "has no" if lab else "has a"
            raise TwinplaneError(f"{where} {verb} router '{node}'{hint}")
        if len(having) > 1:
            raise TwinplaneError(f"'{node}' is in several labs: say which with --lab ({', '.join(having)})")
        return next(iter(having.values()))
    names = sorted({name for name, _ in known})
    if len(names) > 1:
        raise TwinplaneError(f"several labs are up: say which with --lab ({', '.join(names)})")
    if len(known) > 1:
        raise TwinplaneError(f"which router? there are {', '.join(router for _, router in known)}")
    return next(iter(known.values()))
