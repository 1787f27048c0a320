"""A router of FRRouting: zebra and the daemons that its configuration is for, in a namespace."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import TwinplaneError
from ... import daemons
from ..around import Around
from ..kernel_router import KernelRouter
from . import config, sections, told

if TYPE_CHECKING:
    from ...plan import Member
    from ...starting import Starting
    from ...state import State

HOME = Path("/usr/lib/frr")
"""Where Debian's package has the daemons."""
USER = "frr"


class Frr(KernelRouter):
    """Daemons run as FRR's own user, with sockets of their own, and are told what to do by vtysh."""

    programs = ("vtysh",)
    user = USER
    package = "frr"

    def needed(self, member: Member) -> list[str]:
        """The daemons."""
        return [str(HOME / daemon) for daemon in sections.daemons(member.config)]

    def made(self, around: Around) -> str:
        """See `config`."""
        return config.text(around)

    def wrong(self, member: Member) -> str | None:
        """What vtysh, without daemons, does not know."""
        with tempfile.NamedTemporaryFile("w", prefix="twinplane-", suffix=".conf") as file:
            file.write(member.config)
            file.flush()
            done = daemons.ask(["vtysh", "-C", "-f", file.name])
        if done.returncode == 0:
            return None
        name = member.config_file or "its configuration"
        return f"config: {name}: {first(done.stdout + done.stderr)}"

    def speaks_protocol(self, protocol: str, config: str) -> bool:
        """By which daemons are started."""
        return {"OSPF": "ospfd", "LDP": "ldpd"}[protocol] in sections.daemons(config)

    def asks_for_explicit_null(self, config: str) -> bool:
        """See `sections`."""
        return sections.explicit_null(config)

    def takes_addresses(self, member: Member) -> set[str]:
        """Interfaces with `ip address`."""
        return sections.addressed(member.config) if member.config_file is not None else set()

    def begin(self, starting: Starting, name: str, text: str) -> None:
        """Start zebra, then the others, then tell them."""
        state = starting.state
        folder = daemons.make_folder(state, name, USER)
        names = sections.daemons(text)
        if (HOME / "mgmtd").exists():  # since FRR 9 the daemon that has the configuration
            names.insert(1, "mgmtd")
        for file in (*(f"{daemon}.conf" for daemon in names), "vtysh.conf"):
            daemons.write(folder / file, "", USER)
        daemons.write(folder / "frr.conf", text, USER)
        where = ["--vty_socket", str(folder), "--config_dir", str(folder)]
        daemons.wrapper(state, name, "vtysh", str(daemons.find("vtysh")), where)

        def run(daemon: str) -> subprocess.Popen[bytes]:
            words = [str(HOME / daemon), "-f", str(folder / f"{daemon}.conf"), "-u", USER, "-g", USER]
            words += ["-i", str(folder / f"{daemon}.pid"), "-z", str(folder / "zserv.api")]
            words += ["--vty_socket", str(folder), "-P", "0", "--log", "stdout", "--log-level", "warnings"]
            if daemon == "ldpd":  # it has a second socket, which would be that of every other ldpd
                words += ["--ctl_socket", str(folder)]
            return daemons.run(state, name, daemon, words)

        zebra = run("zebra")

        def rest(limit: float) -> None:
            daemons.wait(state, name, "zebra", zebra, limit, (folder / "zserv.api").exists)
            others = {daemon: run(daemon) for daemon in names[1:]}
            for daemon, child in (("zebra", zebra), *others.items()):
                daemons.wait(state, name, daemon, child, limit, (folder / f"{daemon}.vty").exists)
            done = daemons.ask(["vtysh", *where, "-b"], 30.0)
            if done.returncode != 0:
                said = first(done.stdout + done.stderr)
                raise TwinplaneError(f"lab '{state.name}': node '{name}': frr.conf: {said}")

        starting.later(rest)

    def neighbors(self, one: State, name: str) -> list[dict[str, Any]]:
        """As the daemons see them, by vtysh."""
        folder = one.runtime(name)
        alive = [daemon for daemon, process in one.node(name).daemons.items() if process.alive()]
        return told.neighbors(alive, ["vtysh", "--vty_socket", str(folder), "--config_dir", str(folder)])


def first(said: str) -> str:
    """The first thing that vtysh says against a configuration."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith("line ")), lines[0] if lines else "it is refused")
    return re.sub(r"% Unknown command(\[\d+\])?:\s+", "unknown command: ", told)
