"""Routers of FRR and BIRD in labs: a line in the file each, and the daemons in a namespace."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.needs import need
from twinplane.errors import TwinplaneError
from twinplane.lab import Lab, daemons, kernels, looking, processes, state
from twinplane.lab.kinds.frr import sections
from twinplane.lab.plan import Plan, plan
from twinplane.network import lowering

from .conftest import NetworkFile
from .end_state import reached
from .support import command, good, left_behind, refused

OSPF = "ospf: {hello_interval: 1 s, dead_interval: 4 s, authentication: {kind: md5, key: secret}}"
BESIDE_FRR = f"""\
name: {{name}}
nodes:
  left:  {{kind: host, address: 10.1.0.2/24}}
  right: {{kind: host, address: 10.2.0.2/24}}
  a:  {{kind: router, {OSPF}, ldp: {{hello_interval: 1 s, hold_time: 4 s}}}}
  gw: {{kind: frr}}
links:
  - [left, a]
  - [a, gw, {{metric: 7}}]
  - [gw, right]
"""
BESIDE_BIRD = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a:
    kind: router
    ospf: {hello_interval: 1 s, dead_interval: 4 s, authentication: {kind: sha256, key: secret}}
  b:
    kind: router
    bgp:
      asn: 65001
      hold_time: 9 s
      connect_retry: 2 s
      redistribute: [connected]
      neighbors: {gw: {asn: 65002, import: all, export: all, advertisement_interval: 1 s}}
  gw: {kind: bird, router_id: 192.0.2.9}
links:
  - [left, a]
  - [a, gw]
  - [gw, b]
  - [b, right]
"""
MIDDLE = """\
name: {name}
nodes:
  a: {kind: router, ospf: true, ldp: true}
  gw: {kind: frr}
  b: {kind: router, ospf: true, ldp: true}
links:
  - [a, gw]
  - [gw, b]
"""


def planned(path: Path, text: str) -> Plan:
    file = path / "net.yaml"
    file.write_text(text.replace("{name}", "net"))
    return plan(lowering.lower(file))


@contextlib.contextmanager
def up(file: Path) -> Iterator[Lab]:
    """A lab that is up, and leaves nothing behind."""
    with Lab(file) as lab:
        yield lab
    assert left_behind(lab.name) == [] and not (state.DAEMONS / lab.name).exists()


def comes(what: str, lab: Lab, node: str = "gw") -> None:
    """Wait until a lab is as its file says, and say what it said last otherwise."""
    told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
    assert processes.wait_until(lambda: told() == [], 60, 0.1), (
        what,
        told(),
        lab.state.log(node).read_text()[-2000:],
    )


def row(lab: Lab, node: str = "gw") -> dict[str, object]:
    (found,) = [one for one in looking.details(lab.name)["nodes"] if one["node"] == node]
    return dict(found)


def test_a_configuration_is_made_of_what_neighbours_say(tmp_path: Path) -> None:
    made = planned(tmp_path, BESIDE_FRR).members["gw"]
    lines = [line.strip() for line in made.config.splitlines()]
    for wanted in (
        *("hostname gw", "ip ospf area 0.0.0.0", "ip ospf network point-to-point", "ip ospf cost 7"),
        *("ip ospf hello-interval 1", "ip ospf dead-interval 4", "ip ospf message-digest-key 1 md5 secret"),
        *("ip ospf passive", "mpls ldp", "discovery hello interval 1", "discovery hello holdtime 4"),
        *(f"ip address {made.interfaces[0].address}", f"ip address {made.loopback}/32"),
    ):
        assert wanted in lines, (wanted, made.config)
    assert not any(line.startswith("ip route") for line in lines)
    assert made.expected == [
        {"protocol": "OSPF", "interface": "e0", "far": "a"},
        {"protocol": "LDP", "interface": "e0", "far": "a"},
    ]
    assert sections.daemons(made.config) == ["zebra", "staticd", "ospfd", "ldpd"]
    bird = planned(tmp_path, BESIDE_BIRD).members["gw"].config
    assert 'password "secret" { id 1; algorithm hmac sha256; };' in bird
    assert "local as 65002;" in bird and "hold time 9;" in bird and "stubnet 192.0.2.9/32" in bird
    guarded = BESIDE_BIRD.replace("asn: 65002, import", "asn: 65002, ttl_security: 1, import")
    assert "  ttl security on;\n" in planned(tmp_path, guarded).members["gw"].config
    guarded = guarded.replace("kind: bird", "kind: frr").replace("sha256", "md5")
    assert " ttl-security hops 1\n" in planned(tmp_path, guarded).members["gw"].config
    # Where nobody finds routes, it has the ways that every router is given.
    static = planned(tmp_path, BESIDE_FRR.replace(f"{OSPF}, ldp", "labels").replace("1 s", "x"))
    assert "ip route 10.1.0.0/24 " in static.members["gw"].config, static.members["gw"].config


