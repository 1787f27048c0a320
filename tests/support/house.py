"""What keeps the crates in shape: each check reads a tree of crates and lists what is wrong in it.

The tests run every check twice: on the project, where it must find nothing, and on made-up trees with
violations, where it must find each of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

BANNED = {
    "a clock": r"\bstd::time::(Instant|SystemTime)|\bInstant::now|\bSystemTime::now|\bstd::time\b",
    "the system's randomness": (
        r"\bthread_rng\b|\bOsRng\b|\bgetrandom\b|\bfrom_os_rng\b|\bRandomState\b|\brand::rng\(\)"
    ),
    "a hash table with an undefined order": r"\bHashMap\b|\bHashSet\b",
    "a socket": r"\bstd::net::(Tcp|Udp)",
    "a float function that differs between machines": r"\.(sin|cos|tan|ln|log10|log2|exp|powf|sqrt)\(\)",
}
"""What nothing below the clocks uses, as it stands in code."""
SHARED = {"services"}
"""Folders of crate control that are no protocol: all protocols use them."""


@dataclass(frozen=True)
class Example:
    """Something made up for a page of CONTRIBUTING.md, and all that the page says it takes."""

    name: str
    folders: tuple[str, ...]
    """Where it lives, from the folder of all crates."""
    entries: Mapping[str, tuple[str, ...]]
    """What is written of it in lists, by file: each text stands there."""


def sources(crate: Path) -> list[Path]:
    """The Rust files of a crate; there are some."""
    files = sorted((crate / "src").rglob("*.rs"))
    assert files, f"no sources in crate {crate.name}"
    return files


def code_of(path: Path, crate: Path) -> str:
    """The code without comments and without what only tests compile."""
    inside = path.relative_to(crate)
    if path.stem == "tests" or path.stem.endswith("_tests") or "tests" in inside.parts:
        return ""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    # A module of tests ends at the next brace that is not indented: rustfmt sees to that.
    return re.sub(r"(?ms)^#\[cfg\(test\)\]\s*\n(?:#\[.*?\]\s*\n)*mod \w+ \{.*?^\}", "", text)


def paths_of(code: str) -> Iterator[tuple[str, ...]]:
    """Every path in code, such as `wire::rsvp::Label`; those of `use` with their braces expanded."""
    for text in re.findall(r"\buse\s+([^;]+);", code):
        yield from _expanded(re.sub(r"\s+as\s+\w+|\s+", "", text))
    for text in re.findall(r"\b\w+(?:\s*::\s*\w+)+", re.sub(r"\buse\s+[^;]+;", "", code)):
        yield tuple(re.split(r"\s*::\s*", text))


def _expanded(tree: str, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    head, brace, rest = tree.partition("{")
    path = (*before, *(part for part in head.split("::") if part))
    if not brace:
        yield path
        return
    depth, branch = 0, ""
    for letter in rest:
        if (letter == "," and depth == 0) or (letter == "}" and depth == 0):
            if branch:
                yield from _expanded(branch, path)
            branch = ""
            continue
        depth += (letter == "{") - (letter == "}")
        branch += letter


def resolved(path: tuple[str, ...], module: tuple[str, ...]) -> tuple[str, ...]:
    """A path from the root of its crate; one that begins with another crate or a local name stays."""
    at = list(module)
    if path[0] == "crate":
        return path[1:]
    if path[0] not in ("self", "super"):
        return path
    rest = list(path)
    while rest and rest[0] in ("self", "super"):
        if rest.pop(0) == "super":
            at = at[:-1]
    return (*at, *rest)


def module_of(path: Path, crate: Path) -> tuple[str, ...]:
    """The module that a file is, from the root of its crate."""
    parts = path.relative_to(crate / "src").with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def backward(crates: Path, allowed: Mapping[str, Collection[str]]) -> list[str]:
    """Dependencies of products on crates that they must not use, whatever name they give them."""
    found = []
    for crate, may in allowed.items():
        manifest = tomllib.loads((crates / crate / "Cargo.toml").read_text())
        tables = [manifest, *manifest.get("target", {}).values()]
        used = {
            (spec.get("package", key) if isinstance(spec, dict) else key).removeprefix("twinplane-")
            for table in tables
            for kind in ("dependencies", "build-dependencies")
            for key, spec in table.get(kind, {}).items()
        }
        found += [f"{crate} uses {one}" for one in sorted((used & set(allowed)) - set(may))]
    return found


def worldly(crate: Path, without: Collection[Path] = ()) -> list[str]:
    """Files that read what differs from run to run."""
    found = []
    for path in sources(crate):
        if path not in without:
            code = code_of(path, crate)
            found += [
                f"{path.relative_to(crate)} uses {what}: {hit.group()}"
                for what, pattern in BANNED.items()
                if (hit := re.search(pattern, code))
            ]
    return found


def protocols(control: Path) -> list[str]:
    """The folders of crate control that are protocols; there is at least one."""
    found = sorted(path.name for path in (control / "src").iterdir() if path.is_dir())
    found = [name for name in found if name not in SHARED]
    assert found, "no protocol in crate control"
    return found


def entangled(control: Path) -> list[str]:
    """Files of a protocol that name another one, by whatever path."""
    known, found, looked = protocols(control), [], 0
    for protocol in known:
        for path in sorted((control / "src" / protocol).rglob("*.rs")):
            module = module_of(path, control)
            for one in paths_of(code_of(path, control)):
                looked += 1
                full = resolved(one, module)
                # `use crate::rsvp` and the crate's own name lead there too.
                if one[0] in ("crate", "super", "self") or full[0] in ("control", "twinplane_control"):
                    full = full[1:] if full[:1] in (("control",), ("twinplane_control",)) else full
                    if full and full[0] in known and full[0] != protocol:
                        found.append(f"{path.relative_to(control)} imports protocol {full[0]}")
    assert looked, "no path in any protocol"
    return list(dict.fromkeys(found))


def members(crate: Path, room: str, shared: Collection[str]) -> set[str]:
    """The folders and files of a room, such as `driver`, but for those that its members share."""
    found = {path.stem for path in (crate / "src" / room).iterdir()} - {"mod"}
    missing = sorted(set(shared) - found)
    assert not missing, f"not in {room}: {', '.join(missing)}"
    found -= set(shared)
    assert len(found) > 1, f"hardly anything in {room}"
    return found


def tangled(crate: Path, room: str, members: Collection[str]) -> list[str]:
    """Files of one member of a room, such as a driver in `driver`, that name another one, by whatever path.

    A member is a folder or a file of the room; `driver::Model` means the member `model`, too.
    """
    found, looked = [], 0
    for member in sorted(members):
        home = crate / "src" / room / member
        files = sorted(home.rglob("*.rs")) if home.is_dir() else [home.with_suffix(".rs")]
        for path in files:
            module = module_of(path, crate)
            for one in paths_of(code_of(path, crate)):
                looked += 1
                full = resolved(one, module)
                other = full[1].lower() if full[0] == room and len(full) > 1 else member
                if other != member and other in members:
                    found.append(f"{path.relative_to(crate)} names {other}")
    assert looked, f"no path in any member of {room}"
    return list(dict.fromkeys(found))


def strays(crates: Path, example: Example) -> list[str]:
    """Files that name an example and are neither in its folders nor in the lists that it is entered in."""
    for folder in example.folders:
        assert any((crates / folder).rglob("*.rs")), f"no sources in {folder}"
    # A method of the same name is something else.
    name, camel = example.name, example.name.capitalize()
    named = re.compile(rf"(?<![\w.])(?<!fn ){name}\b|\b{camel}(?![a-z])\w*|\b{name.upper()}\b")
    found = []
    for path in sorted(crates.glob("*/src/**/*.rs")):
        inside = path.relative_to(crates)
        if any(inside.is_relative_to(folder) for folder in example.folders):
            continue
        code = code_of(path, crates / inside.parts[0])
        for entry in example.entries.get(inside.as_posix(), ()):
            # The formatter may break the line.
            spaced = r"\s+".join(re.escape(word) for word in entry.split(" "))
            code, count = re.subn(spaced, "", code, count=1)
            assert count, f"{inside} does not say {entry}"
        if hit := named.search(code):
            line = code[code.rfind("\n", 0, hit.start()) + 1 :].partition("\n")[0].strip()
            found.append(f"{inside} names {name}: {line}")
    return found


def spoken(package: Path, name: str, generated: Collection[str]) -> list[str]:
    """Python files that have a name as a text or as an attribute, but for generated ones."""
    files = sorted(package.rglob("*.py*"))
    files = [path for path in files if path.suffix in (".py", ".pyi") and path.name not in generated]
    assert files, f"no Python files in {package.name}"
    said = re.compile(rf"""["']{name}["']|\.{name}\b""")
    return [path.relative_to(package).as_posix() for path in files if said.search(path.read_text())]


def mentions(crate: Path, forbidden: tuple[str, ...]) -> list[str]:
    """Files that name a crate or module which theirs must not know, such as `("wire", "rsvp")`."""
    return [
        f"{path.relative_to(crate)} mentions {'::'.join(forbidden)}"
        for path in sources(crate)
        if any(one[: len(forbidden)] == forbidden for one in paths_of(code_of(path, crate)))
    ]
