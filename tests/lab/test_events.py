"""Events on a lab: routers do what the file says, each in its own process, at the time that it says."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
from support.needs import need
from test_cli import command, good
from twinplane.lab import Lab

from .conftest import NetworkFile
from .support import TWO_SITES

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


def test_a_lab_that_is_up_carries_out_events_when_it_is_told_to(
    tmp_path: Path, network_file: NetworkFile
) -> None:
    events = [
        "{at: 0 s, fail: [pe1, p]}",
        "{at: 100 ms, heal: all}",
        "{at: 300 ms, fail: p, for: 200 ms}",
        "{at: 600 ms, loss: {on: [pe1, p], share: 0}}",
    ]
    storm = tmp_path / "storm.yaml"
    storm.write_text("events:\n" + "".join(f"  - {event}\n" for event in events[2:]))
    path = network_file(TWO_SITES + "events:\n" + "".join(f"  - {event}\n" for event in events[:2]))
    name = path.stem
    assert f"events  its 2 events wait: twinplane lab events {name}\n" in good("lab", "up", str(path))
    said = good("lab", "events", name, "--events", str(storm)).splitlines()
    said = [line.split(None, 2)[2] for line in said]
    assert said == ["fail pe1-p", "heal all", "fail p", "fail p is over", "loss pe1-p"]
    done = Lab.attached(name).node("pe1").table("actions")
    assert done["action"].to_list() == ["fail", "heal", "fail", "loss"]
    # Each at its time, or later where the machine is busy.
    assert done["time_s"].is_sorted() and done["time_s"][3] - done["time_s"][0] > 0.1
    quiet = network_file()
    good("lab", "up", str(quiet))
    for words, told in [
        (["nobody"], "lab 'nobody' is not up"),
        ([quiet.stem], f"{quiet}: it has no events: 'events: [{{at: 5 s, fail: [a, b]}}]', or --events\n"),
        ([name, "--until", "soon"], "until 'soon': a number and a unit are needed, such as '10 ms'\n"),
        ([quiet.stem, "--events", str(path)], f"{path}:1:1: events are a list: "),
    ]:
        wrong = command("lab", "events", *words)
        assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1, wrong.stderr
        assert wrong.stderr.startswith(f"twinplane: {told}"), wrong.stderr


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