WATCHED = """\
name: {name}
nodes:
  a:
    kind: router
    bfd: {interval: 200 ms, multiplier: 4}
    ospf: {hello_interval: 1 s, dead_interval: 4 s, bfd: {interval: 100 ms}}
    ldp: {password: between-us, bfd: true}
  b:
    kind: router
    bgp:
      asn: 65001
      hold_time: 9 s
      connect_retry: 2 s
      neighbors: {gw: {asn: 65002, import: all, export: all, password: a-secret, bfd: true}}
  gw: {kind: frr}
links:
  - [a, gw]
  - [gw, b]
"""


def test_passwords_and_bfd_are_in_made_configurations(tmp_path: Path) -> None:
    lines = planned(tmp_path, WATCHED).members["gw"].config.splitlines()
    text = "\n".join(lines)
    # The closest wish counts at the link to a, the usual settings in the session with b.
    assert "bfd\n profile e0\n  detect-multiplier 4\n  transmit-interval 100\n" in text, text
    assert "  detect-multiplier 3\n  transmit-interval 300\n  receive-interval 300\n exit" in text, text
    assert " ip ospf bfd profile e0" in lines and "bfdd" in sections.daemons(text)
    assert any(line.endswith(" password between-us") and line.startswith(" neighbor ") for line in lines)
    assert any(line.endswith(" password a-secret") for line in lines), text
    bird = planned(tmp_path, WATCHED.replace("kind: frr", "kind: bird").replace("ldp: {", "labels: {"))
    text = bird.members["gw"].config
    assert "min tx interval 100000 us; min rx interval 100000 us; multiplier 4;" in text, text
    assert "cost 1; bfd yes;" in text and '  password "a-secret";\n  bfd on;\n' in text, text
    keyed = (
        "bfd: {authentication: {kind: meticulous-sha1, key: k, key_id: 7}, interval: 200 ms, multiplier: 4}"
    )
    keyed = WATCHED.replace("bfd: {interval: 200 ms, multiplier: 4}", keyed)
    with pytest.raises(
        TwinplaneError, match=r"node 'gw': its neighbour authenticates BFD by meticulous-sha1"
    ):
        planned(tmp_path, keyed)
    text = planned(tmp_path, keyed.replace("kind: frr", "kind: bird")).members["gw"].config
    assert 'authentication meticulous keyed sha1; password "k" { id 7; };' in text, text


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_signed_and_watched_sessions_come_up(kind: str, network_file: NetworkFile) -> None:
    """With OSPF and BGP watched, LDP and BGP signed; each session of BFD is up at our ends."""
    need("vtysh" if kind == "frr" else "bird")
    file = network_file(WATCHED.replace("kind: frr", f"kind: {kind}"))
    with up(file) as lab:
        if kind == "frr":
            comes("OSPF, LDP and BGP", lab)
        assert processes.wait_until(lambda: states(lab, "a") == states(lab, "b") == ["up"], 60, 0.2), (
            states(lab, "a"),
            states(lab, "b"),
        )


def states(lab: Lab, node: str) -> list[str]:
    """Of the sessions of BFD that a router of ours has."""
    return list(lab.node(node).table("bfd_sessions")["state"])


def test_what_a_made_configuration_can_not_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TwinplaneError, match=r"net.yaml:6:\d+: node 'gw': .*sha256.*kind: bird"):
        planned(tmp_path, BESIDE_FRR.replace("md5", "sha256"))
    two = BESIDE_BIRD.replace(
        "links:", "  c: {kind: router, bgp: {asn: 65003, neighbors: {gw: {asn: 9}}}}\nlinks:"
    )
    with pytest.raises(TwinplaneError, match=r"'b' expects it in AS 65002 and 'c' in AS 9"):
        planned(tmp_path, f"{two}  - [gw, c]\n")


def test_the_daemons_of_a_configuration_follow_from_its_sections() -> None:
    said = (
        "router ospf6\nrouter bgp 1\n neighbor 10.0.0.1 bfd\ninterface e0\n ip address 10.0.0.2/24\n ip pim\n"
    )
    assert sections.daemons(said) == ["zebra", "staticd", "ospf6d", "bgpd", "bfdd", "pimd"]
    assert sections.addressed(said) == {"e0"}
    assert sections.daemons("hostname x\n! router ospf\n") == ["zebra", "staticd"]


