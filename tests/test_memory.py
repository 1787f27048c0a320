"""Networks that do not fit into memory are refused before they are built."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.network import distances, memory
from twinplane.network.draft import Draft

NEED = memory.need
"""As it is where a test has not put another in its place."""


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
    assert (found.tested, found.routes, found.demanded) == (10, 10, 0)
    flows = memory.FLOW + memory.TESTED + memory.ROUTE
    assert found.bytes == 10 * (memory.NODE + memory.LINK + flows) + lsps


FORKED = """
import sys
from pathlib import Path
from tests.test_memory import ring
from twinplane.network import memory
from twinplane.network.forks import forked

def own():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))

def work(_):
    before = own()
    net.running().run_until(10**12)
    return str(own() - before).encode()

net = ring(400)
net.run(until="100 ms", threads=1)
((_, answer),) = forked(["it"], work, 1)
print(int(answer) / memory.need(net.draft).bytes)
"""


def test_what_a_fork_takes_is_foretold() -> None:
    """A copy of a network that runs on has less for itself than it, and not much less."""
    root = Path(__file__).resolve().parents[1]
    words = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert memory.FORKED / 1.6 < float(done.stdout) < memory.FORKED * 1.2, done.stdout


def test_no_more_forks_than_fit_run_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody said how many there are fewer; a number that was asked for is refused."""
    net = ring(10)
    whole = memory.need(net.draft).bytes
    monkeypatch.setattr(memory, "free_bytes", lambda: int(whole * (1 + 2.5 * memory.FORKED)))
    assert [memory.forks(net.draft, most) for most in (1, 2, 3, 8)] == [1, 2, 2, 2]
    assert memory.forks(net.draft, 2, asked=True) == 2
    said = "^3 runs at a time do not fit .*; 2 at a time would fit \\(--jobs 2\\)$"
    with pytest.raises(tp.TwinplaneError, match=said):
        tp.fail_everything(net, jobs=3)
    net.run(until="1 ms")
    monkeypatch.setattr(memory, "free_bytes", lambda: int(whole * 1.5 * memory.FORKED))
    assert memory.forks(net.draft, 8) == 1, "what stands is not counted again"
    monkeypatch.setattr(memory, "free_bytes", lambda: int(whole * 0.5 * memory.FORKED))
    said = "; with 8 nodes, 8 links and 8 flows one would fit$"
    with pytest.raises(tp.TwinplaneError, match=said):
        memory.forks(net.draft, 8)
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert memory.forks(net.draft, 8) == 8


MEASURED = """
import sys
from tests.test_memory import LARGE
from twinplane.network import memory
from twinplane.network.draft import Draft
from twinplane.network.trying import resident

small, large = (LARGE[sys.argv[1]](share) for share in (0.002, 1.0))
small.run(until="2 s")
before = resident("VmHWM")
expected = memory.need(large.draft).bytes
large.run(until="60 s" if large.draft.core.routed_sums()[0] else "2 s")
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


def many_routes(share: float, labels: bool = False) -> tp.Network:
    """A tree of routers that find their routes, with links beside, as long as it takes until all know all."""
    net = tp.Network(seed=1)
    count = max(int(250 * share), 3)
    routers = [net.router(f"r{place}", ospf=True, ldp=labels) for place in range(count)]
    for place in range(1, count):
        net.link(routers[place], routers[(place - 1) // 2])
    for place in range(count // 5):
        net.link(routers[place], routers[count - 1 - place])
    return net


def many_labels(share: float) -> tp.Network:
    """The same, and each gives the others labels."""
    return many_routes(share, labels=True)


def many_routes6(share: float) -> tp.Network:
    """A ring with IPv6: routes to all others stand in no table until they are used."""
    net = tp.Network(seed=1)
    count = max(int(400 * share), 3)
    routers = [net.router(f"r{place}", ipv6=f"2001:db8::{place + 1:x}") for place in range(count)]
    for place, router in enumerate(routers):
        ends = (f"2001:db8:1:{place:x}::1/64", f"2001:db8:1:{place:x}::2/64")
        net.link(router, routers[(place + 1) % count], ipv6=ends)
    return net


def long_ways(share: float) -> tp.Network:
    """A ring with flows nearly half way round: routers on the way find a route to each destination."""
    net = tp.Network(seed=1)
    count = max(int(320 * share), 4)
    routers = [net.router(f"r{place}") for place in range(count)]
    for place, router in enumerate(routers):
        net.link(router, routers[(place + 1) % count], delay="10 us", rate="10 Gbit/s")
        far = routers[(place + count * 15 // 32) % count]
        net.flow(router, far, name=f"f{place}", rate="100 kbit/s", size=128, start=0.1, stop=0.101)
    return net


LARGE = {
    "flows": many_flows,
    "ways": long_ways,
    "lsps": many_lsps,
    "records": many_records,
    "labels": many_labels,
    "routes6": many_routes6,
}


@pytest.mark.parametrize("case", LARGE)
def test_what_is_foretold_is_what_it_takes(case: str) -> None:
    """Within a fifth: in a process of its own, whose memory is only this network's."""
    root = Path(__file__).resolve().parents[1]
    words = [sys.executable, "-W", "ignore", "-c", MEASURED, case]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 1 / 1.2 < float(done.stdout) < 1.2


