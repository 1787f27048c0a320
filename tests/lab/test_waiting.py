"""How labs are asked: with pauses that leave others time, and many questions at once."""

from __future__ import annotations

import json
import subprocess

import pytest
from twinplane.lab import daemons, processes
from twinplane.lab.kinds.frr import told


class Clock:
    """Time that passes only by sleeping, and by looking."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds


def pauses(monkeypatch: pytest.MonkeyPatch, look_s: float, step: float, count: int) -> list[float]:
    """The first pauses of somebody to whom each look takes so long."""
    clock = Clock()
    monkeypatch.setattr(processes, "time", clock)

    def true() -> bool:
        clock.now_s += look_s
        return len(clock.pauses) == count

    assert processes.wait_until(true, 1e6, step)
    return clock.pauses


def test_pauses_are_as_long_as_is_asked_for_and_longer_where_looking_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = pauses(monkeypatch, 0.0, 0.002, 20)
    assert short[0] == 0.002 and short == sorted(short) and short[-1] == processes.PAUSE_S
    assert pauses(monkeypatch, 0.0, 0.2, 3) == [0.2, 0.2, 0.2]
    assert pauses(monkeypatch, 0.125, 0.002, 2) == [0.25, 0.25]
    assert pauses(monkeypatch, 10.0, 0.002, 2) == [processes.LONG_PAUSE_S] * 2
    assert pauses(monkeypatch, 10.0, 3.0, 2) == [3.0, 3.0]


def test_waiting_ends_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(processes, "time", clock)
    assert not processes.wait_until(lambda: False, 1.0)
    assert 1.0 <= clock.now_s <= 1.0 + processes.PAUSE_S


ANSWERS = {
    "show ip ospf neighbor json": {"neighbors": {"10.0.0.1": [{"nbrState": "Full/DR", "ifaceName": "e0"}]}},
    "show mpls ldp discovery json": {"adjacencies": []},
    "show mpls ldp neighbor json": {"neighbors": {}},
    "show bgp summary json": {},
    "show bfd peers json": [{"peer": "10.9.0.1", "status": "up"}],
}


@pytest.mark.parametrize("silent", [(), ("show mpls ldp neighbor json",), tuple(ANSWERS)])
def test_daemons_are_asked_at_once_and_a_silent_one_hides_no_other(
    silent: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def ask(words: list[str]) -> subprocess.CompletedProcess[str]:
        questions = words[2::2]
        asked.append(questions)
        heard = questions[: min((questions.index(one) for one in silent if one in questions), default=None)]
        said = "\n".join(json.dumps(ANSWERS[one], indent=2) for one in heard)
        return subprocess.CompletedProcess(words, 0, said + "\n", "")

    monkeypatch.setattr(daemons, "ask", ask)
    found = told.neighbors(list(told.QUESTIONS), ["vtysh"])
    wanted = {} if silent == tuple(ANSWERS) else {"OSPF": "10.0.0.1", "BFD": "10.9.0.1"}
    assert {row["protocol"]: row["neighbor"] for row in found} == wanted
    assert asked[0] == list(ANSWERS) and (len(asked) == 1) == (not silent)
    assert told.neighbors([], ["vtysh"]) == []


def test_json_documents_behind_each_other_are_counted() -> None:
    assert told.documents('{"a": 1}\n\n[2]\n', 2) == [{"a": 1}, [2]]
    for text in ("{}", "{} {} {}", "{} % no such daemon", ""):
        with pytest.raises(ValueError):
            told.documents(text, 2)
