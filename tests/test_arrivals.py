"""Traffic as a user describes it; hosts with several links; what routers and LSPs know of behaviours."""

import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane import diffserv


def loop(**options: Any) -> tuple[tp.Network, tp.Host]:
    """A host with a link to each end of a network, which sends to itself through it."""
    net = tp.Network(**options)
    a, b, h = net.router("a"), net.router("b"), net.host("h")
    net.link(h, a, rate="100 Mbit/s", addresses=("10.1.0.2/24", "10.1.0.1/24"))
    net.link(a, b, rate="10 Mbit/s")
    net.link(b, h, rate="100 Mbit/s", addresses=("10.2.0.1/24", "10.2.0.2/24"))
    return net, h


def test_arrivals_and_sizes_say_what_a_file_says() -> None:
    net, h = loop()
    on_off = tp.traffic.OnOff(on="500 ms", off=tp.traffic.Period("1 s", "pareto", 1.2), rate_is_mean=True)
    ends = {"from_link": "a", "to_link": "b"}
    net.flow(h, h, arrivals=on_off, size="1 kB", name="on-off", **ends)
    trace = tp.traffic.Trace(gaps=(0, "1 ms"), sizes=(64, 1518))
    net.flow(h, h, arrivals=trace, size=tp.traffic.Imix(), name="trace", **ends)
    net.flow(h, h, size=tp.traffic.Uniform(64, "128 B"), name="uniform", **ends)
    net.flow(h, h, size=tp.traffic.Exponential(500), name="exponential", **ends)
    flows = {flow["name"]: flow for flow in net.described()["flows"]}
    assert flows["on-off"]["arrivals"] == {
        "kind": "on-off",
        "rate_is_mean": True,
        "on": {"kind": "exponential", "mean": "500 ms", "shape": 1.5},
        "off": {"kind": "pareto", "mean": "1 s", "shape": 1.2},
    }
    assert flows["on-off"]["size"] == 1000
    assert flows["trace"]["arrivals"]["gaps"] == [0, "1 ms"]
    assert flows["trace"]["size"]["weights"] == [7.0, 4.0, 1.0]
    assert flows["uniform"]["size"] == {"kind": "uniform", "min": 64, "max": 128}
    exponential = flows["exponential"]["size"]
    assert exponential == {"kind": "exponential", "mean": "500 B", "min": 64, "max": 9018}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"arrivals": "poison"},
            "flow 'h-h': arrivals: 'poison' is none of constant, poisson, on-off or trace",
        ),
        ({"arrivals": "on-off"}, "arrivals: 'on-off': it should be a mapping that says more about it"),
        ({"arrivals": tp.traffic.OnOff("1 s", "1 s", "paretto")}, "did you mean 'pareto'"),
        ({"arrivals": tp.traffic.OnOff("1 s", "1 s", "pareto", 1.0)}, "on: shape: 1: above 1"),
        ({"arrivals": tp.traffic.Trace((0, 1), (64,))}, "2 gaps and 1 sizes"),
        ({"arrivals": tp.traffic.Trace((0, 0), repeat=True)}, "it would never end"),
        ({"size": tp.traffic.Uniform(128, 64)}, "size: min=128 is above max=64"),
        ({"size": tp.traffic.Empirical((64, 63))}, "size: sizes: 63: an Ethernet frame has 64 to"),
        ({"size": tp.traffic.Empirical((64, 65), (0, 0))}, "weights: none is negative"),
        (
            {"size": tp.traffic.Exponential(5000, max=100)},
            "size: mean=5000 is not between min=64 and max=100: most frames would be as long as a bound",
        ),
        ({"size": tp.traffic.Exponential(100, min=128)}, "size: mean=100 is not between min=128 and"),
        ({"stop": "1 s", "start": 1}, "flow 'h-h': stop: 1 s is not after its start (1 s)"),
        ({"stop": 0}, "stop: 0: it is not above zero"),
        ({"src_port": 0}, "flow 'h-h': src_port: 0: it should be 1 to 65535"),
        ({"dst_port": 65536}, "flow 'h-h': dst_port: 65536: it should be 1 to 65535"),
        ({"dst_port": "sip"}, "dst_port: 'sip': it should be a whole number"),
        ({"dscp": "EX"}, "flow 'h-h': dscp: 'EX' is not a code point: EF, AF11 to AF43, CS0 to CS7, default"),
        ({"rate_counts": "wire"}, "rate_counts: 'wire' is none of frame or ip"),
        ({"from_link": "h2"}, "from_link 'h2', no node has that name"),
    ],
)
def test_what_cannot_be_sent_is_refused(options: dict[str, Any], said: str) -> None:
    net, h = loop()
    with pytest.raises(tp.TwinplaneError) as caught:
        net.flow(h, h, **options)
    assert said in str(caught.value)


def test_a_host_sends_to_itself_through_the_network() -> None:
    net, h = loop()
    flow = net.flow(
        h,
        h,
        from_link="a",
        to_link="b",
        rate="1 Mbit/s",
        size=1018,
        rate_counts="ip",
        arrivals="poisson",
        name="ef",
    )
    net.run(until="4 s")
    assert h.addresses == ["10.1.0.2", "10.2.0.2"] and h.address == "10.1.0.2"
    stats = flow.stats().row(0, named=True)
    assert 400 < stats["sent"] < 600 and stats["lost"] == 0 and stats["delay_min_s"] > 0


