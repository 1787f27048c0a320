"""``twinplane lab``: labs of network namespaces on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import helping, options
from .options import AsJson

if TYPE_CHECKING:
    from ..lab.lab import Lab

app = typer.Typer(
    name="lab",
    cls=helping.Group,
    help="Labs of routers and hosts in network namespaces.",
    no_args_is_help=True,
    add_completion=False,
)

File = Annotated[Path, typer.Argument(help="A network file (YAML).")]
Which = Annotated[
    str, typer.Argument(metavar="FILE|NAME", help="A network file, or the name of a lab that is up.")
]
InLab = Annotated[
    str | None, typer.Option("--lab", metavar="NAME", help="Where several labs have such a node.")
]


@app.command()
def up(
    file: File,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until everything has to be up.")] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Make a lab, and wait until its LSPs are up."""
    import json
    import time

    from ..lab import Lab, looking
    from .run import Progress

    begin = time.monotonic()
    made = Lab(file)
    with Progress(f"lab {made.name}", 1, quiet=as_json) as bar:
        made.up(timeout, lambda what, done, all_: bar.tick(done / max(all_, 1)))
    took = time.monotonic() - begin
    found = looking.details(made.name)
    if as_json:
        typer.echo(json.dumps({**found, "took_s": took}))
        return
    print_details(found, f"up after {took:.2f} s")
    if count := made.plan.lowered.network.draft.core.event_count:
        from .lab_events import waiting

        typer.echo(waiting(count, made.name))


@app.command("events")
def events_(
    which: Which,
    events: options.Events = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How far events are carried out that never end [default: 1 h]."),
    ] = None,
) -> None:
    """Let a lab that is up do what the events of its file say, from now on, until the last or Ctrl-C.

    Times count from the moment of the command. Flows of the file are sent by `lab run` only.
    """
    from ..errors import TwinplaneError
    from ..lab import Lab
    from .lab_events import carry_out

    lab = Lab.attached(name_of(which))
    path = Path(which)
    file = path if path.is_file() else None if lab.state.file is None else Path(lab.state.file)
    if file is None:
        raise TwinplaneError(f"lab '{lab.name}': no file made it: name the network file with its events")
    carry_out(lab, file, events, until)


@app.command()
def down(which: Which) -> None:
    """Remove a lab: processes, namespaces, links, sockets and files."""
    from ..lab import removing

    name = name_of(which)
    gone = removing.down(name)
    typer.echo(f"lab {name} is down" if gone else f"lab {name} was not up")


