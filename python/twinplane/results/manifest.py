"""The manifest of a run: everything that is needed to repeat it."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..version import version

if TYPE_CHECKING:
    from .real import Real

FORMAT = 1
"""Version of the layout of a results folder."""
PCAP_PACKETS = 100_000
"""So many packets of each link `--pcap` keeps."""


def machine() -> dict[str, Any]:
    """What ran it."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def revision() -> str | None:
    """The revision of the source folder that the package runs from, if it does."""
    home = Path(__file__).resolve().parents[3]
    if not (home / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "-C", str(home), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def versions() -> dict[str, str]:
    """The package, its compiled part, Python, and what draws."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    from .. import core

    found = {"twinplane": version(), "core": core.version(), "python": platform.python_version()}
    for name in ("polars", "plotly", "matplotlib", "pydantic"):
        try:
            found[name] = installed(name)
        except PackageNotFoundError:
            continue
    return found


def command_line(
    experiment: str,
    seed: int,
    repeat: int,
    settings: Mapping[str, Sequence[str]],
    campaign: bool,
    real: Real | None = None,
    signals: bool = False,
    pcap_packets: int | None = None,
    events: str | None = None,
) -> str:
    """The command that repeats a run."""
    lead = ["run"] if real is None or real.lab is None else ["lab", "run", real.lab]
    if len(files := settings.get("file", ())) == 1 and experiment == "network":
        experiment, settings = files[0], {key: value for key, value in settings.items() if key != "file"}
    words = ["twinplane", *lead, experiment, "--seed", str(seed)]
    if campaign:
        words.append("--campaign")
    if repeat > 1:
        words += ["--repeat", str(repeat)]
    for key, values in settings.items():
        words += ["--set", f"{key}={_compact(values)}"]
    if real is not None:
        words += real.options()
    elif signals:
        words.append("--signals")
    if pcap_packets is not None:
        words.append("--pcap")
        words += ["--pcap-packets", str(pcap_packets)] if pcap_packets != PCAP_PACKETS else []
    if events is not None:
        words += ["--events", events]
    return shlex.join(words)


def _compact(values: Sequence[str]) -> str:
    """A list as a range if it is one."""
    if len(values) > 2 and all(value.isdigit() for value in values):
        numbers = [int(value) for value in values]
        step = numbers[1] - numbers[0]
        if step > 0 and all(b - a == step for a, b in pairwise(numbers)):
            return f"{numbers[0]}:{numbers[-1]}:{step}"
    return ",".join(values)


def time_of(found: Mapping[str, Any]) -> str:
    """The clock of a manifest, for people."""
    from .real import WORDS

    real = found.get("real")
    return "virtual time" if real is None else WORDS[real["place"]]


def manifest(
    experiment: str,
    seed: int,
    repeat: int,
    settings: Mapping[str, Sequence[str]],
    parameters: Sequence[Mapping[str, Any]],
    *,
    campaign: bool,
    wall_s: float,
    jobs: int,
    threads: Sequence[str] = (),
    real: Real | None = None,
    signals: bool = False,
    pcap_packets: int | None = None,
    events: str | None = None,
) -> dict[str, Any]:
    """All of it. `parameters` are those of every point; of each link `pcap_packets` are kept, if any.

    `threads` says how many worked on networks, and why: it changes no result.
    """
    first = dict(parameters[0])
    shared = {key: value for key, value in first.items() if all(point[key] == value for point in parameters)}
    return {
        "format": FORMAT,
        "experiment": experiment,
        "seed": seed,
        "repeat": repeat,
        "campaign": campaign,
        "clock": "virtual" if real is None else "wall",
        "real": None if real is None else real.as_dict(),
        "settings": {key: list(values) for key, values in settings.items()},
        "parameters": first if len(parameters) == 1 else shared,
        "points": len(parameters),
        "versions": versions(),
        "revision": revision(),
        "machine": machine(),
        "command": command_line(
            experiment, seed, repeat, settings, campaign, real, signals, pcap_packets, events
        ),
        "invoked": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "finished_unix_s": int(time.time()),
        "wall_s": round(wall_s, 3),
        "jobs": jobs,
        "threads": list(threads),
    }
