"""One adjacency: ARP, IP, and the parts of RSVP that run hop by hop.

Those are authentication (RFC 2747), message identifiers with acknowledgements (RFC 2961) and
Hello (RFC 3209, 5). States of LSPs are in `lsr`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import codec as c
from .codec.ip import PROTOCOL_RSVP
from .codec.link import BROADCAST, TYPE_ARP, TYPE_IPV4, TYPE_MPLS
from .codec.rsvp import FLAG_REFRESH_REDUCTION
from .port import Port, Timers

# RFC 2961, 6.1: first interval, number of transmissions, growth.
RETRANSMIT_FIRST = 0.5
RETRANSMIT_LIMIT = 3
RETRANSMIT_DELTA = 1.0

# Messages that carry Router Alert (RFC 2205, 3.1.3, 3.1.5, 3.1.9 and 3.3).
ALERTED = (c.Type.PATH, c.Type.PATH_TEAR, c.Type.RESV_CONF)


@dataclass(frozen=True)
class Ends:
    """Addresses of one link: ours, the other router's, and both routers' identifiers."""

    mac: bytes
    address: str
    peer: str
    router_id: str
    peer_router_id: str


@dataclass(frozen=True)
class Received:
    """An RSVP message as it came; `bundled` if it was part of a Bundle."""

    time: float
    packet: c.Ipv4
    message: c.Message
    bundled: bool = False


@dataclass(frozen=True)
class Labelled:
    """An MPLS frame as it came."""

    time: float
    stack: list[c.LabelEntry]
    payload: bytes


class Neighbour:
    """Our end of one link, and all that ever came over it."""

    def __init__(self, port: Port, ends: Ends) -> None:
        self.port = port
        self.ends = ends
        self.timers = Timers()
        self.peer_mac: bytes | None = None
        self._waiting: list[tuple[int, bytes]] = []
        # What came, in order, for whoever wants to look.
        self.inbox: list[Received] = []
        self.labelled: list[Labelled] = []
        self.packets: list[tuple[float, c.Ipv4]] = []
        self.undecodable: list[str] = []
        self.handlers: list[Callable[[Neighbour, c.Message], None]] = []
        self.label_handlers: list[Callable[[Neighbour, Labelled], None]] = []
        # RFC 2961.
        self.refresh_reduction = True
        self.peer_is_capable = False
        self.acknowledges = True
        self.epoch = 0x0A0B0C
        self.next_id = 1
        self.sent: dict[int, c.Message] = {}
        self.unacknowledged: dict[int, int] = {}
        self.acked: list[c.MessageIdAck] = []
        self.nacked: list[c.MessageIdNack] = []
        # RFC 3209, 5.
        self.answers_hello = True
        self.instance = 0x1001
        self.peer_instance = 0
        self.peer_restarts = 0
        # RFC 2747.
        self.key: bytes | None = None
        self.key_id = 1
        self.sequence = 1
        self.peer_sequence = -1
        self.unauthentic: list[str] = []

    @property
    def now(self) -> float:
        """The port's clock."""
        return self.port.now()

    # Sending.

    def _frame(self, ethertype: int, payload: bytes) -> None:
        if self.peer_mac is None:
            self._waiting.append((ethertype, payload))
            self._arp(c.Arp.REQUEST, BROADCAST, bytes(6), self.ends.peer)
            return
        frame = c.Ethernet(self.peer_mac, self.ends.mac, ethertype, payload)
        self.port.send(frame.encode())

    def _arp(self, operation: int, to: bytes, mac: bytes, address: str) -> None:
        arp = c.Arp(operation, self.ends.mac, self.ends.address, mac, address)
        self.port.send(c.Ethernet(to, self.ends.mac, TYPE_ARP, arp.encode()).encode())

    def send_ip(self, packet: c.Ipv4) -> None:
        """Send a packet to the router at the other end."""
        self._frame(TYPE_IPV4, packet.encode())

    def send_labelled(self, stack: Sequence[c.LabelEntry], payload: bytes) -> None:
        """Send a labelled packet to the router at the other end."""
        self._frame(TYPE_MPLS, c.encode_stack(stack) + payload)

    def envelope(self, message: c.Message) -> c.Ipv4:
        """The IP header that a message travels in, without its payload."""
        source, destination = self.ends.address, self.ends.peer
        if message.kind in (c.Type.PATH, c.Type.PATH_TEAR):
            # RFC 2205, 3.1.3: from the sender it describes to the session's destination.
            source = message.need(c.SenderTemplate).address
            destination = message.need(c.Session).destination
        elif message.kind == c.Type.RESV_CONF:
            destination = message.need(c.ResvConfirm).receiver
        options = c.ROUTER_ALERT if message.kind in ALERTED else b""
        return c.Ipv4(source, destination, PROTOCOL_RSVP, b"", message.ttl, options=options)

    def encode(self, message: c.Message) -> bytes:
        """The bytes of a message, authenticated if this adjacency has a key."""
        if self.refresh_reduction:
            message.flags |= FLAG_REFRESH_REDUCTION
        if self.key is None or message.kind == c.Type.INTEGRITY_CHALLENGE:
            return message.encode()
        if message.kind == c.Type.BUNDLE:
            # RFC 2961, 3.2: a bundle holds messages and no objects, so each one is signed.
            parts = [c.Message.decode(self.encode(part)) for part in message.parts]
            return c.Message(message.kind, [], message.ttl, message.flags, parts).encode()
        flags = c.Integrity.HANDSHAKE
        integrity = c.Integrity(self.key_id, self.sequence, flags=flags)
        self.sequence += 1
        objects = [integrity, *message.without(c.Integrity).objects]
        signed = c.Message(message.kind, objects, message.ttl, message.flags)
        return c.sign(signed.encode(), self.key)

    def send(self, message: c.Message) -> None:
        """Send a message the way its type wants; its Send_TTL becomes the IP TTL."""
        self.send_bytes(self.envelope(message), self.encode(message))

    def send_bytes(self, envelope: c.Ipv4, payload: bytes) -> None:
        """Send bytes that may be no message at all."""
        packet = c.Ipv4(
            envelope.source,
            envelope.destination,
            envelope.protocol,
            payload,
            envelope.ttl,
            tos=0xC0,
            options=envelope.options,
        )
        self.send_ip(packet)

    # Reliable delivery.

    def identified(self, message: c.Message, ack: bool = True) -> c.Message:
        """A copy of the message with the next identifier in front (RFC 2961, 4.1)."""
        flags = c.MessageId.ACK_DESIRED if ack else 0
        identifier = c.MessageId(self.epoch, self.next_id, flags)
        self.next_id += 1
        objects = [identifier, *message.without(c.MessageId).objects]
        copy = c.Message(message.kind, objects, message.ttl, message.flags)
        self.sent[identifier.identifier] = copy
        return copy

    def send_reliably(self, message: c.Message) -> int:
        """Send with an identifier, again and again until it is acknowledged (RFC 2961, 6)."""
        copy = self.identified(message)
        identifier = copy.need(c.MessageId).identifier
        self.unacknowledged[identifier] = 0
        self._transmit(identifier, copy, RETRANSMIT_FIRST)
        return identifier

    def _transmit(self, identifier: int, message: c.Message, interval: float) -> None:
        if identifier not in self.unacknowledged:
            return
        if self.unacknowledged[identifier] >= RETRANSMIT_LIMIT:
            return
        self.unacknowledged[identifier] += 1
        self.send(message)
        later = interval * (1 + RETRANSMIT_DELTA)
        self.timers.at(self.now + interval, lambda: self._transmit(identifier, message, later))

    def send_srefresh(self, *identifiers: int) -> None:
        """Refresh states by the identifiers of the messages that made them (RFC 2961, 5)."""
        listed = c.MessageIdList(self.epoch, tuple(identifiers))
        self.send(c.Message(c.Type.SREFRESH, [listed]))

    # Hello and challenge.

    def send_hello(self) -> None:
        """Ask the other router whether it is still the one that it was (RFC 3209, 5.3)."""
        request = c.HelloRequest(self.instance, self.peer_instance)
        self.send(c.Message(c.Type.HELLO, [request], ttl=1))

    def _hello(self, message: c.Message) -> None:
        for item in message.objects:
            if isinstance(item, c.HelloRequest | c.HelloAck):
                if self.peer_instance not in (0, item.source_instance):
                    self.peer_restarts += 1
                self.peer_instance = item.source_instance
            if isinstance(item, c.HelloRequest) and self.answers_hello:
                ack = c.HelloAck(self.instance, item.source_instance)
                self.send(c.Message(c.Type.HELLO, [ack], ttl=1))

    # Receiving.

    def pump(self) -> None:
        """Read what came and do what is due."""
        for time, frame in self.port.receive():
            try:
                self._receive(time, c.Ethernet.decode(frame))
            except c.CodecError as error:
                self.undecodable.append(f"{time:.6f} s: {error}: {frame.hex()}")
        self.timers.fire(self.now)

    def _receive(self, time: float, frame: c.Ethernet) -> None:
        if frame.destination not in (self.ends.mac, BROADCAST):
            return
        if frame.ethertype == TYPE_ARP:
            self._receive_arp(c.Arp.decode(frame.payload))
        elif frame.ethertype == TYPE_MPLS:
            stack, payload = c.decode_stack(frame.payload)
            item = Labelled(time, stack, payload)
            self.labelled.append(item)
            for handler in self.label_handlers:
                handler(self, item)
        elif frame.ethertype == TYPE_IPV4:
            packet = c.Ipv4.decode(frame.payload)
            if packet.protocol == PROTOCOL_RSVP:
                self._receive_rsvp(time, packet)
            else:
                self.packets.append((time, packet))

    def _receive_arp(self, arp: c.Arp) -> None:
        if arp.target_ip != self.ends.address:
            return
        if arp.operation == c.Arp.REQUEST:
            self._arp(c.Arp.REPLY, arp.sender_mac, arp.sender_mac, arp.sender_ip)
        if arp.sender_ip == self.ends.peer:
            self.peer_mac = arp.sender_mac
            waiting, self._waiting = self._waiting, []
            for ethertype, payload in waiting:
                self._frame(ethertype, payload)

    def _authentic(self, payload: bytes, message: c.Message) -> bool:
        """RFC 2747, 4.2: right digest, and a sequence number above the last one."""
        if self.key is None or message.kind == c.Type.INTEGRITY_CHALLENGE:
            return True
        if message.kind == c.Type.BUNDLE and message.get(c.Integrity) is None:
            # The other side may sign each message, or the whole: RFC 2961, 3 does not settle it.
            return all([self._authentic(part.encode(), part) for part in message.parts])
        if not c.verify_digest(payload, self.key):
            self.unauthentic.append(f"message {message.kind}: digest is wrong or missing")
            return False
        if message.need(c.Integrity).key_id != self.key_id:
            self.unauthentic.append(f"message {message.kind}: unknown key identifier")
            return False
        sequence = message.need(c.Integrity).sequence
        if sequence <= self.peer_sequence:
            self.unauthentic.append(f"message {message.kind}: sequence {sequence} came before")
            return False
        self.peer_sequence = sequence
        return True

    def _receive_rsvp(self, time: float, packet: c.Ipv4) -> None:
        message = c.Message.decode(packet.payload)
        if not self._authentic(packet.payload, message):
            return
        self.inbox.append(Received(time, packet, message))
        for part in message.parts:
            self.inbox.append(Received(time, packet, part, bundled=True))
        for item in message.parts or [message]:
            self._dispatch(item)

    def _dispatch(self, message: c.Message) -> None:
        # RFC 2961, 2.
        self.peer_is_capable = bool(message.flags & FLAG_REFRESH_REDUCTION)
        self._read_identifiers(message)
        if message.kind == c.Type.HELLO:
            self._hello(message)
        elif message.kind == c.Type.INTEGRITY_CHALLENGE:
            # RFC 2747, 4.3: send the cookie back in an authenticated response.
            self.send(c.Message(c.Type.INTEGRITY_RESPONSE, [message.need(c.Challenge)]))
        for handler in self.handlers:
            handler(self, message)

    def _read_identifiers(self, message: c.Message) -> None:
        for ack in message.all(c.MessageIdAck):
            self.acked.append(ack)
            if ack.epoch == self.epoch:
                self.unacknowledged.pop(ack.identifier, None)
        for nack in message.all(c.MessageIdNack):
            self.nacked.append(nack)
            # RFC 2961, 5.4: the full message goes out again.
            if nack.epoch == self.epoch and nack.identifier in self.sent:
                self.send(self.sent[nack.identifier])
        wanted = message.get(c.MessageId)
        if wanted is not None and wanted.ack_desired and self.acknowledges:
            ack = c.MessageIdAck(wanted.epoch, wanted.identifier)
            self.send(c.Message(c.Type.ACK, [ack]))
