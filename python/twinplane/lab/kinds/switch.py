"""An OpenFlow switch: a process with a control socket, and the kernel's TCP for its controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ..apart import Problem
from ..asking import ask
from ..openvswitch import finished
from .router import Router

if TYPE_CHECKING:
    from ..apart import View
    from ..plan import Interface, Member, Plan


class Switch(Router):
    """Its process opens the interfaces; controllers reach it by the loopback of its namespace."""

    segment = True

    def offload(self, member: Member, links: list[tuple[Interface, Interface]]) -> None:
        """None of them: actions change what frames hold, so that kernels have to finish them."""
        finished(member, links)

    def lines(self, plan: Plan, member: Member, ends: list[Interface]) -> list[str]:
        """The loopback is up, too."""
        return ["link set dev lo up", *super().lines(plan, member, ends)]

    def look(self, lab: View, name: str, entry: dict[str, Any]) -> list[Problem]:
        """Whether it answers, and which of its controllers do not."""
        if entry["state"] != "up":
            return []
        try:
            entry["status"] = ask(lab.state, name, "status")
            found = ask(lab.state, name, "table", "controllers")
        except TwinplaneError as error:
            entry["state"], entry["why"] = "silent", str(error)
            return []
        columns = [found[key] for key in ("controller", "state", "attempts", "why")]
        return [
            Problem(
                f"switch {name} has no controller at {controller}",
                "it does not say its version"
                if state == "greeting"
                else f"{attempts} attempts in a row failed" + ("" if why is None else f": {why}"),
            )
            for controller, state, attempts, why in zip(*columns, strict=True)
            if state not in ("up", "probing", "listening") and attempts > 1
        ]
