"""What tab completion shows is what is documented; whoever adds a public name enters it here."""

import twinplane as tp

NODE = "kind loopback name"
HEAD_END = f"{NODE} lsp p2mp"
PROBER = f"{NODE} path ping traceroute"

SHOWN = {
    "network": "actions at atm_lsr atm_switch attach bfd bgp bridge capture captures checks clock close"
    " conditioners convention demands digest"
    " edge estimate events events_done every external fail fault flow flows from_file from_graphml heal"
    " host interfaces lab ldp link links log_signals losses lsps node nodes now openflow_tester"
    " ospf p2mp_lsps peer place pvc"
    " queue_series queues random record recording remove repair replay restart route router run"
    " sample seed switch table tcp tcp_flows threads vp warnings",
    "router": f"{HEAD_END} {PROBER} break_label counters drops fib ftn ilm lsp_ping lsp_traceroute lsps"
    " neighbors next_hops replications te_paths tunnels",
    "edge": f"{HEAD_END} programme",
    "peer": f"{NODE} receive send",
    "host": f"{PROBER} address addresses gateway",
    "external": NODE,
    "link": "a address b ipv6 mac other queues",
    "lsp": "count history name reoptimise signal state teardown up up_count",
    "p2mp": "change graft leaves name prune s2ls up up_count",
    "flow": "dst_port losses name packets src_port stats streams",
    "tcp_flow": "name series stats",
    "capture": "bytes link save",
}


def things() -> dict[str, object]:
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    link = net.link(a, b)
    lsp = a.lsp("gold", b, [b])
    host = net.host("h", "10.1.0.2/24")
    net.host("g", "10.2.0.2/24")
    return {
        "network": net,
        "router": a,
        "edge": net.edge("e"),
        "peer": net.peer("p"),
        "host": host,
        "external": net.external("z"),
        "link": link,
        "lsp": lsp,
        "p2mp": a.p2mp("tree", [b]),
        "flow": net.flow(a, b, over=lsp),
        "tcp_flow": net.tcp("h", "g"),
        "capture": net.capture(a, b),
    }


def test_only_what_is_documented_is_shown() -> None:
    for name, thing in things().items():
        assert dir(thing) == sorted(set(SHOWN[name].split())), name


def test_what_is_shown_has_a_docstring() -> None:
    plain = {"kind", "name", "a", "b", "link"}  # attributes that say themselves what they are
    for name, thing in things().items():
        for shown in set(SHOWN[name].split()) - plain:
            assert getattr(type(thing), shown).__doc__, f"{name}.{shown}"
