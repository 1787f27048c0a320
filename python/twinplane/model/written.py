"""What all types of a description share: they are made from what the core read, as it was written."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, TypeVar

T = TypeVar("T", bound="Written")


@dataclasses.dataclass(frozen=True)
class Written:
    """A record of a description: its fields are as users write them, with defaults filled in by the core."""

    KEYS: ClassVar[Mapping[str, str]] = {}
    """Keys of fields whose names Python uses for something else."""
    WORD: ClassVar[tuple[str, str] | None] = None
    """Key and word that say that a mapping is of this type, where there are several."""

    @classmethod
    def load(cls: type[T], value: Mapping[str, Any]) -> T:
        """From the mapping that the core gave for it."""
        hints = _hints(cls.__module__, cls.__qualname__)
        keys = {cls.KEYS.get(field.name, field.name): field.name for field in dataclasses.fields(cls)}
        given = {keys[key]: _loaded(hints[keys[key]], item) for key, item in value.items() if key in keys}
        return cls(**given)


@cache
def _hints(module: str, name: str) -> dict[str, Any]:
    return typing.get_type_hints(getattr(sys.modules[module], name))


def _loaded(hint: Any, value: Any) -> Any:
    """A value as its type has it: mappings become records."""
    if isinstance(value, list):
        inner = next((one for one in _choices(hint) if typing.get_origin(one) in (list, tuple)), None)
        if inner is None:
            return value
        element = typing.get_args(inner)[0]
        return [_loaded(element, item) for item in value]
    if isinstance(value, dict):
        choices = _choices(hint)
        for one in choices:
            if isinstance(one, type) and issubclass(one, Written):
                if one.WORD is None or value.get(one.WORD[0]) == one.WORD[1]:
                    return one.load(value)
            elif typing.get_origin(one) is dict:
                element = typing.get_args(one)[1]
                return {key: _loaded(element, item) for key, item in value.items()}
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
