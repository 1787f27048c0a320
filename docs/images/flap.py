"""Makes `flap.svg`: the two planes over time in one run of `lsp-flap`.

python docs/images/flap.py            run the experiment and write the picture
python docs/images/flap.py --check    write nothing; fail if the picture would change
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from twinplane.experiments import load
from twinplane.experiments.lsp_flap.parameters import FlapParameters

TARGET = Path(__file__).with_name("flap.svg")
PARAMETERS = FlapParameters(n=400)
SEED = 1
FROM_S, TO_S, BIN_S = 8.0, 24.0, 0.1
WIDTH, LEFT, RIGHT, PANEL, GAP, TOP = 860, 62, 24, 104, 40, 30

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600 }
.grid { stroke: #8b949e; stroke-opacity: .35; stroke-width: 1 }
.event { stroke: #8b949e; stroke-dasharray: 4 3 }
.line { fill: none; stroke: #2f6fd0; stroke-width: 1.8; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
  text { fill: #b1bac4 }
  .line { stroke: #79b0ff }
}
"""

Curve = Sequence[tuple[float, float]]


@dataclass
class Panel:
    """One row of the picture: a curve over a vertical axis from zero."""

    title: str
    top: float
    ticks: Sequence[float]
    curve: Curve


def panels() -> list[Panel]:
    """Run the experiment and take from its tables what is drawn."""
    experiment = load("lsp-flap")
    network = experiment.build(PARAMETERS, SEED)
    experiment.run(network, PARAMETERS)
    tables = experiment.summarise(network, PARAMETERS).tables
    messages, up, series = tables["messages"], tables["lsps_up"], tables["series"]
    bins = round((TO_S - FROM_S) / BIN_S)
    received = [0] * bins
    for node, way, start, count in zip(
        *(messages[key] for key in ("node", "direction", "start_s", "count")), strict=True
    ):
        place = int((start - FROM_S) // BIN_S)
        if str(node) in ("r1", "1") and way == "rx" and 0 <= place < bins:
            received[place] += count
    rate = [(FROM_S + (place + 0.5) * BIN_S, count / BIN_S) for place, count in enumerate(received)]
    lsps = [(t, n) for t, n in zip(up["time_s"], up["up"], strict=True) if FROM_S <= t <= TO_S]
    assert sum(tables["streams"]["lost"]) == 0
    greatest = [
        (start, delay * 1e6)
        for start, delay in zip(series["start_s"], series["max_s"], strict=True)
        if FROM_S <= start <= PARAMETERS.end_s
    ]
    return [
        Panel("RSVP messages received by the first router, per second", 2000, (0, 1000, 2000), rate),
        Panel("LSPs up", 500, (0, 250, 500), thinned(lsps)),
        Panel(
            "greatest delay of a labelled packet in each 10 ms (us); none is lost",
            200,
            (0, 100, 200),
            thinned(greatest),
        ),
    ]


def thinned(curve: Curve) -> Curve:
    """Without the points that lie on a level line between their neighbours."""
    kept = [
        point
        for place, point in enumerate(curve)
        if place in (0, len(curve) - 1)
        or not round(curve[place - 1][1], 1) == round(point[1], 1) == round(curve[place + 1][1], 1)
    ]
    return kept


def x_of(seconds: float) -> float:
    """Where a time is."""
    return LEFT + (seconds - FROM_S) / (TO_S - FROM_S) * (WIDTH - LEFT - RIGHT)


def drawn(panel: Panel, top: float) -> list[str]:
    """One panel whose plot begins at a height."""

    def y_of(value: float) -> float:
        return top + PANEL * (1 - value / panel.top)

    found = [f'<text class="title" x="{LEFT}" y="{top - 9:.0f}">{panel.title}</text>']
    for tick in panel.ticks:
        y = y_of(tick)
        found.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        found.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    points = " ".join(f"{x_of(t):.1f},{y_of(value):.1f}" for t, value in panel.curve)
    found.append(f'<polyline class="line" points="{points}"/>')
    return found


def picture(rows: Sequence[Panel]) -> str:
    """The whole picture."""
    p = PARAMETERS
    height = TOP + len(rows) * (PANEL + GAP) + 26
    foot = TOP + 16 + (len(rows) - 1) * (PANEL + GAP) + PANEL
    body: list[str] = []
    for place, row in enumerate(rows):
        body += drawn(row, TOP + 16 + place * (PANEL + GAP))
    for event in (p.first_event_s, p.second_event_s):
        body.append(f'<path class="event" d="M{x_of(event):.1f} {TOP + 16}V{foot}"/>')
    for second in range(int(FROM_S), int(TO_S) + 1, 2):
        body.append(f'<text x="{x_of(second):.1f}" y="{foot + 18}" text-anchor="middle">{second} s</text>')
    title = (
        f"{p.stable} LSPs carry traffic, {p.n} more are torn down and signalled again at"
        f" {p.first_event_s:g} s and {p.second_event_s:g} s; {p.profile}"
    )
    body.insert(0, f'<text x="{LEFT}" y="16">{title}</text>')
    described = (
        "Three plots over the same time. At each event more than a thousand RSVP messages a second arrive for"
        " a second, the number of LSPs falls and recovers, and the delay of the traffic stays level."
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        f' aria-labelledby="t d"><title id="t">Both planes over time</title><desc id="d">{described}</desc>'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", *body, "</svg>"]) + "\n"


def frame(text: str) -> str:
    """A picture without the points of its curves, which change a little with every change of the model."""
    return re.sub(r'points="[^"]*"', "", text)


def main() -> int:
    """See the module."""
    made = picture(panels())
    if "--check" in sys.argv:
        same = TARGET.exists() and frame(TARGET.read_text()) == frame(made)
        print(f"{TARGET.name}: {'up to date' if same else 'would change'}")
        return 0 if same else 1
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
