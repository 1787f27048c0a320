"""The tables of fields of the page of network files, from the types that the core declares."""

from __future__ import annotations

import textwrap
from typing import Any

from .generate_python import Types, meaning_of

HEADING = "## Every field"


def page(now: str, types: Types) -> str:
    """The page with its tables made anew."""
    head, heading, rest = now.partition(HEADING)
    lead = rest.partition("### ")[0]
    return f"{head}{heading}{lead.rstrip()}\n\n{tables(types)}"


def tables(types: Types) -> str:
    """A section for each choice, and for each record with a table of its fields."""
    parts = []
    for name, one in types.items():
        if one["kind"] == "choice":
            parts.append(_choice(name, one, types))
        elif one["kind"] == "record" and (one["fields"] or not _variants(name, types)):
            parts.append(_record(name, one, types))
    return "\n".join(parts)


def _choice(name: str, one: dict[str, Any], types: Types) -> str:
    lines = [f"### {name}", "", _wrapped(one["meaning"]), ""]
    lines += [f"- {value_of(short)}" for short in one.get("short", ())]
    for variant in one["variants"]:
        record = types.get(variant["record"], {})
        shown = f", [{variant['record']}](#{variant['record'].lower()})" if record.get("fields") else ""
        lines.append(_wrapped(f"- {one['tag']} `{variant['word']}`{shown}: {variant['meaning']}", "  "))
    return "\n".join(lines) + "\n"


def _variants(name: str, types: Types) -> list[str]:
    """Of which choices a record is a variant, in sentences."""
    return [
        f"It is the {choice['tag']} `{variant['word']}` of [{other}](#{other.lower()})."
        for other, choice in types.items()
        for variant in choice.get("variants", ())
        if variant["record"] == name
    ]


def _record(name: str, one: dict[str, Any], types: Types) -> str:
    tags = _variants(name, types)
    lines = [f"### {name}", "", _wrapped(" ".join([one["meaning"], *tags])), ""]
    if one["fields"]:
        lines += ["| field | value | default | meaning |", "| --- | --- | --- | --- |"]
    for field in one["fields"]:
        shown = "needed" if field["required"] else _default(field.get("default"))
        value = value_of(field["schema"]).replace("|", "\\|")
        lines.append(f"| `{field['key']}` | {value} | {shown} | {meaning_of(field)} |")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, rest: str = "") -> str:
    return textwrap.fill(text, 116, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def _default(value: Any) -> str:
    if value is None or isinstance(value, (list, dict)):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _one_of(forms: list[dict[str, Any]]) -> str:
    """Whichever fits: one or a list of it, or a form in words, which says numbers and pairs, too."""
    if len(forms) == 2 and forms[1]["kind"] == "list" and forms[1]["element"] == forms[0]:
        return f"{value_of(forms[0])}; one or a list"
    in_words = [one for one in forms if one["kind"] == "text" and "0 to " in one["form"]]
    return " or ".join(dict.fromkeys(value_of(one) for one in in_words or forms))


def value_of(schema: dict[str, Any]) -> str:
    """What may stand there, in a few words."""
    kind = schema["kind"]
    if kind == "int":
        least, most = schema["least"], schema["most"]
        if least >= 0 and most >= 2**31:
            return "whole number" if least == 0 else f"whole number from {least} on"
        return f"{least} to {most}"
    if kind == "quantity":
        return f"{schema['quantity']}, in {schema['unit']} if it has no unit"
    if kind == "words":
        return ", ".join(f"`{word['word']}`" for word in schema["words"])
    if kind == "list":
        return f"list of: {value_of(schema['element'])}"
    if kind == "tuple":
        count = {2: "two", 8: "eight"}.get(len(schema["elements"]), str(len(schema["elements"])))
        return f"{count} of: {value_of(schema['elements'][0])}"
    if kind == "map":
        return f"by name: {value_of(schema['element'])}"
    if kind == "one-of":
        return _one_of(schema["of"])
    if kind == "named":
        anchor = schema["name"].lower()
        return f"[{schema['name']}](#{anchor})"
    plain = {"any": "", "bool": "`true`, `false`", "number": "number", "text": str(schema.get("form", ""))}
    return plain[kind]
