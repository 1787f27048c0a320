"""LSP ping and traceroute in a lab, by the command line: routers in processes of their own, by the clock."""

from __future__ import annotations

import json

from twinplane.lab import Lab

from .conftest import NetworkFile
from .support import command, good, name_of

ROW = """\
name: {name}
nodes:
  a: {kind: router}
  b: {kind: router}
  c: {kind: router}
  d: {kind: router}
links:
  - [a, b, {rate: 1 Gbit/s}]
  - [b, c, {rate: 1 Gbit/s}]
  - [c, d, {rate: 1 Gbit/s}]
lsps:
  - {name: gold, from: a, to: d, route: [b, c, d], bandwidth: 1 Mbit/s}
  - {name: other, from: a, to: d, route: [b, c, d], bandwidth: 1 Mbit/s}
"""


def test_an_lsp_is_tested_and_a_table_that_lies_is_found(network_file: NetworkFile) -> None:
    file = network_file(ROW)
    lab, name = Lab(file).up(), name_of(file)
    said = good("node", "lsp-ping", "gold", "a", "-c", "2", "--interval", "10 ms", "--lab", name)
    assert said.count("egress for the FEC") == 2
    said = good("node", "lsp-traceroute", "gold", "a", "--lab", name, "--json")
    assert [row["code"] for row in json.loads(said)] == [8, 8, 3]
    rows = lab.node("b").table("lsps").to_dicts()
    of = {row["name"]: (row["in_label"], row["out_label"]) for row in rows}
    lab.node("b").ask("break-label", {"label": of["gold"][0], "out": of["other"][1]})
    found = command("node", "lsp-traceroute", "gold", "a", "--lab", name)
    assert found.returncode == 1 and "mapping for the FEC is not the given label" in found.stdout
    found = command("node", "lsp-ping", "silver", "a", "--lab", name)
    assert found.returncode == 2 and "neither a node nor an LSP has that name" in found.stderr
