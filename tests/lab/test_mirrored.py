"""What made configurations of FRR and BIRD take over from the routers around them, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.needs import need
from twinplane.errors import TwinplaneError
from twinplane.lab import kernels, looking, processes

from .conftest import NetworkFile
from .test_kernel_routers import planned, up

VIRTUAL = """\
      area: 3
      interfaces: {d: {area: 0}}
      virtual_links:
        - {area: 3, router: 192.0.2.9, hello_interval: 2 s, authentication: {kind: simple, key: k}}
"""
AREAS = """\
name: {name}
nodes:
  a:
    kind: router
    ospf:
      hello_interval: 1 s
      areas: [{area: 1, kind: nssa, summaries: false}]
      interfaces: {gw: {area: 1}}
  b:
    kind: router
    ospf:
      hello_interval: 1 s
      te: true
      area: 0.0.0.2
      areas: [{area: 2, kind: stub}]
      authentication: {kind: md5, key: a key, key_id: 7}
  c:
    kind: router
    ospf:
      hello_interval: 1 s
      area: 3
      interfaces: {d: {area: 0}}
      virtual_links:
        - {area: 3, router: 192.0.2.9, hello_interval: 2 s, authentication: {kind: simple, key: k}}
  d: {kind: router, ospf: {hello_interval: 1 s}}
  gw: {kind: bird, router_id: 192.0.2.9}
links:
  - [a, d]
  - [a, gw]
  - [b, gw]
  - [c, gw]
  - [c, d]
"""
FAMILIES = """\
name: {name}
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  a:
    kind: router
    bgp:
      asn: 65001
      connect_retry: 1 s
      redistribute: [connected]
      neighbors:
        gw:
          asn: 65002
          import: all
          export: all
          advertisement_interval: 1 s
          families: [ipv4-labelled, ipv6-labelled]
  b:
    kind: router
    bgp:
      asn: 65003
      connect_retry: 1 s
      redistribute: [connected]
      neighbors:
        gw: {asn: 65002, import: all, export: all, advertisement_interval: 1 s, families: [ipv4, ipv6]}
  gw: {kind: frr}
links:
  - [left, a]
  - [a, gw]
  - [gw, b, {ipv6: ["2001:db8:2::2/64", "2001:db8:2::1/64"]}]
  - [b, right]
