"""Queue disciplines, filters and conditioners as a user describes them, and what is refused."""

import html
import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane import queues as q
from twinplane.queues.phb import behaviour, behaviours, name_of
from twinplane.queues.tree import tree
from twinplane.reports.queues import drawn, layout


def ports(_: Any) -> list[int]:
    return [3]


def htb(**more: Any) -> q.Htb:
    classes = {
        "all": q.HtbClass(rate="4 Mbit/s"),
        "gold": q.HtbClass(
            parent="all", rate="1 Mbit/s", ceil="4 Mbit/s", prio=1, queue=q.Bfifo(limit="10 kB")
        ),
        "rest": q.HtbClass(parent="all", rate=3e6, queue=q.FqCodel(target="2 ms")),
    }
    return q.Htb(**{"classes": classes, "default": "rest", **more})


def test_a_tree_is_lowered_to_what_the_core_takes() -> None:
    made = q.Tree(
        root=htb(filters=[{"phb": "EF", "class": "gold"}, {"inputs": "p", "class": "gold"}]),
        accounting={"layer": "ip"},
    )
    assert made.lowered(ports) == {
        "accounting": {"layer": "ip", "overhead": 0, "minimum": 0},
        "root": {
            "discipline": "htb",
            "classes": {
                "all": {"rate": 4_000_000, "prio": 0},
                "gold": {
                    "parent": "all",
                    "rate": 1_000_000,
                    "ceil": 4_000_000,
                    "prio": 1,
                    "queue": {"discipline": "bfifo", "limit": 10_000},
                },
                "rest": {
                    "parent": "all",
                    "rate": 3_000_000,
                    "prio": 0,
                    "queue": {"discipline": "fq-codel", "target": "2 ms"},
                },
            },
            "filters": [
                {"class": "gold", "phb": ["EF"]},
                {"class": "gold", "inputs": [3]},
            ],
            "default": "rest",
        },
    }


def test_the_burst_of_red_is_packets_or_bytes() -> None:
    given = {"limit": "120 kB", "min": "10 kB", "max": "100 kB", "avpkt": 1000}
    for burst, packets in ((11, 11), ("11", 11), ("11 kB", 11), ("10500 B", 11), (None, 40)):
        assert q.Red(**given, burst=burst).lowered(ports)["burst"] == packets
    # tc-red: max is a quarter of limit, min a third of max.
    assert q.Red(limit="120 kB").lowered(ports) | {"discipline": ""} == {
        "discipline": "",
        "limit": 120_000,
        "min": 10_000,
        "max": 30_000,
        "avpkt": 1000,
        "burst": 17,
    }


def test_gred_has_a_queue_for_each_behaviour() -> None:
    made = q.Gred(
        limit="120 kB",
        min="30 kB",
        max="100 kB",
        burst="35 kB",
        queues={"AF11": {"prio": 1}, "more": {"phb": ["AF12", "AF13"], "probability": 0.1}},
        grio=True,
    ).lowered(ports)
    assert made["grio"] and made["limit"] == 120_000
    assert [queue["phb"] for queue in made["queues"].values()] == [["AF11"], ["AF12", "AF13"]]
    assert [queue["prio"] for queue in made["queues"].values()] == [1, 8]
    assert made["queues"]["more"]["probability"] == 0.1 and made["queues"]["AF11"]["burst"] == 35


def test_a_conditioner_meters_and_marks() -> None:
    made = q.Conditioner(
        rules=[
            {"name": "ef", "dscp": "EF", "meter": q.TokenBucket(rate="1.1 Mbit/s", burst="10 kB")},
            {
                "name": "af",
                "phb": "AF1",
                "meter": {
                    "kind": "two-rate",
                    "cir": 1e6,
                    "cbs": 1500,
                    "pir": 2e6,
                    "pbs": 3000,
                    "aware": True,
                },
                "yellow": "remark af12",
                "red": "mark 7",
            },
        ]
    ).lowered(ports)
    first, second = made["rules"]
    assert first["dscp"] == [46] and first["red"] == "drop"
    assert first["meter"] == {"kind": "token-bucket", "rate": 1_100_000, "burst": 10_000}
    assert second["phb"] == ["AF11", "AF12", "AF13"] and second["meter"]["aware"]
    assert second["yellow"] == "remark AF12" and second["red"] == "mark 7"


