"""Traffic matrices as people have them: CSV, and the XML and native text of SNDlib (sndlib.zib.de)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from xml.parsers import expat

from .. import units
from ..errors import TwinplaneError, one_line, os_reason, suggest

E = TypeVar("E", bound=TwinplaneError)

SNDLIB_BPS = 1_000_000
"""What a number of SNDlib counts unless something else is said: its instances are of Mbit/s."""
COLUMNS = ("from", "to", "rate", "class")
"""Columns of CSV."""
AGAIN = {"source": "from", "src": "from", "target": "to", "destination": "to", "dst": "to", "demand": "rate"}
"""Other names that people give these columns."""


@dataclass
class Matrix:
    """Demands of a file, each with its line."""

    path: Path
    rows: list[list[Any]] = field(default_factory=list)
    """``[FROM, TO, RATE]`` or ``[FROM, TO, RATE, CLASS]``, rates in bits per second."""
    lines: list[int] = field(default_factory=list)

    def error(self, line: int, text: str) -> TwinplaneError:
        """An error at a line."""
        return TwinplaneError(f"{self.path}:{line}: {text}")

    def explained(self, error: E) -> E | None:
        """An error of the core with the line of the demand that it is about; None if it is about none."""
        match error.path:
            case ("demands", "matrix", int(row), *_) if row < len(self.lines) and error.words:
                words = error.words
                if error.code == "demand-twice":
                    first = int(dict(error.arguments)["first"])
                    words = words.replace(f"as number {first}", f"in line {self.lines[first - 1]}")
                return error.told(f"{self.path}:{self.lines[row]}: {words}")
        return None

    def add(self, line: int, ends: tuple[str, str], rate: str, unit_bps: float, label: str = "") -> None:
        """Add a demand; one of zero, as measured matrices have many, is none."""
        found = self._rate(line, rate, unit_bps)
        if found < 0:
            raise self.error(line, f"demand {ends[0]}->{ends[1]} of {rate}: a rate is zero or more")
        if not found:
            return
        self.rows.append([*ends, found, label] if label else [*ends, found])
        self.lines.append(line)

    def _rate(self, line: int, text: str, unit_bps: float) -> int:
        try:
            number = float(text)
        except ValueError:
            try:
                return int(units.rate_bps(text))
            except TwinplaneError as error:
                raise self.error(line, f"rate: {error}") from None
        if not abs(number) * unit_bps < 9e18:
            raise self.error(line, f"rate: {text!r} is not a rate")
        scaled = number * unit_bps
        return round(scaled) if abs(scaled) >= 1 or not scaled else (1 if scaled > 0 else -1)


def read(path: Path, unit_bps: float | None = None) -> Matrix:
    """The demands of a file; a number without a unit counts `unit_bps` bits per second."""
    matrix = Matrix(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TwinplaneError(f"{path}: it cannot be read: {os_reason(error)}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise matrix.error(line, "it is not text in UTF-8: neither CSV nor a file of SNDlib") from None
    start = text.lstrip()[:4000]
    if start.startswith("<"):
        _read_xml(matrix, data, SNDLIB_BPS if unit_bps is None else unit_bps)
    elif start.startswith("?SNDlib") or re.search(r"^\s*DEMANDS\s*\(", text, re.MULTILINE):
        _read_native(matrix, text, SNDLIB_BPS if unit_bps is None else unit_bps)
    else:
        _read_csv(matrix, text, 1 if unit_bps is None else unit_bps)
    if not matrix.rows:
        raise matrix.error(1, "it has no demands")
    return matrix


def _read_csv(matrix: Matrix, text: str, unit_bps: float) -> None:
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    places: dict[str, int] = {}
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise matrix.error(rows.line_num, f"it is not CSV: {one_line(error)}") from None
        if row is None:
            break
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not places:
            places = _columns(matrix, rows.line_num, cells)
            continue
        if len(cells) != len(places):
            raise matrix.error(rows.line_num, f"{len(cells)} columns, and {len(places)} in the first line")
        ends = (cells[places["from"]], cells[places["to"]])
        label = cells[places["class"]] if "class" in places else ""
        matrix.add(rows.line_num, ends, cells[places["rate"]], unit_bps, label)


def _columns(matrix: Matrix, line: int, cells: list[str]) -> dict[str, int]:
    named = [AGAIN.get(cell.lower(), cell.lower()) for cell in cells]
    wrong = next((name for name in named if name not in COLUMNS), None)
    if wrong is None and named.count("from") == named.count("to") == named.count("rate") == 1:
        return {name: place for place, name in enumerate(named)}
    needed = "the first line of CSV names its columns: from, to, rate and perhaps class"
    found = f"; '{wrong}' is none of them{suggest(wrong, COLUMNS)}" if wrong is not None else ""
    raise matrix.error(line, f"{needed}{found}")


def _read_xml(matrix: Matrix, data: bytes, unit_bps: float) -> None:
    """SNDlib's XML: ``demand`` elements with ``source``, ``target`` and ``demandValue``.

    Nothing outside the file is read, and a file that declares entities is refused.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    inside: list[str] = []
    said: dict[str, str] = {}
    sums: dict[tuple[str, str], tuple[int, float]] = {}

    def refuse(*_: Any) -> None:
        raise matrix.error(parser.CurrentLineNumber, "it declares entities, which no traffic matrix needs")

    def begin(name: str, _: dict[str, str]) -> None:
        inside.append(name.rpartition(" ")[2])
        if inside[-1] == "demand":
            said.clear()
            said["line"] = str(parser.CurrentLineNumber)

    def text(data: str) -> None:
        if len(inside) > 1 and inside[-2] == "demand" and inside[-1] in ("source", "target", "demandValue"):
            said[inside[-1]] = said.get(inside[-1], "") + data

    def end(_: str) -> None:
        if inside.pop() == "demand":
            _add_sndlib(matrix, sums, int(said.pop("line")), said)

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise matrix.error(
            error.lineno, f"it is not well-formed XML: {expat.ErrorString(error.code)}"
        ) from None
    _finish(matrix, sums, unit_bps)


