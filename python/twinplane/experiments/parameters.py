"""Parameters of experiments: a checked model, and how ``--set key=value`` fills it."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import TwinplaneError, one_line, suggest


class Parameters(BaseModel):
    """What an experiment can be told. A field's description is its help text.

    A field may carry ``json_schema_extra={"reason": ...}``: the sentence that says why a value is too small.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def digest(self) -> str:
        """A short name for exactly these parameters."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


P = TypeVar("P", bound=Parameters)

POINTS_MAX = 100_000


def parse_settings(
    experiment: str, settings: Iterable[str], model: type[Parameters] | None = None
) -> dict[str, list[str]]:
    """``key=value`` texts as lists of values; ranges ``a:b:step`` and lists ``a,b,c`` give several.

    With the `model` that they are for, a choice that looks like a range is none.
    """
    found: dict[str, list[str]] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key or not value.strip():
            raise TwinplaneError(f"{experiment}: --set {setting}: key=value is needed")
        if key in found:
            raise TwinplaneError(f"{experiment}: --set {setting}: {key} is set twice")
        parts = [part.strip() for part in value.split(",")]
        words = [] if model is None or key not in model.model_fields else choices(model, key)
        found[key] = [
            item for part in parts for item in ([part] if part in words else _expand(experiment, key, part))
        ]
    return found


def _expand(experiment: str, key: str, text: str) -> list[str]:
    parts = text.split(":")
    if len(parts) == 1 or not all(_numeric(part) for part in parts):
        return [text]
    if len(parts) != 3:
        raise TwinplaneError(f"{experiment}: {key}={text}: a range is first:last:step")
    first, last, step = (Decimal(part) for part in parts)
    if step <= 0 or last < first:
        raise TwinplaneError(f"{experiment}: {key}={text}: a range goes up, by a step above zero")
    count = int((last - first) / step) + 1
    if count > POINTS_MAX:
        raise TwinplaneError(
            f"{experiment}: {key}={text}: {count} values are too many (at most {POINTS_MAX})"
        )
    return [str(first + step * place) for place in range(count)]


def _numeric(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def points(experiment: str, model: type[P], settings: Mapping[str, Sequence[str]]) -> list[P]:
    """Every combination of the values, in the order in which they were given."""
    for key in settings:
        if key not in model.model_fields:
            hint = suggest(key, model.model_fields) or f" (one of {', '.join(model.model_fields)})"
            raise TwinplaneError(f"{experiment}: unknown parameter '{key}'{hint}")
    total = 1
    for values in settings.values():
        total *= len(values)
    if total > POINTS_MAX:
        raise TwinplaneError(f"{experiment}: {total} points are too many (at most {POINTS_MAX})")
    keys = list(settings)
    return [
        build(experiment, model, dict(zip(keys, values, strict=True)))
        for values in itertools.product(*settings.values())
    ]


def build(experiment: str, model: type[P], values: Mapping[str, Any]) -> P:
    """One set of parameters, or one clear sentence on what is wrong with it."""
    given = {key: _value(model, key, value) for key, value in values.items()}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise TwinplaneError(f"{experiment}: {explain(model, error)}") from None


def _value(model: type[Parameters], key: str, value: Any) -> Any:
    """What a text stands for: a choice is a choice; `none` is no value where that is allowed, else a text."""
    if not isinstance(value, str) or value.lower() != "none":
        return value
    parts = _alternatives(model, key)
    if any(value in part.get("enum", [part.get("const")]) for part in parts):
        return value
    return None if any(part.get("type") == "null" for part in parts) else value


def choices(model: type[Parameters], key: str) -> list[Any]:
    """The values that a parameter chooses from; none if it is no choice."""
    return [value for part in _alternatives(model, key) for value in part.get("enum", [])]


def _alternatives(model: type[Parameters], key: str) -> list[dict[str, Any]]:
    """The schemas of which a parameter's value has to fit one."""
    schema = model.model_json_schema()["properties"].get(key, {})
    found: list[dict[str, Any]] = schema.get("anyOf", [schema])
    return found


def explain(model: type[Parameters], error: ValidationError) -> str:
    """The first thing that is wrong, in our words: ``size=63: an Ethernet frame has ... (64 to 9018)``."""
    first = error.errors(include_url=False)[0]
    if not first["loc"]:
        return one_line(first["msg"]).removeprefix("Value error, ")
    key = str(first["loc"][0])
    info = model.model_fields.get(key)
    lead = f"{key}={first.get('input')}"
    if first["type"] == "missing" and info is not None:
        return f"{key}: it is needed: {info.description} (--set {key}=...)"
    if info is None or first["type"] == "value_error":
        return f"{lead}: {one_line(first['msg']).removeprefix('Value error, ')}"
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    allowed = limits(model, key)
    if first["type"] in ("literal_error", "enum"):
        choices = allowed.split(", ")
        return f"{lead}: one of {allowed}{suggest(str(first.get('input')), choices)}"
    reason = extra.get("reason") if first["type"].startswith("greater") else None
    if reason is None:
        text = one_line(first["msg"])
        for words, plain in PLAIN.items():
            text = text.replace(words, plain)
        reason = text[:1].lower() + text[1:].split(", unable")[0]
    return f"{lead}: {reason}" + (f" ({allowed})" if allowed else "")


PLAIN = {
    "Input should be": "it should be",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
    "a valid integer": "a whole number",
    "a valid number": "a number",
}
"""The checker's words, and ours."""


def limits(model: type[Parameters], key: str) -> str:
    """What a parameter may be: ``64 to 9018``, or the choices."""
    for part in _alternatives(model, key):
        if "enum" in part:
            return ", ".join(str(item) for item in part["enum"])
        if "const" in part:
            return str(part["const"])
        low = part.get("minimum", part.get("exclusiveMinimum"))
        high = part.get("maximum", part.get("exclusiveMaximum"))
        above = "above " if "exclusiveMinimum" in part else ""
        if low is not None and high is not None:
            return f"{above}{low:g} to {high:g}"
        if low is not None:
            return f"above {low:g}" if above else f"at least {low:g}"
        if high is not None:
            return f"at most {high:g}"
    return ""
