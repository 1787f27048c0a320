"""A run in real time: where it happens, and what surrounds one point of it.

Each point is calibrated, run by the clock, bounded, and laid beside its twin in virtual time.
"""

from __future__ import annotations

import ipaddress
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .bounds import TIME, bounds_of, own_share
from .calibration import LEAST_PACKETS_PER_S, Bench, Search, check_rate, floor, nothing_passes, search
from .errors import TwinplaneError, suggest
from .placing import keep_signals, lateness

if TYPE_CHECKING:
    from .experiments.base import Experiment, Outcome, Tick
    from .network import Network

Place = Literal["process", "lab", "external"]

WORDS = {
    "process": "real time, one process",
    "lab": "real time, a process for each router",
    "external": "real time, external system under test",
}
"""By place, for people."""

DRIVERS = ("packet", "xdp")


@dataclass(frozen=True)
class OuterPort:
    """An interface of the tester, and the system under test behind it."""

    interface: str | None = None
    netns: str | None = None
    address: str | None = None
    """Of the tester, with the length of the prefix."""
    neighbor: str | None = None
    """Of the system under test, on the same subnet."""
    router_id: str | None = None
    """By which the tester's edge router signals (none: its address)."""

    def checked(self, option: str, default: str) -> OuterPort:
        """With an address and a neighbor on one subnet."""
        text = self.address or default
        try:
            own = ipaddress.IPv4Interface(text)
        except ValueError:
            raise TwinplaneError(
                f"--{option}-address {text}: an IPv4 address with a prefix is needed, such as {default}"
            ) from None
        hosts = [host for host in _first_hosts(own.network) if host != own.ip]
        if self.neighbor is None and not hosts:
            raise TwinplaneError(f"--{option}-address {text}: its subnet has no room for a neighbor")
        try:
            other = ipaddress.IPv4Address(self.neighbor) if self.neighbor else hosts[0]
        except ValueError:
            raise TwinplaneError(f"--{option}-neighbor {self.neighbor}: an IPv4 address is needed") from None
        if other not in own.network or other == own.ip:
            raise TwinplaneError(
                f"--{option}-neighbor {other}: it is not another address of {own.network},"
                f" where the tester is {own.ip}"
            )
        router_id = self.router_id or str(own.ip)
        try:
            ipaddress.IPv4Address(router_id)
        except ValueError:
            raise TwinplaneError(f"--{option}-router-id {router_id}: an IPv4 address is needed") from None
        return OuterPort(self.interface, self.netns, str(own), str(other), router_id)


def _first_hosts(network: ipaddress.IPv4Network) -> list[ipaddress.IPv4Address]:
    """A few addresses of a subnet that a router can have (RFC 3021: both of a /31)."""
    found = []
    for host in network.hosts():
        found.append(host)
        if len(found) == 2:
            break
    return found


@dataclass(frozen=True)
class Real:
    """Where a run in real time happens, and how."""

    place: Place
    lab: str | None = None
    """A topology file; none: the experiment's own network."""
    ingress: OuterPort | None = None
    egress: OuterPort | None = None
    sut_router_id: str | None = None
    driver: str = "packet"
    busy: bool = False
    rate_auto: bool = False
    twin: bool = True

    def __post_init__(self) -> None:
        """Refuse an unknown driver."""
        if self.driver not in DRIVERS:
            raise TwinplaneError(
                f"--driver {self.driver}: one of {', '.join(DRIVERS)}{suggest(self.driver, DRIVERS)}"
            )

    @property
    def words(self) -> str:
        """For people."""
        return WORDS[self.place]

    def as_dict(self) -> dict[str, Any]:
        """For keys and manifests."""
        return asdict(self)

    def options(self) -> list[str]:
        """The words of the command line that say the same."""
        if self.place == "process":
            words = ["--clock", "wall"]
        elif self.place == "lab":
            words = ["--lab"]
        else:
            words = ["--sut", "external"]
        for side, port in (("ingress", self.ingress), ("egress", self.egress)):
            if port is None:
                continue
            words += [f"--{side}-port", str(port.interface)]
            for key in ("netns", "address", "neighbor", "router_id"):
                if (value := getattr(port, key)) is not None:
                    words += [f"--{side}-{key.replace('_', '-')}", value]
        if self.sut_router_id is not None:
            words += ["--sut-router-id", self.sut_router_id]
        words += ["--driver", self.driver] if self.driver != "packet" else []
        words += ["--busy"] if self.busy else []
        words += ["--rate", "auto"] if self.rate_auto else []
        return [*words, *([] if self.twin else ["--no-twin"])]


TWIN_TABLES = ("signals", "series", "lsps_up")
"""Tables of the twin that are kept."""

CLOCKS = ("virtual", "wall")
SYSTEMS = ("built-in", "external")


def asked(
    *,
    clock: str,
    lab: bool,
    sut: str,
    ingress: OuterPort,
    egress: OuterPort,
    sut_router_id: str | None,
    driver: str,
    busy: bool,
    rate: str | None,
    twin: bool,
) -> Real | None:
    """What the options of ``twinplane run`` ask for; None for virtual time."""
    if clock not in CLOCKS:
        raise TwinplaneError(f"--clock {clock}: one of {', '.join(CLOCKS)}{suggest(clock, CLOCKS)}")
    if sut not in SYSTEMS:
        raise TwinplaneError(f"--sut {sut}: one of {', '.join(SYSTEMS)}{suggest(sut, SYSTEMS)}")
    if rate not in (None, "auto"):
        raise TwinplaneError(f"--rate {rate}: only auto; a rate is given as --set rate_mbps={rate}")
    external = sut == "external"
    given = [port for port in (ingress, egress) if port != OuterPort()]
    if lab and external:
        raise TwinplaneError(
            "--lab and --sut external: one of them: a lab is built here, an external system is not"
        )
    if (given or sut_router_id) and not external:
        raise TwinplaneError("options of the tester's ports need --sut external")
    if not (lab or external or clock == "wall"):
        for option, used in (
            ("--rate auto", rate),
            ("--busy", busy),
            (f"--driver {driver}", driver != "packet"),
        ):
            if used:
                raise TwinplaneError(f"{option}: only in real time (--clock wall, --lab, --sut external)")
        return None
    if external:
        first, second = ports_of(ingress, egress, sut_router_id)
        return Real("external", None, first, second, sut_router_id, driver, busy, rate == "auto", twin)
    return Real("lab" if lab else "process", driver=driver, busy=busy, rate_auto=rate == "auto", twin=twin)


