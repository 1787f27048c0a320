"""Routers that are wrong on purpose, each in another way: `lsp-flap` catches and names each of them."""

from __future__ import annotations

import struct

import pytest
from support import wrong_router
from support.wrong_router import (
    FILTER,
    LABEL,
    PATH,
    PATH_ERR,
    PATH_TEAR,
    RESV,
    RESV_TEAR,
    RRO,
    SESSION,
    Defect,
    Frames,
    Rsvp,
    verdict,
)

LABELS = (14, 18)
"""Where the outermost label is in a frame."""


def label_of(frame: bytes) -> int:
    return int.from_bytes(frame[14:17], "big") >> 4


def labelled_with(frame: bytes, label: int) -> bytes:
    return frame[:14] + ((label << 4) | (frame[16] & 15)).to_bytes(3, "big") + frame[17:]


class Right(Defect):
    pass


class OneLabelForAll(Defect):
    """It gives the label of the first LSP to all."""

    first: int | None = None

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        if way == "back" and message.type == RESV:
            at = message.find(LABEL)
            (label,) = struct.unpack_from(">I", message.frame, at)
            self.first = label if self.first is None else self.first
            struct.pack_into(">I", message.frame, at, self.first)
        return [(now, message.bytes())]


class Labelled(Defect):
    """It knows which labels it has sent with."""

    def __init__(self) -> None:
        self.labels: list[int] = []
        self.count = 0

    def labelled(self, now: float, frame: bytes) -> Frames:
        if label_of(frame) not in self.labels:
            self.labels.append(label_of(frame))
        self.count += 1
        return self.changed(now, frame)

    def changed(self, now: float, frame: bytes) -> Frames:
        raise NotImplementedError


class SwapsLabels(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        place = self.labels.index(label_of(frame))
        other = self.labels[1 - place] if place < 2 <= len(self.labels) else label_of(frame)
        return [(now, labelled_with(frame, other))]


class LabelOfNobody(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, labelled_with(frame, label_of(frame) + 5000))]


class Doubles(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, frame)] * (2 if self.count % 10 == 0 else 1)


class Drops(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [] if self.count % 100 == 0 else [(now, frame)]


class Reorders(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now + (0.05 if self.count % 50 == 0 else 0), frame)]


class Corrupts(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, frame[:300] + bytes([frame[300] ^ 1]) + frame[301:])]


class Truncates(Labelled):
    """It cuts 100 bytes off, and makes lengths and checksum of the IP header fit."""

    def changed(self, now: float, frame: bytes) -> Frames:
        cut = bytearray(frame[:-100])
        (length,) = struct.unpack_from(">H", cut, 20)
        (datagram,) = struct.unpack_from(">H", cut, 42)
        (checksum,) = struct.unpack_from(">H", cut, 28)
        struct.pack_into(">H", cut, 20, length - 100)
        struct.pack_into(">H", cut, 42, datagram - 100)
        total = checksum + 100
        struct.pack_into(">H", cut, 28, (total & 0xFFFF) + (total >> 16))
        return [(now, bytes(cut))]


class Ttl(Labelled):
    by = 0

    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, frame[:17] + bytes([frame[17] + self.by]) + frame[18:])]


class KeepsTtl(Ttl):
    by = 1


class TtlLessByTwoMore(Ttl):
    by = -2


class LosesTc(Labelled):
    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, frame[:16] + bytes([frame[16] & 0xF1]) + frame[17:])]


class ForeignAddress(Labelled):
    """It writes another destination to the packet."""

    def changed(self, now: float, frame: bytes) -> Frames:
        return [(now, frame[:34] + bytes([198, 18, 99, 99]) + frame[38:])]


class Swallows(Defect):
    """It does not pass on messages of some type."""

    type, way, after_s = 0, "on", 0.0

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        gone = (message.type, way) == (self.type, self.way) and now >= self.after_s
        return [] if gone else [(now, bytes(message.frame))]


class KeepsPathTear(Swallows):
    type = PATH_TEAR


class KeepsPathTearOfOne(Swallows):
    """It forgets one LSP in four."""

    type = PATH_TEAR

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        tunnel = int.from_bytes(message.lsp()[6:8], "big")
        return super().rsvp(now, message, way) if tunnel == 2 else [(now, bytes(message.frame))]


class RefreshesWhatIsGone(Defect):
    """It goes on refreshing LSPs that were torn down."""

    def __init__(self) -> None:
        self.seen: dict[bytes, bytes] = {}

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        frame = bytes(message.frame)
        if (message.type, way) == (PATH, "on"):
            self.seen[message.lsp()] = frame
        if (message.type, way) == (PATH_TEAR, "on"):
            return [(now, frame), (now + 0.01, self.seen[message.lsp()])]
        return [(now, frame)]


class DoublesPathTear(Defect):
    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        return [(now, bytes(message.frame))] * (2 if message.type == PATH_TEAR else 1)


class StopsRefreshing(Swallows):
    """It sends a Path once."""

    type, after_s = PATH, 2.9


class LateResv(Defect):
    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        return [(now + (0.6 if message.type == RESV and way == "back" else 0.0), bytes(message.frame))]


