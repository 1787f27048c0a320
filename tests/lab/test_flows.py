"""Flows in network files: they become what `Network.flow` makes, and every mistake has its line."""

from __future__ import annotations

import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError, TwinplaneWarning
from twinplane.lab import Lab

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
name: x
nodes:
  left:  {kind: host, address: 10.1.0.2/24}
  right: {kind: host, address: 10.2.0.2/24}
  pe1:   {kind: router}
  pe2:   {kind: router}
links:
  - [left, pe1]
  - [pe1, pe2, {rate: 10 Mbit/s, queue: {pe1: {discipline: pfifo, limit: 5}}}]
  - [pe2, right]
lsps:
  - {name: east, from: pe1, to: pe2, carries: 10.2.0.0/24}
flows:
"""  # flows begin in line 14
FIRST = HEAD.count("\n") + 1
ENDS = "from: left, to: right"


def written(folder: Path, *flows: str, head: str = HEAD) -> Path:
    path = folder / "x.yaml"
    path.write_text(head + "".join(f"  - {flow}\n" for flow in flows))
    return path


WRONG = [
    (f"{{{ENDS}, size: imx}}", "size: 'imx' is not a size: bytes, imix, or a mapping of kind"),
    (f"{{{ENDS}, size: 63}}", "size: 63: an Ethernet frame has 64 to 65553 bytes"),
    (f"{{{ENDS}, size: {{kind: unifrom}}}}", "size: kind: 'unifrom' is none of uniform, empirical or expone"),
    (f"{{{ENDS}, size: {{min: 64}}}}", "size: kind is missing: uniform, empirical or exponential"),
    (f"{{{ENDS}, size: {{kind: uniform, min: 64}}}}", "size: max is missing"),
    (
        f"{{{ENDS}, size: {{kind: uniform, min: 99, max: 64}}}}",
        "flow 'left-right': size: min=99 is above max=64",
    ),
    (
        f"{{{ENDS}, arrivals: poison}}",
        "arrivals: 'poison' is none of constant, poisson, on-off or trace (did",
    ),
    (
        f"{{{ENDS}, arrivals: {{kind: onoff}}}}",
        "kind: 'onoff' is none of on-off or trace (did you mean 'on-off'?)",
    ),
    (f"{{{ENDS}, arrivals: {{kind: on-off, on: 1 s}}}}", "arrivals: off is missing"),
    (
        f"{{{ENDS}, arrivals: {{kind: on-off, on: {{men: 1}}, off: 1}}}}",
        "arrivals: on: unknown field 'men' (did you mean 'mean'?)",
    ),
    (f"{{{ENDS}, arrivals: {{kind: on-off, on: 0 s, off: 1}}}}", "arrivals: on: 0: it is not above zero"),
    (f"{{{ENDS}, arrivals: {{kind: trace}}}}", "flow 'left-right': arrivals: gaps: there are none"),
    (
        f"{{{ENDS}, arrivals: {{kind: trace, gaps: [1], sizes: [64, 64]}}}}",
        "1 gaps and 2 sizes: as many of both",
    ),
    (f"{{{ENDS}, arrivals: {{kind: trace, pcap: no.pcap}}}}", "no.pcap: No such file or directory"),
    (
        f"{{{ENDS}, arrivals: {{kind: trace, gaps: [1], pcap: x}}}}",
        "pcap gives gaps and sizes: either it or them",
    ),
    (
        f"{{{ENDS}, arrivals: {{kind: trace, gaps: [1], limit: 1}}}}",
        "limit: it is for a capture: pcap is missing",
    ),
    (f"{{{ENDS}, dscp: EFF}}", "dscp: 'EFF' is not a code point: EF, AF11 to AF43,"),
    (f"{{{ENDS}, src_port: 0}}", "src_port: 0: it should be 1 to 65535"),
    (f"{{{ENDS}, dst_port: 65536}}", "dst_port: 65536: it should be 1 to 65535"),
    (f"{{{ENDS}, dst_port: sip}}", "dst_port: 'sip': it should be a whole number"),
    (
        f"{{{ENDS}, size: {{kind: exponential, mean: 9999}}}}",
        "size: mean=9999 is not between min=64 and max=9018: most frames would be as long as a bound",
    ),
    (f"{{{ENDS}, dscp: 64}}", "dscp: 64 is not a code point"),
    (f"{{{ENDS}, rat: 1}}", "unknown field 'rat' (did you mean 'rate'?)"),
    (f"{{{ENDS}, rate: 0}}", "flow 'left-right': rate: 0: it is not above zero"),
    (f"{{{ENDS}, start: -1 s}}", "start: '-1 s': it cannot be negative"),
    (f"{{{ENDS}, start: 4, stop: 2}}", "flow 'left-right': stop: 2 s is not after its start (4 s)"),
    (f"{{{ENDS}, over: est}}", "over: 'est', no LSP has that name (did you mean 'east'?)"),
    (f"{{{ENDS}, over: east}}", "its LSP goes from 'pe1' to 'pe2'"),
    (f"{{{ENDS}, from_link: pe2}}", "from_link: there is no link between 'left' and 'pe2'"),
    (f"{{{ENDS}, from_link: 'pe1:e7'}}", "from_link: 'pe1' has no interface 'e7'"),
    (
        "{from: lft, to: right}",
        "flow 'lft-right': from: 'lft', no node has that name (did you mean 'left'?)",
    ),
    ("{from: left, to: left}", "flow 'left-left': from 'left' to itself: from_link and to_link say by which"),
    ("{name: a b, from: left, to: right}", "flow 'a b': name: 'a b' is not a name"),
    ("{from: left}", "flow number 1: to is missing"),
]


@pytest.mark.parametrize(("flow", "sentence"), WRONG, ids=[text for _, text in WRONG])
def test_mistakes_have_their_line(tmp_path: Path, flow: str, sentence: str) -> None:
    path = written(tmp_path, flow)
    with pytest.raises(TwinplaneError) as caught:
        Lab(path)
    text = str(caught.value)
    assert (
        re.match(rf"{re.escape(str(path))}:{FIRST}:\d+: flow ", text)
        and sentence in text
        and "\n" not in text
    )
    words = [part.strip() for part in text.split(":")]
    assert all(a != b for a, b in itertools.pairwise(words))  # nothing is said twice


def test_names_are_given_once(tmp_path: Path) -> None:
    path = written(tmp_path, f"{{{ENDS}}}", f"{{name: left-right, {ENDS}}}")
    with pytest.raises(
        TwinplaneError, match=rf":{FIRST + 1}:12: flow 'left-right': name: 'left-right' is given twice"
    ):
        Lab(path)


def plain(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flows as they are built: the same mix has a name in files, and a link has two ends."""
    imix = tp.traffic.Imix().described()
    mix = {**imix, "sizes": list(imix["sizes"]), "weights": [float(weight) for weight in imix["weights"]]}
    ends = {"pe1:e0": "pe1", "left:e0": "pe1", "pe2:e1": "pe2", "right:e0": "pe2"}
    return [
        {
            key: mix if value == "imix" else ends.get(value, value) if key.endswith("_link") else value
            for key, value in flow.items()
        }
        for flow in flows
    ]


