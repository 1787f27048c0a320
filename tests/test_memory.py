"""Networks that do not fit into memory are refused before they are built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.network import memory


def ring(count: int) -> tp.Network:
    """Routers in a ring, with a flow from each to the next and an LSP half way round."""
    net = tp.Network()
    routers = [net.router(f"r{place}") for place in range(count)]
    for place, router in enumerate(routers):
        following = routers[(place + 1) % count]
        net.link(router, following)
        net.flow(router, following, rate="1 Mbit/s", size=500)
    route = routers[1 : count // 2 + 1]
    routers[0].lsp("half", route[-1], route=route)  # type: ignore[attr-defined]
    return net


def test_what_a_network_needs_is_the_sum_of_its_parts() -> None:
    """Nodes, links, flows, and LSPs with the links of their routes."""
    found = memory.need(ring(10).draft)
    assert (found.nodes, found.routers, found.links, found.flows) == (10, 10, 10, 10)
    assert (found.lsps, found.hops, found.recorded, found.records) == (1, 5, 5, 25)
    lsps = memory.LSP + 5 * (memory.HOP + memory.RECORDED) + 25 * memory.RECORD
    assert found.bytes == 10 * (memory.NODE + memory.LINK + memory.FLOW) + lsps


MEASURED = """
import sys
from tests.test_memory import LARGE
from twinplane.network import memory
from twinplane.network.trying import resident

small, large = (LARGE[sys.argv[1]](share) for share in (0.002, 1.0))
small.run(until="2 s")
before = resident("VmHWM")
expected = memory.need(large.draft).bytes
large.run(until="2 s")
print(expected / (resident("VmHWM") - before))
"""


def many_flows(share: float) -> tp.Network:
    """A ring, flows between neighbours, and hosts."""
    net = tp.Network(seed=1)
    routers = [net.router(f"r{place}") for place in range(max(int(800 * share), 3))]
    for place, router in enumerate(routers):
        net.link(router, routers[(place + 1) % len(routers)])
        net.link(net.host(f"h{place}", f"10.{place // 250}.{place % 250}.2/24"), router)
    for place in range(int(8_000 * share)):
        a, b = (routers[(place + ahead) % len(routers)] for ahead in (0, 1))
        net.flow(a, b, name=f"f{place}", rate="1 Mbit/s", size=128, start=0.1, stop=0.1022)
    return net


def many_lsps(share: float, recorded: bool = False) -> tp.Network:
    """LSPs of twelve links in a ring."""
    net = tp.Network(seed=1)
    count = max(int(50 * share), 13)
    routers = [net.router(f"r{place}") for place in range(count)]
    for place, router in enumerate(routers):
        net.link(router, routers[(place + 1) % count], rate="100 Gbit/s")
    for place in range(int(4_000 * share)):
        route = [routers[(place + hop) % count] for hop in range(1, 13)]
        routers[place % count].lsp(f"l{place}", route[-1], route, record_route=recorded)  # type: ignore[attr-defined]
    return net


def many_records(share: float) -> tp.Network:
    """The same, and each router keeps the routes."""
    return many_lsps(share, recorded=True)


LARGE = {"flows": many_flows, "lsps": many_lsps, "records": many_records}


@pytest.mark.parametrize("case", LARGE)
def test_what_is_foretold_is_what_it_takes(case: str) -> None:
    """Within a fifth: in a process of its own, whose memory is only this network's."""
    root = Path(__file__).resolve().parents[1]
    words = [sys.executable, "-W", "ignore", "-c", MEASURED, case]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 1 / 1.2 < float(done.stdout) < 1.2


def test_a_network_that_does_not_fit_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what it takes, what is free and what would fit; nothing is lost."""
    net = ring(10)
    half = memory.need(net.draft).bytes // 2
    monkeypatch.setattr(memory, "free_bytes", lambda: half)
    with pytest.raises(tp.TwinplaneError, match="does not fit into memory") as refused:
        net.run(until="1 ms")
    said = str(refused.value)
    assert "\n" not in said
    assert "10 nodes, 10 links, 1 LSPs and 10 flows take about 0.0 GB" in said
    assert said.endswith("; 5 nodes, 5 links and 5 flows would fit")
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    net.run(until="1 ms")


def test_figures_in_sentences_are_round() -> None:
    """Two digits are enough, and never more than would fit."""
    assert [memory.rounded(count) for count in (0.9, 7, 42, 199, 54_321)] == [0, 7, 42, 190, 54_000]


def test_the_least_of_machine_and_group_is_free(tmp_path: Path) -> None:
    """A group without a limit, or a system that does not say, limits nothing."""
    meminfo = tmp_path / "meminfo"
    assert memory.free_bytes(meminfo, tmp_path) is None
    meminfo.write_text("MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    assert memory.free_bytes(meminfo, tmp_path) == 51_200
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_bytes(meminfo, tmp_path) == 51_200
    (tmp_path / "memory.max").write_text("11000\n")
    assert memory.free_bytes(meminfo, tmp_path) == 10_000


def test_this_machine_says_what_is_free() -> None:
    """The tests run on Linux."""
    assert (memory.free_bytes() or 0) > 0


def test_a_description_that_grows_too_large_is_refused_while_it_grows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Millions of calls do not fill the memory before anybody looks."""
    monkeypatch.setattr(memory, "OFTEN", 10)
    monkeypatch.setattr(memory, "free_bytes", lambda: 25 * memory.NODE)
    net = tp.Network()
    with pytest.raises(tp.TwinplaneError, match="does not fit into memory: 40 nodes take") as refused:
        for place in range(1_000):
            net.router(f"r{place}")
    assert str(refused.value).endswith("; 25 nodes would fit")


def test_demands_count_as_the_flows_that_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each pair of routers and class, without making them."""
    net = tp.Network()
    hub = net.router("hub")
    for place in range(49):
        net.link(hub, net.router(f"r{place}"))
    net.link(hub, net.host("h", "10.9.0.2/24"))
    monkeypatch.setattr(memory, "free_bytes", lambda: 10_000_000)
    classes = {"gold": {"share": 0.1}, "best": {}}
    with pytest.raises(tp.TwinplaneError, match="51 nodes, 50 links and 4,900 flows take"):
        net.demands(gravity="1 Gbit/s", classes=classes)
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    other = ring(4)
    other.demands([("r0", "r1", "1 Mbit/s"), ("r0", "r2", "1 Mbit/s", "gold")], classes=classes)
    assert memory.need(other.draft).flows == 4 + 2 + 1


def test_the_command_line_refuses_what_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, exit code 2, and no folder is left behind."""
    (tmp_path / "own.yaml").write_text(
        "name: own\nnodes: {a: {kind: router}, b: {kind: router}}\n"
        "links: [[a, b]]\nflows: [{from: a, to: b}]\n"
    )
    code = (
        "import sys\nfrom twinplane.network import memory\nmemory.free_bytes = lambda: 1000\n"
        "from twinplane.cli import main\nsys.argv[1:] = ['run', 'own.yaml']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "does not fit into memory" in done.stderr, done.stderr
    assert not (tmp_path / "runs").exists()
