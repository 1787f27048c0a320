"""The house keeps its shape: one direction of dependency; no clock, randomness or disorder below."""

import re
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
    # Where processes meet controllers in real time: it needs randomness and the calendar.
    "tls": {"base"},
    "node": {"base", "wire", "forwarding", "control", "engine"},
    "network": {"base", "wire", "forwarding", "control", "engine", "node"},
    "tester": {"base", "wire", "engine", "node", "network"},
    "py": {"base", "wire", "control", "engine", "node", "network", "tester", "testing", "tls"},
    # A router in production has no instrument in it.
    "router": {"base", "wire", "control", "engine", "node", "network", "tls"},
    # For tests of all crates: only [dev-dependencies] name it, and a feature of py for tests of the package.
    "testing": {"base"},
}

BELOW_THE_CLOCKS = ["base", "wire", "forwarding", "control", "engine", "node", "network", "tester"]
# The one place where a hash table is wrapped so that it can't be iterated.
WRAPPER = CRATES / "base" / "src" / "map.rs"


BOUNDARY = [("control", ("forwarding",)), ("forwarding", ("control",)), ("engine", ("wire", "rsvp"))]
"""The planes meet in crate base alone: a crate, and what it must not name."""


EXAMPLES = [
    house.Example(
        "greet",
        ("wire/src/greet", "control/src/greet"),
        {
            "wire/src/lib.rs": ("pub mod greet;",),
            "control/src/lib.rs": ("pub mod greet;", "greet::Greet::KNOWN"),
        },
    ),
    house.Example(
        "serial",
        ("engine/src/medium/serial",),
        {"engine/src/medium/mod.rs": ("mod serial;", "&serial::MEDIUM")},
    ),
    house.Example(
        "reflector",
        ("network/src/kind/reflector",),
        {
            "network/src/kind/mod.rs": (
                "mod reflector;",
                "pub use reflector::{REFLECTOR, Reflector};",
                ", REFLECTOR",
            ),
            "tester/src/kind/mod.rs": (", REFLECTOR", "REFLECTOR, "),
        },
    ),
    house.Example(
        "staged",
        ("forwarding/src/driver/staged",),
        {"forwarding/src/driver/mod.rs": ("pub mod staged;", "staged::KNOWN")},
    ),
]
"""What the pages "Add a protocol", "a medium", "a node kind" and "a driver" of CONTRIBUTING.md made up."""
ROOMS = [
    ("engine", "medium", "serial", set()),
    ("network", "kind", "reflector", {"facts", "placeholder", "resolve", "atm_router"}),
    ("forwarding", "driver", "staged", {"plane", "soft", "timing", "tests"}),
]
"""A crate, a folder of it, one of those in it that know nothing of each other, and what they share."""


def test_every_crate_is_known() -> None:
    assert {p.name for p in CRATES.iterdir() if (p / "Cargo.toml").exists()} == set(ALLOWED)


def test_dependencies_point_one_way() -> None:
    assert house.backward(CRATES, ALLOWED) == []


def beneath(crate: str) -> set[str]:
    """All crates of ours that a crate is built from."""
    wanted = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())["dependencies"]
    used = {one for one in wanted.keys() & ALLOWED.keys() if "optional" not in wanted[one]}
    return used.union(*(beneath(one) for one in used))


def test_the_router_links_no_instrument_and_no_crate_is_built_from_itself() -> None:
    assert beneath("router") == {"base", "wire", "forwarding", "control", "engine", "node", "network", "tls"}
    assert beneath("py") == set(ALLOWED) - {"py", "router", "testing"}


@pytest.mark.parametrize("crate", BELOW_THE_CLOCKS)
def test_nothing_below_the_clocks_reads_the_world(crate: str) -> None:
    assert house.worldly(CRATES / crate, [WRAPPER]) == []


def test_protocols_do_not_import_each_other() -> None:
    assert "rsvp" in house.protocols(CRATES / "control")
    assert house.entangled(CRATES / "control") == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_guides_say_all_that_something_new_takes(example: house.Example) -> None:
    assert house.strays(CRATES, example) == []
    assert house.spoken(ROOT / "python" / "twinplane", example.name, ["generated.py"]) == []
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    page = next(page for page in guide.split("\n## ") if f"`{example.name}` is one, made up for" in page)
    told = [folder.rpartition("/")[0] for folder in example.folders] + list(example.entries)
    assert [path for path in told if path not in page] == []


@pytest.mark.parametrize(
    ("crate", "room", "one", "shared"), ROOMS, ids=lambda one: one if isinstance(one, str) else ""
)
def test_media_kinds_and_drivers_do_not_name_each_other(
    crate: str, room: str, one: str, shared: set[str]
) -> None:
    members = house.members(CRATES / crate, room, shared)
    assert one in members
    assert house.tangled(CRATES / crate, room, members) == []


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


