"""Talks to a router's control socket: one JSON object on a line, one line back."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from ..errors import TwinplaneError, os_reason


class NotThere(TwinplaneError):
    """Nobody answers at the socket."""


def ask(path: Path, request: str, argument: Any = None, *, timeout_s: float = 5.0, who: str = "") -> Any:
    """Ask for something; what the router refuses is an error."""
    name = who or path.stem
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(timeout_s)
        try:
            link.connect(str(path))
            link.sendall(json.dumps({request: argument}).encode() + b"\n")
            with link.makefile("rb") as answers:
                line = answers.readline()
        except TimeoutError:
            raise NotThere(f"router '{name}' does not answer within {timeout_s:g} s") from None
        except FileNotFoundError:
            raise NotThere(f"router '{name}' is not running: it has no socket {path}") from None
        except ConnectionRefusedError:
            raise NotThere(f"router '{name}' is not running (`twinplane lab restart {name}`)") from None
        except OSError as error:
            raise NotThere(f"router '{name}': {os_reason(error)}") from None
    if not line.endswith(b"\n"):
        raise NotThere(f"router '{name}' ended before it answered")
    answer = json.loads(line)
    if "error" in answer:
        raise TwinplaneError(f"router '{name}': {answer['error']}")
    return answer["ok"]
