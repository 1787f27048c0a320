"""Everything that can fail, in turn: who loses how much for how long, what does not come back, and why.

A network is run until it has settled. Then every case is a fork of this process: it has the network as it
is, lets something fail, and looks at the flows until all has settled again. So the network is built and
warmed up once, and it is afterwards as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import units
from ..errors import TwinplaneError, warn
from ..network import memory, processors
from ..network.drawing import topology
from ..network.forks import forked
from ..units import Quantity, format_time, limit_bps
from . import own_events
from .cases import Case, NothingToTryError, already_down, cases_of
from .failures import Failures, Hurt, OfClass, Outcome, counted, counted_of
from .graph import Graph
from .reasons import Reasons, too_small
from .store import Store, identity
from .traffic import Probes, Watched, add_probes, watched
from .watching import ENOUGH, Look, World, calm, watch

if TYPE_CHECKING:
    from ..network import Network

AFTER_START_PS = 10**12
"""So long after the last flow has begun everything fails, if nothing else is said."""
WATCH = "5 s"


AFTER_WAITING_PS = 15 * 10**12
"""So long after routers have waited for others all have routes: databases are exchanged, and what was lost of
that is sent again."""
HELLO = "10 s"
"""RFC 2328, C.3: how often a router says Hello, if its settings say nothing else."""


def routes_ps(network: Network) -> int:
    """When all routers that speak OSPF have found routes; 0 if none speaks it.

    A router waits as long as it would for a silent neighbour before a network gets its designated router
    (RFC 2328, 9.4): `dead_interval`, which is four Hellos if it is not said.
    """
    waits = [0]
    for node in network.described()["nodes"].values():
        spoken = node.get("ospf") or {}
        for said in (spoken, *(spoken.get("interfaces") or {}).values()) if spoken else ():
            own = said.get("hello_interval")
            dead = said.get("dead_interval") or (spoken.get("dead_interval") if own is None else None)
            hello = own or spoken.get("hello_interval") or HELLO
            wait = units.span_ps(dead, "dead") if dead else 4 * units.span_ps(hello, "hello")
            waits.append(wait + AFTER_WAITING_PS)
    return max(waits)


def first_of(names: Sequence[str]) -> str:
    """The first of some names, as what is said of all of them."""
    return names[0] if len(names) == 1 else f"the first is {names[0]}"


def fail_everything(
    network: Network,
    *,
    only: Sequence[str] | str | None = None,
    pairs: bool = False,
    warm_up: Quantity | None = None,
    watch: Quantity = WATCH,
    probes: int | None = None,
    probe_rate: int | None = None,
    protected: bool = True,
    jobs: int | None = None,
    out: str | Path | None = None,
    title: str = "network",
    progress: Callable[[int, int], object] | None = None,
) -> Failures:
    """Let every link, node and shared-risk link group of a network fail in turn, and rank what that does.

    Cases begin at `warm_up`, by default one second after the last flow has begun, or now if the network has
    run already; where routers speak OSPF, not before their longest `dead_interval` and 15 s more. Each is a
    fork of this process that looks at the flows until all that can come back is back, `watch` at most; so
    many `jobs` run at a time, by default one for each processor that there is memory for. The network stands
    at the beginning of the cases afterwards, and nothing of it has failed.

    `only` are ``links``, ``nodes`` or ``groups``, if not all of them; with `pairs` two of them fail together,
    too. Groups are what links name as `srlg`.

    A network without flows gets probes: over each of its LSPs; or between hosts; or, of routers alone, over
    an LSP for each pair of them with the fallback that shares least with it (``protected=False``: as routers
    route them). `probes` is the number of pairs, `probe_rate` the packets per second of each.

    Demands are watched as flows are. Events of the network that would go on while everything fails are left
    out, with a warning; of a network that has run already they are refused.

    With `out` each finished case is kept in that folder: the same call goes on where it was stopped.
    `progress` is called with the cases that are done and their number.
    """
    made = Trial(network, Probes(probes, probe_rate, protected), warm_up, watch, title)
    cases = cases_of(network, [only] if isinstance(only, str) else only, pairs)
    store = None if out is None else made.store(Path(out), cases)
    return made.run(cases, jobs, store, progress)


class Trial:
    """A network on trial: described, with something to watch, and the times of its cases."""

    def __init__(
        self,
        network: Network,
        probes: Probes,
        warm_up: Quantity | None = None,
        watch: Quantity = WATCH,
        title: str = "network",
    ) -> None:
        if network.clock != "virtual":
            raise NothingToTryError("everything can fail in turn in virtual time only: time does not fork")
        for key, value in (("probes", probes.count), ("probe_rate", probes.rate)):
            if value is not None and value < 1:
                raise TwinplaneError(f"{key}={value!r}: it should be 1 or more")
        self.network, self.title = network, title
        self.watch_ps = units.span_ps(watch, "watch")
        if self.watch_ps <= 0:
            raise TwinplaneError(f"watch={watch!r}: it should be longer than nothing")
        ran = network.now > 0
        has_demands = network.draft.demands is not None
        if not network.flows and not has_demands and ran:
            raise NothingToTryError(
                "it has no flows to watch, and it has run already: give it flows before it runs"
            )
        own = [counted(len(network.flows), "flow")] if network.flows else []
        self.traffic = f"{' and '.join([*own, *(['demands'] if has_demands else [])])} of its own"
        if not network.flows and not has_demands:
            self.traffic = add_probes(network, probes)
        self.begin_ps = self._begin(warm_up, ran)
        self.left_out = 0 if network.engine.started else own_events.leave_out(network, self.begin_ps)
        self.settings = {"begin_ps": self.begin_ps, "watch_ps": self.watch_ps}

    def _begin(self, warm_up: Quantity | None, ran: bool) -> int:
        """When cases begin."""
        now = round(self.network.now * 1e12)
        said = [self.network.draft.element("flows", flow.index) for flow in self.network.flows]
        if self.network.draft.demands is not None:
            said.append(self.network.described()["demands"])
        starts = [units.span_ps(one.get("start") or 0, "start") for one in said]
        begin = now if ran else max(max(starts) + AFTER_START_PS, routes_ps(self.network))
        if warm_up is not None:
            begin = units.span_ps(warm_up, "warm_up")
            if begin < now:
                raise TwinplaneError(f"warm_up={warm_up!r}: it is already {format_time(now / 1e12)}")
        late = sum(start >= begin for start in starts)
        early = sum(
            one.get("stop") is not None and units.span_ps(one["stop"], "stop") < begin + self.watch_ps
            for one in said
        )
        for count, verbs, what in (
            (late, ("has", "have"), "not begun before"),
            (early, ("stops", "stop"), "before the end of what is watched after"),
        ):
            if count:
                who = counted_of(count, len(said), "flow", *verbs)
                warn(f"{who} {what} the failures at {format_time(begin / 1e12)}")
        return begin

    def store(self, folder: Path | None, cases: Sequence[Case]) -> Store:
        """The folder that its cases are kept in."""
        key = identity(self.network.described(), self.settings)
        return Store(folder, key, {"title": self.title, "cases": len(cases), **self.circumstances()})

    def circumstances(self) -> dict[str, str]:
        """How it is tried, in words."""
        return {
            "traffic": self.traffic,
            "seed": str(self.network.seed),
            "failures at": format_time(self.begin_ps / 1e12),
            "watched for": f"{format_time(self.watch_ps / 1e12)} at most",
            **({"events left out": str(self.left_out)} if self.left_out else {}),
        }

    def warm(self) -> World:
        """Run it until cases begin."""
        self.network.run(until=f"{self.begin_ps} ps")
        core = self.network.running()
        ends = [Reasons.ends_of(self.network, lsp.index) for lsp in self.network.lsps]
        flows = watched(self.network)
        down = already_down(self.network)
        said = (self.network.draft.element("links", link.index)["rate"] for link in self.network.links)
        both = [rate for one in said for rate in [limit_bps(one)] * 2]
        world = World(core, Graph(self.network), flows, self.begin_ps, self.watch_ps, ends, both, down)
        world.settle()
        if world.down:
            total = sum(lsp.count for lsp in self.network.lsps)
            warn(f"{counted_of(len(world.down), total, 'LSP', 'is', 'are')} not up when failures begin")
        if over_both := [lsp.name for lsp in self.network.lsps if self._is_over_both(lsp.index)]:
            verb = "has" if len(over_both) == 1 else "have"
            warn(
                f"{counted(len(over_both), 'LSP')} {verb} protection '1+1' ({first_of(over_both)}): of what"
                " they carry each of two copies that is lost counts as a packet, though the other may arrive"
            )
        if cut_off := world.cut_off():
            who = counted_of(len(cut_off), len(flows), "flow", "has", "have")
            warn(
                f"{who} lost every packet when failures begin ({first_of(cut_off)}), so that cases do not"
                " show what hurts them: they lack a route, or routers are still finding one; let failures"
                " begin later (--warm-up) if they are"
            )
        return world

    def _is_over_both(self, lsp: int) -> bool:
        protection = self.network.draft.element("lsps", lsp).get("protection")
        return isinstance(protection, Mapping) and protection.get("method") == "1+1"

    def run(
        self,
        cases: Sequence[Case],
        jobs: int | None = None,
        store: Store | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Failures:
        """Try every case that is not kept yet."""
        if jobs is not None and jobs < 1:
            raise TwinplaneError(f"jobs={jobs!r}: it should be 1 or more")
        jobs = memory.forks(self.network.draft, jobs or processors.count(), jobs is not None)
        world = self.warm()
        found = {} if store is None else {key: value for key, value in store.found.items()}

        def work(case: Case | None) -> bytes:
            if case is None:
                seen = calm(world)
                return json.dumps(
                    [[vars(one) for one in seen], own_events.within(self.network, self.begin_ps)]
                ).encode()
            return json.dumps(watch(world, case), separators=(",", ":")).encode()

        for _, answer in forked([None], work, 1):
            seen, own = json.loads(answer)
            if own is not None:
                own_events.refuse(own, self.begin_ps)
            world.calm = [Look(**one) for one in seen]
        quiet = world.quiet()
        if quiet:
            who = counted_of(len(quiet), len(world.flows), "flow", "sends", "send")
            warn(
                f"{who} fewer than {ENOUGH} packets while they are watched, so that no case shows whether it"
                f" hurts them ({first_of(quiet)}): watch for longer, or let them send more"
            )
        left = [case for case in cases if case.key not in found]

        def tick() -> None:
            if progress is not None:
                progress(len(cases) - len(left) + done, len(cases))

        done = 0
        for case, answer in forked(left, work, jobs, tick):
            done += 1
            if case is None:
                continue
            found[case.key] = json.loads(answer)
            if store is not None:
                store.keep([answer])
            tick()
        return self.ranked(world, cases, found, None if store is None else store.folder)

    def ranked(
        self,
        world: World,
        cases: Iterable[Case],
        found: Mapping[str, Mapping[str, Any]],
        folder: Path | None = None,
    ) -> Failures:
        """What was found, with reasons, the worst first."""
        reasons = Reasons(self.network, world.graph)
        outcomes = [self._outcome(world, reasons, case, found[case.key]) for case in cases]
        flows = [(flow.name, flow.phb) for flow in world.flows]
        drawn = topology(self.network)
        said = self.circumstances()
        return Failures(outcomes, flows, drawn, self.title, said, folder, len(world.quiet()))

    def _outcome(self, world: World, reasons: Reasons, case: Case, found: Mapping[str, Any]) -> Outcome:
        dead, parts = world.dead_links(case), world.parts(case)
        watched_s = found["watched_ps"] / 1e12
        up = dict(found["up"])
        hurt = []
        for place, lost, sent, state, queued, last in found["flows"]:
            flow = world.flows[place]
            back = {"recovered": True, "unseen": None}.get(state, False)
            if back is None and not parts.joined(flow.source, flow.sink):
                back = False
            reason, why = None, ""
            if back is False:
                kind, why = reasons.of(case, dead, parts, flow, found, last, queued)
                reason = str(kind)
            elif queued:
                why = too_small(queued)
            outage = lost * watched_s / sent if back and sent else None
            again = None if back is False or flow.lsps is None else up.get(flow.lsps)
            again_s = None if again is None else again / 1e12
            hurt.append(Hurt(flow.name, flow.phb, lost, outage, again_s, back, reason, why))
        hurt.sort(key=lambda one: (one.recovered is not False, -one.lost, one.flow))
        return Outcome(
            *(
                case.name,
                case.kind,
                tuple(case.dead_links(world.graph.ends)),
                case.nodes,
                watched_s,
                found["digest"],
                len(found["down"]),
            ),
            tuple(hurt),
        )


__all__ = [
    "Case",
    "Failures",
    "Hurt",
    "NothingToTryError",
    "OfClass",
    "Outcome",
    "Probes",
    "Trial",
    "Watched",
    "cases_of",
    "fail_everything",
]
