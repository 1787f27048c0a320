"""BFD in words of users: file and Python mean the same, and tables tell what there is."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp

from tests.lab.support import refused

FILE = """\
name: pair
nodes:
  a: {kind: router, ospf: {hello_interval: 1 s, bfd: true}, bfd: {interval: 50 ms, multiplier: 4}}
  b: {kind: router, ospf: {hello_interval: 1 s, bfd: {interval: 20 ms}}}
links:
  - [a, b, {rate: 1 Gbit/s, delay: 1 ms}]
"""


def test_a_file_and_python_mean_the_same_and_tables_tell_sessions(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text(FILE)
    net, other = tp.Network(), tp.Network.from_file(path)
    for name in "ab":
        net.router(name, hello="9 s")  # as network files have it
    net.link("a", "b", rate="1 Gbit/s", delay="1 ms")
    net.ospf("a", hello_interval="1 s", bfd=True)
    net.ospf("b", hello_interval="1 s", bfd={"interval": "20 ms"})
    net.bfd("a", interval="50 ms", multiplier=4)
    net.run(until="15 s")
    other.run(until="15 s")
    assert net.digest() == other.digest()
    sessions = net.table("bfd_sessions")
    assert sessions["state"].to_list() == ["up", "up"]
    assert sessions["clients"].to_list() == [["ospf"], ["ospf"]]
    assert sessions["interval_s"].to_list() == [0.05, 0.05]
    # The multiplier is the neighbour's: 3 if it says nothing.
    assert sessions["detection_s"].to_list() == pytest.approx([0.15, 0.2])
    assert net.table("bfd_discards").is_empty()


def test_a_silent_link_is_found_and_told() -> None:
    net = tp.Network()
    net.router("a", ospf=tp.Ospf(bfd=True), bfd=tp.Bfd(interval="10 ms"))
    net.router("b", ospf=True, bfd={"interval": "10 ms"})
    net.link("a", "b")
    net.run(until="15 s")
    assert net.table("bfd_sessions")["state"].to_list() == ["down"], "b's protocols do not ask"
    net.run(until="40 s")
    assert net.table("ospf_neighbors")["state"].to_list() == ["full", "full"]


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    for wrong, words in (
        ("bfd: {interval: 50 ms, multiplier: 0}", "multiplier"),
        ("bfd: {authentication: {kind: md5}}", "kind=md5: a 'key' is missing"),
        ("bfd: 7", "true, or a mapping"),
    ):
        path.write_text(FILE.replace("bfd: {interval: 50 ms, multiplier: 4}", wrong))
        assert words in refused("lab", "check", path), wrong
