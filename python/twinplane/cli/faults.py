"""``twinplane node fault``: the words of events, for a router that runs, and both ends of a link in a lab."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import units
from ..errors import TwinplaneError, suggest
from ..lab.control import Control, find_socket, sockets
from .node_tables import link_of, setting

WORDS = {
    "fail": "link-down",
    "heal": "link-heal",
    "restart": "node-restart",
    "loss": "loss",
    "corruption": "corruption",
    "duplication": "duplication",
    "reordering": "reordering",
    "delay": "delay",
    "rate": "rate-limit",
}
"""Actions of events, and what the control socket calls them of a link."""

FORMER = ("link-down", "link-up", "rate-limit")
"""Words of the control socket that are taken, too, with its keys."""

KEYS = (
    *("share", "by", "extra", "jitter", "limit"),
    *("deliver", "direction", "probability", "bit_error_rate", "rate"),
)
"""Settings: those of events, and behind them those that only the control socket has."""

NEEDED = {
    **dict.fromkeys(("loss", "corruption", "duplication", "reordering"), ("share", "1%")),
    "delay": ("extra", "5ms"),
    "rate": ("limit", "1Mbit/s"),
}
"""What an action needs to be told, with an example."""


def act(
    action: str,
    what: str | None,
    node: str | None,
    for_: str | None,
    settings: list[str],
    lab: str | None,
    socket: Path | None,
) -> None:
    """Do it: of a link at both ends that are routers of the lab, by a socket at this router only."""
    known = [*WORDS, *FORMER]
    if action not in known:
        raise TwinplaneError(
            f"{action}: there is no such fault: one of {', '.join(WORDS)}{suggest(action, known)}"
        )
    if action == "heal" and (what is None or not _is_link(what)):
        # With no link to name, the word after it is the router.
        name = node or what
        if name is None or socket is not None:
            with Control(find_socket(lab, name) if socket is None else socket, name or "") as control:
                control.ask("heal")
        else:
            _heal(name, lab)
        return
    if what is None:
        links = "which link or router?" if action == "fail" else "which link?"
        which = "which router?" if action == "restart" else f"{links} Of a link its ends, such as pe1:p"
        raise TwinplaneError(f"{action}: {which}")
    asked = dict(setting(text) for text in settings)
    for key in asked:
        if key not in KEYS:
            raise TwinplaneError(f"--set {key}: it is none of {', '.join(KEYS[:5])}{suggest(key, KEYS[:5])}")
    asked = asked if action in FORMER else {k: v for key in asked for k, v in _told(action, key, asked[key])}
    if action in NEEDED and not asked.keys() & {"probability", "bit_error_rate", "extra", "rate"}:
        key, example = NEEDED[action]
        raise TwinplaneError(f"{action}: how much? --set {key}={example}")
    lasts_s = None if for_ is None else units.span_ps(for_, "for") / 1e12
    if lasts_s == 0:
        raise TwinplaneError(f"for '{for_}': it is not above zero")
    if action == "restart" or (action == "fail" and not _is_link(what)):
        asked |= {"fault": "node-restart" if action == "restart" else "node-down", "node": what}
        if action == "restart":
            asked["down_for"] = round((1.0 if lasts_s is None else lasts_s) * 1e12)
        elif lasts_s is not None:
            asked["for_s"] = lasts_s
        # The links of a node that goes down go with it, also at their other ends.
        alone = action == "restart" or socket is not None
        targets = [(what, socket or find_socket(lab, what))] if alone else _all(what, lab)
    else:
        asked |= {"fault": WORDS.get(action, action), "link": link_of(what)}
        if lasts_s is not None:
            asked["for_s"] = lasts_s
        targets = _ends(what, node, lab) if socket is None else [(node or "", socket)]
    for name, path in targets:
        with Control(path, name) as control:
            control.ask("fault", asked)


def _all(name: str, lab: str | None) -> list[tuple[str, Path]]:
    """A router and all others of its lab, itself first."""
    own = find_socket(lab, name)
    others = {router: path for (_, router), path in sockets(lab).items() if path.parent == own.parent}
    return [(name, own), *((router, path) for router, path in others.items() if path != own)]


def _heal(name: str, lab: str | None) -> None:
    """Let a router come up, and mend its links at both ends."""
    links: set[int] | None = None
    for router, path in _all(name, lab):
        with Control(path, router) as control:
            own = {port["link"] for port in control.status()["ports"]}
            links = own if links is None else links
            for link in sorted(links & own):
                control.ask("fault", {"fault": "link-heal", "link": link})
            control.ask("fault", {"fault": "node-up", "node": name})


def _is_link(what: str) -> bool:
    return ":" in what or what.isdigit()


def _told(action: str, key: str, value: Any) -> list[tuple[str, Any]]:
    """What events call something, as the control socket calls it; its own keys are taken as they are."""
    if key == "share":
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise TwinplaneError(f"share={value}: a share is 0 to 1, or 0 % to 100 %")
        return [("bit_error_rate" if action == "corruption" else "probability", share)]
    if key in ("by", "extra", "jitter") and isinstance(value, str):
        return [("extra" if key == "by" else key, units.span_ps(value, key))]
    if key == "limit":
        limit = units.rate_bps(value, key)
        if limit <= 0:
            raise TwinplaneError(f"limit={value}: it is not above zero")
        return [("rate", limit)]
    return [(key, value)]


def _ends(link: str, node: str | None, lab: str | None) -> list[tuple[str, Path]]:
    """The routers at both ends of a link of a lab; of a link by its place the one that is named."""
    names = link.split(":")
    if len(names) != 2 or not all(names):
        return [(node or "", find_socket(lab, node))]
    found = [name for name in names if name in {router for _, router in sockets(lab)}]
    if not found:
        return [(node or "", find_socket(lab, node or names[0]))]
    return [(name, find_socket(lab, name)) for name in found]
