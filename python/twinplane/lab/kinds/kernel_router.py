"""A router made of a kernel that forwards and of daemons: what is the same whosever they are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError, os_reason
from ...model.places import of_node
from .. import daemons, netns
from ..apart import Problem
from .around import Around
from .host import addressed
from .kind import Kind

if TYPE_CHECKING:
    from ..apart import View
    from ..plan import Interface, Member, Plan
    from ..starting import Starting
    from ..state import State

PLATFORM_LABELS = 1_048_575
"""As many labels as there are (RFC 3032, 2.1), for a kernel that knows some."""


class KernelRouter(Kind):
    """The kernel answers ARP and forwards; daemons write its routes."""

    speaks = True
    runs = True
    programs: tuple[str, ...] = ()
    user = ""
    package = ""

    def check(self, plan: Plan, member: Member) -> None:
        """The programs have to be here, and take the configuration."""
        needed = [*self.programs, *self.needed(member)]
        daemons.require(plan, member, needed, self.user, self.package)
        if (wrong := self.wrong(member)) is not None:
            raise plan.lowered.error(of_node(member.name, wrong))

    def needed(self, member: Member) -> list[str]:
        """Programs that this node needs besides."""
        return []

    def made(self, around: Around) -> str:
        """The configuration where none is given."""
        raise NotImplementedError

    def wrong(self, member: Member) -> str | None:
        """What its programs say against the configuration, before anything is made."""
        return None

    def speaks_protocol(self, protocol: str, config: str) -> bool:
        """Is OSPF or LDP spoken with this configuration?"""
        raise NotImplementedError

    def asks_for_explicit_null(self, config: str) -> bool:
        """Does LDP ask for the label explicit null, which the kernel would have to take off?"""
        return False

    def takes_addresses(self, member: Member) -> set[str]:
        """The interfaces that the configuration itself gives addresses."""
        return set()

    def prepare(self, namespace: str) -> None:
        """Forward, whichever way packets come from, and by labels where the kernel can."""
        netns.plain_host(namespace)
        settings = {
            "ipv4/ip_forward": "1",
            "ipv4/conf/all/rp_filter": "0",
            "ipv4/conf/default/rp_filter": "0",
            "ipv6/conf/all/forwarding": "1",
            "mpls/platform_labels": str(PLATFORM_LABELS),
        }
        with netns.inside(namespace):
            for name, value in settings.items():
                with contextlib.suppress(FileNotFoundError):  # a kernel without it
                    Path(f"/proc/sys/net/{name}").write_text(value)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """The addresses that are planned, but where the configuration gives others."""
        own = self.takes_addresses(member)
        lines = [
            line
            for line in addressed(plan, member, ends)
            if not any(line.startswith("addr add") and line.endswith(f" brd + dev {name}") for name in own)
        ]
        if "lo" not in own:
            lines.append(f"addr add {member.loopback}/32 dev lo")
        with netns.inside(str(member.namespace)):
            for end in ends:
                with contextlib.suppress(FileNotFoundError):  # a kernel without labels
                    Path(f"/proc/sys/net/mpls/conf/{end.name}/input").write_text("1")
        return lines

    def start(self, starting: Starting, plan: Plan, member: Member, described: dict[str, Any]) -> None:
        """Keep what a later life begins with, and begin."""
        kept = {"config": member.config, "expected": member.expected}
        daemons.keep(starting.state, member.name, kept)
        self.restart(starting, member.name)

    def restart(self, starting: Starting, name: str, only: str | None = None) -> None:
        """Begin with an empty folder."""
        super().restart(starting, name, only)
        starting.state.node(name).daemons.clear()
        self.begin(starting, name, daemons.kept(starting.state, name)["config"])

    def begin(self, starting: Starting, name: str, config: str) -> None:
        """Start the daemons."""
        raise NotImplementedError

    def look(self, lab: View, name: str, entry: dict[str, Any]) -> list[Problem]:
        """Its daemons, its neighbours, and who should be one and is not."""
        one = lab.state
        node = one.node(name)
        entry["daemons"] = [
            {"daemon": daemon, "pid": process.pid if process.alive() else None}
            for daemon, process in node.daemons.items()
        ]
        dead = [daemon["daemon"] for daemon in entry["daemons"] if daemon["pid"] is None]
        entry["neighbors"] = []
        if entry["state"] not in ("up", "dead") or len(dead) == len(node.daemons):
            return []
        entry["state"] = "up"
        said = [
            Problem(f"{daemon} of {node.kind} {name} is dead", f"`twinplane lab restart {name}`")
            for daemon in dead
        ]
        entry["neighbors"] = found = self.neighbors(one, name)
        expected = daemons.kept(one, name)["expected"]
        return said + apart(node.kind, name, found, expected, lab.owner)

    def neighbors(self, one: State, name: str) -> list[dict[str, Any]]:
        """Neighbours by `protocol`, each with `neighbor`, `interface` or None, `state`, and `adjacent`."""
        raise NotImplementedError

    def environment(self, one: State, name: str) -> dict[str, str]:
        """Its commands come first."""
        return {"PATH": f"{daemons.commands(one, name)}:{os.environ.get('PATH', os.defpath)}"}


def apart(
    kind: str,
    name: str,
    found: list[dict[str, Any]],
    expected: list[Mapping[str, str]],
    owner: Callable[[str], str],
) -> list[Problem]:
    """Neighbours that are not as they should be.

    Expected is somebody by `protocol` at an `interface`, towards `far`; sessions of BGP and BFD are what they
    are. `owner` gives the node that has an address.
    """
    met = {(one["protocol"], one["interface"]) for one in found if one["adjacent"]}
    lost = [one for one in expected if (one["protocol"], one["interface"]) not in met]
    said = [
        Problem(
            f"{kind} {name} is not adjacent by {one['protocol']} on its link to {one['far']}",
            node=name,
            protocol=one["protocol"],
            far=one["far"],
        )
        for one in lost
    ]
    return said + [
        Problem(
            f"{kind} {name} has no session of {one['protocol']} with {one['neighbor']}",
            one["state"],
            node=name,
            protocol=one["protocol"],
            far=owner(one["neighbor"]),
        )
        for one in found
        if one["interface"] is None and not one["adjacent"]
    ]


def read(plan: Plan, member: Member, given: str) -> str:
    """The text of a configuration that a file names, beside it."""
    source = plan.lowered.source
    path = (Path.cwd() if source is None else source.path.resolve().parent) / given
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = os_reason(error) if isinstance(error, OSError) else "it is no text"
        refused: TwinplaneError = of_node(member.name, f"config: {given}: {why}")
        raise plan.lowered.error(refused) from None
