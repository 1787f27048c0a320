"""How the answer of `protection` is drawn where one link, or the router behind it, fails again and again."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts import Chart, Curve
from ...results.points import Point
from ...units import format_time
from ..base import Column
from .classes import METHODS, backup, backups


def answer(points: Sequence[Point]) -> str:
    """The longest gap of all, in one sentence."""
    worst = max(points, key=lambda point: point.metrics["loss_max_s"] or 0.0)
    lsps = worst.parameters["lsps"]
    longest = format_time(worst.metrics["loss_max_s"] or 0.0)
    said = f"The longest gap, with {_counted(lsps, 'LSP')} over the link, is {longest} by packets lost"
    with_trees = [point for point in points if point.parameters["trees"]]
    if not with_trees:
        return f"{said}."
    worst = max(with_trees, key=lambda point: point.metrics["tree_loss_max_s"] or 0.0)
    longest = format_time(worst.metrics["tree_loss_max_s"] or 0.0)
    return f"{said}, and with {_counted(worst.parameters['trees'], 'tree')} that of a leaf is {longest}."


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def columns(points: Sequence[Point]) -> list[Column]:
    """Median and maximum by each method; what tells points apart, and the prediction, stand beside them."""
    found = [Column("LSPs", lambda point: point.parameters["lsps"])]
    if any(point.parameters["trees"] for point in points):
        found.append(Column("trees", lambda point: point.parameters["trees"]))
    found[:0] = backups(points)
    for method in METHODS:
        for part in ("p50", "max"):
            found.append(_of_metric(f"{method} {part}", f"{method}_{part}_s"))
    if any(point.parameters["trees"] for point in points):
        found.append(_of_metric("trees: loss p50", "tree_loss_p50_s"))
        found.append(_of_metric("loss max", "tree_loss_max_s"))
    found.append(_of_metric("predicted", "predicted_s"))
    found.append(Column("failures led around", lambda point: point.metrics["diverted"]))
    return found


def _of_metric(title: str, key: str) -> Column:
    return Column(title, lambda point: point.metrics.get(key), format_time, key)


def charts(points: Sequence[Point]) -> list[Chart]:
    """The longest gap over the number of LSPs, by method of measuring; with several backups by loss."""
    kinds = list(dict.fromkeys(backup(point) for point in points))
    curves: list[Curve] = []
    for one in kinds:
        mine = [point for point in points if backup(point) == one]
        for method in METHODS if len(kinds) == 1 else METHODS[:1]:
            name = method if len(kinds) == 1 else one
            curves.append(_curve(name, mine, "lsps", f"{method}_max_s", len(curves)))
    how = "method of measuring" if len(kinds) == 1 else "kind of backup, by packets lost"
    said = f"Longest gap over the number of LSPs that the link carries, by {how}."
    lsps = [point.parameters["lsps"] for point in points]
    found = [_chart("gap", "Gap over LSPs", said, "LSPs", curves, lsps)]
    with_trees = [point for point in points if point.parameters["trees"]]
    if with_trees:
        trees = [point.parameters["trees"] for point in with_trees]
        curves = [
            _curve(method, with_trees, "trees", f"tree_{method}_max_s", place)
            for place, method in enumerate(METHODS)
        ]
        said = "Longest gap of a leaf over the number of trees that the link carries, by method of measuring."
        found.append(_chart("tree-gap", "Gap over trees", said, "trees", curves, trees))
    return found


def _curve(name: str, points: Sequence[Point], over: str, key: str, style: int) -> Curve:
    known = sorted(
        (float(point.parameters[over]), point.metrics[key] * 1e3)
        for point in points
        if point.metrics.get(key) is not None
    )
    return Curve(name, [x for x, _ in known], [y for _, y in known], shape="both", style=style)


def _chart(
    name: str, title: str, said: str, over: str, curves: Sequence[Curve], counts: Sequence[int]
) -> Chart:
    wide = max(counts) > 20 * min(counts)
    return Chart(name, title, said, over, ["longest gap (ms)"], list(curves), log_x=wide, zero=(0,))


def fault(point: Point) -> str | None:
    """Why a run measured something else than it should, if it did."""
    m, p = point.metrics, point.parameters
    if missing := m["missing"]:
        return f"{missing} times a failure did not interrupt a flow"
    left = p["failures"] - m["diverted"] if p["protected"] else 0
    if left:
        fewest = f": of one {m['diverted_lsps']:,}" if m.get("diverted_lsps") else ""
        return f"not all LSPs were led around {left} of {p['failures']} failures{fewest}"
    if late := m.get("late"):
        return f"{late} of {m['gaps']} gaps are longer than predicted ({format_time(m['predicted_s'])})"
    if twice := (m.get("duplicated") or 0) + (m.get("tree_duplicated") or 0):
        return f"{twice} packets came twice"
    if lost := m.get("tree_before_lost"):
        return f"leaves of trees that are not beyond the link lost {lost} packets"
    return None