def test_behaviours_have_names() -> None:
    names = [behaviour(word) for word in ("EF", "af11", "CS7", "default", "BE", 63, "DSCP 5")]
    assert names == [46, 10, 56, 0, 0, 63, 5]
    assert behaviours(["AF1", "EF"]) == (10, 12, 14, 46)
    assert [name_of(code) for code in (0, 8, 10, 46, 5)] == ["default", "CS1", "AF11", "EF", "DSCP 5"]


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
    "phb": (_classes(filters=[{"phb": "AF14", "class": "a"}]), "x: filter 1: phb: 'AF14' is no per-hop"),
    "dscp": (
        _classes(filters=[{"dscp": 64, "class": "a"}]),
        "x: filter 1: dscp: 64: a code point is 0 to 63",
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
        "x: filter 3: it can take nothing: those before it take every phb that it names",
    ),
    "empty": (
        _classes(filters=[{"labelled": False, "tc": 3, "class": "a"}]),
        "x: filter 1: tc: it can take nothing: a packet without a label has no tc",
    ),
    "renamed": (_classes(filters=[{"exp": 3, "class": "a"}]), "x: filter 1: 'exp' is now called 'tc'"),
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
    "mapping for a list": (_classes(filters={"phb": "EF"}), "x: filters: it should be a list"),
    "no class": (
        {"discipline": "prio", "classes": {"a": None}},
        "x: class 'a': nothing is said: it should be a mapping, {} if all is as usual",
    ),
    "no number": (
        {"discipline": "pfifo", "limit": "many"},
        "x: limit: 'many': it should be a whole number",
    ),
    "no choice": ({**RED, "ecn": "perhaps"}, "x: ecn: 'perhaps': it should be true or false"),
    "too few": ({"discipline": "pfifo", "limit": 0}, "x: limit: 0: it should be at least 1"),
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
    with pytest.raises(
        tp.TwinplaneError, match=r"^Conditioner: rule 1: red: 'remark AF44' *|'AF44' is no per-hop"
    ):
        q.Conditioner(rules=[{"name": "ef", "red": "remark AF44"}])
    with pytest.raises(tp.TwinplaneError, match="rule 2: name: another rule is called 'ef'"):
        q.Conditioner(rules=[{"name": "ef", "phb": "EF"}, {"name": "ef"}])


def network() -> tuple[tp.Network, tp.Router, tp.Router]:
    net = tp.Network()
    return net, net.router("a"), net.router("b")


def test_queues_are_at_the_ends_that_are_named() -> None:
    net, a, b = network()
    net.link(a, b, queue={"b": q.Pfifo(limit=7)}, ingress={a: q.Conditioner(rules=[{"name": "all"}])})
    net.link(a, b, queue=htb())
    first, second = net.lowered()["links"]
    assert first["b_queue"]["root"] == {"discipline": "pfifo", "limit": 7}
    assert "a_queue" not in first and first["a_ingress"]["rules"][0]["name"] == "all"
    assert second["a_queue"] == second["b_queue"]
    with pytest.raises(
        tp.TwinplaneError, match="link a - b: queue: 'c' is not an end of this link, a and b are"
    ):
        net.link(a, b, queue={"c": q.Pfifo()})
    assert len(net.links) == 2


