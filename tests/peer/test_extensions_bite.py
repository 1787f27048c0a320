"""Tests of fast reroute and of trees must fail where a router says something else, or they prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("twinplane")

from . import codec as c
from . import (
    test_merge,
    test_naive_leaves,
    test_protected_head,
    test_repair,
    test_tree_merge,
    test_tree_refusals,
    test_tree_repair,
    test_trees,
)
from .repair_bench import Merge, Repair
from .tree_bench import Tree
from .tree_repair_bench import TreeMerge, TreeRepair

Change = Callable[[c.Message], c.Message]


def other(kind: type[c.Obj], **fields: Callable[[Any], Any]) -> Change:
    """Objects of a type with something else in these fields."""

    def changed(item: c.Obj) -> c.Obj:
        if type(item) is not kind:
            return item
        found: Any = item
        return replace(found, **{name: make(getattr(item, name)) for name, make in fields.items()})

    return lambda message: replace(message, objects=[changed(item) for item in message.objects])


def unsaid(*kinds: type[c.Obj]) -> Change:
    """Objects of these types are left out."""
    return lambda message: message.without(*kinds)


def untold(kind: int) -> Change:
    """Messages of a type say nothing: they are acknowledgements of nothing."""
    return lambda message: c.Message(c.Type.ACK) if message.kind == kind else message


def no_flags(hops: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(replace(hop, flags=0) for hop in hops)


def without_last_leaf(message: c.Message) -> c.Message:
    leaves = message.all(c.SubLsp)
    kept = [item for item in message.objects if len(leaves) < 2 or item is not leaves[-1]]
    return replace(message, objects=kept)


def repair(test: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: test(Repair)


def merge(test: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: test(Merge)


def tree_repair(test: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: test(TreeRepair)


def tree_merge(test: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: test(TreeMerge)


def tree(test: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: test(Tree)


BYPASS = repair(test_repair.test_a_link_fails_and_a_bypass_takes_its_lsp)
DETOUR = repair(test_repair.test_a_detour_is_signalled_used_and_torn_down)
DETOURS = merge(test_merge.test_two_detours_go_on_as_one)
MERGED = merge(test_merge.test_a_repaired_lsp_is_one_with_itself)
HEAD = test_protected_head.test_a_head_end_that_is_told_of_a_repair_moves_its_lsp
BRANCHES = tree(test_trees.test_each_neighbour_gets_its_own_leaves)
CONFIRMED = tree(test_trees.test_reservations_are_confirmed_to_all_that_asked)
ERROR = tree(test_trees.test_an_error_of_one_leaf_is_told_of_it_alone)
PRUNED = tree(test_trees.test_explicit_pruning)
MEETING = tree(test_tree_refusals.test_branches_that_meet_again_are_refused)
AROUND = tree_repair(test_tree_repair.test_all_leaves_behind_a_link_are_led_around_by_one_label)
AROUND_TOLD = tree_repair(test_tree_repair.test_the_root_is_told_of_the_leaves_that_are_led_around)
AROUND_SAID = tree_repair(test_tree_repair.test_what_goes_around_a_failure_says_who_repairs)
AROUND_PRUNED = tree_repair(test_tree_repair.test_a_sub_group_is_pruned_around_a_failure)
RECORDED = tree_merge(test_tree_merge.test_routes_and_labels_of_all_leaves_are_recorded_around)
REPAIR_ENDS = tree_merge(test_tree_merge.test_leaves_that_are_pruned_around_are_gone)


def regrouped() -> None:
    groups = [["south", "beyond", "east"]]
    test_tree_merge.test_leaves_and_lsp_id_say_what_is_repaired(TreeMerge, test_tree_merge.REPAIRER, groups)


def rooted() -> None:
    test_naive_leaves.test_naive_leaves_are_had_grafted_and_pruned("together")


CASES: dict[str, tuple[Change, list[Callable[[], None]]]] = {
    "flags": (other(c.RecordRoute, hops=no_flags), [BYPASS, DETOUR, AROUND, RECORDED]),
    "asked": (
        other(c.SessionAttribute, flags=lambda flags: flags | c.Asked.LOCAL),
        [BYPASS, DETOUR, BRANCHES, AROUND_SAID],
    ),
    "fast-reroute": (unsaid(c.FastReroute), [BYPASS, AROUND_SAID]),
    "detour": (unsaid(c.Detour), [DETOUR, DETOURS]),
    "pairs": (other(c.Detour, pairs=lambda pairs: pairs[:1]), [DETOURS]),
    "told": (untold(c.Type.PATH_ERR), [BYPASS, DETOUR, ERROR, MEETING, AROUND_TOLD]),
    "torn": (
        untold(c.Type.PATH_TEAR),
        [BYPASS, DETOUR, MERGED, HEAD, PRUNED, AROUND_PRUNED, REPAIR_ENDS, rooted],
    ),
    "why": (other(c.ErrorSpec, value=lambda value: value ^ 1), [BYPASS, DETOUR, ERROR, MEETING, AROUND_TOLD]),
    "label": (other(c.Label, label=lambda label: label + 1), [BYPASS, MERGED, BRANCHES, AROUND, regrouped]),
    "sub-group": (other(c.TreeSender, sub_group=lambda group: group + 50), [BRANCHES, ERROR, AROUND_TOLD]),
    "filter": (other(c.TreeFilter, sub_group=lambda group: group + 50), [BRANCHES, CONFIRMED, regrouped]),
    "leaves": (without_last_leaf, [BRANCHES, MEETING, AROUND_SAID, regrouped]),
    "routes": (unsaid(c.SecondaryRoute), [BRANCHES, AROUND_SAID]),
    "records": (unsaid(c.SecondaryRecord), [BRANCHES, AROUND, RECORDED]),
    "confirmed": (untold(c.Type.RESV_CONF), [CONFIRMED]),
}


@pytest.mark.parametrize("name", CASES)
def test_another_word_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the router says is changed before the naive peer reads it."""
    change, tests = CASES[name]
    plain = c.Message.decode
    monkeypatch.setattr(c.Message, "decode", classmethod(lambda _, data: change(plain(data))))
    for test in tests:
        # Failed, or it could not go on with what came.
        with pytest.raises((AssertionError, LookupError, ValueError)):
            test()


def test_unchanged_all_of_them_pass() -> None:
    """What fails above fails for the sake of the change."""
    for test in {test for _, tests in CASES.values() for test in tests}:
        test()
