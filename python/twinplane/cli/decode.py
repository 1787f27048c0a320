"""``twinplane decode``: captures as lines or as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from .. import core, wire
from ..errors import TwinplaneError


def decode_capture(path: Path, as_json: bool) -> int:
    """One line or one object for each packet; what follows damage is named and not guessed."""
    with core.translated():
        packets, cut = core.load().read_capture(str(path))
    begin = packets[0][0] if packets else 0
    for number, (at_ns, frame) in enumerate(packets, 1):
        if as_json:
            record = {"number": number, "time_ns": at_ns, "bytes": len(frame)}
            try:
                record["layers"] = wire.decode(frame)
            except TwinplaneError as error:
                record["error"] = str(error)
                record["frame"] = bytes(frame).hex()
            typer.echo(json.dumps(record))
            continue
        try:
            text = wire.summary(frame)
        except TwinplaneError as error:
            text = f"not decoded: {error}"
        typer.echo(f"{number:6d} {(at_ns - begin) / 1e9:14.9f} {len(frame):5d}  {text}")
    if cut is not None:
        raise TwinplaneError(f"{path}: {cut}; the {len(packets)} packets before it are shown")
    return 0
