"""What a lab has to know of a kind of nodes; `Kind` itself is one that the measuring process runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from .. import netns

if TYPE_CHECKING:
    from ..apart import Problem, View
    from ..plan import Interface, Member, Plan
    from ..starting import Starting
    from ..state import State


class Kind:
    """Nodes in a namespace whose kernel is silent, with no process that the lab starts."""

    outside = False
    """Is it there without the lab?"""
    speaks = False
    """Does its kernel answer by itself at its interfaces?"""
    runs = False
    """Does the lab start processes for it, which can be killed and started again?"""
    answers = False
    """Has it a process of ours, with a control socket?"""
    segment = False
    """Are all nodes on links to it in one network?"""

    def check(self, plan: Plan, member: Member) -> None:
        """Refuse what would fail halfway, before anything is made."""

    def offload(self, member: Member, links: list[tuple[Interface, Interface]]) -> None:
        """Say which interfaces of its links may leave checksums and segments to be made by others."""

    def prepare(self, namespace: str) -> None:
        """Set its namespace up before a link comes up."""
        netns.silence(namespace)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """The commands of ip, in its namespace, that bring its interfaces up."""
        # The peer's settings of a pair are not all taken when it is made.
        return [f"link set dev {end.name} arp off multicast off up" for end in ends]

    def start(self, starting: Starting, plan: Plan, member: Member, described: dict[str, Any]) -> None:
        """Start its processes; `described` is the network for processes that do not measure."""

    def restart(self, starting: Starting, name: str, only: str | None = None) -> None:
        """Start them again, after they were ended, from what was kept in the lab's folder; or `only` one."""
        if only is not None:
            kind = starting.state.node(name).kind
            raise TwinplaneError(f"'{name}' is of kind {kind}: its '{only}' can't be restarted alone")

    def look(self, lab: View, name: str, entry: dict[str, Any]) -> list[Problem]:
        """Note in `entry` what they say; what is not as it should be."""
        return []

    def environment(self, one: State, name: str) -> dict[str, str]:
        """What commands find in their environment there."""
        return {}
