"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 0,
    title: str = "",
    narrow: bool = False,
) -> None:
    """Right-aligned columns, the first `left` left-aligned; whole lines even when they are redirected.

    A `narrow` table has less room between columns.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        pad_edge=False,
        collapse_padding=narrow,
    )
    for place, name in enumerate(titles):
        table.add_column(Text(name), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=max(console.width, 240))
    console.print(table)
