"""The only module that touches ``twinplane._core``: loads it late and translates its errors."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import KINDS, FailedError, TwinplaneError, one_line

if TYPE_CHECKING:
    from . import _core


@cache
def load() -> ModuleType:
    """The extension module."""
    try:
        from . import _core
    except ImportError as error:
        raise TwinplaneError(
            f"the compiled part of twinplane cannot be loaded (run `make setup`): {one_line(error)}"
        ) from None
    return _core


@contextmanager
def translated() -> Iterator[None]:
    """Turn the core's errors into the one exception that users meet."""
    core = load()
    try:
        yield
    except core.CoreError as error:
        raise of_core(error) from None
    except OSError as error:
        raise TwinplaneError(one_line(error)) from None


def of_core(error: Exception) -> TwinplaneError:
    """The exception that users meet for one of the core's; its data comes along."""
    text = one_line(error)
    if (kind := getattr(error, "kind", None)) is None:
        return FailedError(text) if isinstance(error, load().RunError) else TwinplaneError(text)
    made = KINDS[kind](text)
    found: Any = error
    made.path, made.on_key, made.code = found.path, found.on_key, found.code
    made.arguments, made.words = found.arguments, one_line(found.words)
    return made


Steps = tuple[str | int, ...]
"""Keys and positions from the top of a description."""


def written(described: Any, path: Steps, on_key: bool) -> tuple[Steps, bool, str]:
    """Where a file says what the path of an error leads to, if its key is meant, and its name in words."""
    found: tuple[Steps, bool, str] = load().written(described, list(path), on_key)
    return found


def plan(description: Mapping[str, Any]) -> tuple[dict[str, Any], list[TwinplaneError]]:
    """Addresses of nodes and links as every process of the network has them, and warnings."""
    with translated():
        planned, warnings = load().plan(description)
        return json.loads(planned), [of_core(warning) for warning in warnings]


def schema() -> dict[str, dict[str, Any]]:
    """Everything that a description may say: types by name, with their fields."""
    found: dict[str, dict[str, Any]] = load().schema()
    return found


def checked_types() -> tuple[str, ...]:
    """The types that `check` knows."""
    return tuple(load().checked_types())


def check(type_name: str, value: object) -> Any:
    """What a value describes, with all defaults; one of the `KINDS` of errors if it is wrong."""
    with translated():
        return load().check(type_name, value)


def check_tls(private_key: str, certificate: str, ca_cert: str) -> tuple[str, str] | None:
    """What is wrong with files of a key and of certificates: which of them it is, and a sentence."""
    found: tuple[str, str] | None = load().check_tls(private_key, certificate, ca_cert)
    return found


def read_network(described: Any) -> dict[str, Any]:
    """The values of a network file, with every default filled in and every interface named."""
    with translated():
        found: dict[str, Any] = load().read_network(described)
        return found


def draft(whole: Mapping[str, Any]) -> _core.Draft:
    """A description that grows: nothing yet but what is said of the whole."""
    with translated():
        made: _core.Draft = load().Draft(whole)
        return made


def network(
    description: _core.Draft | Mapping[str, Any], placement: dict[str, Any] | None = None
) -> _core.Network:
    """A network of the core from a description; in real time with what of it is here."""
    with translated():
        where = None if placement is None else json.dumps(placement)
        made: _core.Network = load().Network(description, where)
        return made


def for_processes(description: Mapping[str, Any]) -> dict[str, Any]:
    """A description for processes that do not measure: with the facts of nodes, without what is measured."""
    with translated():
        found: dict[str, Any] = load().for_processes(description)
        return found


def version() -> str:
    """The version of the compiled part."""
    return str(load().__version__)


@cache
def fingerprint() -> str:
    """A digest of the package, so that points finished by another build are not taken for ours."""
    compiled = getattr(load(), "__file__", None)
    parts = sorted(Path(__file__).parent.rglob("*.py")) + ([] if compiled is None else [Path(compiled)])
    found = hashlib.sha256(version().encode())
    with contextlib.suppress(OSError):
        for path in parts:
            found.update(path.read_bytes())
    return found.hexdigest()[:16]
