"""YAML with places: the values of a file, and the line and column that each of them was written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import yaml
from yaml.composer import Composer

from ..errors import TwinplaneError, one_line, os_reason

if TYPE_CHECKING:
    from .demands import Matrix

Place = tuple[str | int, ...]
"""Keys and positions from the top of the file down to a value."""

Mark = tuple[int, int]
"""Line and column, both from 1 on."""

VALUES_MAX = 1_000_000
"""More values than a lab has; aliases that refer to aliases could make any number of them."""


def value_at(data: Any, place: Place) -> Any:
    """What is said there, if anything is."""
    for step in place:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


class NetworkFileError(TwinplaneError):
    """Something in a network file is wrong; the text begins with the file and the line."""


class _Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2: `no` is a name, not false, and 12:30 is no number (YAML 1.2.2, 10.3.2)."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # as PyYAML does itself


for _tag, _form, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"^(?:{_form})$"),
        [*_first] + ([""] if _tag == "null" else []),
    )


_FastLoader: type[Any] = _Loader
if yaml.__with_libyaml__:

    class _FastLoader(Composer, yaml.CSafeLoader):  # type: ignore[no-redef]
        """The same by libyaml, in less than a third of the time. What is wrong it says in other words.

        Nodes are put together by Python, which stops at some depth: libyaml would go as deep as a file wants.
        """

        yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers

        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            Composer.__init__(self)


@dataclass
class Source:
    """What a file says, and where."""

    path: Path
    data: Any = None
    marks: dict[Place, Mark] = field(default_factory=dict)
    """Where values begin."""
    keys: dict[Place, Mark] = field(default_factory=dict)
    """Where the keys of values begin."""
    matrix: Matrix | None = None
    """The demands of a file beside it, once it was read."""

    def mark(self, place: Sequence[str | int], on_key: bool = False) -> Mark:
        """Line and column of a value (or its key), or of the nearest one above that was written down."""
        for length in range(len(place), -1, -1):
            here = tuple(place[:length])
            key, value = self.keys.get(here), self.marks.get(here)
            # What is written below its key begins with the key.
            below = key is not None and value is not None and value[0] > key[0]
            if (on_key and length == len(place)) or below or value is None:
                value = key or value
            if value is not None:
                return value
        return (1, 1)

    def line(self, place: Sequence[str | int]) -> int:
        """The line of a value."""
        return self.mark(place)[0]

    def error(self, place: Sequence[str | int], text: str, on_key: bool = False) -> NetworkFileError:
        """An error at a value."""
        line, column = self.mark(place, on_key)
        return NetworkFileError(f"{self.path}:{line}:{column}: {text}")


def read(path: Path) -> Source:
    """Read a YAML file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise NetworkFileError(f"{path}: it cannot be read: {os_reason(error)}") from None
    except UnicodeDecodeError as error:
        raise NetworkFileError(f"{path}: it is not text in UTF-8: byte {error.start}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Source:
    """The values of a YAML text; `path` is for messages."""
    source = Source(path)
    try:
        try:
            loader, node = _compose(_FastLoader, text)
        except yaml.YAMLError:
            loader, node = _compose(_Loader, text)
    except yaml.MarkedYAMLError as error:
        raise NetworkFileError(f"{path}:{_at(error)}: not well-formed YAML: {_reason(error)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NetworkFileError(f"{path}:{line}: not well-formed YAML: {error.reason}") from None
    except RecursionError:
        raise NetworkFileError(f"{path}: it is nested too deeply") from None
    if node is not None:
        source.data = _Builder(source, loader).value(node, ())
    return source


def _compose(kind: type[Any], text: str) -> tuple[Any, yaml.Node | None]:
    loader = kind(text)
    try:
        return loader, loader.get_single_node()
    finally:
        loader.dispose()


def _at(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return "1:1" if mark is None else f"{mark.line + 1}:{mark.column + 1}"


def _reason(error: yaml.MarkedYAMLError) -> str:
    parts = [one_line(part) for part in (error.context, error.problem) if part]
    reason = ", ".join(parts) or "it cannot be read"
    if "'\\t'" in reason:
        reason += " (indent with spaces, not with tabs)"
    return reason


def _mark(node: yaml.Node) -> Mark:
    return node.start_mark.line + 1, node.start_mark.column + 1


class _Builder:
    """Makes values of nodes, and notes their lines."""

    def __init__(self, source: Source, loader: _Loader) -> None:
        self.source, self.loader = source, loader
        self.open: list[yaml.Node] = []
        self.count = 0

    def error(self, node: yaml.Node, text: str) -> NetworkFileError:
        mark = node.start_mark
        return NetworkFileError(f"{self.source.path}:{mark.line + 1}:{mark.column + 1}: {text}")

    def value(self, node: yaml.Node, place: Place) -> Any:
        self.count += 1
        if self.count > VALUES_MAX:
            raise self.error(node, f"more than {VALUES_MAX} values")
        if node in self.open:
            raise self.error(node, "an alias refers to what it is itself a part of")
        self.source.marks.setdefault(place, _mark(node))
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        self.open.append(node)
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode):
                return self.mapping(node, place)
        finally:
            self.open.pop()
        raise self.error(node, "neither a value, nor a list, nor a mapping")

    def mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                items = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                merged += items
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, "a key is a word, not a list or a mapping")
            key = str(key_node.value)
            if key in found:
                first = self.source.keys[(*place, key)][0]
                raise self.error(key_node, f"'{key}' is given twice (first in line {first})")
            self.source.keys[(*place, key)] = _mark(key_node)
            found[key] = self.value(value_node, (*place, key))
        for other in merged:
            if not isinstance(other, yaml.MappingNode):
                raise self.error(other, "only a mapping can be merged with '<<'")
            for key, value in self.value(other, (*place, "<<")).items():
                self.source.keys.setdefault((*place, key), _mark(other))
                self.source.marks.setdefault((*place, key), _mark(other))
                found.setdefault(key, value)
        return found

    def scalar(self, node: yaml.ScalarNode) -> Any:
        kind = node.tag.rpartition(":")[2]
        text = str(node.value)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            try:
                return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
            except ValueError:
                raise self.error(node, f"{text!r} is not a number") from None
        if kind == "float":
            return float(text)
        if kind != "str":
            raise self.error(node, f"the tag {node.tag!r} is not known here")
        return text


def listed(names: Iterable[str]) -> str:
    """``a, b or c``."""
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
