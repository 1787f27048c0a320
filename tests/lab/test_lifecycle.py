"""Labs come up and go down, and nothing of them is left: twice, side by side, whatever was killed."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import children
from twinplane.errors import TwinplaneError
from twinplane.lab import Lab, netns, processes, state

from .conftest import NetworkFile
from .support import TWO_SITES, command, good, interfaces, left_behind, name_of, namespaces, refused

CYCLES = int(os.environ.get("TWINPLANE_LAB_CYCLES", "5"))
"""`make test-lab-cycles` asks for more."""


def test_up_and_down(network_file: NetworkFile) -> None:
    file = network_file()
    before = interfaces()
    found = json.loads(good("lab", "up", file, "--json"))
    name = name_of(file)
    assert [node["state"] for node in found["nodes"]] == ["up"] * 5
    assert {lsp["lsp"]: lsp["state"] for lsp in found["lsps"]} == {"east": "up", "west": "up"}
    assert len(namespaces(name)) == 5
    assert interfaces() == before
    folder = state.folder(name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "nodes/pe1.sock").stat().st_mode) == 0o600
    table = command("lab", "status").stdout  # what it says of other labs is not this test's business
    assert name in table and "3/3" in table
    assert "left" in good("lab", "status", name)
    assert good("lab", "down", file) == f"lab {name} is down\n"
    assert left_behind(name) == [] and interfaces() == before
    assert good("lab", "down", file) == f"lab {name} was not up\n"
    assert good("lab", "down", name) == f"lab {name} was not up\n"


def test_addresses_and_limits_of_hosts(network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:
        assert "10.1.0.2/24" in lab.exec("left", "ip", "-br", "address").stdout
        assert "default via 10.1.0.1 dev e0" in lab.exec("left", "ip", "route").stdout
        link = json.loads(lab.exec("left", "ip", "-j", "link", "show", "e0").stdout)[0]
        assert link["mtu"] == 1500
        core = json.loads(lab.exec("p", "ip", "-j", "link", "show", "e0").stdout)[0]
        assert core["mtu"] == 9216 and core["operstate"] == "UP"


def test_exec_is_the_command(network_file: NetworkFile) -> None:
    file = network_file()
    with Lab(file) as lab:
        words = [sys.executable, "-m", "twinplane", "lab", "exec", "left", "--lab", lab.name, "--"]
        done = subprocess.run(
            [*words, "sh", "-c", "cat; exit 7"], input="through", capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (7, "through")
        assert "there is no command 'nosuch'" in refused(
            "lab", "exec", "left", "--lab", lab.name, "--", "nosuch"
        )
        assert "(did you mean 'left'?)" in refused("lab", "exec", "lefd", "--lab", lab.name, "--", "true")
        assert "say which command" in refused("lab", "exec", "left", "--lab", lab.name)
        with pytest.raises(TwinplaneError, match="ended with 3"):
            lab.exec("right", "sh", "-c", "exit 3")


def test_two_labs_with_equal_addresses(network_file: NetworkFile) -> None:
    first, second = network_file(), network_file()
    with Lab(first) as one, Lab(second) as other:
        assert one.node("left").address == other.node("left").address
        assert " labs: say which with --lab" in refused("lab", "exec", "left", "--", "true")
        assert good("lab", "exec", "left", "--lab", other.name, "--", "hostname")
        one.down()
        assert left_behind(one.name) == []
        assert other.node("pe1").status()["tunnels"]["up"] == 1


def test_commands_of_hosts(network_file: NetworkFile) -> None:
    text = TWO_SITES.replace(
        "address: 10.1.0.2/24}", "address: 10.1.0.2/24, exec: ['echo hello', 'sleep 1000 &']}"
    )
    with Lab(network_file(text)) as lab:
        assert lab.state.log("left").read_text() == "hello\n"
        space = netns.identity(netns.path_of(lab.state.node("left").namespace or ""))
        assert space is not None
        living = processes.belonging(Path("/nowhere"), [space])
        assert len(living) == 1
    assert not any(process.alive() for process in living)


def test_what_runs_inside_ends_even_if_it_ignores_sigterm(network_file: NetworkFile) -> None:
    lab = Lab(network_file()).up()
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print(1, flush=True); time.sleep(999)"
    )
    child = lab.start("left", sys.executable, "-c", script, stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == "1\n"
    lab.down()
    assert child.wait(5) == -signal.SIGKILL
    assert left_behind(lab.name) == []


def test_a_router_is_killed_and_started_again(network_file: NetworkFile) -> None:
    file = network_file()
    with Lab(file) as lab:
        old = lab.state.node("p").process
        assert old is not None
        lab.kill("p")
        assert json.loads(command("lab", "status", lab.name, "--json").stdout)["nodes"][3]["state"] == "dead"
        good("lab", "restart", "p", "--lab", lab.name)
        found = json.loads(command("lab", "status", lab.name, "--json").stdout)["nodes"][3]
        assert found["state"] == "up" and found["restarts"] == 1 and found["pid"] != old.pid
        lab.restart("p")  # also while it runs
        assert lab.state.node("p").incarnation == 2
        config = json.loads(lab.state.config("p").read_text())
        assert config["placement"]["incarnation"] == 2
        assert "only routers are restarted" in refused("lab", "restart", "left", "--lab", lab.name)


def test_names_of_namespaces_that_were_taken_away(network_file: NetworkFile) -> None:
    lab = Lab(network_file()).up()
    subprocess.run(["ip", "netns", "delete", f"tp-{lab.name}-p"], check=True)
    netns.forget(f"tp-{lab.name}-left")
    found = json.loads(command("lab", "status", lab.name, "--json").stdout)
    assert [node["state"] for node in found["nodes"]] == ["no namespace", "up", "up", "no namespace", "up"]
    assert "is down" in good("lab", "down", lab.name)
    assert left_behind(lab.name) == []


def test_a_number_that_another_process_has_now_is_left_alone(network_file: NetworkFile) -> None:
    lab = Lab(network_file()).up()
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        lab.kill("p")
        path = state.folder(lab.name) / "state.json"
        known = json.loads(path.read_text())
        known["nodes"]["p"]["process"]["pid"] = bystander.pid
        path.write_text(json.dumps(known))
        lab.down()
        assert bystander.poll() is None
        assert left_behind(lab.name) == []
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("after_ms", [0, 40, 120, 180, 220, 260, 300, 340])
def test_up_is_killed_halfway(network_file: NetworkFile, after_ms: int) -> None:
    file = network_file()
    name = name_of(file)
    child = subprocess.Popen(
        [sys.executable, "-m", "twinplane", "lab", "up", str(file)], stdout=subprocess.DEVNULL
    )
    limit = time.monotonic() + 20
    while after_ms and not state.folder(name).exists() and child.poll() is None and time.monotonic() < limit:
        time.sleep(0.001)
    time.sleep(max(after_ms - 40, 0) / 10_000)
    child.kill()
    child.wait()
    if state.folder(name).exists():
        assert "first" in refused("lab", "up", file)
    good("lab", "down", file)
    assert left_behind(name) == []
    with Lab(file):
        pass
    assert left_behind(name) == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("run", "lsp-flap", "--lab", "--set", "n=5", "--set", "m=5", "--set", "rate_mbps=5"), "lsp-flap-{}"),
        (("soak", "--clock", "wall", "--duration", "60 s", "--interval", "20 s", "--lsps", "4"), "soak-{}"),
        (("calibrate",), "cal-{}"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_has_a_lab_is_asked_to_end(
    needs_labs: None, tmp_path: Path, words: tuple[str, ...], name: str, number: signal.Signals
) -> None:
    child = children.twinplane(*words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    name = name.format(child.pid)
    assert processes.wait_until(lambda: (state.folder(name) / "state.json").exists(), 60)
    child.send_signal(number)
    said = child.communicate(timeout=60)[1].decode()
    assert child.returncode == 128 + number and said.splitlines()[-1] == f"twinplane: ended by {number.name}"
    assert left_behind(name) == []


def test_exec_where_the_namespace_is_gone(network_file: NetworkFile) -> None:
    with Lab(network_file()) as lab:
        subprocess.run(["ip", "netns", "delete", f"tp-{lab.name}-left"], check=True)
        assert "is gone" in refused("lab", "exec", "--lab", lab.name, "left", "--", "true")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_up_is_asked_to_end_halfway(network_file: NetworkFile, number: signal.Signals) -> None:
    """While it waits for a command of a host that does not end: it removes what it has made."""
    file = network_file(
        TWO_SITES.replace("address: 10.1.0.2/24}", "address: 10.1.0.2/24, exec: [sleep 1000]}")
    )
    name = name_of(file)
    child = children.twinplane("lab", "up", file, stderr=subprocess.PIPE)
    assert processes.wait_until(lambda: (state.folder(name) / "nodes/left.log").exists(), 20)
    child.send_signal(number)
    child.communicate(timeout=20)
    assert child.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    assert left_behind(name) == []


def test_cycles(network_file: NetworkFile) -> None:
    """Up, kill -9 of a random process of the lab, down: nothing is left, however often."""
    draw = random.Random(3)
    before = interfaces()
    file = network_file(
        TWO_SITES.replace(
            "address: 10.2.0.2/24}", "address: 10.2.0.2/24, exec: ['sleep 1000 & sleep 1001 &']}"
        )
    )
    name = name_of(file)
    for _ in range(CYCLES):
        lab = Lab(file).up()
        spaces = [netns.identity(netns.path_of(one)) for one in namespaces(name)]
        living = processes.belonging(state.folder(name), [space for space in spaces if space is not None])
        assert len(living) == 5
        victim = draw.choice(sorted(living, key=lambda one: one.pid))
        processes.send(victim, signal.SIGKILL)
        lab.down()
        assert not any(process.alive() for process in living)
        assert left_behind(name) == [] and interfaces() == before


def test_one_command_at_a_time(network_file: NetworkFile) -> None:
    file = network_file()
    name = name_of(file)
    with state.locked(name):
        begin = time.monotonic()
        with (
            pytest.raises(TwinplaneError, match="another command is making or removing it"),
            state.locked(name, 0.1),
        ):
            pass
        assert time.monotonic() - begin < 5
    assert left_behind(name) == []
    lab = Lab(file).up()
    lock = state.ROOT / f".{name}.lock"
    assert not lock.exists()
    stale = os.open(lock, os.O_CREAT | os.O_RDWR)  # of a command that was killed
    fcntl.flock(stale, fcntl.LOCK_EX)
    os.close(stale)
    lab.down()
    assert left_behind(name) == []


def test_a_network_of_python_as_a_lab(needs_labs: None) -> None:
    import twinplane as tp

    net = tp.Network(seed=7)
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b, rate="100 Mbit/s")
    net.link(b, c, rate="100 Mbit/s")
    a.lsp("gold", to=c, route=[b, c], bandwidth="10 Mbit/s")
    name = f"t{os.getpid()}-net"
    with net.lab(name) as lab:
        assert lab.node("a").status()["tunnels"] == {"up": 1, "down": 0}
        assert lab.node("b").table("ilm").height == 1
        lab.node("a").command("gold", "reoptimise")
    assert left_behind(name) == []