def test_a_file_says_what_python_says(tmp_path: Path) -> None:
    """Every form of every field, beside the same flows described in Python."""
    onoff = "{kind: on-off, on: 500 ms, off: {mean: 100 ms, kind: pareto, shape: 1.4}, rate_is_mean: true}"
    path = written(
        tmp_path,
        f"{{name: a, {ENDS}, rate: 2 Mbit/s, size: 218, dscp: EF, start: 1 s, stop: 2 s, log: true}}",
        f"{{name: b, {ENDS}, arrivals: poisson, size: imix, rate_counts: ip, dscp: 10}}",
        f"{{name: c, {ENDS}, arrivals: {onoff}, size: {{kind: uniform, min: 64, max: 1 kB}}, trace: true}}",
        f"{{name: d, {ENDS}, arrivals: {{kind: trace, gaps: [1 ms, 2 ms], sizes: [64, 99], repeat: true}}}}",
        f"{{name: e, {ENDS}, size: {{kind: empirical, sizes: [64, 128], weights: [1, 2]}}, from_link: pe1}}",
        f"{{name: f, {ENDS}, from_link: 'pe1:e0', size: {{kind: exponential, mean: 300}}, to_link: pe2}}",
        "{name: g, from: pe1, to: pe2, over: east}",
        f"{{name: h, {ENDS}, src_port: 4000, dst_port: 5060}}",
    )
    found = tp.Network.from_file(path)
    t = tp.traffic
    net = tp.Network.from_file(written(tmp_path, head=HEAD.removesuffix("flows:\n")))
    link, last = net.links[0], net.links[2]
    ends = ("left", "right")
    net.flow(*ends, name="a", rate="2 Mbit/s", size=218, dscp="EF", start="1 s", stop="2 s", log=True)
    net.flow(*ends, name="b", arrivals="poisson", size=t.Imix(), rate_counts="ip", dscp=10)
    bursts = t.OnOff("500 ms", t.Period("100 ms", "pareto", 1.4), rate_is_mean=True)
    net.flow(*ends, name="c", arrivals=bursts, size=t.Uniform(64, "1 kB"), trace=True)
    net.flow(*ends, name="d", arrivals=t.Trace(("1 ms", "2 ms"), (64, 99), True))
    net.flow(*ends, name="e", size=t.Empirical((64, 128), (1, 2)), from_link=link)
    net.flow(*ends, name="f", size=t.Exponential(300), from_link=link, to_link=last)
    net.flow("pe1", "pe2", over=net.lsps[0], name="g")
    net.flow(*ends, name="h", src_port=4000, dst_port=5060)
    assert plain(found.described()["flows"]) == plain(net.described()["flows"])


