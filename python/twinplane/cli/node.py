"""``twinplane node``: look into a router that runs, and command it, through its control socket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import TwinplaneError
from . import helping
from .options import AsJson

if TYPE_CHECKING:
    from ..lab.control import Control

app = typer.Typer(cls=helping.Group, no_args_is_help=True, help="Look into a running router, and command it.")

Node = Annotated[str | None, typer.Argument(help="A router; may be left out if there is one only.")]
Lab = Annotated[str | None, typer.Option(help="The lab it is in [default: the only one with such a router].")]
Socket = Annotated[Path | None, typer.Option(help="Its control socket, in place of a lab's router.")]
Wait = Annotated[str, typer.Option(help="How long to wait for an answer.")]


def connect(node: str | None, lab: str | None, path: Path | None) -> Control:
    """A connection to the router that is meant."""
    from ..lab.control import Control, find_socket

    return Control(find_socket(lab, node) if path is None else path, node or "")


@app.command()
def show(
    table: Annotated[
        str, typer.Argument(help="status, or a table: lsps, ilm, ftn, fib, counters, drops, queues … or path")
    ],
    node: Node = None,
    after: Annotated[
        str | None, typer.Argument(metavar="[NODE]", help="The router, behind the destination of a path.")
    ] = None,
    src: Annotated[str | None, typer.Option(help="Of a path: the source, an address or a node.")] = None,
    protocol: Annotated[str | None, typer.Option(help="Of a path: tcp, udp, icmp or a number.")] = None,
    src_port: Annotated[int | None, typer.Option(help="Of a path: the source port.")] = None,
    dst_port: Annotated[int | None, typer.Option(help="Of a path: the destination port.")] = None,
    dscp: Annotated[str | None, typer.Option(help="Of a path: the code point, such as EF.")] = None,
    k: Annotated[int, typer.Option(help="Of te_paths: how many.")] = 1,
    bandwidth: Annotated[str, typer.Option(help="Of te_paths: what each link has left.")] = "0 bit/s",
    disjoint: Annotated[
        str | None, typer.Option(help="Of te_paths: two paths without a common link, node or srlg.")
    ] = None,
    lab: Lab = None,
    socket: Socket = None,
    as_json: AsJson = False,
) -> None:
    """Print a table of a router; with `path TO`, which table decides on a packet, and what it overrides.

    `twinplane node show path 10.2.0.2 pe1 --dscp EF`; the best paths by traffic engineering:
    `twinplane node show te_paths pe2 pe1 --k 3 --bandwidth "10 Mbit/s"`
    """
    from .node_tables import OF_LINKS, check_name, print_columns, print_status, rows
    from .path_table import packet, print_path

    check_name(table)
    if table == "te_paths":
        if node is None:
            raise TwinplaneError("te_paths: to where? `twinplane node show te_paths TO [NODE]`")
        with connect(after, lab, socket) as control:
            asked_of = {"to": node, "k": k, "bandwidth": bandwidth}
            columns = control.ask("te-paths", {**asked_of, "disjoint": disjoint} if disjoint else asked_of)
        _json(rows(columns)) if as_json else print_columns(table, columns)
        return
    asked = packet(table, node, after, src, protocol, src_port, dst_port, dscp)
    if asked is not None:
        with connect(after, lab, socket) as control:
            columns = control.ask("path", asked)
        _json(rows(columns)) if as_json else print_path(columns)
        return
    with connect(node, lab, socket) as control:
        if table == "status":
            found = control.status()
            _json(found) if as_json else print_status(found)
            return
        columns = control.table(table)
        ports = control.status()["ports"] if table in OF_LINKS and not as_json else []
    if as_json:
        _json(rows(columns))
    else:
        print_columns(table, columns, ports)


@app.command()
def ping(
    to: Annotated[str, typer.Argument(help="An address, or a node.")],
    node: Node = None,
    count: Annotated[int, typer.Option("--count", "-c", min=1, help="How many echo requests.")] = 4,
    interval: Annotated[str, typer.Option(help="Time between two.")] = "1 s",
    ttl: Annotated[int, typer.Option(min=1, max=255, help="Time to live.")] = 255,
    wait: Wait = "2 s",
    lab: Lab = None,
    socket: Socket = None,
    as_json: AsJson = False,
) -> None:
    """Ping from a router. Exit code 1 if there is no answer."""
    import time

    from ..units import span_ps
    from .node_tables import ping_line

    between, wait_s = span_ps(interval, "interval") / 1e12, span_ps(wait, "wait") / 1e12
    answered = 0
    with connect(node, lab, socket) as control:
        for number in range(count):
            begin = time.monotonic()
            asked = {"to": to, "ttl": ttl, "timeout_s": wait_s}
            found = control.ask("ping", asked, wait_s=wait_s)
            answered += found["from"] is not None and found["type"] == 0
            _json(found) if as_json else typer.echo(ping_line(number + 1, found))
            if number + 1 < count:
                time.sleep(max(0.0, between - (time.monotonic() - begin)))
    if not as_json:
        typer.echo(f"{count} sent, {answered} answered")
    raise typer.Exit(0 if answered else 1)


@app.command()
def traceroute(
    to: Annotated[str, typer.Argument(help="An address, a node, or an LSP that begins at NODE.")],
    node: Node = None,
    hops: Annotated[int, typer.Option(min=1, max=255, help="The most hops.")] = 30,
    wait: Wait = "2 s",
    lab: Lab = None,
    socket: Socket = None,
    as_json: AsJson = False,
) -> None:
    """Trace a route or an LSP, with the label stacks that routers on the way saw (RFC 4950)."""
    from ..units import span_ps
    from .node_tables import print_trace

    wait_s = span_ps(wait, "wait") / 1e12
    with connect(node, lab, socket) as control:
        found = control.ask("traceroute", {"to": to, "hops": hops, "timeout_s": wait_s}, wait_s=wait_s)
    _json(found) if as_json else print_trace(found)
    raise typer.Exit(0 if found["reached"] else 1)


Protocol = Annotated[
    str | None, typer.Option(help="Who gives the labels: rsvp, ldp, bgp or any; by default, what TO is.")
]
Index = Annotated[int, typer.Option(min=0, help="Which LSP of a group.")]
Reply = Annotated[str, typer.Option(help="How replies come: udp, router-alert, none or control-channel.")]
Size = Annotated[int | None, typer.Option(min=1, help="Bytes of the IP packet.")]
Tested = Annotated[str, typer.Argument(help="An LSP that begins at NODE, or a node, address or prefix.")]
Leaf = Annotated[str | None, typer.Option(help="Of a point-to-multipoint LSP: the one leaf that is asked.")]
Jitter = Annotated[str | None, typer.Option(help="How long replies of several routers may wait.")]


def _test_lsp(
    asked: dict[str, Any],
    wait_s: float,
    node: str | None,
    lab: str | None,
    socket: Path | None,
    as_json: bool,
) -> None:
    """Test an LSP, print what was replied, and end: exit code 0 if it ends where it is to.

    That is what the last reply says; of a point-to-multipoint LSP what all leaves reply.
    """
    from .node_tables import print_lsp_test, rows

    asked = {key: value for key, value in asked.items() if value is not None}
    with connect(node, lab, socket) as control:
        found = control.ask("test-lsp", asked, wait_s=wait_s)
    if as_json:
        _json(rows(found))
    else:
        print_lsp_test(rows(found))
    codes = found["code"]
    of_leaves = [code for code, end in zip(codes, found["end"], strict=True) if end is not None]
    raise typer.Exit(0 if codes and all(code == LSP_ENDS for code in of_leaves or codes[-1:]) else 1)


LSP_ENDS = 3
"""The return code of the router where an LSP ends (RFC 8029, 3.1)."""


@app.command("lsp-ping")
def lsp_ping(
    to: Tested,
    node: Node = None,
    count: Annotated[int, typer.Option("--count", "-c", min=1, help="How many requests.")] = 4,
    interval: Annotated[str, typer.Option(help="Time between two.")] = "1 s",
    protocol: Protocol = None,
    index: Index = 0,
    reply: Reply = "udp",
    size: Size = None,
    wait: Wait = "2 s",
    leaf: Leaf = None,
    router: Annotated[str | None, typer.Option(help="The one router of it that is asked.")] = None,
    jitter: Jitter = None,
    lab: Lab = None,
    socket: Socket = None,
    as_json: AsJson = False,
) -> None:
    """Test an LSP from end to end (LSP ping, RFC 8029). Exit code 1 if it does not end where it is to."""
    from ..units import span_ps

    wait_s = count * span_ps(interval, "interval") / 1e12 + span_ps(wait, "wait") / 1e12
    asked = {"to": to, "count": count, "interval": interval, "protocol": protocol, "index": index}
    asked |= {"reply": reply, "size": size, "wait": wait, "leaf": leaf, "router": router, "jitter": jitter}
    _test_lsp(asked, wait_s, node, lab, socket, as_json)


@app.command("lsp-traceroute")
def lsp_traceroute(
    to: Tested,
    node: Node = None,
    hops: Annotated[int, typer.Option(min=1, max=255, help="The most hops.")] = 30,
    protocol: Protocol = None,
    index: Index = 0,
    reply: Reply = "udp",
    wait: Wait = "2 s",
    leaf: Leaf = None,
    jitter: Jitter = None,
    lab: Lab = None,
    socket: Socket = None,
    as_json: AsJson = False,
) -> None:
    """Ask each router on an LSP what it does with packets (RFC 8029). Exit code 1 short of its end."""
    from ..units import span_ps

    wait_s = hops * span_ps(wait, "wait") / 1e12
    asked = {"to": to, "trace": True, "hops": hops, "protocol": protocol, "index": index}
    asked |= {"reply": reply, "wait": wait, "leaf": leaf, "jitter": jitter}
    _test_lsp(asked, wait_s, node, lab, socket, as_json)


@app.command()
def lsp(
    action: Annotated[str, typer.Argument(metavar="DO", help="signal, tear, reoptimise or route.")],
    name: Annotated[str, typer.Argument(help="An LSP (or a group of them) that begins at NODE.")],
    node: Node = None,
    route: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,C", help="With route: routers after the head; more are the next choices."),
    ] = None,
    lab: Lab = None,
    socket: Socket = None,
) -> None:
    """Signal an LSP, tear it down, or move it (make before break)."""
    asked: dict[str, Any] = {"lsp": name, "do": action}
    if route:
        asked["routes"] = [[hop.strip() for hop in one.split(",")] for one in route]
    with connect(node, lab, socket) as control:
        control.ask("command", asked)


@app.command()
def fault(
    action: Annotated[
        str,
        typer.Argument(
            metavar="DO",
            help="As in events: fail, heal, restart, loss, corruption, duplication, reordering, delay, rate.",
        ),
    ],
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT", help="A link by its ends, A:B, or its place; or a router, by its name."
        ),
    ] = None,
    node: Node = None,
    for_: Annotated[str | None, typer.Option("--for", help="How long it lasts.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="share, by, extra, jitter or limit, as in events."),
    ] = None,
    lab: Lab = None,
    socket: Socket = None,
) -> None:
    """Let a link or a router fail, disturb a link, or heal: in a lab at both ends of the link.

    `twinplane node fault loss pe1:p --set share=1% --for 10s`
    """
    from .faults import act

    act(action, what, node, for_, settings or [], lab, socket)


@app.command()
def capture(
    link: Annotated[str, typer.Argument(metavar="A:B", help="A link, by its ends or its place.")],
    file: Annotated[Path, typer.Argument(help="The pcapng file to write.")],
    node: Node = None,
    packets: Annotated[int | None, typer.Option(min=1, help="End after so many.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="End after so long.")] = None,
    lab: Lab = None,
    socket: Socket = None,
) -> None:
    """Capture a router's link until Ctrl-C, a number of packets or a time."""
    import time

    from ..units import span_ps
    from .node_tables import link_of
    from .waiting import Waiting

    seconds = None if for_ is None else span_ps(for_, "for") / 1e12
    limit = None if seconds is None else time.monotonic() + seconds
    asked = {"link": link_of(link), "path": str(file.absolute()), "max_packets": packets}
    with connect(node, lab, socket) as control:
        number = control.ask("capture", asked)["capture"]
        count: int | None = 0
        try:
            with Waiting(f"link {link}", packets=packets, seconds=seconds) as waiting:
                while count is not None and (limit is None or time.monotonic() < limit):
                    time.sleep(0.2 if limit is None else max(0.0, min(0.2, limit - time.monotonic())))
                    still = [one for one in control.status()["captures"] if one["capture"] == number]
                    count = still[0]["packets"] if still else None
                    waiting.tick(count or 0)
        except KeyboardInterrupt:
            pass
        count = packets if count is None else control.ask("capture-stop", number)["packets"]
    typer.echo(f"{file}: {count} packets")


@app.command()
def stop(node: Node = None, lab: Lab = None, socket: Socket = None) -> None:
    """End a router's process; its files are complete then."""
    with connect(node, lab, socket) as control:
        control.ask("stop")


@app.command()
def replay(
    recording: Annotated[Path, typer.Argument(help="What a router wrote with --record.")],
    table: Annotated[str | None, typer.Argument(help="Print this table of the router afterwards.")] = None,
    as_json: AsJson = False,
) -> None:
    """Give a router in virtual time what a recorded one was given. Exit code 1 if it answers otherwise."""
    from ..network.recording import replay_file
    from .node_tables import check_name, print_columns, rows

    if table is not None:
        check_name(table)
    done = replay_file(recording)
    columns = None if table is None else done.table(table)
    if as_json:
        _json({**done.summary, **({} if columns is None else {"table": rows(columns)})})
    else:
        verdict = "the same answers" if done.same else "OTHER ANSWERS"
        typer.echo(f"{done.node}: {done.inputs} inputs, {done.outputs} outputs, {verdict}")
        if table is not None and columns is not None:
            print_columns(table, columns)
    raise typer.Exit(0 if done.same else 1)


def _json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value))
