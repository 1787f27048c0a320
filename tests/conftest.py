"""Settings of all tests: what they need, their order, and how long random campaigns are."""

import os
from itertools import chain, groupby, zip_longest

import pytest
from hypothesis import settings
from support import campaign, needs

# Property tests draw the same examples every time unless a seed is given, and never judge by time.
settings.register_profile(
    "twinplane", deadline=None, derandomize=campaign.seed() is None, max_examples=campaign.scaled(100)
)
settings.load_profile("twinplane")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "needs(*names): skipped where one is not there, failed where it is required"
    )
    config.addinivalue_line("markers", "live: by the clock on the wall, so it may run a second time")
    # Drawing charts for papers takes most of the time of a short run: tests of such files ask for them.
    os.environ["TWINPLANE_FIGURES"] = "none"
    if (seed := campaign.seed()) is not None and config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = seed
    # Also if no test that is run needs it: the machine is not what it was said to be.
    if lacking := needs.lacking(*sorted(needs.required())):
        raise pytest.UsageError(f"{needs.REQUIRE}: {'; '.join(lacking.values())}")


LONG_S = {
    "test_docs": 220,
    "test_same_end_state": 160,
    "test_beside_frr": 140,
    "test_independent_ldp": 130,
    "test_independent_ospf": 125,
    "test_diffserv": 110,
    "test_against_router": 100,
    "test_cli": 100,
    "test_failing_independent": 95,
    "test_real_time": 95,
    "test_estimate": 90,
    "test_independent_router": 90,
    "test_kernel_routers": 90,
    "test_validation": 80,
    "test_own_network": 70,
    "test_ipv6": 70,
    "test_kept": 60,
    "test_lifecycle": 60,
    "test_failing": 55,
    "test_events": 55,
    "test_memory": 55,
    "test_foreign_systems": 55,
    "test_independent_bgp": 55,
    "test_protection_experiment": 50,
    "test_mutations": 50,
    "test_threads": 45,
    "test_two_clocks": 45,
    "test_apart": 45,
    "test_mirrored": 35,
    "test_wrong_input": 30,
    "test_wrong_routers": 30,
    "test_captures": 30,
    "test_openflow_real": 30,
    "test_tcp": 30,
}
"""Files that take a worker long, and about how many seconds. What begins last should not take long."""


LIVE = {"lab", "peer"}
"""Folders whose tests wait for other programs by the clock on the wall. Others are marked `live`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; those whose tests wait for other programs, and those that compute, in turn.

    What runs by the clock on the wall depends on what else the machine does. If it fails it runs a second
    time, and the last line counts that (decision 0065). What runs in virtual time never does.
    """
    for item in items:
        if LIVE & set(item.path.parts) or item.get_closest_marker("live"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda file: -LONG_S.get(file[0].path.stem, 0))
    waits = [file for file in files if LIVE & set(file[0].path.parts)]
    computes = [file for file in files if file not in waits]
    items[:] = chain.from_iterable(chain.from_iterable(zip_longest(computes, waits, fillvalue=[])))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seed = "fixed" if campaign.seed() is None else campaign.seed()
    required = " ".join(sorted(needs.required())) or "nothing"
    said = f"random campaigns: {campaign.scaled(100)} % of their length, seed {seed}; required: {required}"
    terminalreporter.write_line(said)
    for first in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"ran a second time: {first.nodeid}")
        terminalreporter.write_line(first.longreprtext)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        needs.need(*mark.args)
