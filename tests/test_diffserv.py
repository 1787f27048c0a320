"""The experiment `diffserv`: its queues, what is on the wire, what the four scenarios give, and mistakes."""

from __future__ import annotations

import html
import json
import struct
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support import warm
from twinplane import TwinplaneError, TwinplaneWarning
from twinplane import queues as q
from twinplane.experiments import load
from twinplane.experiments.diffserv import EXPERIMENT, classes, compared, critique, figures, published
from twinplane.experiments.diffserv.parameters import FLOWS, SCENARIOS, DiffservParameters
from twinplane.experiments.diffserv.summary import figures as figures_of
from twinplane.experiments.parameters import parse_settings, points
from twinplane.experiments.plan import planned
from twinplane.experiments.request import Request
from twinplane.experiments.running import run_task
from twinplane.experiments.scores import Kind
from twinplane.experiments.session import run as run_plan
from twinplane.experiments.tasks import Task
from twinplane.measure.metrics import flat
from twinplane.reports import of_results
from twinplane.results.folder import load as load_results
from twinplane.results.points import Point
from twinplane.units import rate_bps

ROOT = Path(__file__).resolve().parents[1]
SHORT = {"duration_s": 3.0, "begin_s": 0.3, "drain_s": 1.5}


def done(seed: int = 1, captures: Path | None = None, **given: Any) -> Any:
    """One run in virtual time."""
    p = DiffservParameters(**{**SHORT, **given})
    folder = None if captures is None else str(captures)
    return run_task(Task("diffserv", p.model_dump(mode="json"), seed, "", True, folder, 100_000))


def given_settings(*settings: str) -> list[DiffservParameters]:
    found = points("diffserv", DiffservParameters, parse_settings("diffserv", settings))
    for one in found:
        EXPERIMENT.check(one)
    return found


# -- parameters -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            ["scenario=mpsl"],
            "diffserv: scenario=mpsl: one of all, best-effort, diffserv, mpls, diffserv-mpls"
            " (did you mean 'mpls'?)",
        ),
        (["ef_kbps=-1"], "diffserv: ef_kbps=-1: it should be at least 0 (0 to 50000)"),
        (["duration_s=0"], "diffserv: duration_s=0: it should be above 0 (above 0 to 3600)"),
        (["queue_packets=0"], "diffserv: queue_packets=0: it should be at least 1 (1 to 100000)"),
        (
            ["ef_kbps=0", "af11_kbps=0", "af12_kbps=0", "de_kbps=0"],
            "diffserv: ef_kbps, af11_kbps, af12_kbps and de_kbps are all 0: no flow sends anything",
        ),
        (
            ["link_mbps=10", "total_mbps=11"],
            "diffserv: total_mbps=11: it is a part of the link's 10 Mbit/s",
        ),
        (
            ["af11_probability=0.5"],
            "diffserv: af12_probability=0.04: AF12 is dropped before AF11 (0.5)",
        ),
        (
            ["accounting=lnik"],
            "diffserv: accounting=lnik: one of ip, link, frame, wire (did you mean 'link'?)",
        ),
        (
            ["duration_s=1", "series_bin_ms=2000"],
            "diffserv: series_bin_ms=2000: it is longer than duration_s (1)",
        ),
        (["profile=nothing"], "profile=nothing: no such profile"),
    ],
)
def test_mistakes_give_one_sentence(settings: list[str], sentence: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        given_settings(*settings)
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)


def test_a_choice_wins_over_no_value() -> None:
    assert [p.borrowing for p in given_settings("borrowing=none")] == ["none"]
    assert [p.borrowing for p in given_settings("borrowing=none,all")] == ["none", "all"]
    assert [p.borrowing for p in planned(Request("diffserv", ("borrowing=none",))).points] == ["none"]
    with pytest.raises(TwinplaneError, match=r"^diffserv: de_kbps=none: it should be a number"):
        given_settings("de_kbps=none")
    with pytest.raises(TwinplaneError, match=r"^diffserv: borrowing=null: one of all, none, "):
        given_settings("borrowing=null")


