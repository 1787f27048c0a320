"""The files of examples/labs in virtual time, files that use every corner of the format, and GraphML."""

from __future__ import annotations

from pathlib import Path

from .. import api
from ..registry import ROOT, program
from ..seen import Seen

LABS = ROOT / "examples" / "labs"


def _lab(seen: Seen, path: Path, until: str, flows: bool = True) -> None:
    with api.quiet() as said:
        net = api.from_file(path, queue_bin="50 ms")
        seen.fact("description", api.described(net))
        seen.tap(net)
        net.run(until="900 ms")
        hosts = [node for node in net.nodes if node.kind == "host"]
        if flows and not net.flows and len(hosts) > 1:
            net.flow(hosts[0], hosts[1], rate="5 Mbit/s", start="1 s", stop="1.2 s", name="across")
        net.run(until=until)
        if len(hosts) > 1:
            seen.fact("ping", hosts[0].ping(hosts[1]))
            seen.table("traceroute", api.frame(hosts[0].traceroute(hosts[1])))
    seen.fact("warnings", sorted(text.replace(str(path.parent), "LABS") for text in said))
    seen.network(net)


@program
def lab_bypass(seen: Seen) -> None:
    """examples/labs/bypass.yaml."""
    _lab(seen, LABS / "bypass.yaml", "2 s")


@program
def lab_classes(seen: Seen) -> None:
    """examples/labs/classes.yaml, with its flows for two seconds."""
    _lab(seen, LABS / "classes.yaml", "3 s")


@program
def lab_two_sites(seen: Seen) -> None:
    """examples/labs/two-sites.yaml."""
    _lab(seen, LABS / "two-sites.yaml", "2 s")


@program
def lab_ring(seen: Seen) -> None:
    """examples/labs/ring.yaml: the tester's interfaces are edges."""
    _lab(seen, LABS / "ring.yaml", "1 s")


CORNERS = """\
name: corners
seed: 11
nodes:
  h1: {kind: host, address: 10.1.0.2/24, gateway: 10.1.0.9}
  h2: {kind: host, address: 10.2.0.2/24}
  a: {kind: router, profile: juniper-m10, rsvp: {refresh: 1 s, hello: 100 ms, refresh_reduction: true}}
  b: {kind: router, router_id: 192.0.2.77, diffserv: {model: short-pipe, dscp: {63: EF}, tc_map: {4: AF13}}}
  c: {kind: router, diffserv: true}
links:
  - [h1, a, {rate: 100 Mbit/s, mtu: 1500}]
  - [a, b, {rate: 20 Mbit/s, delay: 1 ms, reservable: 10 Mbit/s, metric: 4, queue: {a: shaped}}]
  - endpoints: [b, c]
    rate: 10 Mbit/s
    delay: 300 us
    queue: {b: {discipline: red, limit: 60 kB, min: 5 kB, max: 30 kB, avpkt: 700}}
  - [c, h2]
lsps:
  - name: one
    from: b
    to: c
    carries: 10.2.0.0/24
    classes: [EF, AF1]
    diffserv: {kind: e-lsp, model: uniform}
  - {name: many, from: a, to: c, route: [b, c], count: 3, bandwidth: 1 Mbit/s, setup_priority: 3}
  - {name: web, from: c, to: b, filters: [{dst: 10.1.0.0/24, protocol: udp, dst_ports: 80-81}]}
queues:
  shaped:
    root: {discipline: tbf, rate: 8 Mbit/s, burst: 10 kB, latency: 30 ms}
    accounting: {layer: ip}
flows:
  - {name: ef, from: h1, to: h2, rate: 2 Mbit/s, size: 300, dscp: EF, start: 1 s, stop: 1.5 s}
  - {name: rest, from: h1, to: h2, rate: 7 Mbit/s, size: 1200, arrivals: poisson, start: 1 s, stop: 1.5 s}
  - name: back
    from: h2
    to: h1
    rate: 1 Mbit/s
    size: {kind: exponential, mean: 400}
    start: 1 s
    stop: 1.5 s
"""


@program
def lab_corners(seen: Seen) -> None:
    """A file with most fields of the format."""
    path = seen.folder / "corners.yaml"
    path.write_text(CORNERS)
    _lab(seen, path, "2 s")


GRAPH = """\
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" for="node" id="l"/><key attr.name="Latitude" for="node" id="y"/>
<key attr.name="Longitude" for="node" id="x"/><key attr.name="LinkSpeedRaw" for="edge" id="s"/>
<graph edgedefault="undirected">
<node id="0"><data key="l">Pisa</data><data key="y">43.72</data><data key="x">10.40</data></node>
<node id="1"><data key="l">Rome</data><data key="y">41.90</data><data key="x">12.50</data></node>
<node id="2"><data key="l">Rome</data></node>
<node id="3"/>
<node id="4"><data key="l">Bari</data><data key="y">41.12</data><data key="x">16.87</data></node>
<edge source="0" target="1"><data key="s">2500000000.0</data></edge>
<edge source="1" target="0"/><edge source="1" target="2"/><edge source="2" target="3"/>
<edge source="3" target="4"/><edge source="4" target="1"/><edge source="3" target="3"/>
</graph></graphml>
"""


@program
def graphml(seen: Seen) -> None:
    """A network from a GraphML file: names, delays from places, speeds, defaults."""
    path = seen.folder / "italy.graphml"
    path.write_text(GRAPH)
    net = api.from_graphml(path, seed=3, default_rate="100 Mbit/s")
    seen.fact("description", api.described(net))
    lsp = net.node("Pisa").lsp("across", to="Bari")
    net.flow("Pisa", "Bari", over=lsp, rate="1 Mbit/s", start="100 ms", stop="300 ms")
    seen.tap(net)
    net.run(until="500 ms")
    seen.network(net)


@program
def fifteen_lines(seen: Seen) -> None:
    """docs/tutorials/fifteen-lines.py, as it stands there."""
    import contextlib
    import io

    code = (ROOT / "docs" / "tutorials" / "fifteen-lines.py").read_text()
    found: dict[str, object] = {}
    output = io.StringIO()
    with contextlib.chdir(seen.folder), contextlib.redirect_stdout(output):
        exec(compile(code, "fifteen-lines.py", "exec"), found)
    seen.fact("last line", output.getvalue().splitlines()[-1])
    seen.content("ab.pcapng", (seen.folder / "ab.pcapng").read_bytes())
    seen.network(api.Proxy(found["net"]))
