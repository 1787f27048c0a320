"""``lab down``: whatever is left of a lab goes, however little that is."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from ..errors import TwinplaneError
from . import netns, processes, starting, state
from .processes import Process
from .state import State


def down(name: str) -> bool:
    """Remove a lab; False if there was none."""
    if not state.folder(name).exists():
        return False
    if not netns.may_make():
        raise TwinplaneError(f"lab '{name}': removing it needs root: sudo")
    with state.locked(name):
        return remove(name)


def remove(name: str) -> bool:
    """The same by whoever has the lock."""
    folder = state.folder(name)
    if not folder.exists():
        return False
    found = state.load(name)
    with _to_the_end():
        # Without a state nothing but the folder was made.
        if found is not None:
            _end_processes(found)
            for node in found.nodes.values():
                if node.namespace is not None:
                    netns.forget(node.namespace)
        state.remove(name)
    return True


@contextlib.contextmanager
def _to_the_end() -> Iterator[None]:
    """Ctrl-C, pressed again while a lab is removed, does not leave half of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def _end_processes(found: State) -> None:
    spaces = [
        space
        for node in found.nodes.values()
        if node.namespace is not None and (space := netns.identity(netns.path_of(node.namespace))) is not None
    ]
    known = {process for node in found.nodes.values() for process in node.processes()}

    def left() -> set[Process]:
        starting.bury()
        return {one for one in known if one.alive()} | processes.belonging(found.folder, spaces)

    stuck = processes.end(left)
    if stuck:
        numbers = ", ".join(str(one.pid) for one in sorted(stuck, key=lambda one: one.pid))
        raise TwinplaneError(f"lab '{found.name}': processes that the kernel does not end: {numbers}")
