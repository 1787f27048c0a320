"""What the paired bench runs: programs that measure in memory and virtual time, and the rows they give.

Programs and rows that `make bench` has too are taken from there; here they only get options that make a
run last about a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from probes import PROBES
from rows import ROWS, Figure, Row


@dataclass(frozen=True)
class Program:
    """An example and its options. The crate it is in may differ between revisions and is looked up.

    `key`: the field that identifies a line, of a program that prints an object on each of several lines.
    """

    name: str
    example: str
    options: tuple[str, ...] = ()
    key: str = ""


SHORT_OPTIONS: dict[str, tuple[str, ...]] = {
    "chain": ("--nodes", "10", "--packets", "1000000"),
    "classes": ("--packets", "600000"),
    "forward_1k": ("--labels", "1000"),
    "forward_100k": ("--labels", "100000"),
    "forward_1m": ("--labels", "1000000", "--rounds", "9"),
    "queues": (),
    "rsvp": ("--lsps", "30000"),
    "rsvp_rr": ("--lsps", "30000", "--refresh-reduction"),
}
"""By probe of `make bench`: the options for a short run."""


def _shared() -> list[Program]:
    return [
        Program(probe.name, probe.example, SHORT_OPTIONS[probe.name])
        for probe in PROBES
        if probe.name in SHORT_OPTIONS
    ]


PROGRAMS: tuple[Program, ...] = (
    Program("engine", "bench_engine", ("32", "500")),
    Program("clock", "bench_clock", ("--seconds", "0.01")),
    *_shared(),
    Program("forward_rules", "bench_forward", ("--labels", "1000", "--rules", "100", "--rounds", "9")),
    Program("classes_plain", "bench_classes", ("--packets", "2500000", "--plain")),
    Program("classify", "bench_classify", key="kind"),
    Program("filters", "bench_filters", key="filters"),
    Program("flap", "bench_flap", ("--streams", "200", "--flaps", "200", "--seconds", "0.8")),
    Program("mesh", "bench_mesh", ("--nodes", "200", "--lsps", "4000")),
)


def _less(name: str, unit: str, program: str, field: str) -> Row:
    return Row(name, unit, Figure(program, field), at_most=True)


def _more(name: str, unit: str, program: str, field: str) -> Row:
    return Row(name, unit, Figure(program, field))


REPLACED_FIGURES = {"lsps_per_s": "lsps_per_processor_s"}
"""Fields of `make bench` that have a steadier sister: it leaves out the time that other programs had."""


def _of_bench() -> list[Row]:
    """The rows of `make bench` that these programs give, each figure once and without its anchor."""
    found: dict[Figure, Row] = {}
    for row in ROWS:
        if row.ours.probe in SHORT_OPTIONS:
            field = REPLACED_FIGURES.get(row.ours.field, row.ours.field)
            ours = Figure(row.ours.probe, field)
            bare = replace(row, ours=ours, anchor=None, floor=None, goal=None)
            found.setdefault(ours, bare)
    return list(found.values())


# Without the classifier by PHB: it takes 1.5 ns, printed to 0.1 ns, which can't show a difference of 3 %.
PAIRED_ROWS: tuple[Row, ...] = (
    _more("engine, devices that do nothing", "packet-hops/s", "engine", "packet_hops_per_s"),
    _less("engine, a look at the clock", "ns", "clock", "look"),
    *_of_bench(),
    _more("three routers without disciplines", "packet-hops/s", "classes_plain", "packet_hops_per_s"),
    _more("forwarding, 1,000 labels, 100 rules", "Mpps", "forward_rules", "mpps"),
    *(
        _less(f"{discipline}, 4 classes, {load}", "ns", "queues", f"{discipline}_{load}_4")
        for discipline in ("htb", "drr", "cbq", "prio")
        for load in ("backlogged", "random")
    ),
    *(
        _less(f"classifier, {count} filters by {kind}", "ns", "classify", f"{kind}_{field}")
        for kind, most in (
            ("dscp", "64"),
            ("label", "1,000"),
            ("labels", "1,000"),
            ("mark", "1,000"),
            ("input", "1,000"),
            ("flow", "1,000"),
        )
        for count, field in (("4", "ns_with_4"), (most, "ns"))
    ),
    *(
        _less(f"ingress with {count:,} flow filters", "ns", "filters", f"{count}_ns_per_packet")
        for count in (0, 1, 10, 100, 1_000, 10_000)
    ),
    _more("LSPs that flap under traffic", "packet-hops/s", "flap", "packet_hops_per_s"),
    _less("RSVP-TE mesh, signal", "s", "mesh", "signal_s"),
    _less("RSVP-TE mesh, probe", "s", "mesh", "probe_s"),
)


def row_id(row: Row) -> str:
    """The short name of a row: its program and field."""
    return f"{row.ours.probe}.{row.ours.field}"


def chosen_rows(patterns: Sequence[str]) -> list[Row]:
    """The rows whose name or id fits one of the shell patterns."""

    def fits(row: Row) -> bool:
        return any(fnmatchcase(text, one) for text in (row.name, row_id(row)) for one in patterns)

    return [row for row in PAIRED_ROWS if fits(row)]


def programs_of(rows: Iterable[Row]) -> list[Program]:
    """The programs that give these rows, in the order in which they are run."""
    wanted = {row.ours.probe for row in rows}
    return [program for program in PROGRAMS if program.name in wanted]
