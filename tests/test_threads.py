"""Threads of a network: results are the same, and the network says how many there were."""

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
import twinplane as tp
from support import warm
from twinplane.declared import tables
from twinplane.network import processors

from tests.support import wide_networks
from tests.support.campaign import scaled
from tests.test_events_drawn import END_S


def ring(routers: int = 12, delay: str = "5 ms") -> tp.Network:
    """Routers in a ring of long links, with flows that cross it."""
    net = tp.Network(seed=3)
    nodes = [net.router(f"r{i}") for i in range(routers)]
    for i, node in enumerate(nodes):
        net.link(node, nodes[(i + 1) % routers], rate="1 Gbit/s", delay=delay)
    for i in range(routers):
        net.flow(nodes[i], nodes[(i + 4) % routers], rate="10 Mbit/s", size=200, arrivals="poisson")
    return net


def seen(net: tp.Network) -> tuple[str, str]:
    """All that a run left: the digest of every frame, and every flow's row."""
    return net.digest(), repr([flow.stats().to_dicts() for flow in net.flows])


@pytest.fixture
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "count", lambda: 4)


def test_threads_change_nothing(four_processors: None) -> None:
    one = ring()
    one.run(until="300 ms", threads=1)
    assert one.threads == "one thread"
    for threads in (2, 4):
        several = ring()
        several.run(until="100 ms", threads=threads)
        several.run(until="300 ms", threads=threads)
        assert several.threads.startswith(f"{threads} threads, which exchange frames every 5000"), (
            several.threads
        )
        assert seen(several) == seen(one)


def test_a_fault_and_an_event_in_between_change_nothing(four_processors: None) -> None:
    def run(threads: int) -> tp.Network:
        net = ring()
        net.at("100 ms").fail(net.links[0], for_="50 ms")
        net.run(until="300 ms", threads=threads)
        return net

    assert seen(run(2)) == seen(run(1))


NAMES = [table.name for table in tables() if table.scope in ("network", "either")]
"""Tables that can be asked of a whole network."""


def shared(net: tp.Network, threads: int) -> list[object]:
    """All that a run leaves if so many threads share the network wherever that is possible."""
    running = net.engine.start()
    running.set_threads(threads, True)
    running.run_until(int(END_S * 1e12))
    captures = [capture.bytes() for capture in net.captures]
    # In words, since what is not a number is not equal to itself.
    return [net.digest(), captures, *((name, repr(net.columns(name))) for name in NAMES)]


