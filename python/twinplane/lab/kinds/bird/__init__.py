"""A router of BIRD 2: one daemon, in a namespace."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import daemons
from ..around import Around
from ..kernel_router import KernelRouter
from . import config, told

if TYPE_CHECKING:
    from ...plan import Member
    from ...starting import Starting
    from ...state import State

USER = "bird"


class Bird(KernelRouter):
    """It runs as BIRD's own user, with a socket of its own."""

    programs = ("bird", "birdc")
    user = USER
    package = "bird2"

    def made(self, around: Around) -> str:
        """See `config`."""
        return config.text(around)

    def wrong(self, member: Member) -> str | None:
        """What BIRD says of the configuration."""
        with tempfile.TemporaryDirectory(prefix="twinplane-") as folder:
            path = Path(folder) / "bird.conf"
            path.write_text(member.config)
            done = daemons.ask([str(daemons.find("bird")), "-p", "-c", str(path)])
        if done.returncode == 0:
            return None
        said = next(iter((done.stderr or done.stdout).splitlines()), "it is refused")
        name = member.config_file or "its configuration"
        return f"config: {said.removeprefix('bird: ').replace(str(path), name)}"

    def speaks_protocol(self, protocol: str, config: str) -> bool:
        """BIRD 2 has no LDP."""
        return protocol == "OSPF" and re.search(r"^\s*protocol ospf\b", config, re.MULTILINE) is not None

    def begin(self, starting: Starting, name: str, text: str) -> None:
        """Start it, and wait for its socket."""
        state = starting.state
        folder = daemons.make_folder(state, name, USER)
        path, socket = folder / "bird.conf", folder / "bird.ctl"
        daemons.write(path, text, USER)
        daemons.wrapper(state, name, "birdc", str(daemons.find("birdc")), ["-s", str(socket)])
        words = [str(daemons.find("bird")), "-f", "-u", USER, "-g", USER, "-c", str(path), "-s", str(socket)]
        child = daemons.run(state, name, "bird", [*words, "-P", str(folder / "bird.pid")])
        starting.later(lambda limit: daemons.wait(state, name, "bird", child, limit, socket.exists))

    def neighbors(self, one: State, name: str) -> list[dict[str, Any]]:
        """As BIRD sees them, by birdc."""
        return told.neighbors([str(daemons.find("birdc")), "-s", str(one.runtime(name) / "bird.ctl")])