class Writes(Defect):
    """It changes a number in an object of the Resv."""

    number, offset = 0, 0

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        if way == "back" and message.type == RESV:
            message.frame[message.find(self.number) + self.offset] ^= 0x40
        return [(now, message.bytes())]


class WrongFilterSpec(Writes):
    number, offset = FILTER, 6


class WrongSession(Writes):
    number, offset = SESSION, 6


class WrongChecksum(Defect):
    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        if way == "back" and message.type == RESV:
            message.frame[message.at + 2] ^= 1
        return [(now, bytes(message.frame))]


class Silent(Defect):
    """It loses an LSP and tells nobody upstream: neither PathErr nor ResvTear."""

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        quiet = way == "back" and message.type in (PATH_ERR, RESV_TEAR)
        return [] if quiet else [(now, bytes(message.frame))]

    def labelled(self, now: float, frame: bytes) -> Frames:
        return [] if now > 2.0 else [(now, frame)]


class RemembersEarlierRun(Defect):
    """It goes on refreshing an LSP of a run before this one, which used other tunnel ids."""

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        frames = [(now, bytes(message.frame))]
        if way == "on" and message.type == PATH:
            at = message.find(SESSION)
            struct.pack_into(">H", message.frame, at + 6, 900)
            frames.append((now, message.bytes()))
        return frames


class Records(Defect):
    """It treats the recorded route of a Path or a Resv in a wrong way."""

    type, way = RESV, "back"

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        if (message.type, way) == (self.type, self.way):
            at = message.find(RRO)
            length = next(length for number, _, length in message.objects() if number == RRO)
            self.change(message.frame, at, length)
        return [(now, message.bytes())]

    def change(self, frame: bytearray, at: int, length: int) -> None:
        """The last address is what the edge wrote."""
        frame[at + length - 6 : at + length - 2] = bytes((192, 0, 2, 66))


class WrongRecordInResv(Records):
    pass


class WrongRecordInPath(Records):
    type, way = PATH, "on"


class RecordsTwice(Records):
    """It writes its own address over that of the hop before, too."""

    def change(self, frame: bytearray, at: int, length: int) -> None:
        frame[at + 8 : at + length] = frame[at : at + length - 8]


class TellsNobody(Defect):
    """It has no room for one LSP in three, and says so to nobody: neither ResvErr nor PathErr."""

    def rsvp(self, now: float, message: Rsvp, way: str) -> Frames:
        tunnel = int.from_bytes(message.lsp()[6:8], "big")
        refused = message.type in (RESV, PATH_ERR) and way == "back" and tunnel == 2
        return [] if refused else [(now, bytes(message.frame))]


WRONG = {
    OneLabelForAll: "came with the label of another LSP",
    SwapsLabels: "came with the label of another LSP",
    LabelOfNobody: "packets over LSPs that did not flap were lost",
    Doubles: "came more than once",
    Drops: "packets over LSPs that did not flap were lost",
    Reorders: "came after later ones",
    Corrupts: "were changed on the way",
    Truncates: "were changed on the way",
    ForeignAddress: "were changed on the way",
    KeepsTtl: "had another TTL than",
    TtlLessByTwoMore: "had another TTL than",
    LosesTc: "had another TC (EXP)",
    KeepsPathTear: "PathTear was not passed on",
    KeepsPathTearOfOne: "1 LSPs were still at the egress",
    RefreshesWhatIsGone: "PathTear was not passed on",
    DoublesPathTear: "more PathTear came to the egress than LSPs were torn down",
    LateResv: "s after its Path: the ingress waits 0.3 s",
    WrongFilterSpec: "no sender information for this Resv",
    WrongSession: "no path information for this Resv",
    WrongChecksum: "could not be read",
    RemembersEarlierRun: "1 LSPs at the egress are of an earlier run",
    WrongRecordInResv: "RECORD_ROUTE was changed on the way",
    WrongRecordInPath: "RECORD_ROUTE was changed on the way",
    RecordsTwice: "RECORD_ROUTE was changed on the way",
    TellsNobody: "neither PathErr nor ResvErr said why",
    Silent: "packets over LSPs that did not flap were lost",
}
"""What is said of each."""


def test_a_right_router_is_not_blamed() -> None:
    point, said = verdict(Right())
    assert said == []
    m = point.metrics
    assert (m["k"], m["k_up"], m["failed"], m["standing"], m["leftovers"]) == (2, 2, 0, 0, 0)
    assert m["wrong_routes"] == 0
    assert m["received"] == m["sent"] > 500


@pytest.mark.parametrize("defect", WRONG, ids=lambda defect: defect.__name__)
def test_a_wrong_router_is_caught_and_named(defect: type[Defect]) -> None:
    point, said = verdict(defect())
    assert any(WRONG[defect] in text for text in said), said
    assert defect is TellsNobody or not any(WRONG[TellsNobody] in text for text in said), said
    assert point.metrics["k"] <= point.parameters["n"]


def test_a_router_that_stops_refreshing_is_caught_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_router, "STEP_S", 0.01)
    _, said = verdict(StopsRefreshing(), grace_s=200, rate_mbps=0.1)
    assert any("timed out at the egress" in text for text in said), said
