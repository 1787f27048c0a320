"""What keeps the crates in shape: each check reads a tree of crates and lists what is wrong in it.

The tests run every check twice: on the project, where it must find nothing, and on made-up trees with
violations, where it must find each of them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
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


def mentions(crate: Path, forbidden: tuple[str, ...]) -> list[str]:
    """Files that name a crate or module which theirs must not know, such as `("wire", "rsvp")`."""
    return [
        f"{path.relative_to(crate)} mentions {'::'.join(forbidden)}"
        for path in sources(crate)
        if any(one[: len(forbidden)] == forbidden for one in paths_of(code_of(path, crate)))
    ]
