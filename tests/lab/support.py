"""What the tests of labs share: a lab, the command line, and a search for whatever a lab leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml
from support import warm
from twinplane.lab import netns, processes, state

TWO_SITES = """\
name: {name}
nodes:
  left:  {kind: host,   address: 10.1.0.2/24}
  right: {kind: host,   address: 10.2.0.2/24}
  pe1:   {kind: router}
  p:     {kind: router}
  pe2:   {kind: router}
links:
  - [left, pe1]
  - [pe1, p, {rate: 1 Gbit/s}]
  - [p, pe2, {rate: 1 Gbit/s}]
  - [pe2, right]
lsps:
  - {name: east, from: pe1, to: pe2, route: [p, pe2], carries: 10.2.0.0/24}
  - {name: west, from: pe2, to: pe1, route: [p, pe1], carries: 10.1.0.0/24}
"""


def command(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command line."""
    if "preexec_fn" not in options:
        return warm.twinplane(*words, timeout=120, **options)
    return warm.cold("-m", "twinplane", *words, timeout=120, **options)


def good(*words: str | Path, **options: Any) -> str:
    """The same, and it must go well."""
    done = command(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*words: str | Path, **options: Any) -> str:
    """The same, and it must say in one sentence why not (beside a bar of progress)."""
    done = command(*words, **options)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    lines = [line for line in done.stderr.splitlines() if "%" not in line]
    assert len(lines) == 1 and lines[0].startswith("twinplane: "), done.stderr
    return lines[0]


def name_of(file: Path) -> str:
    """The name of a lab."""
    return str(yaml.safe_load(file.read_text())["name"])


def interfaces() -> set[str]:
    """Of the present namespace, without those that tests of other processes make for themselves."""
    names = {path.name for path in Path("/sys/class/net").iterdir()}
    made = {name: re.match(r"tpt(\d+)", name) for name in names}
    return {name for name, by in made.items() if by is None or int(by[1]) == os.getpid() % 100_000}


def left_behind(name: str) -> list[str]:
    """Whatever there is of a lab: namespaces, processes, files, sockets."""
    found = [f"namespace {one}" for one in namespaces(name)]
    folder = state.folder(name)
    found += [f"file {path}" for path in (folder, state.ROOT / f".{name}.lock") if path.exists()]
    for process in processes.belonging(folder, []):
        found.append(f"process {process.pid}")
    sockets = Path("/proc/net/unix").read_text()
    if f"{folder}/" in sockets:
        found.append(f"a socket below {folder}")
    return found


def namespaces(name: str) -> list[str]:
    """Names of namespaces of a lab."""
    try:
        return sorted(
            path.name for path in Path("/run/netns").iterdir() if path.name.startswith(f"tp-{name}-")
        )
    except FileNotFoundError:
        return []


def removed(name: str) -> None:
    """Remove a lab, and do it by hand if the command fails."""
    command("lab", "down", name)
    for one in namespaces(name):
        netns.forget(one)
