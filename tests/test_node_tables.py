"""How tables of a router look on the terminal."""

from typing import Any

import pytest
from twinplane import declared
from twinplane.cli.node_tables import print_columns, title_of


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
    assert rows[0] == ["Link", "Where", "Rule", "Colour", "Action", "Packets", "Bytes"]
    assert [row[:2] for row in rows[1:]] == [["p", "(e1)"], ["p", "(e2)"], ["left", "ingress"]]
    assert shown(capsys, "conditioners", columns)[1][:3] == ["p", "(link", "0)"]


def test_classes_of_lsps_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"label": [16], "out": ["17"], "to": ["p"], "port": [1], "tc": ["copy"], "packets": [0]}
    assert shown(capsys, "ilm", columns)[0] == ["Label", "Out", "To", "Tc", "Port", "Packets"]
    columns = {"prefix": ["10.2.0.0/24"], "classes": [["EF", "default"]], "tc": ["pipe E-LSP"]}
    assert shown(capsys, "ftn", columns)[1] == ["10.2.0.0/24", "pipe", "E-LSP", "EF,", "default"]


def queue(path: str, discipline: str, **given: Any) -> dict[str, Any]:
    return {
        **{"link": 0, "neighbor": "p", "path": path, "parent": None, "discipline": discipline},
        **{"sent_packets": 0, "sent_bytes": 0, "dropped_packets": 0, "drops": {}, "marked": 0},
        **{"backlog_packets": 0, "backlog_packets_max": 0, "backlog_bytes_max": 0, "mean_wait_s": None},
        "extra": {},
        **given,
    }


def test_queues_are_a_tree_in_few_columns(capsys: pytest.CaptureFixture[str]) -> None:
    large = {"sent_packets": 12_345_678, "sent_bytes": 12_345_678_000, "backlog_packets": 1_000}
    rows = [
        queue("root", "htb", **large, drops={"buffer-full": 99_999, "early-drop": 0}, mean_wait_s=0.1234),
        queue("root/gold", "gred", parent="root/services", extra={"borrowed_packets": 7_654_321.0}),
        queue("root/gold/AF11", "virtual-queue", drops={"early-drop": 1}, dropped_packets=1),
        queue("root/services", "class", extra={"sent_packets": 5.0, "sent_bytes": 500.0}),
    ]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    print_columns("queues", columns)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "towards p"
    assert max(map(len, lines)) <= 100
    shown = [line for line in lines if "└─ " in line or "root" in line]
    assert [line[:16].rstrip() for line in shown] == [
        *(" root", " └─ services", "    └─ gold", "       └─ AF11")
    ]
    assert shown[1].split()[2:5] == ["class", "5", "500"]
    assert "Marked" not in "\n".join(lines) and "Borrowed" in "\n".join(lines)
    rows[0]["drops"] = {"buffer-full": 1, "average-queue": 2, "sojourn": 3}
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    print_columns("queues", columns)
    said = capsys.readouterr().out
    assert "Dropped" in said and " root/services/gold/AF11 dropped 1 early-drop\n" in said
    print_columns("queues", {key: values[:1] for key, values in columns.items()})
    assert " root dropped 1 buffer-full, 2 average-queue, 3 sojourn\n" in capsys.readouterr().out
    print_columns("queues", {key: [] for key in columns})
    assert capsys.readouterr().out == "no queues but FIFOs\n"


def test_titles_are_words_with_their_units() -> None:
    titles = {one.name: title_of(one) for table in declared.tables() for one in table.columns}
    assert all(title[0].isupper() and "_" not in title for title in titles.values())
    assert (titles["rx_bytes"], titles["bandwidth_bps"], titles["retry_s"]) == (
        "Rx bytes",
        "Bandwidth",
        "Retry",
    )
    assert titles["failures"] == "Failures (attempts)"


def test_a_table_of_many_columns_is_printed_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    table = declared.of_router("rsvp_transport")
    lines = shown(capsys, table.name, {one.exact_name: [3] for one in table.columns})
    assert ["repeats", "3", "messages"] in [line[:3] for line in lines]
    assert len(lines) == 1 + len(table.columns)
