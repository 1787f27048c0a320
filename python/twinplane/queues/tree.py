"""A tree of queue disciplines in front of a link, as it stands at one of its ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ..errors import TwinplaneError
from .base import Name, Ports, Spec, sentence
from .conditioners import Accounting, Conditioner
from .disciplines import Queue

Given = TypeVar("Given", bound=Spec)


def _named_or_not(value: Any) -> str:
    return "name" if isinstance(value, str) else "inline"


NamedConditioner = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Conditioner, Tag("inline")], Discriminator(_named_or_not)
]
"""A conditioner, or in a network file the name of one."""


class Tree(Spec):
    """A discipline with what packets count for in it, and a conditioner in front of it if there is one.

    In a file, and wherever a mapping is given, `accounting` and `conditioner` may be among the discipline's
    own fields: ``{discipline: htb, accounting: {layer: ip}, classes: ...}``.
    """

    accounting: Accounting = Field(
        default_factory=lambda: Accounting(), description="What packets count for."
    )
    conditioner: NamedConditioner | None = Field(
        default=None, description="Meters and markers in front of the queues, or the name of such."
    )
    root: Queue = Field(description="The discipline that the port asks.")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or "root" in given:
            return given
        outer = {key: given[key] for key in ("accounting", "conditioner") if key in given}
        return {**outer, "root": {key: value for key, value in given.items() if key not in outer}}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Both forms."""
        long = handler.resolve_ref_schema(handler(core_schema))
        short = {
            "type": "object",
            "required": ["discipline"],
            "properties": {
                "discipline": {"type": "string"},
                "accounting": long["properties"]["accounting"],
                "conditioner": long["properties"]["conditioner"],
            },
        }
        return {"anyOf": [short, dict(long)]}

    def lowered(self, ports: Ports) -> dict[str, Any]:
        """As the core takes it."""
        if isinstance(self.conditioner, str):
            raise TwinplaneError(
                f"conditioner '{self.conditioner}': a name stands for one in a network file only"
            )
        found = {"accounting": self.accounting.lowered(ports), "root": self.root.lowered(ports)}
        if self.conditioner is not None:
            found["conditioner"] = self.conditioner.lowered(ports)
        return found


def tree(given: Any, what: str) -> Tree:
    """A tree from what a user gives: a tree, a discipline, or a mapping as in a network file."""
    if isinstance(given, Tree):
        return given
    if isinstance(given, Spec) and hasattr(given, "discipline"):
        return Tree.model_validate({"root": given})
    if isinstance(given, Mapping):
        return _validated(Tree, given, what)
    raise TwinplaneError(f"{what}: {given!r} is no queue discipline: twinplane.queues has them")


def conditioner(given: Any, what: str) -> Conditioner:
    """A conditioner from what a user gives."""
    if isinstance(given, Conditioner):
        return given
    if isinstance(given, Mapping):
        return _validated(Conditioner, given, what)
    raise TwinplaneError(f"{what}: {given!r} is no conditioner: twinplane.queues.Conditioner is one")


def _validated(model: type[Given], given: Mapping[str, Any], what: str) -> Given:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=True)[0]
        raise TwinplaneError(f"{what}: {sentence(model, first)}") from None