def test_a_trace_is_beside_the_file(tmp_path: Path) -> None:
    net = tp.Network.from_file(written(tmp_path, f"{{{ENDS}}}"))
    tap = net.capture("left", "pe1")
    net.run(until="20 ms")
    (tmp_path / "captures").mkdir()
    tap.save(tmp_path / "captures" / "l.pcapng")
    again = "arrivals: {kind: trace, pcap: captures/l.pcapng, limit: 4, repeat: true}"
    found = tp.Network.from_file(written(tmp_path, f"{{{ENDS}, {again}}}"))
    assert len(found.described()["flows"][0]["arrivals"]["gaps"]) == 4


def test_a_file_becomes_a_network(tmp_path: Path) -> None:
    path = written(
        tmp_path, f"{{name: all, {ENDS}, rate: 20 Mbit/s, size: 1018, start: 100 ms, stop: 600 ms}}"
    )
    net = tp.Network.from_file(path, seed=5, queue_bin="10 ms")
    net.run(until="1 s")
    row = net.flows[0].stats().row(0, named=True)
    tree = net.queues("pe1").row(0, named=True)
    assert net.seed == 5 and net.lsps[0].up
    assert row["sent"] == row["received"] + row["lost"] and row["lost"] > 500
    # The queue is full: it may drop a Hello, too.
    assert 0 <= tree["dropped_packets"] - row["lost"] <= 2
    assert net.queue_series("pe1").height > 10
    page = tp.report(net, tmp_path / "own.html").read_text()
    assert "pe1 towards pe2" in page and "Flows" in page


def test_warnings_of_queues_have_their_line(tmp_path: Path) -> None:
    tree = "{discipline: htb, classes: {a: {rate: 1 Mbit/s}, b: {parent: a, rate: 2 Mbit/s}}, default: b}"
    path = written(tmp_path, f"{{{ENDS}}}", head=HEAD.replace("{discipline: pfifo, limit: 5}", tree))
    with pytest.warns(
        TwinplaneWarning, match=rf"{path}:9:99: link pe1 - pe2: queue at pe1: class .b.: its ceiling of 2"
    ):
        tp.Network.from_file(path).run(until="1 ms")


def test_flows_that_nothing_tells_apart_have_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, f"{{name: a, {ENDS}}}", f"{{name: b, {ENDS}, src_port: 49152}}")
    said = r"flow 'b': it has the addresses and the ports \(49152 to 61614\) of flow 'a'"
    with pytest.warns(TwinplaneWarning, match=rf"{path}:{FIRST + 1}:\d+: {said}"):
        tp.Network.from_file(path).run(until="1 ms")


def test_what_only_a_lab_can_do(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(HEAD.replace("10.1.0.2/24}", "10.1.0.2/24, exec: [ls]}").removesuffix("flows:\n"))
    with pytest.warns(TwinplaneWarning, match=rf"{path}:3:\d+: node 'left': exec: only a lab does that"):
        tp.Network.from_file(path)
    text = HEAD.replace("{kind: host, address: 10.1.0.2/24}", "{kind: external, interface: eth9}")
    path.write_text(text.removesuffix("flows:\n"))
    with pytest.raises(TwinplaneError, match=rf"{path}:3:\d+: node 'left': it is external: "):
        tp.Network.from_file(path)


def test_a_lab_is_made_without_its_flows(tmp_path: Path) -> None:
    lab = Lab(written(tmp_path, f"{{{ENDS}}}"))
    assert lab.plan.description["flows"] == [] and len(lab.plan.lowered.network.flows) == 1
    assert {member.kind for member in lab.plan.members.values()} == {"host", "router"}


def test_every_example_becomes_a_network() -> None:
    files = sorted((ROOT / "examples").rglob("*.yaml"))
    assert len(files) >= 4
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TwinplaneWarning)
            tp.Network.from_file(file).run(until="10 ms")
