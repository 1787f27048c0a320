"""Makes what a plan says, with iproute2: namespaces, veth pairs straight into them, addresses."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
from pathlib import Path

from ..errors import TwinplaneError, one_line
from ..model.places import of_node
from . import netns, processes
from .plan import Interface, Member, Plan

BRIDGE = "bridge0"
"""The kernel's bridge in the namespace of a node of that kind."""
PS_PER_TICK = 10**10
"""The unit of times of the kernel's bridges, as ip hands them on, is 10 ms."""


def find_ip() -> str:
    """The program ip of iproute2."""
    places = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    found = shutil.which("ip", path=places)
    if found is None:
        raise TwinplaneError("the program 'ip' is missing: install iproute2")
    return found


def batch(lines: list[str], what: str, namespace: str | None = None, folder: Path | None = None) -> None:
    """Run many commands of ip in one process, which is marked as the lab's with that folder."""
    if not lines:
        return
    words = [find_ip(), *(["-n", namespace] if namespace else []), "-batch", "-"]
    environment = {
        "PATH": os.defpath,
        "LC_ALL": "C",
        **({} if folder is None else {processes.MARK: str(folder)}),
    }
    done = subprocess.run(
        words, input="\n".join(lines) + "\n", capture_output=True, text=True, env=environment
    )
    if done.returncode != 0:
        raise TwinplaneError(f"{what}: {_reason(done.stderr, lines)}")


def _reason(stderr: str, lines: list[str]) -> str:
    reason, failed = "it failed", ""
    for line in stderr.splitlines():
        if line.startswith("Command failed"):
            number = line.rpartition(":")[2].strip()
            failed = lines[int(number) - 1] if number.isdigit() and int(number) <= len(lines) else ""
            break
        if line.strip():
            reason = one_line(line.removeprefix("RTNETLINK answers: ").removeprefix("Error: "))
    return f"ip {failed}: {reason[:1].lower()}{reason[1:]}" if failed else f"ip: {reason}"


def check(plan: Plan) -> None:
    """Refuse what would fail halfway, before anything is made."""
    find_ip()
    for name in plan.namespaces():
        if netns.exists(name):
            raise TwinplaneError(
                f"lab '{plan.name}': there is a namespace '{name}' already, and this lab has not made it"
                f" (`ip netns delete {name}` removes it)"
            )
    for pair in plan.links:
        for end in pair:
            if plan.members[end.node].kind == "external":
                _check_external(plan, end)


def _check_external(plan: Plan, end: Interface) -> None:
    try:
        found = netns.mtu(end.name)
    except OSError:
        raise plan.lowered.error(of_node(end.node, f"there is no interface '{end.name}' here")) from None
    need = end.interface_mtu
    if found < need:
        words = (
            f"'{end.name}' has an MTU of {found}, its link one of {need}:"
            f" say mtu: {found - end.longer} at the link, or `ip link set {end.name} mtu {need}`"
        )
        raise plan.lowered.error(of_node(end.node, words))
    if not netns.is_up(end.name):
        words = f"'{end.name}' is down: `ip link set {end.name} up`"
        raise plan.lowered.error(of_node(end.node, words))


def make(plan: Plan, folder: Path) -> None:
    """Make namespaces and links, and bring them up."""
    what = f"lab '{plan.name}'"
    batch([f"netns add {name}" for name in plan.namespaces()], what, None, folder)
    for member in plan.members.values():
        if member.namespace is not None:
            netns.plain_host(member.namespace) if member.kind == "host" else netns.silence(member.namespace)
    batch([_pair(plan, *pair) for pair in plan.links if _inside(plan, pair)], what, None, folder)
    for member in plan.members.values():
        if member.namespace is not None:
            batch(_up(plan, member), what, member.namespace, folder)


def _inside(plan: Plan, pair: tuple[Interface, Interface]) -> bool:
    return all(plan.members[end.node].namespace is not None for end in pair)


def _pair(plan: Plan, a: Interface, b: Interface) -> str:
    return f"link add {_end(plan, a)} type veth peer {_end(plan, b)}"


def _end(plan: Plan, end: Interface) -> str:
    member = plan.members[end.node]
    # A router and the tester answer ARP themselves, from above; a bridge has no address to answer for.
    silent = "" if member.kind in ("host", "bridge") else " arp off multicast off"
    return f"name {end.name} netns {member.namespace} address {end.mac} mtu {end.interface_mtu}{silent}"


def _token(address: str) -> str:
    """The last 64 bits of an IPv6 address, as an address."""
    return str(ipaddress.IPv6Address(int(ipaddress.IPv6Interface(address).ip) & (2**64 - 1)))


def _up(plan: Plan, member: Member) -> list[str]:
    own = [end for end in member.interfaces if _inside(plan, plan.links[end.link])]
    if member.kind == "bridge":
        # As the bridge of a description is: without spanning tree, and groups are flooded.
        ageing = "" if member.ageing_ps is None else f" ageing_time {round(member.ageing_ps / PS_PER_TICK)}"
        made = f"link add {BRIDGE} type bridge stp_state 0 mcast_snooping 0{ageing}"
        ports = [f"link set dev {end.name} master {BRIDGE} up" for end in own]
        return [made, *ports, f"link set dev {BRIDGE} up"]
    if member.kind != "host":
        # The peer's settings of a pair are not all taken when it is made.
        return [f"link set dev {end.name} arp off multicast off up" for end in own]
    lines = ["link set dev lo up"]
    for end in own:
        far = next(one for one in plan.links[end.link] if one is not end)
        if not far.offload:
            with netns.inside(str(member.namespace)):
                netns.finish_frames(end.name)
        if end.ipv6 is not None:
            with netns.inside(str(member.namespace)):
                netns.speak_ipv6(end.name, slaac=end.slaac)
            if end.slaac:
                # The kernel makes the address that is planned of this and of the prefix that a router says.
                lines.append(f"token set {_token(end.ipv6)} dev {end.name}")
            else:
                # Its addresses are known to be nobody else's (RFC 4862, 5.4): they can be used at once.
                lines.append(f"addr add {end.ipv6} dev {end.name} nodad")
        lines += [f"addr add {end.address} brd + dev {end.name}", f"link set dev {end.name} up"]
    lines.append(f"route add default via {member.gateway}")
    if member.gateway6 is not None:
        lines.append(f"route add default via {member.gateway6}")
    return lines
