"""What all types of a description share: they are made from what the core read, as it was written."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, TypeVar

from .. import core
from ..errors import WrongTypeError, below

T = TypeVar("T", bound="Written")
C = TypeVar("C", bound="Checked")


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


class Checked(Written):
    """A record that users make, too: the core checks what is given when it is made, and fills in defaults."""

    CHECK: ClassVar[str] = ""
    """What the core calls the type, or the choice of which it is a part."""

    def __init__(self, **given: Any) -> None:
        said = {self.KEYS.get(name, name): value for name, value in given.items() if value is not None}
        with below(type(self).__name__ if self.WORD is None else self.WORD[1]):
            self._take(self._checked(said))

    def __repr__(self) -> str:
        """As it could have been made; what is absent is left out."""
        fields = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        given = (f"{name}={value!r}" for name, value in fields if value is not None)
        return f"{type(self).__name__}({', '.join(given)})"

    @classmethod
    def of(cls: type[C], given: Mapping[str, Any], what: str) -> C:
        """From a mapping as in a network file; an error begins with `what`."""
        made = cls.__new__(cls)
        with below(what):
            made._take(cls._checked(given))
        return made

    @classmethod
    def load(cls: type[C], value: Mapping[str, Any]) -> C:
        """See `Written.load`: nothing is checked again."""
        made = cls.__new__(cls)
        made._take(value)
        return made

    @classmethod
    def _checked(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        word = {} if cls.WORD is None else dict([cls.WORD])
        found: Mapping[str, Any] = core.check(cls.CHECK, {**word, **given})
        if cls.WORD is not None and not cls.fits(found):
            key, needed = cls.WORD
            raise WrongTypeError(f"{key}: '{found[key]}': it is '{needed}' here")
        return found

    def _take(self, value: Mapping[str, Any]) -> None:
        """Take the fields of what the core has read."""
        found = self.loaded(value)
        for field in dataclasses.fields(self):
            if field.name in found:
                made = found[field.name]
            elif field.default_factory is not dataclasses.MISSING:
                made = field.default_factory()
            else:
                made = None if field.default is dataclasses.MISSING else field.default
            object.__setattr__(self, field.name, made)


@typing.dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(dataclasses.field,))
def checked(cls: type[T]) -> type[T]:
    """Make a class a record whose fields the core checks."""
    return dataclasses.dataclass(frozen=True, kw_only=True, init=False, repr=False)(cls)


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
        inner = next((one for one in _choices(hint) if typing.get_origin(one) is Sequence), None)
        if inner is None:
            return value
        element = typing.get_args(inner)[0]
        return [_loaded(element, item) for item in value]
    if isinstance(value, dict):
        for one in _choices(hint):
            if _is_record(one) and one.fits(value):
                return one.load(value)
            if typing.get_origin(one) is Mapping:
                element = typing.get_args(one)[1]
                return {key: _loaded(element, item) for key, item in value.items()}
    return value


def _choices(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
