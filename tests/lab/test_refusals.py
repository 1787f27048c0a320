"""What can't be done is refused with one sentence and exit code 2, and all that was made is removed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from twinplane.lab import Lab, netns

from .conftest import NetworkFile
from .support import TWO_SITES, command, good, left_behind, name_of, refused

ALONE = """\
name: {name}
nodes:
  a: {kind: router}
  dut: {kind: external, interface: IF}
links:
  - [a, dut, {mtu: 1500}]
"""


def add_pair(name: str) -> None:
    words = ["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}p"]
    subprocess.run(words, check=True)
    subprocess.run(["ip", "link", "set", f"{name}p", "up"], check=True)


def gone(file: Path) -> bool:
    return left_behind(name_of(file)) == []


def without_privilege() -> None:
    """What is run next may not make namespaces (prctl(2), PR_CAPBSET_DROP of CAP_SYS_ADMIN)."""
    assert netns.libc().prctl(24, netns.CAP_SYS_ADMIN, 0, 0, 0) == 0


def test_no_privilege(network_file: NetworkFile) -> None:
    file = network_file()
    sentence = refused("lab", "up", file, preexec_fn=without_privilege)
    assert sentence.endswith("needs root (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo")
    assert gone(file)
    with Lab(file) as lab:
        assert "needs root" in refused("lab", "down", lab.name, preexec_fn=without_privilege)


def test_no_such_file() -> None:
    assert (
        refused("lab", "up", "nosuch.yaml")
        == "twinplane: nosuch.yaml: it cannot be read: no such file or directory"
    )


def test_malformed_yaml(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("name: x\nnodes: {a: {kind: router}\nlinks: []\n")
    assert refused("lab", "up", file).startswith(f"twinplane: {file}:3:1: not well-formed YAML: ")


def test_up_already(network_file: NetworkFile) -> None:
    file = network_file()
    with Lab(file) as lab:
        assert f"lab '{lab.name}' is up already" in refused("lab", "up", file)
        assert lab.node("pe1").status()["node"] == "pe1"  # it goes on


def test_name_taken(network_file: NetworkFile) -> None:
    file = network_file()
    taken = f"tp-{name_of(file)}-p"
    subprocess.run(["ip", "netns", "add", taken], check=True)
    try:
        assert f"there is a namespace '{taken}' already" in refused("lab", "up", file)
        assert left_behind(name_of(file)) == [f"namespace {taken}"]  # it is not ours
    finally:
        subprocess.run(["ip", "netns", "delete", taken], check=True)


def test_missing_interface(network_file: NetworkFile) -> None:
    file = network_file(ALONE.replace("IF", "tptnone0"))
    assert refused("lab", "up", file).endswith(":4:8: node 'dut': there is no interface 'tptnone0' here")
    assert gone(file)


@pytest.fixture
def dummy(needs_labs: None) -> str:
    """An interface of the present namespace."""
    return f"tpt{os.getpid() % 100000}d"


@pytest.mark.parametrize(
    "settings, said", [(["mtu", "1400", "up"], "has an MTU of 1400"), (["mtu", "1500"], "is down")]
)
def test_an_interface_that_does_not_do(
    network_file: NetworkFile, dummy: str, settings: list[str], said: str
) -> None:
    file = network_file(ALONE.replace("IF", dummy))
    add_pair(dummy)
    try:
        subprocess.run(["ip", "link", "set", dummy, *settings], check=True)
        sentence = refused("lab", "up", file)
        assert f"node 'dut': '{dummy}' {said}" in sentence
        assert gone(file)
    finally:
        subprocess.run(["ip", "link", "delete", dummy], check=True)


def test_a_peer_that_never_answers(network_file: NetworkFile, dummy: str) -> None:
    file = network_file(
        ALONE.replace("IF", f"{dummy}, router_id: 192.0.2.1") + "lsps:\n  - {name: void, from: a, to: dut}\n"
    )
    add_pair(dummy)
    try:
        subprocess.run(["ip", "link", "set", dummy, "mtu", "1500", "up"], check=True)
        before = _state_of(dummy)
        sentence = refused("lab", "up", file, "--timeout", "2")
        assert "lsp 'void' from 'a' is not up in time: nobody answered" in sentence
        assert gone(file)
        assert _state_of(dummy) == before  # down leaves it as it was
    finally:
        subprocess.run(["ip", "link", "delete", dummy], check=True)


def test_an_lsp_that_is_refused(network_file: NetworkFile) -> None:
    file = network_file(
        TWO_SITES.replace("carries: 10.2.0.0/24", "carries: 10.2.0.0/24, bandwidth: 2 Gbit/s")
    )
    sentence = refused("lab", "up", file, "--timeout", "2")
    assert "lsp 'east' from 'pe1' is not up in time: it was refused" in sentence
    assert sentence.endswith(", by 'pe1': admission control failure, requested bandwidth unavailable")
    assert gone(file)


def test_an_lsp_whose_class_nobody_supports(network_file: NetworkFile) -> None:
    text = TWO_SITES.replace("carries: 10.2.0.0/24", "diffserv: l-lsp AF1")
    text = text.replace("pe1:   {kind: router}", "pe1:   {kind: router, diffserv: {}}")
    text = text.replace("p:     {kind: router}", "p:     {kind: router, diffserv: {supported: [EF]}}")
    file = network_file(text)
    done = command("lab", "up", file, "--timeout", "2")
    assert done.returncode == 2
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert "lsp 'east': node 'p' on its way does not support AF11, AF12, AF13" in warnings[0]
    assert done.stderr.splitlines()[-1].endswith(", by 'p': Diff-Serv error, unsupported PSC")
    assert gone(file)


def _state_of(interface: str) -> list[object]:
    shown = subprocess.run(
        ["ip", "-j", "-d", "link", "show", interface], capture_output=True, text=True, check=True
    )
    found = json.loads(shown.stdout)[0]
    return [found[key] for key in ("flags", "mtu", "address", "promiscuity")] + [found.get("xdp")]


def test_a_host_whose_command_fails(network_file: NetworkFile) -> None:
    for given, said in [("nosuchcommand", "ended with 127"), ("echo no >&2; exit 3", "ended with 3: no")]:
        file = network_file(
            TWO_SITES.replace("address: 10.1.0.2/24}", f"address: 10.1.0.2/24, exec: ['{given}']}}")
        )
        assert said in refused("lab", "up", file)
        assert gone(file)


def test_a_host_whose_command_does_not_end(network_file: NetworkFile) -> None:
    file = network_file(
        TWO_SITES.replace("address: 10.1.0.2/24}", "address: 10.1.0.2/24, exec: [sleep 1000]}")
    )
    assert "exec 'sleep 1000' does not end: put ' &' behind" in refused("lab", "up", file, "--timeout", "3")
    assert gone(file)


def test_iproute2_is_missing(network_file: NetworkFile, monkeypatch: pytest.MonkeyPatch) -> None:
    from twinplane.errors import TwinplaneError
    from twinplane.lab import kernel

    file = network_file()
    monkeypatch.setattr(kernel.shutil, "which", lambda *_, **__: None)
    with pytest.raises(TwinplaneError, match="the program 'ip' is missing: install iproute2"):
        Lab(file).up()
    monkeypatch.undo()
    assert gone(file)


def test_ip_fails_halfway(network_file: NetworkFile, monkeypatch: pytest.MonkeyPatch) -> None:
    from twinplane.errors import TwinplaneError
    from twinplane.lab import kernel

    file = network_file()
    pair = kernel._pair
    monkeypatch.setattr(kernel, "_pair", lambda *given: pair(*given).replace("mtu 9216", "mtu 99216"))
    with pytest.raises(TwinplaneError, match=r"^lab 't.*': ip link add name e1 .* mtu 99216 .*: "):
        Lab(file).up()
    assert gone(file)


def test_a_recording_that_has_no_folder(network_file: NetworkFile) -> None:
    file = network_file(
        TWO_SITES.replace("p:     {kind: router}", "p:     {kind: router, record: nosuch/p.rec}")
    )
    assert ":6:10: node 'p': record: there is no folder" in refused("lab", "up", file)


def test_no_lab(needs_labs: None) -> None:
    assert "is not up" in refused("lab", "status", "t-nosuch")
    assert good("lab", "down", "t-nosuch") == "lab t-nosuch was not up\n"
    assert (
        "no node of a lab" in (said := refused("lab", "exec", "t-nosuch", "--", "true"))
        or "no lab is up" in said
    )
