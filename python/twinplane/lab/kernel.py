"""Makes what a plan says, with iproute2: namespaces, veth pairs straight into them, addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ..errors import TwinplaneError, one_line
from . import kinds, netns, processes
from .plan import Interface, Plan


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
    for member in plan.members.values():
        kinds.of(member.kind).check(plan, member)


def make(plan: Plan, folder: Path) -> None:
    """Make namespaces and links, and bring them up."""
    what = f"lab '{plan.name}'"
    batch([f"netns add {name}" for name in plan.namespaces()], what, None, folder)
    for member in plan.members.values():
        if member.namespace is not None:
            kinds.of(member.kind).prepare(member.namespace)
    batch([_pair(plan, *pair) for pair in plan.links if _inside(plan, pair)], what, None, folder)
    for member in plan.members.values():
        if member.namespace is not None:
            own = [end for end in member.interfaces if _inside(plan, plan.links[end.link])]
            batch(kinds.of(member.kind).lines(plan, member, own), what, member.namespace, folder)


def _inside(plan: Plan, pair: tuple[Interface, Interface]) -> bool:
    return all(plan.members[end.node].namespace is not None for end in pair)


FIRST_INDEX = 1000
"""Interfaces have numbers from here on."""


def _pair(plan: Plan, a: Interface, b: Interface) -> str:
    return f"link add {_end(plan, a, 0)} type veth peer {_end(plan, b, 1)}"


def _end(plan: Plan, end: Interface, side: int) -> str:
    member = plan.members[end.node]
    # Where both ends have one number, the kernel may tell of no more than one change of the link a second.
    index = FIRST_INDEX + 2 * end.link + side
    # A router and the tester answer ARP themselves, from above; a bridge has no address to answer for.
    silent = "" if kinds.of(member.kind).speaks else " arp off multicast off"
    place = f"name {end.name} index {index} netns {member.namespace}"
    return f"{place} address {end.mac} mtu {end.interface_mtu}{silent}"
