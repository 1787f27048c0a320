"""``twinplane decode``: captures as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from .. import core, wire
from ..errors import TwinplaneError


def decode_capture(path: Path, as_json: bool) -> int:
    """One line or one object for each packet; what follows damage is named and not guessed."""
    begin: int | None = None
    foreign: dict[int, int] = {}
    read = wire.link_types()
    number = 0
    for number, (at_ns, link_type, length, packet) in enumerate(_packets(path), 1):
        begin = at_ns if begin is None else begin
        known = link_type in read
        if not known:
            foreign[link_type] = foreign.get(link_type, 0) + 1
        if as_json:
            record: dict[str, Any] = {"number": number, "time_ns": at_ns, "bytes": length}
            if known:
                record["layers"] = wire.decode(packet, link_type)
            else:
                record |= {"error": f"link type {link_type}", "frame": bytes(packet).hex()}
            typer.echo(json.dumps(record))
            continue
        text = wire.summary(packet, link_type) if known else f"not decoded: link type {link_type}"
        typer.echo(f"{number:6d} {(at_ns - begin) / 1e9:14.9f} {length:5d}  {text}")
    if foreign:
        types = ", ".join(map(str, sorted(foreign)))
        names = ", ".join(f"{link_type} ({name})" for link_type, name in read.items())
        raise TwinplaneError(
            f"{path}: {sum(foreign.values())} of {number} packets are not decoded: link type {types};"
            f" those that are read are {names}"
        )
    return 0


def _packets(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Time in ns, link type, length on the wire and bytes of each packet, up to what can't be read."""
    with core.translated():
        yield from core.load().CaptureFile(str(path))