def test_drawn_networks_do_not_tell_how_many_threads_there_were(tmp_path: Path) -> None:
    """Digests, captures and all tables are the same for one, two, three and eight threads."""
    count = scaled(12)
    parted, occurred, most = Counter[int](), Counter[str](), Counter[int]()
    for seed in range(5_001, 5_001 + count):
        said = wide_networks.wide(seed, tmp_path)
        occurred.update(wide_networks.features(said))
        one = shared(wide_networks.built(said), 1)
        for threads in (2, 3, 8):
            several = wide_networks.built(said)
            assert shared(several, threads) == one, (seed, threads)
            number = several.engine.running().threads()[0]
            parted[threads] += number > 1
            most[threads] = max(most[threads], number)
            assert said["capture"] is None or number == 1, "frames are captured in the order of time"
    print(f"{count} networks, parted: {dict(parted)}, by at most {dict(most)}; with {dict(occurred)}")
    if count >= 12:
        assert most == {2: 2, 3: 3, 8: 8}, "as many threads as were asked for, or nothing is shown"
        assert all(parted[threads] > count // 4 for threads in (2, 3, 8)), parted
        assert occurred.keys() == wide_networks.FEATURES


def test_links_that_are_too_short_are_named(four_processors: None) -> None:
    net = ring(delay="1 us")
    with pytest.warns(tp.TwinplaneWarning, match="threads=2: one thread: links between parts") as said:
        for until in ("200 ms", "300 ms"):
            net.run(until=until, threads=2)
    assert "one thread: links between parts of the network take" in net.threads, net.threads
    assert len(said) == 1


def test_a_capture_needs_one_thread(four_processors: None) -> None:
    net = ring()
    net.capture(net.links[0])
    with pytest.warns(tp.TwinplaneWarning, match="threads=2: one thread: frames are captured"):
        net.run(until="50 ms", threads=2)
    assert net.threads.startswith("one thread: frames are captured"), net.threads


def test_threads_by_the_clock_are_none() -> None:
    """In real time one thread goes by the clock, and whoever asks for more is told so once."""
    if processors.count() < 2:
        pytest.skip("one processor")
    net = tp.Network(clock="wall")
    net.link(net.router("a"), net.router("b"))
    net.run(for_="1 ms", threads=1)
    net.run(for_="1 ms")
    with pytest.warns(tp.TwinplaneWarning) as said:
        net.run(for_="1 ms", threads=2)
        net.run(for_="1 ms", threads=2)
    assert [str(one.message) for one in said] == [f"threads=2: {processors.BY_THE_CLOCK}"]
    assert net.threads == processors.BY_THE_CLOCK
    net.close()


def test_the_command_line_says_what_came_of_threads(tmp_path: Path) -> None:
    """In words, beside results that are the same without."""
    (tmp_path / "own.yaml").write_text(
        "name: own\nnodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}\n"
        "links: [[a, b], [b, c]]\nflows: [{from: a, to: c, rate: 10 Mbit/s}]\n"
    )
    if processors.count() < 2:
        pytest.skip("one processor")
    said = {}
    for threads in ("1", "2", "tried"):
        words = ["run", "own.yaml", "--duration", "1 s", "--out", threads]
        words += ["--threads", threads] if threads.isdigit() else []
        done = warm.twinplane(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        said[threads] = done.stdout
    assert "threads  one thread: " in said["2"]
    assert "threads  " not in said["1"]
    assert "threads  " not in said["tried"], "a short run needs no trial"
    for name in ("summary.json", "tables/streams.parquet"):
        for threads in ("2", "tried"):
            assert (tmp_path / "1" / name).read_bytes() == (tmp_path / threads / name).read_bytes()
    assert "one thread: " in (tmp_path / "2" / "report.html").read_text()
    manifest = json.loads((tmp_path / "2" / "manifest.json").read_text())
    assert [text.partition(":")[0] for text in manifest["threads"]] == ["one thread"]


@pytest.mark.parametrize(
    ("threads", "said"),
    [(0, "from 1 on"), (-1, "from 1 on"), (1.5, "whole number"), (True, "whole number"), (5, "4 at most")],
)
def test_wrong_numbers_are_refused(four_processors: None, threads: object, said: str) -> None:
    with pytest.raises(tp.TwinplaneError, match=said):
        ring().run(until="1 ms", threads=threads)  # type: ignore[arg-type]


def test_as_many_threads_are_tried_as_there_are_processors_for(four_processors: None) -> None:
    assert processors.threads(None) is None
    assert processors.tried() == 4
    processors.limit(3)
    try:
        assert processors.threads(None) == 3
    finally:
        processors.limit(None)
    assert processors.threads(None) is None


@pytest.mark.parametrize(("jobs", "threads"), [(1, 4), (2, 2), (3, 1), (4, 1), (9, 1)])
def test_runs_beside_each_other_share_the_processors(
    four_processors: None, monkeypatch: pytest.MonkeyPatch, jobs: int, threads: int
) -> None:
    monkeypatch.setattr(processors, "_share", None)
    processors.share(jobs)
    assert processors.tried() == threads


def test_what_a_trial_takes_changes_nothing(four_processors: None) -> None:
    """Threads are tried while a run goes on, and the results are those of one."""
    one, several = ring(), ring()
    one.run(until="3 s", threads=1)
    several.run(until="2 s")
    several.run(until="3 s")
    assert seen(several) == seen(one)
    tried = (
        r"one thread: \d were tried, and had|\d threads, .*; tried, they had|one thread: links between parts"
    )
    assert re.match(tried, several.threads), several.threads


def test_a_short_run_is_not_disturbed(four_processors: None) -> None:
    net = ring()
    net.run(until="20 ms")
    assert net.threads == "one thread: too little has happened to tell whether more would pay"


def test_processors_are_those_that_this_process_may_use() -> None:
    assert 1 <= processors.count() <= (os.cpu_count() or 1)
