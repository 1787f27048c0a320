"""Random networks, events and flows: from a file and from Python one digest, and accounts that close."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import yaml
from twinplane.network import Network

from tests.support.campaign import scaled

END_S = 0.5
"""Of each run."""

DISTURBING = ("loss", "duplication", "corruption", "reordering", "delay", "rate")


def drawn(seed: int) -> dict[str, Any]:
    """A network file with routers in a ring, chords, LSPs, flows and events."""
    chance = random.Random(seed)
    names = [f"r{place}" for place in range(chance.randint(3, 6))]
    links = [[a, b] for a, b in zip(names, [*names[1:], names[0]], strict=True)]
    chords = [[a, b] for a in names for b in names if a < b and [a, b] not in links and [b, a] not in links]
    links += chance.sample(chords, min(len(chords), chance.randint(0, 2)))
    said: list[Any] = []
    for ends in links:
        more = {
            "rate": chance.choice(["4 Mbit/s", "20 Mbit/s", "100 Mbit/s"]),
            "delay": chance.choice(["20 us", "3 ms"]),
            "detection": chance.choice(["1 ms", "20 ms"]),
            "buffer": chance.choice(["3 kB", "20 kB"]),
        }
        said.append([*ends, more])
    lsps: list[dict[str, Any]] = []
    for place in range(chance.randint(1, 3)):
        head, tail = chance.sample(names, 2)
        lsps.append({"name": f"l{place}", "from": head, "to": tail, "shortest": chance.random() < 0.5})
    flows: list[dict[str, Any]] = []
    for place in range(chance.randint(1, 4)):
        over = chance.choice([None, *lsps])
        head, tail = (over["from"], over["to"]) if over else chance.sample(names, 2)
        flow = {"name": f"f{place}", "from": head, "to": tail, "size": chance.choice([100, 700, 1500])}
        flow |= {"rate": chance.choice(["500 kbit/s", "3 Mbit/s"]), "arrivals": chance.choice(ARRIVALS)}
        flows.append(flow | ({"over": over["name"]} if over else {}))
    events = [event(chance, names, links, lsps, flows) for _ in range(chance.randint(1, 8))]
    once = sorted((one for one in events if "at" in one), key=lambda one: one["at"])
    events = [one if "at" not in one else once.pop(0) for one in events]
    if any("fail" in one or set(one) & set(DISTURBING) for one in events) and chance.random() < 0.5:
        events.append({"at": 0.45, "heal": "all"})
    return {
        **{"name": "drawn", "seed": seed, "nodes": {name: {"kind": "router"} for name in names}},
        **{"links": said, "lsps": lsps, "flows": flows, "events": events},
    }


ARRIVALS = ("constant", "poisson")


def event(
    chance: random.Random,
    names: list[str],
    links: list[list[str]],
    lsps: list[dict[str, Any]],
    flows: list[dict[str, Any]],
) -> dict[str, Any]:
    """One event, of any kind, at times of any form."""
    ms = chance.randint(0, 400)
    when: dict[str, Any] = chance.choice(
        [
            {"at": ms / 1000},
            {"every": chance.choice([0.05, 0.017]), "from": ms / 1000, "times": chance.randint(1, 5)},
            {"random": {"mean": 0.05}, "from": ms / 1000, "until": 0.5},
        ]
    )
    lasts = {"for": chance.choice([0.01, 0.07])} if chance.random() < 0.7 else {}
    link = chance.choice(links)
    link = link if chance.random() < 0.5 else link[::-1]
    towards = {"from": chance.choice(link)} if chance.random() < 0.4 else {}
    share = {"on": link, "share": chance.choice([0.01, "20 %"]), **towards}
    kind = chance.choice(
        ["fail", "fail", "node", "restart", "flap", "lsp", "tear", "signal", "start", "stop"]
    )
    kind = chance.choice(DISTURBING) if chance.random() < 0.4 else kind
    what: dict[str, Any] = {
        "fail": {"fail": link},
        "node": {"fail": chance.choice(names)},
        "restart": {"restart": chance.choice(names)},
        "flap": {"flap": link, "for": 0.02},
        "lsp": {"flap": chance.choice(lsps)["name"]},
        "tear": {"tear": chance.choice(lsps)["name"]},
        "signal": {"signal": chance.choice(lsps)["name"]},
        "start": {"start": chance.choice(flows)["name"]},
        "stop": {"stop": chance.choice(flows)["name"]},
        "loss": {"loss": share},
        "duplication": {"duplication": share},
        "corruption": {"corruption": {**share, "share": 1e-5}},
        "reordering": {"reordering": share},
        "delay": {"delay": {"on": link, "extra": 0.002, "jitter": 0.001, **towards}},
        "rate": {"rate": {"on": link, "limit": 1e6, **towards}},
    }[kind]
    return {**when, **lasts, **what}


def by_calls(said: dict[str, Any]) -> Network:
    """The same by calls of Python."""
    net = Network(seed=said["seed"])
    nodes: dict[str, Any] = {}
    for name, node in said["nodes"].items():
        is_host = node["kind"] == "host"
        nodes[name] = net.host(name, node["address"]) if is_host else net.router(name, hello="9 s")
    for a, b, more in said["links"]:
        net.link(a, b, **more)
    for lsp in said["lsps"]:
        nodes[lsp["from"]].lsp(lsp["name"], lsp["to"], shortest=lsp["shortest"])
    for flow in said["flows"]:
        rest = {key: value for key, value in flow.items() if key not in ("from", "to")}
        net.flow(flow["from"], flow["to"], **rest)
    for one in said["events"]:
        act(net, dict(one))
    return net


def act(net: Network, one: dict[str, Any]) -> None:
    """One event."""
    bounds = {
        "start": one.pop("from", None),
        "until": one.pop("until", None),
        "times": one.pop("times", None),
    }
    if "at" in one:
        moment = net.at(one.pop("at"))
    elif "every" in one:
        moment = net.every(one.pop("every"), **bounds)
    else:
        moment = net.random(one.pop("random")["mean"], **bounds)
    lasts = one.pop("for", None)
    ((action, said),) = one.items()
    if action == "heal":
        moment.heal()
    elif action == "restart":
        moment.restart(said, "1 s" if lasts is None else lasts)
    elif action in DISTURBING:
        more = {{"from": "sender"}.get(key, key): value for key, value in said.items() if key != "on"}
        getattr(moment, action)(*said["on"], **more, for_=lasts)
    elif isinstance(said, list):
        getattr(moment, action)(*said, for_=lasts)
    else:
        getattr(moment, action)(said, for_=lasts)


def test_a_file_and_python_give_one_digest_and_closed_accounts(tmp_path: Path) -> None:
    path = tmp_path / "drawn.yaml"
    acted = 0
    for seed in range(1, 1 + scaled(20)):
        said = drawn(seed)
        path.write_text(yaml.safe_dump(said, sort_keys=False))
        first, second = Network.from_file(path), by_calls(said)
        for net in (first, second):
            net.run(until=END_S)
            unknown = net.table("flow_accounts")["unknown"].to_list()
            assert not any(unknown), (seed, unknown)
        assert first.digest() == second.digest(), seed
        assert first.actions().equals(second.actions()), seed
        assert first.table("flow_accounts").equals(second.table("flow_accounts")), seed
        acted += first.actions().height
    assert acted > 20
