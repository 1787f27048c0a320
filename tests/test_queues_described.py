"""What disciplines, meters and rules say when they are made, with their defaults."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import twinplane as tp
from twinplane import queues as q
from twinplane.queues.tree import tree

from tests.support.queues import htb, network


def test_fields_that_are_not_given_have_their_defaults() -> None:
    made = q.Tree(
        root=htb(filters=[{"phb": "EF", "class": "gold"}, {"inputs": "p", "class": "gold"}]),
        accounting={"layer": "ip"},
    )
    assert made.accounting == q.Accounting(layer="ip", overhead=0, minimum=0)
    assert isinstance(made.root, q.Htb) and made.root.discipline == "htb"
    gold = {"parent": "all", "rate": "1 Mbit/s", "ceil": "4 Mbit/s", "prio": 1}
    assert made.root.described() == {
        "discipline": "htb",
        "filters": [{"class": "gold", "phb": ["EF"]}, {"class": "gold", "inputs": ["p"]}],
        "r2q": 10,
        "classes": {
            "all": {"rate": "4 Mbit/s", "prio": 0},
            "gold": {**gold, "queue": {"discipline": "bfifo", "limit": "10 kB"}},
            "rest": {
                "parent": "all",
                "rate": "3 Mbit/s",
                "prio": 0,
                "queue": q.FqCodel(target="2 ms").described(),
            },
        },
        "default": "rest",
        "direct_qlen": 1000,
    }
    assert (
        made == q.Tree(**made.described()) == tree(made.described(), "x") == pickle.loads(pickle.dumps(made))
    )
    assert made.root == replace(made.root, r2q=10) != replace(made.root, r2q=11)


def test_what_a_record_says_is_read_once_more_as_the_same() -> None:
    for given in (
        q.Red(limit="120 kB", burst="10500 B"),
        q.Gred(
            limit="120 kB",
            queues={"AF11": {"prio": 1}, "more": {"phb": ["AF12", "AF13"], "probability": 0.1}},
        ),
        q.Cbq(avpkt=1000, classes={"a": {"rate": 1e6, "minidle": "1 ms"}}),
        q.Tbf(rate="1 Mbit/s", burst="3 kB", latency="50 ms"),
        q.Prio(classes={"a": {}, "b": {"queue": q.Drr(classes={"c": {}})}}),
        q.TwoRate(cir=1e6, cbs=1500, pir=2e6, pbs=3000, aware=True),
        q.Filter(**{"class": "a", "labels": [16, 99], "src_ports": "1-7", "protocol": "udp"}),
    ):
        described = given.described()
        assert type(given)(**described) == given and type(given).of(described, "x") == given


def test_numbers_of_other_libraries_are_numbers() -> None:
    assert q.HtbClass(rate=np.float64(1e6), prio=np.int64(3)) == q.HtbClass(rate="1 Mbit/s", prio=3)


def test_a_conditioner_meters_and_marks() -> None:
    two = {"kind": "two-rate", "cir": 1e6, "cbs": 1500, "pir": 2e6, "pbs": 3000, "aware": True}
    made = q.Conditioner(
        rules=[
            {"name": "ef", "dscp": "EF", "meter": q.TokenBucket(rate="1.1 Mbit/s", burst="10 kB")},
            {"name": "af", "phb": "AF1", "meter": two, "yellow": "remark af12", "red": "mark 7"},
        ]
    )
    first, second = made.rules
    assert first.dscp == ["EF"] and (first.green, first.red) == ("pass", "drop")
    assert first.meter == q.TokenBucket(rate="1.1 Mbit/s", burst="10 kB")
    assert (
        second.phb == ["AF11", "AF12", "AF13"] and isinstance(second.meter, q.TwoRate) and second.meter.aware
    )
    assert second.yellow == "remark AF12" and second.red == "mark 7"


def test_what_a_rule_does_may_go_below_labels() -> None:
    said = {
        "remark AF12": "remark AF12",
        "remark af12  below labels": "remark AF12 below labels",
        "remark AF12 as TC 3": "remark AF12 as TC 3",
        "remark DSCP 5 tc 7, below labels too": "remark DSCP 5 as TC 7 below labels",
    }
    for text, expected in said.items():
        made = q.Conditioner(rules=[{"name": "x", "green": text}])
        assert made.rules[0].green == expected
        # What it says of itself says the same.
        again = q.Conditioner(rules=[{"name": "x", "green": made.rules[0].green}])
        assert again == made
        net, a, b = network()
        net.link(a, b, ingress={"a": made})
        net.run(until="1 us")
    for text, why in (
        ("remark AF12 as TC 8", "the TC bits of a label are 0 to 7"),
        ("remark AF12 as EXP 3", "the EXP bits are called TC now: 'remark AF12 as TC 3'"),
        ("remark AF12 below", "'AF12 below' is not a PHB"),
        ("remark", "is no action"),
    ):
        with pytest.raises(tp.TwinplaneError, match=f"rule 'x': green: .*{why}"):
            q.Conditioner(rules=[{"name": "x", "green": text}])


def test_one_bucket_of_rfc_2697_may_be_empty() -> None:
    for cbs, ebs in ((0, 3000), (3000, 0)):
        made = q.SingleRate(cir="1 Mbit/s", cbs=cbs, ebs=ebs)
        assert (made.cbs, made.ebs) == tuple({0: 0, 3000: "3 kB"}[size] for size in (cbs, ebs))
        net, a, b = network()
        net.link(a, b, ingress={"a": q.Conditioner(rules=[{"name": "x", "meter": made}])})
        net.run(until="1 us")
    with pytest.raises(tp.TwinplaneError, match="cbs: cbs and ebs are both 0"):
        q.SingleRate(cir=1, cbs=0, ebs=0)