def test_inputs_are_ports_of_the_node() -> None:
    net, a, b = network()
    c = net.router("c")
    net.link(a, c)
    into = {"discipline": "drr", "classes": {"x": {}, "y": {}}, "filters": [{"inputs": "c", "class": "x"}]}
    net.link(a, b, queue={"a": into})
    direct = net.link(a, c)
    assert net.lowered()["links"][1]["a_queue"]["root"]["filters"][0]["inputs"] == [0, 2]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": [direct], "class": "x"}])})
    assert net.lowered()["links"][3]["a_queue"]["root"]["filters"][0]["inputs"] == [2]
    net.link(a, b, queue={"b": into})
    with pytest.raises(tp.TwinplaneError, match=r"queue at b: inputs: b has no neighbour 'c' \(one of a"):
        net.lowered()


def test_rates_that_do_not_add_up_are_a_warning_that_says_by_how_much(tmp_path: Path) -> None:
    net, a, b = network()
    classes = {name: {"rate": rate} for name, rate in (("ef", 0.8e6), ("af1", 2e6), ("de", 1e6))}
    shaper = q.Htb(
        classes={"all": {"rate": "2.8 Mbit/s"}, **{k: {**v, "parent": "all"} for k, v in classes.items()}}
    )
    net.link(a, b, rate="100 Mbit/s", queue={"a": shaper})
    more = (
        "link a - b: queue at a: class 'all': the rates of ef, af1 and de add up to 3.8 Mbit/s,"
        " 1 Mbit/s more than the 2.8 Mbit/s of 'all', which they are in"
    )
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 ms")
    rest = "link a - b: queue at a: no packet gets to ef, af1 and de: no filter leads there"
    said = [str(one.message) for one in caught]
    assert said[:2] == [more, rest] and said == net.warnings
    assert len(said) == 3 and "they leave before all classes, at the rate of the port" in said[2]
    assert {one.filename for one in caught} == {__file__}  # the user's line, not one of the library
    page = tp.report(net, tmp_path / "page.html")
    assert html.unescape(page.read_text()).count(f"Warning: {more}.") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net, a, b = network()
        net.link(a, b, rate="100 Mbit/s", queue={"a": htb(filters=[{"phb": "EF", "class": "gold"}])})
        net.run(until="1 ms")
    assert net.warnings == []


def test_the_same_at_several_ends_is_said_once() -> None:
    net, a, b = network()
    for x, y in ((a, b), (b, net.router("c"))):
        net.link(x, y, queue=q.Drr(classes={"x": {}, "y": {}}, default="x"))
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="1 us")
    assert [str(one.message) for one in caught] == [
        "link a - b: queue at a: no packet gets to y: no filter leads there (and so at 3 more)"
    ]


def test_what_is_surprising_about_rules_is_a_warning_too() -> None:
    net, a, b = network()
    rules = [
        {"name": "one", "meter": {"kind": "token-bucket", "rate": 1e6, "burst": 100}, "phb": "EF"},
        {"name": "two", "yellow": "drop"},
    ]
    net.link(a, b, ingress={"b": q.Conditioner(rules=rules)})
    net.link(a, b, queue={"a": q.Tree(root=q.Pfifo(), conditioner=q.Conditioner(rules=rules))})
    with pytest.warns(tp.TwinplaneWarning):
        said = net.warnings
    burst = "rule 1 'one': burst=100 is less than the longest packet"
    yellow = "rule 2 'two': without a meter all packets are green: 'yellow' and 'red' mean nothing"
    assert [text.partition(" (1514")[0] for text in said] == [
        f"link a - b: ingress at b: {burst}",
        f"link a - b: ingress at b: {yellow}",
        f"link a - b: queue at a: conditioner: {burst}",
        f"link a - b: queue at a: conditioner: {yellow}",
    ]


def said_of(**link: Any) -> list[str]:
    net, a, b = network()
    net.link(a, b, **{"rate": "10 Mbit/s", **link})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [text.removeprefix("link a - b: queue at a: ") for text in net.warnings]


def tbf(burst: int, **more: Any) -> q.Tbf:
    return q.Tbf(rate="1 Mbit/s", burst=burst, latency="1 s", **more)


