"""What was in flight by both, as a picture: a panel for each setting in which packets are lost."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts import DARK, SHADES, Chart, Curve
from ...charts.plain import drawing
from .beside import Course, Pair

BIN_S = 0.02


def chart(pairs: Sequence[Pair]) -> Chart:
    """Segments in flight over time: the most in each bin."""
    shown = [pair for pair in pairs if pair.setting.kind == "loss"]
    curves = [
        _curve(name, course, panel, style)
        for panel, pair in enumerate(shown)
        for style, (name, course) in enumerate((("kernel", pair.kernel), ("ours", pair.ours)))
    ]
    titles = [pair.setting.name for pair in shown]
    return Chart(
        "in-flight",
        "Segments in flight",
        f"Segments in flight over time, the kernel's and ours: {'; '.join(titles)}.",
        "seconds since the first SYN",
        titles,
        curves,
        zero=range(len(shown)),
    )


def _curve(name: str, course: Course, panel: int, style: int) -> Curve:
    most: dict[int, float] = {}
    for at, count in course.in_flight:
        if 0 <= at <= course.completion_s:  # what is behind it is the end by FIN
            place = int(at / BIN_S)
            most[place] = max(most.get(place, 0.0), count)
    places = sorted(most)
    x, y = [place * BIN_S for place in places], [most[place] for place in places]
    return Curve(name, x, y, panel, style=style)


def picture(pairs: Sequence[Pair]) -> str:
    """The figure as SVG, with the colours that it has on a page."""
    shades = [";".join(f"--shade-{place}:{shade}" for place, shade in enumerate(of)) for of in (SHADES, DARK)]
    style = (
        f"<style>svg{{color:#24292f;{shades[0]}}}"
        f"@media (prefers-color-scheme:dark){{svg{{color:#d0d7de;{shades[1]}}}}}</style>"
    )
    head, body = drawing(chart(pairs)).split(">", 1)
    return f"{head}>{style}{body}\n"
