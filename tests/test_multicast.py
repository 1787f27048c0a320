"""Packets to groups over label-switched trees: everybody gets each once, and nobody anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError

GROUP = "239.1.1.1"
CORE = "192.0.2.2"
CBT = {"groups": [{"group": GROUP, "core": CORE}]}


def star(leaves: int, **settings: Any) -> tuple[tp.Network, list[Any]]:
    """A core with `leaves` routers around it, a host behind each that wants the group."""
    net = tp.Network(seed=3)
    said = {"igmp": {}, "cbt": CBT, **settings}
    core = net.router("core", router_id=CORE, **said)
    hosts = []
    for place in range(leaves):
        leaf = net.router(f"r{place}", router_id=f"192.0.2.{place + 10}", **said)
        net.link(core, leaf, rate="100 Mbit/s", delay="1 ms")
        host = net.host(f"h{place}", f"10.{place + 1}.0.2/24", join=[GROUP])
        net.link(host, leaf)
        hosts.append(host)
    return net, hosts


def stream(net: tp.Network, hosts: Sequence[Any], **said: Any) -> Any:
    """From the first host to all others."""
    first, second, *more = hosts
    options = {"rate": "2 Mbit/s", "start": "200 ms", "stop": "1 s", **said}
    return net.flow(first, second, group=GROUP, receivers=more, **options)


def test_every_member_gets_every_packet_once() -> None:
    """Whoever sends: the tree is the same for all."""
    net, hosts = star(4)
    for sender in (0, 2):
        order = [hosts[sender], *(host for place, host in enumerate(hosts) if place != sender)]
        stream(net, order, name=f"from{sender}")
    net.run(until="1.1 s")
    accounts = net.table("flow_accounts")
    for flow in accounts.iter_rows(named=True):
        assert flow["sent"] > 300
        assert flow["received"] == 3 * flow["sent"]
        assert (flow["lost"], flow["unknown"], flow["in_flight"]) == (0, 0, 0)
        assert flow["duplicated"] == 2 * flow["sent"]
    receivers = net.table("receivers")
    assert len(receivers) == 6
    assert set(receivers["received"]) == set(accounts["sent"])
    assert set(receivers["duplicated"]) == {0}
    trees = net.table("group_trees")
    assert set(trees["state"]) == {"on-tree"}
    assert trees["label_in"].null_count() == trees["label_out"].null_count() == 0
    # At the core each neighbour's label leads to the three others.
    lists = net.node("core").table("replications") if hasattr(net.node("core"), "table") else None
    assert lists is None or len(lists) == 12


def test_hosts_and_routers_speak_igmp(tmp_path: Path) -> None:
    """What is sent has TTL 1 and the Router Alert option; what is heard is what hosts want."""
    net, _ = star(2)
    tap = net.capture("h0", "r0")
    net.run(until="3 s")
    groups = net.table("groups")
    assert sorted(groups["node"]) == ["r0", "r1"]
    assert set(groups["group"]) == {GROUP}
    assert set(groups["mode"]) == {"exclude"}
    from twinplane import core as _core

    path = tmp_path / "igmp.pcapng"
    tap.save(path)
    frames = [bytes(one[3]) for one in _core.load().CaptureFile(str(path))]
    packets = [frame for frame in frames if frame[12:14] == b"\x08\x00" and frame[23] == 2]
    assert len(packets) >= 3
    for frame in packets:
        assert frame[22] == 1
        assert frame[14] == 0x46 and frame[34] == 148


def test_static_groups_need_no_host_that_asks() -> None:
    """Their packets go out on the link as long as it is up, and the router joins the tree for them."""
    net, hosts = star(2)
    said = {"static_groups": {"deaf": [{"group": GROUP}, {"group": "232.1.1.1", "source": "10.1.0.2"}]}}
    leaf = net.router("leaf", router_id="192.0.2.99", igmp=said, cbt=CBT)
    net.link("core", leaf, rate="100 Mbit/s", delay="1 ms")
    net.link(net.host("deaf", "10.77.0.2/24"), leaf)
    stream(net, hosts)
    net.run(until="1.1 s")
    (account,) = net.table("flow_accounts").iter_rows(named=True)
    groups = net.table("groups").filter(node="leaf")
    assert groups["is_static"].to_list() == [True, True]
    assert groups["group"].to_list() == ["232.1.1.1", GROUP]
    assert groups["mode"].to_list() == ["include", "exclude"]
    assert groups["sources"].to_list() == ["10.1.0.2", None]
    # Beside the packets only questions of IGMP go there.
    ways = net.table("directions").rows(named=True)
    (offered,) = [way["offered"] for way in ways if (way["from"], way["to"]) == ("leaf", "deaf")]
    assert account["sent"] > 300
    assert account["sent"] <= offered <= account["sent"] + 3


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"nobody": [{"group": GROUP}]}, "nobody"),
        (
            {"h": [{"group": "224.0.0.5"}]},
            "h: group: 224.0.0.5: an address of 224.0.1.0 to 239.255.255.255 is",
        ),
        ({"h": [{"group": "10.0.0.5"}]}, "h: group: 10.0.0.5: an address of 224.0.1.0"),
        (
            {"h": [{"group": GROUP, "source": "224.1.1.1"}]},
            "h: source: 224.1.1.1: the address of a host is needed",
        ),
        ({"h": [{"group": GROUP}, {"group": GROUP}]}, "h: group 239.1.1.1 is there twice"),
    ],
)
def test_static_groups_that_cannot_be_are_refused(said: dict[str, Any], words: str) -> None:
    net = tp.Network()
    with pytest.raises(TwinplaneError) as caught:
        net.link(net.host("h", "10.1.0.2/24"), net.router("r", igmp={"static_groups": said}))
        net.run(until="1 ms")
    assert words in str(caught.value)


def test_a_failure_that_probes_notice_is_repaired() -> None:
    """The link stays up for its ends, and loses everything: only probes tell."""
    net, hosts = star(2, probing={"period": "10 ms", "misses": 3})
    net.link("r0", "r1", rate="100 Mbit/s", delay="1 ms")
    stream(net, hosts, stop="2 s")
    net.run(until="500 ms")
    links = net.table("probed_links")
    assert set(links["state"]) == {"up"}
    net.fail("core", "r1")
    net.run(until="600 ms")
    net.repair("core", "r1")
    net.run(until="2.1 s")
    links = net.table("probed_links")
    assert set(links["state"]) == {"up"}
    (account,) = net.table("flow_accounts").iter_rows(named=True)
    assert account["unknown"] == 0
    assert 0 < account["lost"] < account["sent"] / 2


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"group": "10.1.1.1"},
            "group=10.1.1.1: groups that routers forward are 224.0.1.0 to 239.255.255.255",
        ),
        ({"group": "239.9.9.9"}, "'h1' has not joined 239.9.9.9: its 'join' says which groups it wants"),
        ({"receivers": ["core"]}, "'core' is no host: only hosts join groups"),
    ],
)
def test_wrong_flows_are_refused_by_name(said: dict[str, Any], words: str) -> None:
    net, hosts = star(2)
    with pytest.raises(TwinplaneError) as caught:
        net.flow(hosts[0], hosts[1], **{"group": GROUP, **said})
        net.run(until="1 ms")
    assert words in str(caught.value)


def test_a_group_without_a_core_and_a_leaf_beyond_reach_are_refused() -> None:
    net, hosts = star(2, cbt={"groups": []})
    with pytest.raises(TwinplaneError, match=r"router 'r1' in front of 'h1' knows no core of 239\.1\.1\.1"):
        stream(net, hosts)
        net.run(until="1 ms")
    net, hosts = star(1)
    alone = net.router("alone", igmp=True, cbt=CBT)
    beyond = net.host("beyond", "10.77.0.2/24", join=[GROUP])
    net.link(beyond, alone)
    with pytest.raises(TwinplaneError, match="no link leads from 'h0' to 'beyond'"):
        net.flow(hosts[0], beyond, group=GROUP)
        net.run(until="1 ms")


def test_wrong_settings_are_refused_by_name() -> None:
    net = tp.Network()
    with pytest.raises(TwinplaneError, match=r"10\.0\.0\.1 is no group that routers forward"):
        net.router("a", cbt={"groups": [{"group": "10.0.0.1", "core": CORE}]})
    with pytest.raises(TwinplaneError, match=r"group 239\.1\.1\.1 stands in the list already"):
        net.router("b", cbt={"groups": [{"group": GROUP, "core": CORE}] * 2})
    with pytest.raises(TwinplaneError, match="a group beyond 224"):
        net.host("h", "10.1.0.2/24", join=["224.0.0.5"])
    net = tp.Network()
    a, b = (net.router(name, probing={"period": "10 us", "size": 1000}) for name in "ab")
    net.link(a, b, rate="100 Mbit/s")
    with pytest.raises(TwinplaneError, match=r"probing sends .*, and link a - b carries '100 Mbit/s'"):
        net.run(until="1 ms")


def test_fragments_are_those_of_ip() -> None:
    """Arithmetic of the experiment: six frames, and what a label takes of the wire."""
    from twinplane.experiments.multicast import model
    from twinplane.experiments.multicast.parameters import MulticastParameters, fragments, wire_bytes

    assert fragments(8192) == [1500] * 5 + [820]
    assert fragments(1024) == [1052]
    assert (wire_bytes(8192), wire_bytes(8192, 1)) == (8548, 8572)
    p = MulticastParameters()
    times = model.of_profile("pc-router")
    assert abs(model.throughput(p, times) - 93.3) < 0.05
    assert abs(model.throughput(p.model_copy(update={"probing": True}), times) - 92.1) < 0.05


def test_the_experiment_measures_what_its_closed_form_says() -> None:
    from twinplane.experiments import load
    from twinplane.experiments.multicast import model
    from twinplane.experiments.multicast.parameters import MulticastParameters

    experiment = load("multicast")
    for said in (
        {"receivers": 2},
        {"receivers": 5, "probing": True, "size": 1024},
        {"forwarding": "lsp", "receivers": 1},
    ):
        p = MulticastParameters(duration_s=0.3, **said)
        network = experiment.build(p, 1)
        experiment.run(network, p)
        outcome = experiment.summarise(network, p)
        expected = model.throughput(p, model.of_profile(p.profile))
        assert outcome.metrics["mbps"] == pytest.approx(expected, rel=0.005)
        assert (outcome.metrics["members"], outcome.metrics["unknown"]) == (p.receivers, 0)
