"""The house keeps its shape: one direction of dependency; no clock, randomness or disorder below."""

import tomllib
from pathlib import Path

import pytest
from support import house

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
    "network": {"base", "wire", "forwarding", "control", "engine", "node"},
    "tester": {"base", "wire", "engine", "node", "network"},
    "py": {"base", "wire", "control", "engine", "node", "network", "tester"},
    # A router in production has no instrument in it.
    "router": {"base", "wire", "control", "engine", "node", "network"},
    # For tests of all crates: only [dev-dependencies] name it.
    "testing": {"base"},
}

BELOW_THE_CLOCKS = ["base", "wire", "forwarding", "control", "engine", "node", "network", "tester"]
# The one place where a hash table is wrapped so that it can't be iterated.
WRAPPER = CRATES / "base" / "src" / "map.rs"


BOUNDARY = [("control", ("forwarding",)), ("forwarding", ("control",)), ("engine", ("wire", "rsvp"))]
"""The planes meet in crate base alone: a crate, and what it must not name."""


def test_every_crate_is_known() -> None:
    assert {p.name for p in CRATES.iterdir() if (p / "Cargo.toml").exists()} == set(ALLOWED)


def test_dependencies_point_one_way() -> None:
    assert house.backward(CRATES, ALLOWED) == []


def beneath(crate: str) -> set[str]:
    """All crates of ours that a crate is built from."""
    used = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())["dependencies"].keys() & ALLOWED.keys()
    return used.union(*(beneath(one) for one in used))


def test_the_router_links_no_instrument_and_no_crate_is_built_from_itself() -> None:
    assert beneath("router") == {"base", "wire", "forwarding", "control", "engine", "node", "network"}
    assert beneath("py") == set(ALLOWED) - {"py", "router", "testing"}


@pytest.mark.parametrize("crate", BELOW_THE_CLOCKS)
def test_nothing_below_the_clocks_reads_the_world(crate: str) -> None:
    assert house.worldly(CRATES / crate, [WRAPPER]) == []


def test_protocols_do_not_import_each_other() -> None:
    assert "rsvp" in house.protocols(CRATES / "control")
    assert house.entangled(CRATES / "control") == []


@pytest.mark.parametrize(("crate", "forbidden"), BOUNDARY)
def test_control_and_forwarding_meet_only_at_the_plane_boundary(
    crate: str, forbidden: tuple[str, ...]
) -> None:
    assert house.mentions(CRATES / crate, forbidden) == []


# -- each check on made-up trees ----------------------------------------------------------------------


def written(crate: Path, **files: str) -> Path:
    """A crate with these files: `rsvp__mod` is src/rsvp/mod.rs."""
    for name, text in files.items():
        path = crate / "src" / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return crate


IMPORTS = [
    "use crate::ldp::Session;",
    "use crate::ldp;",
    "use crate::{rsvp::lsp, ldp::Session};",
    "use crate::{\n    rib::Rib,\n    ldp::{Session, Fec},\n};",
    "use super::ldp::Session;",
    "use super::{ldp, rib};",
    "use twinplane_control::ldp as other;",
    "fn f() { crate::ldp::start(); }",
    "fn f() { super::super::rsvp::super_::x(); super::ldp::start(); }",
    "fn f(s: &crate :: ldp :: Session) {}",
    "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\nuse crate::ldp::Session;",
]
HARMLESS = [
    "use crate::rib::Rib;\nuse crate::services::labels;",
    "// as crate::ldp does\n/* use crate::ldp; */",
    "use wire::ldp::Label;",
    "use crate::rsvp::ldp::Session;",
    "use super::rsvp::ldp;",
    "#[cfg(test)]\nmod tests {\n    use crate::ldp::Session;\n}",
]


