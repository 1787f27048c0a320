"""Programs of somebody else in namespaces of a lab: where their files are, and how they are started."""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from . import processes
from .starting import last_line, spawn

if TYPE_CHECKING:
    from .plan import Member, Plan
    from .state import State

ATTEMPTS = 10


def require(plan: Plan, member: Member, programs: list[str], user: str, package: str) -> None:
    """Refuse a node for which a program or the user that it runs as is missing here."""
    where = f"lab '{plan.name}': node '{member.name}' is of kind {member.kind}, and "
    for program in programs:
        if find(program) is None:
            raise TwinplaneError(f"{where}there is no program {program} here: apt install {package}")
    try:
        pwd.getpwnam(user), grp.getgrnam(user)
    except KeyError:
        raise TwinplaneError(f"{where}there is no user {user} here: apt install {package}") from None


def find(program: str) -> str | None:
    """Where a program is, given by its path or its name."""
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")


def make_folder(state: State, node: str, user: str) -> Path:
    """An empty folder for sockets and files of a node's daemons, which a user may write to."""
    folder = state.runtime(node)
    shutil.rmtree(folder, ignore_errors=True)
    # The folder of labs is root's alone; whoever runs as another user needs a way to his own. Whoever takes
    # another lab down may remove what is empty in between.
    for attempt in range(ATTEMPTS):
        try:
            for place in (folder.parent.parent, folder.parent):
                place.mkdir(exist_ok=True)
                place.chmod(0o711)
            folder.mkdir()
            break
        except FileNotFoundError:
            if attempt == ATTEMPTS - 1:
                raise
    folder.chmod(0o750)
    give(folder, user)
    return folder


def write(path: Path, text: str, user: str) -> None:
    """A file for a user, who alone may read it: it may hold secrets."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    give(path, user)


def give(path: Path, user: str) -> None:
    """Let a file or folder belong to a user."""
    os.chown(path, pwd.getpwnam(user).pw_uid, grp.getgrnam(user).gr_gid)


def wrapper(state: State, node: str, name: str, program: str, options: list[str]) -> None:
    """A command for people in the node: a program with the options that lead it to this node's daemons."""
    folder = commands(state, node)
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {program} {" ".join(options)} "$@"\n')
    path.chmod(0o700)


def commands(state: State, node: str) -> Path:
    """Where the commands for people are."""
    return state.folder / "nodes" / f"{node}.bin"


def run(state: State, node: str, name: str, words: list[str]) -> subprocess.Popen[bytes]:
    """Start a daemon in a node's namespace, and note it in the lab's state."""
    with state.log(node).open("ab") as log:
        child = spawn(words, state.nodes[node], state, log)
    state.nodes[node].daemons[name] = processes.of(child.pid)
    return child


def wait(state: State, node: str, what: str, child: subprocess.Popen[bytes], limit: float,
         ready: Callable[[], bool]) -> None:  # fmt: skip
    """Wait until a daemon is ready; one that ends before, or is not in time, is an error."""
    where = f"lab '{state.name}': node '{node}': {what}"
    processes.wait_until(lambda: ready() or child.poll() is not None, limit - time.monotonic())
    if ready():
        return
    if child.poll() is None:
        raise TwinplaneError(f"{where} is not ready in time")
    said = last_line(state.log(node)) or f"it ended with code {child.returncode}"
    raise TwinplaneError(f"{where}: {said}")


def ask(words: list[str], timeout_s: float = 10.0) -> subprocess.CompletedProcess[str]:
    """Run a command that asks daemons, and wait for what it says."""
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", "it does not answer")


def keep(state: State, node: str, what: dict[str, Any]) -> None:
    """Write down what the daemons of a node are started with, for `restart` and `status`."""
    write(state.config(node), json.dumps(what), "root")


def kept(state: State, node: str) -> dict[str, Any]:
    """What was written down of a node's daemons."""
    found: dict[str, Any] = json.loads(state.config(node).read_text())
    return found
