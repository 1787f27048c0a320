"""How tables of a router look on the terminal."""

from typing import Any

import pytest
from twinplane.cli.node_tables import LAYOUTS, print_columns


def shown(
    capsys: pytest.CaptureFixture[str], table: str, columns: dict[str, list[Any]], ports: Any = ()
) -> list[list[str]]:
    print_columns(table, columns, ports)
    return [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]


def test_links_are_named_by_neighbours_and_parallel_ones_by_interfaces(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = {
        "link": [0, 1, 2],
        "neighbor": ["p", "p", "left"],
        "where": ["ingress"] * 3,
        "rule": ["ef", "ef", None],
        "colour": ["green", "red", None],
        "packets": [1, 2, 3],
        "bytes": [4, 5, 6],
        "action": ["pass", "drop", "pass"],
    }
    ports = [{"link": 0, "interface": "e1"}, {"link": 1, "interface": "e2"}]
    rows = shown(capsys, "conditioners", columns, ports)
    assert rows[0] == ["Link", "to", "Where", "Rule", "Colour", "Action", "Packets", "Bytes"]
    assert [row[:2] for row in rows[1:]] == [["p", "(e1)"], ["p", "(e2)"], ["left", "ingress"]]
    assert shown(capsys, "conditioners", columns)[1][:3] == ["p", "(link", "0)"]


def test_classes_of_lsps_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"label": [16], "out": ["17"], "to": ["p"], "port": [1], "class": ["copy"], "packets": [0]}
    assert shown(capsys, "ilm", columns)[0][-2:] == ["Class", "Packets"]
    columns = {"prefix": ["10.2.0.0/24"], "classes": [["EF", "default"]], "class": ["pipe E-LSP"]}
    assert shown(capsys, "ftn", columns)[1] == ["10.2.0.0/24", "EF,", "default", "pipe", "E-LSP"]
    assert ("diffserv", "DiffServ") in LAYOUTS["lsps"]


def test_titles_are_words() -> None:
    for layout in LAYOUTS.values():
        assert all(title[0].isupper() and "_" not in title for _, title in layout)
