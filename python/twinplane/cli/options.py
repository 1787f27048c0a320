"""Options that several commands have, or that come in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from ..errors import TwinplaneError

EXTERNAL = "An external system under test"
REAL = "Real time"


def _external(metavar: str, told: str) -> OptionInfo:
    found: OptionInfo = typer.Option(metavar=metavar, help=told, rich_help_panel=EXTERNAL)
    return found


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Experiment = Annotated[str, typer.Argument(help="Its name, as `twinplane list` prints it.")]
Duration = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="For how long flows send, such as 30 s: --set duration_s=30."),
]
Events = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Failures and other events, `events: [...]`, beside those of a file."),
]
Figures = Annotated[
    str,
    typer.Option(
        metavar="KINDS",
        envvar="TWINPLANE_FIGURES",
        help="Files made of each chart, beside the report: png,svg, one of them, or none.",
    ),
]
Results = Annotated[Path | None, typer.Option(help="Results folder (default: runs/NAME-NNNN).")]

IngressPort = Annotated[str | None, _external("IF", "The tester's interface where traffic leaves it.")]
EgressPort = Annotated[str | None, _external("IF", "The tester's interface where it comes back.")]
IngressAddress = Annotated[
    str | None, _external("A/P", "The tester's address there (default: 10.254.1.1/30).")
]
EgressAddress = Annotated[
    str | None, _external("A/P", "The tester's address there (default: 10.254.2.1/30).")
]
Neighbor = Annotated[
    str | None, _external("A", "The system's address on that subnet (default: the other one).")
]
IngressRouterId = Annotated[str | None, _external("A", "By which the tester signals (default: its address).")]
EgressRouterId = Annotated[str | None, _external("A", "Where the LSPs end (default: the tester's address).")]
Netns = Annotated[str | None, _external("NAME", "The namespace of the interface.")]
SystemRouterId = Annotated[str | None, _external("A", "The system's router id, if it is one router.")]
SystemHops = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=254,
        help="Routers of the system that packets pass: their TTL is checked.",
        rich_help_panel=EXTERNAL,
    ),
]

Driver = Annotated[
    str,
    typer.Option(help="How interfaces are opened: packet (AF_PACKET) or xdp (AF_XDP).", rich_help_panel=REAL),
]
Busy = Annotated[bool, typer.Option("--busy", help="Poll without sleeping.", rich_help_panel=REAL)]
SearchRate = Annotated[
    str | None,
    typer.Option(metavar="auto", help="auto: the highest rate without loss.", rich_help_panel=REAL),
]
KeptCalibration = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Use what `twinplane calibrate --out` kept.", rich_help_panel=REAL),
]


def kinds_of(figures: str) -> tuple[str, ...]:
    """The kinds of files that ``--figures`` asks for; ``none`` is none of them."""
    from ..charts.static import KINDS

    words = tuple(dict.fromkeys(word.strip() for word in figures.split(",")))
    if words == ("none",):
        return ()
    for word in words:
        if word not in KINDS:
            raise TwinplaneError(f"--figures {figures}: {word!r} is neither of {', '.join(KINDS)}; or none")
    return words
