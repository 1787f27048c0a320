"""`lsp-mesh`: explicitly routed LSPs between all pairs of a real topology, every hop checked."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...charts import Chart, Curve
from ...errors import TwinplaneError, os_reason
from ...measure.bounds import TIME
from ...network import Network
from ...network.graphml import read
from ...profiles import resolve
from ...results.points import Point
from ...units import format_time
from ..base import Column, Experiment, Outcome, Tick, steps
from ..labs import Ground, Here
from .build import build
from .parameters import MeshParameters
from .summary import summarise

if TYPE_CHECKING:
    from ...results.real import Real


class LspMesh(Experiment[MeshParameters]):
    """See the module."""

    name = "lsp-mesh"
    title = "LSP mesh on a real topology"
    question = "Does every LSP of a full mesh come up and carry its packets along its explicit route?"
    parameters = MeshParameters
    places = frozenset({"process"})
    _wall_s = 0.0
    inexact: ClassVar[Mapping[str, str]] = {
        f"setup_{share}_s": TIME for share in ("p50", "p90", "p99", "max")
    }

    def build(self, parameters: MeshParameters, seed: int) -> Network:
        """See `build.build`."""
        return build(parameters, seed)

    def end_s(self, parameters: MeshParameters) -> float:
        """When all probes have been sent, and have arrived."""
        probing = parameters.probes * parameters.probe_interval_ms / 1e3
        return parameters.setup_s + probing + parameters.settle_s

    def run(self, network: Network, parameters: MeshParameters, tick: Tick | None = None) -> None:
        """Set up all LSPs, send the probes, look."""
        begin = time.monotonic()
        steps(network, self.end_s(parameters), tick)
        self._wall_s = time.monotonic() - begin

    def summarise(self, network: Network, parameters: MeshParameters) -> Outcome:
        """See `summary.summarise`."""
        return summarise(network, parameters, self._wall_s)

    def headline(self, parameters: MeshParameters) -> str:
        """Topology and profile."""
        name = Path(parameters.topology).name
        return f"{name}, {parameters.profile}, {parameters.probes} packets over each LSP"

    def answer(self, points: Sequence[Point]) -> str:
        """How many LSPs came up, and whether a packet left its route."""
        lsps, up, sent, received, wrong, hops = (
            sum(point.metrics[key] for point in points)
            for key in ("lsps", "up", "probes_sent", "probes_received", "wrong_hops", "hops_checked")
        )
        came = "every LSP came up" if up == lsps else f"{lsps - up:.0f} of {lsps:.0f} LSPs did not come up"
        packets = (
            f"all {sent:,.0f} packets arrived"
            if sent == received
            else f"{received:,.0f} of {sent:,.0f} packets arrived"
        )
        routes = "none left its route" if wrong == 0 else f"{wrong:,.0f} left their route"
        return f"Of {lsps:,.0f} LSPs: {came}, {packets}, and {routes} ({hops:,.0f} hops checked)."

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """Size, LSPs, probes, set-up times."""

        def metric(title: str, key: str, form: Any = str) -> Column:
            return Column(title, lambda point: point.metrics.get(key), form)

        return [
            Column("topology", lambda point: Path(point.parameters["topology"]).stem),
            metric("nodes", "nodes"),
            metric("links", "links"),
            metric("LSPs", "lsps"),
            metric("up", "up"),
            metric("sent", "probes_sent"),
            metric("received", "probes_received"),
            metric("hops checked", "hops_checked"),
            metric("wrong", "wrong_hops"),
            metric("set-up p50", "setup_p50_s", format_time),
            metric("set-up max", "setup_max_s", format_time),
            metric("run", "run_s", format_time),
        ]

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Set-up time quantiles of every topology."""
        names = [Path(point.parameters["topology"]).stem for point in points]
        curves = []
        for style, (name, point) in enumerate(zip(names, points, strict=True)):
            keys = (("setup_p50_s", 0.5), ("setup_p90_s", 0.9), ("setup_p99_s", 0.99), ("setup_max_s", 1.0))
            values = [(point.metrics.get(key), share) for key, share in keys]
            known = [(value * 1e3, share) for value, share in values if value is not None]
            curves.append(Curve(name, [x for x, _ in known], [y for _, y in known], 0, "both", style))
        said = "; ".join(
            f"{name}: half within {format_time(point.metrics.get('setup_p50_s'))}, all within"
            f" {format_time(point.metrics.get('setup_max_s'))}"
            for name, point in zip(names, points, strict=True)
        )
        return [
            Chart(
                "setup-times",
                "Time until LSPs are up, all signalled at once",
                f"Share of LSPs that are up over time since all were signalled. {said}.",
                "time since all were signalled (ms)",
                ["share of LSPs up"],
                curves,
            )
        ]

    def inputs(self, parameters: MeshParameters) -> list[Any]:
        """The profile and the bytes of the topology file."""
        try:
            content = Path(parameters.topology).read_bytes()
        except OSError as error:
            raise TwinplaneError(f"{parameters.topology}: cannot be read: {os_reason(error)}") from None
        return [resolve(parameters.profile), hashlib.sha256(content).hexdigest()]

    def check(self, parameters: MeshParameters) -> None:
        """The profile and the topology file, whole."""
        super().check(parameters)
        read(Path(parameters.topology), parameters.component or None)

    def fault(self, point: Point) -> str | None:
        """LSPs that are down, packets that are lost, hops that are wrong."""
        m = point.metrics
        if m["up"] != m["lsps"]:
            return f"{m['lsps'] - m['up']} of {m['lsps']} LSPs are not up"
        if m["probes_received"] != m["probes_sent"] or m["lsps_probed"] != m["lsps"]:
            return f"{m['probes_received']} of {m['probes_sent']} packets arrived"
        return f"{m['wrong_hops']} packets left their route" if m["wrong_hops"] else None

    def ground(self, parameters: MeshParameters, seed: int, where: Real) -> AbstractContextManager[Ground]:
        """One process is the only place."""
        return Ground(self.name, lambda given: build(given, seed), Here())

    def load(self, parameters: MeshParameters) -> tuple[int, float, float]:
        """What each LSP carries."""
        rate = parameters.size * 8e3 / parameters.probe_interval_ms
        return parameters.size, rate, rate

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """Virtual time is exact."""
        return [
            "Virtual time is counted in picoseconds: counts are exact, set-up times are exact to 1 ps for the"
            " stated profile.",
            "Links whose file gives no speed have the stated default; propagation is 5 us for each kilometre"
            " of great circle, 1 ms where coordinates are missing.",
            "The time that the run took on this machine (run) is the only figure that varies between runs.",
        ]


EXPERIMENT = LspMesh()
