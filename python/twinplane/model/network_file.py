"""A network file as the core read it, and where its values stand."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
from ..units import rate_bps
from . import demands
from .generated import NetworkSpec
from .source import NetworkFileError, Place, Source

if TYPE_CHECKING:
    from .. import _core

MTU_XDP = 3498
"""A veth's limit with an XDP program: a page less headroom and tail (Linux, drivers/net/veth.c)."""


@cache
def _name() -> re.Pattern[str]:
    """The form of names, as the core declares it for the name of a network."""
    name = next(field for field in core.schema()["NetworkSpec"]["fields"] if field["key"] == "name")
    return re.compile(name["schema"]["pattern"])


def is_name(text: str) -> bool:
    """Can a lab or one of its nodes be called so?"""
    return _name().fullmatch(text) is not None


def checked(found: Source) -> tuple[NetworkSpec, _core.Draft, Source]:
    """The network that a file describes; whatever is wrong with it has its line and column."""
    if found.data is None:
        raise NetworkFileError(f"{found.path}: it is empty: a lab has a name, nodes and links")
    if not isinstance(found.data, dict):
        raise found.error((), "a lab is a mapping with a name, nodes and links")
    matrix = _matrix(found)
    data = found.data if matrix is None else _with_rows(found.data, matrix)
    try:
        with core.translated():
            described = core.load().Draft.read(data)
    except TwinplaneError as error:
        told = None if matrix is None else matrix.explained(error)
        raise placed(error, found) if told is None else told from None
    found.matrix = matrix
    spec = NetworkSpec.load(described.described())
    if not spec.nodes:
        raise found.error(("nodes",), "a lab needs nodes: 'nodes: {pe1: {kind: router}}'")
    if "topology" in found.data:
        _move(found, ("topology",))
    return replace(spec, topology=None), described, found


def _matrix(found: Source) -> demands.Matrix | None:
    """The demands of the file that a network file names beside it, if it names one."""
    said = found.data.get("demands")
    if not isinstance(said, dict) or not isinstance(said.get("file"), str):
        return None
    if "matrix" in said:
        words = "demands: file: the matrix is listed already: either it or a file"
        raise found.error(("demands", "file"), words)
    try:
        unit = None if said.get("unit") is None else float(rate_bps(said["unit"]))
    except TwinplaneError as error:
        raise found.error(("demands", "unit"), f"demands: unit: {error}") from None
    path = found.path.parent / said["file"]
    if not path.is_file():
        raise found.error(("demands", "file"), f"demands: file: there is no file {path}")
    return demands.read(path, unit)


def _with_rows(data: dict[str, Any], matrix: demands.Matrix) -> dict[str, Any]:
    return {**data, "demands": {**data["demands"], "matrix": matrix.rows}}


def placed(error: TwinplaneError, found: Source) -> TwinplaneError:
    """An error of the values of a file with the line and column of what it is about."""
    line, column = found.mark(error.path, error.on_key)
    return error.told(f"{found.path}:{line}:{column}: {error}")


def _move(found: Source, below: Place) -> None:
    """Let what is below one place be found at the top."""
    for marks in (found.marks, found.keys):
        for place, mark in list(marks.items()):
            if place[: len(below)] == below and len(place) > len(below):
                marks[place[len(below) :]] = mark
