"""The commands and their options. Whatever takes time to load is loaded by the command that needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="twinplane",
    help="Build, run and measure label-switched networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Run = Annotated[Path, typer.Argument(help="A results folder.")]


def _version(asked: bool) -> None:
    if asked:
        from ..version import version

        typer.echo(f"twinplane {version()}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Build, run and measure label-switched networks."""


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """The experiments, one line each."""
    from ..experiments import CATALOGUE

    if as_json:
        import json

        typer.echo(json.dumps([{"name": name, "question": text} for name, (_, text) in CATALOGUE.items()]))
        return
    width = max(map(len, CATALOGUE))
    for name, (_, text) in CATALOGUE.items():
        typer.echo(f"{name:{width}}  {text}")


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="Its name, as `twinplane list` prints it.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A parameter; a:b:step and a,b,c give several points."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 1,
    repeat: Annotated[int, typer.Option(help="Runs of each point, with the seeds that follow.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Results folder [default: runs/NAME-NNNN].")] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture every link; of repeated runs, of the first.")
    ] = False,
    pcap_packets: Annotated[int, typer.Option(min=1, help="Frames kept of each link.")] = 100_000,
    campaign: Annotated[bool, typer.Option("--campaign", help="Run the published matrix.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time [default: one for each core].")] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster.")] = None,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Print what can be set, run nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment and write a results folder with its report."""
    from .run import print_parameters, run_experiment

    if parameters:
        print_parameters(experiment, as_json)
        return
    from ..session import Request

    request = Request(
        experiment,
        tuple(settings or ()),
        seed,
        repeat,
        out,
        pcap,
        pcap_packets,
        campaign,
        jobs,
        scheduler,
    )
    raise typer.Exit(run_experiment(request, as_json))


@app.command()
def show(folder: Run, as_json: AsJson = False) -> None:
    """Print the table of a run."""
    from .show import show_run

    show_run(folder, as_json)


@app.command()
def compare(first: Run, second: Run, as_json: AsJson = False) -> None:
    """Print the residuals between two runs, point by point."""
    from .show import compare_runs

    compare_runs(first, second, as_json)


@app.command()
def report(folder: Run) -> None:
    """Build the page of a run again from its results."""
    from ..reports import of_results
    from ..results import load

    typer.echo(f"report   {of_results(load(folder))}")


@app.command()
def decode(
    capture: Annotated[Path, typer.Argument(help="A pcap or pcapng file.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each packet.")] = False,
) -> None:
    """Print one line for each packet of a capture."""
    from .decode import decode_capture

    raise typer.Exit(decode_capture(capture, as_json))
