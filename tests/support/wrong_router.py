"""A router that is wrong on purpose: a right one in a network of its own, whose frames are tampered with.

Tester and router are two networks in virtual time. Every millisecond the frames that leave one are put into
the other, and a defect may change, drop, delay, repeat or add frames on the way, as such a router would.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from twinplane import Network
from twinplane.experiments.labs.ending import ended
from twinplane.experiments.lsp_flap import EXPERIMENT
from twinplane.experiments.lsp_flap.build import Way, edges_of, empty, programme
from twinplane.experiments.lsp_flap.parameters import FlapParameters
from twinplane.results.points import Point
from twinplane.results.real import Real

STEP_S = 0.001
ADDRESSES = ("10.254.{}.1/30", "10.254.{}.2/30")
PATH, RESV, PATH_ERR, PATH_TEAR, RESV_TEAR = 1, 2, 3, 5, 6
SESSION, HOP, FILTER, LABEL, RRO = 1, 3, 10, 16, 21

BRIEF = {
    "setup_rate": 500,
    "settle_s": 0.5,
    "signalling_rate": 500,
    "first_event_s": 0.6,
    "first_period_s": 0.8,
    "second_period_s": 0.6,
    "grace_s": 0.3,
    "profile": "ideal",
    "scenario": "single",
    "m": 3,
    "n": 2,
    "rate_mbps": 2,
    "setup_timeout_s": 0.3,
    "dscp": 46,
}
"""A few seconds; the traffic has TC 5."""


class Rsvp:
    """An RSVP message in an Ethernet frame, whose objects can be changed."""

    def __init__(self, frame: bytes) -> None:
        self.frame = bytearray(frame)
        self.at = 14 + 4 * (frame[14] & 15)

    @staticmethod
    def is_in(frame: bytes) -> bool:
        """Is it IPv4 with protocol 46?"""
        return frame[12:14] == b"\x08\x00" and frame[23] == 46

    @property
    def type(self) -> int:
        """Message type (RFC 2205, 3.1.1)."""
        return self.frame[self.at + 1]

    def objects(self) -> Iterator[tuple[int, int, int]]:
        """Class, first byte of the content and length of the content of each object."""
        at, end = self.at + 8, self.at + struct.unpack_from(">H", self.frame, self.at + 6)[0]
        while at < end:
            length, number = struct.unpack_from(">HB", self.frame, at)
            yield number, at + 4, length - 4
            at += length

    def find(self, number: int) -> int:
        """Where the content of the first object of a class begins."""
        return next(at for found, at, _ in self.objects() if found == number)

    def lsp(self) -> bytes:
        """The session."""
        at = self.find(SESSION)
        return bytes(self.frame[at : at + 12])

    def bytes(self) -> bytes:
        """The frame, with the checksum that it should have (RFC 2205, 3.1.1)."""
        length = struct.unpack_from(">H", self.frame, self.at + 6)[0]
        struct.pack_into(">H", self.frame, self.at + 2, 0)
        body = bytes(self.frame[self.at : self.at + length])
        total = sum(struct.unpack(f">{len(body) // 2}H", body))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into(">H", self.frame, self.at + 2, ~total & 0xFFFF or 0xFFFF)
        return bytes(self.frame)


Frames = list[tuple[float, bytes]]
"""When each is put into the other network, at the earliest, and its bytes."""


class Defect:
    """What a wrong router does: a right one does nothing of that."""

    def forward(self, now: float, frame: bytes) -> Frames:
        """A labelled packet or a message that the router sends to the egress."""
        return self.labelled(now, frame) if frame[12:14] == b"\x88\x47" else self.message(now, frame, "on")

    def back(self, now: float, frame: bytes) -> Frames:
        """A message that it sends to the ingress."""
        return self.message(now, frame, "back")

    def message(self, now: float, frame: bytes, way: str) -> Frames:
        """An RSVP message, or anything else that is no labelled packet."""
        if not Rsvp.is_in(frame):
            return [(now, frame)]
        return self.rsvp(now, Rsvp(frame), way)

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        """An RSVP message on its way ``on`` or ``back``."""
        return [(now, bytes(message.frame))]

    def labelled(self, now: float, frame: bytes) -> Frames:
        """A packet of the traffic."""
        return [(now, frame)]


class Bridge:
    """Both networks, run in step."""

    def __init__(self, parameters: FlapParameters, defect: Defect) -> None:
        self.defect = defect
        self.tester = empty(parameters, 1)
        ingress = self.tester.edge(
            "ingress", router_id="10.254.1.1", setup_timeout=parameters.setup_timeout_s
        )
        egress = self.tester.edge("egress", router_id="10.254.2.1")
        self.outer = [self.tester.peer("towards-ingress"), self.tester.peer("towards-egress")]
        self.system = Network(2)
        router = self.system.router("r")
        self.inner = [self.system.peer("left"), self.system.peer("right")]
        for number, edge, outer, inner in zip((1, 2), (ingress, egress), self.outer, self.inner, strict=True):
            own, other = (text.format(number) for text in ADDRESSES)
            self.tester.link(edge, outer, delay=0, addresses=(own, other))
            self.system.link(inner, router, delay=0, addresses=(own, other))
        way = Way([self.tester.links[0], egress], loose=True, routers=1)
        programme(self.tester, parameters, 1, way)
        self.waiting: list[tuple[float, int, Any, bytes]] = []
        self.inner_run, self.run_tester = self.system.run, self.tester.run
        self.tester.run = self.run  # type: ignore[method-assign]

    def run(
        self,
        until: Any = None,
        for_: Any = None,
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """The tester's network runs, and the system beside it."""
        until = self.tester.now + for_ if until is None else until
        while until - self.tester.now > 1e-9:
            now = min(until, self.tester.now + STEP_S)
            self.run_tester(until=now)
            self.inner_run(until=now)
            for outer, inner in zip(self.outer, self.inner, strict=True):
                self.put(now, [(now, frame) for _, frame in outer.receive()], inner)
            for inner, outer, pass_on in zip(
                self.inner, self.outer, (self.defect.back, self.defect.forward), strict=True
            ):
                for _, frame in inner.receive():
                    self.put(now, pass_on(now, frame), outer)
            self.waiting.sort(key=lambda one: one[:2])
            while self.waiting and self.waiting[0][0] <= now:
                _, _, peer, frame = self.waiting.pop(0)
                peer.send(frame)

    def put(self, now: float, frames: Frames, peer: Any) -> None:
        """Frames for a peer, each when it is time."""
        for at, frame in frames:
            self.waiting.append((at, len(self.waiting), peer, frame))


def verdict(defect: Defect, **settings: Any) -> tuple[Point, list[str]]:
    """What `lsp-flap` says of a router with a defect: its point, and the sentences of a bad verdict."""
    parameters = FlapParameters.model_validate({**BRIEF, **settings})
    both = Bridge(parameters, defect)
    network = both.tester
    network.log_signals()
    EXPERIMENT.run(network, parameters)
    outcome = EXPERIMENT.summarise(network, parameters)
    outcome.metrics |= ended(network, *edges_of(network), parameters.signalling_rate, hops=1)
    point = Point(parameters.model_dump(), outcome.metrics)
    return point, EXPERIMENT.faults(point, Real("external"))
