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
    FLAT: ClassVar[str | None] = None
    """The field whose own fields may stand beside the others, instead of under it."""

    @classmethod
    def load(cls: type[T], value: Mapping[str, Any]) -> T:
        """From the mapping that the core gave for it."""
        return cls(**cls.loaded(value))

    @classmethod
    def loaded(cls, value: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of the mapping that the core gave for it, by their names here."""
        hints = _hints(cls.__module__, cls.__qualname__)
        keys = {cls.KEYS.get(field.name, field.name): field.name for field in dataclasses.fields(cls)}
        if cls.FLAT is not None and cls.FLAT not in value:
            inner = {key: item for key, item in value.items() if key not in keys}
            value = {**{key: item for key, item in value.items() if key in keys}, cls.FLAT: inner}
        return {keys[key]: _loaded(hints[keys[key]], item) for key, item in value.items() if key in keys}

    def described(self) -> dict[str, Any]:
        """As a mapping with the keys that users write; what is absent is left out."""
        found: dict[str, Any] = {} if self.WORD is None else {self.WORD[0]: self.WORD[1]}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                found[self.KEYS.get(field.name, field.name)] = plain(value)
        return found

    @classmethod
    def fits(cls, value: Mapping[str, Any]) -> bool:
        """Is a mapping of this type, as far as its keys show that?"""
        if cls.WORD is not None:
            return bool(value.get(cls.WORD[0]) == cls.WORD[1])
        if cls.FLAT is not None and cls.FLAT not in value:
            inner = _choices(_hints(cls.__module__, cls.__qualname__)[cls.FLAT])
            return any(one.fits(value) for one in inner if _is_record(one))
        needed = (field for field in dataclasses.fields(cls) if _is_needed(field))
        return all(cls.KEYS.get(field.name, field.name) in value for field in needed)


def plain(value: Any) -> Any:
    """A value of a field as mappings, lists and single values."""
    if isinstance(value, Written):
        return value.described()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Written)


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
        for one in _choices(hint):
            if _is_record(one) and one.fits(value):
                return one.load(value)
            if typing.get_origin(one) is dict:
                element = typing.get_args(one)[1]
                return {key: _loaded(element, item) for key, item in value.items()}
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
