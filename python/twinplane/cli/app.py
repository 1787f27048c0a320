"""The commands and their options. Whatever takes time to load is loaded by the command that needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import helping, lab, node, options
from .options import AsJson

app = typer.Typer(
    name="twinplane",
    cls=helping.Group,
    help="Build, run and measure label-switched networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(lab.app, name="lab")
app.add_typer(node.app, name="node")

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


@app.command()
def tables(
    name: Annotated[str | None, typer.Argument(help="A table; without it all are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """The tables of networks and routers: type, unit and meaning of every column."""
    from .node_tables import print_tables, tables_json

    if as_json:
        typer.echo(tables_json(name))
    else:
        print_tables(name)


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
    experiment: Annotated[
        str, typer.Argument(help="Its name, as `twinplane list` prints it, or a file with a network (YAML).")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A parameter; a:b:step and a,b,c give several points."
        ),
    ] = None,
    duration: options.Duration = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same run [default: 1, or the file's].")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Runs of each point, with the seeds that follow.")] = 1,
    out: options.Results = None,
    figures: options.Figures = "png,svg",
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture every link; of repeated runs, of the first.")
    ] = False,
    pcap_packets: Annotated[int, typer.Option(min=1, help="Frames kept of each link.")] = 100_000,
    campaign: Annotated[bool, typer.Option("--campaign", help="Run the published matrix.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time (default: one for each core).")] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads of a run that is the only one at a time, at most (default: what pays)."),
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster.")] = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Say before what the run will take: time, memory, size of results."),
    ] = False,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Print what can be set, run nothing.")
    ] = False,
    as_json: AsJson = False,
    signals: Annotated[
        bool, typer.Option("--signals", help="Keep every signalling message (in real time always).")
    ] = False,
    clock: Annotated[str, typer.Option(help="virtual, or wall: real time.")] = "virtual",
    lab: Annotated[
        bool, typer.Option("--lab", help="Real time, each router a process in its own network namespace.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look, of experiments that have one.")
    ] = False,
    sut: Annotated[
        str, typer.Option(help="What is tested: built-in, external; of openflow: see `--parameters`.")
    ] = "built-in",
    ingress_port: options.IngressPort = None,
    egress_port: options.EgressPort = None,
    ingress_address: options.IngressAddress = None,
    egress_address: options.EgressAddress = None,
    ingress_neighbor: options.Neighbor = None,
    egress_neighbor: options.Neighbor = None,
    ingress_router_id: options.IngressRouterId = None,
    egress_router_id: options.EgressRouterId = None,
    ingress_netns: options.Netns = None,
    egress_netns: options.Netns = None,
    sut_router_id: options.SystemRouterId = None,
    sut_hops: options.SystemHops = None,
    driver: options.Driver = "packet",
    busy: options.Busy = False,
    rate: options.SearchRate = None,
    events: options.Events = None,
    calibration: options.KeptCalibration = None,
    twin: Annotated[
        bool,
        typer.Option(
            "--twin/--no-twin",
            help="Run the same in virtual time too, for the residual.",
            rich_help_panel=options.REAL,
        ),
    ] = True,
) -> None:
    """Run an experiment, or a network of your own, and write a results folder with its report.

    `twinplane run own.yaml` runs the flows of a file through its network, in virtual time; with --lab
    its routers are processes in network namespaces.
    """
    from . import own
    from .run import print_parameters, run_experiment

    experiment, file = own.asked(experiment)
    ports = {
        "ingress_port": ingress_port,
        "egress_port": egress_port,
        "ingress_netns": ingress_netns,
        "egress_netns": egress_netns,
    }
    settings, sut = own.with_choices(experiment, settings, quick, sut, ports)

    if parameters:
        print_parameters(experiment, as_json)
        return
    from ..experiments.request import Request
    from ..network import processors
    from ..results.real import OuterPort, asked

    processors.limit(threads)
    real = asked(
        clock=clock,
        lab=lab,
        sut=sut,
        ingress=OuterPort(
            ports.get("ingress_port"),
            ports.get("ingress_netns"),
            ingress_address,
            ingress_neighbor,
            ingress_router_id,
        ),
        egress=OuterPort(
            ports.get("egress_port"),
            ports.get("egress_netns"),
            egress_address,
            egress_neighbor,
            egress_router_id,
        ),
        sut_router_id=sut_router_id,
        driver=driver,
        busy=busy,
        rate=rate,
        twin=twin,
        calibration=calibration,
        sut_hops=sut_hops,
    )

    request = Request(
        experiment,
        own.with_duration(settings, duration),
        own.seed_of(file) if seed is None else seed,
        repeat,
        out,
        pcap,
        pcap_packets,
        campaign,
        jobs,
        scheduler,
        real,
        signals,
        file,
        events,
        options.kinds_of(figures),
    )
    raise typer.Exit(run_experiment(request, as_json, estimate))


@app.command()
def fail(
    file: Annotated[
        Path,
        typer.Argument(help="A network file (YAML), a topology (GraphML), or a Python file that has a net."),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="links, nodes or groups, if not all of them; several times."),
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Two of them together, too.")] = False,
    warm_up: Annotated[
        str | None,
        typer.Option(
            "--warm-up", metavar="TIME", help="When they fail [default: 1 s after the last flow began]."
        ),
    ] = None,
    watch: Annotated[
        str, typer.Option(metavar="TIME", help="How long a case is watched for who comes back, at most.")
    ] = "5 s",
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Pairs of nodes that probes go between, where there are no flows."),
    ] = None,
    probe_rate: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Packets per second of each probe.")
    ] = None,
    unprotected: Annotated[
        bool, typer.Option("--unprotected", help="Probes go as routers route them, and over no LSPs.")
    ] = False,
    component: Annotated[
        str | None,
        typer.Option(metavar="NODE", help="Of a topology in several parts, that of a node, or the largest."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same run [default: 1, or the file's].")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Cases at a time (default: one for each core).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results (default: runs/fail-NNNN); goes on with one.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 if a flow stays away though a way is left.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let every link, node and shared-risk group fail in turn: who loses what, and who does not come back.

    Cases are forks of the network after a common warm-up. Writes a page, and all of it as CSV.
    """
    from .fail import Asked, run_fail

    asked = Asked(
        *(
            file,
            only,
            pairs,
            warm_up,
            watch,
            probes,
            probe_rate,
            unprotected,
            component,
            seed,
            jobs,
            out,
            strict,
        )
    )
    raise typer.Exit(run_fail(asked, as_json))


