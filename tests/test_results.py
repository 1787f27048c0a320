"""Results folders: whole or not at all, and read back only by the version that wrote them."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from twinplane import TwinplaneError, files
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.experiments.tasks import Done, Store, Task
from twinplane.results import folder as results
from twinplane.results.manifest import FORMAT, command_line

METRICS = {
    "k": 100, "k_up": 100, "p": 200, "failed": 0, "lost_prior": 0, "lost_during": 0, "sent": 10,
    "received": 10, "duplicated": 0, "delay_prior_s": 1e-4, "delay_during_s": 1e-4, "delay_end_s": 1e-4,
    "digest": "00",
}  # fmt: skip


def manifest(**changes: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "experiment": "lsp-flap",
        "seed": 1,
        "repeat": 1,
        "campaign": False,
        "clock": "virtual",
        "settings": {},
        "parameters": FlapParameters().model_dump(),
        "points": 1,
        "versions": {"twinplane": "0.1.0", "python": "3"},
        "revision": None,
        "machine": {"processor": "p", "cpus": 2, "system": "s", "release": "r"},
        "command": "twinplane run lsp-flap --seed 1",
        "wall_s": 1.0,
        **changes,
    }


def folder(path: Path, **changes: Any) -> Path:
    summary = {"parameters": FlapParameters().model_dump(), "metrics": METRICS}
    results.save(path, manifest(**changes), summary)
    return path


def test_results_come_back(tmp_path: Path) -> None:
    found = results.load(folder(tmp_path / "run"))
    assert found.points[0].metrics == METRICS
    assert found.tables() == []


def test_folders_are_numbered(tmp_path: Path) -> None:
    names = [results.new_folder("lsp-flap", tmp_path / "runs").name for _ in range(3)]
    assert names == ["lsp-flap-0001", "lsp-flap-0002", "lsp-flap-0003"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (
            lambda path: folder(path, format=FORMAT + 1),
            rf"results of another version \(format {FORMAT + 1}, written by twinplane 0.1.0\)",
        ),
        (lambda path: path.mkdir(), "it has no manifest.json"),
        (lambda path: (path / "points").mkdir(parents=True), "the run was not finished"),
        (lambda path: None, "no such results folder"),
        (
            lambda path: (folder(path) / "manifest.json").write_text("{"),
            "manifest is damaged: it is not JSON",
        ),
        (
            lambda path: (folder(path) / "manifest.json").write_text(f'{{"format": {FORMAT}}}'),
            "manifest is damaged: experiment is missing",
        ),
        (lambda path: (folder(path) / "summary.json").write_text("{}"), "parameters or metrics are missing"),
        (lambda path: (folder(path) / "summary.json").unlink(), "summary cannot be read: no such file"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, damage: Any, sentence: str) -> None:
    path = tmp_path / "run"
    damage(path)
    with pytest.raises(TwinplaneError, match=sentence):
        results.load(path)


def test_results_of_two_experiments_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(
        TwinplaneError, match="it holds results of 'lsp-flap': choose another folder for 'lsp-mesh'"
    ):
        results.check_taken(folder(tmp_path / "run"), "lsp-mesh", 1, 1, [])


def test_a_folder_of_other_files_is_not_written_into(tmp_path: Path) -> None:
    def check() -> None:
        results.check_taken(tmp_path, "lsp-flap", 1, 1, [])

    check()
    for name in ("points", "captures"):  # of a run that was interrupted
        (tmp_path / name).mkdir()
    check()
    (tmp_path / "thesis.tex").touch()
    (tmp_path / "x.txt").touch()
    with pytest.raises(TwinplaneError) as caught:
        check()
    assert str(caught.value) == (
        f"{tmp_path}: it holds other files than results (thesis.tex and 1 more): choose another folder"
    )


def test_finished_results_are_not_written_over(tmp_path: Path) -> None:
    path = folder(tmp_path / "run")
    found = results.load(path)
    same = [dict(point.parameters) for point in found.points]
    seed, repeat = found.manifest["seed"], found.manifest["repeat"]
    results.check_taken(path, found.experiment, seed, repeat + 1, [*same, {"n": 7}])
    others = ((seed, repeat, []), (seed + 1, repeat, same), (seed, repeat - 1, same))
    for seed_, repeat_, parameters in others:
        with pytest.raises(TwinplaneError, match="it holds results of another run, which would be lost"):
            results.check_taken(path, found.experiment, seed_, repeat_, parameters)


def test_a_full_disk_leaves_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder(tmp_path / "run") / "summary.json"
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TwinplaneError, match="the disk is full; what was finished before is intact"):
        files.write_json(path, {"metrics": {}})
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["manifest.json", "summary.json"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TwinplaneError, match="cannot be written: not a directory"):
        results.open_folder(tmp_path / "file" / "run")
    with pytest.raises(TwinplaneError, match="cannot be written: file exists"):
        results.open_folder(tmp_path / "file")


def test_tables_of_all_points_stand_in_one_file(tmp_path: Path) -> None:
    tables = [{"t": {"a": [1, 2], "b": [None, 2.5]}}, {}, {"t": {"a": [3], "b": [None]}}]
    results.save_tables(tmp_path, tables, [{"point": place} for place in range(3)])
    found = pl.read_parquet(tmp_path / "tables" / "t.parquet")
    assert found.rows() == [(0, 1, None), (0, 2, 2.5), (2, 3, None)]


def test_finished_points_are_taken_up_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "points")
    task = Task("lsp-flap", FlapParameters().model_dump(mode="json"), 1, "key", tables=False)
    assert store.get(task) is None
    store.put(task, Done({"k": 1}))
    assert store.get(task) == Done({"k": 1})
    (tmp_path / "points" / "key.json").write_text("{")
    assert store.get(task) is None
    other = Task("lsp-flap", FlapParameters(n=2).model_dump(mode="json"), 1, "key", tables=False)
    store.put(task, Done({"k": 1}))
    assert store.get(other) is None


def test_the_command_repeats_the_run() -> None:
    settings = {"n": ["100", "200", "300"], "size": ["64", "512"], "profile": ["my profile.toml"]}
    assert command_line("lsp-flap", 7, 3, settings, False) == (
        "twinplane run lsp-flap --seed 7 --repeat 3 --set n=100:300:100 --set size=64,512"
        " --set 'profile=my profile.toml'"
    )
    assert command_line("lsp-flap", 1, 1, {}, False, pcap_packets=5) == (
        "twinplane run lsp-flap --seed 1 --pcap --pcap-packets 5"
    )
    assert (
        json.dumps(command_line("lsp-flap", 1, 1, {}, True)) == '"twinplane run lsp-flap --seed 1 --campaign"'
    )