def test_packets_that_no_filter_takes_are_warned_of() -> None:
    classes: dict[str, Any] = {"x": {}, "y": {}}
    voice = {"phb": "EF", "class": "x"}
    left = (
        "no filter takes ARP, RSVP, routing, best-effort IP, labelled packets and some others, and there is"
        " no default: they are dropped (no-class), so that neighbours are not found and LSPs do not come up:"
        " say in 'default' which class takes them"
    )
    others = {"phb": "AF1", "class": "y"}
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, others])}) == [left]
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, others], default="y")}) == []
    assert said_of(queue={"a": q.Drr(classes=classes, filters=[voice, {"class": "y"}])}) == []
    af = q.Gred(limit="60 kB", queues={"AF11": {}, "AF12": {}, "AF13": {}})
    inner = q.Prio(classes={"af": {"queue": af}, "y": {}}, filters=[{"phb": "AF1", "class": "af"}])
    assert said_of(queue={"a": inner}) == []


def test_the_longest_packet_is_counted_as_the_tree_does() -> None:
    def tree_of(burst: int, layer: str) -> dict[str, Any]:
        return {"a": q.Tree(root=tbf(burst), accounting={"layer": layer})}

    assert said_of(queue=tree_of(1500, "ip")) == said_of(queue=tree_of(1538, "wire")) == []
    less = "burst=1514 is less than the longest packet (1538 B): longer ones than that are dropped"
    assert said_of(queue=tree_of(1514, "wire")) == [less]
    assert said_of(queue={"a": tbf(1600)}, mtu=9000) == [
        "burst=1600 is less than the longest packet (9014 B): longer ones than that are dropped"
    ]
    # Nobody asked for the 9216 bytes of a link that says nothing.
    assert said_of(queue={"a": tbf(1600)}) == []


def test_packets_beyond_a_burst_are_told_at_the_end() -> None:
    net = tp.Network()
    a, h, k = net.router("a"), net.host("h", "10.1.0.2/24"), net.host("k", "10.2.0.2/24")
    net.link(h, a, rate="100 Mbit/s")
    net.link(a, k, rate="100 Mbit/s", queue={"a": q.Tbf(rate="9 Mbit/s", burst=1600, latency="1 s")})
    net.flow(h, k, rate="1 Mbit/s", size=9000, stop="0.1 s", name="big")
    with pytest.warns(tp.TwinplaneWarning) as caught:
        net.run(until="50 ms")
        net.run(until="1 s")
    before, after = [str(one.message).removeprefix("link a - k: queue at a: ") for one in caught]
    assert before.startswith("burst=1600 is less than the longest packet (8996 B, of flow 'big'): longer")
    assert "were dropped since they are longer than its bucket (beyond-burst)" in after
    assert len(net.warnings) == 2 and {one.filename for one in caught} == {__file__}


def test_what_has_no_effect_is_warned_of() -> None:
    slow: dict[str, Any] = {"rate": "1 Mbit/s", "queue": tbf(3000)}
    for queue, mark in (
        (q.Htb(classes={"x": {**slow, "ceil": "2 Mbit/s"}}, default="x"), "class 'x': ceil=2 Mbit/s means"),
        (q.Cbq(bandwidth="5mbit", avpkt=1000, classes={"x": slow}, default="x"), "bandwidth=5 Mbit/s is not"),
        (
            q.Tbf(rate="20mbit", burst=3000, limit=9000),
            "rate=20 Mbit/s is more than the 10 Mbit/s of the port",
        ),
        (
            q.Tbf(rate="9mbit", burst=3000, queue=q.Htb(classes={"x": {"rate": "60mbit"}}, default="x")),
            "the rate of x is 60 Mbit/s, 51 Mbit/s more than the 9 Mbit/s of the tbf that it is in",
        ),
        (
            q.Drr(classes={"x": {}}, filters=[{"mark": 7, "class": "x"}], default="x"),
            "filter 1: it can match nothing: no conditioner puts mark 7 on packets",
        ),
        (
            q.Tree(root=q.Pfifo(), accounting={"layer": "ip", "overhead": -40}),
            "accounting: with overhead=-40 packets of up to 41 B of IP count for 1 byte",
        ),
    ):
        said = said_of(queue={"a": queue})
        assert len(said) == 1 and said[0].startswith(mark), said
    with pytest.raises(tp.TwinplaneError, match="accounting: overhead: -65: it should be at least -64"):
        q.Tree(root=q.Pfifo(), accounting={"overhead": -65})


