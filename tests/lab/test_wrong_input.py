"""Every field of a network file with wrong values that its declaration rules out."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from twinplane import core
from twinplane.errors import ConflictError, TwinplaneError
from twinplane.model import network_file, source

from tests.support.campaign import scaled

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
known_types = functools.cache(core.schema)

Place = tuple[str | int, ...]

DISCIPLINES: dict[str, dict[str, Any]] = {
    one["discipline"]: one
    for one in (
        {"discipline": "pfifo", "limit": 10},
        {"discipline": "bfifo", "limit": "10 kB"},
        {"discipline": "tbf", "rate": "1 Mbit/s", "burst": "3 kB", "limit": "10 kB"},
        {"discipline": "prio", "classes": {"a": {}}},
        {"discipline": "red", "limit": "120 kB"},
        {"discipline": "gred", "limit": "120 kB", "queues": {"AF11": {}}},
        {"discipline": "cbq", "avpkt": 1000, "classes": {"a": {"rate": "1 Mbit/s"}}},
        {"discipline": "drr", "classes": {"a": {}}},
        {"discipline": "fq-codel"},
    )
}
METERS = {
    "token-bucket": {"rate": "1 Mbit/s", "burst": "3 kB"},
    "single-rate": {"cir": "1 Mbit/s", "cbs": 3000, "ebs": 0},
    "two-rate": {"cir": "1 Mbit/s", "cbs": 3000, "pir": "2 Mbit/s", "pbs": 3000},
}

SWITCH_TIMES = (
    *("pipeline", "pipeline_per_byte", "packet_in", "packet_in_per_byte", "packet_in_every"),
    *("packet_out", "packet_out_per_byte", "socket_stall", "socket_linger", "echo", "message"),
    *("remote_call", "entry_write", "entry_write_per_entry"),
)

WHOLE: dict[str, Any] = {
    "name": "whole",
    "seed": 7,
    "nodes": {
        "pe1": {
            "kind": "router",
            "rsvp": {"refresh": "30 s"},
            "diffserv": {"model": "pipe"},
            "routes": [{"prefix": "10.77.0.0/24", "via": "p"}],
            "greet": {"interval": "2 s"},
            "ldp": {"hello_interval": "2 s"},
            "tdp": {"hello_interval": "2 s"},
            "bfd": {"interval": "50 ms", "authentication": {"kind": "md5", "key": "secret"}},
            "igmp": {"version": 2, "static_groups": {"p": [{"group": "239.1.1.1"}]}},
            "mld": {"version": 1, "static_groups": {"p": [{"group": "ff3e::1"}]}},
            "cbt": {"groups": [{"group": "239.1.1.1", "core": "10.250.0.1"}]},
            "pim": {"hello_interval": "10 s"},
            "probing": {"period": "20 ms"},
            "lspping": {"rate": 100, "sources": ["10.0.0.0/8"]},
            "bgp": {
                "mesh": {},
                "asn": 65001,
                "neighbors": {"p": {"asn": 65001, "hold_time": "30 s", "maximum_prefixes": 1000}},
                "redistribute": [{"from": "static", "rules": [{"tag": 7}]}],
            },
            "ospf": {
                "bfd": {"interval": "20 ms"},
                "spf": {"initial": "10 ms"},
                "authentication": {"kind": "md5", "key": "secret"},
                "interfaces": {"p": {"cost": 7, "area": 3}},
                "virtual_links": [
                    {
                        "area": 3,
                        "router": "10.9.9.9",
                        "authentication": {"keys": [{"key_id": 1, "kind": "md5", "key": "secret"}]},
                    }
                ],
                "redistribute": [{"metric_type": 1}],
                "areas": [
                    {"area": 1, "kind": "stub", "ranges": [{"prefix": "10.8.0.0/16"}]},
                    {"area": 2, "kind": "nssa", "nssa": {"ranges": [{"prefix": "10.9.0.0/16"}]}},
                ],
            },
            "table_driver": {"model": {}},
        },
        "p": {"kind": "router"},
        "h": {
            "kind": "host",
            "address": "10.1.0.2/24",
            "join": ["232.1.1.1 from 10.0.0.1"],
            "profile": {"name": "own"},
            "tcp": {"buffer": "8 kB"},
        },
        "s": {"kind": "station"},
        "e": {
            "kind": "edge",
            "rsvp": {"hello": "none"},
            "programme": [{"action": "tear", "lsps": "east", "at": "1 s", "rate": 2}],
        },
        "x": {"kind": "external", "interface": "eth7"},
        "raw": {"kind": "peer"},
        "lan": {"kind": "bridge", "prefix": "10.3.0.0/24"},
        "of": {
            "kind": "switch",
            "prefix": "10.4.0.0/24",
            "controllers": ["ptcp:6653", "pssl:6654"],
            "tls": {"private_key": "key.pem", "certificate": "cert.pem", "ca_cert": "ca.pem"},
            "profile": {
                "name": "own",
                "description": "",
                **dict.fromkeys(SWITCH_TIMES, "1 us"),
                **dict.fromkeys(("packet_in_burst", "packet_in_queue", "reset_bytes"), 1),
            },
        },
        "ovs": {
            "kind": "ovs",
            "prefix": "10.5.0.0/24",
            "controllers": ["tcp:10.0.0.1", "pssl:6654"],
            "tls": {"private_key": "key.pem", "certificate": "cert.pem", "ca_cert": "ca.pem"},
        },
        "t": {"kind": "openflow-tester"},
        "pe2": {"kind": "router"},
        "cells1": {"kind": "atm-switch"},
        "cells2": {"kind": "atm-switch"},
        "lsr": {"kind": "atm-lsr"},
    },
    "links": [
        {"endpoints": ["pe1", "p"], "queue": {"pe1": "all"}, "ingress": "police"},
        {
            "endpoints": ["h", "pe1"],
            "ipv6": ["2001:db8:1::2/64", "2001:db8:1::1/64"],
            "advertise": {"interval": "30 s"},
        },
        {"endpoints": ["s", "p"], "addresses": ["10.2.0.2/24", "10.2.0.1/24"]},
        {"endpoints": ["e", "p"]},
        {"endpoints": ["x", "p"]},
        {"endpoints": ["raw", "p"]},
        {"endpoints": ["lan", "p"]},
        {"endpoints": ["of", "p"]},
        {"endpoints": ["of", "t"]},
        {"endpoints": ["of", "t"]},
        {"endpoints": ["of", "t"], "addresses": ["10.5.0.1/30", "10.5.0.2/30"]},
        {"endpoints": ["cells1", "cells2"], "medium": "atm"},
        {"endpoints": ["pe1", "pe2"], "pvc": {"through": ["cells1", "cells2"]}},
        {"endpoints": ["lsr", "pe2"], "medium": "atm", "lc_atm": {"vci": [40, 50]}},
        {"endpoints": ["lsr", "pe1"], "vp": {"through": ["cells1"], "pcr": "1000 cells/s"}},
    ],
    "lsps": [
        {
            "name": "east",
            "from": "pe1",
            "to": "p",
            "route": ["p"],
            "filters": [{"protocol": "tcp"}],
            "path": {"hop_limit": 9},
            "protection": {"node": True},
        },
        {"name": "voice", "from": "pe1", "to": "p", "diffserv": {"kind": "e-lsp"}},
        {"name": "data", "from": "pe1", "to": "p", "diffserv": {"kind": "l-lsp", "class": "AF1"}},
        {"name": "asked", "from": "pe1", "to": "p", "lsp_ping": {"misses": 2}},
    ],
    "p2mp": [
        {
            "name": "tree",
            "root": "pe1",
            "leaves": ["p"],
            "routes": {"p": ["p"]},
            "path": {"hop_limit": 9},
            "group": "239.1.1.1",
            "filters": [{"protocol": "udp"}],
        },
    ],
    "flows": [
        {"name": "plain", "from": "h", "to": "s"},
        {
            "name": "bursts",
            "from": "h",
            "to": "s",
            "size": {"kind": "uniform", "min": 64, "max": 1518},
            "arrivals": {"kind": "on-off", "on": {"mean": "3 ms"}, "off": "1 ms"},
        },
        {
            "name": "listed",
            "from": "h",
            "to": "s",
            "size": {"kind": "empirical", "sizes": [64, 1518]},
            "arrivals": {"kind": "trace", "gaps": ["1 ms"]},
        },
        {"name": "short", "from": "h", "to": "s", "size": {"kind": "exponential", "mean": 400}},
    ],
    "tcp": [{"name": "bulk", "from": "h", "to": "s"}],
    "queues": {
        "short": {"root": {"discipline": "pfifo"}, "accounting": {"layer": "ip"}, "conditioner": "police"},
        "all": {
            "discipline": "htb",
            "classes": {
                "link": {"rate": "4 Mbit/s"},
                **{name: {"rate": 1000, "parent": "link", "queue": one} for name, one in DISCIPLINES.items()},
            },
            "filters": [{"phb": "EF", "class": "tbf"}],
            "default": "bfifo",
        },
    },
    "events": [
        {"at": "1 s", "fail": ["pe1", "p"], "for": "1 s"},
        {"every": "1 s", "from": "2 s", "until": "3 s", "times": 2, "flap": "east"},
        {
            "random": {"mean": "1 s", "stream": "storm"},
            "loss": {"on": ["pe1", "p"], "share": "1 %", "from": "p"},
        },
        {"at": "1 s", "corruption": {"on": ["pe1", "p"], "share": 1e-6}},
        {"at": "1 s", "reordering": {"on": ["pe1", "p"], "share": 0.1}},
        {"at": "1 s", "delay": {"on": ["pe1", "p"], "extra": "1 ms"}},
        {"at": "1 s", "rate": {"on": ["pe1", "p"], "limit": "1 Mbit/s"}},
    ],
    "demands": {
        "matrix": [{"from": "h", "to": "s", "rate": "1 Mbit/s", "class": "gold"}],
        "gravity": {"total": "1 Mbit/s", "weights": {"h": 2, "s": 1.5}},
        "classes": {"gold": {"dscp": "EF", "share": 0.5}, "best": {}},
    },
    "routes": {"kind": "shortest", "detection": "10 ms"},
    "measuring": {"phases": ["1 s"]},
    "conditioners": {
        "police": {
            "rules": [
                {"name": kind, "mark": place, "meter": {"kind": kind, **meter}}
                for place, (kind, meter) in enumerate(METERS.items())
            ]
        }
    },
}
"""A record of every type."""

LEAVES = ("queues", "all", "classes")

RECORDS: dict[str, Place] = {
    "NetworkSpec": (),
    "RouterSpec": ("nodes", "pe1"),
    "TcpSpec": ("tcp", 0),
    "HostProfile": ("nodes", "h", "profile"),
    "TcpOptions": ("nodes", "h", "tcp"),
    "RsvpSpec": ("nodes", "pe1", "rsvp"),
    "RouteSpec": ("nodes", "pe1", "routes", 0),
    "TableDriver": ("nodes", "pe1", "table_driver"),
    "GreetSpec": ("nodes", "pe1", "greet"),
    "Ospf": ("nodes", "pe1", "ospf"),
    "OspfAuthentication": ("nodes", "pe1", "ospf", "authentication"),
    "OspfKey": ("nodes", "pe1", "ospf", "virtual_links", 0, "authentication", "keys", 0),
    "OspfSpf": ("nodes", "pe1", "ospf", "spf"),
    "OspfRedistribution": ("nodes", "pe1", "ospf", "redistribute", 0),
    "OspfArea": ("nodes", "pe1", "ospf", "areas", 0),
    "OspfRange": ("nodes", "pe1", "ospf", "areas", 0, "ranges", 0),
    "OspfNssa": ("nodes", "pe1", "ospf", "areas", 1, "nssa"),
    "OspfOutsideRange": ("nodes", "pe1", "ospf", "areas", 1, "nssa", "ranges", 0),
    "OspfVirtualLink": ("nodes", "pe1", "ospf", "virtual_links", 0),
    "OspfInterface": ("nodes", "pe1", "ospf", "interfaces", "p"),
    "Ldp": ("nodes", "pe1", "ldp"),
    "Tdp": ("nodes", "pe1", "tdp"),
    "Bfd": ("nodes", "pe1", "bfd"),
    "BfdAuthentication": ("nodes", "pe1", "bfd", "authentication"),
    "BfdPace": ("nodes", "pe1", "ospf", "bfd"),
    "LspPingPace": ("lsps", 3, "lsp_ping"),
    "Igmp": ("nodes", "pe1", "igmp"),
    "IgmpStatic": ("nodes", "pe1", "igmp", "static_groups", "p", 0),
    "Mld": ("nodes", "pe1", "mld"),
    "MldStatic": ("nodes", "pe1", "mld", "static_groups", "p", 0),
    "Cbt": ("nodes", "pe1", "cbt"),
    "CbtGroup": ("nodes", "pe1", "cbt", "groups", 0),
    "Pim": ("nodes", "pe1", "pim"),
    "Probing": ("nodes", "pe1", "probing"),
    "LspPing": ("nodes", "pe1", "lspping"),
    "Bgp": ("nodes", "pe1", "bgp"),
    "BgpMesh": ("nodes", "pe1", "bgp", "mesh"),
    "BgpNeighbor": ("nodes", "pe1", "bgp", "neighbors", "p"),
    "BgpRedistribution": ("nodes", "pe1", "bgp", "redistribute", 0),
    "PolicyRule": ("nodes", "pe1", "bgp", "redistribute", 0, "rules", 0),
    "BridgeSpec": ("nodes", "lan"),
    "SwitchSpec": ("nodes", "of"),
    "OvsSpec": ("nodes", "ovs"),
    "SwitchProfileSpec": ("nodes", "of", "profile"),
    "TlsSpec": ("nodes", "of", "tls"),
    "OpenFlowTesterSpec": ("nodes", "t"),
    "AtmSwitchSpec": ("nodes", "cells1"),
    "AtmLsrSpec": ("nodes", "lsr"),
    "HostSpec": ("nodes", "h"),
    "StationSpec": ("nodes", "s"),
    "EdgeSpec": ("nodes", "e"),
    "StepSpec": ("nodes", "e", "programme", 0),
    "MeasuringSpec": ("measuring",),
    "ExternalSpec": ("nodes", "x"),
    "PeerSpec": ("nodes", "raw"),
    "LinkSpec": ("links", 0),
    "PvcSpec": ("links", 12, "pvc"),
    "LcAtmSpec": ("links", 13, "lc_atm"),
    "VpSpec": ("links", 14, "vp"),
    "AdvertiseSpec": ("links", 1, "advertise"),
    "LspSpec": ("lsps", 0),
    "P2mpSpec": ("p2mp", 0),
    "ProtectionSpec": ("lsps", 0, "protection"),
    "FilterSpec": ("lsps", 0, "filters", 0),
    "PathSpec": ("lsps", 0, "path"),
    "FlowSpec": ("flows", 0),
    "DemandsSpec": ("demands",),
    "DemandSpec": ("demands", "matrix", 0),
    "DemandClassSpec": ("demands", "classes", "gold"),
    "GravitySpec": ("demands", "gravity"),
    "ShortestSpec": ("routes",),
    "EventSpec": ("events", 0),
    "RandomSpec": ("events", 2, "random"),
    "LossSpec": ("events", 2, "loss"),
    "CorruptionSpec": ("events", 3, "corruption"),
    "ReorderingSpec": ("events", 4, "reordering"),
    "DelaySpec": ("events", 5, "delay"),
    "RateSpec": ("events", 6, "rate"),
    "UniformSizes": ("flows", 1, "size"),
    "EmpiricalSizes": ("flows", 2, "size"),
    "ExponentialSizes": ("flows", 3, "size"),
    "OnOff": ("flows", 1, "arrivals"),
    "PeriodSpec": ("flows", 1, "arrivals", "on"),
    "Trace": ("flows", 2, "arrivals"),
    "DiffServ": ("nodes", "pe1", "diffserv"),
    "ELsp": ("lsps", 1, "diffserv"),
    "LLsp": ("lsps", 2, "diffserv"),
    "Tree": ("queues", "short"),
    "Accounting": ("queues", "short", "accounting"),
    "Htb": ("queues", "all"),
    "HtbClass": ("queues", "all", "classes", "link"),
    "Filter": ("queues", "all", "filters", 0),
    "Pfifo": (*LEAVES, "pfifo", "queue"),
    "Bfifo": (*LEAVES, "bfifo", "queue"),
    "Tbf": (*LEAVES, "tbf", "queue"),
    "Prio": (*LEAVES, "prio", "queue"),
    "PrioClass": (*LEAVES, "prio", "queue", "classes", "a"),
    "Red": (*LEAVES, "red", "queue"),
    "Gred": (*LEAVES, "gred", "queue"),
    "GredQueue": (*LEAVES, "gred", "queue", "queues", "AF11"),
    "Cbq": (*LEAVES, "cbq", "queue"),
    "CbqClass": (*LEAVES, "cbq", "queue", "classes", "a"),
    "Drr": (*LEAVES, "drr", "queue"),
    "DrrClass": (*LEAVES, "drr", "queue", "classes", "a"),
    "FqCodel": (*LEAVES, "fq-codel", "queue"),
    "Conditioner": ("conditioners", "police"),
    "Rule": ("conditioners", "police", "rules", 0),
    "TokenBucket": ("conditioners", "police", "rules", 0, "meter"),
    "SingleRate": ("conditioners", "police", "rules", 1, "meter"),
    "TwoRate": ("conditioners", "police", "rules", 2, "meter"),
}
"""Where each stands."""


def wrong(schema: dict[str, Any], chance: random.Random) -> Iterator[Any]:
    """Values that the declaration of a field rules out."""
    kind = schema["kind"]
    word = "".join(chance.choices("abcxyz", k=chance.randint(3, 9)))
    if kind == "bool":
        yield from (word, chance.randint(2, 99), [True])
    elif kind == "int":
        least, most = schema["least"], schema["most"]
        yield from (
            word,
            chance.random() + 0.25,
            [],
            least - 1 - chance.randrange(9),
            most + 1 + chance.randrange(9),
        )
    elif kind == "number":
        yield from (word, [], {})
    elif kind == "quantity":
        yield from (word, f"1 {word}{word}", -chance.random() - 0.1, [], {}, True, "1e400", f"{word} s")
    elif kind == "words":
        yield from (word, chance.randint(0, 9), [], {})
    elif kind == "text":
        yield from ([], {}, 1.5, True)
        if schema["form"] != "any text":
            yield from (f"{word} {word}/", "", *([f"-{word}"] if schema.get("pattern") else []))
    elif kind == "list":
        yield from (chance.randint(0, 9), {word: 1})
        yield from ([value] for value in wrong(schema["element"], chance))
    elif kind == "tuple":
        yield from (chance.randint(0, 9), [], [1, 2, 3])
    elif kind == "map":
        yield from (chance.randint(0, 9), word, [1])
    elif kind == "one-of":
        yield from (-1.5, [[]])
        if not any(one["kind"] in ("any", "named", "map") for one in schema["of"]):
            yield {word: 1}
    elif kind == "named":
        short = known_types()[schema["name"]].get("short", ())
        yield from ([[]], {f"no{word}": 1}, *([] if {"kind": "bool"} in short else [True]))


def _complete() -> None:
    """Node kinds, protocols and drivers that the file above does not name stand in it with defaults alone."""
    types = known_types()
    known = {node["kind"] for node in WHOLE["nodes"].values()}
    for variant in types["NodeSpec"]["variants"]:
        if variant["word"] not in known:
            WHOLE["nodes"][variant["word"]] = {"kind": variant["word"]}
            RECORDS[variant["record"]] = ("nodes", variant["word"])
    router = WHOLE["nodes"]["pe1"]
    for field in types["RouterSpec"]["fields"]:
        if field.get("absent") == "not spoken" and field["key"] not in router:
            router[field["key"]] = {}
            RECORDS[field["schema"]["name"]] = ("nodes", "pe1", field["key"])
    for field in types["TableDriver"]["fields"]:
        node = f"with-{field['key']}"
        WHOLE["nodes"][node] = {"kind": "router", "table_driver": {field["key"]: {}}}
        RECORDS[field["schema"]["name"]] = ("nodes", node, "table_driver", field["key"])


_complete()


def fields() -> list[tuple[Place, dict[str, Any]]]:
    types = known_types()
    # A match stands beside the class of a filter and the actions of a rule only.
    assert set(RECORDS) | {"Topology", "Match"} == {
        name for name, one in types.items() if one["kind"] == "record"
    }
    return [((*RECORDS[name], field["key"]), field) for name in RECORDS for field in types[name]["fields"]]


def with_value(place: Place, value: Any) -> dict[str, Any]:
    """The file with another value there; all that is not on the way to it is shared, not copied."""
    whole = here = copy.copy(WHOLE)
    for step in place[:-1]:
        here[step] = here = copy.copy(here[step])
    here[place[-1]] = value
    return whole


def refusal(whole: dict[str, Any]) -> Any:
    try:
        core.read_network(whole)
    except TwinplaneError as error:
        return error
    return None


def test_the_whole_is_right() -> None:
    assert core.load().read_network(WHOLE)["nodes"]["pe1"]["rsvp"]["refresh"] == "30 s"


def test_every_field_refuses_what_its_declaration_rules_out() -> None:
    tried = 0
    for place, field in fields():
        for seed in range(scaled(2)):
            for value in wrong(field["schema"], random.Random(f"{place}{seed}")):
                if (place[-1], value) == ("as_path", ""):
                    continue  # the pattern of paths without an AS
                error = refusal(with_value(place, value))
                assert error is not None, (place, value)
                tried += 1
                assert error.path[: len(place)] == place or (
                    # Two things that contradict each other are told of by what holds both.
                    isinstance(error, ConflictError) and place[: len(error.path)] == error.path
                ), (place, value, error.path, str(error))
                assert "\n" not in str(error) and str(error).endswith(error.words) and error.words
    assert tried > 2000


def test_every_mistake_has_its_line_and_column(tmp_path: Path) -> None:
    """Of every third field in continuous integration: the whole file is written and read for each."""
    path = tmp_path / "x.yaml"
    for place, field in fields()[:: 3 if scaled(1) == 1 else 1]:
        value = next(wrong(field["schema"], random.Random(1)), None)
        if value is None:
            continue
        text = yaml.dump(with_value(place, value), Dumper=DUMPER, sort_keys=False)
        with pytest.raises(TwinplaneError) as caught:
            network_file.checked(source.parse(text, path))
        name, line, column, sentence = str(caught.value).split(":", 3)
        written = text.splitlines()[int(line) - 1]
        assert name == str(path) and 1 <= int(column) <= len(written) + 1 and sentence.strip()
        key = str(place[-1])
        assert key in written or key in text.splitlines()[int(line) - 2], (place, value, str(caught.value))


@pytest.mark.parametrize("record", RECORDS, ids=str)
def test_unknown_fields_and_missing_ones(record: str) -> None:
    place = RECORDS[record]
    with pytest.raises(TwinplaneError) as caught:
        core.read_network(with_value((*place, "nonsense"), 1))
    error: Any = caught.value
    assert (error.path, error.on_key, error.code) == ((*place, "nonsense"), True, "unknown-field")
    for field in known_types()[record]["fields"]:
        if field["required"] and field["key"] != known_types()[record].get("flat"):
            whole = with_value((*place, field["key"]), 1)
            here: Any = whole
            for step in place:
                here = here[step]
            del here[field["key"]]
            with pytest.raises(TwinplaneError) as caught:
                core.read_network(whole)
            error = caught.value
            assert (
                error.code == "missing" and error.path == place and error.arguments["field"] == field["key"]
            )
