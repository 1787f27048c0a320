"""LSP ping and traceroute (RFC 8029) in words of users: sound tables, those that lie, and tshark."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError

COMPLAINTS = 'udp.port == 3503 && (_ws.malformed || _ws.expert.severity >= "Error")'


def row_of_routers(**settings: Any) -> tp.Network:
    """Four routers in a row with OSPF and LDP, and two LSPs of RSVP-TE from the first to the last."""
    net = tp.Network(seed=3)
    for name in "abcd":
        net.router(name, **{"ospf": True, "ldp": True, **settings})
    for ends in ("ab", "bc", "cd"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms", reservable="1 Gbit/s")
    for name in ("gold", "other"):
        net.node("a").lsp(name, to="d", bandwidth="1 Mbit/s")
    return net


def labels(net: tp.Network, node: str, lsp: str) -> tuple[int, int]:
    (row,) = [row for row in net.node(node).lsps().to_dicts() if row["name"] == lsp]
    return row["in_label"], row["out_label"]


def test_lsps_are_tested_from_end_to_end_and_hop_by_hop() -> None:
    net = row_of_routers()
    net.run(until="60 s")
    a = net.node("a")
    before = net.now
    pings = a.lsp_ping(net.lsps[0], count=3, interval="10 ms")
    assert pings["code"].to_list() == [3, 3, 3]
    assert all(0.006 < delay < 0.007 for delay in pings["delay_s"])
    assert net.now - before < 1, "it runs until all have answered"
    trace = a.lsp_traceroute("gold")
    assert trace["hop"].to_list() == [1, 2, 3]
    assert trace["meaning"].to_list() == ["label switched", "label switched", "egress for the FEC"]
    assert trace["downstream_labels"].to_list()[0] == [str(labels(net, "b", "gold")[1])]
    # LDP, by node, address and prefix; the last router but one takes the label off.
    loopback = net.node("d").loopback
    for to in ("d", net.node("d"), loopback, f"{loopback}/32"):
        assert a.lsp_ping(to)["code"].to_list() == [3]
    assert a.lsp_traceroute("d")["downstream_labels"].to_list()[1] == ["3"]
    counted = net.table("lsp_ping_counters")
    assert set(counted["what"]) == {"label switched", "egress for the FEC"}


def test_a_table_that_lies_is_found_where_it_is() -> None:
    net = row_of_routers()
    net.run(until="60 s")
    net.node("b").break_label(labels(net, "b", "gold")[0], labels(net, "b", "other")[1])
    net.run(for_="10 s")
    assert net.node("a").tunnels()["active"].null_count() == 0, "the control plane sees nothing"
    assert net.node("a").lsp_ping("gold")["code"].to_list() == [10]
    trace = net.node("a").lsp_traceroute("gold")
    assert trace["from"].to_list() == [net.node("b").loopback, net.node("c").loopback]
    assert trace["code"].to_list() == [8, 10]
    assert trace["meaning"][1] == "mapping for the FEC is not the given label"


def test_what_is_wrong_is_said_in_a_sentence() -> None:
    net = row_of_routers()
    net.run(until="1 s")
    a, b = net.node("a"), net.node("b")
    for call, words in (
        (lambda: a.lsp_ping("silver"), "neither a node nor an LSP has that name"),
        (lambda: b.lsp_ping("gold"), "lsp 'gold' begins at 'a', not at 'b'"),
        (lambda: a.lsp_ping("gold", index=1), "index=1 of 1"),
        (lambda: a.lsp_ping("gold", protocol="rspv"), "rspv"),
        (lambda: a.lsp_ping("gold", count=0), "count"),
        (lambda: a.lsp_ping("gold", destination="10.0.0.1"), "an address of 127.0.0.0/8 or ::ffff:127"),
        (lambda: a.lsp_ping("gold", destination="::1"), "an address of 127.0.0.0/8 or ::ffff:127"),
        (lambda: a.lsp_ping("gold", destination="x"), "an IPv4 or IPv6 address such as"),
        (lambda: b.break_label(77), "'b' has no entry for label 77"),
    ):
        with pytest.raises(TwinplaneError, match=words):
            call()


@pytest.mark.needs("tshark")
def test_nothing_malformed_is_sent(tmp_path: Path) -> None:
    net = row_of_routers(ldp={"p2mp": True})
    net.node("a").p2mp("one", ["c", "d"])
    net.node("a").p2mp("two", ["c", "d"], protocol="ldp")
    taps = [net.capture(*ends) for ends in ("ab", "bc", "cd")]
    net.run(until="60 s")
    a = net.node("a")
    a.lsp_ping("gold", size=400, tos=0xB8)
    a.lsp_traceroute("gold")
    a.lsp_traceroute("d")
    a.lsp_ping("d", reply="router-alert")
    gold, other = labels(net, "b", "gold"), labels(net, "b", "other")
    net.node("b").break_label(gold[0], other[1])
    a.lsp_traceroute("gold")
    for tree in ("one", "two"):
        assert a.lsp_ping(tree, jitter="10 ms").filter(code=3)["end"].n_unique() == 2
        a.lsp_traceroute(tree)
    a.lsp_ping("one", leaf="d")
    a.lsp_ping("two", router="c")
    kinds: dict[str, int] = {}
    for number, tap in enumerate(taps):
        file = tmp_path / f"{number}.pcapng"
        tap.save(file)
        said = _tshark(file, "-Y", COMPLAINTS)
        assert said == "", said
        fields = ("msg_type", "return_code", "tlv.type")
        asked = [word for field in fields for word in ("-e", f"mpls_echo.{field}")]
        for line in _tshark(file, "-Y", "udp.port == 3503", "-T", "fields", *asked).splitlines():
            kind, code, _ = line.split("\t")
            kinds[f"{kind}/{code}"] = kinds.get(f"{kind}/{code}", 0) + 1
    assert {"1/0", "2/3", "2/8", "2/10"} <= set(kinds), json.dumps(kinds)


def _tshark(file: Path, *words: str) -> str:
    command = [
        "tshark",
        "-r",
        str(file),
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
        *words,
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_an_lsp_that_is_watched_leaves_a_table_that_lies() -> None:
    net = tp.Network(seed=3)
    for name in "abcd":
        net.router(name)
    for ends in ("ab", "bd", "ac", "cd"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    watched = {"interval": "100 ms", "misses": 2}
    net.node("a").lsp("east", to="d", route=["b", "d"], fallback=["c", "d"], lsp_ping=watched)
    net.run(until="5 s")
    assert net.table("lsp_verifications")["standing"].to_list() == ["sound"]
    net.node("b").break_label(labels(net, "b", "east")[0])
    net.run(for_="2 s")
    told = [one["why"] for one in net.events(event="lsp-ping-down").to_dicts()]
    assert told == ["no reply"]
    assert labels(net, "c", "east")
    with pytest.raises(TwinplaneError, match="'lsp_ping' and 'bfd' are both there"):
        net.node("a").lsp("both", to="d", lsp_ping=True, bfd=True)
