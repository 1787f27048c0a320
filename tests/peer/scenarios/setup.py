"""West is ingress: set-up, refresh, teardown and time-out of an LSP."""

from __future__ import annotations

import itertools

from .. import codec as c
from ..bench import MBIT, Bench
from ..codec.link import LABEL_FIRST_UNRESERVED, LABEL_IMPLICIT_NULL, LABEL_MAX
from .registry import scenario

# Well beyond the lifetime of states refreshed every second: 3.5 * 1.5 s (RFC 2205, 3.7).
EXPIRED = 20.0


@scenario()
def through_transit(b: Bench) -> None:
    """A Path goes through, a Resv comes back with a label (RFC 3209, 2.2 to 2.4; 3.1; 3.2)."""
    sent = b.path()
    key = b.set_up(sent)
    paths = b.arrivals(b.east, c.Type.PATH, key)
    if not b.check(paths, "no Path in the east"):
        return
    got, packet = paths[0].message, paths[0].packet
    b.equal(got.need(c.Session), sent.need(c.Session), "SESSION in the east")
    b.equal(got.need(c.SenderTspec), sent.need(c.SenderTspec), "SENDER_TSPEC in the east")
    b.equal(got.get(c.LabelRequest), sent.get(c.LabelRequest), "LABEL_REQUEST in the east")
    attribute = got.get(c.SessionAttribute)
    b.equal(attribute, sent.get(c.SessionAttribute), "SESSION_ATTRIBUTE in the east")
    # RFC 2205, 3.1.1 and RFC 791: one hop fewer.
    b.equal(packet.ttl, sent.ttl - 1, "TTL of the Path in the east")
    # RFC 3209, 4.3.4.1: what is passed is removed.
    left = c.ExplicitRoute.strict(b.east_ends.address)
    b.equal(got.get(c.ExplicitRoute), left, "EXPLICIT_ROUTE in the east")
    b.check(got.need(c.TimeValues).refresh_ms > 0, "TIME_VALUES of zero in the east")
    resvs = b.came(b.west, c.Type.RESV, key)
    if not b.check(resvs, "no Resv in the west"):
        return
    resv = resvs[0]
    b.equal(resv.need(c.Style).vector, c.Style.SE, "style in the west")
    # RFC 2205, 3.1.4 and A.2: the handle comes back as it was sent.
    b.equal(resv.need(c.RsvpHop).handle, 0x77, "logical interface handle in the west")
    flow = c.flow_descriptors(resv)[0]
    b.check(flow.flowspec is not None, "Resv without FLOWSPEC in the west")
    if flow.flowspec is not None:
        rate = sent.need(c.SenderTspec).traffic.rate
        b.equal(flow.flowspec.traffic.rate, rate, "reserved rate in the west")
    label = b.ingress.label(key) or 0
    b.check(LABEL_FIRST_UNRESERVED <= label <= LABEL_MAX, f"label {label} is not free to use")
    b.tear_down(key)


@scenario()
def adspec_is_updated(b: Bench) -> None:
    """ADSPEC goes on with one hop more and no less to wait (RFC 2210, 3.3; RFC 2215, 3.1 to 3.4)."""
    told = c.Adspec(hops=1, bandwidth=2.5e9, latency_us=7, mtu=9000)
    key = b.set_up(b.path().adding(told))
    paths = b.came(b.east, c.Type.PATH, key)
    found = paths[0].get(c.Adspec) if paths else None
    if b.check(found, "no ADSPEC in the east") and found is not None:
        hops = found.hops == told.hops + 1 or found.breaks
        b.check(hops, f"{found.hops} hops in the east, and no break bit")
        b.check(found.latency_us >= told.latency_us, f"latency {found.latency_us} us in the east")
        b.check(found.bandwidth <= told.bandwidth, f"bandwidth {found.bandwidth} in the east")
        b.check(found.mtu <= told.mtu, f"MTU {found.mtu} in the east")
    b.tear_down(key)


@scenario()
def to_egress(b: Bench) -> None:
    """The router itself is the end of the LSP (RFC 3209, 4.1 and 4.1.1.1)."""
    key = b.set_up(b.path(to=b.dut))
    label = b.ingress.label(key)
    allowed = label in (0, LABEL_IMPLICIT_NULL) or (label or 0) >= LABEL_FIRST_UNRESERVED
    b.check(allowed, f"label {label} from the egress")
    b.check(not b.came(b.east, c.Type.PATH), "the egress sends the Path on")
    b.tear_down(key)


@scenario()
def many_tunnels(b: Bench) -> None:
    """Twenty tunnels between the same pair have twenty labels (RFC 3209, 2.1 and 4.6.1)."""
    keys = [b.set_up(b.path(tunnel, bandwidth=1 * MBIT), f"tunnel {tunnel}") for tunnel in range(20)]
    labels = {b.ingress.label(key) for key in keys}
    b.equal(len(labels), len(keys), "different labels in the west")
    for key in keys:
        out = b.forwards(key)
        expected = b.egress.egress_labels.get(key)
        b.equal(out.stack[0].label if out else None, expected, f"label out of {key[0].tunnel_id}")
    for key in keys:
        b.tear_down(key)


