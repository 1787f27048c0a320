"""Tables have the schema that is declared of them, wherever they come from, with rows or without."""

import json
from pathlib import Path

import polars as pl
import pytest
from twinplane import Network, declared, frames
from twinplane.results.folder import save_tables

KINDS = {
    "u32": pl.UInt32,
    "u64": pl.UInt64,
    "i64": pl.Int64,
    "f64": pl.Float64,
    "bool": pl.Boolean,
    "str": pl.String,
    "JSON": pl.String,
}


@pytest.fixture(scope="module")
def run() -> Network:
    net = Network(seed=3)
    a, b, c = (net.router(name) for name in "abc")
    for x, y in [(a, b), (b, c)]:
        net.link(x, y, rate="100 Mbit/s", delay="1 ms")
    lsp = a.lsp("gold", to=c, bandwidth="10 Mbit/s")
    net.flow(a, c, over=lsp, rate="5 Mbit/s", size=512)
    net.run(until="1 s")
    return net


def asked(net: Network, table: declared.Table) -> pl.DataFrame:
    of_router = table.scope in ("router", "device")
    return net.table(table.name, net.nodes[1] if of_router else None)


TABLES = [table for table in declared.tables() if table.scope not in ("process", "packet")]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.name}-{table.scope}")
def test_every_table_has_its_schema(run: Network, table: declared.Table) -> None:
    found = asked(run, table)
    assert dict(found.schema) == table.schema()
    assert list(found.columns) == [column.name for column in table.columns]
    for column in table.columns:
        if column.type in KINDS:
            assert found.schema[column.name] == KINDS[column.type], column
        assert column.nullable or found[column.name].null_count() == 0, column
        assert column.meaning.endswith((".", "?")), column


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.name}-{table.scope}")
def test_lists_give_the_same_data_frame(run: Network, table: declared.Table) -> None:
    of_router = table.scope in ("router", "device")
    columns = run.columns(table.name, run.nodes[1] if of_router else None)
    # As they come over a control socket.
    again = frames.typed(json.loads(json.dumps(columns)), table)
    found = asked(run, table)
    assert again.schema == found.schema
    json_columns = [column.name for column in table.columns if column.type == "JSON"]
    assert again.drop(json_columns).equals(found.drop(json_columns))
    for name in json_columns:
        assert [json.loads(x) for x in again[name]] == [json.loads(x) for x in found[name]]


def test_counters_of_rsvp_reach_the_user(run: Network) -> None:
    transport = run.table("rsvp_transport")
    assert transport["node"].to_list() == ["a", "b", "c"]
    assert transport["messages_sent"].min() > 0
    sent = run.table("rsvp").explode("sent").unnest("sent").filter(pl.col("name") == "Path")
    assert sent.height >= 2
    directions = run.table("directions")
    assert (directions["offered"] > 0).any() and directions["lost"].sum() == 0
    balance = run.table("balance")
    gone = balance["forwarded"] + balance["delivered"] + balance["dropped"] + balance["waiting"]
    assert (balance["received"] + balance["fragments"]).to_list() == gone.to_list()


def test_a_wrong_name_is_one_sentence(run: Network) -> None:
    with pytest.raises(Exception, match="table 'ilms': there is none of that name"):
        run.table("ilms")
    with pytest.raises(Exception, match="table 'log': only a router that runs as a process"):
        run.table("log")
    with pytest.raises(Exception, match="table 'ilm': of which node"):
        run.table("ilm")


def test_a_parquet_file_says_units_and_meanings(run: Network, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    empty = {key: [] for key in run.columns("queues")}
    tables = {"streams": frames.readable(run.columns("streams")), "queues": empty}
    save_tables(tmp_path, [tables], [{"point": "p"}])
    path = tmp_path / "tables" / "streams.parquet"
    said = json.loads(pl.read_parquet_metadata(path)["twinplane.columns"])
    assert said["sent"] == {"unit": "packets", "meaning": "Packets sent."}
    assert said["delay_mean_s"]["unit"] == "s"
    assert pl.read_parquet(path).schema["sent"] == pl.UInt64
    queues = pl.read_parquet(tmp_path / "tables" / "queues.parquet").schema
    assert queues["drops"] == pl.List(pl.Struct({"reason": pl.String, "packets": pl.UInt64}))
    assert queues["marked"] == pl.UInt64


def test_a_table_outlives_its_network() -> None:
    net = Network(seed=1)
    a, b = net.router("a"), net.router("b")
    net.link(a, b)
    net.run(until="10 ms")
    made = net.running().table("ports", None)
    del net, a, b
    frame = pl.DataFrame(made)
    column = frame["sent_bytes"]
    del made, frame
    assert column.len() == 2 and column.dtype == pl.UInt64
