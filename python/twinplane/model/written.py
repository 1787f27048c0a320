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

R = TypeVar("R")
T = TypeVar("T", bound="Written")
C = TypeVar("C", bound="Checked")


@typing.dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(dataclasses.field,))
def written(cls: type[R]) -> type[R]:
    """Make a class a record: a frozen dataclass, given its fields by name.

    What `dataclass` would write and compile for each class is in `Written` once: a command that reads a
    network would wait for the compiler longer than for the rest of its imports.
    """
    return dataclasses.dataclass(kw_only=True, init=False, repr=False, eq=False)(cls)


@written
class Written:
    """A record of a description: its fields are as users write them, with defaults filled in by the core."""

    KEYS: ClassVar[Mapping[str, str]] = {}
    """Keys of fields whose names Python uses for something else."""
    WORD: ClassVar[tuple[str, str] | None] = None
    """Key and word that say that a mapping is of this type, where there are several."""
    FLAT: ClassVar[str | None] = None
    """The field whose own fields may stand beside the others, instead of under it."""

    def __init__(self, **given: Any) -> None:
        self._set(given)

    def _set(self, given: Mapping[str, Any]) -> None:
        """Set all fields, those that are not given to their defaults."""
        fields = {field.name: field for field in dataclasses.fields(self)}
        for name in given:
            if name not in fields:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        for name, field in fields.items():
            if name in given:
                made = given[name]
            elif field.default_factory is not dataclasses.MISSING:
                made = field.default_factory()
            elif field.default is not dataclasses.MISSING:
                made = field.default
            else:
                raise TypeError(f"{type(self).__name__} needs {name!r}")
            object.__setattr__(self, name, made)

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __eq__(self, other: object) -> bool:
        """Are both of one type, with equal fields?"""
        if other.__class__ is not self.__class__ or not isinstance(other, Written):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        """Of all fields."""
        return hash(self._values())

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a record does not change."""
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        """Refuse: a record does not change."""
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        """As it could have been made."""
        fields = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))
        return f"{type(self).__qualname__}({', '.join(fields)})"

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


@written
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
        absent = {field.name: None for field in dataclasses.fields(self) if _is_needed(field)}
        self._set({**absent, **self.loaded(value)})


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