def test_a_lab_says_where_a_kernel_would_have_to_forward_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MPLS", tmp_path / "mpls")
    (said,) = planned(tmp_path, MIDDLE).warnings
    assert "node 'gw': packets from 'a' to what is behind 'b' come with labels of LDP" in said, said
    assert ":4:" in said and "modprobe mpls_router" in said
    assert planned(tmp_path, BESIDE_FRR).warnings == ()
    given = tmp_path / "gw.conf"
    given.write_text("mpls ldp\n address-family ipv4\n  label local advertise explicit-null\n")
    (said,) = planned(tmp_path, BESIDE_FRR.replace("{kind: frr}", "{kind: frr, config: gw.conf}")).warnings
    assert "explicit null" in said
    (tmp_path / "mpls").mkdir()
    assert planned(tmp_path, MIDDLE).warnings == ()


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_lsps_and_runs_without_a_lab_are_refused(tmp_path: Path, kind: str) -> None:
    text, lsp = MIDDLE.replace("frr", kind), "lsps: [{name: x, from: a, to: b, route: [gw, b]}]\n"
    through = rf"its way leads through 'gw', a router of {kind.upper()}, which does not speak RSVP-TE"
    with pytest.raises(TwinplaneError, match=through):
        planned(tmp_path, text + lsp)
    with pytest.raises(
        TwinplaneError, match=rf"'gw' is a router of {kind.upper()}, which does not speak RSVP-TE"
    ):
        planned(tmp_path, text + lsp.replace("to: b, route: [gw, b]", "to: gw"))
    with pytest.raises(
        TwinplaneError, match=rf"'gw' is a router of {kind.upper()}: it can't be made to fail"
    ):
        planned(tmp_path, text + "events: [{at: 1 s, fail: gw}]\n")
    with pytest.raises(TwinplaneError, match=r"config: gone.conf: no such file"):
        planned(tmp_path, text.replace(f"{{kind: {kind}}}", f"{{kind: {kind}, config: gone.conf}}"))
    file = tmp_path / "net.yaml"
    file.write_text(text.replace("{name}", "net") + "flows: [{from: a, to: b}]\n")
    said = refused("run", file)
    assert "net.yaml:4:" in said and "which runs in labs only: twinplane lab up" in said


