"""What is kept about labs: one that can't be read does not hide the others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer
from twinplane.cli.lab import status
from twinplane.errors import TwinplaneError, TwinplaneWarning
from twinplane.lab import state
from twinplane.lab.processes import Process
from twinplane.lab.state import NodeState, State

BROKEN = ("{", "[]", "null", '{"format": 1}', '{"format": 1, "nodes": [], "maker": {}}', '"text"')


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(state, "ROOT", tmp_path)
    for name in ("bad", "good"):
        (tmp_path / name).mkdir()
    maker = Process(1, 1)
    State("good", None, maker, {"pe1": NodeState("router", None)}, [], phase="up").save()
    return tmp_path


@pytest.mark.parametrize("text", BROKEN)
def test_a_lab_that_cannot_be_read_is_skipped(
    labs: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = labs / "bad" / "state.json"
    file.write_text(text)
    said = f"{file}: it is not what twinplane wrote"
    with pytest.raises(typer.Exit) as ended:
        status(None, False)
    found = capsys.readouterr()
    assert ended.value.exit_code == 2
    assert found.err == f"twinplane: {said}\n"
    assert "good" in found.out and "bad" not in found.out
    with pytest.warns(TwinplaneWarning, match="it is not what twinplane wrote"):
        assert state.of_node("pe1").name == "good"
    with pytest.raises(TwinplaneError, match="it is not what twinplane wrote"):
        state.running("bad")


def test_labs_that_come_and_go_do_not_take_the_folder_from_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of all labs goes with the last one, just when another makes its own."""
    monkeypatch.setattr(state, "TOP", tmp_path / "twinplane")
    monkeypatch.setattr(state, "ROOT", tmp_path / "twinplane/labs")

    def come_and_go(number: int) -> None:
        for _ in range(200):
            with state.locked(f"lab-{number}"):
                pass

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(come_and_go, number) for number in range(4)]:
            done.result()
    assert list(tmp_path.iterdir()) == []
