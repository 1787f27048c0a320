"""What `lab status` says of a lab that is not as its file says, and how soon a restarted router is back."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.lab import Lab

from .conftest import NetworkFile
from .support import command, good, refused

SQUARE = """\
name: {name}
nodes:
  a: {kind: router, rsvp: {refresh: 1 s}}
  b: {kind: router, rsvp: {refresh: 1 s}}
  c: {kind: router, rsvp: {refresh: 1 s}}
  d: {kind: router, rsvp: {refresh: 1 s}}
links:
  - [a, b]
  - [b, d]
  - [a, c]
  - [c, d]
lsps:
  - {name: north, from: a, to: d, route: [b, d], fallback: [c, d]}
  - {name: pair, from: d, to: a, route: [b, a], count: 2}
  - {name: later, from: d, to: a, route: [c, a], signal: false}
"""


def until(what: Callable[[], bool]) -> bool:
    """Whether it becomes true in a minute, which is enough for any machine."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if what():
            return True
        time.sleep(0.1)
    return what()


def status(name: str) -> tuple[int, dict[str, Any]]:
    done = command("lab", "status", name, "--json")
    return done.returncode, json.loads(done.stdout)


def test_a_lab_is_degraded_by_what_is_not_as_the_file_says(network_file: NetworkFile) -> None:
    with Lab(network_file(SQUARE)) as lab:
        assert status(lab.name)[0] == 0
        code, found = status(lab.name)
        assert (code, found["phase"], found["problems"]) == (0, "up", [])
        good("node", "lsp", "tear", "pair", "d", "--lab", lab.name)
        tears = "is torn down: `twinplane node lsp signal pair d`"
        torn = [f"lsp pair-{number} from d to a {tears}" for number in (1, 2)]
        assert until(lambda: status(lab.name)[1]["problems"] == torn), status(lab.name)
        good("node", "lsp", "signal", "pair", "d", "--lab", lab.name)
        assert "degraded" not in good("lab", "status", lab.name, "--wait", "60")
        assert "of which lab?" in refused("lab", "status", "--wait", "1")
        assert until(lambda: status(lab.name)[0] == 0)

        lab.kill("b")
        code, found = status(lab.name)
        assert (code, found["phase"]) == (1, "degraded")
        assert found["problems"][0] == "router b is dead: `twinplane lab restart b`"
        done = command("lab", "status")
        # 2 if a lab of another test can't be read.
        assert done.returncode in (1, 2) and f"{lab.name}: router b is dead" in done.stdout
        assert "router b is dead" in command("lab", "status", lab.name).stdout
        # Without refreshes of b its neighbours give up what went through it, and north takes its other route.
        fallback = "lsp north from a to d takes its fallback route 1, not the preferred one"
        assert until(lambda: fallback in status(lab.name)[1]["problems"])
        assert until(lambda: "lsp pair-2 from d to a is down" in status(lab.name)[1]["problems"])
    assert command("lab", "status", lab.name).returncode == 2


def test_a_router_restarted_at_once_is_missed_by_its_neighbours(network_file: NetworkFile) -> None:
    """Before the second Hello of any neighbour, too: what was signalled through it is signalled again."""
    with Lab(network_file()) as lab:

        def heard(node: str) -> bool:
            return lab.node(node).table("rsvp_transport")["hellos_received"][0] > 0

        for node in ("pe1", "pe2"):
            assert until(lambda node=node: heard(node)), node  # type: ignore[misc]
        lab.restart("p")

        def noticed(node: str) -> bool:
            rows = map(json.loads, lab.node(node).table("events")["event"])
            return any(row["event"] == "neighbor-down" and row["restarted"] for row in rows)

        for node in ("pe1", "pe2"):
            assert until(lambda node=node: noticed(node)), node  # type: ignore[misc]
        assert until(lambda: status(lab.name)[0] == 0)


@pytest.mark.parametrize("seed", range(20))
def test_a_restart_soon_after_the_start_costs_less_than_two_seconds(seed: int) -> None:
    """With the Hellos of a lab, in virtual time; the restart comes between the first Hello and the second."""
    net = tp.Network(seed=seed)
    pe1, p, pe2 = (net.router(name, hello_interval="9 s") for name in ("pe1", "p", "pe2"))
    net.link(pe1, p, delay="1 ms")
    net.link(p, pe2, delay="1 ms")
    lsps = [pe1.lsp("east", to=pe2, route=[p, pe2]), pe2.lsp("west", to=pe1, route=[p, pe1])]
    net.run(until=1.5 + seed / 10)
    assert all(lsp.up for lsp in lsps)
    net.restart(p, "0.1 s")
    net.run(until=net.now + 2.1)
    assert all(lsp.up for lsp in lsps)
    assert [lsp.history["event"].to_list().count("up") for lsp in lsps] == [2, 2]


def test_a_capture_says_that_it_waits(network_file: NetworkFile, tmp_path: Path) -> None:
    with Lab(network_file()) as lab:
        words = ("lab", "capture", "left:pe1", "--lab", lab.name, "-o", tmp_path / "x.pcapng")
        done = command(*words, "--packets", "100", "--seconds", "3")
        assert done.returncode == 0
        first, *rest = done.stderr.splitlines()
        assert first == "capturing left:e0 - pe1:e0 until 100 packets or 3 s, or Ctrl-C"
        # The kernel of the host may have sent a packet of its own.
        assert rest in ([], ["no packet yet of left:e0 - pe1:e0: it waits"])
        assert command(*words, "--seconds", "0.1", "--json").stderr == ""
        words = ("node", "capture", "0", tmp_path / "y.pcapng", "pe1", "--lab", lab.name, "--for", "100 ms")
        done = command(*words)
        assert done.returncode == 0
        assert done.stderr == "capturing link 0 until 0.1 s, or Ctrl-C\n"
    assert not subprocess.run(["ip", "netns", "pids", f"tp-{lab.name}-pe1"], capture_output=True).stdout
