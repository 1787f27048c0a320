"""tshark, with checksum validation on, reads all kinds of packets made here without a complaint."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from twinplane import _core

pytestmark = pytest.mark.needs("tshark")
"""It is the referee here."""

MS = 1_000_000_000
S = 1_000 * MS
COMPLAINTS = '_ws.malformed || _ws.expert.severity >= "Error"'
LINE_RATE_PACKETS = 100_000

NUMBERS = count()

Steps = Callable[["Scenario"], None]


class Scenario:
    """A ring of four routers, all of whose links are captured."""

    def __init__(
        self, folder: Path, rsvp: dict[str, Any], *, mtu: int = 9216, packets: int | None = None
    ) -> None:
        self.folder = folder
        rsvp = dict(rsvp)
        diffserv = rsvp.pop("diffserv", None)
        router = {"kind": "router", "rsvp": {"refresh": "100 ms", **rsvp}}
        if diffserv:
            router["diffserv"] = diffserv
        links: list[dict[str, Any]] = [
            {"endpoints": [f"r{a}", f"r{b}"], "rate": "1 Gbit/s", "delay": "100 us", "mtu": 9216}
            for a, b in [(0, 1), (1, 2), (2, 3), (3, 0)]
        ]
        links[1]["mtu"] = mtu
        nodes = {f"r{i}": router for i in range(4)}
        self.network = _core.Network({"name": "ring", "seed": 11, "nodes": nodes, "links": links})
        self.names: list[str] = []
        self.files = [folder / f"link{i}.pcapng" for i in range(len(links))]
        self.captures = [self.network.capture(i, str(file), packets) for i, file in enumerate(self.files)]

    def lsp(self, **spec: Any) -> int:
        default = {
            "name": f"t{next(NUMBERS)}",
            "from": "r0",
            "to": "r2",
            "route": ["r1", "r2"],
            "fallback": ["r3", "r2"],
            "record_route": False,
            "record_labels": True,
            "retry_first": "50 ms",
        }
        self.names.append(spec.get("name", default["name"]))
        return self.network.add_lsp({**default, **spec})

    def flow(self, lsps: int, **spec: Any) -> int:
        default = {"from": "r0", "to": "r2", "over": self.names[lsps], "rate": 10**6, "size": 300}
        return self.network.add_flow({**default, **spec})

    def run(self, ms: float) -> None:
        self.network.run_until(self.network.now_ps() + round(ms * MS))

    def fault(self, link: int, kind: str, ms: int, **spec: Any) -> None:
        now = self.network.now_ps()
        index = json.loads(self.network.link_info(link))["link"]
        self.network.fault(
            json.dumps({"at": now, "until": now + ms * MS, "fault": kind, "link": index, **spec})
        )

    def finish(self) -> list[Path]:
        for capture in self.captures:
            self.network.capture_finish(capture)
        return self.files


def tear_and_fail(scenario: Scenario) -> None:
    """Set up, refresh, move, break, repair, lose, tear down."""
    group = scenario.lsp(count=3, bandwidth=100_000_000)
    scenario.flow(group)
    scenario.run(500)
    scenario.network.lsp_command(group, "reoptimise", None)
    scenario.run(200)
    scenario.network.fail_link(1)
    scenario.run(200)
    scenario.network.repair_link(1)
    scenario.fault(3, "loss", 300, probability=0.3)
    scenario.fault(2, "duplication", 300, probability=0.3)
    scenario.run(1_500)
    scenario.network.lsp_command(group, "tear", None)
    scenario.run(500)


def errors_and_preemption(scenario: Scenario) -> None:
    """Too much bandwidth, a stronger LSP, a style that shares nothing, a hop that is no neighbour."""
    scenario.lsp(name="weak", bandwidth=700_000_000, record_route=True)
    scenario.run(100)
    scenario.lsp(name="greedy", bandwidth=2_000_000_000, retry_limit=2)
    scenario.lsp(
        name="strong", bandwidth=600_000_000, setup_priority=2, holding_priority=1, style="fixed-filter"
    )
    scenario.lsp(name="loose", route=["r3", "r1", "r2"], fallback=[], loose=True)
    scenario.run(1_000)


def restart(scenario: Scenario) -> None:
    """A router loses all it knows; its neighbours notice."""
    scenario.flow(scenario.lsp(count=5))
    scenario.run(300)
    now = scenario.network.now_ps()
    scenario.network.fault(json.dumps({"at": now, "fault": "node-restart", "node": 1, "down_for": 150 * MS}))
    scenario.run(1_500)


def traceroute(scenario: Scenario) -> None:
    """Time exceeded with the label stack; fragmentation needed."""
    group = scenario.lsp(fallback=[])
    scenario.run(100)
    for node in (1, 2, 3):
        address = json.loads(scenario.network.node_info(node))["loopback"]
        for ttl in (1, 2, 3):
            scenario.network.ping(0, address, ttl, ttl)
    table = scenario.network.table("ftn", 0).columns()
    for ttl in (1, 2, 3):
        scenario.network.ping(0, table["prefix"][0].split("/")[0], ttl, ttl)
    scenario.flow(group, size=1500)
    scenario.run(300)


def behaviours(scenario: Scenario) -> None:
    """DIFFSERV objects of each kind, moved, broken, preempted, after a restart."""
    kinds: list[dict[str, Any]] = [
        {"kind": "l-lsp", "class": "AF11"},
        {"kind": "e-lsp", "map": ["default", "EF", "AF11", "AF12", "AF13", "CS1", "CS2", "CS3"]},
        {"kind": "e-lsp", "signal": True, "model": "uniform"},
    ]
    for number, kind in enumerate(kinds):
        scenario.lsp(name=f"lsp{number}", bandwidth=200_000_000, diffserv=kind)
    scenario.run(200)
    scenario.lsp(
        name="strong",
        bandwidth=700_000_000,
        setup_priority=2,
        holding_priority=2,
        diffserv={"kind": "l-lsp", "class": "EF"},
    )
    scenario.run(300)
    scenario.network.lsp_command(0, "reoptimise", None)
    scenario.network.fail_link(1)
    scenario.run(200)
    scenario.network.repair_link(1)
    restart(scenario)


PLAIN: dict[str, Any] = {}
KNOWING = {"diffserv": {"model": "short-pipe"}, "egress_label": "explicit-null"}
REDUCED = {"refresh_reduction": True, "hello": "50 ms"}
SIGNED = {"key": "a shared secret", "refresh_reduction": True, "hello": "50 ms"}

SCENARIOS: dict[str, tuple[Steps, dict[str, Any], int]] = {
    "plain": (tear_and_fail, PLAIN, 9216),
    "reduced": (tear_and_fail, REDUCED, 9216),
    "signed": (tear_and_fail, SIGNED, 9216),
    "implicit-null": (tear_and_fail, {"egress_label": "implicit-null"}, 9216),
    "explicit-null": (tear_and_fail, {"egress_label": "explicit-null", "ttl": "pipe"}, 9216),
    "errors": (errors_and_preemption, PLAIN, 9216),
    "errors-reduced": (errors_and_preemption, REDUCED, 9216),
    "restart-hello": (restart, REDUCED, 9216),
    "restart-signed": (restart, SIGNED, 9216),
    "behaviours": (behaviours, KNOWING, 9216),
    "behaviours-signed": (behaviours, {**KNOWING, **SIGNED}, 9216),
    "traceroute": (traceroute, PLAIN, 600),
    "traceroute-pipe": (traceroute, {"ttl": "pipe"}, 600),
}


def tshark(file: Path, *words: str) -> list[str]:
    """The lines that tshark prints about a file."""
    options = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    command = ["tshark", "-r", str(file), *options, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout.splitlines()


def complaints(file: Path) -> list[str]:
    fields = [
        "-T",
        "fields",
        *(word for name in ("frame.number", "_ws.expert.message", "_ws.col.Info") for word in ("-e", name)),
    ]
    return tshark(file, "-Y", COMPLAINTS, *fields)


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The packets of all links of a scenario in one file: tshark takes longer to start than to read it."""

    @cache
    def of(name: str) -> Path:
        folder = tmp_path_factory.mktemp("captured")
        steps, rsvp, mtu = SCENARIOS[name]
        scenario = Scenario(folder, rsvp, mtu=mtu)
        steps(scenario)
        merged = folder / "all.pcapng"
        subprocess.run(["mergecap", "-w", str(merged), *map(str, scenario.finish())], timeout=300, check=True)
        return merged

    return of


