"""DiffServ over MPLS by Python: tunnelling models of LSPs, code points of one's own, and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp
from twinplane.model import source
from twinplane.network import lowering
from twinplane.network.history import error_words

LAB = """
name: x
nodes:
  a: {kind: router, diffserv: {dscp: {63: EF}}}
  b: {kind: router, diffserv: {model: short-pipe}}
links:
  - [a, b]
lsps:
  - {name: one, from: a, to: b, diffserv: {kind: e-lsp, model: uniform}}
  - {name: two, from: a, to: b, diffserv: {kind: l-lsp, class: AF1, model: pipe}}
  - {name: three, from: a, to: b, diffserv: l-lsp EF}
"""


def row(model: str | None, lsp: str | None) -> tp.Network:
    """Two hosts and three routers; the middle one makes CS6 of EF."""
    net = tp.Network(seed=1)
    a, p, b = (net.router(name, diffserv={"model": model} if model else True) for name in "apb")
    left, right = net.host("left", address="10.1.0.2/24"), net.host("right", address="10.2.0.2/24")
    net.link(left, a, rate="100 Mbit/s")
    remark = tp.queues.Conditioner(rules=[{"name": "ef", "phb": "EF", "green": "remark CS6"}])
    net.link(a, p, rate="100 Mbit/s", ingress={"p": remark})
    net.link(p, b, rate="100 Mbit/s")
    band = {"discipline": "prio", "classes": {"cs6": {}, "rest": {}}}
    net.link(
        b,
        right,
        rate="100 Mbit/s",
        queue={"b": {**band, "filters": [{"dscp": "CS6", "class": "cs6"}], "default": "rest"}},
    )
    given = {"kind": "e-lsp"} if lsp is None else {"kind": "e-lsp", "model": lsp}
    a.lsp("one", b, route=[p, b], carries="10.2.0.0/24", diffserv=given)
    net.flow(left, right, rate="1 Mbit/s", size=200, dscp="EF", start="100 ms", name="voice")
    net.run(until="400 ms")
    return net


@pytest.mark.parametrize(
    ("node", "lsp", "shown"),
    [(None, None, False), (None, "uniform", True), ("uniform", None, True), ("uniform", "pipe", False)],
)
def test_an_lsp_may_have_its_own_model(node: str | None, lsp: str | None, shown: bool) -> None:
    net = row(node, lsp)
    queues = net.queues("b")
    sent = queues.filter(queues["path"].str.ends_with("/cs6"))["sent_packets"].sum()
    assert (sent > 100) is shown, queues


def test_models_and_code_points_in_network_files() -> None:
    found = lowering.of_source(source.parse(LAB, Path("x.yaml"))).description
    assert [lsp["diffserv"] for lsp in found["lsps"]] == [
        {"kind": "e-lsp", "signal": False, "model": "uniform"},
        {"kind": "l-lsp", "class": "AF1", "model": "pipe"},
        {"kind": "l-lsp", "class": "EF"},
    ]
    diffserv = next(iter(found["nodes"].values()))["diffserv"]
    assert (diffserv["model"], diffserv["dscp"], len(diffserv["tc_map"])) == ("pipe", {"63": "EF"}, 8)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("model: uniform", "model: unifrom", 9, "'unifrom' is none of pipe, short-pipe or uniform"),
        ("{63: EF}", "{64: EF}", 4, "node 'a': diffserv: dscp: 64 is not a code point: EF, "),
        ("{63: EF}", "{63: XF}", 4, "'XF' is not a "),
        ("dscp: {63: EF}", "exp_map: {5: EF}", 4, "diffserv: 'exp_map' is called 'tc_map' now"),
        ("{63: EF}", "63", 4, "dscp: 63: it should be a mapping such as {63: EF}"),
    ],
)
def test_mistakes_have_their_line(old: str, new: str, line: int, said: str) -> None:
    with pytest.raises(tp.TwinplaneError) as caught:
        lowering.of_source(source.parse(LAB.replace(old, new), Path("x.yaml")))
    assert str(caught.value).startswith(f"x.yaml:{line}:") and said in str(caught.value), caught.value
    assert str(caught.value).count("x.yaml") == 1


def test_a_model_needs_an_end_that_knows_of_behaviours() -> None:
    net = tp.Network(seed=1)
    a, b = net.router("a", diffserv=True), net.router("b")
    net.link(a, b, rate="1 Gbit/s")
    a.lsp("t", b, diffserv={"kind": "e-lsp", "model": "uniform"})
    with pytest.raises(
        tp.TwinplaneError, match="lsp 't': it has a tunnelling model, and node 'b', where it ends"
    ):
        net.run(until="1 ms")


def test_packets_without_a_place_are_warned_of() -> None:
    net = tp.Network(seed=1)
    a, b = net.router("a", diffserv=True), net.router("b", diffserv=True)
    net.link(a, b, rate="1 Gbit/s")
    voice = a.lsp("voice", b, diffserv="l-lsp EF")
    net.flow(a, b, over=voice, rate="1 Mbit/s", size=200, name="bulk")
    with pytest.warns(
        tp.TwinplaneWarning, match="flow 'bulk': the L-LSP 'voice' .* for EF only: its packets"
    ):
        net.run(until="100 ms")


REFUSING = """\
name: few
nodes:
  a: {kind: router, diffserv: {}}
  b: {kind: router, diffserv: {supported: [EF, default]}}
  c: {kind: router}
links:
  - [a, b]
  - [b, c]
lsps:
  - {name: video, from: a, to: c, route: [b, c], diffserv: l-lsp AF1}
  - {name: voice, from: a, to: c, diffserv: l-lsp EF}
"""


def test_nodes_that_will_refuse_an_lsp_are_warned_of_with_its_line() -> None:
    net = lowering.of_source(source.parse(REFUSING, Path("x.yaml"))).network
    unknown = "has no 'diffserv', and refuses its DIFFSERV object as one of an unknown class"
    with pytest.warns(tp.TwinplaneWarning):
        said = net.warnings
    assert said == [
        "x.yaml:10:50: lsp 'video': node 'b' on its way does not support AF11, AF12, AF13"
        " ('supported' of its 'diffserv'), and refuses it",
        f"x.yaml:10:50: lsp 'video': node 'c', where it ends, {unknown}",
        f"x.yaml:11:35: lsp 'voice': node 'c', where it ends, {unknown}",
    ]
    net.run(until="1 s")
    why = [lsp.history["why"][0] for lsp in net.lsps]
    # RFC 3270, 5.3 and 5.4.
    assert why == [
        "error 27, value 4 at b: Diff-Serv error, unsupported PSC",
        "error 13, value 16642 at c: unknown object class, DIFFSERV (C-Type 2)",
    ]


def test_every_code_has_words() -> None:
    # RFC 2205, appendix B; RFC 2750; RFC 3209, 7.3; RFC 3270, 5.5.
    assert error_words(27, 2) == "Diff-Serv error, unsupported PHB"
    assert error_words(24, 8).startswith("routing problem, MPLS being negotiated")
    assert error_words(2, 5) == "policy control failure, flow was preempted"
    assert error_words(24, 99) == "routing problem, value 99"
    assert error_words(99, 3) == "error 99, value 3"
    assert error_words(None, None) == ""
