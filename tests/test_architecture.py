"""The house keeps its shape: one direction of dependency; no clock, randomness or disorder below."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"

# What each crate may use. An arrow that is not here points backwards.
ALLOWED = {
    "base": set(),
    "wire": {"base"},
    "forwarding": {"base", "wire"},
    "control": {"base", "wire"},
    "engine": {"base", "wire", "forwarding"},
    "node": {"base", "wire", "forwarding", "control", "engine"},
    "tester": {"base", "wire", "control", "engine", "node"},
    "network": {"base", "wire", "control", "engine", "node", "tester"},
    "py": {"base", "wire", "control", "engine", "node", "network"},
    "router": {"base", "wire", "control", "engine", "node", "network"},
    # For tests of all crates: only [dev-dependencies] name it.
    "testing": set(),
}

BANNED = {
    "a clock": r"\bstd::time::(Instant|SystemTime)|\bInstant::now|\bSystemTime::now|\bstd::time\b",
    "the system's randomness": (
        r"\bthread_rng\b|\bOsRng\b|\bgetrandom\b|\bfrom_os_rng\b|\bRandomState\b|\brand::rng\(\)"
    ),
    "a hash table with an undefined order": r"\bHashMap\b|\bHashSet\b",
    "a socket": r"\bstd::net::(Tcp|Udp)",
    "a float function that differs between machines": r"\.(sin|cos|tan|ln|log10|log2|exp|powf|sqrt)\(\)",
}
BELOW_THE_CLOCKS = ["base", "wire", "forwarding", "control", "engine", "node", "network", "tester"]
# The one place where a hash table is wrapped so that it can't be iterated.
WRAPPER = CRATES / "base" / "src" / "map.rs"


def sources(crate: str) -> list[Path]:
    files = sorted((CRATES / crate / "src").rglob("*.rs"))
    assert files, f"no sources in crate {crate}"
    return files


def code_of(path: Path) -> str:
    """The code without comments and without what only tests compile."""
    if path.stem == "tests" or path.stem.endswith("_tests") or "tests" in path.parts:
        return ""
    text = path.read_text()
    text = re.split(r"(?m)^#\[cfg\(test\)\]\s*\n(?:#\[.*\]\s*\n)*mod \w+ \{", text)[0]
    return re.sub(r"//[^\n]*", "", text)


def test_every_crate_is_known() -> None:
    assert {p.name for p in CRATES.iterdir() if (p / "Cargo.toml").exists()} == set(ALLOWED)


@pytest.mark.parametrize("crate", sorted(ALLOWED))
def test_dependencies_point_one_way(crate: str) -> None:
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
    used = set(manifest["dependencies"]) & set(ALLOWED)
    assert used <= ALLOWED[crate], f"{crate} must not use {sorted(used - ALLOWED[crate])}"


@pytest.mark.parametrize("crate", BELOW_THE_CLOCKS)
def test_nothing_below_the_clocks_reads_the_world(crate: str) -> None:
    for path in sources(crate):
        if path == WRAPPER:
            continue
        code = code_of(path)
        for what, pattern in BANNED.items():
            found = re.search(pattern, code)
            assert not found, f"{path.relative_to(ROOT)} uses {what}: {found.group() if found else ''}"


def test_protocols_do_not_import_each_other() -> None:
    protocols = [p for p in (CRATES / "control" / "src").iterdir() if p.is_dir()]
    assert protocols, "no protocol in crate control"
    for protocol in protocols:
        others = [p.name for p in protocols if p != protocol]
        for path in sorted(protocol.rglob("*.rs")):
            for other in others:
                found = re.search(rf"\bcrate::{other}\b", code_of(path))
                assert not found, f"{path.relative_to(ROOT)} imports protocol {other}"


def test_control_and_forwarding_meet_only_at_the_plane_boundary() -> None:
    for crate, forbidden in [("control", "forwarding"), ("forwarding", "control"), ("engine", "wire::rsvp")]:
        for path in sources(crate):
            assert f"{forbidden}::" not in code_of(path), f"{path.relative_to(ROOT)} mentions {forbidden}"