def test_what_the_guides_do_not_say_is_found(tmp_path: Path) -> None:
    listed = (
        "// staged, an example\npub mod staged;\nconst DRIVERS: &[Known] = &[model::KNOWN, staged::KNOWN];"
    )
    example = house.Example(
        "staged", ("low/src/driver/staged",), {"low/src/driver/mod.rs": ("pub mod staged;", "staged::KNOWN")}
    )
    bad = [
        "use low::driver::staged::Stage;",
        "use low::driver::{model, staged};",
        "fn f(driver: &Staged) {}",
        "fn f(spec: low::StagedSpec) {}",
        "match driver {\n    STAGED => 1,\n}",
        'if name == "staged" {}',
    ]
    good = [
        "// as staged does",
        "fn f() { self.staged(1); }\nfn staged() {}",
        "struct Stagedly {}",
        "let unstaged = 1;",
        "#[cfg(test)]\nmod tests {\n    use low::driver::staged;\n}",
    ]
    for number, code in enumerate(bad + good):
        crates = tmp_path / str(number)
        written(crates / "low", driver__mod=listed, driver__staged__mod="pub struct Staged;")
        written(crates / "high", deep__in=code)
        found = house.strays(crates, example)
        assert [one.partition(":")[0] for one in found] == (
            ["high/src/deep/in.rs names staged"] if code in bad else []
        ), code
    twice = written(
        tmp_path / "twice" / "low", driver__mod=listed + "\nuse staged::Stage;", driver__staged__mod=""
    )
    assert house.strays(twice.parent, example) == ["low/src/driver/mod.rs names staged: use staged::Stage;"]
    for end in ("staged::KNOWN, other::KNOWN];", "staged::KNOWN,\n    other::KNOWN,\n];"):
        more = written(
            tmp_path / f"more-{len(end)}" / "low",
            driver__mod=listed.replace("staged::KNOWN];", end),
            driver__staged__mod="",
        )
        assert house.strays(more.parent, example) == []
    with pytest.raises(AssertionError, match="does not say staged::KNOWN"):
        unlisted = written(tmp_path / "not" / "low", driver__mod="pub mod staged;", driver__staged__mod="")
        house.strays(unlisted.parent, example)
    with pytest.raises(AssertionError, match="no sources in low/src/driver/staged"):
        house.strays(written(tmp_path / "gone" / "low", driver__mod=listed).parent, example)
    package = tmp_path / "package"
    package.mkdir()
    for name, code in {
        "a": 'x = "staged"',
        "b": "x.staged",
        "c": "staged = 1",
        "generated": "x.staged",
    }.items():
        (package / f"{name}.py").write_text(code)
    assert house.spoken(package, "staged", ["generated.py"]) == ["a.py", "b.py"]


def test_members_of_a_room_that_name_each_other_are_found(tmp_path: Path) -> None:
    for number, code in enumerate(
        [
            "use super::model::Model;",
            "use super::Model;",
            "use crate::driver::{Soft, model};",
            "fn f() { super::model::f(); }",
        ]
    ):
        crate = written(
            tmp_path / f"bad-{number}", driver__staged__mod=code, driver__model="use super::Soft;"
        )
        assert house.tangled(crate, "driver", {"model", "staged"}) == ["src/driver/staged/mod.rs names model"]
    back = written(
        tmp_path / "back", driver__staged__mod="use super::Soft;", driver__model="use super::staged;"
    )
    assert house.tangled(back, "driver", {"model", "staged"}) == ["src/driver/model.rs names staged"]
    for number, code in enumerate(["use super::Soft;", "use base::model::Model;", "use self::model::x;"]):
        crate = written(
            tmp_path / f"good-{number}", driver__staged__mod=code, driver__model="use super::Soft;"
        )
        assert house.tangled(crate, "driver", {"model", "staged"}) == []
        assert house.members(crate, "driver", []) == {"model", "staged"}
        with pytest.raises(AssertionError, match="not in driver: soft"):
            house.members(crate, "driver", ["soft"])
        with pytest.raises(AssertionError, match="hardly anything in driver"):
            house.members(crate, "driver", ["model"])
    with pytest.raises(AssertionError, match="no path in any member of driver"):
        house.tangled(
            written(tmp_path / "empty", driver__model="", driver__staged="fn f() {}"), "driver", {"model"}
        )


def test_mentions_are_found(tmp_path: Path) -> None:
    for number, code in enumerate(["use wire::rsvp::Label;", "use wire::{ipv4, rsvp};", "f(wire::rsvp::X)"]):
        crate = written(tmp_path / str(number), lib=code)
        assert house.mentions(crate, ("wire", "rsvp")) == ["src/lib.rs mentions wire::rsvp"]
        assert house.mentions(crate, ("forwarding",)) == []


def test_every_file_of_tests_is_in_the_program_of_its_crate() -> None:
    """Cargo would say nothing of a file of tests that no `mod` names."""
    merged = sorted(CRATES.glob("*/tests/all.rs"))
    assert {path.parts[-3] for path in merged} >= {"engine", "forwarding", "node", "router", "tester"}
    for path in merged:
        named = set(re.findall(r"^mod (\w+);$", path.read_text(), re.MULTILINE))
        manifest = tomllib.loads((path.parent.parent / "Cargo.toml").read_text())
        alone = {test["name"] for test in manifest["test"]}
        there = {
            one.stem for one in path.parent.iterdir() if one.suffix == ".rs" or (one / "mod.rs").exists()
        }
        assert named | alone == there, path


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