"""


def of_kind(text: str, kind: str) -> str:
    """The same network with another kind of router in its middle."""
    other = {"frr": "bird", "bird": "frr"}[kind]
    text = text.replace(f"gw: {{kind: {other}", f"gw: {{kind: {kind}")
    if kind == "bird":  # which is set up without virtual links: it has a link in the backbone instead
        text = text.replace(VIRTUAL, "")
    # FRR takes a space for the end of a key.
    return text.replace("key: a key", "key: a-key") if kind == "frr" else text


def test_kinds_of_areas_and_virtual_links_are_taken_over(tmp_path: Path) -> None:
    frr = planned(tmp_path, of_kind(AREAS, "frr")).members["gw"].config
    for line in (
        *(" capability opaque", " area 0.0.0.1 nssa no-summary", " area 0.0.0.2 stub"),
        " area 0.0.0.3 virtual-link 100.64.2.1 hello-interval 2 dead-interval 8",
        " area 0.0.0.3 virtual-link 100.64.2.1 authentication-key k",
        " ip ospf message-digest-key 7 md5 a-key",
    ):
        assert f"{line}\n" in frr, (line, frr)
    assert "area 0.0.0.3 stub" not in frr and "area 0.0.0.3 nssa" not in frr, frr
    bird = planned(tmp_path, of_kind(AREAS, "bird")).members["gw"].config
    for words in (*("    nssa; summary no;\n", "    stub; summary yes;\n", 'password "a key" { id 7;'),):
        assert words in bird, (words, bird)


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_areas_of_each_kind_and_a_virtual_link_are_met(kind: str, network_file: NetworkFile) -> None:
    need("vtysh" if kind == "frr" else "bird")
    with up(network_file(of_kind(AREAS, kind))) as lab:
        told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
        assert processes.wait_until(lambda: told() == [], 90, 0.2), told()
        # The stub area behind the router hears of the backbone, which it reaches by its virtual link alone.
        known = lambda: list(lab.node("b").table("ospf_routes")["prefix"])  # noqa: E731
        beyond = f"{lab.state.nodes['d'].address}/32"
        assert processes.wait_until(lambda: beyond in known(), 60, 0.2), known()


def test_families_of_bgp_are_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MPLS", tmp_path / "mpls")
    made = planned(tmp_path, FAMILIES)
    frr = made.members["gw"].config
    assert " address-family ipv4 labeled-unicast\n  neighbor 100.64.2.5 activate\n" in frr, frr
    assert "  no neighbor 100.64.2.5 activate\n" in frr and " address-family ipv6 labeled-unicast\n" in frr
    (said,) = made.warnings
    assert "packets to what is behind 'a' may need labels of BGP, and this kernel forwards none" in said
    bird = planned(tmp_path, of_kind(FAMILIES, "bird")).members["gw"].config
    for words in ("  ipv4 mpls {", "  ipv6 mpls {", "  ipv6 {", "protocol direct { ipv4; ipv6; }"):
        assert words in bird, (words, bird)
    plain = FAMILIES.replace("families: [ipv4, ipv6]", "").replace("[ipv4-labelled, ipv6-labelled]", "[ipv4]")
    for kind in ("frr", "bird"):
        config = planned(tmp_path, of_kind(plain, kind)).members["gw"].config
        assert "ipv6" not in config and "mpls" not in config and "labeled" not in config, config


@pytest.mark.parametrize("kind", ["frr", "bird"])
def test_routes_of_each_family_are_exchanged(kind: str, network_file: NetworkFile) -> None:
    need("vtysh" if kind == "frr" else "bird", "ping")
    with up(network_file(of_kind(FAMILIES, kind))) as lab:

        def known(node: str) -> set[str]:
            table = lab.node(node).table("bgp_routes")
            return {prefix for prefix, told in zip(table["prefix"], table["from"], strict=True) if told}

        wanted = {"10.2.0.0/24", "2001:db8:2::/64"}
        assert processes.wait_until(lambda: wanted <= known("a"), 60, 0.2), known("a")
        assert processes.wait_until(lambda: "10.1.0.0/24" in known("b"), 60, 0.2), known("b")
        assert list(lab.node("b").table("bgp_neighbors")["malformed"]) == [0]
        told = lambda: looking.details(lab.name)["problems"]  # noqa: E731
        assert processes.wait_until(lambda: told() == [], 30, 0.2), told()
        reached = lambda: lab.exec("left", "ping", "-c1", "-W1", "10.2.0.2", check=False).returncode == 0  # noqa: E731
        assert processes.wait_until(reached, 30, 0.1)


def test_what_can_not_be_taken_over_is_refused_by_name(tmp_path: Path) -> None:
    def refused(text: str, words: str) -> None:
        with pytest.raises(TwinplaneError, match=rf"node 'gw': .*{words}"):
            planned(tmp_path, text)

    six = FAMILIES.replace("[a, gw]", '[a, gw, {ipv6: ["2001:db8:1::2/64", "2001:db8:1::1/64"]}]')
    refused(six, "'a' has family ipv6-labelled of BGP")
    planned(tmp_path, of_kind(six, "bird"))
    by_address = six.replace("        gw:\n", '        "2001:db8:1::1":\n')
    refused(by_address, "'a' has it as a neighbour of BGP by 2001:db8:1::1, .* IPv4 alone")
    refused(of_kind(AREAS, "frr").replace("a-key", "a key"), "a space, which FRR takes for its end")
    refused(of_kind(AREAS, "frr").replace("key_id: 7", "key_id: 0"), "an OSPF key of number 0")
    one = "authentication: {kind: md5, key: a key, key_id: 7}"
    only = "{kind: md5, key: akey, key_id: 7}"
    config = planned(tmp_path, of_kind(AREAS.replace(one, f"authentication: {{keys: [{only}]}}"), "frr"))
    assert " ip ospf message-digest-key 7 md5 akey\n" in config.members["gw"].config
    several = f"authentication: {{keys: [{only}, {{kind: md5, key: b, key_id: 8, start_accept: 9 s}}]}}"
    for kind in ("frr", "bird"):
        refused(of_kind(AREAS.replace(one, several), kind), "several OSPF keys")
    link = "authentication: {kind: simple, key: k}"
    refused(of_kind(AREAS.replace(link, several), "frr"), "several OSPF keys")
    refused(AREAS, "a virtual link of OSPF with it, which is not set up in BIRD")
    clash = AREAS.replace("area: 0.0.0.2\n      areas: [{area: 2", "area: 1\n      areas: [{area: 1")
    refused(clash, "area 0.0.0.1 of OSPF is nssa at 'a' and stub at 'b'")
    # A configuration of its own can say what it wants.
    (tmp_path / "gw.conf").write_text("hostname gw\n")
    planned(tmp_path, by_address.replace("{kind: frr}", "{kind: frr, config: gw.conf}"))


def test_sessions_of_ldp_from_further_away_are_taken_over(tmp_path: Path) -> None:
    text = (
        "name: {name}\nnodes:\n  a: {kind: router, ospf: true, ldp: {targets: [192.0.2.9], password: s}}\n"
        "  b: {kind: router, ospf: true}\n  gw: {kind: frr, router_id: 192.0.2.9}\nlinks: [[a, b], [b, gw]]\n"
    )
    config = planned(tmp_path, text).members["gw"].config
    assert " neighbor 100.64.0.1 password s\n" in config and "  neighbor 100.64.0.1 targeted\n" in config
    told = planned(tmp_path, text.replace("frr", "bird")).warnings
    said = "'a' would speak LDP with it, and it does not: they exchange no labels"
    assert any(said in one for one in told), told