def test_what_a_rule_does_may_go_below_labels() -> None:
    said = {
        "remark AF12": "remark AF12",
        "remark af12  below labels": "remark AF12 below labels",
        "remark AF12 as TC 3": "remark AF12 as TC 3",
        "remark DSCP 5 tc 7, below labels too": "remark DSCP 5 as TC 7 below labels",
    }
    for text, expected in said.items():
        made = q.Conditioner(rules=[{"name": "x", "green": text}])
        assert made.lowered(ports)["rules"][0]["green"] == expected
        # What it says of itself says the same.
        again = q.Conditioner(rules=[{"name": "x", "green": made.rules[0].green}])
        assert again == made
        net, a, b = network()
        net.link(a, b, ingress={"a": made})
        net.run(until="1 us")
    for text, why in (
        ("remark AF12 as TC 8", "the TC of a label is 0 to 7"),
        ("remark AF12 as EXP 3", "'as EXP' is now called 'as TC'"),
        ("remark AF12 below", "no per-hop behaviour"),
        ("remark", "is no action"),
    ):
        with pytest.raises(tp.TwinplaneError, match=f"rule 1: green: .*{why}"):
            q.Conditioner(rules=[{"name": "x", "green": text}])


def test_one_bucket_of_rfc_2697_may_be_empty() -> None:
    for cbs, ebs in ((0, 3000), (3000, 0)):
        made = q.SingleRate(cir="1 Mbit/s", cbs=cbs, ebs=ebs)
        assert made.lowered(ports)["cbs"] == cbs and made.lowered(ports)["ebs"] == ebs
        net, a, b = network()
        net.link(a, b, ingress={"a": q.Conditioner(rules=[{"name": "x", "meter": made}])})
        net.run(until="1 us")
    with pytest.raises(tp.TwinplaneError, match="cbs: cbs and ebs are both 0"):
        q.SingleRate(cir=1, cbs=0, ebs=0)


def test_inputs_may_be_interfaces_where_links_are_parallel() -> None:
    net, a, b = network()
    c = net.router("c")
    net.link(a, c)
    net.link(a, c)
    net.link(
        a,
        b,
        queue={
            "a": q.Drr(
                classes={"x": {}, "y": {}},
                filters=[{"inputs": "c:e1", "class": "x"}, {"inputs": ["a:e0"], "class": "y"}],
            )
        },
    )
    filters = net.lowered()["links"][2]["a_queue"]["root"]["filters"]
    assert [one["inputs"] for one in filters] == [[1], [0]]
    net.link(a, b, queue={"a": q.Drr(classes={"x": {}}, filters=[{"inputs": "c:e7", "class": "x"}])})
    with pytest.raises(tp.TwinplaneError, match="inputs: no link of a has an end 'c:e7' "):
        net.lowered()


def loaded(**more: Any) -> tuple[tp.Network, tp.Link]:
    """Two flows through a link of 1 Mbit/s with a queue, 1.5 Mbit/s together."""
    net = tp.Network(queue_bin="50 ms")
    a, b, h = net.router("a"), net.router("b"), net.host("h")
    edge = q.Conditioner(
        rules=[{"name": "ef", "dscp": "EF", "meter": q.TokenBucket(rate="300 kbit/s", burst="3 kB")}]
    )
    net.link(h, a, rate="100 Mbit/s", addresses=("10.1.0.2/24", "10.1.0.1/24"), ingress={"a": edge})
    link = net.link(a, b, rate="1 Mbit/s", queue={"a": more.get("queue", bands())})
    net.link(b, h, rate="100 Mbit/s", addresses=("10.2.0.1/24", "10.2.0.2/24"))
    for name, rate, dscp in (("voice", "500 kbit/s", "EF"), ("rest", "1 Mbit/s", 0)):
        net.flow(
            h,
            h,
            from_link="a",
            to_link="b",
            rate=rate,
            size=518,
            dscp=dscp,
            name=name,
            log=name == "voice",
            arrivals="poisson",
            stop="2 s",
        )
    return net, link