@pytest.mark.parametrize(("kind", "package"), [("frr", "frr"), ("bird", "bird2")])
def test_a_missing_package_is_named(
    network_file: NetworkFile, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    monkeypatch.setattr(daemons, "find", lambda program: None)
    lab = Lab(network_file(BESIDE_FRR.replace("kind: frr", f"kind: {kind}")))
    with pytest.raises(TwinplaneError, match=rf"node 'gw' is of kind {kind}, .*: apt install {package}$"):
        lab.up()
    assert left_behind(lab.name) == []


def test_a_wrong_configuration_is_told_by_its_line_and_nothing_is_made(network_file: NetworkFile) -> None:
    need("vtysh", "bird")
    for kind, text, said in (
        (
            "frr",
            "hostname gw\nrouter ospf\n nonsense everything\n",
            "config: gw.conf: line 3: unknown command: nonsense everything",
        ),
        ("bird", "protocol device { }\nprotocol ospv { }\n", "config: gw.conf:2:"),
    ):
        file = network_file(BESIDE_FRR.replace("{kind: frr}", f"{{kind: {kind}, config: gw.conf}}"))
        (file.parent / "gw.conf").write_text(text)
        answer = refused("lab", "up", file)
        assert "node 'gw': " in answer and said in answer, answer
        assert left_behind(Lab(file).name) == []


def test_frr_is_a_router_of_a_lab(network_file: NetworkFile) -> None:
    need("vtysh", "ping")
    with up(network_file(BESIDE_FRR)) as lab:
        comes("adjacent", lab)
        assert processes.wait_until(lambda: reached(lab), 30, 0.1)
        printed = good("lab", "status", lab.name)
        assert "operational" in printed and "full" in printed, printed
        assert set(lab.state.node("gw").daemons) == {"zebra", "staticd", "ospfd", "ldpd"}
        # vtysh leads to this router's daemons, whoever calls it.
        route = good("lab", "exec", "gw", "--lab", lab.name, "--", "vtysh", "-c", "show ip route 10.1.0.0/24")
        assert 'Known via "ospf"' in route, route
        shell = good(
            "lab", "exec", "gw", "--lab", lab.name, "--", "sh", "-c", "vtysh -c 'show ip ospf neighbor'"
        )
        assert "Full" in shell, shell
        users = {Path(f"/proc/{one.pid}").owner() for one in lab.state.node("gw").daemons.values()}
        assert users == {"frr"}


def test_daemons_that_died_are_named_and_come_back(network_file: NetworkFile) -> None:
    need("vtysh", "ping")
    # Without LDP, whose sessions come back slowly (RFC 5036, 2.5.3).
    with up(network_file(BESIDE_FRR.replace(", ldp: {hello_interval: 1 s, hold_time: 4 s}", ""))) as lab:
        comes("adjacent", lab)
        # One daemon dies: the lab says which, and that the neighbour is lost.
        victim = lab.state.node("gw").daemons["ospfd"]
        os.kill(victim.pid, signal.SIGKILL)
        assert processes.wait_until(lambda: not victim.alive(), 10)
        answer = command("lab", "status", lab.name)
        assert answer.returncode == 1
        assert "ospfd of frr gw is dead: `twinplane lab restart gw`" in answer.stdout, answer.stdout
        assert "frr gw is not adjacent by OSPF on its link to a" in answer.stdout, answer.stdout
        good("lab", "restart", "gw", "--lab", lab.name)
        lab = Lab.attached(lab.name)
        comes("adjacent again", lab)
        assert processes.wait_until(lambda: reached(lab), 30, 0.1)
        assert row(lab)["restarts"] == 1

        # All of them die at once, as if the power failed.
        lab.kill("gw")
        assert "frr gw is dead: `twinplane lab restart gw`" in looking.details(lab.name)["problems"]
        lab.restart("gw")
        comes("adjacent after a cut", lab)
        # What is found in the namespace goes with it, a maker that was killed or not.
        good("lab", "exec", "gw", "--lab", lab.name, "--", "sh", "-c", "sleep 1000 > /dev/null 2>&1 &")


def test_frr_takes_a_configuration_of_its_own_whole(network_file: NetworkFile) -> None:
    need("vtysh", "ping")
    text = BESIDE_BIRD.replace("{kind: bird, router_id: 192.0.2.9}", "{kind: frr, config: gw.conf}")
    for link, ends in (("[a, gw]", "10.9.0.1/24, 10.9.0.2/24"), ("[gw, b]", "10.8.0.2/24, 10.8.0.1/24")):
        text = text.replace(link, f"{link[:-1]}, {{addresses: [{ends}]}}]")
    file = network_file(text.replace("kind: sha256", "kind: simple"))
    (file.parent / "gw.conf").write_text(
        "interface e0\n ip address 10.9.0.2/24\n ip ospf area 0\n ip ospf network point-to-point\n"
        " ip ospf hello-interval 1\n ip ospf dead-interval 4\n ip ospf authentication\n"
        " ip ospf authentication-key secret\nexit\nrouter ospf\n redistribute bgp\nexit\n"
        "router bgp 65002\n no bgp ebgp-requires-policy\n neighbor 10.8.0.1 remote-as 65001\n"
        " neighbor 10.8.0.1 timers connect 1\n address-family ipv4 unicast\n  redistribute ospf\n"
        "  redistribute connected\n exit-address-family\nexit\n"
    )
    with up(file) as lab:
        assert set(lab.state.node("gw").daemons) == {"zebra", "staticd", "ospfd", "bgpd"}
        comes("met", lab)
        assert processes.wait_until(lambda: reached(lab), 60, 0.1)
        said = {(one["protocol"], one["state"]) for one in row(lab)["neighbors"]}  # type: ignore[attr-defined]
        assert said == {("OSPF", "full"), ("BGP", "established")}


def test_bird_is_a_router_of_a_lab(network_file: NetworkFile) -> None:
    need("bird", "ping")
    with up(network_file(BESIDE_BIRD)) as lab:
        comes("met", lab)
        said = {(one["protocol"], one["state"]) for one in row(lab)["neighbors"]}  # type: ignore[attr-defined]
        assert said == {("OSPF", "full"), ("BGP", "established")}
        known = lambda: good("lab", "exec", "gw", "--lab", lab.name, "--", "birdc", "show", "route")  # noqa: E731
        assert processes.wait_until(lambda: "10.1.0.0/24" in known() and "10.2.0.0/24" in known(), 30, 0.1)
        victim = lab.state.node("gw").daemons["bird"]
        os.kill(victim.pid, signal.SIGKILL)
        assert processes.wait_until(lambda: not victim.alive(), 10)
        assert "bird gw is dead: `twinplane lab restart gw`" in looking.details(lab.name)["problems"]
        lab.restart("gw")
        comes("met again", lab)
