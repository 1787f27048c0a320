"""Two revisions side by side: an old one checked out into a cache, and the examples of both built."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class RevisionError(Exception):
    """A revision can't be found, checked out or built. The message says so in one sentence."""


@dataclass(frozen=True)
class Tree:
    """A source tree and the folder that cargo builds it in."""

    source: Path
    target: Path

    def environment(self) -> dict[str, str]:
        """What cargo is run with."""
        return {**os.environ, "CARGO_TARGET_DIR": str(self.target)}


def output(command: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """The standard output of a program that must succeed; its error output goes to ours."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
        )
    except OSError as error:
        raise RevisionError(f"{command[0]} can't be started: {error.strerror}.") from error
    if done.returncode != 0:
        raise RevisionError(f"{' '.join(command[:4])} ... in {cwd} ended with code {done.returncode}.")
    return done.stdout.decode(errors="replace")


def commit(root: Path, revision: str) -> str:
    """The full name of a commit."""
    try:
        command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
        return output(command, root).strip()
    except RevisionError:
        raise RevisionError(f"{revision!r} is not a revision of the repository in {root}.") from None


def check_out(root: Path, revision: str, cache: Path) -> Tree:
    """The tree of a revision in the cache. What is there from an earlier time is used again."""
    name = commit(root, revision)
    home = cache / name[:12]
    source = home / "source"
    if not source.exists():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home) as folder:
            archive, unpacked = Path(folder) / "tree.tar", Path(folder) / "source"
            output(["git", "archive", "--format=tar", f"--output={archive}", name], root)
            with tarfile.open(archive) as packed:
                packed.extractall(unpacked, filter="data")
            unpacked.rename(source)  # in one step: a half unpacked tree is never taken for a whole one
    return Tree(source, home / "target")


def current(root: Path) -> Tree:
    """The working tree as it stands, with the folder that cargo builds it in anyway."""
    return Tree(root, Path(str(_metadata(root)["target_directory"])))


def _metadata(source: Path) -> dict[str, object]:
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    value = json.loads(output(command, source))
    if not isinstance(value, dict):
        raise RevisionError(f"cargo metadata in {source} gave no object.")
    return value


def examples(metadata: Mapping[str, object]) -> dict[str, str]:
    """By example the package that it is in."""
    packages = metadata["packages"]
    if not isinstance(packages, list):
        raise RevisionError("cargo metadata lists no packages.")
    return {
        target["name"]: package["name"]
        for package in packages
        for target in package["targets"]
        if "example" in target["kind"]
    }


def executables(messages: Iterable[str]) -> dict[str, Path]:
    """By example its program, out of what `cargo build --message-format=json` prints."""
    found = {}
    for line in messages:
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            found[message["target"]["name"]] = Path(message["executable"])
    return found


def build(tree: Tree, wanted: Sequence[str]) -> dict[str, Path]:
    """By example its program, built as for a release. Examples that the tree does not have are left out."""
    packages = examples(_metadata(tree.source))
    here = [name for name in wanted if name in packages]
    if not here:
        return {}
    command = ["cargo", "build", "--release", "--quiet", "--message-format=json-render-diagnostics"]
    for package in dict.fromkeys(packages[name] for name in here):
        command += ["--package", package]
    for name in here:
        command += ["--example", name]
    return executables(output(command, tree.source, tree.environment()).splitlines())
