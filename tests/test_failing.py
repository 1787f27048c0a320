"""Everything fails in turn: who loses what, why some do not come back, and forks that equal fresh runs."""

from __future__ import annotations

import json
import os
import signal
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError
from twinplane.failing import Failures, Trial, cases_of, fail_everything
from twinplane.failing.cases import Case, already_down
from twinplane.failing.graph import Graph
from twinplane.failing.traffic import Probes
from twinplane.failing.watching import SIGMAS, Look, _Harm, calm, excess, watch
from twinplane.network.forks import forked

CHORDS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4), (5, 6)]


def ring() -> tp.Network:
    """Four routers in a ring: two LSPs whose fallback does not hold both, one without, and a plain flow."""
    net = tp.Network(seed=7)
    a, b, c, d = (net.router(name) for name in "abcd")
    for x, y, duct in ((a, b, "duct"), (b, c, ["duct", "bridge"]), (c, d, None), (a, d, None)):
        net.link(x, y, rate="1 Gbit/s", delay="50 us", reservable="900 Mbit/s", srlg=duct)
    a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c])
    a.lsp("big", to=c, route=[b, c], bandwidth="500 Mbit/s", fallback=[d, c])
    d.lsp("idle", to=c, route=[c], bandwidth="300 Mbit/s")
    a.lsp("lone", to=c, route=[b, c])
    for name, size, dscp in (("gold", 64, "EF"), ("big", 512, "AF11"), ("lone", 512, "AF11")):
        net.flow(a, c, over=name, rate="4 Mbit/s", size=size, name=name, dscp=dscp)
    net.flow(a, c, rate="1 Mbit/s", name="plain")
    return net


def meshed(seed: int = 1) -> tp.Network:
    """Seven routers, one of them at the end of a single link, without LSPs and flows."""
    net = tp.Network(seed=seed)
    routers = [net.router(f"r{number}") for number in range(7)]
    for place, (x, y) in enumerate(CHORDS):
        net.link(routers[x], routers[y], rate="1 Gbit/s", delay=f"{100 + 10 * place} us")
    return net


def reasons(found: Failures, case: str) -> dict[str, str | None]:
    return {hurt.flow: hurt.reason for hurt in found[case].hurt}


@pytest.fixture(scope="module")
def failures() -> Failures:
    return fail_everything(ring(), watch="3 s")


def test_who_stays_away_and_why(failures: Failures) -> None:
    assert len(failures) == 4 + 4 + 2
    over_b = {"big": "no bandwidth", "lone": "no fallback", "plain": "static route", "gold": None}
    for case in ("a-b", "b-c", "b", "duct", "bridge"):
        found = reasons(failures, case)
        # Both routes are as short: the plain flow takes one of them.
        assert found in (over_b, {key: over_b[key] for key in ("big", "lone", "gold")})
    assert "no bandwidth at d" in " ".join(one.why for one in failures["a-b"].hurt)
    assert failures["a-d"].never == 0
    assert reasons(failures, "c") == dict.fromkeys(("gold", "big", "lone", "plain"), "end failed")
    assert failures.outcomes[0].name not in ("a", "c")  # flows end there: that is no news
    assert failures["duct"].digest == failures["b"].digest  # the same two links


def test_how_much_and_for_how_long(failures: Failures) -> None:
    hurt = {one.flow: one for one in failures["b-c"].hurt}
    per_s = 4e6 / (512 * 8)
    assert hurt["lone"].lost == pytest.approx(3 * per_s, abs=2)
    assert hurt["lone"].outage_s is None and hurt["lone"].recovered is False
    # An error travels back over a-b, then a Path and a Resv travel over d: five delays of 50 us, and bytes.
    gold = hurt["gold"]
    assert gold.recovered is True and gold.lsp_up_s is not None
    assert 250e-6 < gold.lsp_up_s < 400e-6
    assert gold.outage_s == pytest.approx(gold.lost * 64 * 8 / 4e6, rel=1e-3)
    assert 200e-6 < gold.outage_s < 600e-6
    # Who has no way left is not watched to the end, and counted as if it were.
    assert failures["c"].watched_s < 1 < 3 == failures["b-c"].watched_s
    for one in failures["c"].hurt:
        if one.flow in ("big", "lone"):
            assert one.lost == pytest.approx(3 * per_s, abs=2)