def bands() -> q.Prio:
    classes = {"voice": {"queue": q.Bfifo(limit="10 kB")}, "rest": {"queue": q.Pfifo(limit=20)}}
    return q.Prio(classes=classes, filters=[{"phb": "EF", "class": "voice"}])


def test_queues_and_rules_count_what_they_did() -> None:
    net, link = loaded()
    net.run(until="3 s")
    table = {row["path"]: row for row in net.queues().iter_rows(named=True)}
    assert list(table) == ["root", "root/voice", "root/rest"]
    assert table["root"]["node"] == "a" and table["root"]["neighbor"] == "b"
    assert table["root/voice"]["dropped_packets"] == 0 < table["root/rest"]["dropped_packets"]
    for row in table.values():
        assert row["given_packets"] == row["sent_packets"] + row["dropped_packets"] + row["backlog_packets"]
    lost = net.queues().explode("drops").unnest("drops").drop_nulls("reason")
    assert lost.select("path", "reason", "packets").rows() == [
        (path, "buffer-full", table["root/rest"]["dropped_packets"]) for path in ("root", "root/rest")
    ]
    assert link.queues().height == net.queues("a").height == 3 and net.queues("b").height == 0
    rules = {row["colour"]: row["packets"] for row in net.conditioners("a").iter_rows(named=True)}
    voice = net.flows[0].stats().row(0, named=True)
    assert rules["green"] + rules["red"] == voice["sent"] and rules["red"] == voice["lost"] > 0
    packets = net.flows[0].packets()
    assert packets.height == voice["sent"] and packets["arrival_s"].null_count() == voice["lost"]
    with pytest.raises(tp.TwinplaneError, match="flow 'rest': its packets were not kept"):
        net.flows[1].packets()
    series = net.queue_series()
    assert series["max_bytes"].max() == table["root"]["backlog_bytes_max"]


def test_the_report_shows_trees(tmp_path: Path) -> None:
    net, _ = loaded()
    net.run(until="3 s")
    text = tp.report(net, tmp_path / "net.html").read_text()
    assert "├─\u00a0voice" in text and "└─\u00a0rest" in text
    assert "Backlog of a towards b over time" in text and "Meters and markers" in text
    assert "buffer-full" in text and "by Little" in text


def test_trees_are_drawn_by_parents() -> None:
    described = htb().lowered(ports)
    found = dict(layout(described, "root"))
    assert [shown for shown, _ in found.values()] == [
        "root",
        "root/all",
        "root/all/gold",
        "root/all/rest",
    ]
    assert found["root/gold"][1] == "1 Mbit/s, up to 4 Mbit/s, limit 10 kB"
    assert drawn([shown for shown, _ in found.values()]) == [
        "root",
        "└─\u00a0all",
        "\u00a0\u00a0\u00a0├─\u00a0gold",
        "\u00a0\u00a0\u00a0└─\u00a0rest",
    ]


def test_a_field_with_the_name_of_a_discipline_is_named() -> None:
    with pytest.raises(tp.TwinplaneError, match=r"^CbqClass: prio: 9"):
        q.CbqClass(rate="1 Mbit/s", prio=9)
    with pytest.raises(tp.TwinplaneError, match=r"rule 1: meter: 'srtcm': it should be a mapping"):
        q.Conditioner(rules=[{"name": "x", "meter": "srtcm"}])
