"""``twinplane validate``: theory against model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from ..errors import TwinplaneError
from ..experiments import scores
from ..files import write_bytes
from ..validation import GROUPS, Row, checks, coverage, coverage_page, page, published, validate
from ..validation.verdict import Compared
from .run import Progress
from .tables import print_table


def run_validate(seeds: str, only: Sequence[str], kernel: bool, markdown: Path | None, as_json: bool) -> int:
    """Measure, print a row for each and the verdict; 1 if a row does not hold."""
    numbers = _seeds(seeds)
    found = checks(only)
    _check_page(markdown)
    total = len(found) * len(numbers)
    with Progress("theory against model", total, quiet=as_json) as bar:
        rows = validate(numbers, only, bar.step)
    beside = _kernel(numbers[0], as_json) if kernel else []
    if markdown is not None:
        write_bytes(markdown, page.markdown(rows, beside, numbers).encode())
    if as_json:
        typer.echo(
            json.dumps({"rows": [row.as_dict() for row in rows], "kernel": [asdict(one) for one in beside]})
        )
    else:
        _print(rows, beside)
    return 0 if all(row.holds for row in rows) and all(one.holds for one in beside) else 1


def run_coverage(seeds: int, markdown: Path | None, as_json: bool) -> int:
    """Measure how often intervals hold the truth; a row for each queue, and 1 if one is not as promised."""
    _check_page(markdown)
    cases = coverage.cases()
    with Progress("intervals", len(cases) * seeds, quiet=as_json) as bar:
        rows = list(coverage.measure(cases, seeds, bar.step))
    if markdown is not None:
        write_bytes(markdown, coverage_page.markdown(rows).encode())
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows]}))
    else:
        print_table(
            coverage_page.TITLES, [coverage_page.cells(row) for row in rows], left=1, title="intervals"
        )
        print(coverage_page.verdict(rows))
    return 0 if all(coverage_page.within(row) for row in rows) else 1


def run_published(seeds: int, markdown: Path | None, as_json: bool) -> int:
    """Run both published studies and print every figure beside theirs; what is missed is no failure."""
    _check_page(markdown)
    found = published.plans(seeds)
    with Progress("published figures", sum(plan.runs for plan in found), quiet=as_json) as bar:
        studies = list(published.measure(found, bar.report))
    if markdown is not None:
        write_bytes(markdown, published.markdown(studies, seeds).encode())
    if as_json:
        typer.echo(
            json.dumps({study.title: [scores.as_dict(row) for row in study.rows] for study in studies})
        )
        return 0
    for study in studies:
        print_table(scores.TITLES, [scores.cells(row) for row in study.rows], left=3, title=study.title)
        print(scores.headline(study.rows))
    return 0


def run_tcp(markdown: Path | None, as_json: bool) -> int:
    """Lay TCP beside the kernel's; a row for each setting, and 1 if one is not within its bound."""
    from ..lab import netns
    from ..validation import tcp
    from ..validation.tcp import figure as tcp_figure
    from ..validation.tcp import page as tcp_page

    _check_page(markdown)
    if not netns.may_make():
        raise TwinplaneError("--tcp: making a lab needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN)")
    with Progress("TCP beside the kernel's", len(tcp.SETTINGS), quiet=as_json) as bar:
        pairs = []
        for setting in tcp.SETTINGS:
            pairs.append(tcp.compare(setting))
            bar.step()
    if markdown is not None:
        drawn = markdown.with_suffix(".svg")
        write_bytes(drawn, tcp_figure.picture(pairs).encode())
        write_bytes(markdown, tcp_page.markdown(pairs, drawn.name).encode())
    if as_json:
        typer.echo(json.dumps({"rows": [tcp_page.as_dict(pair) for pair in pairs]}))
    else:
        print_table(tcp_page.TITLES, [tcp_page.cells(pair) for pair in pairs], left=1, title="tcp")
        print(tcp_page.verdict(pairs))
    return 0 if all(pair.holds for pair in pairs) else 1


def _check_page(markdown: Path | None) -> None:
    if markdown is not None and not markdown.absolute().parent.is_dir():
        raise TwinplaneError(f"--page {markdown}: there is no folder {markdown.absolute().parent}")


def _seeds(text: str) -> list[int]:
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise TwinplaneError(
            f"--seeds {text}: whole numbers with commas between them, such as 1,2,3"
        ) from None
    if len(set(found)) != len(found) or min(found) < 0:
        raise TwinplaneError(f"--seeds {text}: each once, from 0 on")
    return found


def _kernel(seed: int, quiet: bool) -> list[Compared]:
    from ..lab import netns
    from ..validation import kernel

    if not netns.may_make():
        raise TwinplaneError("--kernel: making network namespaces needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN)")
    with Progress("the kernel's disciplines", len(kernel.CASES), quiet=quiet) as bar:
        done = []
        for case in kernel.CASES:
            done.append(kernel.compare(case, seed))
            bar.step()
    return done


def _print(rows: Sequence[Row], beside: Sequence[Compared]) -> None:
    for group in GROUPS:
        own = [row for row in rows if row.group == group]
        if own:
            print_table(
                page.TITLES,
                [page.cells(row) for row in own],
                left=1,
                title=group,
            )
    if beside:
        print_table(page.KERNEL_TITLES, [page.kernel_cells(one) for one in beside], left=1, title="kernel")
    print(page.verdict(rows, beside))
