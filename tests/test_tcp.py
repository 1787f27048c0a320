"""Flows over TCP between hosts: what users write and read, captures, threads, host profiles."""

import subprocess
from pathlib import Path

import pytest
import twinplane as tp
from twinplane.network import processors

COMPLAINTS = (
    "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0 || _ws.expert.severity == 8388608"
)
"""The last one is an error."""


def between(**host: object) -> tuple[tp.Network, tp.Host, tp.Host]:
    """Two hosts, a router, and 10 Mbit/s over 2 ms behind it."""
    net = tp.Network(seed=5)
    router = net.router("r")
    left = net.host("left", address="10.1.0.2/24", **host)
    right = net.host("right", address="10.2.0.2/24", **host)
    net.link(left, router, rate="100 Mbit/s", delay="10 us")
    net.link(router, right, rate="10 Mbit/s", delay="2 ms")
    return net, left, right


def test_what_a_flow_did_is_in_tables() -> None:
    net, left, right = between()
    flow = net.tcp(left, right, bytes="1 MB", buffer="32 kB", message=512, start="1 s")
    other = net.tcp(right, left, application="request-response", transactions=10, start="3 s")
    assert (flow.name, other.name) == ("left-right", "right-left") and net.tcp_flows == [flow, other]
    net.run(until="5 s")
    row = flow.stats().row(0, named=True)
    assert (row["state"], row["bytes"], row["wrong"], row["retransmitted"]) == ("done", 1_000_000, 0, 0)
    assert row["start_s"] == 1.0 and 0.004 < row["rtt_min_s"] <= row["rtt_mean_s"] <= row["rtt_max_s"]
    assert row["goodput_bps"] == pytest.approx(8e6 / row["completion_s"], rel=0.01)
    series = flow.series()
    assert series["acknowledged"].sum() == 1_000_002, "SYN and FIN are acknowledged, too"
    assert series["in_flight"].max() == row["in_flight_max"] <= 32_001
    assert len(other.stats()) == 2 and other.stats()["transactions"].to_list() == [10, 10]
    assert len(net.table("tcp_flows")) == 3


def test_a_file_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(
        """
name: two
nodes:
  r: {kind: router}
  left: {kind: host, address: 10.1.0.2/24, profile: solaris-2.5.1}
  right: {kind: host, address: 10.2.0.2/24, tcp: {receive_buffer: 4 kB}}
links:
  - [left, r, {rate: 100 Mbit/s}]
  - [r, right, {rate: 10 Mbit/s, delay: 2 ms}]
tcp:
  - {name: bulk, from: left, to: right, bytes: 100 kB, duplex: full}
"""
    )
    net = tp.Network.from_file(file)
    net.run(until="5 s")
    (flow,) = net.tcp_flows
    rows = flow.stats().to_dicts()
    assert [row["bytes"] for row in rows] == [100_000, 100_000]
    assert rows[0]["in_flight_max"] <= 4_001, "the window of the receiver"
    assert rows[1]["in_flight_max"] <= 8_193, "the buffer of the profile"


def test_a_profile_is_found_or_refused() -> None:
    with pytest.raises(tp.TwinplaneError, match="no such host profile"):
        between(profile="solaris")
    with pytest.raises(tp.TwinplaneError, match="colour"):
        between(profile={"name": "own", "tcp": {"colour": "red"}})
    net, left, right = between(profile="solaris-2.5.1")
    tap = net.capture(left, "r")
    net.tcp(left, right, bytes=1000)
    net.run(until="1 s")
    assert tap.bytes


@pytest.mark.parametrize("profile", ["modern", "solaris-2.5.1"])
@pytest.mark.needs("tshark")
def test_tshark_finds_nothing_wrong(profile: str, tmp_path: Path) -> None:
    net, left, right = between(profile=profile)
    tap = net.capture("r", right)
    net.tcp(left, right, bytes="60 kB", start="1 s")
    # When more than a segment is in flight, behind the first acknowledgement, which is deferred.
    at, lasts = ("1.02 s", "5 ms") if profile == "modern" else ("1.08 s", "3 ms")
    net.at(at).loss("r", right, share=1.0, sender="r", for_=lasts)
    net.run(until="15 s")
    file = tmp_path / "tcp.pcapng"
    tap.save(file)

    def lines(what: str, *fields: str) -> list[str]:
        shown = [word for field in fields for word in ("-e", field)]
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        command = [
            "tshark",
            "-r",
            str(file),
            *checks,
            "-Y",
            what,
            "-T",
            "fields",
            "-e",
            "frame.number",
            *shown,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()

    assert lines(COMPLAINTS) == []
    assert len(lines("tcp.flags.fin == 1")) == 2 and lines("tcp.flags.reset == 1") == []
    offers = "tcp.flags.syn == 1 && tcp.options.wscale && tcp.options.sack_perm"
    assert len(lines(offers)) == (2 if profile == "modern" else 0)
    again = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order"
    assert lines(again)
    assert bool(lines("tcp.options.sack")) == (profile == "modern")


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "count", lambda: 4)

    def run(threads: int) -> tuple[str, str]:
        net, left, right = between()
        net.tcp(left, right, bytes="300 kB", connections=4)
        net.tcp(right, left, duplex="full", bytes="200 kB", congestion="reno")
        running = net.engine.start()
        running.set_threads(threads, True)
        running.run_until(2 * 10**12)
        return net.digest(), str(net.table("tcp_flows").to_dicts())

    assert run(1) == run(2) == run(4)


def test_a_flow_may_be_added_while_the_network_runs() -> None:
    net, left, right = between()
    net.run(until="1 s")
    flow = net.tcp(left, right, bytes="10 kB")
    with pytest.raises(tp.TwinplaneError, match="mss=1461: a packet of 'left' has 1500 bytes at most"):
        net.tcp(left, right, mss=1461)
    net.run(until="2 s")
    assert flow.stats()["bytes"].to_list() == [10_000] and len(net.tcp_flows) == 1


def test_what_can_not_be_is_one_sentence() -> None:
    net, left, right = between()
    for said, sentence in (
        ({"buffer": 0}, "buffer"),
        ({"receive_buffer": 0}, "receive_buffer"),
        ({"message": 0}, "message"),
        ({"mss": 1461, "name": "wide"}, "tcp flow 'wide': mss=1461"),
    ):
        with pytest.raises(tp.TwinplaneError, match=sentence):
            net.tcp(left, right, **said)
            net.run(until="1 s")
        net, left, right = between()
    with pytest.raises(tp.TwinplaneError, match="no node has that name"):
        net.tcp(left, "nobody")
