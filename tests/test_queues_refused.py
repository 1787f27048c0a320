"""Wrong queues and conditioners: one sentence, which says where."""

from typing import Any

import pytest
import twinplane as tp
from twinplane import queues as q
from twinplane.queues.tree import tree

from tests.support.queues import htb


def _classes(**more: Any) -> dict[str, Any]:
    return {"discipline": "htb", "classes": {"a": {"rate": 1000}, "b": {"rate": 1000}}, **more}


RED = {"discipline": "red", "limit": 120_000, "min": 10_000, "max": 100_000, "avpkt": 1000}


BAD = {
    "parent": (
        {"discipline": "htb", "classes": {"gold": {"rate": 1}, "b": {"rate": 1, "parent": "golt"}}},
        "x: class 'b': parent: there is no class 'golt' (did you mean 'gold'?)",
    ),
    "cycle": (
        {
            "discipline": "cbq",
            "avpkt": 1000,
            "classes": {
                "a": {"rate": 1, "parent": "b"},
                "b": {"rate": 1, "parent": "c"},
                "c": {"rate": 1, "parent": "a"},
            },
        },
        "x: class 'a': parent: the classes are a cycle: 'a' is in 'b', 'b' is in 'c', 'c' is in 'a'",
    ),
    "in itself": (
        {"discipline": "htb", "classes": {"a": {"rate": 1, "parent": "a"}}},
        "x: class 'a': parent: the classes are a cycle: 'a' is in 'a'",
    ),
    "leaf": (
        {
            "discipline": "htb",
            "classes": {"a": {"rate": 1, "queue": {"discipline": "pfifo"}}, "b": {"rate": 1, "parent": "a"}},
        },
        "x: class 'a': it has a queue, and 'b' is in it: packets wait in leaves only",
    ),
    "inner": (
        {"discipline": "htb", "classes": {"a": {"rate": 1}, "b": {"rate": 1, "parent": "a"}}, "default": "a"},
        "x: default: class 'a' has others in it: packets wait in leaves (b)",
    ),
    "ceil": (
        {"discipline": "htb", "classes": {"a": {"rate": "2 Mbit/s", "ceil": "1 Mbit/s"}}},
        "x: class 'a': ceil: 1 Mbit/s has to be at least rate=2 Mbit/s",
    ),
    "thresholds": (
        {**RED, "min": 110_000},
        "x: min: thresholds out of order: min=110000 has to be below max=100000",
    ),
    "limit": ({**RED, "limit": 90_000}, "x: max: thresholds out of order: max=100000 has to be at most"),
    "burst": ({**RED, "burst": 9}, "x: burst: 9 packets of 1000 bytes are less than min=10000: at least 10"),
    "phb": (_classes(filters=[{"phb": "AF14", "class": "a"}]), "x: filter 1: phb: 'AF14' is not a PHB: EF, "),
    "dscp": (
        _classes(filters=[{"dscp": 64, "class": "a"}]),
        "x: filter 1: dscp: 64 is not a code point: EF, ",
    ),
    "class": (
        _classes(filters=[{"dscp": 6, "class": "c"}]),
        "x: filter 1: class: there is no class 'c' (one of a, b)",
    ),
    "shadow": (
        _classes(filters=[{"phb": "AF1", "class": "a"}, {"phb": "AF12", "tc": 3, "class": "b"}]),
        "x: filter 2: it can take nothing: filter 1 before it takes all of its packets",
    ),
    "shadows": (
        _classes(
            filters=[
                {"phb": "AF11", "class": "a"},
                {"phb": "AF12", "class": "b"},
                {"phb": ["AF11", "AF12"], "class": "b"},
            ]
        ),
        "x: filter 3: it can take nothing: filter 1 and filter 2 before it take all of its packets",
    ),
    "empty": (
        _classes(filters=[{"labelled": False, "tc": 3, "class": "a"}]),
        "x: filter 1: tc: it can take nothing: a packet without a label has no tc",
    ),
    "renamed": (_classes(filters=[{"exp": 3, "class": "a"}]), "x: filter 1: 'exp' is called 'tc' now"),
    "ports": (
        _classes(filters=[{"protocol": "icmp", "dst_ports": 7, "class": "a"}]),
        "x: filter 1: protocol: it can take nothing: protocol icmp has no ports",
    ),
    "unit": (
        {"discipline": "bfifo", "limit": "10 kbyte"},
        "x: limit: '10 kbyte': unknown unit 'kbyte' (did you mean 'byte'?)",
    ),
    "field": (_classes(defautl="a"), "x: unknown field 'defautl' (did you mean 'default'?)"),
    "field of a class": (
        {"discipline": "cbq", "avpkt": 1, "classes": {"red": {"rate": 1, "boundet": True}}},
        "x: class 'red': unknown field 'boundet' (did you mean 'bounded'?)",
    ),
    "discipline": ({"discipline": "hbt"}, "x: discipline: 'hbt' is none of pfifo, "),
    "nothing": ({"limit": 3}, "x: discipline is missing"),
    "gred twice": (
        {"discipline": "gred", "limit": 120_000, "queues": {"AF11": {}, "y": {"phb": "AF1"}}},
        "x: queue 'y': phb: AF11 belongs to 'AF11' already",
    ),
    "no name": (
        {"discipline": "drr", "classes": {"": {}}},
        "x: classes: '' is not a name: it has up to 32 letters",
    ),
    "no list": (_classes(filters=3), "x: filters: 3: it should be a list"),
    "mapping for a list": (_classes(filters={"phb": "EF"}), "x: filters: a mapping: it should be a list"),
    "no class": (
        {"discipline": "prio", "classes": {"a": None}},
        "x: class 'a': nothing: it should be a mapping, {} if all is as usual",
    ),
    "no number": (
        {"discipline": "pfifo", "limit": "many"},
        "x: limit: 'many': it should be a whole number",
    ),
    "no choice": ({**RED, "ecn": "perhaps"}, "x: ecn: 'perhaps': it should be true or false"),
    "too few": ({"discipline": "pfifo", "limit": 0}, "x: limit: 0: it should be 1 to 4294967295"),
    "peak": (
        {"discipline": "tbf", "rate": 10, "burst": 10, "limit": 9, "peakrate": 9, "mtu": 9},
        "x: peakrate: 9 bit/s has to be above rate=10 bit/s",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_its_place(case: str) -> None:
    given, said = BAD[case]
    with pytest.raises(tp.TwinplaneError) as caught:
        tree(given, "x")
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_models_refuse_in_the_same_words() -> None:
    with pytest.raises(tp.TwinplaneError, match=r"^htb: default: there is no class 'gould' \(did you mean"):
        htb(default="gould")
    with pytest.raises(tp.TwinplaneError, match=r"^HtbClass: rate: '4 Mbits': unknown unit"):
        q.HtbClass(rate="4 Mbits")
    with pytest.raises(tp.TwinplaneError, match=r"^Conditioner: rule 'ef': red: 'AF44' is not a PHB"):
        q.Conditioner(rules=[{"name": "ef", "red": "remark AF44"}])
    with pytest.raises(tp.TwinplaneError, match="rule 'ef': name: another rule is called 'ef'"):
        q.Conditioner(rules=[{"name": "ef", "phb": "EF"}, {"name": "ef"}])


def test_a_field_with_the_name_of_a_discipline_is_named() -> None:
    with pytest.raises(tp.TwinplaneError, match=r"^CbqClass: prio: 9"):
        q.CbqClass(rate="1 Mbit/s", prio=9)
    with pytest.raises(
        tp.TwinplaneError, match=r"rule 'x': meter: 'srtcm': it should be a mapping with a kind"
    ):
        q.Conditioner(rules=[{"name": "x", "meter": "srtcm"}])
