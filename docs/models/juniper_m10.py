"""The arithmetic of the profile `juniper-m10`: prints the tables of its page, and fails if one does not hold.

    python docs/models/juniper_m10.py           print the tables
    python docs/models/juniper_m10.py --check   and see that the page has them

Delays are in microseconds. What was published is read from `published.toml` of the experiment `lsp-flap`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from twinplane.experiments import load
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.experiments.lsp_flap.published import closed_form, delays_apart, published
from twinplane.profiles import resolve

EXPERIMENT = load("lsp-flap")
PAGE = Path(__file__).with_name("juniper-m10.md")

NS_PER_BYTE = 8.0
"""Serialisation at 1 Gbit/s."""
SMALL, LARGE = 64, 1500
STEP = (LARGE - SMALL) * NS_PER_BYTE / 1000
"""Serialisation of the bytes by which a large frame exceeds a small one."""
END_S, EVENT_S = 17.0, 10.0


def rows() -> dict[tuple[str, int], tuple[float, float]]:
    """Published delay at 500 Mbit/s and half a unit of its last digit, by scenario and size."""
    return {
        (row["scenario"], row["size"]): (row["mean_s"] * 1e6, row["digits"] / 2 * 1e6)
        for row in published()["delay"]
        if 1 in row["families"]
    }


def growth(scenario: str) -> tuple[float, float, float]:
    """By how much the delay grows from 64 to 1500 bytes: as published, at least, and at most."""
    (small, e), (large, f) = rows()[scenario, SMALL], rows()[scenario, LARGE]
    return large - small, large - small - e - f, large - small + e + f


def table(titles: list[str], lines: list[list[str]]) -> str:
    """A Markdown table."""
    every = [titles, ["---"] * len(titles), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def alternatives() -> str:
    """Conventions and numbers of routers: the cost per byte that the ring asks for, what one router does."""
    ring, ring_low, ring_high = growth("ring")
    one, one_low, one_high = growth("single")
    lines, fitting = [], []
    names = {0: "last to first", 1: "first to first, last to last", 2: "first to last"}
    for n1, name in names.items():
        for k in (2, 3):
            low, best, high = ((g / STEP - (k - 1) - n1) / k for g in (ring_low, ring, ring_high))
            single = [STEP * (n1 + x) for x in (low, best, high)]
            fits = single[0] <= one_high and single[2] >= one_low
            gap = max(single[0] - one_high, one_low - single[2], 0.0)
            verdict = "fits" if fits else f"no: {gap:.1f} us outside"
            if fits:
                fitting.append((n1, k))
            cells = [f"{best:.2f}", f"{low:.3f} to {high:.3f}", f"{single[1]:.1f}", f"{single[1] - one:+.1f}"]
            lines.append([name, str(k), *cells, verdict])
    assert fitting == [(1, 3)], fitting
    titles = ["convention", "routers", "x", "x within rounding", "one router grows by", "residual", "verdict"]
    return table(titles, lines)


def identified() -> str:
    """What the four rows give for the four numbers of the profile, and how closely."""
    profile = resolve("juniper-m10")["forwarding"]
    x_low, x_high = (((g / STEP - 3) / 3) for g in growth("ring")[1:])
    per_byte = profile["latency_ns_per_byte"]
    assert NS_PER_BYTE * x_low <= per_byte <= NS_PER_BYTE * x_high
    small, e = rows()["single", SMALL]
    fixed = small - SMALL * (NS_PER_BYTE + per_byte) / 1000
    assert abs(profile["latency_ns"] / 1000 - fixed) < e
    ring, f = rows()["ring", SMALL]
    spans = ring - 3 * small
    default = FlapParameters.model_fields["ring_delay_us"].default
    assert abs(2 * default - spans) <= f + 3 * e
    return table(
        ["number", "from", "value", "within rounding", "in the profile"],
        [
            [
                "cost per byte",
                "ring, 1500 less 64 bytes",
                f"{(growth('ring')[0] / STEP - 3) / 3 * NS_PER_BYTE:.2f} ns",
                f"{NS_PER_BYTE * x_low:.2f} to {NS_PER_BYTE * x_high:.2f} ns",
                f"{per_byte} ns",
            ],
            [
                "fixed latency",
                "one router, 64 bytes",
                f"{fixed:.2f} us",
                f"{fixed - e:.2f} to {fixed + e:.2f} us",
                f"{profile['latency_ns'] / 1000} us",
            ],
            [
                "propagation, both spans",
                "ring less 3 x one router, 64 bytes",
                f"{spans:.0f} us",
                f"{spans - f - 3 * e:.0f} to {spans + f + 3 * e:.0f} us",
                f"2 x {default:g} us",
            ],
        ],
    )


def residuals() -> str:
    """Closed form and a run beside every published row."""
    lines = []
    for scenario in ("ring", "single"):
        for size in (64, 512, 1500):
            p = FlapParameters(scenario=scenario, size=size, rate_mbps=10, n=1, m=1)
            network = EXPERIMENT.build(p, 1)
            EXPERIMENT.run(network, p)
            measured = EXPERIMENT.summarise(network, p).metrics["delay_prior_s"] * 1e6
            closed = closed_form(p) * 1e6
            assert abs(measured - closed) < 1e-6, (measured, closed)
            place = "ring" if scenario == "ring" else "one router"
            mean, half = rows()[scenario, size]
            verdict = "holds" if abs(measured - mean) <= half else "missed"
            cells = [f"{mean:.0f} (rounded by {half:g} at most)", f"{closed:.2f}", f"{measured:.2f}"]
            lines.append([place, str(size), *cells, f"{measured - mean:+.2f}", verdict])
    return table(["scenario", "bytes", "published", "closed form", "run", "residual", "verdict"], lines)


def line_rate() -> str:
    """What each reading of the published line-rate pair asks for."""
    said = published()
    apart = delays_apart({"scenario": "ring", "size": 64, "family": 3})
    assert apart is not None
    prior, during = (value * 1e3 for value in apart)
    allowed = said["ethernet"]["clock_difference_max"]
    middle = (EVENT_S + END_S) / 2
    steady = prior / END_S
    apart = middle - EVENT_S / 2
    slope = (during - prior) / apart
    before = prior - slope * EVENT_S / 2
    window = (during - prior) / (prior / EVENT_S)
    packets = prior * 1e-3 / (1 + steady * 1e-3) * 1e9 / ((64 + 20) * 8)
    most = slope_at_most(prior, during) / apart
    assert slope * 1e-3 < allowed < steady * 1e-3
    return table(
        ["reading", "what has to be true", "against it"],
        [
            [
                "both at the end of a test, each of its own",
                f"slope {steady:.2f} ms/s: a router {steady / 10:.2f} % too slow,"
                f" {packets:,.0f} frames waiting",
                f"{steady * 1e-3 / allowed:.0f} times what IEEE 802.3 allows two clocks",
            ],
            [
                "means over 0 to 10 s and 10 to 17 s of a queue that grows from empty",
                f"{steady * EVENT_S / 2:.1f} and {steady * middle:.1f} ms,"
                f" a ratio of {middle / (EVENT_S / 2):.1f}",
                f"published: a ratio of {during / prior:.3f}",
            ],
            [
                "just before and just after 10 s",
                f"slope {prior / EVENT_S:.1f} ms/s, read {window * 1e3:.0f} ms apart; "
                f"{prior / EVENT_S * END_S:.0f} ms at 17 s",
                "the paper says that its figures are those of the end",
            ],
            [
                "a full buffer",
                f"{prior:.0f} ms of buffer, and from then on one frame in {1 / (steady * 1e-3):.0f} lost",
                "no packet was lost; delay grew linearly",
            ],
            [
                "means over both phases of a queue that was there before t = 0",
                f"slope {slope * 1e3:.0f} us/s ({slope * 1e3:.0f} ppm; at most {most * 1e3:.0f}"
                f" with rounding),"
                f" {before:.1f} ms waiting at t = 0: {before / slope / 60:.0f} min of traffic before",
                "the procedure has no traffic before t = 0",
            ],
        ],
    )


def slope_at_most(prior: float, during: float) -> float:
    """The greatest difference of two figures given in whole milliseconds."""
    return during + 0.5 - (prior - 0.5)


def main() -> int:
    """See the module."""
    text = PAGE.read_text() if "--check" in sys.argv else None
    missing = 0
    for make in (alternatives, identified, residuals, line_rate):
        made = make()
        print(f"{make.__name__}\n\n{made}\n")
        if text is not None and made not in text:
            print(f"{PAGE.name} does not have this table\n")
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
