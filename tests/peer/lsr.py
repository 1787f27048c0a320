"""The simplest label-switching router that one can write from RFC 2205 and RFC 3209.

It is ingress for the Paths that it is told to signal, egress for the Paths that end at one of its
addresses, and transit for the others. It has no bandwidth, no priorities and no policy: what a
scenario wants to break, the scenario sends by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from . import codec as c
from .codec.link import LABEL_FIRST_UNRESERVED, LABEL_IMPLICIT_NULL
from .identifiers import Age, Books
from .neighbour import Labelled, Neighbour
from .onward import next_hop
from .port import Timers
from .reserving import egress_flows, pass_up
from .state import Key, PathState, ResvState, key_of, keys_of, lifetime


@dataclass
class Lsr:
    """A router with a few adjacencies; `routes` says which one leads to which address."""

    router_id: str
    neighbours: list[Neighbour]
    routes: dict[str, Neighbour] = field(default_factory=dict)
    # Egress: the label to hand out; `None` counts upwards from 1000.
    egress_label: int | None = None
    egress_style: int = c.Style.SE
    answers: bool = True
    refreshes: bool = True
    reliable: bool = False
    refresh_ms: int = 30_000
    next_label: int = 1000
    # What is recorded of a label: one table serves all interfaces here (RFC 3209, 4.4.1.3).
    label_flags: int = c.Recorded.GLOBAL_LABEL
    paths: dict[Key, PathState] = field(default_factory=dict)
    resvs: dict[Key, ResvState] = field(default_factory=dict)
    egress_labels: dict[Key, int] = field(default_factory=dict)
    ilm: dict[int, tuple[Neighbour, int]] = field(default_factory=dict)
    errors: list[c.Message] = field(default_factory=list)
    timers: Timers = field(default_factory=Timers)
    books: Books = field(default_factory=Books)

    def __post_init__(self) -> None:
        for neighbour in self.neighbours:
            neighbour.handlers.append(self.handle)
            neighbour.label_handlers.append(self.switch)

    def pump(self) -> None:
        """Read every port, refresh and expire what is due."""
        for neighbour in self.neighbours:
            neighbour.pump()
        now = self.neighbours[0].now
        self.timers.fire(now)
        for key in [key for key, state in self.paths.items() if state.expires <= now]:
            self._remove_path(key)
        for key in [key for key, state in self.resvs.items() if state.expires <= now]:
            self._remove_resv(key)

    def owns(self, address: str) -> bool:
        """Whether an address is one of this router's."""
        return address == self.router_id or any(n.ends.address == address for n in self.neighbours)

    def dispatch(self, neighbour: Neighbour, message: c.Message) -> int | None:
        if self.reliable:
            return neighbour.send_reliably(message)
        neighbour.send(message)
        return None

    # Ingress.

    def signal(self, neighbour: Neighbour, path: c.Message) -> Key:
        """Originate a Path and refresh it until it is torn down."""
        key = key_of(path)
        new = key not in self.paths
        self.paths[key] = PathState(path, None, neighbour, sent=path)
        self.paths[key].sent_id = self.dispatch(neighbour, path)
        if new:
            self._refresh_path_later(key)
        return key

    def tear(self, key: Key) -> None:
        """Send PathTear for a Path that this router originated (RFC 2205, 3.1.5)."""
        self._remove_path(key)

    def label(self, key: Key) -> int | None:
        """The label that the next router gave for this LSP, once it is up."""
        state = self.resvs.get(key)
        if state is None or state.descriptor.label is None:
            return None
        return state.descriptor.label.label

    def _refresh_path_later(self, key: Key) -> None:
        state = self.paths.get(key)
        neighbour = state.goes_to if state else None
        if neighbour is None:
            return

        def refresh() -> None:
            state = self.paths.get(key)
            if state is not None and state.sent is not None:
                if self.refreshes and state.sent_id is not None and neighbour.peer_is_capable:
                    neighbour.send_srefresh(state.sent_id)
                elif self.refreshes:
                    neighbour.send(state.sent)
                self._refresh_path_later(key)

        period = self.paths[key].message.need(c.TimeValues).refresh_ms / 1000
        self.timers.at(neighbour.now + period, refresh)

    # Everybody.

    def handle(self, neighbour: Neighbour, message: c.Message) -> None:
        """React to one message."""
        kind = message.kind
        if kind == c.Type.SREFRESH:
            self._summary(neighbour, message)
            return
        age = self.books.of(neighbour).learn(message)
        if age is Age.OLD or (age is Age.SAME and self._touch(kind, keys_of(message), neighbour.now)):
            return
        if kind == c.Type.PATH:
            self._path(neighbour, message)
        elif kind == c.Type.RESV:
            self._resv(neighbour, message)
        elif kind == c.Type.PATH_TEAR:
            self._remove_path(key_of(message))
        elif kind == c.Type.RESV_TEAR:
            for key in keys_of(message):
                self._remove_resv(key)
        elif kind == c.Type.PATH_ERR:
            self.errors.append(message)
            state = self.paths.get(key_of(message))
            if state is not None and state.came_from is not None:
                state.came_from.send(replace(message, objects=list(message.objects)))
        elif kind == c.Type.RESV_ERR:
            self.errors.append(message)
            for resv in (self.resvs.get(key) for key in keys_of(message)):
                if resv is not None:
                    hop = c.RsvpHop(resv.came_from.ends.address)
                    resv.came_from.send(message.swapped(hop))
        elif kind == c.Type.RESV_CONF:
            receiver = message.need(c.ResvConfirm).receiver
            if not self.owns(receiver) and receiver in self.routes:
                self.routes[receiver].send(message)

    def _touch(self, kind: int, keys: list[Key], now: float) -> bool:
        """Refresh states by their identifier; False unless all of them are there."""
        states = self.paths if kind == c.Type.PATH else self.resvs
        found = [states.get(key) for key in keys]
        for key, state in zip(keys, found, strict=True):
            if state is not None:
                state.touch(now)
            if kind == c.Type.RESV and key in self.resvs and key in self.paths:
                pass_up(self, key)
        return all(state is not None for state in found)

    def _summary(self, neighbour: Neighbour, message: c.Message) -> None:
        """Srefresh: refresh what is known, refuse the rest (RFC 2961, 5.3 and 5.4)."""
        book = self.books.of(neighbour)
        unknown: list[c.Obj] = []
        for listed in message.all(c.MessageIdList):
            for identifier in listed.identifiers:
                kind, keys = book.known.get(identifier, (0, []))
                stands = listed.epoch == book.epoch and keys
                if not stands or not self._touch(kind, keys, neighbour.now):
                    unknown.append(c.MessageIdNack(listed.epoch, identifier))
        if unknown:
            neighbour.send(c.Message(c.Type.ACK, unknown))

    def refuse(
        self, neighbour: Neighbour, path: c.Message, code: int, value: int, *more: c.ExplicitRoute
    ) -> None:
        """Answer a Path with PathErr (RFC 2205, 3.1.7), and with the route if that is what was wrong."""
        session, template = key_of(path)
        spec = c.ErrorSpec(neighbour.ends.address, code, value)
        described = [template, *path.all(c.SenderTspec), *path.all(c.Adspec)]
        neighbour.send(c.Message(c.Type.PATH_ERR, [session, spec, *described, *more]))

    # Path.

    def _path(self, neighbour: Neighbour, message: c.Message) -> None:
        key = key_of(message)
        for item in message.all(c.Unknown):
            # RFC 2205, 3.10: the two high bits of an unknown class.
            if item.class_num < 0x80:
                self.refuse(neighbour, message, 13, item.class_num << 8 | item.c_type)
                return
        record = message.get(c.RecordRoute)
        if record and any(self.owns(h.address) for h in record.hops if isinstance(h, c.Ipv4Hop)):
            # RFC 3209, 4.4.4: the route comes back to where it was.
            self.refuse(neighbour, message, 24, 7)
            return
        if message.need(c.LabelRequest).l3pid != 0x0800:
            self.refuse(neighbour, message, 24, 10)
            return
        new = key not in self.paths
        expires = neighbour.now + lifetime(message.need(c.TimeValues).refresh_ms)
        if self.owns(key[0].destination):
            self.paths[key] = PathState(message, neighbour, None, expires)
            if self.answers:
                self.reserve(key[0], neighbour)
                if new:
                    self._refresh_resv_later(key[0], neighbour)
            return
        onward = next_hop(self, neighbour, message)
        if onward is not None:
            out, copy = onward
            self.paths[key] = PathState(message, neighbour, out, expires, copy)
            self.paths[key].sent_id = self.dispatch(out, copy)
            if new:
                self._refresh_path_later(key)

    def _remove_path(self, key: Key) -> None:
        state = self.paths.pop(key, None)
        if state is None:
            return
        if state.goes_to is not None:
            hop = c.RsvpHop(state.goes_to.ends.address)
            described = [o for o in (state.message.get(c.SenderTspec),) if o is not None]
            state.goes_to.send(c.Message(c.Type.PATH_TEAR, [key[0], hop, key[1], *described]))
        self.books.forget(key)
        self.egress_labels.pop(key, None)
        resv = self.resvs.pop(key, None)
        if resv is not None:
            self.ilm.pop(resv.local_label, None)

    # Resv.

    def senders(self, session: c.Session, neighbour: Neighbour) -> list[Key]:
        """Every path of a session that came over one adjacency, in order of arrival."""
        return [
            key for key, state in self.paths.items() if key[0] == session and state.came_from is neighbour
        ]

    def reserve(self, session: c.Session, neighbour: Neighbour) -> None:
        """Egress: send one Resv for every sender of a session (RFC 2205, 3.1.4)."""
        keys = self.senders(session, neighbour)
        if not keys:
            return
        head = self.resv_head(session, neighbour, (), self.egress_style)
        self.dispatch(neighbour, c.Message(c.Type.RESV, [*head, *egress_flows(self, keys)]))

    def resv_head(
        self, session: c.Session, neighbour: Neighbour, extra: Iterable[c.Obj], style: int
    ) -> list[c.Obj]:
        hop = self.hop_for(session, neighbour)
        return [session, hop, c.TimeValues(self.refresh_ms), *extra, c.Style(style)]

    def hop_for(self, session: c.Session, neighbour: Neighbour) -> c.RsvpHop:
        """RFC 2205, 3.1.4: our address, and the handle that the Path's hop had."""
        keys = self.senders(session, neighbour)
        handle = self.paths[keys[0]].message.need(c.RsvpHop).handle if keys else 0
        return c.RsvpHop(neighbour.ends.address, handle)

    def egress_label_for(self, key: Key) -> int:
        """The label that this egress hands out for an LSP, always the same."""
        if key not in self.egress_labels:
            if self.egress_label is not None:
                self.egress_labels[key] = self.egress_label
            else:
                self.egress_labels[key] = self.allocate()
        return self.egress_labels[key]

    def allocate(self) -> int:
        """A label that nobody had before."""
        self.next_label += 1
        return max(self.next_label, LABEL_FIRST_UNRESERVED)

    def _refresh_resv_later(self, session: c.Session, neighbour: Neighbour) -> None:
        def refresh() -> None:
            if self.senders(session, neighbour):
                if self.refreshes and self.answers:
                    self.reserve(session, neighbour)
                self._refresh_resv_later(session, neighbour)

        self.timers.at(neighbour.now + self.refresh_ms / 1000, refresh)

    def _resv(self, neighbour: Neighbour, message: c.Message) -> None:
        expires = neighbour.now + lifetime(message.need(c.TimeValues).refresh_ms)
        style, confirm = message.need(c.Style), message.get(c.ResvConfirm)
        for descriptor in c.flow_descriptors(message):
            sender = c.SenderTemplate(descriptor.filter.address, descriptor.filter.lsp_id)
            key = (message.need(c.Session), sender)
            path = self.paths.get(key)
            if path is None:
                # RFC 2205, appendix B, error 3: no path information for this Resv.
                spec = c.ErrorSpec(neighbour.ends.address, 3)
                hop = c.RsvpHop(neighbour.ends.address)
                flow = [o for o in (descriptor.flowspec,) if o is not None]
                objects = [key[0], hop, spec, style, *flow, descriptor.filter]
                neighbour.send(c.Message(c.Type.RESV_ERR, objects))
                continue
            old = self.resvs.get(key)
            local = old.local_label if old else 0
            if path.came_from is not None and not local:
                local = self.allocate()
            self.resvs[key] = ResvState(message, descriptor, neighbour, expires, local)
            if descriptor.label is not None and local:
                self.ilm[local] = (neighbour, descriptor.label.label)
            if path.came_from is not None:
                pass_up(self, key)
            elif confirm is not None:
                spec = c.ErrorSpec(self.router_id, 0)
                # RFC 2205, 3.1.9: flow descriptors as in a Resv; that of SE begins with its FLOWSPEC.
                flow = [o for o in (descriptor.flowspec,) if o is not None]
                objects = [key[0], spec, confirm, style, *flow, descriptor.filter]
                neighbour.send(c.Message(c.Type.RESV_CONF, objects))

    def _remove_resv(self, key: Key) -> None:
        state = self.resvs.pop(key, None)
        if state is None:
            return
        self.ilm.pop(state.local_label, None)
        path = self.paths.get(key)
        if path is not None and path.came_from is not None:
            self.resv_tear(key, path.came_from, state.style)

    def resv_tear(self, key: Key, neighbour: Neighbour, style: c.Style) -> None:
        """Send ResvTear for one sender (RFC 2205, 3.1.6)."""
        filter_spec = c.FilterSpec(key[1].address, key[1].lsp_id)
        hop = self.hop_for(key[0], neighbour)
        neighbour.send(c.Message(c.Type.RESV_TEAR, [key[0], hop, style, filter_spec]))

    # Labelled packets.

    def switch(self, neighbour: Neighbour, item: Labelled) -> None:
        """Transit: swap or pop the top label (RFC 3031, 3.10; RFC 3443)."""
        top, *below = item.stack
        if top.label not in self.ilm or top.ttl <= 1:
            return
        out, label = self.ilm[top.label]
        if label != LABEL_IMPLICIT_NULL:
            swapped = c.LabelEntry(label, top.ttl - 1, top.traffic_class, top.bottom)
            out.send_labelled([swapped, *below], item.payload)
        elif below:
            below[0] = replace(below[0], ttl=top.ttl - 1)
            out.send_labelled(below, item.payload)
        else:
            out.send_ip(replace(c.Ipv4.decode(item.payload), ttl=top.ttl - 1))
