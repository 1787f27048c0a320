"""Tests that need more than Python: root, labs, programs such as tshark.

A test says so by ``@pytest.mark.needs("tshark")``, or calls :func:`need` where it finds out. Where something
is not there the test is skipped, and pytest's summary gives the reason; where ``TWINPLANE_REQUIRE`` lists it
(names, separated by spaces; ``.ci/run`` sets it) the test fails instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

REQUIRE = "TWINPLANE_REQUIRE"
PEERS = "TWINPLANE_PEERS"


def _no_root() -> str | None:
    return None if os.geteuid() == 0 else "needs root"


def _no_labs() -> str | None:
    from twinplane.lab import netns
    from twinplane.lab.programs import router_program

    if not netns.may_make():
        return "labs need root"
    if gone := _no_tool("ip"):
        return gone
    try:
        router_program()
    except Exception as error:
        return str(error)
    return None


def _no_tool(name: str) -> str | None:
    # iproute2 is in a folder that is not on everybody's path.
    found = shutil.which(name, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")
    return None if found else f"{name} is not installed"


def peers() -> Path:
    """Where routers are that nobody here wrote: ``TWINPLANE_PEERS``, or a folder beside the repository."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "peers"
    return Path(os.environ.get(PEERS) or beside)


def _no_freertr() -> str | None:
    folder = peers() / "freertr"
    for name in ("peer.py", "rtr.jar"):
        if not (folder / name).is_file():
            return f"freertr, an independent router, is not here: no {folder / name} ({PEERS} says where)"
    return _no_tool("java")


KINDS: dict[str, Callable[[], str | None]] = {
    "root": _no_root,
    "labs": _no_labs,
    "freertr": _no_freertr,
}
"""What is no program: why it is not there, or None if it is."""


def lacking(*names: str) -> dict[str, str]:
    """Those of these that are not there, with the reason."""
    found = {name: KINDS[name]() if name in KINDS else _no_tool(name) for name in names}
    return {name: reason for name, reason in found.items() if reason}


def required() -> set[str]:
    """What has to be there."""
    return set(os.environ.get(REQUIRE, "").split())


def need(*names: str) -> None:
    """Skip the calling test if one of these is not there; fail it if that one is required."""
    for name, reason in lacking(*names).items():
        if name in required():
            pytest.fail(f"{reason}, but {REQUIRE} lists {name}", pytrace=False)
        pytest.skip(reason)