@app.command()
def status(
    which: Annotated[
        str | None, typer.Argument(metavar="[FILE|NAME]", help="One lab [default: all].")
    ] = None,
    wait: Annotated[
        float,
        typer.Option(min=0.0, help="Of one lab: so many seconds at most, while it is degraded."),
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Print the labs that are up, or one of them.

    Exit code 1 if a lab is degraded: a router is dead, or an LSP is not where the file wants it; 2 if
    there is a lab that can't be read.
    """
    import json

    from ..errors import TwinplaneError
    from ..lab import looking

    if which is None and wait:
        raise TwinplaneError("--wait: of which lab? its file or name is needed")
    if which is not None:
        found = looking.settled(name_of(which), wait)
        typer.echo(json.dumps(found)) if as_json else print_details(found, found["phase"])
        if found["problems"]:
            raise typer.Exit(1)
        return
    labs, wrong = looking.overview()
    if as_json:
        typer.echo(json.dumps(labs))
    elif not labs and not wrong:
        typer.echo("no lab is up")
    elif not labs:
        pass
    else:
        from .tables import print_table

        rows = [
            [
                one["lab"],
                one["phase"],
                str(one["nodes"]),
                f"{one['running']}/{one.get('routers', 0)}",
                one["file"] or "-",
            ]
            for one in labs
        ]
        print_table(["lab", "state", "nodes", "routers running", "file"], rows, left=2)
        for one in labs:
            for text in one["problems"]:
                typer.echo(f"{one['lab']}: {text}")
    for text in wrong:
        typer.echo(f"twinplane: {text}", err=True)
    if wrong:
        raise typer.Exit(2)
    if any(one["problems"] for one in labs):
        raise typer.Exit(1)


@app.command(
    "exec",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["-h"]},
)
def exec_(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="In whose namespace.")],
    in_lab: InLab = None,
) -> None:
    """Run a command in a node: `lab exec left -- ping 10.2.0.2`. Its exit code is the command's."""
    import os
    import shutil

    from ..errors import TwinplaneError

    command = list(context.args)
    if node == "--help":
        # Behind the node it belongs to the command.
        typer.echo(context.get_help())
        raise typer.Exit
    if command[:1] == ["--"]:
        command = command[1:]
    if not command:
        raise TwinplaneError(f"say which command: twinplane lab exec {node} -- ip address")
    found = _of_node(node, in_lab)
    environment = found.environment(node)
    if shutil.which(command[0], path=environment.get("PATH", os.defpath)) is None:
        raise TwinplaneError(f"there is no command '{command[0]}' on this machine")
    words = found.words(node, command)
    os.execve(words[0], words, environment)


@app.command()
def path(
    node: Annotated[str, typer.Argument(help="The router where the packet begins, or comes from outside.")],
    to: Annotated[str, typer.Argument(help="Where it goes: an address, or a node.")],
    src: Annotated[str | None, typer.Option(help="The source, an address or a node.")] = None,
    protocol: Annotated[str | None, typer.Option(help="tcp, udp, icmp or a number.")] = None,
    src_port: Annotated[int | None, typer.Option(help="The source port.")] = None,
    dst_port: Annotated[int | None, typer.Option(help="The destination port.")] = None,
    dscp: Annotated[str | None, typer.Option(help="The code point, such as EF.")] = None,
    in_lab: InLab = None,
    as_json: AsJson = False,
) -> None:
    """Print which table decides on a packet at each router of its way, and what it overrides.

    `twinplane lab path pe1 10.2.0.2 --dscp EF`
    """
    import json

    from ..frames import Columns
    from ..lab.control import Control, find_socket, sockets
    from ..lab.following import follow
    from .node_tables import rows
    from .path_table import packet, print_path

    asked = packet("path", to, node, src, protocol, src_port, dst_port, dscp)
    assert asked is not None
    find_socket(in_lab, node)
    known = sockets(in_lab)
    (lab,) = {lab for lab, router in known if router == node}
    routers = {router: where for (of, router), where in known.items() if of == lab}

    def ask(router: str, of: dict[str, Any]) -> Columns | None:
        if router not in routers:
            return None
        with Control(routers[router], router) as control:
            columns: Columns = control.ask("path", of)
        return columns

    found = follow(node, asked, ask)
    typer.echo(json.dumps(rows(found))) if as_json else print_path(found)


Only = Annotated[
    str | None,
    typer.Option(metavar="PROCESS", help="One of its processes: router, or a daemon such as ovs-vswitchd."),
]


@app.command()
def kill(
    node: Annotated[str, typer.Argument(help="A router.")], in_lab: InLab = None, only: Only = None
) -> None:
    """Kill a router as if its power went (SIGKILL), until `restart`."""
    found = _of_node(node, in_lab)
    found.kill(node, only)
    typer.echo(f"{node if only is None else f'{only} of {node}'} of lab {found.name} is killed")


@app.command()
def restart(
    node: Annotated[str, typer.Argument(help="A router.")],
    in_lab: InLab = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until it has to be ready.")] = 30.0,
    only: Only = None,
) -> None:
    """Start a router again, whether it runs or was killed."""
    found = _of_node(node, in_lab)
    found.restart(node, timeout, only)
    state = found.state.node(node)
    pids = ", ".join(str(process.pid) for process in state.processes())
    typer.echo(f"{state.kind} {node} of lab {found.name} is ready, process {pids}")


@app.command()
def capture(
    link: Annotated[
        str, typer.Argument(metavar="A:B", help="Its ends, pe1:p, or one of its interfaces, pe1:e1.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="pcapng file [default: LINK.pcapng].")
    ] = None,
    packets: Annotated[int | None, typer.Option(min=1, help="End after so many.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="End after so long.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="NODE", help="At which end [default: the first router].")
    ] = None,
    in_lab: InLab = None,
    as_json: AsJson = False,
) -> None:
    """Write what passes over a link to a pcapng file, until Ctrl-C, or so many packets or seconds."""
    import json

    from ..lab.capturing import find_lab
    from .waiting import Waiting

    found = find_lab(link, in_lab)
    path = out or Path(f"{link.replace(':', '-')}.pcapng")
    made = found.capture(link, path=path, at=at, packets=packets)
    with Waiting(made.name, packets=packets, seconds=seconds, quiet=as_json) as waiting:
        count = made.wait(seconds, waiting.tick)
    if as_json:
        typer.echo(json.dumps({"path": str(path), "packets": count, "node": made.node, "link": made.index}))
    else:
        typer.echo(f"{count} packets of {made.name} in {path}")


@app.command("run")
def run_(
    file: File,
    experiment: Annotated[
        str | None, typer.Argument(help="As `run` [default: the flows of the file, as `run FILE --lab`].")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As `run`.")
    ] = None,
    duration: options.Duration = None,
    events: options.Events = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Of the tester's randomness [default: 1; without an experiment the file's]."),
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Runs of each point, with the seeds that follow.")] = 1,
    out: options.Results = None,
    figures: options.Figures = "png,svg",
    pcap: Annotated[bool, typer.Option("--pcap", help="Capture the tester's links.")] = False,
    rate: Annotated[
        str | None, typer.Option(metavar="auto", help="auto: the highest rate without loss.")
    ] = None,
    driver: Annotated[
        str | None,
        typer.Option(
            help="How the tester opens interfaces, packet or xdp [default: as the network file says]."
        ),
    ] = None,
    busy: Annotated[bool, typer.Option("--busy", help="Poll without sleeping.")] = False,
    calibration: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use what `twinplane calibrate --out` kept.")
    ] = None,
    twin: Annotated[bool, typer.Option("--twin/--no-twin", help="Run in virtual time too.")] = True,
    as_json: AsJson = False,
) -> None:
    """Run an experiment, or the flows of the file, on a lab.

    It comes up for every point, and goes down after it.
    """
    from ..experiments.request import Request
    from ..results.real import in_file
    from . import own
    from .run import run_experiment

    given: dict[str, Any] = {"busy": busy, "rate": rate, "twin": twin, "calibration": calibration}
    if experiment in (None, own.EXPERIMENT):
        real = replace(in_file(file, driver=driver or "packet", **given), lab=None)
        name, flows, first = own.EXPERIMENT, file, own.seed_of(file)
    else:
        from ..lab.testing import drivers_of

        real = in_file(file, driver=driver or drivers_of(file), **given)
        name, flows, first = experiment, None, 1
    found = own.with_duration(settings, duration)
    first = first if seed is None else seed
    kinds = options.kinds_of(figures)
    request = Request(
        name, found, first, repeat, out, pcap, real=real, file=flows, events=events, figures=kinds
    )
    raise typer.Exit(run_experiment(request, as_json))


@app.command()
def check(file: File) -> None:
    """Read a network file and say what is wrong with it; nothing is made, and no privilege is needed."""
    from ..lab import Lab

    made = Lab(file)
    plan = made.plan
    typer.echo(f"{file}: lab {made.name}: {len(plan.members)} nodes, {len(plan.links)} links")


@app.command()
def schema() -> None:
    """Print the JSON schema of network files, for editors."""
    from .. import core
    from ..model.generate_schema import text

    typer.echo(text(core.schema()), nl=False)


def name_of(which: str) -> str:
    """The name of a lab that is given by its file or by its name."""
    from ..errors import TwinplaneError
    from ..model import network_file, source

    path = Path(which)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        data = source.read(path).data
        name = data.get("name") if isinstance(data, dict) else None
        if not isinstance(name, str | int) or not network_file.is_name(str(name)):
            raise TwinplaneError(f"{path}: it does not say the name of a lab")
        return str(name)
    if not network_file.is_name(which):
        raise TwinplaneError(f"'{which}' is neither a file nor the name of a lab")
    return which


def _of_node(node: str, in_lab: str | None) -> Lab:
    from ..lab import Lab, state

    return Lab.attached(state.of_node(node, in_lab).name)


def print_details(found: dict[str, Any], how: str) -> None:
    """A lab for people."""
    from .. import units
    from .tables import print_table

    typer.echo(f"lab {found['lab']}  {how}")
    rows = []
    for one in found["nodes"]:
        inside = one["status"]["rss_bytes"] / 1e6 if one.get("status") else None
        rows.append(
            [
                one["node"],
                one["kind"],
                one["state"],
                one["address"] or "-",
                " ".join(one["interfaces"]),
                str(one["pid"] or "-"),
                "-" if inside is None else f"{inside:.1f} MB",
                str(one["restarts"] or "-"),
            ]
        )
    print_table(
        ["node", "kind", "state", "address", "interfaces", "process", "memory", "restarts"], rows, left=5
    )
    if found["lsps"]:
        print_table(
            ["lsp", "from", "to", "state", "label", "bandwidth"],
            [
                [
                    str(one["lsp"]),
                    one["from"],
                    one["to"],
                    one["state"],
                    "-" if one["label"] is None else str(one["label"]),
                    units.format_rate(one["bandwidth_bps"]),
                ]
                for one in found["lsps"]
            ],
            left=4,
        )
    met = [(one["node"], row) for one in found["nodes"] for row in one.get("neighbors", [])]
    if met:
        print_table(
            ["daemons of", "protocol", "neighbour", "interface", "state"],
            [
                [node, row["protocol"], row["neighbor"], row["interface"] or "-", row["state"]]
                for node, row in met
            ],
            left=5,
        )
    for text in found["problems"]:
        typer.echo(text)
