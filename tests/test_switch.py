"""OpenFlow switches in virtual time, and what is refused of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import twinplane as tp

CERTIFICATES = Path(__file__).resolve().parent / "support" / "certificates"


def star(**said: object) -> tuple[tp.Network, list[tp.Host]]:
    net = tp.Network(seed=1)
    switch = net.switch("s1", "10.1.0.0/24", **said)  # type: ignore[arg-type]
    hosts = [net.host(name, f"10.1.0.{place}/24") for place, name in enumerate("abc", 11)]
    for host in hosts:
        net.link(host, switch, rate="1 Gbit/s", delay="10 us")
    return net, hosts


def test_without_a_controller_a_switch_learns_or_drops() -> None:
    _, (a, b, _) = star(fail="standalone")
    assert a.ping(b) is not None
    _, (a, b, _) = star()
    assert a.ping(b) is None


def test_a_switch_is_written_as_it_was_made() -> None:
    net, _ = star(controller="ptcp:6653", datapath_id=7, version="1.3")
    node = net.described()["nodes"]["s1"]
    assert (node["controllers"], node["datapath_id"], node["version"]) == (["ptcp:6653"], 7, "1.3")


def test_datapath_ids_in_conflict_are_refused() -> None:
    net = tp.Network()
    router = net.router("r")
    for place, name in enumerate(("s1", "s2")):
        net.link(net.switch(name, f"10.{place}.0.0/24", datapath_id=5), router)
    with pytest.raises(tp.TwinplaneError, match="5 is the datapath id of 's1', too"):
        net.run(until="1 ms")


@pytest.mark.parametrize("wrong", ["tls:127.0.0.1", "tcp:nowhere", "ptcp:0", "pssl:0"])
def test_a_controller_that_can_not_be_reached_is_refused(wrong: str) -> None:
    with pytest.raises(tp.TwinplaneError, match="a controller such as tcp"):
        tp.Network().switch("s1", "10.1.0.0/24", controller=wrong)


def test_a_controller_that_never_answers_is_warned_of() -> None:
    net, _ = star(controller=["tcp:127.0.0.1:6633", "ptcp:6653"])
    with pytest.warns(tp.TwinplaneWarning, match="nothing leads the switch to tcp:127.0.0.1:6633"):
        net.run(until="1 ms")
    net = tp.Network()
    switch = net.switch("s1", "10.1.0.0/24", controller="tcp:10.9.0.2:6633")
    tester = net.openflow_tester("t", listen=6633)
    other = net.switch("s2", "10.2.0.0/24", controller="tcp:10.9.1.2:6634")
    host = net.host("h", "10.9.1.2/30")
    for _ in range(2):
        net.link(switch, tester)
        net.link(other, net.host(f"h{len(net.nodes)}", f"10.2.0.{10 + len(net.nodes)}/24"))
    net.link(switch, tester, addresses=("10.9.0.1/30", "10.9.0.2/30"))
    net.link(other, host, addresses=("10.9.1.1/30", "10.9.1.2/30"))
    with pytest.warns(tp.TwinplaneWarning, match="no controller at tcp:10.9.1.2:6634: 2 attempts in a row"):
        net.run(until="2 s")
    rows = net.table("controllers")
    assert rows["node"].to_list() == ["s1", "s2"] and rows["state"].to_list()[0] == "up"
    assert rows["version"].to_list() == ["1.0", None]


def test_files_of_tls_are_looked_at_and_nobody_is_met_by_them_in_virtual_time() -> None:
    tls = {
        "private_key": CERTIFICATES / "switch-key.pem",
        "certificate": CERTIFICATES / "switch-cert.pem",
        "ca_cert": CERTIFICATES / "ca-cert.pem",
    }
    net, _ = star(controller=["ssl:127.0.0.1:6653", "pssl:6654"], tls=tls)
    with pytest.warns(tp.TwinplaneWarning, match="nothing leads the switch to ssl:127.0.0.1:6653"):
        net.run(until="1 ms")
    with pytest.raises(tp.TwinplaneError, match=r"node 's1': tls: private_key: .*does not belong"):
        star(controller="pssl:6653", tls={**tls, "private_key": CERTIFICATES / "stranger-key.pem"})
    with pytest.raises(tp.TwinplaneError, match="pssl:6653 is over TLS: 'tls' has to say"):
        star(controller="pssl:6653")
