"""LDP in words of users: file and Python mean the same, and tables tell what there is."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp

from tests.lab.support import refused

FILE = """\
name: square
nodes:
  a: {kind: router, ospf: {hello_interval: 1 s}, ldp: {hello_interval: 1 s, hold_time: 4 s}}
  b: {kind: router, ospf: {hello_interval: 1 s}, ldp: {hello_interval: 1 s, hold_time: 4 s}}
  c: {kind: router, ospf: {hello_interval: 1 s}, ldp: {hello_interval: 1 s, hold_time: 4 s}}
links:
  - [a, b, {rate: 1 Gbit/s, delay: 1 ms}]
  - [b, c, {rate: 1 Gbit/s, delay: 1 ms}]
"""


def test_a_file_and_python_mean_the_same_and_tables_tell_labels(tmp_path: Path) -> None:
    path = tmp_path / "square.yaml"
    path.write_text(FILE)
    net, other = tp.Network(), tp.Network.from_file(path)
    for name in "abc":
        net.router(name, hello="9 s")  # as network files have it
    for ends in ("ab", "bc"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    net.ospf(hello_interval="1 s")
    net.ldp(hello_interval="1 s", hold_time="4 s")
    net.run(until="15 s")
    other.run(until="15 s")
    assert net.digest() == other.digest()
    sessions = net.table("ldp_sessions")
    assert sessions["state"].to_list() == ["operational"] * 4
    assert sorted(sessions["role"].to_list()) == ["active"] * 2 + ["passive"] * 2
    bindings = net.table("ldp_bindings")
    assert set(bindings["node"].to_list()) == {"a", "b", "c"}
    assert 3 in bindings["label"].to_list() and any(bindings["label"] > 15)
    assert net.table("ldp_labels")["is_used"].any()


def test_one_router_by_the_value_true_and_wrong_settings() -> None:
    net = tp.Network()
    net.router("a", ospf=True, ldp=True)
    net.router("b", ospf=True, ldp=tp.Ldp(prefixes="loopbacks"))
    net.link("a", "b")
    net.run(until="40 s")
    assert net.table("ldp_sessions")["state"].to_list() == ["operational"] * 2
    with pytest.raises(tp.TwinplaneError, match="it is no router of ours"):
        other = tp.Network()
        other.host("h", "10.1.0.2/24")
        other.ldp("h")


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "square.yaml"
    path.write_text(FILE.replace("hold_time: 4 s", "hold_time: 1 s", 1))
    assert "hold_time=1 s has to be above hello_interval=1 s" in refused("lab", "check", path)