def test_imports_of_another_protocol_are_found(tmp_path: Path) -> None:
    rest = {"ldp__mod": "use crate::services::labels;", "services__mod": "use crate::rsvp::Lsp;"}
    for number, code in enumerate(IMPORTS):
        control = written(tmp_path / f"bad-{number}", rsvp__mod=code, **rest)
        assert house.entangled(control) == ["src/rsvp/mod.rs imports protocol ldp"], code
    for number, code in enumerate(HARMLESS):
        control = written(tmp_path / f"good-{number}", rsvp__mod=code, **rest)
        assert house.entangled(control) == [], code
    deep = written(tmp_path / "deep", rsvp__a__b="use super::super::super::ldp::Session;", **rest)
    assert house.entangled(deep) == ["src/rsvp/a/b.rs imports protocol ldp"]


def test_a_tree_without_protocols_is_no_proof(tmp_path: Path) -> None:
    nothing = written(tmp_path / "none", lib="", services__mod="use crate::x::Y;")
    with pytest.raises(AssertionError, match="no protocol in crate control"):
        house.entangled(nothing)
    with pytest.raises(AssertionError, match="no path in any protocol"):
        house.entangled(written(tmp_path / "empty", rsvp__mod="fn f() {}"))
    with pytest.raises(AssertionError, match="no sources in crate bare"):
        house.worldly(tmp_path / "bare")


def test_what_reads_the_world_is_found(tmp_path: Path) -> None:
    samples = {
        "a clock": ["std::time::Instant::now()", "use std::time::Duration;", "SystemTime::now()"],
        "the system's randomness": ["rand::rng()", "let r = OsRng;", "RandomState::new()"],
        "a hash table with an undefined order": ["use std::collections::HashMap;", "HashSet::new()"],
        "a socket": ["use std::net::UdpSocket;", "std::net::TcpStream::connect(a)"],
        "a float function that differs between machines": ["x.sqrt()", "2f64.ln()"],
    }
    assert set(samples) == set(house.BANNED)
    for number, (what, code) in enumerate((what, code) for what, codes in samples.items() for code in codes):
        crate = written(tmp_path / "tests" / str(number), lib="fn good() {}", deep__in=code)
        (said,) = house.worldly(crate)
        assert said.startswith(f"src/deep/in.rs uses {what}: ")
        assert house.worldly(crate, [crate / "src/deep/in.rs"]) == []
    innocent = "// std::time\n#[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n"
    assert house.worldly(written(tmp_path / "innocent", lib=innocent, tests="use std::time::Instant;")) == []


@pytest.mark.parametrize(
    "manifest",
    [
        "[dependencies]\nnode.workspace = true",
        "[dependencies]\nother = { package = 'twinplane-node', path = '../node' }",
        "[target.'cfg(unix)'.dependencies]\nnode = { workspace = true }",
        "[build-dependencies]\nnode.workspace = true",
    ],
)
def test_dependencies_that_point_back_are_found(tmp_path: Path, manifest: str) -> None:
    for name, text in (("base", manifest), ("node", "[dependencies]\nbase.workspace = true\nlibc = '1'")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Cargo.toml").write_text(text)
    assert house.backward(tmp_path, {"base": set(), "node": {"base"}}) == ["base uses node"]


def test_mentions_are_found(tmp_path: Path) -> None:
    for number, code in enumerate(["use wire::rsvp::Label;", "use wire::{ipv4, rsvp};", "f(wire::rsvp::X)"]):
        crate = written(tmp_path / str(number), lib=code)
        assert house.mentions(crate, ("wire", "rsvp")) == ["src/lib.rs mentions wire::rsvp"]
        assert house.mentions(crate, ("forwarding",)) == []


def test_comments_have_120_columns_at_most() -> None:
    """The formatter breaks lines of code, not of comments."""
    sources = [*CRATES.rglob("*.rs"), *(ROOT / "fuzz" / "src").rglob("*.rs")]
    assert len(sources) > 400
    long = [
        f"{source.relative_to(ROOT)}:{number}"
        for source in sources
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if len(line) > 120 and line.lstrip().startswith("//")
    ]
    assert long == []