@pytest.mark.parametrize("dscp", ["default", "BE", "EF", "AF11", "CS0", "LE", "dscp 44"])
def test_flows_and_filters_take_the_same_names(dscp: str) -> None:
    net = tp.Network()
    a, r, b = net.host("a", "10.1.0.2/24"), net.router("r"), net.host("b", "10.2.0.2/24")
    net.link(a, r)
    filters = [{"dscp": dscp, "class": "it"}]
    tree = tp.queues.Prio(classes={"it": {}, "rest": {}}, filters=filters, default="rest")
    net.link(r, b, queue={"r": tree})
    flow = net.flow(a, b, dscp=dscp, stop="100 ms")
    net.run(until="1 s")
    sent = dict(net.queues("r").select("path", "sent_packets").rows())
    assert sent["root/it"] == flow.stats()["received"][0] == 25
    # ARP.
    assert sent["root/rest"] <= 1


def test_flows_have_ports_of_their_own() -> None:
    def figures(**large: int) -> tuple[list[tuple[int, int]], list[int], list[str]]:
        net = tp.Network()
        a, r, b = net.host("a", "10.1.0.2/24"), net.router("r"), net.host("b", "10.2.0.2/24")
        net.link(a, r, rate="100 Mbit/s")
        net.link(r, b, rate="10 Mbit/s", queue={"r": tp.queues.FqCodel()})
        net.flow(a, b, name="small", rate="1 Mbit/s", stop="2 s")
        net.flow(a, b, name="large", rate="20 Mbit/s", stop="2 s", **large)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ports = [(flow.src_port, flow.dst_port) for flow in net.flows]
            net.run(until="9 s")
        return ports, [flow.stats()["lost"][0] for flow in net.flows], net.warnings

    ports, lost, said = figures()
    assert ports == [(49152, 61614), (49153, 61614)] and lost[0] == 0 < lost[1] and not said
    ports, lost, said = figures(src_port=49152, dst_port=5060)
    assert ports[1] == (49152, 5060) and lost[0] == 0 and not said
    ports, lost, said = figures(src_port=49152)
    assert ports[0] == ports[1] and lost[0] > 10
    assert said[0].startswith(
        "flow 'large': it has the addresses and the ports (49152 to 61614) of flow 'small'"
    )


def test_a_trace_is_sent_again_as_it_was_captured(tmp_path: Path) -> None:
    net, h = loop()
    net.flow(h, h, from_link="a", to_link="b", size=tp.traffic.Imix(), arrivals="poisson", name="x")
    tap = net.capture(h, "a", packets=40)
    net.run(until="1 s")
    trace = tp.traffic.Trace.from_pcap(tap.save(tmp_path / "x.pcapng"), limit=30)
    assert len(trace.gaps) == len(trace.sizes) == 30 and trace.gaps[0] == "0 ns"
    assert set(trace.sizes) <= {64, 594, 1518}
    again, h = loop()
    flow = again.flow(h, h, from_link="a", to_link="b", arrivals=trace, name="y")
    again.run(until="1 s")
    assert flow.stats()["sent"].to_list() == [30]
    with pytest.raises(tp.TwinplaneError, match="no-such"):
        tp.traffic.Trace.from_pcap(tmp_path / "no-such.pcap")


def test_captured_frames_that_are_longer_than_usual_become_the_longest_usual(tmp_path: Path) -> None:
    net = tp.Network()
    left, right = net.router("left"), net.router("right")
    link = net.link(left, right, mtu=65535)
    net.flow(left, right, rate="100 Mbit/s", size=20_000)
    tap = net.capture(link)
    net.run(until="50 ms")
    trace = tp.traffic.Trace.from_pcap(tap.save(tmp_path / "x.pcapng"))
    assert max(trace.sizes) == 9018 and min(trace.sizes) == 64


def test_lsps_and_routers_know_of_behaviours() -> None:
    usual = ["default", "AF11", "AF12", "AF21", "AF31", "EF", "CS6", "CS7"]
    assert diffserv.node_spec(True, "a") == {"tc_map": usual, "model": "pipe", "dscp": {}}
    given = {"tc_map": {5: "EF", 1: "AF11"}, "model": "uniform", "supported": ["EF", "AF1"]}
    assert diffserv.node_spec(given, "a") == {
        "tc_map": usual,
        "model": "uniform",
        "supported": ["AF11", "AF12", "AF13", "EF"],
        "dscp": {},
    }
    assert diffserv.lsp_spec("e-lsp", "l") == {"kind": "e-lsp", "signal": False}
    assert diffserv.lsp_spec("l-lsp AF1", "l") == {"kind": "l-lsp", "class": "AF1"}
    assert diffserv.lsp_spec(diffserv.LLsp(class_="AF12"), "l") == {"kind": "l-lsp", "class": "AF1"}
    assert diffserv.lsp_spec({"kind": "e-lsp", "model": "uniform"}, "l") == {
        "kind": "e-lsp",
        "signal": False,
        "model": "uniform",
    }
    assert (
        diffserv.lsp_spec({"kind": "l-lsp", "class": "EF", "model": "short-pipe"}, "l")["model"]
        == "short-pipe"
    )
    assert diffserv.classes_spec(["default", "EF"], "l") == ["default", "EF"]
    for wrong, said in (
        ("x-lsp", "'x-lsp' is none of e-lsp or l-lsp"),
        ("l-lsp", "l: 'l-lsp' is not e-lsp, or l-lsp with its scheduling class"),
        ("l-lsp AF5", "l: 'AF5' is not one scheduling class"),
        ({"kind": "e-lsp", "map": {9: "EF"}}, "l: map: '9': the TC bits are 0 to 7"),
    ):
        with pytest.raises(tp.TwinplaneError) as caught:
            diffserv.lsp_spec(wrong, "l")
        assert said in str(caught.value)
