"""Events on a lab: routers do what the file says, each in its own process, at the time that it says."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
from support.needs import need
from test_cli import good
from twinplane.lab import Lab

from .conftest import NetworkFile

EXAMPLE = Path(__file__).parents[2] / "examples" / "failover.yaml"

LOST = (30, 400)
"""Packets that the failure may cost: 50 by the clock of the model, more where routers are slow."""


def lost(folder: Path, begin_s: float, end_s: float) -> int:
    """Packets that were lost while a run was between two times, by sent and received of bins."""
    series = pl.read_parquet(folder / "tables" / "flow_accounts.parquet")
    return int((series["sent"] - series["received"]).sum())


def test_a_failover_in_a_lab_loses_what_it_loses_in_virtual_time(tmp_path: Path) -> None:
    need("root")
    text = EXAMPLE.read_text().split("  - {at: 6 s")[0]
    path = tmp_path / "failover.yaml"
    path.write_text(text)
    virtual, real = tmp_path / "virtual", tmp_path / "real"
    good("run", str(path), "--out", str(virtual))
    good("run", str(path), "--lab", "--no-twin", "--out", str(real))
    losses = [lost(folder, 0, 10) for folder in (virtual, real)]
    assert losses[0] > 40 and all(LOST[0] <= one <= LOST[1] for one in losses), losses
    done = [pl.read_parquet(folder / "tables" / "actions.parquet") for folder in (virtual, real)]
    assert done[0]["action"].to_list() == done[1]["action"].to_list() == ["fail", "heal"]
    assert all(abs(a - b) < 0.5 for a, b in zip(done[0]["time_s"], done[1]["time_s"], strict=True))


def test_a_node_fails_with_its_links_at_their_other_ends(tmp_path: Path, network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:

        def wait_for(event: str, times: int) -> None:
            limit = time.monotonic() + 30
            while str(lab.node("pe1").columns("events")).count(f"'{event}'") < times:
                assert time.monotonic() < limit, lab.node("pe1").columns("events")
                time.sleep(0.05)

        good("node", "fault", "fail", "p", "--lab", lab.name)
        wait_for("port-down", 1)
        good("node", "fault", "heal", "p", "--lab", lab.name)
        wait_for("port-up", 1)
        good("node", "fault", "fail", "p", "--for", "1 s", "--lab", lab.name)
        wait_for("port-down", 2)
        wait_for("port-up", 2)
        # Of a restart nobody is told.
        good("node", "fault", "restart", "p", "--lab", lab.name)
        assert lab.node("pe1").table("actions")["action"].to_list() == ["fail", "heal", "heal", "fail"]
    # A node that fails costs the same in virtual time and in a lab: the tester's own links go with it, too.
    text = EXAMPLE.read_text().split("events:")[0]
    text = text.replace("[a, b, {", "[a, b, {detection: 50 ms, ")
    path = tmp_path / "node.yaml"
    path.write_text(text + "events:\n  - {at: 3 s, fail: b, for: 2 s}\n")
    folders = [tmp_path / "virtual", tmp_path / "real"]
    good("run", str(path), "--out", str(folders[0]))
    good("run", str(path), "--lab", "--no-twin", "--out", str(folders[1]))
    losses = [lost(folder, 0, 10) for folder in folders]
    assert losses[0] > 40 and all(LOST[0] <= one <= LOST[1] for one in losses), losses


def test_a_link_fails_at_both_ends_from_either(network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:
        good("node", "fault", "fail", "pe1:p", "--lab", lab.name)
        limit = time.monotonic() + 30
        while not all("port-down" in str(lab.node(name).columns("events")) for name in ("pe1", "p")):
            assert time.monotonic() < limit
            time.sleep(0.05)
        for name in ("pe1", "p"):
            assert lab.node(name).table("actions")["action"].to_list() == ["fail"]
        good("node", "fault", "heal", "p:pe1", "--lab", lab.name)
        while not all("port-up" in str(lab.node(name).columns("events")) for name in ("pe1", "p")):
            assert time.monotonic() < limit
            time.sleep(0.05)