def _read_native(matrix: Matrix, text: str, unit_bps: float) -> None:
    """SNDlib's native text: ``ID ( SOURCE TARGET ) ROUTING_UNIT VALUE MAX_PATH`` under ``DEMANDS``."""
    sums: dict[tuple[str, str], tuple[int, float]] = {}
    form = re.compile(r"\S+\s*\(\s*(\S+)\s+(\S+)\s*\)\s+\S+\s+(\S+)\s+\S+$")
    for line, written in _section(text, "DEMANDS"):
        found = form.match(written)
        if found is None:
            words = "it is no demand of SNDlib: ID ( SOURCE TARGET ) ROUTING_UNIT VALUE MAX_PATH_LENGTH"
            raise matrix.error(line, words)
        said = {"source": found[1], "target": found[2], "demandValue": found[3]}
        _add_sndlib(matrix, sums, line, said)
    _finish(matrix, sums, unit_bps)


def _section(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Lines of a section of native text, with their numbers, without comments."""
    within = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if re.match(rf"{name}\s*\($", line):
            within = True
        elif within and line == ")":
            return
        elif within and line:
            yield number, line


def _add_sndlib(
    matrix: Matrix, sums: dict[tuple[str, str], tuple[int, float]], line: int, said: dict[str, str]
) -> None:
    """SNDlib numbers demands: several between the same two nodes are one here."""
    missing = [key for key in ("source", "target", "demandValue") if not said.get(key, "").strip()]
    if missing:
        raise matrix.error(line, f"a demand without {missing[0]}")
    ends = (said["source"].strip(), said["target"].strip())
    try:
        value = float(said["demandValue"])
    except ValueError:
        raise matrix.error(line, f"demandValue: {said['demandValue'].strip()!r} is not a number") from None
    if value < 0:
        raise matrix.error(line, f"demand {ends[0]}->{ends[1]} of {value:g}: a rate is zero or more")
    first, before = sums.get(ends, (line, 0.0))
    sums[ends] = (first, before + value)


def _finish(matrix: Matrix, sums: dict[tuple[str, str], tuple[int, float]], unit_bps: float) -> None:
    """Demands in their order."""
    for ends, (line, value) in sums.items():
        matrix.add(line, ends, repr(value), unit_bps)
