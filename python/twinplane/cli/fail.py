"""``twinplane fail``: everything in turn, ranked on the terminal, as CSV and as a page."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from ..errors import TwinplaneError
from ..failing import Failures, NothingToTryError, Probes, Trial, cases_of
from ..failing.failures import counted, listed
from ..files import write_text
from ..reports import failing as pages
from .programs import network_of
from .tables import print_table

if TYPE_CHECKING:
    from ..network import Network

SHOWN = 20
"""So many cases stand on the terminal."""


@dataclass(frozen=True)
class Asked:
    """What the command line says; see `twinplane fail --help`."""

    file: Path
    only: list[str] | None
    pairs: bool
    warm_up: str | None
    watch: str
    probes: int | None
    probe_rate: int | None
    unprotected: bool
    component: str | None
    seed: int | None
    jobs: int | None
    out: Path | None
    strict: bool

    def network(self) -> Network:
        """The network of the file."""
        from ..network import Network

        if self.file.suffix.lower() == ".graphml":
            return Network.from_graphml(
                self.file, 1 if self.seed is None else self.seed, component=self.component
            )
        if self.component is not None:
            raise TwinplaneError(f"--component {self.component}: only topologies (.graphml) have parts")
        if self.file.suffix.lower() == ".py":
            if self.seed is not None:
                raise TwinplaneError(f"--seed {self.seed}: a Python file says the seed of its network itself")
            return network_of(self.file)
        return Network.from_file(self.file, self.seed)

    def command(self) -> str:
        """The command that repeats it."""
        words = ["twinplane", "fail", str(self.file)]
        for kind in self.only or ():
            words += ["--only", kind]
        words += [f"--{key}" for key in ("pairs", "unprotected", "strict") if getattr(self, key)]
        for key in ("warm_up", "probes", "probe_rate", "component", "seed"):
            if (value := getattr(self, key)) is not None:
                words += [f"--{key.replace('_', '-')}", str(value)]
        return shlex.join([*words, *(["--watch", self.watch] if self.watch != "5 s" else [])])


def run_fail(asked: Asked, as_json: bool) -> int:
    """Try all of it; 1 if that is asked for and a flow stays away that need not."""
    network = asked.network()
    probes = Probes(asked.probes, asked.probe_rate, not asked.unprotected)
    try:
        cases = cases_of(network, asked.only, asked.pairs)
        trial = Trial(network, probes, asked.warm_up, asked.watch, asked.file.stem)
    except NothingToTryError as error:
        raise error.told(f"{asked.file}: {error}") from None
    store = trial.store(asked.out, cases)
    if not as_json:
        kinds = listed([counted(sum(case.kind == kind for case in cases), kind) for kind in _kinds(cases)])
        each = "each in turn" if len(cases) > 1 else "alone"
        typer.echo(f"{trial.title}  {kinds} fail, {each}   seed {network.seed}   virtual time")
        typer.echo(f"traffic  {trial.traffic}")
    begin = time.monotonic()
    try:
        with Bar(trial.title, quiet=as_json) as bar:
            found = trial.run(cases, asked.jobs, store, bar.show)
    except KeyboardInterrupt:
        again = f"; finished cases are kept: the same command with --out {store.folder} goes on"
        typer.echo(f"twinplane: interrupted{again}", err=True)
        return 130
    found.circumstances["took"] = f"{time.monotonic() - begin:.1f} s"
    csv = found.save_csv(store.folder / "failures.csv")
    page = write_text(store.folder / "report.html", pages.page(found, asked.command()))
    if as_json:
        typer.echo(json.dumps({"folder": str(store.folder), **as_plain(found)}))
    else:
        print_failures(found)
        typer.echo(f"report   {page}\ncsv      {csv}\nrepeat   {asked.command()}")
    return 1 if asked.strict and found.needless else 0


def _kinds(cases: Any) -> list[str]:
    return list(dict.fromkeys(case.kind for case in cases))


def print_failures(found: Failures) -> None:
    """The worst cases, classes, and the answer."""
    hurt = [one for one in found.outcomes if one.hurt]
    if hurt:
        print_table(pages.TITLES, [pages.cells(one) for one in hurt[:SHOWN]], left=2, narrow=True)
        rest = [counted(len(hurt) - SHOWN, "more case")] if len(hurt) > SHOWN else []
        rest += [f"{counted(found.harmless, 'case')} without harm"] if found.harmless else []
        if rest:
            typer.echo(f"{' and '.join(rest)}: in the CSV files")
        print_table(pages.CLASS_TITLES, [pages.class_cells(one) for one in found.classes()], left=1)
    typer.echo(found.headline())


def as_plain(found: Failures) -> dict[str, Any]:
    """Cases and flows as plain values."""
    return {
        "answer": found.headline(),
        "circumstances": found.circumstances,
        "cases": found.cases().to_dicts(),
        "classes": [vars(one) for one in found.classes()],
        "flows": found.table().to_dicts(),
    }


class Bar:
    """Progress on the standard error; it draws when it is told to, since a thread for it would not fork."""

    def __init__(self, label: str, *, quiet: bool) -> None:
        self.label = label
        self.quiet = quiet or not sys.stderr.isatty()
        self._bar: Any = None
        self._line: Any = None

    def __enter__(self) -> Bar:
        """Begin."""
        return self

    def show(self, done: int, of: int) -> None:
        """So many cases are done."""
        if self.quiet:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self._bar = Progress(
                *(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}")),
                *(TimeElapsedColumn(), TimeRemainingColumn()),
                console=Console(stderr=True, highlight=False),
                auto_refresh=False,
            )
            self._line = self._bar.add_task(self.label, total=of)
            self._bar.start()
        self._bar.update(self._line, completed=done, refresh=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()
