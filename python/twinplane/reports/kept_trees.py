"""Trees of queues from the tables of a results folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..frames import PAIRS, Columns
from . import queues
from .page import Section
from .queues import Place, Shown, layout

if TYPE_CHECKING:
    import polars as pl

    from ..results.folder import Results


def of_results(found: Results) -> list[Section]:
    """The sections of the first point that kept tables."""
    names = found.tables()
    if "queues" not in names:
        return []
    conditioners = _first(found.table("conditioners")) if "conditioners" in names else {}
    seconds = float(_topology(found).get("queues_s") or 0.0)
    return queues.sections(shown(found), conditioners, _neighbors(found), seconds)


def shown(found: Results) -> list[Shown]:
    """The trees that a user put anywhere, with what they counted."""
    series = _first(found.table("queue_series")) if "queue_series" in found.tables() else None
    if series:
        series["start_ps"] = [round(at * 1e12) for at in series["start_s"]]
    roots = {(one["node"], one["link"]): one["root"] for one in _topology(found).get("trees", ())}

    def configured(node: str, link: int) -> Mapping[str, Place]:
        root = roots.get((node, link))
        return {} if root is None else dict(layout(root, "root"))

    return queues.trees(_first(found.table("queues")), series, _neighbors(found), configured)


def _topology(found: Results) -> Mapping[str, Any]:
    topology: Mapping[str, Any] = found.summary.get("topology") or {}
    return topology


def _neighbors(found: Results) -> Any:
    links = _topology(found).get("links", ())

    def neighbor(node: str, link: int) -> str:
        try:
            ends = (str(links[link]["a"]), str(links[link]["b"]))
        except (LookupError, TypeError):
            raise TwinplaneError(
                f"{found.folder}: summary.json is damaged: the topology is incomplete"
            ) from None
        return ends[ends[0] == node]

    return neighbor


def _first(table: pl.DataFrame) -> Columns:
    """The rows of the first point, as the core gives them."""
    import polars as pl

    if table.height:
        table = table.filter(pl.col("point") == table["point"].min())
    columns: Columns = table.drop("point").to_dict(as_series=False)
    for key, (name, value) in PAIRS.items():
        if key in columns:
            columns[key] = [{one[name]: one[value] for one in cell or ()} for cell in columns[key]]
    return columns
