"""A run in real time: where it happens, and which options say so."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import TwinplaneError, suggest

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
    calibration: str | None = None
    """A file of calibrations to be used in the place of one before each point."""
    sut_hops: int | None = None
    """Routers of the system under test that packets pass, if that is known: then their TTL is checked."""

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
        if self.lab is not None:
            words = []
        elif self.place == "process":
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
        words += ["--sut-hops", str(self.sut_hops)] if self.sut_hops is not None else []
        words += ["--driver", self.driver] if self.driver != "packet" else []
        words += ["--busy"] if self.busy else []
        words += ["--rate", "auto"] if self.rate_auto else []
        words += ["--calibration", self.calibration] if self.calibration is not None else []
        return [*words, *([] if self.twin else ["--no-twin"])]


def real_of(manifest: Mapping[str, Any]) -> Real | None:
    """What a manifest says of real time."""
    found = manifest.get("real")
    if found is None:
        return None
    sides = {side: found[side] and OuterPort(**found[side]) for side in ("ingress", "egress")}
    return Real(**{**found, **sides})


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
    calibration: Path | None = None,
    sut_hops: int | None = None,
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
    if (given or sut_router_id or sut_hops) and not external:
        raise TwinplaneError(
            "options of the tester's ports need --sut external, or --sut tcp:ADDRESS of openflow"
        )
    if not (lab or external or clock == "wall"):
        for option, used in (
            ("--rate auto", rate),
            ("--busy", busy),
            (f"--driver {driver}", driver != "packet"),
            ("--calibration", calibration),
        ):
            if used:
                raise TwinplaneError(f"{option}: only in real time (--clock wall, --lab, --sut external)")
        return None
    if external:
        first, second = ports_of(ingress, egress, sut_router_id)
        made = Real("external", None, first, second, sut_router_id, driver, busy, rate == "auto", twin)
        made = replace(made, sut_hops=sut_hops)
    else:
        made = Real(
            "lab" if lab else "process", driver=driver, busy=busy, rate_auto=rate == "auto", twin=twin
        )
    return made if calibration is None else replace(made, calibration=str(calibration))


def in_file(
    file: Path, *, driver: str, busy: bool, rate: str | None, twin: bool, calibration: Path | None = None
) -> Real:
    """What the options of ``twinplane lab run`` ask for."""
    if rate not in (None, "auto"):
        raise TwinplaneError(f"--rate {rate}: only auto; a rate is given as --set rate_mbps={rate}")
    kept = None if calibration is None else str(calibration)
    return Real("lab", str(file), None, None, None, driver, busy, rate == "auto", twin, kept)


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
