"""The schema of network files for editors (JSON schema, draft 7), from the types that the core declares."""

from __future__ import annotations

import json
from typing import Any

from .generate_python import Types, meaning_of

TOP = "NetworkSpec"
Tag = tuple[str, dict[str, Any]]
"""The key by which a record is told from others, and the variant that it is."""


def text(types: Types) -> str:
    """As it is written to the file."""
    return json.dumps(schema(types), indent=2, ensure_ascii=False) + "\n"


def schema(types: Types) -> dict[str, Any]:
    """The whole of it."""
    tags = {
        variant["record"]: (one["tag"], variant)
        for one in types.values()
        for variant in one.get("variants", ())
    }
    definitions = {
        name: _named(name, one, tags.get(name), types) for name, one in types.items() if name != TOP
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "network.schema.json",
        "title": "Twinplane network",
        **_record(types[TOP]),
        "definitions": dict(sorted(definitions.items())),
    }


def _named(name: str, one: dict[str, Any], tag: Tag | None, types: Types) -> dict[str, Any]:
    if one["kind"] == "record":
        long = _record(one, tag)
        # A short form that ends in the rest of the record has said what the record needs.
        rest = {
            key: value for key, value in long["properties"].items() if key not in long.get("required", ())
        }
        settings = {"type": "object", "properties": rest, "additionalProperties": False}
        forms = [_value(short) for short in one["short"]]
        return _either([*forms, *_flat(one, long, types)], long, name, settings)
    variants = [{"$ref": f"#/definitions/{variant['record']}"} for variant in one["variants"]]
    long = {"description": one["meaning"], "anyOf": variants}
    return _either([_value(short) for short in one["short"]], long, name, {})


def _flat(one: dict[str, Any], long: dict[str, Any], types: Types) -> list[dict[str, Any]]:
    """The record with the fields of one field beside its others: a form for each that this field may be."""
    key = one.get("flat")
    if not key:
        return []
    field = next(field for field in one["fields"] if field["key"] == key)
    inner = types[field["schema"]["name"]]
    outer = {name: value for name, value in long["properties"].items() if name != key}
    forms = []
    for variant in inner["variants"]:
        form = _record(types[variant["record"]], (inner["tag"], variant))
        forms.append({**form, "properties": {**form["properties"], **outer}})
    return forms


def _either(
    short: list[dict[str, Any]], long: dict[str, Any], name: str, settings: dict[str, Any]
) -> dict[str, Any]:
    for form in short:
        if isinstance(items := form.get("items"), list) and {"$ref": f"#/definitions/{name}"} in items:
            form["items"] = [settings if "$ref" in item else item for item in items]
            form["minItems"] = len(items) - 1
    return {"anyOf": [*short, long]} if short else long


def _record(one: dict[str, Any], tag: Tag | None = None) -> dict[str, Any]:
    required = [field["key"] for field in one["fields"] if field["required"]]
    properties = {}
    if tag is not None:
        properties[tag[0]] = {"const": tag[1]["word"], "description": tag[1]["meaning"]}
        required.insert(0, tag[0])
    for field in one["fields"]:
        found = {**_value(field["schema"]), "description": meaning_of(field)}
        if "default" in field:
            found["default"] = field["default"]
        if "$ref" in found:
            found = {"allOf": [{"$ref": found.pop("$ref")}], **found}
        properties[field["key"]] = found
    made: dict[str, Any] = {"type": "object", "description": one["meaning"], "properties": properties}
    made["additionalProperties"] = False
    if required:
        made["required"] = required
    return made


def _value(one: dict[str, Any]) -> dict[str, Any]:
    kind = one["kind"]
    if kind == "any":
        return {}
    if kind == "bool":
        return {"type": "boolean"}
    if kind == "int":
        bounds = {}
        if one["least"] > -(2**53):
            bounds["minimum"] = one["least"]
        if one["most"] < 2**53:
            bounds["maximum"] = one["most"]
        return {"type": "integer", **bounds}
    if kind == "number":
        return {"type": "number"}
    if kind == "text":
        return {"type": ["string", "integer"] if one["form"] == "a name" else "string", **_pattern(one)}
    if kind == "quantity":
        return {"anyOf": [{"type": "string"}, {"type": "number"}]}
    if kind == "words":
        return {"enum": [word["word"] for word in one["words"]]}
    if kind == "list":
        return {
            "type": "array",
            "items": _value(one["element"]),
            **({"minItems": one["least"]} if one["least"] else {}),
        }
    if kind == "tuple":
        items = [_value(element) for element in one["elements"]]
        return {
            "type": "array",
            "items": items,
            "additionalItems": False,
            "minItems": len(items),
            "maxItems": len(items),
        }
    if kind == "map":
        return {"type": "object", "additionalProperties": _value(one["element"])}
    if kind == "one-of":
        return {"anyOf": [_value(inner) for inner in one["of"]]}
    return {"$ref": f"#/definitions/{one['name']}"}


def _pattern(one: dict[str, Any]) -> dict[str, Any]:
    return {"pattern": one["pattern"]} if one.get("pattern") else {}
