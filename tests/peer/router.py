"""A naive router that also refuses: admission, priorities, validation, Hello, ICMP.

It stands in the place of a router under test, so that the scenarios can be tried out before they
judge anybody. It owes nothing to that router: it was written from the RFCs like the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import codec as c
from .codec.icmp import TIME_EXCEEDED
from .codec.ip import PROTOCOL_ICMP
from .codec.link import LABEL_MAX
from .lsr import Lsr
from .neighbour import Labelled, Neighbour
from .state import Key, keys_of

# Objects without which a message is none (RFC 2205, 3.1.3 and 3.1.4).
MANDATORY: dict[int, tuple[type[c.Obj], ...]] = {
    c.Type.PATH: (c.Session, c.RsvpHop, c.TimeValues, c.SenderTemplate, c.SenderTspec),
    c.Type.RESV: (c.Session, c.RsvpHop, c.TimeValues, c.Style, c.Flowspec, c.FilterSpec, c.Label),
}
STYLES = (c.Style.FF, c.Style.SE)
# Classes that every router knows, whatever their C-Type (RFC 2205, 3.10: error 14 instead of 13).
CLASSES = {*range(1, 17), 19, 20, 21, 22, 23, 24, 25, 207}
# RFC 3209, 5.3: so many intervals without a HELLO mean that the neighbour is lost.
SILENCE = 3.5


@dataclass
class Router(Lsr):
    """Transit and egress with one bandwidth for every link, in bit/s."""

    reservable: float = 1e9
    hello_interval: float | None = None
    hellos_seen: dict[int, tuple[float, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hello_interval is not None:
            self.timers.at(self.neighbours[0].now + self.hello_interval, self._ask)

    # Checks before anything else.

    def handle(self, neighbour: Neighbour, message: c.Message) -> None:
        """Drop what lacks something, refuse what is unknown, then do as every naive router does."""
        lacking = [kind for kind in MANDATORY.get(message.kind, ()) if message.get(kind) is None]
        if lacking and not message.all(c.Unknown):
            return
        unknown = [i for i in message.all(c.Unknown) if i.class_num < 0x80 or i.class_num in CLASSES]
        if unknown and message.kind in (c.Type.PATH, c.Type.RESV):
            code = 14 if unknown[0].class_num in CLASSES else 13
            self._refuse_any(neighbour, message, code, unknown[0].class_num << 8 | unknown[0].c_type)
            return
        if message.kind == c.Type.RESV and not self._acceptable(neighbour, message):
            return
        if message.kind == c.Type.HELLO:
            self._heard(neighbour)
        super().handle(neighbour, message)

    def _refuse_any(self, neighbour: Neighbour, message: c.Message, code: int, value: int) -> None:
        if message.kind == c.Type.PATH:
            self.refuse(neighbour, message, code, value)
            return
        spec = c.ErrorSpec(neighbour.ends.address, code, value)
        head = [message.need(c.Session), c.RsvpHop(neighbour.ends.address), spec]
        tail = [o for o in message.objects if isinstance(o, c.Style | c.Flowspec | c.FilterSpec)]
        neighbour.send(c.Message(c.Type.RESV_ERR, [*head, *tail]))

    def _acceptable(self, neighbour: Neighbour, message: c.Message) -> bool:
        """Whether a Resv may stand; refuses it if not (RFC 2205, appendix B; RFC 3209, 7.3)."""
        if message.need(c.RsvpHop).address != neighbour.ends.peer:
            return False
        session, vector = message.need(c.Session), message.need(c.Style).vector
        keys = keys_of(message)
        code = value = 0
        if vector not in STYLES:
            code = 6
        elif not any(key[0] == session for key in self.paths):
            code = 3
        elif any(key not in self.paths for key in keys):
            code = 4
        elif any(s.style.vector != vector for k, s in self.resvs.items() if k[0] == session):
            code = 5
        elif any(label.label > LABEL_MAX for label in message.all(c.Label)):
            code, value = 24, 6
        elif not self._admit(neighbour, message):
            code, value = 1, 2
        if code:
            self._refuse_any(neighbour, message, code, value)
        return not code

    # Bandwidth and priorities (RFC 3209, 4.7.3).

    def _holding(self, key: Key) -> int:
        attribute = self.paths[key].message.get(c.SessionAttribute)
        return attribute.holding_priority if attribute else 7

    def _in_use(self, flows: dict[Key, tuple[int, float]]) -> float:
        """SE counts a session's largest flow once, FF adds its flows up (RFC 2205, 1.3)."""
        total, largest = 0.0, dict[c.Session, float]()
        for key, (vector, rate) in flows.items():
            if vector == c.Style.FF:
                total += rate
            else:
                largest[key[0]] = max(rate, largest.get(key[0], 0.0))
        return total + sum(largest.values())

    def _admit(self, neighbour: Neighbour, message: c.Message) -> bool:
        """Whether the Resv fits on its link; the weakest others go if they have to."""
        vector = message.need(c.Style).vector
        wanted: dict[Key, tuple[int, float]] = {}
        for key, flow in zip(keys_of(message), c.flow_descriptors(message), strict=True):
            wanted[key] = (vector, flow.flowspec.traffic.rate * 8 if flow.flowspec else 0.0)
        attribute = self.paths[next(iter(wanted))].message.get(c.SessionAttribute)
        setup = attribute.setup_priority if attribute else 7
        others: dict[Key, tuple[int, float]] = {}
        for key, state in self.resvs.items():
            flowspec = state.descriptor.flowspec
            if state.came_from is neighbour and key not in wanted and flowspec is not None:
                others[key] = (state.style.vector, flowspec.traffic.rate * 8)
        session = message.need(c.Session)
        weaker = [key for key in others if self._holding(key) > setup and key[0] != session]
        weaker.sort(key=self._holding, reverse=True)
        victims: list[Key] = []
        while self._in_use(others | wanted) > self.reservable:
            if not weaker:
                return False
            victims.append(weaker.pop(0))
            del others[victims[-1]]
        for key in victims:
            self._preempt(key)
        return True

    def _preempt(self, key: Key) -> None:
        """Tell both sides, and take the reservation away (RFC 2205, B, error 12)."""
        path = self.paths[key]
        if path.came_from is not None:
            self.refuse(path.came_from, path.message, 2, 5)
        self._remove_resv(key)

    # Hello (RFC 3209, 5.3).

    def _ask(self) -> None:
        interval = self.hello_interval or 1.0
        for neighbour in self.neighbours:
            last = self.hellos_seen.get(id(neighbour))
            if last is not None and neighbour.now - last[0] > SILENCE * interval:
                del self.hellos_seen[id(neighbour)]
                neighbour.peer_instance = 0
                self._lost(neighbour)
            neighbour.send_hello()
        self.timers.at(self.neighbours[0].now + interval, self._ask)

    def _heard(self, neighbour: Neighbour) -> None:
        last = self.hellos_seen.get(id(neighbour))
        self.hellos_seen[id(neighbour)] = (neighbour.now, neighbour.peer_restarts)
        if last is not None and last[1] != neighbour.peer_restarts:
            self._lost(neighbour)

    def _lost(self, neighbour: Neighbour) -> None:
        for key, path in list(self.paths.items()):
            if path.goes_to is neighbour:
                if path.came_from is not None:
                    self.refuse(path.came_from, path.message, 24, 5)
                self._remove_resv(key)

    # Expired packets (RFC 3032, 2.3).

    def switch(self, neighbour: Neighbour, item: Labelled) -> None:
        """Answer a TTL that runs out, along the LSP; switch everything else."""
        top = item.stack[0]
        if top.ttl != 1 or top.label not in self.ilm:
            super().switch(neighbour, item)
            return
        packet = c.Ipv4.decode(item.payload)
        extensions = c.IcmpExtensions.for_stack(item.stack)
        icmp = c.Icmp(TIME_EXCEEDED, 0, packet.encode(), extensions)
        answer = c.Ipv4(neighbour.ends.address, packet.source, PROTOCOL_ICMP, icmp.encode())
        out, label = self.ilm[top.label]
        out.send_labelled([replace(top, label=label, ttl=64)], answer.encode())
