"""What a Resv says, at the egress and on its way up (RFC 2205, 3.1.4; RFC 3209, 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import codec as c
from .neighbour import Neighbour
from .state import Key

if TYPE_CHECKING:
    from .lsr import Lsr


def pass_up(lsr: Lsr, key: Key) -> None:
    """Transit: send a reservation to the previous hop with labels of our own.

    In SE style with every other sender of the session, since a Resv replaces the list of senders that the
    last one had (RFC 2205, 3.1.4 and 2.4).
    """
    state, came_from = lsr.resvs[key], lsr.paths[key].came_from
    if came_from is None:
        return
    # RFC 2205, 3.10: what is unknown and of a class above 191 goes on as it is.
    extra: list[c.Obj] = [*state.message.all(c.ResvConfirm)]
    extra += [item for item in state.message.all(c.Unknown) if item.class_num >= 0xC0]
    keys = [key]
    if state.style.vector == c.Style.SE:
        keys = [other for other in lsr.senders(key[0], came_from) if other in lsr.resvs]
    specs = [flow for k in keys if (flow := lsr.resvs[k].descriptor.flowspec) is not None]
    objects = lsr.resv_head(key[0], came_from, extra, state.style.vector)
    objects += [max(specs, key=lambda spec: spec.traffic.rate)] if specs else []
    for other in keys:
        objects += _relabelled(lsr, other, came_from)
    lsr.dispatch(came_from, c.Message(c.Type.RESV, objects))


def _relabelled(lsr: Lsr, key: Key, came_from: Neighbour) -> list[c.Obj]:
    """Transit: filter, own label and longer record of one sender."""
    state = lsr.resvs[key]
    objects: list[c.Obj] = [state.descriptor.filter, c.Label(state.local_label)]
    if state.descriptor.record is not None:
        here = _record(lsr, came_from, state.local_label, lsr.paths[key].message)
        objects.append(c.RecordRoute((*here, *state.descriptor.record.hops)))
    return objects


def _record(lsr: Lsr, neighbour: Neighbour, label: int, path: c.Message) -> list[c.Ipv4Hop | c.LabelHop]:
    """What this router records: its address, and its label if asked (RFC 3209, 4.4.3, 4.7.1)."""
    attribute = path.get(c.SessionAttribute)
    asked = attribute is not None and attribute.flags & c.SessionAttribute.LABEL_RECORDING
    here: list[c.Ipv4Hop | c.LabelHop] = [c.Ipv4Hop(neighbour.ends.address)]
    return [*here, c.LabelHop(label, flags=lsr.label_flags)] if asked else here


def egress_flows(lsr: Lsr, keys: list[Key]) -> list[c.Obj]:
    """Egress: FLOWSPEC, FILTER_SPEC, LABEL and RECORD_ROUTE for each of these senders."""
    specs = {key: lsr.paths[key].message.need(c.SenderTspec).traffic for key in keys}
    largest = max(specs.values(), key=lambda traffic: traffic.rate)
    objects: list[c.Obj] = []
    if lsr.egress_style == c.Style.SE:
        objects.append(c.Flowspec(largest))
    for key in keys:
        if lsr.egress_style == c.Style.FF:
            objects.append(c.Flowspec(specs[key]))
        label = lsr.egress_label_for(key)
        objects += [c.FilterSpec(key[1].address, key[1].lsp_id), c.Label(label)]
        state = lsr.paths[key]
        if state.message.get(c.RecordRoute) and state.came_from is not None:
            here = _record(lsr, state.came_from, label, state.message)
            objects.append(c.RecordRoute(tuple(here)))
    return objects
