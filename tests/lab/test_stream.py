"""A stream of RTP between two GStreamers over LSPs and trees: its player counts the losses that we count."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, processes
from twinplane.model import generated

from .conftest import NetworkFile

PLAYER = Path(__file__).with_name("player.py")
PORT = 5004
EACH_MS = 2
"""Of sound in a packet."""
CUTS = 2
LINK = "{rate: 100 Mbit/s, delay: 1 ms, detection: 20 ms}"

HEAD = f"""\
name: {{name}}
nodes:
  sender: {{kind: host, address: 10.1.0.2/24}}
  one:    {{kind: host, address: 10.2.0.2/24}}
  a: {{kind: router, igmp: true}}
  b: {{kind: router, rsvp: {{reversion: 200 ms}}}}
  c: {{kind: router}}
  d: {{kind: router, igmp: true}}
  m: {{kind: router}}
  e: {{kind: router, igmp: true}}
  two:    {{kind: host, address: 10.3.0.2/24}}
links:
  - [sender, a]
  - [a, b, {LINK}]
  - [b, c, {LINK}]
  - [b, m, {LINK}]
  - [m, c, {LINK}]
  - [c, d, {LINK}]
  - [d, one]
  - [c, e, {LINK}]
  - [e, two]
lsps:
  - {{name: around, from: b, to: c, route: [m, c], bypass: c}}
"""
BETWEEN, TO_D = 2, 5
"""Links `b` - `c`, which is cut, and `c` - `d`, by their places in the file."""
GROUP = "239.1.1.1"


LSP = "  - {name: stream, from: a, to: d, route: [b, c, d], protection: {}, carries: 10.2.0.0/24}\n"
TREE = f"""\
p2mp:
  - {{name: tree, root: a, leaves: [d, e], routes: {{d: [b, c, d], e: [b, c, e]}}, group: {GROUP}}}
"""


@dataclass(frozen=True)
class Way:
    """How the stream goes."""

    text: str
    to: str
    """Address that it is sent to."""
    players: tuple[str, ...]


WAYS = {
    "lsp": Way(HEAD + LSP, "10.2.0.2", ("one",)),
    "tree": Way(HEAD + TREE.replace("group:", "protection: {}, group:"), GROUP, ("one", "two")),
}
"""Both are protected."""
UNPROTECTED = Way(HEAD + TREE, GROUP, ("one", "two"))

FORMAT = "audio/x-raw,format=S16BE,rate=48000,channels=1"


def send(lab: Lab, to: str) -> subprocess.Popen[str]:
    """A tone without end in short packets, which GStreamer sends by the clock."""
    samples, length_ns = 48 * EACH_MS, EACH_MS * 1_000_000
    source = f"audiotestsrc is-live=true samplesperbuffer={samples} ! {FORMAT}"
    packets = f"rtpL16pay min-ptime={length_ns} max-ptime={length_ns}"
    sink = f"udpsink host={to} port={PORT} multicast-iface=e0 ttl-mc=9"
    return lab.start("sender", "gst-launch-1.0", "-q", *f"{source} ! {packets} ! {sink}".split())


def play(lab: Lab, host: str, to: str) -> subprocess.Popen[str]:
    group = [to] if to == GROUP else []
    player = lab.start(host, sys.executable, str(PLAYER), str(PORT), *group, stdout=subprocess.PIPE)
    assert player.stdout is not None and player.stdout.readline() == "ready\n"
    return player


def await_bypass(lab: Lab, *, used: bool) -> None:
    """Wait until what `b` protects has a backup, and goes through it or not."""

    def row() -> dict[str, int]:
        found: dict[str, int] = lab.node("b").table("bypasses").row(0, named=True)
        return found

    def is_so() -> bool:
        now = row()
        return now["lsps"] > 0 and (now["diverted"] > 0) == used

    assert processes.wait_until(is_so, 20, 0.01), row()


def cut(lab: Lab, fault: str) -> None:
    for end in ("b", "c"):
        lab.node(end).ask("fault", {"fault": fault, "link": BETWEEN})


def lost_on_links(lab: Lab) -> dict[tuple[str, str], int]:
    """Packets that each router's ports refused or that were lost behind them, as the routers have counted."""
    routers = [name for name, node in lab.state.nodes.items() if node.kind == "router"]
    rows = [
        row for name in routers for row in lab.node(name).table("ports").to_dicts() if row["from"] == name
    ]
    return {(row["from"], row["to"]): row["dropped"] for row in rows if row["dropped"]}


def heard(player: subprocess.Popen[str]) -> int:
    """How many packets a player has lost. It played the others, each once and in time."""
    found: dict[str, int] = json.loads(player.communicate(timeout=30)[0])
    assert found["num-pushed"] > 100 and (found["num-late"], found["num-duplicates"]) == (0, 0), found
    return found["num-lost"]


def end(sender: subprocess.Popen[str]) -> None:
    """End a stream, a moment after what happened last."""
    time.sleep(0.3)
    sender.terminate()
    sender.wait(timeout=20)


def await_members(lab: Lab) -> None:
    joined = lambda: all(len(lab.node(leaf).table("groups")) for leaf in ("d", "e"))  # noqa: E731
    up = lambda: lab.node("a").table("s2ls")["state"].to_list() == ["up", "up"]  # noqa: E731
    assert processes.wait_until(lambda: joined() and up(), 20, 0.05)


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.filterwarnings("ignore:.*no second way leads it around")
def test_a_player_loses_what_is_lost_until_a_cut_link_is_seen(network_file: NetworkFile, kind: str) -> None:
    """The link is cut twice and mended: what was not played was lost there, as many as the router says."""
    need("labs", "gst-launch-1.0")
    if kind == "tree" and "protection" not in {one.name for one in fields(generated.P2mpSpec)}:
        pytest.skip("trees are not protected yet")
    way = WAYS[kind]
    with Lab(network_file(way.text)) as lab:
        players = [play(lab, host, way.to) for host in way.players]
        if kind == "tree":
            await_members(lab)
        await_bypass(lab, used=False)
        sender = send(lab, way.to)
        for _ in range(CUTS):
            time.sleep(0.4)
            cut(lab, "link-down")
            await_bypass(lab, used=True)
            time.sleep(0.2)
            cut(lab, "link-heal")
            await_bypass(lab, used=False)
        end(sender)
        found = [heard(player) for player in players]
        lost = lost_on_links(lab)
    # Each cut costs what comes until it is seen, 20 ms: some ten packets.
    assert lost.keys() == {("b", "c")}, lost
    assert found == [lost["b", "c"]] * len(players)


def test_players_of_a_tree_lose_what_their_branches_lose(network_file: NetworkFile) -> None:
    """Nothing protects it: one packet of 20 is lost before the branches part, and as many behind, on one."""
    need("labs", "gst-launch-1.0")
    with Lab(network_file(UNPROTECTED.text)) as lab:
        players = [play(lab, host, UNPROTECTED.to) for host in UNPROTECTED.players]
        await_members(lab)
        sender = send(lab, UNPROTECTED.to)
        time.sleep(0.3)
        for router, link in (("b", BETWEEN), ("c", TO_D)):
            lossy = {"fault": "loss", "link": link, "probability": 0.05, "direction": "forth", "for_s": 1.5}
            lab.node(router).ask("fault", lossy)
        time.sleep(1.7)
        end(sender)
        one, two = map(heard, players)
        lost = lost_on_links(lab)
    assert lost.keys() == {("b", "c"), ("c", "d")}, lost
    assert (one, two) == (lost["b", "c"] + lost["c", "d"], lost["b", "c"])
