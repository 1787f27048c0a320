"""What queues and rules counted, in tables and in the report."""

from pathlib import Path

import pytest
import twinplane as tp
from twinplane.reports.queues import drawn, layout

from tests.support.queues import htb, loaded


def test_queues_and_rules_count_what_they_did() -> None:
    net, link = loaded()
    net.run(until="3 s")
    table = {row["path"]: row for row in net.queues().iter_rows(named=True)}
    assert list(table) == ["root", "root/voice", "root/rest"]
    assert table["root"]["node"] == "a" and table["root"]["neighbor"] == "b"
    assert table["root/voice"]["dropped_packets"] == 0 < table["root/rest"]["dropped_packets"]
    for row in table.values():
        assert row["given_packets"] == row["sent_packets"] + row["dropped_packets"] + row["backlog_packets"]
    lost = net.queues().explode("drops").unnest("drops").drop_nulls("reason")
    assert lost.select("path", "reason", "packets").rows() == [
        (path, "buffer-full", table["root/rest"]["dropped_packets"]) for path in ("root", "root/rest")
    ]
    assert link.queues().height == net.queues("a").height == 3 and net.queues("b").height == 0
    rules = {row["colour"]: row["packets"] for row in net.conditioners("a").iter_rows(named=True)}
    voice = net.flows[0].stats().row(0, named=True)
    assert rules["green"] + rules["red"] == voice["sent"] and rules["red"] == voice["lost"] > 0
    packets = net.flows[0].packets()
    assert packets.height == voice["sent"] and packets["arrival_s"].null_count() == voice["lost"]
    with pytest.raises(tp.TwinplaneError, match="flow 'rest': its packets were not kept"):
        net.flows[1].packets()
    series = net.queue_series()
    assert series["max_bytes"].max() == table["root"]["backlog_bytes_max"]


def test_the_report_shows_trees(tmp_path: Path) -> None:
    net, _ = loaded()
    net.run(until="3 s")
    text = tp.report(net, tmp_path / "net.html").read_text()
    assert "├─\u00a0voice" in text and "└─\u00a0rest" in text
    assert "Backlog of a towards b over time" in text and "Meters and markers" in text
    assert "buffer-full" in text and "by Little" in text


def test_trees_are_drawn_by_parents() -> None:
    described = htb().described()
    found = dict(layout(described, "root"))
    assert [shown for shown, _ in found.values()] == [
        "root",
        "root/all",
        "root/all/gold",
        "root/all/rest",
    ]
    assert found["root/gold"][1] == "1 Mbit/s, up to 4 Mbit/s, limit 10 kB"
    assert drawn([shown for shown, _ in found.values()]) == [
        "root",
        "└─\u00a0all",
        "\u00a0\u00a0\u00a0├─\u00a0gold",
        "\u00a0\u00a0\u00a0└─\u00a0rest",
    ]
