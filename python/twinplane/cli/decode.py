"""``twinplane decode``: captures as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from .. import core, wire
from ..errors import TwinplaneError

ETHERNET = 1
"""The link type of Ethernet in capture files."""


def decode_capture(path: Path, as_json: bool) -> int:
    """One line or one object for each packet; what follows damage is named and not guessed."""
    begin: int | None = None
    foreign: dict[int, int] = {}
    for number, (at_ns, link_type, length, frame) in enumerate(_packets(path), 1):
        begin = at_ns if begin is None else begin
        if link_type != ETHERNET:
            foreign[link_type] = foreign.get(link_type, 0) + 1
        if as_json:
            record: dict[str, Any] = {"number": number, "time_ns": at_ns, "bytes": length}
            try:
                _known(link_type)
                record["layers"] = wire.decode(frame)
            except TwinplaneError as error:
                record["error"] = str(error)
                record["frame"] = bytes(frame).hex()
            typer.echo(json.dumps(record))
            continue
        try:
            _known(link_type)
            text = wire.summary(frame)
        except TwinplaneError as error:
            text = f"not decoded: {error}"
        typer.echo(f"{number:6d} {(at_ns - begin) / 1e9:14.9f} {length:5d}  {text}")
    if foreign:
        types = ", ".join(map(str, sorted(foreign)))
        raise TwinplaneError(
            f"{path}: {sum(foreign.values())} of {number} packets are not decoded: link type {types},"
            f" only Ethernet ({ETHERNET}) is read"
        )
    return 0


def _packets(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Time in ns, link type, length on the wire and bytes of each packet, up to what can't be read."""
    with core.translated():
        yield from core.load().CaptureFile(str(path))


def _known(link_type: int) -> None:
    if link_type != ETHERNET:
        raise TwinplaneError(f"link type {link_type}, only Ethernet ({ETHERNET}) is decoded")
