"""`openflow` in real time: on switches that a run starts, and on those that somebody else has started."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.needs import need
from twinplane.experiments.openflow import bench, ovs
from twinplane.lab import Lab, netns
from twinplane.results.folder import Results, load

from .conftest import NetworkFile
from .support import good, refused

SHORT = ("--set", "real_s=0.3")
SWITCH = """\
name: {name}
nodes:
  s1: {kind: switch, prefix: 10.1.0.0/24, controllers: ["ptcp:6653", "tcp:127.0.0.1:6633"], probe: 1 s}
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, b]
"""


def need_open_vswitch() -> None:
    need("root", *ovs.PROGRAMS, *bench.PROGRAMS)


def found(out: Path) -> Results:
    """The results of a run in which the switch ended nothing and found nothing wrong."""
    results = load(out)
    for point in results.points:
        assert point.metrics["errors"] == point.metrics["resets"] == point.metrics["unfinished"] == 0
    return results


def all_came(out: Path, part: str) -> None:
    """All packets of a row, but for the one that may have been under way at the end."""
    (point,) = found(out).points
    assert point.metrics[f"{part}_received"] >= point.metrics[f"{part}_sent"] - 1 > 2


def left_behind() -> list[str]:
    """The tester's namespaces of processes that have ended: other tests may have theirs meanwhile."""
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
    owners = {name: name.split("-")[2] for name in names if name.startswith("tp-of-")}
    return [name for name, owner in owners.items() if not Path("/proc", owner).exists()]


def test_open_vswitch_and_ours_are_measured_side_by_side_and_ended(tmp_path: Path) -> None:
    need_open_vswitch()
    out = tmp_path / "run"
    settings = ("sut=ovs,twinplane-live", "real_s=1", "confirm=true", "only=flow-add-50")
    words = [word for setting in settings for word in ("--set", setting)]
    said = good("run", "openflow", *words, "--out", str(out))
    assert "real time" in said and "twinplane-live" in said
    results = found(out)
    assert len(results.points) == 2
    rounds = results.table("openflow_rounds")
    assert set(rounds["confirmed"].to_list()) == {50}, "each of the entries has passed a probe of its own"
    page = (out / "report.html").read_text()
    assert "flow_add, side by side" in page and "median, twinplane-live" in page
    assert left_behind() == []


@pytest.fixture
def elsewhere() -> Iterator[bench.Bench]:
    """An Open vSwitch that listens and connects, and the tester's namespace as a machine beside it has it."""
    need_open_vswitch()
    with ovs.open_vswitch(["ptcp:6653", "tcp:10.9.0.2:6633"], "10.9.0.1/30") as made:
        made.do("ip", "-n", bench.namespaces()[1], "addr", "add", "10.9.0.2/30", "dev", "tc0")
        yield made


def test_a_switch_of_somebody_else_listens_or_connects(elsewhere: bench.Bench, tmp_path: Path) -> None:
    ports = ("--ingress-port", "td0", "--egress-port", "td1")
    with netns.inside(bench.namespaces()[1]):
        for place, (sut, part) in enumerate(
            (("tcp:10.9.0.1", "packet-out-50-100"), ("ptcp:6633", "packet-in-50-100"))
        ):
            out = tmp_path / f"{place}"
            good("run", "openflow", "--sut", sut, *ports, *SHORT, "--set", f"only={part}", "--out", str(out))
            all_came(out, part)
        one = ("run", "openflow", "--set", "only=packet-in-50-100")
        tcp = (*one, "--sut", "tcp:10.9.0.1")
        wrong = {
            "--ingress-port tc0: the channel to 10.9.0.1 goes by it": (
                *tcp,
                "--ingress-port",
                "tc0",
                *ports[2:],
            ),
            "no route to 192.0.2.1": (*one, "--sut", "tcp:192.0.2.1", *ports),
            "namespace 'nowhere'": (*tcp, *ports, "--egress-netns", "nowhere"),
        }
        for sentence, words in wrong.items():
            assert sentence in refused(*words)
        control = [*elsewhere.inside, "ovs-vsctl", f"--db=unix:{elsewhere.folder}/db.sock"]
        elsewhere.do(*control, "set", "bridge", "br0", "protocols=OpenFlow13")
        assert "does not speak OpenFlow 1.0" in refused(*tcp, *ports)


def test_our_switch_in_a_lab_is_measured_in_its_namespace(network_file: NetworkFile, tmp_path: Path) -> None:
    with Lab(network_file(SWITCH)) as lab:
        ends = {name: lab.node(name) for name in ("a", "b")}
        ports = []
        for side, name in (("ingress", "a"), ("egress", "b")):
            (interface,) = lab.state.nodes[name].interfaces
            ports += [f"--{side}-netns", str(ends[name].namespace), f"--{side}-port", interface]
        with netns.inside(str(lab.node("s1").namespace)):
            for sut, part in (("tcp:127.0.0.1", "packet-out-50-100"), ("ptcp:6633", "packet-in-50-100")):
                out = tmp_path / part
                good(
                    "run",
                    "openflow",
                    "--sut",
                    sut,
                    *ports,
                    *SHORT,
                    "--set",
                    f"only={part}",
                    "--out",
                    str(out),
                )
                all_came(out, part)
