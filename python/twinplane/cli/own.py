"""``twinplane run FILE``: a network of the user's own in the place of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import TwinplaneError
from ..experiments import CATALOGUE, load

EXPERIMENT = "network"
ENDINGS = (".yaml", ".yml")
WAYS = ("built-in", "external")
"""What is tested, of experiments that say nothing else."""


def asked(name: str) -> tuple[str, Path | None]:
    """The experiment, and the file if a file was named."""
    path = Path(name)
    if path.suffix.lower() in ENDINGS or path.is_file():
        return EXPERIMENT, path
    for ending in ENDINGS:
        if name not in CATALOGUE and path.with_name(path.name + ending).is_file():
            raise TwinplaneError(f"unknown experiment '{name}' (did you mean the file {name}{ending}?)")
    return name, None


def seed_of(file: Path | None) -> int:
    """The seed that a file gives; whatever else is wrong with it is said when it is read as a whole."""
    if file is None:
        return 1
    from ..model import source

    data = source.read(file).data
    seed = data.get("seed", 1) if isinstance(data, dict) else 1
    return seed if isinstance(seed, int) and not isinstance(seed, bool) else 1


def with_choices(
    experiment: str,
    settings: Sequence[str] | None,
    quick: bool,
    sut: str,
    ports: dict[str, str | None] | None = None,
) -> tuple[list[str], str]:
    """Settings with those that `--quick` and `--sut` mean to an experiment, and what is left of the last.

    A system under test that is no way of running is one of the experiment's own. So are then the tester's
    `ports` (by the names of their options), as far as it knows them: they are taken out.
    """
    given = list(settings or ())
    keys = {setting.partition("=")[0].strip() for setting in given}
    if quick:
        if "quick" in keys:
            raise TwinplaneError(f"{experiment}: --quick and --set quick=...: only one of them can be given")
        given.append("quick=true")
    if sut not in WAYS and "sut" in load(experiment).parameters.model_fields:
        if "sut" in keys:
            raise TwinplaneError(f"{experiment}: --sut and --set sut=...: only one of them can be given")
        given.append(f"sut={sut}")
        _take_ports(experiment, given, keys, ports or {})
        return given, WAYS[0]
    return given, sut


def _take_ports(experiment: str, given: list[str], keys: set[str], ports: dict[str, str | None]) -> None:
    """Make settings of the options of ports that an experiment knows."""
    for name in load(experiment).parameters.model_fields:
        if (value := ports.pop(name, None)) is None:
            continue
        if name in keys:
            option = f"--{name.replace('_', '-')}"
            raise TwinplaneError(
                f"{experiment}: {option} and --set {name}=...: only one of them can be given"
            )
        given.append(f"{name}={value}")


def with_duration(settings: Sequence[str] | None, duration: str | None) -> tuple[str, ...]:
    """Settings with the one that an option gives."""
    given = tuple(settings or ())
    if duration is None:
        return given
    from ..units import span_ps

    try:
        ps = span_ps(float(duration) if duration.strip().replace(".", "", 1).isdigit() else duration, "it")
    except TwinplaneError as error:
        raise TwinplaneError(f"--duration {duration}: {str(error).removeprefix('it ')}") from None
    return (*given, f"duration_s={ps / 1e12:g}")
