"""``twinplane node``: a router process is looked into, commanded, recorded and replayed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import warm
from twinplane.errors import TwinplaneError
from twinplane.lab import control

PROGRAM = Path(sys.executable).parent / "twinplane-router"
DESCRIPTION = {
    "name": "square",
    "seed": 3,
    "nodes": {name: {"kind": "router"} for name in ("a", "b", "c", "d")},
    "links": [[*ends, {"rate": "1 Gbit/s"}] for ends in ("ab", "bc", "ad", "dc")],
    "lsps": [{"name": "gold", "from": "a", "to": "c", "route": ["b", "c"], "bandwidth": "1 Mbit/s"}],
}
"""A square of routers, all in one process, without any interface."""


class Running:
    """A router process in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "a.sock"
        self.recording = folder / "recording"
        (folder / "config.json").write_text(json.dumps({"description": DESCRIPTION}))
        words = ["--node", "a", "--config", "config.json", "--socket", "a.sock", "--record", "recording"]
        self.child = subprocess.Popen(
            [str(PROGRAM), *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.child.stdout is not None
        assert self.child.stdout.readline().startswith("a is ready, process ")
        with control.Control(self.socket) as asked:
            limit = time.monotonic() + 20
            while asked.status()["tunnels"]["up"] != 1:
                assert time.monotonic() < limit
                time.sleep(0.02)

    def end(self) -> None:
        self.child.kill()
        self.child.communicate()


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("router"))
    yield running
    running.end()


def twinplane(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return warm.twinplane(*words, timeout=120, **options)


def good(*words: str) -> str:
    done = twinplane(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def at(router: Running) -> tuple[str, str]:
    return "--socket", str(router.socket)


def test_tables(router: Running) -> None:
    rows = json.loads(good("node", "show", "lsps", *at(router), "--json"))
    assert [(row["name"], row["role"], row["state"]) for row in rows] == [("gold", "head", "up")]
    text = good("node", "show", "ftn", *at(router))
    assert "Prefix" in text and str(rows[0]["out_label"]) in text
    for table in (
        "ilm",
        "fib",
        "counters",
        "drops",
        "neighbors",
        "ports",
        "messages",
        "events",
        "state",
        "log",
    ):
        assert isinstance(json.loads(good("node", "show", table, *at(router), "--json")), list)
        assert good("node", "show", table, *at(router))


def test_which_table_decides(router: Running) -> None:
    # Test packets of the LSP go to its address: they take it.
    text = good("node", "show", "path", "198.18.0.0", *at(router), "--protocol", "udp", "--dst-port", "80")
    assert "lsp gold" in text and "push" in text, text
    rows = json.loads(good("node", "show", "path", "c", *at(router), "--dscp", "EF", "--json"))
    # All routers of the square are in this process; in a lab the view ends at the next router.
    assert [(row["node"], row["table"], row["to"]) for row in rows] == [
        ("a", "fib", "b"),
        ("b", "fib", "c"),
        ("c", "fib", None),
    ], rows
    done = twinplane("node", "show", "path", *at(router))
    assert done.returncode == 2 and "path: to where?" in done.stderr, done
    done = twinplane("node", "show", "path", "x", *at(router))
    assert done.returncode == 2 and "'x' is neither an address nor the name of a node" in done.stderr, done


def test_status(router: Running) -> None:
    found = json.loads(good("node", "show", "status", *at(router), "--json"))
    assert found["pid"] == router.child.pid and found["recording"] == "recording"
    assert "1 up, 0 down" in good("node", "show", "status", *at(router))


def test_ping_and_traceroute(router: Running) -> None:
    lines = good("node", "ping", "c", *at(router), "-c", "2", "--interval", "10 ms").splitlines()
    assert lines[-1] == "2 sent, 2 answered" and " c (" in lines[0]
    text = good("node", "traceroute", "gold", *at(router))
    assert " b " in text and " c " in text
    hops = json.loads(good("node", "traceroute", "c", *at(router), "--json"))["hops"]
    assert [hop["node"] for hop in hops] == ["b", "c"]
    done = twinplane("node", "ping", "192.0.2.1", *at(router), "-c", "1", "--wait", "50 ms")
    assert done.returncode == 1 and "no answer from 192.0.2.1" in done.stdout


def test_commands(router: Running, tmp_path: Path) -> None:
    capture = tmp_path / "ab.pcapng"
    with control.Control(router.socket) as asked:
        number = asked.ask("capture", {"link": ["a", "d"], "path": str(capture)})["capture"]
        good("node", "lsp", "route", "gold", "--route", "d,c", *at(router))
        limit = time.monotonic() + 20
        while "lsp-rerouted" not in json.dumps(asked.table("events")):
            assert time.monotonic() < limit
            time.sleep(0.02)
        assert asked.ask("capture-stop", number)["packets"] > 1
    assert any("RSVP Path" in line for line in good("decode", str(capture)).splitlines())
    hops = json.loads(good("node", "traceroute", "gold", *at(router), "--json"))["hops"]
    assert [hop["node"] for hop in hops] == ["d", "c"]
    good("node", "fault", "loss", "a:d", "--set", "share=100%", "--for", "10 s", *at(router))
    assert twinplane("node", "traceroute", "gold", *at(router), "--wait", "50 ms").returncode == 1
    good("node", "fault", "heal", *at(router))
    good("node", "traceroute", "gold", *at(router))


def test_a_capture_ends_by_itself(router: Running, tmp_path: Path) -> None:
    words = ["node", "capture", "a:b", str(tmp_path / "x.pcapng"), *at(router), "--for", "0.3 s"]
    child = subprocess.Popen([sys.executable, "-m", "twinplane", *words], stdout=subprocess.PIPE, text=True)
    time.sleep(0.1)
    good("node", "ping", "b", *at(router), "-c", "1")
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0 and out.startswith(f"{tmp_path / 'x.pcapng'}: ")
    with control.Control(router.socket) as asked:
        assert asked.status()["captures"] == []


def test_replay(tmp_path: Path) -> None:
    running = Running(tmp_path)
    before = json.loads(good("node", "show", "fib", *at(running), "--json"))
    time.sleep(1.2)
    running.end()
    text = good("node", "replay", str(running.recording), "lsps")
    assert text.startswith("a: ") and "the same answers" in text and "gold" in text
    found = json.loads(good("node", "replay", str(running.recording), "fib", "--json"))
    assert found["same"]
    assert [row["prefix"] for row in found["table"]] == [row["prefix"] for row in before]
    whole = running.recording.read_text()
    assert '"poll"' in whole
    running.recording.write_text(whole.replace('"poll"', '"sleep"', 1))
    done = twinplane("node", "replay", str(running.recording))
    assert done.returncode == 2 and ": not an input: unknown variant `sleep`" in done.stderr
    done = twinplane("node", "replay", str(tmp_path / "none"))
    assert done.stderr == f"twinplane: {tmp_path / 'none'}: cannot be read: No such file or directory\n"


def test_mistakes_give_one_sentence(router: Running, tmp_path: Path) -> None:
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(dead))
    for words, sentence in (
        (("show", "ilms", *at(router)), "'ilms': there is no table of that name (did you mean 'ilm'?)"),
        (
            ("show", "ilm", "--socket", str(dead)),
            f"router 'dead': it is not running: nobody answers at {dead}",
        ),
        (("show", "ilm", "--socket", f"{dead}x"), f"it is not running: there is no socket {dead}x"),
        (("lsp", "tear", "silver", *at(router)), "router 'a': no LSP is named 'silver'"),
        (("lsp", "tear", "gold", "--route", "b,c", *at(router)), "router 'a': tear: takes no routes"),
        (
            ("fault", "loss", "ab", "--set", "share=1%", *at(router)),
            "'ab' is not a link: its two ends are needed, such as pe1:p",
        ),
        (("fault", "fail", *at(router)), "fail: which link or router? Of a link its ends, such as pe1:p"),
        (("fault", "restart", *at(router)), "restart: which router?"),
        (("fault", "loss", "a:b", *at(router)), "loss: how much? --set share=1%"),
        (
            ("fault", "loss", "a:b", "--set", "share=2", *at(router)),
            "share=2: a share is 0 to 1, or 0 % to 100 %",
        ),
        (("fault", "restart", "b", *at(router)), "router 'b': fault: 'b' is not in this process"),
        (("capture", "a:c", "x.pcapng", *at(router)), 'router \'a\': no link joins "a" and "c"'),
        (("capture", "a:b", "/none/x", *at(router)), "router 'a': /none/x: can't be written: No such file"),
        (
            ("ping", "e", *at(router)),
            "router 'a': 'e' is neither an address nor the name of a node",
        ),
        (("show", "ilm", "nowhere", "--lab", "no-such-lab"), "lab 'no-such-lab' is not up"),
    ):
        done = twinplane("node", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("twinplane: ") and sentence in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.needs("root", "setpriv")
def test_others_may_not_ask(router: Running) -> None:
    for folder in (router.folder, *router.folder.parents):
        if folder.stat().st_uid == 0 and folder != Path("/") and not folder.stat().st_mode & 0o001:
            folder.chmod(0o711)
    code = (
        "import socket, sys\n"
        "try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])\n"
        "except PermissionError: sys.exit(7)\n"
    )
    words = ["setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/env", "python3", "-c", code]
    done = subprocess.run([*words, str(router.socket)], capture_output=True, text=True)
    assert done.returncode == 7, done.stderr


def test_which_router_is_meant(tmp_path: Path) -> None:
    def find(lab: str | None, node: str | None) -> Path:
        return control.find_socket(lab, node, tmp_path)

    def refused(lab: str | None, node: str | None) -> str:
        with pytest.raises(TwinplaneError) as caught:
            find(lab, node)
        return str(caught.value)

    assert refused(None, None) == "no lab is up: `twinplane lab up FILE` brings one up"
    (tmp_path / "east" / "nodes").mkdir(parents=True)
    (tmp_path / "east" / "nodes" / "pe1.sock").touch()
    assert find(None, None).name == "pe1.sock"
    (tmp_path / "east" / "nodes" / "p.sock").touch()
    assert refused(None, None) == "which router? there are p, pe1"
    assert refused(None, "pe2") == "no lab that is up has a router 'pe2' (did you mean 'pe1'?)"
    assert refused("east", "q") == "lab 'east' has no router 'q'"
    assert refused("eats", "p") == "lab 'eats' is not up (did you mean 'east'?)"
    (tmp_path / "west" / "nodes").mkdir(parents=True)
    (tmp_path / "west" / "nodes" / "p.sock").touch()
    assert refused(None, "p") == "'p' is in several labs: say which with --lab (east, west)"
    assert refused(None, None) == "several labs are up: say which with --lab (east, west)"
    assert find("west", "p").parts[-3:] == ("west", "nodes", "p.sock")
    assert find("west", None) == find("west", "p")