@scenario()
def refresh_keeps(b: Bench) -> None:
    """Refreshes keep path and reservation beyond their lifetime (RFC 2205, 2.3 and 3.7)."""
    b.egress.refresh_ms = 1000
    key = b.set_up(b.path(refresh_ms=1000))
    first = b.ingress.label(key)
    b.run(EXPIRED)
    b.equal(b.ingress.label(key), first, "label after refreshes")
    b.check(b.forwards(key), "a refreshed LSP does not forward")
    b.check(not b.came(b.east, c.Type.PATH_TEAR), "a refreshed path is torn down")
    b.check(not b.came(b.west, c.Type.RESV_TEAR), "a refreshed reservation is torn down")
    b.tear_down(key)


@scenario()
def router_refreshes(b: Bench) -> None:
    """The router refreshes both ways, between 0.5 and 1.5 times R (RFC 2205, 3.7)."""
    key = b.set_up(b.path())
    b.run(200.0, 0.05)
    for name, side, kind in (("Path", b.east, c.Type.PATH), ("Resv", b.west, c.Type.RESV)):
        found = b.arrivals(side, kind, key)
        if not b.check(len(found) >= 3, f"{len(found)} {name} in 200 s"):
            continue
        period = found[0].message.need(c.TimeValues).refresh_ms / 1000
        times = [item.time for item in found]
        gaps = [late - early for early, late in itertools.pairwise(times)]
        b.check(max(gaps) <= 1.5 * period + 0.1, f"{name} gaps {gaps} with R = {period} s")
    b.tear_down(key)


@scenario()
def path_tear(b: Bench) -> None:
    """PathTear goes through and takes label and reservation with it (RFC 2205, 3.1.5)."""
    key = b.set_up(b.path())
    label = b.ingress.label(key) or 0
    b.check(b.forwards(key), "the LSP does not forward")
    b.tear_down(key)
    tears = b.came(b.east, c.Type.PATH_TEAR, key)
    b.equal(len(tears), 1, "PathTears in the east")
    b.check(not b.passes(label), "a torn LSP still forwards")
    b.forget()
    # The bandwidth is free again: nearly all of the link fits twice, one after the other.
    for tunnel in (2, 3):
        b.tear_down(b.set_up(b.path(tunnel, bandwidth=0.9 * b.reservable)))


@scenario()
def tear_of_nothing(b: Bench) -> None:
    """Tears of unknown states are ignored and answered by nothing (RFC 2205, 3.1.5, 3.1.6)."""
    path = b.path(tunnel=77)
    described = [path.need(c.SenderTemplate), path.need(c.SenderTspec)]
    hop = path.need(c.RsvpHop)
    b.west.send(c.Message(c.Type.PATH_TEAR, [path.need(c.Session), hop, *described]))
    style, filter_spec = c.Style(c.Style.SE), c.FilterSpec(b.west_ends.router_id, 1)
    back = c.RsvpHop(b.east_ends.address)
    objects: list[c.Obj] = [path.need(c.Session), back, style, filter_spec]
    b.east.send(c.Message(c.Type.RESV_TEAR, objects))
    b.run(0.05)
    kinds = [i.message.kind for i in b.west.inbox + b.east.inbox]
    b.check(not [k for k in kinds if k in (3, 4)], f"answers of types {kinds}")
    b.still_works()


@scenario()
def path_times_out(b: Bench) -> None:
    """Without Paths the state goes, and a Resv then finds none (RFC 2205, 3.7; B, error 3)."""
    key = b.set_up(b.path(refresh_ms=1000))
    label = b.ingress.label(key) or 0
    b.ingress.refreshes = False
    b.egress.answers = False
    b.run(EXPIRED)
    b.check(not b.passes(label), "an expired LSP still forwards")
    b.forget()
    b.east.send(_resv_of(b, key[0], key[1]))
    b.until(lambda: b.came(b.east, c.Type.RESV_ERR))
    found = b.errors(b.east, c.Type.RESV_ERR)
    b.check(found and found[0][0] == 3, f"errors {found} for a Resv without path, expected 3")
    b.ingress.refreshes = b.egress.answers = True


@scenario()
def resv_times_out(b: Bench) -> None:
    """Without Resvs the reservation goes, the path stays (RFC 2205, 2.3 and 3.7)."""
    b.egress.refresh_ms = 1000
    key = b.set_up(b.path())
    label = b.ingress.label(key) or 0
    b.egress.refreshes = False
    b.run(EXPIRED)
    b.check(not b.passes(label), "an expired reservation still forwards")
    b.forget()
    b.egress.reserve(key[0], b.east)
    came = b.until(lambda: b.came(b.west, c.Type.RESV, key))
    b.check(came, "no Resv in the west once the egress reserves again")
    b.check(b.forwards(key), "the LSP does not forward once the egress reserves again")
    b.tear_down(key)


