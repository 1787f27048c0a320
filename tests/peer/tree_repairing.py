"""What protection of trees asks of naive routers at both ends of a bypass (RFC 4875, 15.1; 4090, 6.4, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from . import codec as c
from .codec.ip import PROTOCOL_RSVP
from .neighbour import ALERTED, Labelled, Neighbour, Received
from .repairing import HeadEnd, MergePoint, send_to
from .tree import Key, Route, tree_key


@dataclass(frozen=True)
class Came:
    """A Path of a tree, and the port by which it came."""

    side: Neighbour
    message: c.Message


@dataclass
class TreeMergePoint(MergePoint):
    """Where bypass tunnels end; it is a leaf of one tree, and all other leaves that Paths name are beyond it.

    Each LSP of the tree has one label here, whichever way its packets come; `tree_label` is that of LSP id 1.
    """

    tree_label: int = 2001
    answers_trees: bool = True
    asks_confirmation: bool = False
    # Paths along links, and out of bypass tunnels.
    along: dict[Key, Came] = field(default_factory=dict)
    around: dict[Key, Came] = field(default_factory=dict)
    # All messages of trees that ever came out of bypass tunnels, with the labels of those.
    tree_tunnelled: list[tuple[int, Received]] = field(default_factory=list)
    # Leaves that Paths out of bypass tunnels named, and no LSP with their LSP id here had.
    strangers: list[str] = field(default_factory=list)
    # Leaves that are not reserved, and those that are not reserved along links.
    without: set[str] = field(default_factory=set)
    without_along: set[str] = field(default_factory=set)

    def handle(self, neighbour: Neighbour, message: c.Message) -> None:
        """Take Paths and PathTears of trees here; all else is for the LSPs with one end."""
        if message.get(c.TreeSession) is None:
            super().handle(neighbour, message)
        elif message.kind == c.Type.PATH:
            self.along[tree_key(message)] = Came(neighbour, message)
            if self.answers_trees:
                self.reserve_leaves(neighbour, message)
        elif message.kind == c.Type.PATH_TEAR:
            self.along.pop(tree_key(message), None)

    def switch(self, neighbour: Neighbour, item: Labelled) -> None:
        """Messages of trees that come out of bypass tunnels are read; all else is as without trees."""
        top = item.stack[0]
        if top.bottom and top.label in self.egress_labels.values():
            packet = c.Ipv4.decode(item.payload)
            if packet.protocol == PROTOCOL_RSVP:
                message = c.Message.decode(packet.payload)
                if message.get(c.TreeSession) is not None:
                    self.tree_tunnelled.append((top.label, Received(item.time, packet, message)))
                    self._around(neighbour, message)
                    return
        super().switch(neighbour, item)

    def _around(self, neighbour: Neighbour, message: c.Message) -> None:
        """RFC 4875, 15.1.1: which S2L sub-LSPs it is about, LSP id and leaf say, and no sub-group."""
        key = tree_key(message)
        if message.kind == c.Type.PATH_TEAR:
            self.around.pop(key, None)
        elif message.kind == c.Type.PATH:
            known = self.leaves_of_lsp(key)
            self.strangers += [leaf for leaf in c.leaves_of(message) if leaf not in known]
            self.around[key] = Came(neighbour, message)
            if self.answers_repairs:
                self.reserve_leaves(neighbour, message)

    def leaves_of_lsp(self, key: Key) -> set[str]:
        """Leaves of the Paths along links that have the session and the LSP id of this one."""
        session, sender = key
        return {
            leaf
            for (other, whose), came in self.along.items()
            if (other, whose.lsp_id) == (session, sender.lsp_id)
            for leaf in c.leaves_of(came.message)
        }

    def reserve_leaves(self, side: Neighbour, path: c.Message) -> None:
        """Answer a Path: to the address in its RSVP_HOP, be that a neighbour or not (RFC 2205, 3.1.4)."""
        refused = self.without if tree_key(path) in self.around else self.without | self.without_along
        leaves = [leaf for leaf in c.leaves_of(path) if leaf not in refused]
        if leaves:
            send_to(side, path.need(c.RsvpHop).address, self.answer(side, path, leaves))

    def answer(self, side: Neighbour, path: c.Message, leaves: Sequence[str]) -> c.Message:
        """The Resv for these leaves of a Path (RFC 4875, 6.1)."""
        hop, sender = path.need(c.RsvpHop), path.need(c.TreeSender)
        given = self.tree_label + sender.lsp_id - 1
        objects: list[c.Obj] = [
            path.need(c.TreeSession),
            c.RsvpHop(side.ends.address, hop.handle),
            path.need(c.TimeValues),
            *([c.ResvConfirm(side.ends.address)] if self.asks_confirmation else []),
            c.Style(c.Style.SE),
            c.Flowspec(path.need(c.SenderTspec).traffic),
            sender.filter(),
            c.Label(given),
        ]
        recorded = path.get(c.RecordRoute) is not None
        for place, leaf in enumerate(leaves):
            beyond = () if leaf == self.router_id else (c.Ipv4Hop(leaf),)
            # RFC 4090, 6.4.1: the label, and that it is good at all ports.
            label = c.LabelHop(given, flags=self.label_flags)
            hops = (c.Ipv4Hop(side.ends.address), label, *beyond)
            if recorded and not place:
                objects.append(c.RecordRoute(hops))
            objects.append(c.SubLsp(leaf))
            if recorded and place:
                objects.append(c.SecondaryRecord(hops))
        return c.Message(c.Type.RESV, objects)

    def refuse_leaves(self, came: Came, code: int, value: int, *leaves: str) -> None:
        """A PathErr for some leaves of a Path, to the address in its RSVP_HOP (RFC 4875, 11.1)."""
        path = came.message
        objects: list[c.Obj] = [path.need(c.TreeSession), c.ErrorSpec(came.side.ends.address, code, value)]
        objects += [path.need(c.TreeSender), path.need(c.SenderTspec), *(c.SubLsp(leaf) for leaf in leaves)]
        send_to(came.side, path.need(c.RsvpHop).address, c.Message(c.Type.PATH_ERR, objects))

    def take_back(self, came: Came, *leaves: str) -> None:
        """A ResvTear for some leaves of a Path (RFC 2205, 3.1.6; leaves as in a Resv)."""
        path, side = came.message, came.side
        hop = path.need(c.RsvpHop)
        objects: list[c.Obj] = [path.need(c.TreeSession), c.RsvpHop(side.ends.address, hop.handle)]
        objects += [c.Style(c.Style.SE), path.need(c.TreeSender).filter(), *(c.SubLsp(le) for le in leaves)]
        send_to(side, hop.address, c.Message(c.Type.RESV_TEAR, objects))

    def repairs_of(self, kind: int) -> list[c.Message]:
        """Messages of trees of a type that came out of bypass tunnels."""
        return [item.message for _, item in self.tree_tunnelled if item.message.kind == kind]

    def leaves_around(self) -> list[str]:
        """The leaves of all Paths that came out of bypass tunnels and stand, each as often as it is named."""
        return sorted(leaf for came in self.around.values() for leaf in c.leaves_of(came.message))


class TunnelHead(HeadEnd):
    """Who begins bypass tunnels, and leaves messages of trees to somebody else."""

    def handle(self, neighbour: Neighbour, message: c.Message) -> None:
        if message.get(c.TreeSession) is None:
            super().handle(neighbour, message)


def send_around(side: Neighbour, label: int, message: c.Message, to: str) -> None:
    """Send a message of a tree through a bypass tunnel that begins at this port (RFC 4090, 6.4.3)."""
    options = c.ROUTER_ALERT if message.kind in ALERTED else b""
    source = message.need(c.TreeSender).address
    payload = side.encode(message)
    packet = c.Ipv4(source, to, PROTOCOL_RSVP, payload, message.ttl, tos=0xC0, options=options)
    side.send_labelled([c.LabelEntry(label)], packet.encode())


def tree_around(
    path: c.Message,
    side: Neighbour,
    leaves: Iterable[tuple[str, Route]],
    group: tuple[str, int],
    *,
    lsp_id: int | None = None,
) -> c.Message:
    """A Path for some leaves of a tree, as a point of local repair sends it around (RFC 4875, 15.1.1).

    Routes begin at the merge point. `group` is who names the sub-group, and how.
    """
    asked, sender = path.need(c.SessionAttribute), path.need(c.TreeSender)
    cleared = asked.flags & ~(c.Asked.LOCAL | c.Asked.BANDWIDTH | c.Asked.NODE)
    here = c.TreeSender(side.ends.address, sender.lsp_id if lsp_id is None else lsp_id, *group)
    base = path.without(c.FastReroute, c.SubLsp, c.SecondaryRoute, c.ExplicitRoute).swapped(
        c.RsvpHop(side.ends.address, 0x78), replace(asked, flags=cleared), here
    )
    listed = list(leaves)
    tail: list[c.Obj] = []
    for place, (leaf, route) in enumerate(listed):
        tail.append(c.SubLsp(leaf))
        if place and route is not None:
            tail.append(c.SecondaryRoute(c.ExplicitRoute.strict(*route).hops))
    objects = [*base.objects, *tail]
    if (first := listed[0][1]) is not None:
        at = next(place for place, item in enumerate(objects) if isinstance(item, c.LabelRequest))
        objects.insert(at, c.ExplicitRoute.strict(*first))
    return c.Message(c.Type.PATH, objects, ttl=path.ttl)


def tree_tear(path: c.Message, *leaves: str) -> c.Message:
    """The PathTear of a Path, or of some of its leaves (RFC 4875, 7.1, 7.2.2)."""
    kept = (c.TreeSession, c.RsvpHop, c.TreeSender, c.SenderTspec)
    objects = [item for item in path.objects if isinstance(item, kept)]
    return c.Message(c.Type.PATH_TEAR, [*objects, *(c.SubLsp(leaf) for leaf in leaves)], path.ttl)
