"""Every experiment with small points, in this process and by the command line with its results folder."""

from __future__ import annotations

from typing import Any

from ..registry import ROOT, program
from ..seen import Seen
from .labs import GRAPH

QUICK: dict[str, Any] = {
    **{"setup_rate": 2000, "settle_s": 0.1, "signalling_rate": 2000, "first_event_s": 0.2},
    **{"first_period_s": 0.2, "second_period_s": 0.2, "grace_s": 0.2, "end_window_s": 0.05, "rate_mbps": 20},
}
"""`lsp-flap` in less than two seconds of virtual time."""


def _flap(seen: Seen, **settings: Any) -> None:
    seen.experiment("lsp-flap", **{**QUICK, "n": 30, "m": 5, **settings})


@program
def flap_ring(seen: Seen) -> None:
    """Three routers of the study's profile."""
    _flap(seen)


@program
def flap_ring_ideal(seen: Seen) -> None:
    """Three ideal routers, small frames."""
    _flap(seen, profile="ideal", size=64)


@program
def flap_single(seen: Seen) -> None:
    """One router."""
    _flap(seen, scenario="single", size=1500)


@program
def flap_two_routers(seen: Seen) -> None:
    """The short way round the ring, another convention, a tester whose clock is fast."""
    _flap(seen, routers=2, convention="last-to-last", clock_ppm=50.0, access_delay_us=3.0)


@program
def flap_family_2(seen: Seen) -> None:
    """As many stable LSPs as flapping ones."""
    _flap(seen, family=2, m=None, n=15)


@program
def flap_family_3(seen: Seen) -> None:
    """The published rate of family 3, for a very short time, through one router."""
    short = {key: 0.02 for key in ("first_event_s", "first_period_s", "second_period_s")}
    _flap(seen, family=3, rate_mbps=None, m=None, scenario="single", size=1500, end_window_s=0.01, **short)


@program
def flap_family_4(seen: Seen) -> None:
    """Family 4 with refresh reduction."""
    _flap(seen, family=4, m=None, n=10, refresh_reduction=True)


@program
def flap_overload(seen: Seen) -> None:
    """More LSPs than the control processor's queue holds: retries."""
    _flap(seen, n=300, signalling_rate=20_000, setup_timeout_s=0.3, grace_s=1.0, rate_mbps=2)


BRIEF: dict[str, Any] = {"duration_s": 1.0, "drain_s": 0.5, "begin_s": 0.3}


@program
def diffserv_all(seen: Seen) -> None:
    """The four scenarios, one second each."""
    seen.experiment("diffserv", **BRIEF)


@program
def diffserv_variants(seen: Seen) -> None:
    """What the paper leaves open, chosen otherwise."""
    seen.experiment(
        "diffserv",
        seed=2,
        **{
            **BRIEF,
            "scenario": "diffserv-mpls",
            "size_counts": "ip",
            "arrivals": "constant",
            "accounting": "ip",
        },
        **{
            "borrowing": "de-only",
            "priorities": "equal",
            "red_probability": "exact",
            "out_of_profile": "remark",
        },
        **{"packet_bytes": 600, "offered": 1.3, "maxburst": 4, "profile": "juniper-m10"},
    )


@program
def mesh(seen: Seen) -> None:
    """A full mesh on a made-up topology."""
    path = seen.folder / "italy.graphml"
    path.write_text(GRAPH)
    seen.experiment("lsp-mesh", topology=str(path), setup_s=1.0, settle_s=0.3)


@program
def mesh_sample(seen: Seen) -> None:
    """Some pairs of a ring of eight, with refresh reduction."""
    path = seen.folder / "ring.graphml"
    nodes = "".join(f'<node id="{place}"/>' for place in range(8))
    edges = "".join(f'<edge source="{place}" target="{(place + 1) % 8}"/>' for place in range(8))
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
    path.write_text(f"{head}{nodes}{edges}</graph></graphml>")
    seen.experiment(
        "lsp-mesh", 5, topology=str(path), pairs_max=12, setup_s=1.0, settle_s=0.3, refresh_reduction=True
    )


@program
def network_file(seen: Seen) -> None:
    """The experiment `network` on examples/labs/classes.yaml."""
    path = ROOT / "examples" / "labs" / "classes.yaml"
    seen.experiment("network", file=str(path), duration_s=1.5, drain_s=0.5)


def _words(settings: dict[str, Any]) -> list[str]:
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


@program
def folder_flap(seen: Seen) -> None:
    """Two points of `lsp-flap`, captured, with every signalling message."""
    settings = {**QUICK, "m": 4, "n": "10,20"}
    seen.command(
        "run", "lsp-flap", *_words(settings), "--pcap", "--pcap-packets", "300", "--signals", "--jobs", "1"
    )


@program
def folder_repeated(seen: Seen) -> None:
    """Three repetitions of one point: means and intervals."""
    settings = {**QUICK, "m": 3, "n": 8, "scenario": "single"}
    seen.command("run", "lsp-flap", *_words(settings), "--repeat", "3", "--seed", "5", "--jobs", "1")


@program
def folder_diffserv(seen: Seen) -> None:
    """The four scenarios of `diffserv`."""
    seen.command("run", "diffserv", *_words(BRIEF), "--jobs", "1")


@program
def folder_mesh(seen: Seen) -> None:
    """`lsp-mesh` on a made-up topology."""
    path = seen.folder / "italy.graphml"
    path.write_text(GRAPH)
    settings = {"topology": str(path), "setup_s": 1.0, "settle_s": 0.3}
    seen.command("run", "lsp-mesh", *_words(settings), "--jobs", "1")


@program
def folder_network(seen: Seen) -> None:
    """A file of one's own, with the copy that is kept of it."""
    path = ROOT / "examples" / "labs" / "classes.yaml"
    out = seen.command(
        "run", str(path), "--duration", "1.5 s", "--pcap", "--pcap-packets", "200", "--jobs", "1"
    )
    for copy in sorted(out.glob("*.yaml")):
        seen.content(f"file {copy.name}", copy.read_bytes())