@app.command()
def calibrate(
    interfaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="[IF IF]", help="Joined to each other (default: a veth pair is made)."),
    ] = None,
    size: Annotated[str, typer.Option(metavar="B,...", help="Bytes of a frame.")] = "64,512,1500",
    rate_mbps: Annotated[
        float | None, typer.Option(help="Rate for the noise floor (default: the highest without loss).")
    ] = None,
    link_gbps: Annotated[float, typer.Option(min=0.001, max=400, help="Rate of the link.")] = 1.0,
    netns: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Namespace of both interfaces, or of each.")
    ] = None,
    driver: Annotated[str, typer.Option(help="packet (AF_PACKET) or xdp (AF_XDP).")] = "packet",
    busy: Annotated[bool, typer.Option("--busy", help="Poll without sleeping.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep it for `run --calibration`.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the tester's ports do back to back: noise floor, pacing, highest rate without loss."""
    from .calibrate import calibrate_ports, sizes_of

    code = calibrate_ports(
        interfaces or [], netns or [], sizes_of(size), rate_mbps, link_gbps, driver, busy, out, as_json
    )
    raise typer.Exit(code)


@app.command()
def show(folder: Run, as_json: AsJson = False) -> None:
    """Print the table of a run."""
    from .show import show_run

    show_run(folder, as_json)


@app.command()
def compare(
    first: Run,
    second: Run,
    as_json: AsJson = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page about both too.")] = None,
) -> None:
    """Lay two runs side by side: residuals with their bounds, and the order of signalling messages."""
    from .compare import compare_runs

    compare_runs(first, second, as_json, html)


@app.command()
def report(folder: Run) -> None:
    """Build the page of a run again from its results."""
    from ..reports import of_results
    from ..results.folder import load

    typer.echo(f"report   {of_results(load(folder))}")


@app.command()
def decode(
    capture: Annotated[Path, typer.Argument(help="A pcap or pcapng file.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each packet.")] = False,
) -> None:
    """Print one line for each packet of a capture."""
    from .decode import decode_capture

    raise typer.Exit(decode_capture(capture, as_json))


@app.command()
def soak(
    clock: Annotated[
        str, typer.Option(help="virtual: one process, jumping; wall: a lab, in real time.")
    ] = "virtual",
    duration: Annotated[str, typer.Option(help="How long by that clock.")] = "24 h",
    interval: Annotated[
        str | None, typer.Option(help="Time between two samples [default: a 24th of it].")
    ] = None,
    lsps: Annotated[int, typer.Option(help="LSPs each way.")] = 500,
    refresh: Annotated[str, typer.Option(help="Refresh period of RSVP.")] = "30 s",
    reduction: Annotated[
        bool, typer.Option("--reduction", help="With refresh reduction (RFC 2961).")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Run a network for long and look for leaks and drift. Exit code 1 if there are any."""
    from .soak import run_soak

    raise typer.Exit(run_soak(clock, duration, interval, lsps, refresh, reduction, seed, as_json))


@app.command()
def validate(
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between them.")] = "1,2,3",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Only this group of rows: queueing, priority, meters, red, shares or little; several times.",
        ),
    ] = None,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="Beside the kernel's own disciplines, too. Needs root.")
    ] = False,
    coverage: Annotated[
        int | None,
        typer.Option(
            metavar="SEEDS",
            min=2,
            help="Instead: how often do intervals of mean delays hold the truth, over so many seeds?",
        ),
    ] = None,
    published: Annotated[
        int | None,
        typer.Option(
            metavar="SEEDS",
            min=1,
            help="Instead: every figure of the published studies beside ours, diffserv with so many seeds.",
        ),
    ] = None,
    tcp: Annotated[
        bool,
        typer.Option("--tcp", help="Instead: TCP in virtual time beside the kernel's in a lab. Needs root."),
    ] = False,
    page: Annotated[Path | None, typer.Option(help="Write the page to this file (Markdown).")] = None,
    as_json: AsJson = False,
) -> None:
    """Hold queues, meters and schedulers against theory. Exit code 1 if a row does not hold."""
    from .validate import run_coverage, run_published, run_tcp, run_validate

    if tcp:
        raise typer.Exit(run_tcp(page, as_json))
    if published is not None:
        raise typer.Exit(run_published(published, page, as_json))
    if coverage is not None:
        raise typer.Exit(run_coverage(coverage, page, as_json))
    raise typer.Exit(run_validate(seeds, only or [], kernel, page, as_json))
