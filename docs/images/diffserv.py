"""Makes `diffserv.svg`: delay of the four flows over time in the four scenarios of `diffserv`.

python docs/images/diffserv.py            run the experiment and write the picture
python docs/images/diffserv.py --check    write nothing; fail if the picture would change
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from twinplane.experiments.diffserv.parameters import FLOWS, SCENARIOS, DiffservParameters
from twinplane.experiments.running import run_task
from twinplane.experiments.tasks import Task

TARGET = Path(__file__).with_name("diffserv.svg")
PARAMETERS = DiffservParameters()
SEED = 1
BIN_S, UNTIL_S, MOST_S = 0.5, 30.0, 0.8
WIDTH, HEIGHT, LEFT, TOP, GAP = 390, 150, 50, 46, 44
DASHES = {"EF": "", "AF11": "6 3", "AF12": "1.5 3", "DE": "9 3 2 3"}

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600 }
.grid { stroke: #8b949e; stroke-opacity: .35; stroke-width: 1 }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.EF { stroke: #24292f } .AF11 { stroke: #0b5394 } .AF12 { stroke: #a64d00 } .DE { stroke: #38761d }
@media (prefers-color-scheme: dark) {
  text { fill: #b1bac4 }
  .EF { stroke: #f0f6fc } .AF11 { stroke: #79b0ff } .AF12 { stroke: #f0a868 } .DE { stroke: #7ee787 }
}
"""

Curve = Sequence[tuple[float, float]]


def curves() -> dict[tuple[str, str], Curve]:
    """Mean delay by time of departure, for each scenario and flow."""
    task = Task("diffserv", PARAMETERS.model_dump(mode="json"), SEED, "")
    table = run_task(task).tables["packets"]
    sums: dict[tuple[str, str], dict[int, list[float]]] = {}
    keys = ("scenario", "flow", "departure_s", "delay_s")
    for scenario, flow, departure, delay in zip(*(table[key] for key in keys), strict=True):
        if delay is not None:
            sums.setdefault((scenario, flow), {}).setdefault(int(departure / BIN_S), []).append(delay)
    return {
        key: [((place + 0.5) * BIN_S, sum(values) / len(values)) for place, values in sorted(bins.items())]
        for key, bins in sums.items()
    }


def panel(scenario: str, left: float, top: float, found: dict[tuple[str, str], Curve]) -> list[str]:
    """One scenario."""

    def x(value: float) -> float:
        return left + value / UNTIL_S * WIDTH

    def y(value: float) -> float:
        return top + HEIGHT - value / MOST_S * HEIGHT

    parts = [f'<text class="title" x="{left}" y="{top - 8}">{scenario}</text>']
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8):
        parts.append(f'<path class="grid" d="M{left} {y(tick):.1f}h{WIDTH}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in (0, 10, 20, 30):
        parts.append(f'<text x="{x(tick):.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{tick} s</text>')
    for flow in FLOWS:
        points = " ".join(f"{x(at):.1f},{y(delay):.1f}" for at, delay in found[scenario, flow])
        dash = f' stroke-dasharray="{DASHES[flow]}"' if DASHES[flow] else ""
        parts.append(f'<polyline class="line {flow}"{dash} points="{points}"/>')
    return parts


def picture() -> str:
    """The whole SVG file."""
    found = curves()
    wide, high = 2 * (WIDTH + LEFT) + 20, TOP + 2 * (HEIGHT + GAP) + 6
    text = "Mean delay in seconds of the flows EF, AF11, AF12 and DE over time, in four scenarios"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}"',
        f' role="img" aria-label="{text}">',
        f"<style>{STYLE}</style>",
    ]
    for place, flow in enumerate(FLOWS):
        left = LEFT + place * 110
        dash = f' stroke-dasharray="{DASHES[flow]}"' if DASHES[flow] else ""
        parts.append(f'<path class="line {flow}"{dash} d="M{left} 12h36"/>')
        parts.append(f'<text x="{left + 42}" y="16">{flow}</text>')
    parts.append(f'<text x="{wide - 20}" y="16" text-anchor="end">mean delay (s) by time of departure</text>')
    for place, scenario in enumerate(SCENARIOS):
        left = LEFT + (place % 2) * (WIDTH + LEFT)
        parts += panel(scenario, left, TOP + (place // 2) * (HEIGHT + GAP), found)
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Write the picture, or compare with it."""
    made = picture()
    if "--check" not in sys.argv:
        TARGET.write_text(made)
    elif TARGET.read_text() != made:
        sys.exit(f"{TARGET}: it would change: run {Path(__file__).name}")


if __name__ == "__main__":
    main()
