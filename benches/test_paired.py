"""The paired bench: its arithmetic, its rows, and what it does with programs that behave oddly."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import build_report
import paired
import paired_rows
import pairs
import probes
import pytest
import revisions
import rows
from paired_rows import PAIRED_ROWS, PROGRAMS, Program
from pairs import Verdict

FASTER = rows.Row("r", "Mpps", rows.Figure("p", "x"))
SMALLER = dataclasses.replace(FASTER, unit="ns", at_most=True)


def test_ratio_above_one_is_faster_whatever_the_unit() -> None:
    assert pairs.speed_ratio(FASTER, old=10, new=20) == 2
    assert pairs.speed_ratio(SMALLER, old=10, new=20) == 0.5
    assert pairs.speed_ratio(SMALLER, old=10, new=0) is None
    assert pairs.speed_ratio(FASTER, old=0, new=10) is None
    assert pairs.speed_ratio(FASTER, old=float("inf"), new=10) is None


@pytest.mark.parametrize(
    ("count", "rank", "confidence"),
    # The ranks of every table of the sign test.
    [(1, 1, 0), (5, 1, 0.9375), (6, 1, 0.96875), (11, 2, 0.98828125), (12, 3, 0.9614), (22, 6, 0.9831)],
)
def test_interval_of_the_median(count: int, rank: int, confidence: float) -> None:
    values = [float(value) for value in range(1, count + 1)]
    random.Random(1).shuffle(values)
    found = pairs.interval(values)
    assert (found.low, found.high) == (rank, count + 1 - rank)
    assert found.confidence == pytest.approx(confidence, abs=1e-4)


def test_interval_holds_the_median_as_often_as_it_says() -> None:
    draw = random.Random(1)
    found = [pairs.interval([draw.expovariate(1) for _ in range(11)]) for _ in range(4000)]
    held = sum(one.low <= 0.6931 <= one.high for one in found) / len(found)
    assert abs(held - found[0].confidence) < 0.01


def test_no_interval_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least one"):
        pairs.interval([])


@pytest.mark.parametrize(
    ("ratios", "early", "late"),
    [
        ([1.0] * 11, Verdict.HOLDS, Verdict.HOLDS),
        ([0.97] * 11, Verdict.HOLDS, Verdict.HOLDS),
        ([0.9] * 11, Verdict.BELOW, Verdict.BELOW),
        ([0.9] * 5 + [1.0] * 6, Verdict.UNDECIDED, Verdict.HOLDS_UNSURE),
        ([0.9] * 6 + [1.0] * 5, Verdict.UNDECIDED, Verdict.BELOW_UNSURE),
        ([0.5] + [1.0] * 10, Verdict.HOLDS, Verdict.HOLDS),  # one bad minute decides nothing
        ([2.0] + [0.9] * 10, Verdict.BELOW, Verdict.BELOW),
        ([0.9] * 5, Verdict.UNDECIDED, Verdict.BELOW_UNSURE),  # too few to be sure of anything
        ([1.1], Verdict.UNDECIDED, Verdict.HOLDS_UNSURE),
    ],
)
def test_verdict(ratios: list[float], early: Verdict, late: Verdict) -> None:
    assert pairs.judge(ratios, final=False).verdict is early
    assert pairs.judge(ratios, final=True).verdict is late
    assert [one for one in Verdict if one.is_below] == [Verdict.BELOW, Verdict.BELOW_UNSURE]


def test_every_row_has_a_program_and_an_identity_of_its_own() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)
    assert {row.ours.probe for row in PAIRED_ROWS} == set(names)
    for key in (paired_rows.row_id, lambda row: row.name):
        assert len({key(row) for row in PAIRED_ROWS}) == len(PAIRED_ROWS)
    assert set(paired_rows.SHORT_OPTIONS) < set(names)


def test_every_program_is_an_example_here() -> None:
    files = {path.stem for path in (probes.ROOT / "crates").glob("*/examples/*.rs")}
    assert {program.example for program in PROGRAMS} <= files


def test_rows_are_chosen_by_name_or_identity() -> None:
    chosen = [
        paired_rows.row_id(row) for row in paired_rows.chosen_rows(["forwarding, 1,000 labels", "rsvp.*"])
    ]
    assert chosen == ["forward_1k.mpps", "rsvp.lsps_per_processor_s", "rsvp.bytes_per_lsp_hop"]
    assert [program.name for program in paired_rows.programs_of(paired_rows.chosen_rows(["htb*"]))] == [
        "queues"
    ]
    assert paired_rows.chosen_rows(["no such row"]) == []


def test_lines_with_a_key() -> None:
    text = b'{"kind":"flow","ns":7,"ok":true}\n{"kind":"mark","ns":3}\n'
    assert probes.parse_keyed(text, "kind") == {"flow_ns": 7.0, "mark_ns": 3.0}
    for wrong in (b'{"ns":7}', b"done", b""):
        with pytest.raises(probes.ProbeError):
            probes.parse_keyed(wrong, "kind")


def test_an_example_is_found_in_whatever_package_it_is() -> None:
    def target(name: str, kind: str) -> dict[str, object]:
        return {"name": name, "kind": [kind]}

    metadata = {
        "packages": [
            {"name": "a", "targets": [target("a", "lib"), target("bench_x", "example")]},
            {"name": "b", "targets": [target("bench_y", "example"), target("t", "test")]},
        ]
    }
    assert revisions.examples(metadata) == {"bench_x": "a", "bench_y": "b"}


def test_programs_out_of_what_cargo_prints() -> None:
    artifact = {"reason": "compiler-artifact", "target": {"name": "bench_x"}, "executable": "/t/bench_x"}
    library = {**artifact, "target": {"name": "lib"}, "executable": None}
    messages = [json.dumps(one) for one in (library, artifact, {"reason": "build-finished"})]
    assert revisions.executables(messages) == {"bench_x": Path("/t/bench_x")}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name in ("first", "second"):
        (root / name).write_text(name)
        subprocess.run(["git", "add", name], cwd=root, check=True)
        subprocess.run(["git", *identity, "commit", "-q", "-m", name], cwd=root, check=True)
    return root


def test_a_revision_is_checked_out_once(repository: Path, tmp_path: Path) -> None:
    tree = revisions.check_out(repository, "HEAD", tmp_path / "cache")
    assert (tree.source / "second").read_text() == "second"
    assert tree.target.parent == tree.source.parent
    (tree.source / "mark").touch()
    again = revisions.check_out(repository, revisions.commit(repository, "HEAD")[:8], tmp_path / "cache")
    assert (again.source / "mark").exists()
    before = revisions.check_out(repository, "HEAD~1", tmp_path / "cache")
    assert not (before.source / "second").exists()


def test_an_unknown_revision_is_one_sentence(repository: Path) -> None:
    with pytest.raises(revisions.RevisionError, match="'nothing' is not a revision"):
        revisions.commit(repository, "nothing")


def programs_folder(folder: Path, **texts: str | None) -> Path:
    """Programs `x` in folders `old` and `new`, of what they print."""
    for side, text in texts.items():
        (folder / side).mkdir()
        if text is not None:
            path = folder / side / "x"
            path.write_text(f"#!{sys.executable}\n{text}\n")
            path.chmod(0o755)
    return folder


def compared(folder: Path, count: int = 11) -> tuple[paired.Result, dict[str, paired.Taken]]:
    program = Program("p", "x")
    taken = {"p": paired._before(program, folder)}
    paired.run_pairs([program], count, folder, min(os.sched_getaffinity(0)), taken)
    return paired.result(FASTER, taken["p"], final=True), taken


def test_two_builds_are_compared_in_turn(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = "print('{{\"x\": {}, \"digest\": \"d\"}}'); open('{}', 'a').write('{}')"
    programs_folder(tmp_path, old=text.format(10, log, "A"), new=text.format(8, log, "B"))
    found, taken = compared(tmp_path)
    assert log.read_text() == "ABBA" * 5 + "AB"
    assert found.finding is not None
    assert (found.old, found.new, found.finding.median) == (10, 8, 0.8)
    assert (found.word, found.remark) == ("BELOW", "")
    assert paired.exit_code([found], taken) == 1
    assert "1 of 1 rows compared are below" in paired.summary([found])
    assert any("0.800" in line and "BELOW" in line for line in paired.table([found]))
    assert found.as_json()["ratio"] == 0.8


def test_other_work_is_remarked(tmp_path: Path) -> None:
    text = 'print(\'{{"x": 10, "digest": "{}"}}\')'
    found, taken = compared(programs_folder(tmp_path, old=text.format("a"), new=text.format("b")), 6)
    assert (found.word, paired.exit_code([found], taken)) == ("holds", 0)
    assert "different work" in found.remark


def test_what_only_one_revision_has_is_listed_and_not_compared(tmp_path: Path) -> None:
    found, taken = compared(programs_folder(tmp_path, old=None, new="print('{\"x\": 10}')"), 1)
    assert (found.word, found.remark) == ("not compared", "x is only in the new revision")
    assert paired.exit_code([found], taken) == 0


def test_a_figure_that_only_one_revision_has(tmp_path: Path) -> None:
    found, taken = compared(
        programs_folder(tmp_path, old="print('{\"x\": 10}')", new="print('{\"y\": 1}')"), 1
    )
    assert (found.word, found.remark) == ("not compared", "only in the old revision")
    assert paired.exit_code([found], taken) == 0


def test_equal_programs_are_not_run(tmp_path: Path) -> None:
    found, taken = compared(
        programs_folder(tmp_path, old="import sys; sys.exit(1)", new="import sys; sys.exit(1)")
    )
    assert (found.word, paired.exit_code([found], taken)) == ("same program", 0)


def test_a_failure_of_the_working_tree_fails_the_bench(tmp_path: Path) -> None:
    found, taken = compared(
        programs_folder(tmp_path, old="print('{\"x\": 10}')", new="import sys; sys.exit('error: no')")
    )
    assert (found.word, found.remark) == ("not compared", "p of the new revision: error: no")
    assert paired.exit_code([found], taken) == 1


def test_an_undecided_row_gets_more_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "programs_of", lambda rows: [Program("p", "x")] if rows else [])
    count = tmp_path / "count"
    count.write_text("0")
    # By turns above and below the floor: no number of pairs decides it.
    text = (
        f"from pathlib import Path\npath = Path({str(count)!r})\nturn = int(path.read_text())\n"
        "path.write_text(str(turn + 1))\nprint('{\"x\": %d}' % (9 if turn % 2 else 11))"
    )
    programs_folder(tmp_path, old="print('{\"x\": 10}')", new=text)
    taken = {"p": paired._before(Program("p", "x"), tmp_path)}
    options = argparse.Namespace(pairs=7, core=min(os.sched_getaffinity(0)))
    paired.measure([FASTER], options, tmp_path, taken)
    assert len(taken["p"].pairs) == 7 * (1 + paired.EXTRA_ROUNDS)
    assert paired.result(FASTER, taken["p"], final=True).word.endswith("unsure")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--pairs", "0"], "between 1 and 1000"),
        (["--core", "4096"], "4096 is none of"),
        (["--rows", "nothing"], "No row fits 'nothing'"),
    ],
)
def test_wrong_usage(wrong: list[str], sentence: str) -> None:
    command = [sys.executable, str(Path(paired.__file__)), *wrong]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_crates_are_counted_once() -> None:
    tree = "a v1.0.0 (/x)\nb v2.0.0\nb v2.0.0 (*)\nb v3.0.0\n\nc v1.0.0 (proc-macro)\n"
    assert build_report.crates(tree) == 4


def test_lines_of_tests_apart(tmp_path: Path) -> None:
    for name, text in (
        ("a/src/lib.rs", "1\n2\n"),
        ("a/tests/t.rs", "1\n"),
        ("a/src/tests/u.rs", "1\n2\n3\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert build_report.count_lines(tmp_path, ".rs", tests=False) == 2
    assert build_report.count_lines(tmp_path, ".rs", tests=True) == 4


def test_time_of_the_processor_is_that_of_the_children() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    wall, processor = build_report.timed(lambda: revisions.output([sys.executable, "-c", burn], Path("/")))
    assert 0.25 < processor < 2
    assert wall > 0.25