def test_routes_that_flows_use_are_counted_once_for_each_router_and_destination() -> None:
    """Of routers only, and not of flows that go by labels."""
    net = ring(12)
    assert memory.need(net.draft).routes == 12
    routers = [net.node(f"r{place}") for place in range(12)]
    net.flow(routers[0], routers[4], rate="1 Mbit/s")  # r0 to r2: r3 has a route to r4
    net.flow(routers[1], routers[4], rate="1 Mbit/s", name="on its way")
    net.link(net.host("h", "10.9.0.2/24"), routers[2])
    net.flow("h", routers[4], rate="1 Mbit/s", name="of a host")
    assert memory.need(net.draft).routes == 12 + 3
    net.flow(routers[0], routers[6], over="half", rate="1 Mbit/s")
    found = memory.need(net.draft)
    assert (found.routes, found.tested) == (12 + 3, 12)


def test_routes_of_a_large_network_are_found_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some destinations stand for all."""
    net = tp.Network()
    side = 20
    grid = [[net.router(f"r{x}-{y}") for x in range(side)] for y in range(side)]
    for y in range(side):
        for x in range(side):
            if x:
                net.link(grid[y][x - 1], grid[y][x])
            if y:
                net.link(grid[y - 1][x], grid[y][x])
    chosen = random.Random(1)
    nodes = [node for row in grid for node in row]
    for place in range(300):
        net.flow(*chosen.sample(nodes, 2), name=f"f{place}", rate="1 Mbit/s")
    whole = distances.routes(net.draft)
    monkeypatch.setattr(distances, "SAMPLE", 60)
    assert distances.routes(net.draft) == pytest.approx(whole, rel=0.2)
    monkeypatch.setattr(distances, "SAMPLE", 400)
    monkeypatch.setattr(distances, "VISITS", 20_000)
    assert distances.routes(net.draft) == pytest.approx(whole, rel=0.2)


def test_routers_that_find_their_routes_have_no_others() -> None:
    """What OSPF finds is counted as that."""
    net = tp.Network()
    a, b = net.router("a", ospf=True), net.router("b", ospf=True)
    net.link(a, b)
    net.flow(a, b, rate="1 Mbit/s")
    found = memory.need(net.draft)
    assert (found.routes, found.found) == (0, 4)


def test_of_demands_as_many_fit_as_there_are_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so many nodes: with one more in ten it would not fit."""

    def star(leaves: int) -> tp.Network:
        net = tp.Network()
        hub = net.router("hub")
        for place in range(leaves):
            net.link(hub, net.router(f"r{place}"))
        return net

    def taken(leaves: int) -> int:
        net = star(leaves)
        net.demands(gravity="1 Gbit/s")
        return memory.need(net.draft).bytes

    free = taken(200) // 2
    assert taken(199) > free
    net = star(200)
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    with pytest.raises(tp.TwinplaneError, match="does not fit") as refused:
        net.demands(gravity="1 Gbit/s")
    found = re.search(r"([\d,]+) nodes, [\d,]+ links and ([\d,]+) flows would fit", str(refused.value))
    assert found is not None, refused.value
    nodes, flows = (int(count.replace(",", "")) for count in found.groups())
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert taken(nodes - 1) <= free < taken(int(1.1 * nodes))
    assert flows == pytest.approx(nodes * (nodes - 1), rel=0.1)


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


@pytest.mark.parametrize(("share", "doubted"), [(1.01, True), (1.19, True), (1.21, False)])
def test_a_network_that_takes_nearly_all_is_doubted_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, share: float, doubted: bool
) -> None:
    """What is foretold is right within a fifth, so that less than as much over may not be enough."""
    net = ring(10)
    free = int(memory.need(net.draft).bytes * share)
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        net.run(until="1 ms")
    said = [str(one.message) for one in told]
    takes = "10 nodes, 10 links, 1 LSPs and 10 flows take about 0.0 GB, and 0.0 GB are free for it"
    assert said == ([f"the network may not fit into memory: {takes}"] if doubted else [])
    assert net.warnings == [], "what the machine has is not of the network"


