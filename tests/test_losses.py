"""Lost packets by flow, place, reason and time: `Network.losses`, the report, and what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import twinplane as tp
from test_cli import good
from twinplane.errors import TwinplaneError
from twinplane.network import Network
from twinplane.network.handles import Flow

FILE = """\
name: lossy
nodes:
  a: {kind: router}
  b: {kind: router}
links:
  - {endpoints: ["a:e0", "b:e0"], rate: 10 Mbit/s, buffer: 10 kB}
flows:
  - {name: much, from: a, to: b, rate: 20 Mbit/s, size: 500}
"""


def lossy() -> tuple[Network, Flow]:
    """Two routers, and a flow that loses in front of the link and on it."""
    net = Network(seed=3, loss_bin="500 ms")
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate="10 Mbit/s", buffer="10 kB")
    flow = net.flow(a, b, name="much", rate="12 Mbit/s", size=500, dscp="EF", stop="1 s")
    net.run(until="600 ms")
    net.fault(a, b, loss=0.5, until="800 ms")
    net.run(until="2 s")
    return net, flow


def test_a_loss_is_told_by_place_reason_and_time() -> None:
    net, flow = lossy()
    found = flow.losses()
    assert found.equals(net.losses())
    assert set(zip(found["place"], found["reason"], strict=True)) == {
        ("port", "buffer-full"),
        ("link", "link-loss"),
    }
    on_link = found.filter(pl.col("place") == "link")
    assert on_link.select("node", "to", "phb", "time_s").rows() == [("a", "b", "EF", 0.5)]
    assert found.filter(pl.col("place") == "port")["time_s"].to_list() == [0.0, 0.5]


def test_the_account_of_a_flow_closes() -> None:
    net, flow = lossy()
    (row,) = net.table("flow_accounts").to_dicts()
    assert row["unknown"] == 0 and row["duplicated"] == 0 and row["in_flight"] == 0
    assert row["lost"] == flow.losses()["packets"].sum() == flow.stats()["lost"].sum() > 0
    assert row["sent"] == row["received"] + row["lost"]


def test_the_report_shows_where_packets_were_lost(tmp_path: Path) -> None:
    net, _ = lossy()
    page = tp.report(net, tmp_path / "page.html").read_text()
    assert "Where packets were lost, and why" in page
    assert "link a - b" in page and "port of a" in page and "buffer-full" in page


def test_a_run_prints_and_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "lossy.yaml"
    file.write_text(FILE)
    out = tmp_path / "out"
    told = good("run", str(file), "--duration", "200 ms", "--out", str(out), cwd=tmp_path)
    assert all(words in told for words in ("lost packets", "port of a", "buffer-full"))
    (kept,) = out.rglob("losses.parquet")
    losses = pl.read_parquet(kept)
    assert set(losses["flow"]) == {"much"} and losses["packets"].sum() > 0


def test_a_bin_has_a_width() -> None:
    with pytest.raises(TwinplaneError, match="loss_bin"):
        Network(loss_bin="0 s")
