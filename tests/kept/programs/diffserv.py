"""DiffServ over MPLS (RFC 3270): E-LSPs, L-LSPs, tunnelling models, maps, remarking of labels."""

from __future__ import annotations

from typing import Any

from .. import api
from ..registry import program
from ..seen import Seen
from .shapes import sites

BANDS = {
    "discipline": "prio",
    "classes": {"voice": {}, "af": {"queue": {"discipline": "bfifo", "limit": "20 kB"}}, "rest": {}},
    "filters": [{"phb": ["EF", "CS6"], "class": "voice"}, {"phb": "AF1", "class": "af"}],
    "default": "rest",
}


def _send(net: Any, node: dict[str, Any], **more: Any) -> None:
    for place, dscp in enumerate(("EF", "AF11", "AF12", "default", "CS1")):
        net.flow(
            *(node["left"], node["right"]),
            name=dscp,
            rate="2.4 Mbit/s",
            size=200 + 150 * place,
            arrivals="poisson",
            dscp=dscp,
            **{"start": "50 ms", "stop": "250 ms", **more},
        )


def _run(seen: Seen, net: Any) -> None:
    with api.quiet() as said:
        net.log_signals()
        seen.tap(net)
        net.run(until="400 ms")
    seen.fact("warnings", sorted(said))
    seen.network(net)


def _elsp(seen: Seen, model: str) -> None:
    remark = {
        "rules": [
            {"name": "ef", "phb": "EF", "green": "remark CS6"},
            {
                **{"name": "af", "phb": "AF11", "green": "pass", "red": "remark AF12"},
                "meter": {"kind": "token-bucket", "rate": "1 Mbit/s", "burst": "3 kB"},
            },
        ]
    }
    net, node = sites(
        routers={"diffserv": {"model": model}},
        ap={"queue": {"a": BANDS}, "ingress": {"p": remark}},
        pb={"queue": {"p": BANDS}},
        b_right={"queue": {"b": BANDS}},
    )
    node["a"].lsp("east", to="b", route=["p", "b"], carries="10.2.0.0/24", diffserv="e-lsp")
    node["b"].lsp(
        "west",
        to="a",
        route=["p", "a"],
        carries="10.1.0.0/24",
        diffserv={"kind": "e-lsp", "model": "uniform"},
    )
    _send(net, node)
    net.flow(node["right"], node["left"], rate="1 Mbit/s", dscp="AF11", start="50 ms", name="back")
    _run(seen, net)


@program
def e_lsp_pipe(seen: Seen) -> None:
    """E-LSPs with the pipe model; the middle router remarks labels."""
    _elsp(seen, "pipe")


@program
def e_lsp_short_pipe(seen: Seen) -> None:
    """The same with the short-pipe model."""
    _elsp(seen, "short-pipe")


@program
def e_lsp_uniform(seen: Seen) -> None:
    """The same with the uniform model."""
    _elsp(seen, "uniform")


@program
def e_lsp_maps(seen: Seen) -> None:
    """Maps of routers and of LSPs, signalled; code points of one's own; implicit null; EXP filters."""
    router = {
        "diffserv": {"exp_map": {5: "EF", 2: "AF13"}, "dscp": {63: "EF", "CS1": "AF11"}, "supported": None},
        "egress_label": "implicit-null",
    }
    by_exp = {
        "discipline": "drr",
        "classes": {"five": {}, "more": {}, "rest": {}},
        "filters": [
            {"labelled": True, "exp": 5, "class": "five"},
            {"labels": "16-1048575", "exp": [1, 2, 3], "class": "more"},
        ],
        "default": "rest",
    }
    below = {"rules": [{"name": "all", "phb": "AF11", "green": "remark AF12 as EXP 3 below labels"}]}
    net, node = sites(
        routers=router, ap={"queue": {"a": by_exp}, "ingress": {"p": below}}, pb={"queue": {"p": by_exp}}
    )
    own = {
        "kind": "e-lsp",
        "map": ["default", "AF12", "AF11", "AF13", "CS1", "EF", "CS6", "CS7"],
        "signal": True,
    }
    node["a"].lsp("own", to="b", carries="10.2.0.0/24", classes=["EF", "AF1"], diffserv=own)
    node["a"].lsp("rest", to="b", carries="10.2.0.0/24", diffserv={"kind": "e-lsp", "signal": True})
    _send(net, node)
    net.flow(node["left"], node["right"], rate="1 Mbit/s", dscp=63, start="50 ms", name="63")
    _run(seen, net)


@program
def l_lsps(seen: Seen) -> None:
    """An L-LSP for each class, with and without traffic that belongs there; one that is refused."""
    net, node = sites(routers={"diffserv": True}, ap={"queue": {"a": BANDS}}, pb={"queue": {"p": BANDS}})
    to: dict[str, Any] = {"to": "b", "route": ["p", "b"], "carries": "10.2.0.0/24"}
    node["a"].lsp("voice", classes="EF", diffserv="l-lsp EF", bandwidth="1 Mbit/s", **to)
    node["a"].lsp("af", classes=["AF11", "AF12", "AF13"], diffserv={"kind": "l-lsp", "class": "AF1"}, **to)
    node["a"].lsp("rest", diffserv="l-lsp default", **to)
    over = node["a"].lsp("over", to="b", diffserv={"kind": "l-lsp", "class": "AF2", "model": "pipe"})
    net.flow("a", "b", over=over, rate="500 kbit/s", dscp="AF21", start="50 ms", stop="250 ms", name="over")
    _send(net, node)
    _run(seen, net)


@program
def refused_diffserv(seen: Seen) -> None:
    """Routers that support few behaviours, or know nothing of DiffServ: errors of RFC 3270."""
    net = api.network(2)
    a = net.router("a", diffserv={})
    b = net.router("b", diffserv={"supported": ["EF", "default"]})
    c = net.router("c")
    net.link(a, b)
    net.link(b, c)
    a.lsp("video", to=c, route=[b, c], diffserv="l-lsp AF1", retry_limit=1)
    a.lsp("voice", to=c, diffserv="l-lsp EF", retry_limit=1)
    a.lsp("fine", to=b, diffserv="l-lsp EF")
    a.lsp("mapped", to=b, diffserv={"kind": "e-lsp", "map": {1: "AF11"}}, retry_limit=1)
    _run(seen, net)


@program
def no_diffserv(seen: Seen) -> None:
    """Without DiffServ classes are copied between labels and packets."""
    net, node = sites(ap={"queue": {"a": BANDS}}, pb={"queue": {"p": BANDS}})
    node["a"].lsp("east", to="b", route=["p", "b"], carries="10.2.0.0/24")
    _send(net, node)
    _run(seen, net)