@pytest.mark.parametrize("name", SCENARIOS)
def test_tshark_has_no_complaint(name: str, captured: Callable[[str], Path]) -> None:
    assert complaints(captured(name)) == []
    assert len(list(_core.CaptureFile(str(captured(name))))) > 30


def test_the_scenarios_show_what_there_is(captured: Callable[[str], Path]) -> None:
    """Else a clean bill says little: most messages of RSVP are there, and ICMP with labels."""
    names = ["rsvp.msg", "icmp.type", "icmp.mpls.label", "mpls.label"]
    fields = ["-T", "fields", "-E", "occurrence=f", *(word for name in names for word in ("-e", name))]
    messages: set[int] = set()
    labels = (False, False)
    for name in ["plain", "errors", "restart-signed", "reduced", "traceroute"]:
        for line in tshark(captured(name), "-Y", "rsvp || icmp || mpls", *fields):
            rsvp, icmp, quoted, label = line.split("\t")
            messages.update([int(rsvp)] if rsvp else [])
            labels = (labels[0] or bool(label), labels[1] or (icmp == "11" and bool(quoted)))
    # Path, Resv, PathErr, ResvErr, PathTear, ResvTear, Bundle, Ack, Srefresh, Hello.
    assert messages >= {1, 2, 3, 4, 5, 6, 12, 13, 15, 20}, sorted(messages)
    assert labels == (True, True)


def test_line_rate_is_read_too(tmp_path: Path) -> None:
    """The first 100,000 packets of a gigabit of the shortest labelled frames."""
    scenario = Scenario(tmp_path, PLAIN, packets=LINE_RATE_PACKETS)
    # 84 bytes of wire for each frame of 64 at the source, which grows by a label of four.
    scenario.flow(scenario.lsp(count=8), size=64, rate=10**9 * 64 // 88, start="20 ms")
    scenario.run(120)
    first = scenario.finish()[0]
    assert len(list(_core.CaptureFile(str(first)))) == LINE_RATE_PACKETS
    assert complaints(first) == []


def test_tshark_would_complain(tmp_path: Path) -> None:
    """A single wrong byte in an IP header is found: the check bites."""
    scenario = Scenario(tmp_path, PLAIN)
    scenario.lsp()
    scenario.run(50)
    file = scenario.finish()[0]
    whole = file.read_bytes()
    place = whole.index(b"\x08\x00\x46\x00" if b"\x08\x00\x46\x00" in whole else b"\x08\x00\x46\xc0")
    broken = bytearray(whole)
    broken[place + 10] ^= 0x01  # TTL
    file.write_bytes(broken)
    assert complaints(file)
