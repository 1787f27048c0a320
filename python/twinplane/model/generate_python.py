"""The description as typed Python, from the types that the core declares."""

from __future__ import annotations

import keyword
import textwrap
from typing import Any

from .. import core

Types = dict[str, dict[str, Any]]

HEAD = '''"""The description of a network as typed Python.

Generated from the core by `python -m twinplane.model.generate`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal, TypeAlias

from ..units import Quantity
from .written import Checked, Written, written
'''


def text(types: Types) -> str:
    """The whole module."""
    tags = _tags(types)
    parts = [HEAD]
    for name, one in types.items():
        if one["kind"] == "record":
            choice, tag = tags.get(name, (None, None))
            parts.append(_record(name, one, choice, tag, types))
    for name, one in types.items():
        if one["kind"] == "choice":
            short = dict.fromkeys(hint_of(form) for form in one["short"])
            choices = " | ".join([*(variant["record"] for variant in one["variants"]), *short])
            parts.append(f'{name}: TypeAlias = {choices}\n"""{_line(one["meaning"])}"""\n')
    return "\n\n".join(parts)


def _tags(types: Types) -> dict[str, tuple[str, tuple[str, str]]]:
    """The choice that a record is a part of, and by which word it is told from others there."""
    found = {}
    for name, one in types.items():
        for variant in one.get("variants", ()):
            found[variant["record"]] = (name, (one["tag"], variant["word"]))
    return found


def attribute(key: str) -> str:
    """A field's name in Python."""
    return f"{key}_" if keyword.iskeyword(key) else key


def _line(meaning: str) -> str:
    return meaning.replace("\\", "\\\\").replace('"""', "'''")


def _record(
    name: str, one: dict[str, Any], choice: str | None, tag: tuple[str, str] | None, types: Types
) -> str:
    checks = next((known for known in (choice, name) if known in core.checked_types()), None)
    lines = [
        "@written",
        f"class {name}({'Written' if checks is None else 'Checked'}):",
        f'    """{_line(one["meaning"])}"""',
        "",
    ]
    if checks is not None:
        lines.append(f"    CHECK: ClassVar[str] = {checks!r}")
    renamed = {attribute(f["key"]): f["key"] for f in one["fields"] if attribute(f["key"]) != f["key"]}
    if renamed:
        lines.append(f"    KEYS: ClassVar[Mapping[str, str]] = {renamed!r}")
    if tag is not None:
        lines.append(f"    WORD: ClassVar[tuple[str, str] | None] = {tag!r}")
        if checks is not None:
            lines.append(f"    {tag[0]}: ClassVar[str] = {tag[1]!r}")
    if one.get("flat"):
        lines.append(f"    FLAT: ClassVar[str | None] = {one['flat']!r}")
    for one_field in one["fields"]:
        lines.append(f"    {attribute(one_field['key'])}: {_hint(one_field)}{_default(one_field, types)}")
        lines.append(textwrap.indent(f'"""{_line(meaning_of(one_field))}"""', "    "))
    return "\n".join(lines) + "\n"


def meaning_of(one_field: dict[str, Any]) -> str:
    """What a field means, and what happens where it is not said."""
    absent = one_field.get("absent")
    meaning = str(one_field["meaning"])
    return f"{meaning.removesuffix('.')} [default: {absent}]." if absent else meaning


def _hint(one_field: dict[str, Any]) -> str:
    hint = hint_of(one_field["schema"])
    optional = not one_field["required"] and "default" not in one_field
    return f"{hint} | None" if optional and hint != "Any" else hint


def hint_of(schema: dict[str, Any]) -> str:
    """The Python type of a value."""
    kind = schema["kind"]
    if kind in ("any", "bool", "int", "text"):
        return {"any": "Any", "bool": "bool", "int": "int", "text": "str"}[kind]
    if kind == "number":
        return "float"
    if kind == "quantity":
        return "Quantity"
    if kind == "words":
        return f"Literal[{', '.join(repr(word['word']) for word in schema['words'])}]"
    if kind == "list":
        return f"Sequence[{hint_of(schema['element'])}]"
    if kind == "tuple":
        return f"Sequence[{hint_of(schema['elements'][0])}]"
    if kind == "map":
        return f"Mapping[str, {hint_of(schema['element'])}]"
    if kind == "one-of":
        hints = list(dict.fromkeys(hint_of(one) for one in schema["of"]))
        return "Any" if "Any" in hints else " | ".join(hints)
    return str(schema["name"])


def _made(one: dict[str, Any], name: str, default: dict[str, Any]) -> str:
    """What makes the default of a field that is a record, or one of several."""
    if one["kind"] == "record":
        return f"{name}()"
    variant = next(variant for variant in one["variants"] if variant["word"] == default[one["tag"]])
    fields = (f"{attribute(key)}={value!r}" for key, value in default.items() if key != one["tag"])
    return f"{variant['record']}({', '.join(fields)})"


def _default(one_field: dict[str, Any], types: Types) -> str:
    if one_field["required"]:
        return ""
    default = one_field.get("default")
    if isinstance(default, list):
        return " = field(default_factory=list)"
    if isinstance(default, dict):
        schema = one_field["schema"]
        if schema["kind"] != "named":
            return " = field(default_factory=dict)"
        return f" = field(default_factory=lambda: {_made(types[schema['name']], schema['name'], default)})"
    return f" = {default!r}"