def test_the_answer_tells_of_every_point() -> None:
    flows = {flow: {"mean_s": 0.1, "sent": 100, "dropped": 1} for flow in FLOWS}
    total = {"sent": 400, "dropped": 4}

    def point(scenario: str, borrowing: str) -> Point:
        return Point(
            {"scenario": scenario, "borrowing": borrowing}, {scenario: flows, "totals": {scenario: total}}
        )

    two = figures.answer([point("mpls", "all"), point("diffserv", "all")])
    assert two.startswith("Mpls: all flows wait") and "; diffserv: all flows wait" in two
    two = figures.answer([point("mpls", "none"), point("mpls", "all")])
    assert "Mpls (borrowing=none): " in two and "; mpls (borrowing=all): " in two
    many = figures.answer([point("mpls", str(place)) for place in range(9)])
    assert many.startswith("Of 9 points the first and the last: mpls (borrowing=0): ")
    assert "(borrowing=8)" in many and "(borrowing=4)" not in many


def test_repeated_runs_say_so_and_repeat_with_their_captures(tmp_path: Path) -> None:
    words = ["run", "diffserv", "--seed", "4", "--repeat", "3", "--pcap", "--set", "scenario=diffserv"]
    words += ["--set", "duration_s=0.5", "--set", "drain_s=0.5", "--jobs", "1", "--out", "found"]
    ended = warm.twinplane(*words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "   seeds 4 to 6   " in ended.stdout and "   seed 4   " not in ended.stdout
    assert "means of 3 seeds ± half of their 95 % interval" in ended.stdout
    assert "mean max" in ended.stdout and ended.stdout.count(" ± ") > 10
    last = ended.stdout.splitlines()[-1]
    assert last.startswith("repeat ") and last.endswith(" --pcap")
    page = html.unescape((tmp_path / "found/report.html").read_text())
    assert "seeds 4 to 6: means of 3 seeds ±" in page
    assert "Queues at Gaia's output to Zeus (seed 4 alone)" in page


def test_runs_with_other_parameters_are_compared_with_a_word(tmp_path: Path) -> None:
    short = ("scenario=mpls", "duration_s=0.5", "drain_s=0.5")
    for name, more in (("a", ()), ("b", ("queue_packets=7",))):
        run_plan(planned(Request("diffserv", (*short, *more), out=tmp_path / name)))
    words = ["compare", "a", "b"]
    text = warm.twinplane(*words, cwd=tmp_path).stdout
    assert text.index("asked for differently") < text.index("queue_packets") < text.index("residual   ")
    told = json.loads(warm.twinplane(*words, "--json", "--html", "two.html", cwd=tmp_path).stdout)
    assert told["parameters"] == {"queue_packets": {"first": "100", "second": "7"}}
    assert "Asked for differently" in (tmp_path / "two.html").read_text()
    same = warm.twinplane("compare", "a", "a", cwd=tmp_path)
    assert "asked for" not in same.stdout


def test_mistakes_on_the_command_line_end_with_2(tmp_path: Path) -> None:
    for words in (
        ["--set", "scenario=none-such"],
        ["--set", "de_kbps=-5"],
        ["--rate", "auto", "--clock", "wall"],
    ):
        ended = warm.twinplane("run", "diffserv", *words, cwd=tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert ended.stderr.startswith("twinplane: diffserv: ") and ended.stderr.count("\n") == 1
        assert not (tmp_path / "runs").exists()


def test_what_a_packet_counts_for() -> None:
    def counted(**given: Any) -> int:
        return DiffservParameters(**given).counted_bytes

    assert counted() == 1042
    assert counted(size_counts="ip", accounting="ip") == 1000
    assert [counted(accounting=layer) for layer in ("ip", "link", "frame", "wire")] == [
        1028,
        1042,
        1046,
        1066,
    ]


def test_tc_rounds_probabilities_to_powers_of_two() -> None:
    p = DiffservParameters()
    assert classes.probability(p, 0.3, 10_000, 100_000) == 90_000 / 2**19
    exact = p.model_copy(update={"red_probability": "exact"})
    assert classes.probability(exact, 0.3, 10_000, 100_000) == 0.3


def test_the_queues_are_those_of_the_paper() -> None:
    tree = classes.output(DiffservParameters(scenario="diffserv"))
    root = tree.root
    assert tree.accounting.layer == "link" and isinstance(root, q.Cbq)
    assert (root.bandwidth, root.avpkt, root.allot) == ("100 Mbit/s", "1 kB", "1514 B")
    of = root.classes
    assert [(name, rate_bps(one.rate), one.bounded) for name, one in of.items()] == [
        ("total", 2_800_000, True),
        ("EF", 800_000, False),
        ("AF1", 10**6, False),
        ("DE", 10**6, False),
    ]
    assert all(one.maxburst == 10 for one in of.values())
    assert of["EF"].queue == q.Bfifo(limit=10_000)
    red, gred = of["DE"].queue, of["AF1"].queue
    assert isinstance(red, q.Red) and isinstance(gred, q.Gred) and list(gred.queues) == ["AF11", "AF12"]
    assert (red.limit, red.min, red.max, red.burst) == ("120 kB", "10 kB", "100 kB", "11000 B")
    assert (gred.limit, gred.min, gred.max, gred.burst) == ("120 kB", "30 kB", "100 kB", "35000 B")


def test_what_does_not_add_up_is_said_once() -> None:
    with pytest.warns(TwinplaneWarning) as caught:
        given_settings("af1_rate_mbps=2")
    assert len({str(one.message) for one in caught}) == 1
    assert "add up to 3.8 Mbit/s, 1 Mbit/s more than the 2.8 Mbit/s of 'total'" in str(caught[0].message)


def test_warnings_are_kept_with_the_results(tmp_path: Path) -> None:
    settings = ("scenario=diffserv", "af1_rate_mbps=2", "duration_s=0.5", "drain_s=0.5")
    with pytest.warns(TwinplaneWarning) as caught:
        run_plan(planned(Request("diffserv", settings, out=tmp_path / "run")))
    found = load_results(tmp_path / "run")
    assert found.warnings == list(dict.fromkeys(str(one.message) for one in caught))
    assert "1 Mbit/s more than the 2.8 Mbit/s of 'total'" in found.warnings[0]
    assert f"Warning: {found.warnings[0]}." in html.unescape(of_results(found).read_text())
    shown = warm.twinplane("show", tmp_path / "run")
    assert f"warning  {found.warnings[0]}\n" in shown.stdout


def test_the_text_gives_classes_more_than_there_is() -> None:
    text = " ".join(critique.arithmetic(DiffservParameters(af1_rate_mbps=2.0)))
    assert "0.8 + 2 + 1 = 3.8 Mbit/s of 2.8" in text


# -- figures ----------------------------------------------------------------------------------------------


def test_figures_of_a_flow() -> None:
    found = figures_of([10**12, None, 3 * 10**12, 2 * 10**12])
    assert (found["sent"], found["dropped"]) == (4, 1)
    assert (found["mean_s"], found["max_s"], found["min_s"], found["delay_range_s"]) == (2.0, 3.0, 1.0, 2.0)
    assert found["ipdv_mean_s"] == 1.0  # of the last two alone
    assert found["jitter_rfc3550_s"] == (2 / 16 + (2 / 16 + (1 - 2 / 16) / 16)) / 2
    nothing = figures_of([None])
    assert nothing["mean_s"] is None and nothing["dropped"] == 1


def test_proportional_losses() -> None:
    fair = {"a": {"sent": 1000, "dropped": 100}, "b": {"sent": 3000, "dropped": 300}}
    assert published.proportional(fair) == (True, 0.0)
    unfair = {"a": {"sent": 1000, "dropped": 10}, "b": {"sent": 3000, "dropped": 390}}
    assert not published.proportional(unfair)[0]
    sent = {"EF": 2850, "AF11": 3172, "AF12": 600, "DE": 4650}
    assert not published.proportional(published.published()["best-effort"], sent)[0]


def test_the_closed_form_has_the_papers_arithmetic() -> None:
    p = DiffservParameters()
    wide, narrow = published.closed_form(p, 1042), published.closed_form(p, 1000)
    assert round(wide["max_s"], 3) == 0.298 and round(narrow["max_s"], 3) == 0.286
    assert 0.26 <= wide["mean_s"] <= 0.29 and 0.24 <= narrow["mean_s"] <= 0.27
    assert 1050 <= wide["total"] <= 1150 and 640 <= narrow["total"] <= 720


# -- runs -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole() -> Any:
    """All four, as published."""
    return done(duration_s=30.0, begin_s=1.0, drain_s=2.0)


def test_every_figure_is_there(whole: Any) -> None:
    assert [key for key in whole.metrics if key in SCENARIOS] == list(SCENARIOS)
    for scenario in SCENARIOS:
        assert list(whole.metrics[scenario]) == list(FLOWS)
        for flow in FLOWS:
            found = whole.metrics[scenario][flow]
            assert {"mean_s", "max_s", "min_s", "delay_range_s", "dropped", "sent", "p99_s"} <= set(found)
            assert 0 < found["min_s"] <= found["p50_s"] <= found["p99_s"] <= found["max_s"]
            assert found["delay_range_s"] == pytest.approx(found["max_s"] - found["min_s"], abs=1e-12)


def test_the_same_traffic_meets_every_scenario(whole: Any) -> None:
    table = whole.tables["packets"]
    seen: dict[str, list[tuple[Any, ...]]] = {scenario: [] for scenario in SCENARIOS}
    for row in zip(*(table[key] for key in ("scenario", "flow", "sequence", "departure_s")), strict=True):
        seen[row[0]].append(row[1:])
    assert len(seen["mpls"]) > 10_000
    assert all(sorted(rows) == sorted(seen["best-effort"]) for rows in seen.values())


def test_what_the_paper_says_holds(whole: Any) -> None:
    p = DiffservParameters()
    point = Point(p.model_dump(mode="json"), whole.metrics)
    rows = [row for row in compared.comparisons(point) if row.published is None]
    assert len(rows) == 4 + 16
    assert all(row.holds for row in rows), [row.what for row in rows if not row.holds]
    means = {flow: whole.metrics["diffserv"][flow]["mean_s"] for flow in FLOWS}
    assert means["EF"] < means["AF12"] < means["DE"] and means["EF"] < means["AF11"] < means["DE"]
    assert whole.metrics["diffserv"]["AF11"]["dropped"] == whole.metrics["diffserv"]["AF12"]["dropped"] == 0


def test_an_idle_class_sends_at_the_speed_of_the_link(whole: Any) -> None:
    one_s = 1042 * 8 / 2.8e6
    assert all(whole.metrics[s][f]["min_s"] < one_s / 2 for s in SCENARIOS for f in FLOWS)


def test_packets_are_conserved_at_every_queue(whole: Any) -> None:
    table = whole.tables["queues"]
    keys = ("given_packets", "sent_packets", "dropped_packets", "backlog_packets")
    rows = list(zip(*(table[key] for key in keys), strict=True))
    assert len(rows) > 40 and any(row[2] for row in rows)
    assert all(given == sent + dropped + left for given, sent, dropped, left in rows)


def test_losses_are_where_they_should_be(whole: Any) -> None:
    """What a flow lost is what Gaia's policers and queue dropped of it."""
    table = whole.tables["queues"]
    for scenario in SCENARIOS:
        rows = zip(*(table[key] for key in ("scenario", "node", "path", "dropped_packets")), strict=True)
        queues = sum(lost for s, _, path, lost in rows if (s, path) == (scenario, "root"))
        total = whole.metrics["totals"][scenario]
        assert total["dropped"] == queues + total["policed"]


def test_repeated_and_other_seeds() -> None:
    first, again, other = done(scenario="diffserv"), done(scenario="diffserv"), done(2, scenario="diffserv")
    assert first.metrics == again.metrics
    assert first.metrics["digest"] != other.metrics["digest"]
    assert set(first.metrics) & set(SCENARIOS) == {"diffserv"}


def test_alternatives_change_what_they_should() -> None:
    def found(**given: Any) -> dict[str, Any]:
        return flat(done(scenario="diffserv", duration_s=10.0, **given).metrics["diffserv"])

    default, wide, stuck = found(), found(af1_rate_mbps=2.0), found(borrowing="none")
    assert wide["AF11.mean_s"] < default["AF11.mean_s"] / 3
    assert stuck["EF.mean_s"] > default["EF.mean_s"]
    dropping = found(out_of_profile="drop")
    assert dropping["AF11.policed"] > 100 and default["AF11.policed"] == 0


def test_flows_that_send_nothing_are_left_out() -> None:
    metrics = done(scenario="best-effort", ef_kbps=0).metrics
    assert list(metrics["best-effort"]) == ["AF11", "AF12", "DE"]


# -- the command ------------------------------------------------------------------------------------------


def test_one_command_runs_all_and_reports(tmp_path: Path) -> None:
    settings = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    words = ["run", "diffserv", *settings, "--repeat", "2", "--out", "found", "--json"]
    words += ["--figures", "png"]
    ended = warm.twinplane(*words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((tmp_path / "found/summary.json").read_text())
    assert summary["metrics"]["diffserv"]["EF"]["sent"] > 0
    assert summary["intervals"]["diffserv.EF.mean_s"]["n"] == 2
    results = load_results(tmp_path / "found")
    page = (tmp_path / "found/report.html").read_text()
    for text in (
        "Delay by packet: diffserv-mpls",
        "Backlog at Gaia",
        "means of 2 seeds",
        "Quantiles of delay",
    ):
        assert text in page
    drawn = {path.name for path in (tmp_path / "found/figures").glob("*.png")}
    assert {f"delay-by-packet-{scenario}.png" for scenario in SCENARIOS} | {"backlog.png"} <= drawn
    assert len(figures.lines(results.points)) == 16
    assert len(EXPERIMENT.answer(results.points)) < 600
    shown = warm.twinplane("show", "found", cwd=tmp_path)
    assert shown.returncode == 0 and "diffserv-mpls" in shown.stdout
    same = warm.twinplane("compare", "found", "found", cwd=tmp_path)
    assert same.returncode == 0, same.stderr


def test_it_is_in_the_catalogue() -> None:
    assert load("diffserv") is EXPERIMENT


# -- on the wire ------------------------------------------------------------------------------------------

AT = {"gaia-zeus": True, "zeus-poseidon": True, "poseidon-cronus": False, "cronus-aphrodite": False}
"""The hops behind Gaia, and whether LSPs go over them."""


def rows_of(files: list[Path], shown: str, *fields: str) -> list[list[tuple[str, ...]]]:
    """What tshark shows of the packets of each file, in one go: starting takes it longer than reading."""
    merged = files[0].parent / "merged.pcapng"
    # Each file keeps its interfaces, and so the number of one tells which file it was of.
    subprocess.run(["mergecap", "-I", "none", "-w", merged, *files], check=True, capture_output=True)
    words = ["tshark", "-r", str(merged), "-Y", shown, "-T", "fields"]
    for name in ("frame.interface_id", *fields):
        words += ["-e", name]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    found: list[list[tuple[str, ...]]] = [[] for _ in files]
    of_interface = [rows for rows, file in zip(found, files, strict=True) for _ in range(interfaces(file))]
    for line in ended.stdout.splitlines():
        number, *row = line.split("\t")
        of_interface[int(number)].append(tuple(row))
    return found


def interfaces(file: Path) -> int:
    """How many interfaces a pcapng file describes: blocks of type 1."""
    data, place, count = file.read_bytes(), 0, 0
    while place < len(data):
        kind, size = struct.unpack_from("<II", data, place)
        count, place = count + (kind == 1), place + size
    return count


def capture_of(folder: Path, scenario: str, link: str) -> Path:
    (found,) = (folder / scenario).glob(f"*-{link}.pcapng")
    return found


@pytest.mark.needs("tshark")
def test_code_points_labels_and_exp_at_every_hop(tmp_path: Path) -> None:
    metrics = done(captures=tmp_path, duration_s=1.0).metrics
    files = {
        (scenario, link): capture_of(tmp_path, scenario, link)
        for scenario in SCENARIOS
        for link in ("aphrodite-gaia", *AT)
    }
    fields = ("mpls.label", "mpls.exp", "ip.dsfield.dscp", "_ws.malformed")
    shown = dict(zip(files, rows_of([*files.values()], "udp || _ws.malformed", *fields), strict=True))
    assert not [row for rows in shown.values() for row in rows if row[3]]
    for scenario in SCENARIOS:
        sent = Counter(row[2] for row in shown[scenario, "aphrodite-gaia"])
        assert sent == {
            dscp: metrics[scenario][flow]["sent"]
            for flow, dscp in (("EF", "46"), ("AF11", "10"), ("AF12", "12"), ("DE", "0"))
        }
        for link, on_lsp in AT.items():
            seen = {row[:3] for row in shown[scenario, link]}
            assert {row[2] for row in seen} == {"0", "10", "12", "46"}
            if not on_lsp or scenario in ("best-effort", "diffserv"):
                assert {row[:2] for row in seen} == {("", "")}
            elif scenario == "mpls":
                assert len({row[0] for row in seen}) == 1 and all(row[0] for row in seen)
            else:
                # RFC 3270, 3 and 4: of the E-LSP EXP is the behaviour, of the L-LSP the drop precedence.
                exp = {row[2]: row[1] for row in seen}
                assert exp == {"0": "0", "46": "5", "10": "1", "12": "2"}
                label = {row[2]: row[0] for row in seen}
                assert label["0"] == label["46"] != label["10"] == label["12"]


@pytest.mark.needs("tshark")
def test_the_diffserv_objects_are_well_formed(tmp_path: Path) -> None:
    done(captures=tmp_path, duration_s=0.5, scenario="diffserv-mpls")
    (file,) = tmp_path.glob("*-gaia-zeus.pcapng")
    ended = subprocess.run(
        ["tshark", "-r", str(file), "-Y", "rsvp.path", "-V"], capture_output=True, text=True, check=True
    )
    assert "Malformed" not in ended.stdout
    # RFC 3270, 5.2: class 65; C-Type 1 is an E-LSP, with its map, and C-Type 2 an L-LSP, with its class.
    assert "DIFFSERV: E-LSP" in ended.stdout and "DIFFSERV: L-LSP" in ended.stdout
    assert "MAP: EXP 5, DSCP 46" in ended.stdout and "PSC: DSCP 10" in ended.stdout


# -- real time --------------------------------------------------------------------------------------------


@pytest.mark.live
def test_by_the_clock_on_the_wall(tmp_path: Path) -> None:
    real_time(tmp_path, "--clock", "wall")


@pytest.mark.live
@pytest.mark.needs("labs")
def test_on_a_lab(tmp_path: Path) -> None:
    real_time(tmp_path, "--lab")


def real_time(folder: Path, *options: str) -> None:
    settings = {"duration_s": 2.0, "begin_s": 1.0, "drain_s": 1.5}
    words = ["run", "diffserv", *options, "--out", "found", "--json"]
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    ended = warm.twinplane(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((folder / "found/summary.json").read_text())
    for scenario in SCENARIOS:
        for flow in FLOWS:
            found, twin = (one["metrics"][scenario][flow] for one in (summary, summary["twin"]))
            assert found["sent"] == twin["sent"]
            assert found["dropped"] < found["sent"]
    residuals = summary["twin"]["residuals"]
    assert residuals["best-effort.EF.sent"]["residual"] == 0
    assert all(one["bound"] for name, one in residuals.items() if name.endswith(".dropped"))
    if "--lab" in options:  # of its routers only they know what they received
        assert "packet_hops" not in residuals
        paths = summary["calibration"]["paths"]
        assert list(paths) == list(SCENARIOS) and all(one["min_s"] > 0 for one in paths.values())
    assert "Residual against the virtual run" in (folder / "found/report.html").read_text()


def test_figures_that_are_not_the_papers_are_not_laid_beside_it() -> None:
    short = done(duration_s=1.0, series_bin_ms=50)
    p = DiffservParameters(**{**SHORT, "duration_s": 1.0, "series_bin_ms": 50})
    rows = compared.comparisons(Point(p.model_dump(mode="json"), short.metrics))
    assert len(rows) == 16 and all(row.kind == Kind.OURS for row in rows)