def test_tables_classes_and_sentence(failures: Failures, tmp_path: Path) -> None:
    table, cases = failures.table(), failures.cases()
    assert table.height == sum(len(one.hurt) for one in failures.outcomes)
    assert cases["case"].to_list() == [one.name for one in failures.outcomes]
    cut_off = [one.cut_off for one in failures.outcomes]
    assert cut_off == sorted(cut_off, reverse=True) and cut_off[0] == 3
    classes = {one.phb: one for one in failures.classes()}
    assert list(classes) == ["AF11", "EF", "best effort"] or list(classes) == ["AF11", "best effort", "EF"]
    assert classes["AF11"].flows == 2 and classes["EF"].never == 2
    assert classes["AF11"].lost == table.filter(pl.col("class") == "AF11")["lost"].sum()
    said = failures.headline()
    assert " is the worst of 4 links, 4 nodes and 2 groups: 3 of 4 flows stay away (" in said
    assert said.endswith("of 10 cases keep a flow away though a way is left.")
    path = failures.save_csv(tmp_path / "harm.csv")
    assert pl.read_csv(path).height == table.height
    assert pl.read_csv(tmp_path / "harm-cases.csv")["case"].to_list() == cases["case"].to_list()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"jobs": 0}, "jobs=0: it should be 1 or more"),
        ({"probes": -1}, "probes=-1: it should be 1 or more"),
        ({"probe_rate": 0}, "probe_rate=0: it should be 1 or more"),
        ({"watch": 0}, "watch=0: it should be longer than nothing"),
        ({"only": "lnks"}, "only: 'lnks': links, nodes, groups"),
    ],
)
def test_wrong_arguments_are_refused(said: dict[str, Any], told: str) -> None:
    with pytest.raises(TwinplaneError, match=told):
        fail_everything(ring(), **said)


def test_the_network_is_as_it_was() -> None:
    once, twice = ring(), ring()
    fail_everything(once, only="links", watch="1 s")
    assert once.now == 1.0
    for net in (once, twice):
        net.run(until="1.5 s")
    assert once.digest() == twice.digest()
    # From where it stands: something has failed already.
    once.fail("a", "d")
    found = fail_everything(once, only="links", watch="1 s")
    assert set(reasons(found, "b-c").values()) == {"no route"}
    assert reasons(found, "c-d") == {}


