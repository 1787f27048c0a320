"""What `twinplane lab check` says of a file whose routers would not come together."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import warm

FILES = {
    "an area that is joined to no other": (
        """\
name: net
nodes:
  a: {kind: router, ospf: {}}
  b: {kind: router, ospf: {interfaces: {c: {area: 1}}}}
  c: {kind: router, ospf: {area: 1, interfaces: {d: {area: 2}}}}
  d: {kind: router, ospf: {area: 2}}
links:
  - [a, b]
  - [b, c]
  - [c, d]
""",
        "node 'c': ospf: it is in area 0.0.0.1 and 0.0.0.2 and not in area 0.0.0.0, which joins all others:"
        " it finds no routes from one to the other",
    ),
    "timers that differ": (
        """\
name: net
nodes:
  a: {kind: router, ospf: {hello_interval: 1 s, dead_interval: 8 s}}
  b: {kind: router, ospf: {hello_interval: 2 s}}
links:
  - [a, b]
""",
        "link a - b: ospf: the hello interval is 1 s at 'a' and 2 s at 'b': the two do not become neighbours",
    ),
    "one router id twice": (
        """\
name: net
nodes:
  a: {kind: router, ospf: {router_id: 192.0.2.1}}
  b: {kind: router, ospf: {router_id: 192.0.2.1}}
links:
  - [a, b]
""",
        "'a' has its router id 192.0.2.1, too: others take the two for one",
    ),
    "AS numbers in conflict": (
        """\
name: net
nodes:
  a: {kind: router, bgp: {asn: 65001, neighbors: {b: {asn: 65002, import: all, export: all}}}}
  b: {kind: router, bgp: {asn: 65003, neighbors: {a: {asn: 65001, import: all, export: all}}}}
links:
  - [a, b]
""",
        "link a - b: bgp: the pair of AS numbers is 65001 and 65002 at 'a' and 65001 and 65003 at 'b': the"
        " two do not become neighbours",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_what_keeps_routers_apart_is_a_warning(what: str, tmp_path: Path) -> None:
    """A network in which something is apart may be what a user wants to see: the exit code is 0."""
    text, wanted = FILES[what]
    file = tmp_path / "net.yaml"
    file.write_text(text)
    done = warm.twinplane("lab", "check", str(file), timeout=60)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr
    said = done.stderr.splitlines()
    assert said and all(line.startswith(f"twinplane: warning: {file}:") for line in said), said
    assert any(line.endswith(wanted) for line in said), said
    assert "Traceback" not in done.stderr


def test_what_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """One sentence with its place, and exit code 2."""
    file = tmp_path / "net.yaml"
    file.write_text("name: net\nnodes:\n  a: {kind: router, ospf: {hello_interval: 0 s}}\n")
    done = warm.twinplane("lab", "check", str(file), timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"twinplane: {file}:3:") and "hello_interval" in line, line
