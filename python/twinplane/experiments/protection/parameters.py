"""Parameters of `protection`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from ..parameters import Parameters

CYCLE_S = 10.0
"""From one failure to the next, at most a second more or less: down for two seconds, then time to go back."""

DOWN_S = 2.0

AWAY_S = 1.0
"""From end to end: traffic is back on the first LSP no sooner than so long after a failure."""

SETTLED_S = 25.0
"""Routers know of all links by then."""

BATCH = 2000
"""LSPs, or leaves of trees, that are signalled at once, and the time that they get."""

BATCH_S = 2.0

REVERT_AFTER = f"{AWAY_S} s"
"""From end to end: the path has to be whole for so long until traffic goes back (wait to restore)."""


class ProtectionParameters(Parameters):
    """A link, or the router behind it, fails again and again, while packets go over protected LSPs.

    With a topology of its own each link and each router fails once.
    """

    topology: str = Field(
        "ladder",
        description="'ladder': one link, or the router behind it, fails; or a GraphML file: all fail in turn",
    )
    component: str = Field(
        "", description="part of a file that is not connected: 'largest', or a node of it; empty: all"
    )
    pairs: int = Field(20, ge=1, le=100_000, description="of a file: pairs of routers, drawn with the seed")
    only: Literal["links", "nodes", "all"] = Field("all", description="of a file: what fails")
    cases: int = Field(
        0, ge=0, le=100_000, description="of a file: so many failures, drawn with the seed; 0: all"
    )
    watch_s: float = Field(3.0, ge=0.1, le=600, description="of a file: so long each failure is watched")
    sending: int = Field(
        0,
        ge=0,
        le=100_000,
        description="of a file: so many of the pairs have packets, the others LSPs; 0: all",
    )
    lsps: int = Field(10, ge=1, le=100_000, description="LSPs that leave by the link")
    trees: int = Field(
        0,
        ge=0,
        le=50_000,
        description="point-to-multipoint LSPs that leave by the link, too; each has a leaf before it",
    )
    leaves: int = Field(2, ge=1, le=50, description="of each tree, beyond the link")
    fails: Literal["link", "node"] = Field(
        "link", description="what fails: the link, or the router behind it"
    )
    protected: bool = Field(True, description="LSPs ask for protection, and routers make bypass tunnels")
    method: Literal["facility", "one-to-one", "1:1", "1+1"] = Field(
        "facility",
        description="of protection: bypass tunnels for all LSPs, detours of each, or a second LSP end to end"
        " that stands by (1:1) or gets each packet, too (1+1)",
    )
    detection: Literal["link-down", "bfd", "probing"] = Field(
        "link-down",
        description="a router sees that its port is down, or only that nobody answers BFD or link probing",
    )
    detection_ms: float = Field(
        10.0, ge=0, le=1000, description="of link-down: until a router notices that a port is down"
    )
    bfd_interval_ms: float = Field(10.0, ge=1, le=1000, description="of BFD: from a packet to the next")
    bfd_multiplier: int = Field(3, ge=1, le=255, description="of BFD: so many packets may be missing")
    probe_period_ms: float = Field(
        10.0, ge=0.01, le=1000, description="of link probing: from a probe to the next"
    )
    probe_misses: int = Field(3, ge=1, le=100, description="of link probing: so many may be missing")
    delay_us: float = Field(50.0, ge=0, le=50_000, description="of each link")
    failures: int = Field(20, ge=1, le=10_000, description="so many failures, each at a time of its own")
    packets_per_s: int = Field(10_000, ge=100, le=1_000_000, description="of each of the two flows")

    @model_validator(mode="after")
    def _goes_together(self) -> ProtectionParameters:
        if self.trees and self.everywhere:
            raise ValueError(
                f"trees={self.trees}: they are of topology=ladder; on a file there are LSPs only"
            )
        if self.trees and self.protected and self.method != "facility":
            raise ValueError(
                f"trees={self.trees}: they are protected by bypass tunnels only (method=facility),"
                f" and not by method={self.method}"
            )
        if self.doubled and self.everywhere:
            raise ValueError(
                "method=1+1 is of topology=ladder: on a file packets are counted where they are lost, and one"
                " of two copies is not missing"
            )
        longest_s = AWAY_S if self.end_to_end else DOWN_S
        if self.protected and not self.everywhere and self.seen_s >= longest_s:
            raise ValueError(
                f"a failure is seen after {self.seen_s:g} s ({self.seen_by}), and has to be before"
                f" {longest_s:g} s, when something else happens"
            )
        if self.doubled and self.seen_s == 0:
            raise ValueError("method=1+1 with detection_ms=0 loses nothing that could be measured")
        if self.sending > self.pairs:
            raise ValueError(f"sending={self.sending}: there are {self.pairs} pairs (pairs)")
        return self

    @property
    def end_to_end(self) -> bool:
        """Does the head end or the tail end act, and not the router before the failure?"""
        return self.protected and self.method in ("1:1", "1+1")

    @property
    def doubled(self) -> bool:
        """Does each packet go over two LSPs (1+1)?"""
        return self.protected and self.method == "1+1"

    @property
    def silent(self) -> bool:
        """Does no port show a failure, so that only who is not heard any more tells it?"""
        return self.detection != "link-down"

    def asked(self, node: bool) -> dict[str, Any] | None:
        """What LSPs ask for that are protected: around routers, too, or around links only."""
        if not self.protected:
            return None
        if self.end_to_end:
            disjoint = "node" if node else "link"
            return {"method": self.method, "disjoint": disjoint, "revert_after": REVERT_AFTER}
        return {"node": node} if self.method == "facility" else {"node": node, "method": self.method}

    @property
    def seen_s(self) -> float:
        """Until a failure is seen: exactly of link-down, at most of BFD and of link probing.

        Packets of BFD come up to a quarter earlier than agreed (RFC 5880, 6.8.7), never later. Link probing
        waits for half a period more than for what may be missing (docs/models/multicast.md).
        """
        ms = {
            "link-down": self.detection_ms,
            "bfd": self.bfd_interval_ms * self.bfd_multiplier,
            "probing": self.probe_period_ms * (self.probe_misses + 0.5),
        }
        return ms[self.detection] / 1e3

    @property
    def seen_by(self) -> str:
        """How a failure is seen, in words."""
        return {
            "link-down": f"link down after {self.detection_ms:g} ms",
            "bfd": f"BFD {self.bfd_interval_ms:g} ms x {self.bfd_multiplier}",
            "probing": f"link probing {self.probe_period_ms:g} ms x {self.probe_misses}",
        }[self.detection]

    @property
    def watches(self) -> dict[str, Any]:
        """What routers have beyond RSVP-TE to see failures."""
        if self.detection != "probing":
            return {}
        return {"probing": {"period": f"{self.probe_period_ms} ms", "misses": self.probe_misses}}

    @property
    def bfd(self) -> dict[str, Any] | bool:
        """The pace of BFD, or that there is none."""
        if self.detection != "bfd":
            return False
        return {"interval": f"{self.bfd_interval_ms} ms", "multiplier": self.bfd_multiplier}

    @property
    def predicted_s(self) -> float | None:
        """How long LSPs are interrupted, at most; absent of those without protection.

        Lost is what comes until the failure is seen, and what is on the link; if the router behind it fails,
        what is on the link behind that, too. With 1:1 it is also what is on the way from the head end, a link
        away, and what that sends until the news has come. With 1+1 it is only what is sent until the failure
        is seen: the news comes to the tail end as late as packets, and both ways take equally long
        (docs/models/protection.md).
        """
        if not self.protected:
            return None
        if self.doubled:
            return self.seen_s
        links = (2 if self.fails == "node" else 1) + (2 if self.end_to_end else 0)
        return self.seen_s + links * self.delay_us / 1e6

    @property
    def everywhere(self) -> bool:
        """Is it about each link and each router of a file?"""
        return self.topology != "ladder"

    @property
    def batches(self) -> int:
        """How often LSPs and trees are added while the network runs."""
        return self.lsps // BATCH + 1 + -(-self.trees // self.trees_at_once)

    @property
    def trees_at_once(self) -> int:
        """Trees that are signalled at once."""
        return max(1, BATCH // (self.leaves + 1))

    @property
    def begin_s(self) -> float:
        """When all LSPs are up, with room to spare."""
        return SETTLED_S + 5.0 + BATCH_S * self.batches

    @property
    def end_s(self) -> float:
        """When traffic has stopped and arrived."""
        return self.begin_s + 1 + CYCLE_S * self.failures + 0.5