def test_forks_equal_fresh_runs() -> None:
    net = meshed()
    trial = Trial(net, Probes(), watch="2 s")
    cases = cases_of(net, pairs=True)
    cases = [*cases[:16], *cases[16::31]]
    assert len(cases) >= 20
    found = trial.run(cases, jobs=2)
    for case in cases[:: len(cases) // 20][:20]:
        fresh = Trial(meshed(), Probes(), watch="2 s")
        world = fresh.warm()
        one = found[case.name]
        kept = watch(world, case, round(one.watched_s * 1e12))
        assert kept["digest"] == one.digest, case
        assert kept["watched_ps"] == round(one.watched_s * 1e12)


def test_probes_cover_a_network_without_flows() -> None:
    found = fail_everything(meshed(), watch="1 s")
    assert len(found.flows) == 7 * 6
    assert "between routers" in found.circumstances["traffic"]
    # r6 hangs on one link: without it nobody reaches it, and everybody else has a fallback.
    assert set(reasons(found, "r5-r6").values()) == {"no route"} and len(found["r5-r6"].hurt) == 12
    assert all(one.never == 0 for one in found.outcomes if one.kind == "link" and one.name != "r5-r6")
    plain = fail_everything(meshed(), only="links", watch="1 s", protected=False, probes=10, probe_rate=50)
    assert len(plain.flows) == 10
    assert {one for case in plain.outcomes for one in case.reasons} == {"static route", "no route"}


def test_probes_of_a_network_with_lsps_and_hosts() -> None:
    net = tp.Network()
    left, right = net.host("left", "10.1.0.2/24"), net.host("right", "10.2.0.2/24")
    a, b = net.router("a"), net.router("b")
    for x, y in ((left, a), (a, b), (b, right)):
        net.link(x, y)
    found = fail_everything(net, watch="1 s")
    assert [name for name, _ in found.flows] == ["left-right", "right-left"]
    assert {one.kind for one in found.outcomes} == {"link", "node"} and len(found) == 5
    assert all(set(one.reasons) == {"no route"} for one in found.outcomes)
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    a.lsp("east", to=b)
    assert fail_everything(net, only="links", watch="1 s").flows == [("east", "best effort")]


def test_pairs_leave_out_what_goes_together() -> None:
    net = ring()
    names = {case.name for case in cases_of(net, pairs=True)}
    assert "a-b + c-d" in names and "a + c" in names and "c-d + b" in names
    assert "a-b + b" not in names and "a-b + duct" not in names
    found = fail_everything(ring(), only=["links"], pairs=True, watch="1 s")
    assert len(found) == 4 + 6
    assert set(reasons(found, "a-b + c-d").values()) == {"no route"}


def test_parallel_links_have_names_of_their_own() -> None:
    net = tp.Network()
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    net.link(b, a)
    assert [case.name for case in cases_of(net, ["links"])] == ["a:e0-b:e0", "b:e1-a:e1"]


def square(**said: object) -> tp.Network:
    """Four routers in a ring that look up their routes, with a flow if its rate is said."""
    net = tp.Network(seed=3)
    a, b, c, d = (net.router(name) for name in "abcd")
    for x, y in ((a, b), (b, c), (c, d), (a, d)):
        net.link(x, y, rate="1 Gbit/s", delay="50 us")
    if said:
        net.flow(a, b, name="near", size=512, **said)  # type: ignore[arg-type]
    return net


MATRIX = [("a", "b", "2 Mbit/s", "voice"), ("a", "c", "2 Mbit/s", "bulk"), ("d", "c", "2 Mbit/s", "voice")]


@pytest.mark.parametrize("flow", [{}, {"rate": "1 Mbit/s"}])
def test_demands_are_watched_by_class(flow: dict[str, object]) -> None:
    net = square(**flow)
    constant = {"arrivals": "constant"}
    net.demands(MATRIX, classes={"voice": {"dscp": "EF", **constant}, "bulk": constant}, start="500 ms")
    found = fail_everything(net, watch="1 s")
    assert found.circumstances["failures at"] == "1.5 s"
    assert found.circumstances["traffic"] == (
        "1 flow and demands of its own" if flow else "demands of its own"
    )
    names = {"demands voice a-b": "voice", "demands bulk a-c": "bulk", "demands voice d-c": "voice"}
    assert dict(found.flows) == names | ({"near": "best effort"} if flow else {})
    hurt = {one.flow: one for one in found["a-b"].hurt}
    assert "demands voice d-c" not in hurt
    assert hurt["demands voice a-b"].reason == "static route"
    assert hurt["demands voice a-b"].lost == pytest.approx(2e6 / (512 * 8), abs=2)
    assert reasons(found, "d")["demands voice d-c"] == "end failed"
    classes = {one.phb: one for one in found.classes()}
    assert classes["voice"].flows == 2 and classes["bulk"].flows == 1
    assert classes["voice"].lost == found.table().filter(pl.col("class") == "voice")["lost"].sum()


def test_demands_of_a_file_have_no_class_but_the_default(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "name: net\nnodes: {a: {kind: router}, b: {kind: router}}\nlinks:\n  - [a, b]\n"
        "demands: {matrix: [[a, b, 1 Mbit/s]]}\n"
    )
    found = fail_everything(tp.Network.from_file(path), only="links", watch="1 s")
    assert found.flows == [("demands a-b", "best effort")] and reasons(found, "a-b") == {
        "demands a-b": "no route"
    }


def test_own_events_do_not_go_on_in_cases() -> None:
    plain = square(rate="2 Mbit/s")
    net = square(rate="2 Mbit/s")
    net.at("1.2 s").fail("c", "d")
    net.at("1 s").heal()
    net.every("100 ms", start="1.05 s").heal()
    net.random("20 ms", start="900 ms", stream="storm").heal()
    net.at("10 ms").fail("c", "d", for_="1 ms")
    with pytest.warns(UserWarning, match="4 of 5 events would go on at 1 s or later"):
        found = fail_everything(net, only="links", watch="1 s")
    assert found.circumstances["events left out"] == "4"
    assert found.table().equals(fail_everything(plain, only="links", watch="1 s").table())
    assert reasons(found, "a-b") == {"near": "static route"}
    times = net.actions()["time_s"]
    assert len(times) and times.max() < 1


def test_heals_that_have_nothing_left_to_heal_go_too(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "name: net\nnodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}\n"
        "links:\n  - [a, b]\n  - [b, c]\n  - [a, c]\nflows:\n  - {from: a, to: b, name: x}\nevents:\n"
        "  - {at: 2 s, fail: [b, c]}\n  - {every: 900 ms, heal: all}\n"
    )
    net = tp.Network.from_file(path)
    with pytest.warns(UserWarning, match="2 of 2 events"):
        found = fail_everything(net, only="links", watch="3 s")
    assert reasons(found, "a-b") == {"x": "static route"} and reasons(found, "a-c") == {}
    assert net.actions().height == 0


def test_what_happens_before_stays_the_same() -> None:
    net, cut_short = square(rate="2 Mbit/s"), square(rate="2 Mbit/s")
    for one in (net, cut_short):
        one.at("9 s").fail("c", "d")
        one.random("50 ms").loss("a", "b", "10 %", for_="1 ms")
        one.every("100 ms", start="20 ms", times=3).fail("a", "d", for_="1 ms")
        one.every("100 ms", until="300 ms").heal("a", "d")
    net.run(until="999 ms")
    with pytest.warns(UserWarning, match="2 of 4 events"):
        fail_everything(cut_short, only="links", watch="500 ms")
    before = cut_short.actions().filter(pl.col("time_s") < 1)
    assert before.height > 10 and before.equals(net.actions())


def test_a_flow_that_an_event_begins_too_late_is_silent() -> None:
    net = square(rate="2 Mbit/s")
    net.at("5 s").start("near")
    with pytest.warns(UserWarning) as told:
        found = fail_everything(net, only="links", watch="1 s")
    said = [str(one.message) for one in told]
    assert any("1 of 1 events would go on" in one for one in said)
    assert any(
        one.startswith("1 of 1 flow sends fewer than 3 packets") and "them (near)" in one for one in said
    )
    assert found.headline() == (
        "Of 4 links, none costs any flow a packet when it fails; but 1 of 1 flow sends too little to show it."
    )


def test_what_is_left_out_does_not_change_what_flows_send_before() -> None:
    """Demands have several names: an event that begins later what another has stopped begins nothing."""
    nets = [square(), square()]
    for net in nets:
        net.demands([("a", "b", "2 Mbit/s", "gold")], classes={"gold": {"arrivals": "constant"}})
        net.at("1.5 s").stop("demands", for_="100 ms")
    with_start, _ = nets
    with_start.at("9 s").start("gold")
    tables = []
    for net in nets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables.append(fail_everything(net, only="links", watch="1 s", warm_up="2 s").table())
    assert tables[0].equals(tables[1]) and len(tables[0])
    late = square(rate="2 Mbit/s")
    late.at("8 s").stop("near")
    late.at("9 s").start("near")
    with pytest.warns(UserWarning, match="2 of 2 events"):
        assert reasons(fail_everything(late, only="links", watch="1 s"), "a-b") == {"near": "static route"}


def test_the_first_look_begins_when_failures_do() -> None:
    """And not when the network did: a port that was full before and is half full in a case fills no queue."""
    net = square(rate="2 Mbit/s")
    trial = Trial(net, Probes(), watch="1 s")
    world = trial.warm()
    assert world.before is not None
    limit = max(world.rates)
    step = int(limit / 8 * 0.05)  # what a port sends until the first look, at its full rate
    idle = Look([0], [0], [{}], [(10 * step, 0)] * len(world.rates))
    busy = Look([0], [0], [{}], [(11 * step, 0)] * len(world.rates))
    world.before, world.calm = idle, [busy]
    assert not world.fills(0, idle, busy)
    world.calm = [idle]
    assert world.fills(0, idle, busy) and not world.fills(0, idle, idle)


def test_own_events_that_cannot_be_left_out_are_refused() -> None:
    ends = square(rate="2 Mbit/s")
    ends.at("500 ms").fail("c", "d", for_="1 s")
    with pytest.raises(TwinplaneError, match=r"begin at 1 s: fail c-d ends at 1\.5 s: leave it out"):
        fail_everything(ends, only="links", watch="1 s")
    healed = square(rate="2 Mbit/s")
    healed.at("500 ms").fail("c", "d", for_="1 s")
    healed.at("600 ms").heal("c", "d")
    assert reasons(fail_everything(healed, only="links", watch="1 s"), "c-d") == {}
    ran = square(rate="2 Mbit/s")
    ran.at("10 ms").fail("c", "d", for_="1 ms")
    ran.every("3 s", start="3 s").heal()
    ran.run(until="2 s")
    with pytest.raises(
        TwinplaneError, match="begin at 2 s: heal all at 3 s: leave it out, or begin after it"
    ):
        fail_everything(ran, only="links", watch="2 s")
    assert len(fail_everything(ran, only="links", watch="900 ms")) == 4


def test_flows_that_are_cut_off_before_are_named() -> None:
    net = tp.Network()
    for name in ("a", "b", "c"):
        net.router(name, ospf=tp.Ospf(hello_interval="1 s"))
    for ends in (("a", "b"), ("b", "c"), ("a", "c")):
        net.link(*ends, rate="100 Mbit/s", delay="1 ms")
    net.flow("a", "c", rate="100 kbit/s", size=512, name="early")
    told = r"1 of 1 flow has lost every packet when failures begin \(early\), .* later \(--warm-up\)"
    with pytest.warns(UserWarning, match=told):
        fail_everything(net, only="links", watch="1 s", warm_up="1 s")


def test_failures_wait_for_routes() -> None:
    """Routers wait four Hellos for others, or as long as is said, and exchange databases."""
    for said, begin in (
        ({"hello_interval": "1 s"}, "19 s"),
        ({"dead_interval": "20 s"}, "35 s"),
        ({}, "55 s"),
    ):
        net = tp.Network()
        for name in ("a", "b", "c"):
            net.router(name)
        for ends in (("a", "b"), ("b", "c"), ("a", "c")):
            net.link(*ends, rate="100 Mbit/s", delay="1 ms")
        net.ospf(**said)
        net.ospf(
            "c",
            hello_interval=said.get("hello_interval"),
            interfaces={"a": {"cost": 3}},
            **({"dead_interval": said["dead_interval"]} if "dead_interval" in said else {}),
        )
        net.flow("a", "c", rate="100 kbit/s", size=512, name="early")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = fail_everything(net, only="links", watch="1 s")
        assert found.circumstances["failures at"] == begin
        assert found["a-c"].never == 0 and found["a-c"].hurt


def test_flows_that_send_too_little_are_named() -> None:
    net = square(rate="1 Mbit/s")
    net.flow("a", "c", rate="2 kbit/s", size=512, name="rare")
    with pytest.warns(UserWarning, match=r"1 of 2 flows sends fewer than 3 packets .* hurts them \(rare\)"):
        found = fail_everything(net, only="links", watch="1 s")
    assert found.quiet == 1


def test_cases_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    net = tp.Network()
    joined, b, a, other = (net.router(name) for name in ("a-b", "b", "a", "b-b"))
    net.link(joined, b)
    net.link(a, other, srlg=["b", "link"])
    net.link(b, a)
    net.flow(b, joined, rate="1 Mbit/s", name="west")
    cases = cases_of(net, pairs=True)
    names = [case.name for case in cases if case.kind != "pair"]
    assert names[:5] == ["a-b:e0-b:e0", "a:e0-b-b:e0", "b-a", "a-b", "node b"]
    assert names[-2:] == ["group b", "link"]
    assert len({case.name for case in cases}) == len(cases)
    found = fail_everything(net, watch="1 s", out=tmp_path / "kept")
    assert reasons(found, "a-b:e0-b:e0") == {"west": "no route"} and reasons(found, "a:e0-b-b:e0") == {}
    assert reasons(found, "node b") == {"west": "end failed"} and reasons(found, "group b") == {}
    assert len((tmp_path / "kept" / "cases.jsonl").read_text().split("\n\n")) == len(found) == 9


def test_names_that_nothing_else_tells_apart_get_numbers() -> None:
    net = square()
    net.link("a", "c", srlg=["a + c", "b"])
    names = [case.name for case in cases_of(net, pairs=True)]
    assert len(set(names)) == len(names) and "a + c #2" in names


def test_other_threads_do_not_matter() -> None:
    frame = pl.DataFrame({"x": range(200_000)})
    assert frame.group_by(pl.col("x") % 1000).agg(pl.len()).height == 1000
    assert len(list(Path("/proc/self/task").iterdir())) > 1
    assert len(fail_everything(meshed(), only="links", watch="1 s", probes=7).outcomes) == len(CHORDS)


def children() -> set[str]:
    """Processes that this one has begun and that are not over; other tests may have left some that go on."""
    threads = Path("/proc/self/task").iterdir()
    return {pid for thread in threads for pid in (thread / "children").read_text().split()}


def test_a_run_that_is_stopped_goes_on(tmp_path: Path) -> None:
    before = children()

    def stop(done: int, of: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    out = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        fail_everything(meshed(), watch="1 s", out=out, jobs=1, progress=stop)
    assert children() == before
    lines = [line for line in (out / "cases.jsonl").read_text().splitlines() if line]
    assert len(lines) == 3
    with (out / "cases.jsonl").open("a") as file:
        file.write(lines[0][:40])  # as if it had been killed while it wrote
    seen: list[int] = []
    found = fail_everything(meshed(), watch="1 s", out=out, progress=lambda done, of: seen.append(done))
    assert min(seen) >= 3 and max(seen) == len(found) == len(CHORDS) + 7
    fresh = fail_everything(meshed(), watch="1 s")
    assert fresh.table().equals(found.table()) and fresh.cases().equals(found.cases())
    with pytest.raises(TwinplaneError, match="another network, or with other settings"):
        fail_everything(meshed(), watch="2 s", out=out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(TwinplaneError, match="other files than failures"):
        fail_everything(meshed(), watch="1 s", out=tmp_path / "other")


def test_a_child_that_dies_or_fails_is_told() -> None:
    before = children()

    def work(task: str) -> bytes:
        if task == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "wrong":
            raise TwinplaneError("it cannot be done")
        return task.encode() * 100_000

    assert dict(forked(["a", "b", "c"], work, 2)) == {key: key.encode() * 100_000 for key in "abc"}
    with pytest.raises(TwinplaneError, match="wrong: it cannot be done"):
        list(forked(["a", "wrong", "b"], work, 1))
    with pytest.raises(TwinplaneError, match=r"ended unexpectedly \(signal 9"):
        list(forked(["killed", "a"], work, 2))
    assert children() == before


def test_what_it_loses_anyway_is_no_harm() -> None:
    net = tp.Network()
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b, rate="10 Mbit/s", buffer="20 kB")
    net.link(b, c)
    net.flow(a, b, rate="12 Mbit/s", size=500, arrivals="poisson", name="fat")
    net.flow(a, c, rate="100 kbit/s", size=500, name="far")
    found = fail_everything(net, only="links", watch="1 s")
    assert reasons(found, "b-c") == {"far": "no route"}
    assert set(reasons(found, "a-b")) == {"fat", "far"}


def test_what_is_down_is_known_by_its_place() -> None:
    """And not by its name: parallel links have one, and so may others."""
    net = tp.Network(seed=2)
    a, b = net.router("a"), net.router("b")
    links = [net.link(a, b) for _ in range(3)]
    net.flow(a, b, rate="1 Mbit/s", name="f")
    net.run(until="1 s")
    net.fail(links[1])
    net.run(for_=0)
    assert already_down(net) == ({1}, set())
    net.fault(links[0], loss=1.0, until="1500 ms")
    net.restart(b, "200 ms")
    net.run(until="1100 ms")
    assert already_down(net) == ({1}, {1})
    net.repair(links[1])
    net.fail(a)
    net.run(until="2 s")
    assert already_down(net) == ({0, 1, 2}, {0})


def test_a_queue_that_fills_after_traffic_has_come_back_is_seen() -> None:
    net = tp.Network(seed=2)
    a, b, c = (net.router(name) for name in "abc")
    for x, y in ((a, b), (a, c), (c, b)):
        net.link(x, y, rate="10 Mbit/s", buffer="100 kB")
    a.lsp("main", to=b, route=[b], fallback=[c, b])
    net.flow(a, b, over="main", rate="8 Mbit/s", size=500, arrivals="poisson", name="main")
    net.flow(c, b, rate="2 Mbit/s", size=500, arrivals="poisson", name="side")
    found = fail_everything(net, only="links", watch="5 s")
    # 5.1 % more than fits, with preambles and gaps: the buffer is full after more than a second.
    case = found["a-b"]
    assert case.watched_s == 5 and reasons(found, "a-b") == dict.fromkeys(("main", "side"), "congestion")
    for hurt in case.hurt:
        lost = hurt.why.split(": ")[1].split()[0].replace(",", "")
        assert "the way that remained is too small: " in hurt.why and "lost in queues, last at c" in hurt.why
        assert 0 < int(lost) <= hurt.lost
    # Nothing is waited for where nothing fills: who is cut off has no way, and the others come back at once.
    assert found["a-c"].watched_s < 1 and not found["a-c"].hurt


def test_chance_hurts_nobody() -> None:
    """Flows share a link that loses frames all the time; a case that shifts its draws hurts no other flow."""
    net = tp.Network(seed=5)
    a, b, c = (net.router(name) for name in "abc")
    for x, y in ((a, b), (b, c), (a, c)):
        net.link(x, y, rate="100 Mbit/s")
    a.lsp("east", to=b, route=[b], fallback=[c, b])
    a.lsp("plain", to=c, route=[b, c])
    net.flow(a, b, over="east", rate="4 Mbit/s", size=500, name="cut")
    for number in range(8):
        net.flow(b, c, rate="1 Mbit/s", size=500, name=f"beside{number}")
    net.at("100 ms").loss("b", "c", "2 %")
    found = fail_everything(net, only="links", watch="3 s")
    hurt = {one.flow: one for one in found["a-b"].hurt}
    assert set(hurt) == {"cut"} and hurt["cut"].lost > SIGMAS**2
    assert found["a-c"].hurt == ()
    # What fails by itself is seen beside chance.
    assert {one.flow for one in found["b-c"].hurt} == {f"beside{number}" for number in range(8)}


def test_excess_is_what_chance_does_not_explain() -> None:
    assert excess({"link-down": 3}, {}).told == 3 == excess({"buffer-full": 3}, {}).told
    assert excess({"link-loss": 110}, {"link-loss": 100}).told == 0
    assert excess({"link-loss": 200}, {"link-loss": 100}).told == 100
    # What has nothing to do with chance counts, be it ever so little.
    assert excess({"link-loss": 95, "port-down": 2}, {"link-loss": 100}).told == 2
    # A queue that overflows anyway does so here or there.
    assert excess({"early-drop": 100}, {"buffer-full": 95}).told == 0
    assert excess({}, {"link-loss": 100}).told == 0
    # Few packets show that there may be more.
    assert excess({"link-loss": 16}, {}).undecided and excess({"link-loss": 17}, {}).told == 17
    assert excess({"link-loss": 120}, {"link-loss": 100}).undecided
    assert not excess({"link-loss": 110}, {"link-loss": 100}).undecided
    assert not excess({}, {}).undecided and not excess({"link-down": 1}, {}).undecided


def lossy(share: float, seed: int = 1) -> tp.Network:
    """An LSP of which the fallback leads over a link that loses a share of its frames."""
    net = tp.Network(seed=seed)
    a, b, c = (net.router(name) for name in "abc")
    for x, y in ((a, b), (a, c), (c, b)):
        net.link(x, y, rate="100 Mbit/s")
    a.lsp("main", to=b, route=[b], fallback=[c, b])
    net.flow(a, b, over="main", rate="1 Mbit/s", size=500, name="main")
    if share:
        net.at("10 ms").loss("c", "b", share)
    return net


def test_a_way_round_that_loses_by_chance_is_watched_to_the_end() -> None:
    for watch_s in (1, 4):
        found = fail_everything(lossy(0.2, 2), only="links", watch=f"{watch_s} s")
        case = found["a-b"]
        (hurt,) = case.hurt
        sent = watch_s * 1e6 / 4000
        assert case.watched_s == watch_s and hurt.recovered is False and hurt.reason == "other"
        assert hurt.lost == pytest.approx(0.2 * sent, abs=4 * (0.16 * sent) ** 0.5 + 5)
        assert "lost" in hurt.why and "link-loss" in hurt.why
        assert "comes back" not in found.headline()
    assert fail_everything(lossy(0), only="links", watch="4 s")["a-b"].watched_s < 1


def test_a_few_packets_lost_by_chance_are_watched_and_not_told() -> None:
    found = fail_everything(lossy(0.03, 7), only="links", watch="2 s")["a-b"]
    assert found.watched_s == 2 and found.never == 0


def test_packets_that_a_conditioner_drops_are_not_lost_in_queues() -> None:
    looked = [
        Look([900], [900 - count], [{reason: count}], [])
        for reason, count in (("policed", 40), ("buffer-full", 40), ("buffer-full", 100))
    ]
    still = Look([900], [805], [{"buffer-full": 95}], [])
    for now, then, queued in zip(
        looked, (Look([900], [900], [{}], []), *[still] * 2), (0, 0, 0), strict=True
    ):
        harm = _Harm()
        harm.see(now, then, 0)
        assert harm.lost_in_queues == queued
    harm = _Harm()
    harm.see(looked[2], Look([900], [900], [{}], []), 0)
    assert harm.lost_in_queues == 100


def test_ways_share_as_little_as_can_be() -> None:
    graph = Graph(meshed())
    way = graph.way(0, 4)
    assert way is not None and len(way) == 2
    beside = graph.way(0, 4, way)
    assert beside is not None and not set(beside) & set(way)
    to_the_end = graph.way(0, 6)
    assert to_the_end is not None
    beside = graph.way(0, 6, to_the_end)
    assert beside is not None and set(beside) & set(to_the_end) == {8}
    parts = graph.parts([8])
    assert parts.joined(0, 5) and not parts.joined(0, 6) and not graph.parts((), [5]).joined(5, 0)


def test_groups_come_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(
        "name: net\nnodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}\n"
        "links:\n  - [a, b, {srlg: duct}]\n  - [b, c, {srlg: [duct, bridge]}]\n  - [a, c]\n"
        "flows:\n  - {from: a, to: b}\n"
    )
    net = tp.Network.from_file(path)
    groups = {case.name: case.links for case in cases_of(net, ["groups"])}
    assert groups == {"duct": (0, 1), "bridge": (1,)}
    assert net.described()["links"][1]["srlg"] == ["duct", "bridge"]


def test_wrong_input_is_one_sentence() -> None:
    for said, told in (
        ({"only": "link"}, r"only: 'link': links, nodes, groups \(did you mean 'links'\?\)"),
        ({"only": "groups"}, "links name those that they share a risk with as srlg"),
        ({"watch": 0}, "longer than nothing"),
        ({"warm_up": "soon"}, "warm_up 'soon'"),
    ):
        with pytest.raises(TwinplaneError, match=told):
            fail_everything(meshed(), **said)  # type: ignore[arg-type]
    with pytest.raises(TwinplaneError, match="in virtual time only"):
        fail_everything(tp.Network(clock="wall"))
    lone = tp.Network()
    lone.router("a")
    with pytest.raises(TwinplaneError, match="fewer than two hosts or routers"):
        fail_everything(lone)
    ran = meshed()
    ran.run(until="1 s")
    with pytest.raises(TwinplaneError, match="it has run already"):
        fail_everything(ran)
    late = ring()
    late.run(until="2 s")
    with pytest.raises(TwinplaneError, match="it is already 2 s"):
        fail_everything(late, warm_up="1 s")


def test_answers_of_cases_are_plain() -> None:
    trial = Trial(meshed(), Probes(count=7), watch="1 s")
    world = trial.warm()
    case = Case("r0", "node", (), (0,))
    answer = next(
        answer for _, answer in forked([case], lambda one: json.dumps(watch(world, one)).encode(), 1)
    )
    assert json.loads(answer)["case"] == "r0"
    assert len(calm(world)) == len(world.calm) or world.calm == []