def test_a_network_that_takes_a_little_more_than_is_free_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to find out by running it."""
    net = ring(10)
    free = memory.need(net.draft).bytes - 1
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    with pytest.raises(tp.TwinplaneError, match="does not fit into memory"):
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
    # Files that were read count as used, and are given up for what needs memory.
    (tmp_path / "memory.current").write_text("11000\n")
    (tmp_path / "memory.stat").write_text("anon 3000\ninactive_file 5000\nactive_file 2000\nshmem 1000\n")
    assert memory.free_bytes(meminfo, tmp_path) == 7_000


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
    with pytest.raises(tp.TwinplaneError, match="does not fit into memory: 30 nodes take") as refused:
        for place in range(1_000):
            net.router(f"r{place}")
    assert str(refused.value).endswith("; 25 nodes would fit")


def test_links_and_lsps_are_counted_while_they_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either can be what a description has most of."""
    monkeypatch.setattr(memory, "OFTEN", 10)
    for part, most in (("links", memory.LINK), ("LSPs", memory.LSP + memory.HOP)):
        net = tp.Network()
        a, b = net.router("a"), net.router("b")
        free = 2 * memory.NODE + 100 * most
        monkeypatch.setattr(memory, "free_bytes", lambda free=free: free)
        with pytest.raises(tp.TwinplaneError, match=rf"2 nodes(, 1 links)? and \d+ {part} take"):
            for place in range(1_000):
                net.link(a, b) if part == "links" or not net.links else a.lsp(f"l{place}", b)
        assert 90 < len(net.links if part == "links" else net.lsps) <= 115


def test_a_description_is_looked_at_seldom_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """All looks together see each part a few times, however many there are: of LSPs all are counted anew."""
    monkeypatch.setattr(memory, "OFTEN", 10)
    counted: list[int] = []

    def need(draft: Draft) -> memory.Need:
        found = NEED(draft)
        counted.append(found.lsps)
        return found

    monkeypatch.setattr(memory, "need", need)
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    for place in range(2_000):
        a.lsp(f"l{place}", b)
    assert counted[-1] > 1_700 and sum(counted) < 10 * 2_000, counted


def test_what_runs_already_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added to a network that runs has to fit into what is left."""
    monkeypatch.setattr(memory, "OFTEN", 1)
    net = ring(10)
    net.run(until="1 ms")
    monkeypatch.setattr(memory, "free_bytes", lambda: 3 * memory.FLOW)
    for _ in range(3):
        net.flow("r0", "r1", rate="1 Mbit/s")
    with pytest.raises(tp.TwinplaneError, match=r"10 nodes, 10 links, 1 LSPs and 1\d flows take"):
        for _ in range(5):
            net.flow("r0", "r1", rate="1 Mbit/s")
    net.run(until="2 ms")


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


OWN = """\
name: own
nodes: {a: {kind: router}, b: {kind: router}}
links: [[a, b]]
flows: [{from: a, to: b}]
"""
OWN_BYTES = 2 * (memory.NODE + memory.TESTED) + memory.LINK + memory.FLOW + memory.ROUTE


def command(folder: Path, free: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line on a machine that has so many bytes free, with a network of its own in a folder."""
    (folder / "own.yaml").write_text(OWN)
    code = (
        "import sys\nfrom twinplane.network import memory\n"
        f"if __name__ == '__main__':\n    memory.free_bytes = lambda: {free}\n"
        f"    from twinplane.cli import main\n    sys.argv[1:] = {['run', 'own.yaml', *words]}\n    main()\n"
    )
    program = folder / "program.py"
    program.write_text(code)
    return subprocess.run([sys.executable, program], cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_line_refuses_what_does_not_fit(tmp_path: Path) -> None:
    """One sentence, exit code 2, and no folder is left behind."""
    done = command(tmp_path, 1_000)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "does not fit into memory" in done.stderr, done.stderr
    assert not (tmp_path / "runs").exists()


def test_runs_beside_each_other_share_what_is_free(tmp_path: Path) -> None:
    """Too little for two at a time is refused with a number that would do; no result tells of memory."""
    words = ("--repeat", "2", "--figures", "none", "--duration", "100 ms", "--out")
    done = command(tmp_path, int(OWN_BYTES * 1.9), *words, "both", "--jobs", "2")
    assert done.returncode == 2
    takes = "2 nodes, 1 links and 1 flows take about 0.0 GB"
    said = f"{takes}, and 0.0 GB are free for each of 2 runs at a time"
    refused = f"the network does not fit into memory: {said}; with 1 at a time it would fit (--jobs 1)"
    assert done.stderr == f"twinplane: {refused}\n", done.stderr
    nearly = command(tmp_path, int(OWN_BYTES * 2.1), *words, "nearly", "--jobs", "2")
    assert nearly.returncode == 0, nearly.stderr
    assert nearly.stderr.startswith(f"twinplane: warning: the network may not fit into memory: {said}\n")
    assert nearly.stderr.count("memory") == 1, "of two runs once"
    enough = command(tmp_path, int(OWN_BYTES * 1.3), *words, "enough", "--jobs", "1")
    assert enough.returncode == 0 and "memory" not in enough.stderr, enough.stderr
    for file in ("summary.json", "tables/streams.parquet"):
        assert (tmp_path / "nearly" / file).read_bytes() == (tmp_path / "enough" / file).read_bytes()