INGRESS_DEFAULT, EGRESS_DEFAULT = "10.254.1.1/30", "10.254.2.1/30"


def ports_of(
    ingress: OuterPort | None, egress: OuterPort | None, sut_router_id: str | None
) -> tuple[OuterPort, OuterPort]:
    """Both ports of the tester with everything filled in and checked, or one sentence."""
    for option, port in (("ingress", ingress), ("egress", egress)):
        if port is None or not port.interface:
            raise TwinplaneError(
                f"--sut external: --{option}-port is needed: the tester's interface on that side"
            )
    assert ingress is not None and egress is not None
    if (ingress.interface, ingress.netns) == (egress.interface, egress.netns):
        raise TwinplaneError(
            f"--ingress-port and --egress-port are both {ingress.interface}:"
            " the system under test stands between two"
        )
    first = ingress.checked("ingress", INGRESS_DEFAULT)
    second = egress.checked("egress", EGRESS_DEFAULT)
    nets = [ipaddress.IPv4Interface(str(port.address)).network for port in (first, second)]
    if nets[0].overlaps(nets[1]):
        raise TwinplaneError(
            f"--egress-address {second.address}: its subnet overlaps that of the ingress ({nets[0]})"
        )
    if sut_router_id is not None:
        try:
            ipaddress.IPv4Address(sut_router_id)
        except ValueError:
            raise TwinplaneError(f"--sut-router-id {sut_router_id}: an IPv4 address is needed") from None
    return first, second


class Ground(ABC):
    """What stands ready for one point of an experiment, and is taken down when the point is finished."""

    @abstractmethod
    def network(self, parameters: Any) -> Network:
        """The tester's part of the network (or all of it) by the clock; each time afresh."""

    @abstractmethod
    def bench(self) -> AbstractContextManager[Bench]:
        """Ports like those of the run, back to back."""

    @abstractmethod
    def through(self, parameters: Any, rate_bps: float) -> Search:
        """The highest rate without loss through the system under test, at most `rate_bps`."""


@dataclass
class Measured:
    """A point in real time with all that belongs to it."""

    parameters: Any
    outcome: Outcome
    bounds: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)
    twin: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """What is kept beside metrics and tables."""
        return {
            "parameters": self.parameters.model_dump(mode="json"),
            "bounds": self.bounds,
            "refused": self.refused,
            "calibration": self.calibration,
            "twin": {key: value for key, value in self.twin.items() if key != "tables"},
        }

    def twin_tables(self) -> dict[str, Any]:
        """The twin's tables that are laid beside this run's."""
        tables = self.twin.get("tables", {})
        return {f"twin_{name}": tables[name] for name in TWIN_TABLES if name in tables}


def run_point(
    experiment: Experiment[Any],
    parameters: Any,
    seed: int,
    real: Real,
    ground: Ground,
    tick: Tick | None = None,
    ready: Callable[[Network], None] | None = None,
) -> Measured:
    """Calibrate, choose or check the rate, run by the clock, bound the figures, run the twin."""
    begin = time.monotonic()
    through: Search | None = None
    size, rate_bps, most_bps = experiment.load(parameters)
    with ground.bench() as bench:
        found = search(bench, size, most_bps)
        if real.rate_auto:
            if found.rate_bps is None:
                raise TwinplaneError(nothing_passes(bench, found))
            through = ground.through(parameters, found.rate_bps)
            if through.rate_bps is None:
                raise TwinplaneError(
                    f"{experiment.name}: no rate is free of loss through the system under test:"
                    f" it loses even {LEAST_PACKETS_PER_S:g} frames of {size} bytes a second"
                )
            parameters = experiment.at_rate(parameters, through.rate_bps)
            rate_bps = experiment.load(parameters)[1]
        else:
            check_rate(found, rate_bps, experiment.name)
        calibration = floor(bench, found, rate_bps, begin)
    network = ground.network(parameters)
    if ready is not None:
        ready(network)
    experiment.run(network, parameters, tick)
    outcome = experiment.summarise(network, parameters)
    late = lateness(network)
    kinds = experiment.inexact
    outcome.metrics, bounds, refused = bounds_of(outcome.metrics, kinds, calibration, late)
    bounds |= experiment.count_bounds(network, parameters, own_share(calibration, late)[TIME])
    said = {**calibration.as_dict(), "run_lateness": None if late is None else asdict(late)}
    if through is not None:
        said["through"] = through.as_dict()
    twin = run_twin(experiment, parameters, seed) if real.twin else {}
    return Measured(parameters, outcome, bounds, refused, said, twin)


def run_twin(experiment: Experiment[Any], parameters: Any, seed: int) -> dict[str, Any]:
    """The same point in virtual time."""
    network = experiment.build(parameters, seed)
    keep_signals(network)
    experiment.run(network, parameters, None)
    outcome = experiment.summarise(network, parameters)
    return {"metrics": outcome.metrics, "tables": outcome.tables}
