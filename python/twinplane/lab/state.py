"""What is kept about a lab while it is up: a folder of its own, written before anything is made."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import TwinplaneError, os_reason, suggest, warn
from .processes import Process

TOP = Path("/run/twinplane")
ROOT = TOP / "labs"
DAEMONS = TOP / "daemons"

FORMAT = 1


@dataclass
class NodeState:
    """A node of a lab that is up."""

    kind: str
    namespace: str | None
    address: str = ""
    interfaces: list[str] = field(default_factory=list)
    process: Process | None = None
    incarnation: int = 0
    record: str | None = None
    daemons: dict[str, Process] = field(default_factory=dict)
    """Those of a router of somebody else, by name."""

    def processes(self) -> list[Process]:
        """What the lab has started for it and starts again."""
        return [*([] if self.process is None else [self.process]), *self.daemons.values()]


@dataclass
class State:
    """A lab that is up, or half made."""

    name: str
    file: str | None
    maker: Process
    nodes: dict[str, NodeState]
    links: list[list[str]]
    phase: str = "making"
    since: float = 0.0
    epoch_ns: int | None = None
    host_namespace: str | None = None

    @property
    def folder(self) -> Path:
        """Where all of its files are."""
        return folder(self.name)

    def socket(self, node: str) -> Path:
        """The control socket of a router."""
        return self.folder / "nodes" / f"{node}.sock"

    def log(self, node: str) -> Path:
        """What a router or a host's commands printed."""
        return self.folder / "nodes" / f"{node}.log"

    def config(self, node: str) -> Path:
        """What a router is told."""
        return self.folder / "nodes" / f"{node}.json"

    def runtime(self, node: str) -> Path:
        """The files of daemons that run as a user of their own, who may not look into the lab's folder."""
        return DAEMONS / self.name / node

    def save(self) -> None:
        """Write it down; a reader sees the old or the new one, never a part."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        fresh = self.folder / "state.json.new"
        with fresh.open("w") as file:
            file.write(text)
            file.flush()
        fresh.replace(self.folder / "state.json")

    def node(self, name: str) -> NodeState:
        """A node by name."""
        if name not in self.nodes:
            hint = suggest(name, self.nodes)
            raise TwinplaneError(f"lab '{self.name}': '{name}', no node has that name{hint}")
        return self.nodes[name]


def folder(name: str) -> Path:
    """The folder of a lab."""
    return ROOT / name


def load(name: str) -> State | None:
    """The state of a lab, or nothing if it is not up or nothing was written yet."""
    try:
        found: dict[str, Any] = json.loads((folder(name) / "state.json").read_text())
        if found.pop("format") != FORMAT:
            raise TwinplaneError(
                f"lab '{name}': another version of twinplane made it; take it down with that one"
            )
        nodes = {
            key: NodeState(**{**node, "process": _process(node), "daemons": _daemons(node)})
            for key, node in found["nodes"].items()
        }
        return State(**{**found, "nodes": nodes, "maker": Process(**found["maker"])})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        raise TwinplaneError(f"lab '{name}': its files are root's: run this as root") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TwinplaneError(f"{folder(name)}/state.json: it is not what twinplane wrote") from None


def _process(node: dict[str, Any]) -> Process | None:
    return None if node["process"] is None else Process(**node["process"])


def _daemons(node: dict[str, Any]) -> dict[str, Process]:
    return {name: Process(**process) for name, process in node.get("daemons", {}).items()}


def readable() -> tuple[list[tuple[str, State | None]], list[str]]:
    """All labs with their states, if one was written yet; and what is wrong with labs that can't be read."""
    found: list[tuple[str, State | None]] = []
    wrong: list[str] = []
    for name in names():
        try:
            found.append((name, load(name)))
        except TwinplaneError as error:
            wrong.append(str(error))
    return found, wrong


def up() -> list[State]:
    """The labs that are up; of one that can't be read there is a warning."""
    found, wrong = readable()
    for text in wrong:
        warn(text)
    return [state for _, state in found if state is not None]


def names() -> list[str]:
    """The labs that are up or half made."""
    try:
        return sorted(path.name for path in ROOT.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []
    except PermissionError:
        raise TwinplaneError("labs are root's: run this as root") from None


def running(name: str) -> State:
    """A lab that is up."""
    found = load(name)
    if found is None:
        known = names()
        hint = suggest(name, known) or (f" (up: {', '.join(known)})" if known else " (no lab is)")
        raise TwinplaneError(f"lab '{name}' is not up{hint}")
    return found


def of_node(node: str, lab: str | None = None) -> State:
    """The lab that a node is in: the one that is named, or the only one with such a node."""
    if lab is not None:
        found = running(lab)
        found.node(node)
        return found
    every = up()
    having = [state for state in every if node in state.nodes]
    if len(having) == 1:
        return having[0]
    if having:
        raise TwinplaneError(
            f"'{node}' is in {len(having)} labs:"
            f" say which with --lab ({', '.join(one.name for one in having)})"
        )
    if not every:
        raise TwinplaneError("no lab is up: `twinplane lab up FILE`")
    hint = suggest(node, [name for state in every for name in state.nodes])
    raise TwinplaneError(f"'{node}', no node of a lab that is up has that name{hint}")


@contextlib.contextmanager
def locked(name: str, wait_s: float = 10.0) -> Iterator[None]:
    """Be the only one who makes or removes a lab. The lock's file is gone afterwards."""
    path = ROOT / f".{name}.lock"
    try:
        descriptor = _lock(path, name, wait_s)
    except PermissionError as error:
        raise TwinplaneError(f"{error.filename}: {os_reason(error)}: labs need root") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)
        for place in (ROOT, DAEMONS, TOP):  # if nothing else is in them
            with contextlib.suppress(OSError):
                place.rmdir()


def _make_folders() -> None:
    """Make the folders that locks are in. Whoever has just ended may remove an empty one in between."""
    for place, mode in ((TOP, 0o755), (ROOT, 0o700)):
        with contextlib.suppress(FileNotFoundError, FileExistsError):
            place.mkdir(mode=mode)


def _lock(path: Path, name: str, wait_s: float) -> int:
    limit = time.monotonic() + wait_s
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            if time.monotonic() > limit:
                raise
            _make_folders()
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have removed the file since it was opened.
            with contextlib.suppress(FileNotFoundError):
                if os.fstat(descriptor).st_ino == path.stat().st_ino:
                    return descriptor
        except BlockingIOError:
            if time.monotonic() > limit:
                os.close(descriptor)
                raise TwinplaneError(f"lab '{name}': another command is making or removing it") from None
            time.sleep(0.05)
        os.close(descriptor)


def remove(name: str) -> None:
    """All files of a lab."""
    shutil.rmtree(DAEMONS / name, ignore_errors=True)
    shutil.rmtree(folder(name), ignore_errors=True)