@scenario()
def resv_tear(b: Bench) -> None:
    """ResvTear goes upstream, and the path stays (RFC 2205, 3.1.6)."""
    key = b.set_up(b.path())
    label = b.ingress.label(key) or 0
    b.egress.resv_tear(key, b.east, c.Style(c.Style.SE))
    b.until(lambda: b.came(b.west, c.Type.RESV_TEAR, key))
    b.check(b.came(b.west, c.Type.RESV_TEAR, key), "no ResvTear in the west")
    b.check(not b.passes(label), "a torn reservation still forwards")
    b.check(not b.came(b.east, c.Type.PATH_TEAR, key), "a ResvTear takes the path with it")
    b.egress.reserve(key[0], b.east)
    b.until(lambda: b.ingress.label(key) is not None)
    b.check(b.forwards(key), "the LSP does not forward once the egress reserves again")
    b.tear_down(key)


@scenario()
def path_err_passes(b: Bench) -> None:
    """PathErr goes upstream as it is and removes nothing (RFC 2205, 2.5 and 3.1.7)."""
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.until(lambda: b.came(b.east, c.Type.PATH, key))
    path = b.came(b.east, c.Type.PATH, key)
    if not b.check(path, "no Path in the east"):
        return
    b.egress.refuse(b.east, path[0], 24, 9)
    b.until(lambda: b.came(b.west, c.Type.PATH_ERR, key))
    errors = b.came(b.west, c.Type.PATH_ERR, key)
    if b.check(errors, "no PathErr in the west"):
        spec = errors[0].need(c.ErrorSpec)
        b.equal((spec.node, spec.code, spec.value), (b.east_ends.address, 24, 9), "ERROR_SPEC")
    b.egress.answers = True
    b.egress.reserve(key[0], b.east)
    b.check(b.until(lambda: b.ingress.label(key) is not None), "PathErr removed the path state")
    b.tear_down(key)


@scenario()
def resv_err_passes(b: Bench) -> None:
    """ResvErr goes downstream with the router's own hop (RFC 2205, 3.1.8)."""
    key = b.set_up(b.path())
    resv = b.came(b.west, c.Type.RESV, key)
    if not resv:
        return
    flow = c.flow_descriptors(resv[0])[0]
    rate = [o for o in (flow.flowspec,) if o is not None]
    hop, spec = c.RsvpHop(b.west_ends.address, 0x77), c.ErrorSpec(b.west_ends.address, 2, 4)
    objects = [key[0], hop, spec, resv[0].need(c.Style), *rate, flow.filter]
    b.west.send(c.Message(c.Type.RESV_ERR, objects))
    b.until(lambda: b.came(b.east, c.Type.RESV_ERR, key))
    errors = b.came(b.east, c.Type.RESV_ERR, key)
    if b.check(errors, "no ResvErr in the east"):
        found = errors[0].need(c.ErrorSpec)
        b.equal((found.node, found.code, found.value), (spec.node, 2, 4), "ERROR_SPEC")
    b.tear_down(key)


@scenario()
def confirmation(b: Bench) -> None:
    """RESV_CONFIRM goes up with the Resv, ResvConf comes down (RFC 2205, 2.6 and 3.1.9)."""
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.until(lambda: b.came(b.east, c.Type.PATH, key))
    resv = _resv_of(b, key[0], key[1])
    wanted = c.ResvConfirm(b.east_ends.address)
    at = next(i for i, item in enumerate(resv.objects) if isinstance(item, c.Style))
    resv.objects.insert(at, wanted)
    b.east.send(resv)
    b.until(lambda: b.came(b.west, c.Type.RESV, key))
    up = b.came(b.west, c.Type.RESV, key)
    if b.check(up, "no Resv in the west"):
        b.equal(up[-1].get(c.ResvConfirm), wanted, "RESV_CONFIRM in the west")
    b.until(lambda: b.came(b.east, c.Type.RESV_CONF))
    conf = b.came(b.east, c.Type.RESV_CONF)
    if b.check(conf, "no ResvConf in the east"):
        b.equal(conf[0].need(c.ErrorSpec).code, 0, "code of the confirmation")
        b.equal(conf[0].need(c.Session), key[0], "SESSION of the confirmation")
    b.tear_down(key)
    b.egress.answers = True


def _resv_of(b: Bench, session: c.Session, template: c.SenderTemplate) -> c.Message:
    """A Resv from the east for one sender, whether there is a path or not."""
    handle = 0
    paths = b.came(b.east, c.Type.PATH)
    if paths:
        handle = paths[-1].need(c.RsvpHop).handle
    return c.Message(
        c.Type.RESV,
        [
            session,
            c.RsvpHop(b.east_ends.address, handle),
            c.TimeValues(30_000),
            c.Style(c.Style.SE),
            c.Flowspec(c.Traffic.of_bits(1 * MBIT)),
            c.FilterSpec(template.address, template.lsp_id),
            c.Label(1500),
        ],
    )
